// Xiangqi positions as they cross the boundary between Python, the core and its units: plain values only.
#pragma once

#include <cstdint>

namespace desdemona::xiangqi {

constexpr int kSquares = 90;  // 9 * rank + file, rank 0 is red's home row: a1 = 0, i10 = 89

// In the order of their worth, roughly: what a capture costs when the piece is taken back.
enum Kind : int { kSoldier, kAdvisor, kElephant, kHorse, kCannon, kRook, kGeneral };
constexpr int kKinds = 7;
constexpr int kEmpty = 2 * kKinds;  // a piece is 7 * colour + kind, colour 0 is red

constexpr int kDrawPlies = 100;      // without a capture

// How a third occurrence ends the game, for the side to move: by perpetual check one side loses.
enum Verdict : std::int8_t { kLost = -1, kDrawn = 0, kWon = 1, kGoesOn = 2 };

// The game's positions since its last capture or soldier's advance, as far as a search needs them: no earlier one can
// recur, and the search's own moves do not count (scores must not depend on the path).
struct Past {
    static constexpr int kMost = 128;  // a hundred plies end the game

    struct Twice {
        std::uint64_t key;
        Verdict verdict;  // if it occurs for the third time
    };

    int count;
    int twice_count;
    std::uint64_t salt;         // depends on the positions that occur there twice
    std::uint64_t keys[kMost];  // the oldest first, the root is the last
    Twice twice[kMost / 2];
};

struct Position {
    std::uint8_t board[kSquares];
    std::uint8_t side;  // 0: red is to move, 1: black
    Verdict verdict;    // of the position itself as a third occurrence
    std::uint16_t quiet;  // plies since the last capture
    std::uint16_t ply;    // since the game began
    Past past;
};

}  // namespace desdemona::xiangqi
