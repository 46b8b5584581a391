// Connect Four positions as they cross the boundary between Python, the core and its units: plain values only.
#pragma once

#include <cstdint>

namespace desdemona::connect4 {

using Board = std::uint64_t;  // bit 7 * column + row, row 0 at the bottom, as in engine/games/connect4.py

struct Position {
    Board mover;
    Board waiter;
};

// Whether every disc is on the board, and rests on the bottom or on another disc.
constexpr bool is_position(Board mover, Board waiter) {
    constexpr Board kBottom = 0x40810204081ull;  // the bottom square of each column
    const Board discs = mover | waiter;
    return (mover & waiter) == 0 && (discs & ~(kBottom * 0x3F)) == 0 && ((discs + kBottom) & discs) == 0;
}

// The header contains everything that an evaluation of this game needs.
struct NoEvaluation {};

}  // namespace desdemona::connect4
