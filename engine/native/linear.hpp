// Linear evaluations: how features and weights become a score.
//
// A game's `collect` walks the features of a position and tells a sink add(feature, times): how often the feature
// occurs, negative for the side that waits.  `Sum` is the sink of the evaluation; the training has another.
#pragma once

#include <cstdint>

namespace desdemona {
namespace {
namespace linear {

// How the two sums of a position become one.
struct Taper {
    int middle;  // 0 .. 64: how much of the middle game's weights counts, the rest the endgame's
    int scale;   // of 64: less where a lead is hard to win
};

struct Sum {
    const std::int16_t (*weights)[2];  // of each feature in the middle game, in the endgame; centi-units
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
