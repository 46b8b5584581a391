// ProbCut's error model for Othello: how much scores of different depths differ (strong.hpp).
//
// Written by
//     python -m lab.training.othello_probcut --positions 100 --depth 10
// on 2026-11-24; strong.hpp explains the numbers.
#pragma once

namespace desdemona::othello::probcut {

// Standard deviation in centidiscs by number of empty squares, for depths of which one is e times the other.
constexpr short kDeviation[65] = {
    514, 514, 514, 514, 514, 514, 514, 514, 514, 514, 514, 514, 514, 514, 514, 504,
    495, 486, 476, 467, 458, 450, 441, 432, 424, 416, 407, 399, 391, 383, 375, 368,
    360, 353, 345, 338, 331, 324, 317, 310, 304, 297, 290, 284, 278, 272, 266, 260,
    254, 248, 242, 237, 231, 226, 221, 221, 221, 221, 221, 221, 221, 221, 221, 221,
    221};

}  // namespace desdemona::othello::probcut
