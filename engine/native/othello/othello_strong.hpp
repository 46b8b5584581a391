// Othello's traits for the strong search (see StrongTraits in strong.hpp).
#pragma once

#include <cmath>

#include "othello/endgame.hpp"
#include "othello/othello_game.hpp"
#include "othello/probcut.hpp"
#include "search/strong.hpp"

namespace desdemona::othello {
namespace {

// The trained evaluation as the endgame solver's Order.
class EvaluationOrder {
   public:
    explicit EvaluationOrder(const OthelloGame& game) : game_(game) {}

    int operator()(Position after, int depth) const {
        return search(game_.root(after), depth < kMostDepth ? depth : kMostDepth, -kInfinity, kInfinity) / kScale;
    }

   private:
    static constexpr int kMostDepth = 3;
    static constexpr int kScale = 8;  // a disc then weighs about as much as one move of mobility

    int search(const Node& node, int depth, int alpha, int beta) const {
        const auto moves = game_.moves(node);
        if (moves.empty()) return game_.result(node);
        if (depth == 0) return game_.evaluate(node);
        int best = -kInfinity;
        for (const int move : moves) {
            const int score = -search(game_.play(node, move), depth - 1, -beta, -alpha);
            if (score > best) best = score;
            if (best > alpha) alpha = best;
            if (alpha >= beta) break;
        }
        return best;
    }

    const OthelloGame game_;
};

constexpr int kMaxDepth = 64;  // number of empty squares

// Natural logarithms of 1, 2 ...: each from its predecessor by ln((n + 1) / n) = 2 artanh(1 / (2n + 1)).
struct Logarithms {
    float of[kMaxDepth + 2]{};
};
constexpr Logarithms make_logarithms() {
    Logarithms logarithms;
    double sum = 0.0;
    for (int n = 1; n <= kMaxDepth; ++n) {
        const double x = 1.0 / (2 * n + 1);
        double power = x;
        for (int k = 1; k < 40; k += 2, power *= x * x) sum += 2 * power / k;
        logarithms.of[n + 1] = static_cast<float>(sum);
    }
    return logarithms;
}
constexpr Logarithms kLog = make_logarithms();

struct OthelloStrong {
    static constexpr int kLeafPlies = 9;
    static constexpr int kScoreStep = 200;
    static constexpr int kLastScore = 6'400;

    static int plies_left(const Node& node) {
        return std::popcount(~(node.position.mover | node.position.waiter));
    }

    static bool is_free(int move) { return move == kPass; }

    static int rating(int move, const Node& after) { return OthelloGame::order_after(move, after.position); }

    static int shallow_depth(int depth) { return 2 * (depth / 4) + (depth & 1); }

    static int error(int depth, int shallow, int plies_left) {
        const float spread = kLog.of[depth + 1] - kLog.of[shallow + 1];
        return static_cast<int>(static_cast<float>(probcut::kDeviation[plies_left]) * std::sqrt(spread));
    }

    // Measured on positions of match games with 16, 18 ... 24 plies left: .04, .7, 2.9, 10.7 and 47 million.
    static double nodes_to_solve(int plies) {
        double nodes = 2.9e6;  // with 20 plies left
        for (; plies > 20; --plies) nodes *= 2;
        for (; plies < 20 && nodes > 1; ++plies) nodes /= 2;
        return nodes;
    }

    class Ending {
       public:
        Ending(std::size_t table_mb, const OthelloGame& game) : solver_(table_mb, EvaluationOrder(game)) {}
        Ending(Ending& leader, Team& team) : solver_(leader.solver_, team) {}

        void set_team(Team* team) { solver_.set_team(team); }
        void help(const StopFlag& stop) { solver_.help(stop); }

        int score(const Node& node, int alpha, int beta, const StopFlag& stop) {
            return 100 * solver_.solve(node.position, floored(alpha), -floored(-beta), stop);
        }
        int best_move(const Node& node, const StopFlag& stop) {
            int score = 0;
            return solver_.best_move(node.position, stop, score);
        }
        std::uint64_t nodes() const { return solver_.nodes(); }

       private:
        static int floored(int centi) { return centi >= 0 ? centi / 100 : -((99 - centi) / 100); }
        EndgameSolver<EvaluationOrder> solver_;
    };
};

}  // namespace
}  // namespace desdemona::othello
