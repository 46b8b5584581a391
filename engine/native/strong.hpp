// The strong search: the best move that the time allows, for any game.  Selective, so its scores are estimates;
// what must be exact (trap analysis) uses search.hpp.
//
// Theory of operation.  Iterative deepening with principal variation search.  Null-window nodes are cut by
// Multi-ProbCut (Buro 1997): when a much shallower search is so far beyond the window that the deep one would be
// as well in, say, 73 of 100 cases, it is taken for granted.  How shallow and deep scores differ is measured on
// the evaluation in use; a *level* says how many standard deviations are asked for.  A search that reaches the
// end of the game is repeated at higher levels, and at last handed to the game's own solver for endings.
//
// Scores inside are 16-bit: those of finished games are squeezed together with evaluations, in one of two ways.
// * Selective: a finished game is worth its margin, which is what an evaluation estimates.
// * Full width (level kFullWidth): beyond every evaluation, as in search.hpp; every score equals that search's.
// The two must not meet in the table, so full width has keys of its own.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core.hpp"
#include "game.hpp"
#include "stop.hpp"

namespace desdemona {
namespace {

// What the strong search has to know of a game beyond its rules; `After` stands for a node after a move.
//
// * `plies_left(node)`: no line to the end of the game is longer, free moves not counted.
// * `is_free(move)`: the move (a forced pass) brings the end no nearer and costs no ply.
// * `rating(before, move, after)`: larger for moves to be searched earlier, evaluation aside.
// * `error(depth, shallow, plies_left)`: standard deviation, in score units, of the difference between searches
//   of these depths; 0 where it has not been measured, so must not be relied on.
// * `Ending`: solves endings; `score` is the margin of the end in score units, fail-soft.
template <class T, class G>
concept StrongTraits = requires(const typename G::Node& node, const typename G::Position& position, int n,
                                typename T::Ending& ending, const StopFlag& stop) {
    { T::plies_left(node) } -> std::same_as<int>;
    { T::is_free(n) } -> std::same_as<bool>;
    { T::rating(node, n, node) } -> std::same_as<int>;
    { T::error(n, n, n) } -> std::same_as<int>;
    { T::kLeafPlies } -> std::convertible_to<int>;   // endings of so many plies are solved at once
    { T::kScoreStep } -> std::convertible_to<int>;   // what two final margins differ by at least
    { T::kLastScore } -> std::convertible_to<int>;   // no final margin is larger
    { T::seconds_to_solve(n) } -> std::same_as<double>;  // what `Ending` needs about, one time in two
    { ending.score(position, n, n, stop) } -> std::same_as<int>;
    { ending.best_move(position, stop) } -> std::same_as<int>;
    { ending.nodes() } -> std::same_as<std::uint64_t>;
};

namespace strong {

// Confidence levels: percent, and the standard deviations that stand for it (two-sided, normal).
struct Level {
    int percent;
    int centi_deviations;
};
constexpr Level kLevels[] = {{73, 110}, {87, 151}, {95, 196}, {99, 258}, {100, 0}};
constexpr int kFullWidth = 4;

constexpr int kNone = -32'000;    // below every score
constexpr int kDecided = 20'000;  // full width: a finished game is worth this and its margin
constexpr int kMaxLine = 64;

// --- Transposition table -----------------------------------------------------------------------------------

// What the table knows of a position: bounds of its score at one depth and level.
struct Known {
    int lower;
    int upper;
    int move;
    int depth;
    int level;
};

// Unlike Table (table.hpp) it holds a position once, deepest search first, with both bounds: here a deeper
// result may stand in for a shallower one.  Words are checked against one another as there.
class Table {
   public:
    struct Entry {
        std::atomic<std::uint64_t> check;
        std::atomic<std::uint64_t> data;
    };
    struct alignas(64) Cluster {
        Entry entries[4];
    };

