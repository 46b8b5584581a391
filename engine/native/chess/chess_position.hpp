// Chess positions as they cross the boundary between Python, the core and its units: plain values only.
#pragma once

#include <cstdint>

namespace desdemona::chess {

using Board = std::uint64_t;  // bit 8 * rank + file, so a1 is bit 0 and h8 bit 63

enum Piece { kPawn, kKnight, kBishop, kRook, kQueen, kKing };
enum Side { kWhite, kBlack };

constexpr int kNoSquare = 64;

// A position without its history.
struct State {
    Board pieces[6];   // of both sides, by `Piece`
    Board colours[2];  // all pieces of a side
    Board castling;    // rooks that may still castle
    std::uint64_t key;  // of everything that makes two positions the same: pieces, castling, en passant, side to move
    std::uint16_t ply;  // since the game began, from the FEN's move number and side
    std::uint16_t rule50;  // plies since the last capture or pawn move
    std::uint8_t side;     // to move
    std::uint8_t ep;       // target square of a legal en passant capture; `kNoSquare` if there is none
    bool is_chess960;      // castling is written as the king taking its rook
};

// The game so far: positions since the last irreversible move, up to and including the root of the search (the last).
struct Past {
    static constexpr int kMost = 128;  // the fifty-move rule keeps every game below this
    int count;
    int twice_count;
    int root_ply;  // of the last one
    bool is_over;  // the last one is a third occurrence
    std::uint64_t salt;  // of those that occurred twice: scores depend on them; 0 if none did
    std::uint64_t keys[kMost];
    std::uint64_t twice[kMost / 2];  // each listed once: another occurrence is a draw
};

struct Position {
    State state;
    Past past;
};

}  // namespace desdemona::chess
