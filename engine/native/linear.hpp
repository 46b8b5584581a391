// Linear evaluations: how features and weights become a score.
//
// A game's `collect` walks the features of a position and calls add(feature, times) on a sink: the feature's count,
// negative for the waiting side.  `Sum` is the sink of the evaluation; training has another.
#pragma once

#include <cstdint>

namespace desdemona {
namespace {
namespace linear {

// How the middlegame and endgame sums of a position become one score.
struct Taper {
    int middle;  // 0 .. 64: game phase; 64 takes the middlegame weights alone
    int scale;   // out of 64: lower where a lead is hard to win
};

struct Sum {
    const std::int16_t (*weights)[2];  // by feature: middlegame, endgame; centi-units
    int middle = 0;
    int end = 0;

    void add(int feature, int times) {
        middle += times * weights[feature][0];
        end += times * weights[feature][1];
    }

    int score(Taper taper, int most) const {
        const int mixed = (middle * taper.middle + end * (64 - taper.middle)) >> 6;
        const int score = mixed * taper.scale >> 6;
        return score > most ? most : score < -most ? -most : score;
    }
};

}  // namespace linear
}  // namespace
}  // namespace desdemona
