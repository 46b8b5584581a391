// Positions and scores as they cross the boundary between Python, the core and its units: plain values only.
#pragma once

#include <cstdint>

namespace desdemona {

constexpr int kWin = 100'000;         // engine.game.WIN_CENTI: from here on a game is decided
constexpr int kInfinity = 1'000'000;  // engine.search.reference.INFINITY: beyond every score

}  // namespace desdemona

namespace desdemona::othello {

using Board = std::uint64_t;  // bit 8 * row + column, row 0 at the top, as in engine/games/othello.py

constexpr int kPass = 64;

struct Position {
    Board mover;
    Board waiter;
};

}  // namespace desdemona::othello
