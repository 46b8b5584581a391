// Exact fixed-depth search: principal variation search with a transposition table, for any game.
//
// "Exact" is meant strictly, because the trap arithmetic compares scores of one reply at many depths: full width, no
// reductions, no extensions, and a table entry replaces only a search of the same remaining depth. So every score
// equals that of engine/search/reference.py, regardless of earlier searches.
#pragma once

#include "game.hpp"
#include "stop.hpp"
#include "search/buffer.hpp"
#include "search/table.hpp"

namespace desdemona {
namespace {

template <Game G>
class Search {
   public:
    using Node = typename G::Node;
    using Position = typename G::Position;

    Search(Table& table, const G& game) : table_(table), game_(game) {}

    // Score of a position for its side to move after a search of `depth` plies.  Inside (alpha, beta) it is
    // exact; at or below alpha it is an upper bound, at or above beta a lower one.  Throws `Unwind`.
    int search(const Node& node, int depth, int alpha, int beta, const StopFlag& stop) {
        stop_ = &stop;
        if (stop.is_set()) throw Unwind{};
        return child(node, depth, alpha, beta);
    }

    // The same for only the `most` moves that look best; a score below beta proves nothing unless there are no others.
    int search_first(const Node& node, int depth, int alpha, int beta, int most, const StopFlag& stop) {
        stop_ = &stop;
        if (stop.is_set()) throw Unwind{};
        return depth < kMinTableDepth ? child(node, depth, alpha, beta) : deep(node, depth, alpha, beta, most);
    }

    // The table's bounds for a position at exactly this depth.
    bool probe(const Node& node, int depth, TTData& tt_data) const {
        const std::uint64_t key = game_.hash(node);
        for (const Table::Entry& entry : table_.cluster(key).entries) {
            if (Table::read(entry, key, tt_data) && tt_data.depth == depth) return true;
        }
        return false;
    }

    const G& game() const noexcept { return game_; }
    std::uint64_t nodes() const noexcept { return nodes_; }

   private:
    static constexpr int kMinTableDepth = 2;  // below this, a look-up costs more than the search
    static constexpr int kMinEvaluationOrderDepth = 6;  // from here on evaluations help to order the moves
    static constexpr int kKillerOrder = 20'000;  // below the captures that win material
    static constexpr int kMaxDepth = 255;  // that the table can store
    // In games without captures killers cost more nodes than they save.
    static constexpr bool kHasKillers =
        requires(const G& game, const Node& node) { game.is_forcing(node, 0); };

    void count_node() {
        if ((++nodes_ & (StopFlag::kNodesPerCheck - 1)) == 0 && stop_->spend(StopFlag::kNodesPerCheck)) throw Unwind{};
    }

    int child(const Node& node, int depth, int alpha, int beta) {
        if (depth == 0) {
            count_node();
            return game_.leaf(node);
        }
        return depth < kMinTableDepth ? before_leaves(node, beta) : deep(node, depth, alpha, beta);
    }

    // Depth 1: no table, and no ordering beyond the game's own, except that the last refutation comes first.
    int before_leaves(const Node& node, int beta) {
        count_node();
        const auto moves = game_.moves(node);
        if (moves.empty()) return game_.result(node);
        int best = -kInfinity;
        const auto refutes = [&](int move) {
            count_node();
            const int score = -game_.leaf(game_.play(node, move));
            if (score > best) best = score;
            return best >= beta;
        };
        int first = -1;
        if constexpr (kHasKillers) {
            for (const int move : moves) {
                if (move == killers_[1][0]) first = move;
            }
            if (first >= 0 && refutes(first)) return best;
        }
        for (const int move : moves) {
            if (move == first || !refutes(move)) continue;
            killers_[1][0] = move;
            break;
        }
        return best;
    }

    // Quiet moves only: the games order captures well.
    bool is_killer(const Node& node, int depth, int move) const {
        if constexpr (kHasKillers) {
            return (move == killers_[depth][0] || move == killers_[depth][1]) && !game_.is_forcing(node, move);
        }
        return false;
    }

    void note_refutation(const Node& node, int depth, int move) {
        if constexpr (kHasKillers) {
            if (move == killers_[depth][0] || game_.is_forcing(node, move)) return;
            killers_[depth][1] = killers_[depth][0];
            killers_[depth][0] = move;
        }
    }

    int deep(const Node& node, int depth, int alpha, int beta, int most = G::kMaxMoves) {
        // Step 1. Count the node, and check the stop flag.
        count_node();

        // Step 2. No move: the game is over.
        const std::uint64_t key = game_.hash(node);
        table_.prefetch(key);
        const auto moves = game_.moves(node);
        if (moves.empty()) return game_.result(node);

        // Step 3. Transposition table: the same depth may answer, any depth may supply the move to try first.
        Table::Cluster& cluster = table_.cluster(key);
        int table_move = -1;
        int table_priority = -1;
        for (const Table::Entry& entry : cluster.entries) {
            TTData tt_data;
            if (!Table::read(entry, key, tt_data)) continue;
            if (tt_data.depth == depth) {
                const bool answers = tt_data.bound == Bound::kExact ||
                                     (tt_data.bound == Bound::kLower && tt_data.score >= beta) ||
                                     (tt_data.bound == Bound::kUpper && tt_data.score <= alpha);
                if (answers) return tt_data.score;
            }
            // After an upper bound every move failed alike, so the stored move says little: prefer another depth's.
            const int priority = 2 * tt_data.depth + (tt_data.bound != Bound::kUpper ? 3 : 0);
            if (priority > table_priority) {
                table_priority = priority;
                table_move = tt_data.move;
            }
        }

        // Step 4. Move ordering: the table's move, then the game's own order, with killers behind winning captures.
        Scored list[G::kMaxMoves];
        int count = 0;
        for (const int move : moves) {
            const int order = move == table_move    ? kInfinity
                              : depth >= kMinEvaluationOrderDepth ? game_.guess(node, move)
                                                     : game_.order(node, move);
            insert(list, count, move, order + (is_killer(node, depth, move) ? kKillerOrder : 0));
        }

        // Step 5. Principal variation search: the first move with the full window, the others must first fail high in a
        // null window.
        int best = -kInfinity;
        int best_move = 0;
        for (int i = 0; i < count; ++i) {
            if (i == most) return best;
            const int move = list[i].move;
            const Node next = game_.play(node, move);
            const int lower = alpha > best ? alpha : best;
            int score;
            if (i == 0) {
                score = -child(next, depth - 1, -beta, -lower);
            } else {
                score = -child(next, depth - 1, -lower - 1, -lower);
                if (score > lower && score < beta) score = -child(next, depth - 1, -beta, -lower);
            }
            if (score > best) {
                best = score;
                best_move = move;
                if (best >= beta) {
                    note_refutation(node, depth, move);
                    break;
                }
            }
        }

        // Step 6. Store in the table.
        const Bound bound = best >= beta ? Bound::kLower : best <= alpha ? Bound::kUpper : Bound::kExact;
        table_.store(cluster, key, {best, depth, best_move, bound});
        return best;
    }

    Table& table_;
    const G& game_;
    const StopFlag* stop_ = nullptr;
    std::uint64_t nodes_ = 0;
    int killers_[kHasKillers ? kMaxDepth + 1 : 2][2] = {};  // by remaining depth: the latest refutations
};

}  // namespace
}  // namespace desdemona