    explicit Table(std::size_t megabytes)
        : count_(std::bit_floor((megabytes < 1 ? 1 : megabytes) << 14)),
          memory_(std::calloc(count_ + 1, sizeof(Cluster))) {  // zeroed only when touched
        const auto at = reinterpret_cast<std::uintptr_t>(memory_);
        clusters_ = reinterpret_cast<Cluster*>((at + sizeof(Cluster) - 1) & ~(sizeof(Cluster) - 1));
    }
    ~Table() { std::free(memory_); }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    bool is_allocated() const noexcept { return memory_ != nullptr; }
    void new_search() noexcept { age_ = (age_ + 1) & 0x3F; }
    void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&clusters_[key & (count_ - 1)]); }

    bool find(std::uint64_t key, Known& known) const noexcept {
        for (const Entry& entry : clusters_[key & (count_ - 1)].entries) {
            const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
            if ((entry.check.load(std::memory_order_relaxed) ^ data) == key && data != 0) {
                known = unpacked(data);
                return true;
            }
        }
        return false;
    }

    void store(std::uint64_t key, Known known) const noexcept {
        Entry* victim = nullptr;
        int least = 1 << 20;
        for (Entry& entry : clusters_[key & (count_ - 1)].entries) {
            const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
            if ((entry.check.load(std::memory_order_relaxed) ^ data) == key && data != 0) {
                victim = &entry;
                const Known old = unpacked(data);
                if (old.depth == known.depth && old.level == known.level) {
                    // Both bounds hold, unless a selective search contradicts itself: then the latest word.
                    if (known.lower == kNone && old.lower <= known.upper) known.lower = old.lower;
                    if (known.upper == -kNone && old.upper >= known.lower) known.upper = old.upper;
                }
                break;
            }
            const int worth = data == 0 ? -1 : depth_of(data) + (age_of(data) == age_ ? 256 : 0);
            if (worth < least) {
                least = worth;
                victim = &entry;
            }
        }
        const std::uint64_t data = static_cast<std::uint64_t>(static_cast<std::uint16_t>(known.lower)) << 48 |
                                   static_cast<std::uint64_t>(static_cast<std::uint16_t>(known.upper)) << 32 |
                                   static_cast<std::uint64_t>(known.move) << 16 |
                                   static_cast<std::uint64_t>(known.level) << 13 |
                                   static_cast<std::uint64_t>(age_) << 7 | static_cast<std::uint64_t>(known.depth);
        victim->check.store(key ^ data, std::memory_order_relaxed);
        victim->data.store(data, std::memory_order_relaxed);
    }

   private:
    static int depth_of(std::uint64_t data) { return static_cast<int>(data & 0x7F); }
    static std::uint32_t age_of(std::uint64_t data) { return static_cast<std::uint32_t>(data >> 7 & 0x3F); }
    static Known unpacked(std::uint64_t data) {
        return {static_cast<std::int16_t>(data >> 48), static_cast<std::int16_t>(data >> 32),
                static_cast<int>(data >> 16 & 0xFFFF), depth_of(data), static_cast<int>(data >> 13 & 7)};
    }

    std::size_t count_;
    void* memory_;
    Cluster* clusters_;
    std::uint32_t age_ = 0;
};

struct Line {
    std::uint16_t move[kMaxLine];
    int length = 0;

    void put(int first, const Line& rest) {
        move[0] = static_cast<std::uint16_t>(first);
        length = 1;
        for (int i = 0; i < rest.length && length < kMaxLine; ++i) move[length++] = rest.move[i];
    }
};

}  // namespace strong

// One thread's search at a given level: what it needs beside the shared table.
template <Game G, StrongTraits<G> T>
class StrongWorker {
   public:
    using Node = typename G::Node;
    using Line = strong::Line;

    struct RootMove {
        int move;
        int score;  // of the iteration that is being searched; kNone: not yet
    };

    StrongWorker(const strong::Table& table, const G& game) : table_(table), game_(game), leaves_(1, game) {}

