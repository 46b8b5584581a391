// Exact fixed-depth search of Othello: principal variation search with a transposition table.
//
// "Exact" is meant strictly, because the trap arithmetic compares scores of one reply at many depths: full
// width, no reductions, no extensions, and a table entry stands in only for a search of the same remaining
// depth.  So every score equals that of engine/search.py, whatever was searched before.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "othello.hpp"
#include "stop.hpp"

namespace desdemona::othello {

inline constexpr int kInfinity = 1'000'000;

enum class Bound : std::uint8_t { kNone, kLower, kUpper, kExact };

// Four entries share a cache line.  The same position may stand in it at several depths, since each depth has
// a score of its own; whatever is found of a position serves for its move.
class Table {
   public:
    struct Entry {
        std::uint64_t key = 0;
        std::int32_t score = 0;
        Bound bound = Bound::kNone;
        std::uint8_t depth = 0;
        std::uint8_t move = kPass;
        std::uint8_t age = 0;
    };
    static constexpr std::size_t kWays = 4;
    using Cluster = std::array<Entry, kWays>;
    static_assert(sizeof(Cluster) == 64);

    explicit Table(std::size_t megabytes) : clusters_(std::bit_floor(std::max<std::size_t>(1, megabytes) << 14)) {}

    void new_search() noexcept { ++age_; }

    // A weak mix of two boards once changed a score without a trace (a difference in the top squares reached
    // only the top bits): so multiply, fold down, and multiply again, over both boards.
    static std::uint64_t hash(Position p) noexcept {
        std::uint64_t h = p.waiter * 0x9E3779B97F4A7C15ull;
        h ^= h >> 32;
        h = (h ^ p.mover) * 0xD6E8FEB86659FD93ull;
        h ^= h >> 29;
        h *= 0xC2B2AE3D27D4EB4Full;
        return h ^ h >> 32;
    }

    Cluster& cluster(std::uint64_t key) noexcept { return clusters_[key & (clusters_.size() - 1)]; }

    void store(Cluster& cluster, std::uint64_t key, int depth, int score, Bound bound, int move) noexcept {
        Entry* victim = &cluster[0];
        int least = 1 << 20;
        for (Entry& entry : cluster) {
            if (entry.bound != Bound::kNone && entry.key == key && entry.depth == depth) {
                victim = &entry;
                break;
            }
            const int worth = entry.bound == Bound::kNone ? -1 : entry.depth + (entry.age == age_ ? 256 : 0);
            if (worth < least) {
                least = worth;
                victim = &entry;
            }
        }
        *victim = {key, score, bound, static_cast<std::uint8_t>(depth), static_cast<std::uint8_t>(move), age_};
    }

   private:
    std::vector<Cluster> clusters_;
    std::uint8_t age_ = 0;
};

class Search {
   public:
    Search(std::size_t table_megabytes, const Weights& weights) : table_(table_megabytes), weights_(weights) {}

    // Score of a position for its side to move after a search of `depth` plies.  Inside (alpha, beta) it is
    // exact; at or below alpha it is an upper bound, at or above beta a lower one.  Throws `Stopped`.
    int search(Position p, int depth, int alpha, int beta, const StopFlag& stop) {
        stop_ = &stop;
        table_.new_search();
        if (stop.is_set()) throw Stopped{};
        return depth < kTableDepth ? shallow(p, depth, alpha, beta) : deep(p, depth, alpha, beta);
    }

    int evaluate(Position p) const {
        return evaluate_centi(p, moves_mask(p), moves_mask({p.waiter, p.mover}), weights_);
    }

    std::uint64_t nodes() const noexcept { return nodes_; }

   private:
    static constexpr int kTableDepth = 2;   // below it a look-up costs more than the search
    static constexpr int kSortDepth = 3;    // from here on moves are sorted by the mobility that they leave
    static constexpr std::uint64_t kStopMask = 0x3FF;

    struct Scored {
        Position after;
        int move;
        int order;
    };

    void count_node() {
        if ((++nodes_ & kStopMask) == 0 && stop_->is_set()) throw Stopped{};
    }

    // Depth 0 and 1: no table, no sorting beyond the corners.
    int shallow(Position p, int depth, int alpha, int beta) {
        count_node();
        Board moves = moves_mask(p);
        const Position passed{p.waiter, p.mover};
        if (depth == 0) {
            const Board their_moves = moves_mask(passed);
            if ((moves | their_moves) == 0) return result_centi(p);
            return evaluate_centi(p, moves, their_moves, weights_);
        }
        if (moves == 0) {
            if (moves_mask(passed) == 0) return result_centi(p);
            return -shallow(passed, depth - 1, -beta, -alpha);
        }
        int best = -kInfinity;
        for (const Board group : {moves & kCorners, moves & ~kCorners}) {
            for (Board rest = group; rest != 0; rest &= rest - 1) {
                const Position after = play(p, std::countr_zero(rest));
                const int score = -shallow(after, depth - 1, -beta, -std::max(alpha, best));
                if (score > best) {
                    best = score;
                    if (best >= beta) return best;
                }
            }
        }
        return best;
    }

