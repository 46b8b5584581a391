// The patterns of the Othello evaluation: which squares are evaluated together.
//
// A pattern is a list of squares; each of the board's eight symmetries maps it to a *feature*, and all features of a
// pattern share one table of weights.  The content of a feature is a number in base three (0 empty, 1 and 2 the two
// sides), the first square its lowest digit. tests/engine/games/othello_mirror.py is a readable copy of this file in
// Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace desdemona::othello::patterns {

struct Pattern {
    int size;
    int squares[10];
};

// Squares by bit number: a1 = 0, h1 = 7, a2 = 8 ...
constexpr Pattern kPatterns[] = {
    {9, {0, 1, 2, 8, 9, 10, 16, 17, 18}},         // corner of three by three
    {10, {0, 1, 2, 3, 4, 8, 16, 24, 32, 9}},      // angle: both rims from the corner, with the X square
    {10, {0, 1, 2, 3, 4, 5, 6, 7, 9, 14}},        // rim with its two X squares
    {10, {0, 2, 3, 4, 5, 7, 10, 11, 12, 13}},     // rim and the block before its middle
    {10, {0, 1, 2, 3, 8, 9, 10, 16, 17, 24}},     // triangle in the corner
    {8, {8, 9, 10, 11, 12, 13, 14, 15}},          // second row
    {8, {16, 17, 18, 19, 20, 21, 22, 23}},        // third row
    {8, {24, 25, 26, 27, 28, 29, 30, 31}},        // fourth row
    {8, {0, 9, 18, 27, 36, 45, 54, 63}},          // diagonals, the longest first
    {7, {1, 10, 19, 28, 37, 46, 55}},
    {6, {2, 11, 20, 29, 38, 47}},
    {5, {3, 12, 21, 30, 39}},
};
constexpr int kPatternCount = static_cast<int>(sizeof(kPatterns) / sizeof(kPatterns[0]));
constexpr int kFeatureCount = 46;
constexpr int kLanes = 48;  // features in three registers of sixteen; the last two stay 0

constexpr int power_of_three(int n) { return n == 0 ? 1 : 3 * power_of_three(n - 1); }

// Bit number of a square's image under one of the eight symmetries.
constexpr int turned(int square, int symmetry) {
    int row = square / 8;
    int column = square % 8;
    if (symmetry & 1) column = 7 - column;
    if (symmetry & 2) row = 7 - row;
    return symmetry & 4 ? 8 * column + row : 8 * row + column;
}

struct Layout {
    int table[kPatternCount]{};                    // offset of a pattern's weights within a stage
    int pattern_of[kFeatureCount]{};
    int square[kFeatureCount][10]{};
    alignas(32) std::uint16_t step[64][kLanes]{};  // contribution of a disc of side 1 on a square to each feature
    int size = 0;                                  // weights of all patterns of a stage
    int features = 0;
};

constexpr Layout make_layout() {
    Layout layout;
    for (int p = 0; p < kPatternCount; ++p) {
        const Pattern& pattern = kPatterns[p];
        layout.table[p] = layout.size;
        layout.size += power_of_three(pattern.size);
        std::uint64_t seen[8]{};
        int count = 0;
        for (int symmetry = 0; symmetry < 8; ++symmetry) {
            std::uint64_t squares = 0;
            for (int i = 0; i < pattern.size; ++i) squares |= std::uint64_t{1} << turned(pattern.squares[i], symmetry);
            bool is_new = true;
            for (int i = 0; i < count; ++i) is_new = is_new && seen[i] != squares;
            if (!is_new) continue;
            seen[count++] = squares;
            for (int i = 0; i < pattern.size; ++i) {
                const int square = turned(pattern.squares[i], symmetry);
                layout.square[layout.features][i] = square;
                layout.step[square][layout.features] = static_cast<std::uint16_t>(power_of_three(i));
            }
            layout.pattern_of[layout.features++] = p;
        }
    }
    return layout;
}

constexpr Layout kLayout = make_layout();
static_assert(kLayout.features == kFeatureCount);

// Besides the patterns: a weight for the number of moves of the mover, and one for the waiter's.
constexpr int kMobilities = 40;
constexpr int kMoverMobility = kLayout.size;
constexpr int kWaiterMobility = kMoverMobility + kMobilities;
constexpr int kStageSize = kWaiterMobility + kMobilities;

// A stage is one ply; the last one, number 0, has one empty square.
constexpr int kStages = 60;
constexpr int stage_of(int empties) { return empties < 1 ? 0 : empties > kStages ? kStages - 1 : empties - 1; }

constexpr int kUnitCenti = 4;             // the unit of weights is 1/25 disc
constexpr int kMaxEvaluation = 6'000;     // LIMIT_CENTI

}  // namespace desdemona::othello::patterns
