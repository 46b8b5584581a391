// How much the scores of Othello searches of different depths differ, for ProbCut (strong.hpp).
//
// For searches of equal parity the variance is, to within the noise of the measurement, a number that depends on
// the empty squares alone times ln((deep + 1) / (shallow + 1)).  Found by
//     python -m engine.training.othello_probcut
#pragma once

namespace desdemona::othello::probcut {

// Standard deviation in centidiscs by number of empty squares, per square root of the logarithm.
constexpr short kDeviation[65] = {
    550, 550, 550, 550, 550, 550, 550, 550, 550, 550, 550, 550, 550, 550, 550, 540, 535, 530, 525, 520, 515,
    508, 500, 492, 484, 476, 468, 460, 450, 440, 430, 420, 410, 400, 391, 382, 373, 364, 355, 346, 337, 328,
    319, 310, 301, 292, 284, 276, 268, 260, 252, 245, 240, 240, 240, 240, 240, 240, 240, 240, 240, 240, 240, 240, 240};

}  // namespace desdemona::othello::probcut
