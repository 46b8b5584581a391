// Chess positions as they cross the border between Python, the core and its units: plain values only.
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
    std::uint64_t key;  // of all that makes two positions the same one: pieces, castling, en passant, side to move
    std::uint16_t ply;  // since the game began, from the FEN's move number and side
    std::uint16_t rule50;  // plies since the last capture or pawn move
    std::uint8_t side;     // to move
    std::uint8_t ep;       // square behind a pawn that a legal move takes en passant; without one `kNoSquare`
    bool is_chess960;      // castling is written as the king taking its rook
};

// The game so far: positions since the last move that cannot be undone, the one that the search begins with
// included (the last).
struct Past {
    static constexpr int kMost = 128;  // the fifty-move rule ends every game before there are more
    int count;
    int twice_count;
    int root_ply;  // of the last one
    bool is_over;  // the last one stands here for the third time
    std::uint64_t salt;  // of those that stood twice: scores depend on them; 0 without any
    std::uint64_t keys[kMost];
    std::uint64_t twice[kMost / 2];  // each once: stand they again, the game is drawn
};

struct Position {
    State state;
    Past past;
};

}  // namespace desdemona::chess
