// ProbCut's error model for Othello: how much scores of different depths differ (strong.hpp).
//
// Written by
//     python -m engine.training.othello_probcut
// on 2026-11-21; strong.hpp explains the numbers.
#pragma once

namespace desdemona::othello::probcut {

// Standard deviation in centidiscs by number of empty squares, for depths of which one is e times the other.
constexpr short kDeviation[65] = {
    529, 529, 529, 529, 529, 529, 529, 529, 529, 529, 529, 529, 529, 529, 529, 517,
    505, 493, 482, 471, 460, 449, 439, 429, 419, 410, 400, 391, 382, 373, 365, 357,
    349, 341, 333, 325, 318, 311, 304, 297, 290, 283, 277, 271, 265, 259, 253, 247,
    242, 236, 231, 226, 221, 216, 211, 211, 211, 211, 211, 211, 211, 211, 211, 211,
    211};

}  // namespace desdemona::othello::probcut
