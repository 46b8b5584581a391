// Othello the slow and obvious way, square by square: what the core is measured against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cmath>
#include <utility>
#include <vector>

#include "core.hpp"
#include "othello/patterns.hpp"
#include "position.hpp"

namespace naive {

using desdemona::othello::Board;
using desdemona::othello::kPass;
using desdemona::othello::Position;
namespace patterns = desdemona::othello::patterns;

inline bool has(Board b, int square) { return (b >> square & 1) != 0; }
inline int count(Board b) {
    int n = 0;
    for (int square = 0; square < 64; ++square) n += has(b, square);
    return n;
}

// --- Rules -------------------------------------------------------------------------------------------------

inline Board flips(Position p, int square) {
    Board flipped = 0;
    for (int down = -1; down <= 1; ++down) {
        for (int right = -1; right <= 1; ++right) {
            if (down == 0 && right == 0) continue;
            Board run = 0;
            int row = square / 8 + down;
            int column = square % 8 + right;
            while (row >= 0 && row < 8 && column >= 0 && column < 8 && has(p.waiter, 8 * row + column)) {
                run |= Board{1} << (8 * row + column);
                row += down;
                column += right;
            }
            if (row >= 0 && row < 8 && column >= 0 && column < 8 && has(p.mover, 8 * row + column)) flipped |= run;
        }
    }
    return flipped;
}

inline Board moves(Position p) {
    Board found = 0;
    for (int square = 0; square < 64; ++square) {
        if (!has(p.mover | p.waiter, square) && flips(p, square) != 0) found |= Board{1} << square;
    }
    return found;
}

inline Position passed(Position p) { return {p.waiter, p.mover}; }

inline Position play(Position p, int move) {
    if (move == kPass) return passed(p);
    const Board flipped = flips(p, move);
    return {p.waiter & ~flipped, p.mover | flipped | Board{1} << move};
}

// Margin in discs for the mover; the empty squares are the winner's.
inline int margin(Position p) {
    const int mover = count(p.mover);
    const int waiter = count(p.waiter);
    const int empty = 64 - mover - waiter;
    return mover == waiter ? 0 : mover > waiter ? mover + empty - waiter : mover - waiter - empty;
}

inline int result(Position p) {
    const int discs = margin(p);
    return discs == 0 ? 0 : 100 * discs + (discs > 0 ? desdemona::kWin : -desdemona::kWin);
}

inline std::uint64_t perft(Position p, int depth) {
    if (depth == 0) return 1;
    const Board squares = moves(p);
    if (squares == 0) return moves(passed(p)) == 0 ? 1 : perft(passed(p), depth - 1);
    std::uint64_t leaves = 0;
    for (int square = 0; square < 64; ++square) {
        if (has(squares, square)) leaves += perft(play(p, square), depth - 1);
    }
    return leaves;
}

// --- Evaluation --------------------------------------------------------------------------------------------

// Weights in the order of the file, one stage after the other; see `OthelloEvaluation`.
class Evaluation {
   public:
    explicit Evaluation(std::vector<std::int16_t> weights) : weights_(std::move(weights)) {
        for (int p = 0; p < patterns::kPatternCount; ++p) {
            const auto first = features_.size();
            for (int symmetry = 0; symmetry < 8; ++symmetry) {
                std::vector<int> squares;
                for (int i = 0; i < patterns::kPatterns[p].size; ++i) {
                    squares.push_back(patterns::turned(patterns::kPatterns[p].squares[i], symmetry));
                }
                std::vector<int> sorted = squares;
                std::sort(sorted.begin(), sorted.end());
                auto same = features_.begin() + static_cast<std::ptrdiff_t>(first);
                while (same != features_.end() && same->sorted != sorted) ++same;
                if (same == features_.end()) {
                    features_.push_back({p, sorted, {squares}});
                } else {
                    same->orders.push_back(squares);  // the pattern is its own mirror image
                }
            }
        }
    }

    const std::vector<std::int16_t>& weights() const { return weights_; }
    std::size_t feature_count() const { return features_.size(); }

