// Full-width iterative deepening: the strong search of games that have no selective one.
#pragma once

#include <cstddef>

#include "core.hpp"
#include "search/search.hpp"

namespace desdemona {
namespace {

// Iterative deepening by the exact search, with the interface of the strong searches.  It supports limits of depth,
// time and nodes only.
template <Game G>
class FullWidth {
   public:
    using Node = typename G::Node;
    using Position = typename G::Position;

    // Throws std::bad_alloc.
    FullWidth(std::size_t table_mb, const G& game) : game_(game), table_(table_mb), search_(table_, game) {}

    bool is_allocated() const { return table_.is_allocated(); }
    std::uint64_t nodes() const { return search_.nodes(); }

    // The best move within the limits.  False: stopped before it had any result.
    bool think(const Position& p, const ThinkLimits& limits, const StopFlag& stop, ThinkResult& result) {
        result = {};
        const std::uint64_t nodes_before = nodes();
        StopFlag deadline(&stop);
        if (limits.seconds > 0) deadline.set_deadline(limits.seconds);
        if (limits.nodes > 0) deadline.set_node_limit(limits.nodes);
        const double began = stop.now_s();
        root_ = game_.root(p);
        count_ = 0;
        for (const int move : game_.moves(root_)) moves_[count_++] = move;
        table_.new_search();
        try {
            double spent = 0.0;  // on the last iteration
            for (int depth = 1; depth <= limits.depth; ++depth) {
                const double start = stop.now_s();
                if (depth > 1 && limits.seconds > 0 && start - began + kIterationCostRatio * spent > limits.seconds) break;
                const int score = iterate(depth, depth > 1 ? deadline : stop, result);
                result.depth = depth;
                result.score_centi = score;
                result.solved = score >= kWin || score <= -kWin;
                if (result.solved || (limits.seconds > 0 && count_ == 1)) break;
                spent = stop.now_s() - start;
            }
        } catch (const Unwind&) {  // keep the last complete iteration, or a better move from the unfinished one
        }
        result.confidence = 100;
        result.nodes = nodes() - nodes_before;
        if (result.depth == 0) return false;
        put_line(result);
        return true;
    }

    // See `Core::probe`. May throw Unwind.
    int probe(const Position& p, const ProbeLimits& limits, const StopFlag& stop) {
        return search_.search(game_.root(p), limits.depth, limits.alpha, limits.beta, stop);
    }

   private:
    static constexpr double kIterationCostRatio = 3.0;  // time of an iteration relative to the one before

    // Score of the root; the best move goes to the front, and into the result.
    int iterate(int depth, const StopFlag& stop, ThinkResult& result) {
        int best = -kInfinity;
        for (int i = 0; i < count_; ++i) {
            const int move = moves_[i];
            const Node next = game_.play(root_, move);
            int score;
            if (i == 0) {
                score = -search_.search(next, depth - 1, -kInfinity, kInfinity, stop);
            } else {
                score = -search_.search(next, depth - 1, -best - 1, -best, stop);
                if (score > best) score = -search_.search(next, depth - 1, -kInfinity, -best, stop);
            }
            if (score <= best) continue;
            best = score;
            for (int j = i; j > 0; --j) moves_[j] = moves_[j - 1];
            moves_[0] = move;
            result.move = move;
            result.score_centi = score;
        }
        return best;
    }

    void put_line(ThinkResult& result) const {
        Node node = game_.play(root_, result.move);
        result.line[result.line_length++] = static_cast<std::uint16_t>(result.move);
        for (int depth = result.depth - 1; depth > 1 && result.line_length < ThinkResult::kMaxLine; --depth) {
            TTData tt_data;
            if (!search_.probe(node, depth, tt_data) || tt_data.bound == Bound::kUpper) return;
            result.line[result.line_length++] = static_cast<std::uint16_t>(tt_data.move);
            node = game_.play(node, tt_data.move);
        }
    }

    const G& game_;
    Table table_;
    Search<G> search_;
    Node root_{};
    int moves_[G::kMaxMoves];
    int count_ = 0;
};

}  // namespace
}  // namespace desdemona
