// The weights of a network that corrects the evaluation, as plain values.
//
// An efficiently updatable network (Nasu 2018): its inputs are the pieces on their squares, seen from one side, and a
// move changes few of them, so that the sums of the first layer (the *accumulators*) are updated move by move.  Each
// side has an accumulator of `kWidth` sums; the second layer is one neuron, which sees the mover's accumulator first,
// then the other's, each sum limited to 0 .. 1 and squared.  It has `kBuckets` sets of weights, by the number of
// pieces. Its output is added to the linear evaluation, which already covers mobility, threats and pawns, so a small
// network and few games are enough. engine/games/networks.py reads the file, lab/training/networks.py trains it, and
// tests/engine/games/network_mirror.py is a readable copy in Python.
#pragma once

#include <cstdint>

namespace desdemona::network {

constexpr int kWidth = 128;
constexpr int kBuckets = 8;
constexpr int kInputUnit = 255;   // 1 in an accumulator
constexpr int kOutputUnit = 64;   // 1 in a weight of the second layer; these are within +-127
constexpr int kScoreUnit = 400;   // centi-units: an output of 1

// The index of the second layer's weights by the number of pieces.
constexpr int bucket_of(int pieces) { return pieces > 4 * kBuckets ? kBuckets - 1 : (pieces - 1) / 4; }

template <int kInputs>
struct Network {
    static constexpr int kInputCount = kInputs;
    alignas(64) std::int16_t inputs[kInputs][kWidth];
    alignas(64) std::int16_t bias[kWidth];
    alignas(64) std::int16_t outputs[kBuckets][2][kWidth];
    std::int32_t output_bias[kBuckets];  // the unit is 1 / (kInputUnit * kOutputUnit)
};

struct alignas(64) Accumulators {
    std::int16_t of[2][kWidth];  // by side
};

}  // namespace desdemona::network

namespace desdemona::chess {

using Network = network::Network<2 * 6 * 64>;

}  // namespace desdemona::chess

namespace desdemona::xiangqi {

using Network = network::Network<2 * 7 * 90>;

}  // namespace desdemona::xiangqi