    int evaluate(Position p) const {
        const int empties = 64 - count(p.mover | p.waiter);
        const std::int16_t* stage =
            weights_.data() + static_cast<std::size_t>(patterns::stage_of(empties)) * patterns::kStageSize;
        int sum = stage[patterns::kMoverMobility + count(moves(p))] +
                  stage[patterns::kWaiterMobility + count(moves(passed(p)))];
        for (const Feature& feature : features_) {
            int index = 1 << 30;
            for (const std::vector<int>& order : feature.orders) index = std::min(index, contents(p, order));
            sum += stage[patterns::kLayout.table[feature.pattern] + index];
        }
        return std::clamp(sum * patterns::kUnitCenti, -patterns::kMaxEvaluation, patterns::kMaxEvaluation);
    }

   private:
    struct Feature {
        int pattern;
        std::vector<int> sorted;
        std::vector<std::vector<int>> orders;  // equal readings, of which the one with the least number counts
    };

    static int contents(Position p, const std::vector<int>& squares) {
        int index = 0;
        int power = 1;
        for (const int square : squares) {
            index += power * (has(p.mover, square) ? 1 : has(p.waiter, square) ? 2 : 0);
            power *= 3;
        }
        return index;
    }

    std::vector<std::int16_t> weights_;
    std::vector<Feature> features_;
};

// --- Trap arithmetic, as in engine/trappy.py (compile without fused multiply-add) ------------------------------

class Trap {
   public:
    explicit Trap(const desdemona::TrapOptions& options) : options_(options) {}

    // A score in the scale's unit.
    int utility(int score) const {
        if (options_.expected_count == 0) return score;
        const int found = std::abs(score) < options_.expected_count ? options_.expected[std::abs(score)] : 10'000;
        return score < 0 ? 10'000 - found : found;
    }

    // Of the shallow scores s_2 .. s_(D-1), our view.
    double assess(std::vector<int> shallow) const {
        using desdemona::TrapOptions;
        for (int& score : shallow) score = utility(score);
        if (options_.assessment == TrapOptions::kLast) return shallow.back();
        std::sort(shallow.begin(), shallow.end());
        if (options_.assessment == TrapOptions::kBest) return shallow.front();
        const std::size_t middle = shallow.size() / 2;
        return shallow.size() % 2 != 0 ? shallow[middle] : (shallow[middle - 1] + shallow[middle]) / 2.0;
    }

    // Of a reply with scores s_2 .. s_D.
    double quality(std::vector<int> scores, int raw) const {
        const double last = utility(scores.back());
        scores.pop_back();
        if (scores.empty() || last <= utility(raw)) return 0;
        return (last - utility(raw)) * trappiness(assess(scores), last);
    }

    double bonus(double quality, int raw) const {
        const bool is_expected = options_.expected_count != 0;
        const double most = 4 * options_.risk_share * utility(raw);
        const double size = is_expected && std::isfinite(options_.risk_share) ? std::min(size_of(raw), most) : size_of(raw);
        if (options_.swindle && raw >= desdemona::kWin) return 0;
        if (options_.swindle && raw <= -desdemona::kWin && is_expected) return 0;
        if (quality <= 0 || size == 0) return 0;
        if (quality <= 0.25 * size) return 0.8 * quality;
        if (quality >= 2 * size) return 0.25 * size;
        return std::min(0.25 * size, 0.2 * size + 0.05 * (quality - 0.25 * size) / 1.75);
    }

   private:
    double size_of(double score) const {
        if (options_.expected_count != 0) return 4 * options_.risk;
        return std::max<double>(std::abs(score), options_.margin_centi);
    }
    double trappiness(double shallow, double last) const {
        const double gap = last - shallow;
        const double size = size_of(last);
        if (gap <= 0) return 0;
        if (gap >= 4 * size) return 1;
        return gap >= size ? 0.75 + 0.25 * (gap - size) / (3 * size) : 0.75 * gap / size;
    }

    desdemona::TrapOptions options_;
};

// --- Search ------------------------------------------------------------------------------------------------

inline int minimax(const Evaluation& evaluation, Position p, int depth) {
    const Board squares = moves(p);
    if (squares == 0 && moves(passed(p)) == 0) return result(p);
    if (depth == 0) return evaluation.evaluate(p);
    if (squares == 0) return -minimax(evaluation, passed(p), depth - 1);
    int best = -desdemona::kInfinity;
    for (int square = 0; square < 64; ++square) {
        if (has(squares, square)) best = std::max(best, -minimax(evaluation, play(p, square), depth - 1));
    }
    return best;
}

}  // namespace naive