    // To be called before anything else: lists the moves.
    void start(const Node& root, const StopFlag& stop) {
        root_ = root;
        stop_ = &stop;
        count_ = 0;
        line_.length = 0;
        for (const int move : game_.moves(root)) moves_[count_++] = {move, strong::kNone};
    }

    // One iteration.  Afterwards, even when it was stopped (`Unwind`), the first root move is the best known.
    int iterate(int depth, int level, int guess) {
        level_ = level;
        salt_ = level == strong::kFullWidth ? kSalt : 0;
        int low = 0, high = 0;
        int width = depth < 4 ? 2 * -strong::kNone : kFirstWidth;
        for (low = guess - width, high = guess + width;;) {
            const int score = search_root(depth, low, high);
            if (score > low && score < high) return score;
            if (score <= low && low <= strong::kNone) return score;
            if (score >= high && high >= -strong::kNone) return score;
            width = width > 2'000 ? 2 * -strong::kNone : 4 * width;
            if (score <= low) {
                low = score - width;
            } else {
                high = score + width;
            }
            if (low < strong::kNone) low = strong::kNone;
            if (high > -strong::kNone) high = -strong::kNone;
        }
    }

    const Line& line() const { return line_; }
    int best_move() const { return moves_[0].move; }
    int move_count() const { return count_; }
    int move(int i) const { return moves_[i].move; }
    void to_front(int i) {
        const RootMove chosen = moves_[i];
        for (; i > 0; --i) moves_[i] = moves_[i - 1];
        moves_[0] = chosen;
    }
    std::uint64_t nodes() const { return nodes_ + leaves_.nodes(); }

   private:
    static constexpr int kFirstWidth = 150;    // of the window around the score of the iteration before
    static constexpr int kTableDepth = 2;      // below it plain alpha-beta
    static constexpr int kCutDepth = 3;        // from here on ProbCut
    static constexpr int kEnhancedDepth = 5;   // from here on the children are looked up first
    static constexpr int kGuessDepth = 4;      // from here on moves are sorted with the help of evaluations
    static constexpr int kLookDepth = 9;       // and from here on with that of a search
    static constexpr std::uint64_t kSalt = 0x5851F42D4C957F2Dull;

    struct Scored {
        int move;
        int order;
    };

    void count_node() {
        if ((++nodes_ & (StopFlag::kNodesPerLook - 1)) == 0 && stop_->spend(StopFlag::kNodesPerLook)) throw Unwind{};
    }

    bool is_full_width() const { return level_ == strong::kFullWidth; }

    // A score of the game as the search has it.
    int squeezed(int score) const {
        if (score >= kWin) return score - kWin + (is_full_width() ? strong::kDecided : 0);
        if (score <= -kWin) return score + kWin - (is_full_width() ? strong::kDecided : 0);
        return score;
    }

    int result(const Node& node) const { return squeezed(game_.result(node)); }
    int leaf(const Node& node) const { return squeezed(game_.leaf(node)); }
    std::uint64_t key_of(const Node& node) const { return game_.hash(node) ^ salt_; }
    int after(int depth, int move) const { return T::is_free(move) && !is_full_width() ? depth : depth - 1; }

    int search_root(int depth, int alpha, int beta) {
        const int start = alpha;
        int best = strong::kNone - 1;
        for (int i = 0; i < count_; ++i) moves_[i].score = strong::kNone;
        for (int i = 0; i < count_; ++i) {
            const int move = moves_[i].move;
            const Node next = game_.play(root_, move);
            const int rest = after(depth, move);
            Line below;
            const int lower = alpha > best ? alpha : best;
            int score;
            if (i == 0) {
                score = -open(next, rest, -beta, -lower, below);
            } else {
                score = -null(next, rest, -lower - 1);
                if (score > lower && score < beta) score = -open(next, rest, -beta, -lower, below);
            }
            moves_[i].score = score;
            if (score > best) {
                best = score;
                if (score > start) {
                    line_.put(move, below);
                    to_front(i);
                }
                if (best >= beta) break;
            }
        }
        return best;
    }

