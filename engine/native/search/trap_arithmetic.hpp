// The arithmetic of engine/trappy.py, bit for bit; see there for its meaning and sources.
//
// The search needs it only to prune: the choice itself is made in Python, from the scores.
#pragma once

#include <cmath>

#include "core.hpp"
#include "game.hpp"

namespace desdemona {
namespace {

class TrapArithmetic {
   public:
    explicit TrapArithmetic(const TrapOptions& options)
        : options_(options), margin_(options.margin_centi), is_expected_(options.expected_count != 0) {}

    // A score in the scale's unit, which assessments, qualities and bonuses have; raw and final scores are in
    // centi-units.
    int utility(int score) const {
        if (!is_expected_) return score;
        const int size = score < 0 ? -score : score;
        const int found = size < options_.expected_count ? options_.expected[size] : kWhole;
        return score < 0 ? kWhole - found : found;
    }

    // Assessment U of shallow scores, from the trap setter's view (so the least of them for `kBest`).  Lower bounds
    // give a lower bound.
    double assess(const int* scores, int count) const {
        switch (options_.assessment) {
            case TrapOptions::kLast: return utility(scores[count - 1]);
            case TrapOptions::kBest: {
                int least = scores[0];
                for (int i = 1; i < count; ++i) least = scores[i] < least ? scores[i] : least;
                return utility(least);
            }
            case TrapOptions::kMedian: break;
        }
        int sorted[kMaxShallow];
        for (int i = 0; i < count; ++i) {
            int j = i;
            for (; j > 0 && sorted[j - 1] > scores[i]; --j) sorted[j] = sorted[j - 1];
            sorted[j] = scores[i];
        }
        const int upper = utility(sorted[count / 2]);
        return count % 2 != 0 ? upper : (utility(sorted[count / 2 - 1]) + upper) / 2.0;
    }

    // Quality of a reply, given its assessment and its score at full depth (Figure 3, times profit).
    double quality(double shallow, int final, int raw) const {
        return quality_of_utilities(shallow, utility(final), utility(raw));
    }

    // Sort key of replies: quality if positive; otherwise the closer to a positive quality, the less negative.
    double inclination(double shallow, int final_score, int raw) const {
        const double found = quality(shallow, final_score, raw);
        const double final = utility(final_score);
        const double profit = final - utility(raw);
        return found > 0 || profit <= 0 ? found : profit * (final - shallow) / (size(final) + 1);
    }

    // Upper bound of the quality when both are only bounded: the assessment from below, the score from above.  See
    // engine.trappy.quality_ceiling.
    double quality_ceiling(double shallow, int final, int raw) const {
        double most = quality(shallow, final, raw);
        if (is_expected_) return most;  // sizes being constant, quality grows with the score
        const double turn = -shallow / 3 > margin_ ? -shallow / 3 : margin_;
        if (raw < turn && turn < final) {
            const double there = quality_of_utilities(shallow, turn, raw);
            most = there > most ? there : most;
        }
        return most;
    }

    double bonus_cap(int raw) const {
        if (options_.swindle && raw >= kWin) return 0.0;  // a forced win needs no trap
        if (!is_expected_) return 0.25 * size(raw);
        if (options_.swindle && raw <= -kWin) return 0.0;  // no bonus justifies a forced loss
        return bonus_of(kWhole - utility(raw), room(utility(raw)));  // no reply gains more than certainty
    }

    double bonus(double quality, int raw) const {
        return bonus_cap(raw) == 0 ? 0.0 : bonus_of(quality, room(utility(raw)));
    }

    static constexpr int kMaxShallow = 128;

   private:
    static constexpr int kWhole = 10'000;  // value of a won game on the expected scale

    // The denominator for a gap or a quality beside that value.
    double size(double score) const {
        if (is_expected_) return 4 * options_.risk;
        const double absolute = score < 0 ? -score : score;
        return absolute > margin_ ? absolute : margin_;
    }

    // The same for the bonus of a move with this value.
    double room(double value) const {
        if (!is_expected_ || std::isinf(options_.risk_share)) return size(value);
        const double own = 4 * options_.risk_share * value;
        return own < size(value) ? own : size(value);
    }

    // Figure 5, corrected.
    static double bonus_of(double quality, double s) {
        if (quality <= 0 || s == 0) return 0.0;
        if (quality <= 0.25 * s) return 0.8 * quality;
        const double bonus = 0.2 * s + 0.05 * (quality - 0.25 * s) / 1.75;
        return quality < 2 * s && bonus < 0.25 * s ? bonus : 0.25 * s;
    }

    double quality_of_utilities(double shallow, double final, double raw) const {
        return final > raw ? (final - raw) * trappiness(shallow, final) : 0.0;
    }

    double trappiness(double shallow, double final) const {
        const double gap = final - shallow;
        if (gap <= 0) return 0.0;
        const double s = size(final);
        if (gap >= 4 * s) return 1.0;
        if (gap >= s) return 0.75 + 0.25 * (gap - s) / (3 * s);
        return 0.75 * gap / s;
    }

    const TrapOptions options_;
    const double margin_;
    const bool is_expected_;
};

}  // namespace
}  // namespace desdemona
