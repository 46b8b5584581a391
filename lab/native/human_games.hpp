// The positions of people's games as arrays to learn from (lab/training/people).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace desdemona::learning {

// Positions of games, in order.  Squares are seen from the side to move: its home row is row 0 (chess: ranks flipped
// for black; xiangqi: the board turned by 180 degrees).  A move is `from * squares + to`; a promotion of chess to
// another piece than a queen has its target on the own first row (knight), second (bishop) or third (rook), where no
// pawn on the seventh can go.
struct HumanPositions {
    static constexpr std::uint8_t kNone = 255;

    std::vector<std::uint8_t> boards;  // [position][square]: 0 empty, 1 .. kinds own pieces, then the other side's
    std::vector<std::uint8_t> marks;   // [position][4]: last move's from and to; square of a legal en passant capture
                                       // (each 255: none); castling rights (1 own short, 2 long, 4 and 8 the other's)
    std::vector<std::uint16_t> counts;   // of legal moves
    std::vector<std::uint16_t> moves;    // legal moves of all positions, one after the other
    std::vector<std::uint16_t> played;   // place of the played move among the position's legal moves
    std::vector<std::uint32_t> games;    // number of the position's game
    std::vector<std::uint16_t> plies;    // moves before it in the game
    std::vector<std::int32_t> clocks;    // of the side to move before the move, tenths of a second; -1: unknown
    std::vector<std::uint8_t> is_whole;  // [game]: whether every word of it was a legal move; if not, it ends before
};

// Reads main lines of chess in SAN as PGN has them, from the usual start, with clocks in comments ([%clk 0:03:00]).
HumanPositions read_chess_games(const std::vector<std::string>& movetexts);

// Reads games of xiangqi from the usual start: moves such as b1a3 or h10g8, with blanks between them.
HumanPositions read_xiangqi_games(const std::vector<std::string>& movetexts);

}  // namespace desdemona::learning
