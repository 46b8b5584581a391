// Parses chess positions in UCI notation.
#pragma once

#include <string_view>

#include "chess/chess_position.hpp"

namespace desdemona::chess {

// Reads `FEN moves m1 m2 ... line l1 l2 ...`: a position of a game, the game's moves since then, and the moves of a
// searched line, which do not count as the game's past (both parts may be missing, and `startpos` is a FEN).  Throws
// std::invalid_argument with the reason if the text is no such position.
//
// A parsed position is safe to search: one king each, at most sixteen pieces a side, no pawn on the first or last rank,
// and the side not to move is not in check.  It need not be reachable in a game.
Position parse(std::string_view text);

}  // namespace desdemona::chess