    int deep(Position p, int depth, int alpha, int beta) {
        // Step 1. Count, and obey the stop flag.
        count_node();

        // Step 2. Table look-up: the same depth may answer, any depth may name the move to try first.
        const std::uint64_t key = Table::hash(p);
        Table::Cluster& cluster = table_.cluster(key);
        int table_move = -1;
        int table_move_depth = -1;
        for (const Table::Entry& entry : cluster) {
            if (entry.bound == Bound::kNone || entry.key != key) continue;
            if (entry.depth == depth) {
                const bool answers = entry.bound == Bound::kExact ||
                                     (entry.bound == Bound::kLower && entry.score >= beta) ||
                                     (entry.bound == Bound::kUpper && entry.score <= alpha);
                if (answers) return entry.score;
            }
            // After an upper bound every move failed alike, so its move says little: prefer another depth's.
            const int worth = 2 * entry.depth + (entry.bound != Bound::kUpper ? 3 : 0);
            if (worth > table_move_depth) {
                table_move_depth = worth;
                table_move = entry.move;
            }
        }

        // Step 3. No move: pass, or the game is over.
        const Board moves = moves_mask(p);
        if (moves == 0) {
            const Position passed{p.waiter, p.mover};
            if (moves_mask(passed) == 0) return result_centi(p);
            const int score = depth - 1 < kTableDepth ? -shallow(passed, depth - 1, -beta, -alpha)
                                                      : -deep(passed, depth - 1, -beta, -alpha);
            store(cluster, key, depth, score, alpha, beta, kPass);
            return score;
        }

        // Step 4. Order: the table's move, then whatever leaves the opponent fewest good moves.
        std::array<Scored, 34> list;
        std::size_t count = 0;
        for (Board rest = moves; rest != 0; rest &= rest - 1) {
            const int move = std::countr_zero(rest);
            const Position after = play(p, move);
            int order = kSquareOrder[static_cast<std::size_t>(move)];
            if (move == table_move) {
                order = 1 << 20;
            } else if (depth >= kSortDepth) {
                const Board replies = moves_mask(after);
                const Board empty = ~(after.mover | after.waiter);
                order -= 16 * (std::popcount(replies) + std::popcount(replies & kCorners));
                order -= 6 * std::popcount(detail::neighbours(after.waiter) & empty);
                order += 24 * std::popcount(after.waiter & kCorners);
            }
            list[count++] = {after, move, order};
        }
        for (std::size_t i = 1; i < count; ++i) {  // few and nearly sorted: insertion beats std::sort
            const Scored moved = list[i];
            std::size_t j = i;
            for (; j > 0 && list[j - 1].order < moved.order; --j) list[j] = list[j - 1];
            list[j] = moved;
        }

        // Step 5. Principal variation search: the first move with the whole window, the others must prove
        // with a null window that they deserve it.
        int best = -kInfinity;
        int best_move = kPass;
        for (std::size_t i = 0; i < count; ++i) {
            const int lower = std::max(alpha, best);
            int score;
            if (i == 0) {
                score = -child(list[i].after, depth - 1, -beta, -lower);
            } else {
                score = -child(list[i].after, depth - 1, -lower - 1, -lower);
                if (score > lower && score < beta) {
                    score = -child(list[i].after, depth - 1, -beta, -lower);
                }
            }
            if (score > best) {
                best = score;
                best_move = list[i].move;
                if (best >= beta) break;
            }
        }

        // Step 6. Remember.
        store(cluster, key, depth, best, alpha, beta, best_move);
        return best;
    }

    int child(Position p, int depth, int alpha, int beta) {
        return depth < kTableDepth ? shallow(p, depth, alpha, beta) : deep(p, depth, alpha, beta);
    }

    void store(Table::Cluster& cluster, std::uint64_t key, int depth, int score, int alpha, int beta, int move) {
        const Bound bound = score >= beta ? Bound::kLower : score <= alpha ? Bound::kUpper : Bound::kExact;
        table_.store(cluster, key, depth, score, bound, move);
    }

    // What a square is worth in the order of moves when nothing else is known.
    static constexpr std::array<std::int8_t, 64> kSquareOrder = {
        90, -20, 10, 6, 6, 10, -20, 90, -20, -40, 0, 0, 0, 0, -40, -20, 10, 0, 4, 2, 2, 4, 0, 10,
        6,  0,   2,  0, 0, 2,  0,   6,  6,   0,   2, 0, 0, 2, 0,   6,   10, 0, 4, 2, 2, 4, 0, 10,
        -20, -40, 0, 0, 0, 0, -40, -20, 90, -20, 10, 6, 6, 10, -20, 90,
    };

    Table table_;
    const Weights weights_;
    const StopFlag* stop_ = nullptr;
    std::uint64_t nodes_ = 0;
};

}  // namespace desdemona::othello
