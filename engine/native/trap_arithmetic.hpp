// The arithmetic of engine/trappy.py, to the last bit; see there for its meaning and sources.
//
// The search only needs it to see what cannot matter: the choice itself is made in Python, from the scores.
#pragma once

#include "core.hpp"
#include "game.hpp"

namespace desdemona {
namespace {

class TrapArithmetic {
   public:
    explicit TrapArithmetic(const TrapOptions& options) : options_(options), margin_(options.margin_centi) {}

    // Assessment U of shallow scores, from the trap setter's view (so the least of them for `kBest`).  Bounds
    // from below give a bound from below.
    double assess(const int* scores, int count) const {
        switch (options_.assessment) {
            case TrapOptions::kLast: return scores[count - 1];
            case TrapOptions::kBest: {
                int least = scores[0];
                for (int i = 1; i < count; ++i) least = scores[i] < least ? scores[i] : least;
                return least;
            }
            case TrapOptions::kMedian: break;
        }
        int sorted[kMaxShallow];
        for (int i = 0; i < count; ++i) {
            int j = i;
            for (; j > 0 && sorted[j - 1] > scores[i]; --j) sorted[j] = sorted[j - 1];
            sorted[j] = scores[i];
        }
        const int upper = sorted[count / 2];
        return count % 2 != 0 ? upper : (sorted[count / 2 - 1] + upper) / 2.0;
    }

    // Quality of a reply, given its assessment and its score at full depth (Figure 3, times profit).
    double quality(double shallow, double final, int raw) const {
        return final > raw ? (final - raw) * trappiness(shallow, final) : 0.0;
    }

    // For sorting replies: quality where there is any, else the less negative the nearer to some.
    double inclination(double shallow, double final, int raw) const {
        const double found = quality(shallow, final, raw);
        return found > 0 || final <= raw ? found : (final - raw) * (final - shallow) / (size(final) + 1);
    }

    // The most that the quality can be when both are only bounded: the assessment from below, the score from
    // above.  See engine.trappy.quality_ceiling.
    double quality_ceiling(double shallow, int final, int raw) const {
        double most = quality(shallow, final, raw);
        const double turn = -shallow / 3 > margin_ ? -shallow / 3 : margin_;
        if (raw < turn && turn < final) {
            const double there = quality(shallow, turn, raw);
            most = there > most ? there : most;
        }
        return most;
    }

    double bonus_cap(int raw) const {
        if (options_.swindle && raw >= kWin) return 0.0;  // a forced win needs no trap
        return 0.25 * size(raw);
    }

    // Figure 5, mended.
    double bonus(double quality, int raw) const {
        if (bonus_cap(raw) == 0 || quality <= 0) return 0.0;
        const double s = size(raw);
        if (quality <= 0.25 * s) return 0.8 * quality;
        if (quality < 2 * s) return 0.2 * s + 0.05 * (quality - 0.25 * s) / 1.75;
        return 0.25 * s;
    }

    static constexpr int kMaxShallow = 128;

   private:
    double size(double score) const {
        const double absolute = score < 0 ? -score : score;
        return absolute > margin_ ? absolute : margin_;
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
};

}  // namespace
}  // namespace desdemona