    // Null window below the table: as in search.hpp.
    int shallow(const Node& node, int depth, int alpha) {
        count_node();
        if (depth == 0) return leaf(node);
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        int best = strong::kNone;
        if (depth == 1) {
            for (const int move : moves) {
                if (T::is_free(move) && !is_full_width()) return -shallow(game_.play(node, move), 1, -alpha - 1);
                count_node();
                const int score = -leaf(game_.play(node, move));
                if (score > best) {
                    best = score;
                    if (best > alpha) break;
                }
            }
            return best;
        }
        Scored list[G::kMaxMoves];
        int count = 0;
        for (const int move : moves) insert(list, count, move, game_.order(node, move));
        for (int i = 0; i < count; ++i) {
            const int move = list[i].move;
            const int score = -shallow(game_.play(node, move), after(depth, move), -alpha - 1);
            if (score > best) {
                best = score;
                if (best > alpha) break;
            }
        }
        return best;
    }

    static void insert(Scored* list, int& count, int move, int order) {
        int i = count++;
        for (; i > 0 && list[i - 1].order < order; --i) list[i] = list[i - 1];
        list[i] = {move, order};
    }

    // Whether a table entry may answer for a search.
    bool serves(const strong::Known& known, int depth) const {
        if (is_full_width()) return known.depth == depth;
        return known.depth >= depth && known.level >= level_;
    }

    int null(const Node& node, int depth, int alpha) {
        if (depth < kTableDepth) {
            // Step 0. Near the leaves.
            if (is_full_width() || T::plies_left(node) > T::kLeafPlies || T::plies_left(node) > depth) {
                return shallow(node, depth, alpha);
            }
        }

        // Step 1. Near the end of the game: exact.
        bool to_end = false;
        if (!is_full_width()) {
            const int rest = T::plies_left(node);
            if (depth >= rest) {
                depth = rest;
                to_end = true;
                if (rest <= T::kLeafPlies) return leaves_.score(node.position, alpha, alpha + 1, *stop_);
            }
        }
        count_node();

        // Step 2. Table.
        const std::uint64_t key = key_of(node);
        table_.prefetch(key);
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        strong::Known known;
        int table_move = -1;
        if (table_.find(key, known)) {
            if (serves(known, depth)) {
                if (known.lower > alpha) return known.lower;
                if (known.upper <= alpha) return known.upper;
            }
            table_move = known.move;
        }
        const int only = *moves.begin();
        if (T::is_free(only)) return -null(game_.play(node, only), after(depth, only), -alpha - 1);

        // Step 3. ProbCut.
        if (depth >= kCutDepth && !is_full_width()) {
            int bound;
            if (is_cut(node, depth, alpha, to_end, bound)) return bound;
        }

        // Step 4. Order, and on the way the children's entries, one of which may settle the node.
        Scored list[G::kMaxMoves];
        int count = 0;
        int best = strong::kNone;
        int best_move = table_move >= 0 ? table_move : only;
        for (const int move : moves) {
            const Node next = game_.play(node, move);
            if (depth >= kEnhancedDepth) {
                strong::Known child;
                if (table_.find(key_of(next), child) && serves(child, depth - 1)) {
                    if (-child.upper > alpha) {
                        table_.store(key, {-child.upper, -strong::kNone, move, depth, level_});
                        return -child.upper;
                    }
                    if (-child.lower <= alpha) {  // no better than this, so no need to search it
                        if (-child.lower > best) {
                            best = -child.lower;
                            best_move = move;
                        }
                        continue;
                    }
                }
            }
            int order;
            if (move == table_move) {
                order = 1 << 28;
            } else {
                order = T::rating(node, move, next);
                if (depth >= kLookDepth) {
                    order -= look(next, depth >= kLookDepth + 4 ? 2 : 1) / 2;
                } else if (depth >= kGuessDepth) {
                    order -= leaf(next) / 2;
                }
            }
            insert(list, count, move, order);
        }

        // Step 5. Search.
        for (int i = 0; i < count; ++i) {
            const int move = list[i].move;
            const int score = -null(game_.play(node, move), depth - 1, -alpha - 1);
            if (score > best) {
                best = score;
                best_move = move;
                if (best > alpha) break;
            }
        }

        // Step 6. Remember.
        if (best > alpha) {
            table_.store(key, {best, -strong::kNone, best_move, depth, level_});
        } else {
            table_.store(key, {strong::kNone, best, best_move, depth, level_});
        }
        return best;
    }

    // A small search for the order of moves.
    int look(const Node& node, int depth) {
        int best = strong::kNone;
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        for (const int move : moves) {
            count_node();
            const Node next = game_.play(node, move);
            const int score = depth > 1 ? -shallow(next, depth - 1, -best - 1) : -leaf(next);
            if (score > best) best = score;
        }
        return best;
    }

    bool is_cut(const Node& node, int depth, int alpha, bool to_end, int& bound) {
        const int rest = T::plies_left(node);
        const int shallow_depth = T::shallow_depth(depth, to_end);
        const int deviation = T::error(depth, shallow_depth, rest);
        if (deviation == 0) return false;
        const int margin = deviation * strong::kLevels[level_].centi_deviations / 100;
        const int static_error = T::error(shallow_depth, 0, rest) * strong::kLevels[level_].centi_deviations / 100;
        const int value = game_.evaluate(node);
        const int high = alpha + 1 + margin;
        if (high < T::kLastScore && value >= high - static_error) {
            if (null(node, shallow_depth, high - 1) >= high) {
                bound = alpha + 1;
                return true;
            }
        }
        const int low = alpha - margin;
        if (low > -T::kLastScore && value <= low + static_error) {
            if (null(node, shallow_depth, low) <= low) {
                bound = alpha;
                return true;
            }
        }
        return false;
    }

    // Open window.
    int open(const Node& node, int depth, int alpha, int beta, Line& line) {
        line.length = 0;
        if (!is_full_width()) {
            const int rest = T::plies_left(node);
            if (depth > rest) depth = rest;
        }
        count_node();
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        if (depth == 0) return leaf(node);
        const std::uint64_t key = key_of(node);
        strong::Known known;
        int table_move = -1;
        if (table_.find(key, known)) table_move = known.move;

        Scored list[G::kMaxMoves];
        int count = 0;
        for (const int move : moves) {
            const Node next = game_.play(node, move);
            const int order = move == table_move ? 1 << 28
                              : T::is_free(move) ? 0
                                                 : T::rating(node, move, next) - look(next, depth >= 5 ? 2 : 1) / 2;
            insert(list, count, move, order);
        }
        int best = strong::kNone;
        int best_move = list[0].move;
        for (int i = 0; i < count; ++i) {
            const int move = list[i].move;
            const Node next = game_.play(node, move);
            const int rest = after(depth, move);
            const int lower = alpha > best ? alpha : best;
            Line below;
            int score;
            if (i == 0) {
                score = -open(next, rest, -beta, -lower, below);
            } else {
                score = -null(next, rest, -lower - 1);
                if (score > lower && score < beta) score = -open(next, rest, -beta, -lower, below);
            }
            if (score > best) {
                best = score;
                best_move = move;
                line.put(move, below);
                if (best >= beta) break;
            }
        }
        table_.store(key, {best > alpha ? best : strong::kNone, best < beta ? best : -strong::kNone, best_move, depth,
                           level_});
        return best;
    }

    const strong::Table& table_;
    const G& game_;
    typename T::Ending leaves_;
    const StopFlag* stop_ = nullptr;
    std::uint64_t nodes_ = 0;
    std::uint64_t salt_ = 0;
    int level_ = 0;
    Node root_{};
    RootMove moves_[G::kMaxMoves];
    int count_ = 0;
    Line line_;
};

}  // namespace
}  // namespace desdemona
