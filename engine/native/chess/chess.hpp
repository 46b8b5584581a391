// The rules of chess on bitboards, with legal move generation; they must equal engine/games/standard_chess.py.
//
// A move is a number: from + 64 * to + 4096 * promotion (0 none, 1 queen ... 4 knight).  Castling is the king's move of
// two squares, or in Chess960 the king taking its own rook, as in UCI.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>

#include "chess/chess_position.hpp"
#include "game.hpp"

namespace desdemona::chess {
namespace {

// No sixteen pieces (the limit for a side, see chess_parse.cpp) have more moves than a king that castles to both sides
// and fifteen queens on the best squares.
constexpr int kMaxMoves = 15 * 27 + 8 + 2;
constexpr int kMaxCaptures = 16 * 8;  // in eight directions, or four promotions on two squares
constexpr int kMoves = 5 << 12;

constexpr Board kFileA = 0x0101010101010101ull;
constexpr Board kFileH = kFileA << 7;
constexpr Board kRank1 = 0xFF;

constexpr Board bit(int square) { return Board{1} << square; }
constexpr int first_square(Board b) { return std::countr_zero(b); }
constexpr int file_of(int square) { return square & 7; }
constexpr int rank_of(int square) { return square >> 3; }
constexpr Board back_rank(int side) { return side == kWhite ? kRank1 : kRank1 << 56; }
constexpr bool has_many(Board b) { return (b & (b - 1)) != 0; }

constexpr int from_of(int move) { return move & 63; }
constexpr int to_of(int move) { return move >> 6 & 63; }
// As `Piece`; 0 for none, since no promotion yields a pawn.  Numbered from the queen on: ties go to the first move.
constexpr int promotion_of(int move) { return move >> 12 == 0 ? 0 : kKing - (move >> 12); }
constexpr int make_move(int from, int to, int promotion = 0) {
    return from | to << 6 | (promotion == 0 ? 0 : kKing - promotion) << 12;
}

// --- Tables ------------------------------------------------------------------------------------------------------

// One of the four lines through a square: the squares on its lower and its higher side.
struct Line {
    Board lower;
    Board upper;
};

enum Axis { kRank, kFile, kDiagonal, kAntidiagonal };
constexpr int kAxisSteps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};  // rank, file; towards higher squares

struct Tables {
    Line lines[64][4]{};
    Board rook[64]{};    // attacks on an empty board
    Board bishop[64]{};
    Board knight[64]{};
    Board king[64]{};
    Board pawn[2][64]{};       // attacks of a pawn of that side
    Board between[64][64]{};   // squares strictly between two on a common line
    Board through[64][64]{};   // the whole line through two squares, both included; 0 without a common one
};

constexpr Board step(int square, int ranks, int files) {
    const int rank = rank_of(square) + ranks;
    const int file = file_of(square) + files;
    return rank >= 0 && rank < 8 && file >= 0 && file < 8 ? bit(8 * rank + file) : 0;
}

constexpr Tables make_tables() {
    Tables t;
    for (int square = 0; square < 64; ++square) {
        for (int axis = 0; axis < 4; ++axis) {
            Line& line = t.lines[square][axis];
            const int ranks = kAxisSteps[axis][0];
            const int files = kAxisSteps[axis][1];
            for (int n = 1; n < 8; ++n) {
                line.upper |= step(square, n * ranks, n * files);
                line.lower |= step(square, -n * ranks, -n * files);
            }
            (axis <= kFile ? t.rook : t.bishop)[square] |= line.lower | line.upper;
            for (const int sign : {1, -1}) {
                Board passed = 0;
                for (int n = 1; n < 8; ++n) {
                    const Board next = step(square, sign * n * ranks, sign * n * files);
                    if (next == 0) break;
                    t.between[square][first_square(next)] = passed;
                    t.through[square][first_square(next)] = line.lower | line.upper | bit(square);
                    passed |= next;
                }
            }
        }
        constexpr int kLeaps[8][2] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
        for (const auto& leap : kLeaps) t.knight[square] |= step(square, leap[0], leap[1]);
        for (const int ranks : {-1, 0, 1}) {
            for (const int files : {-1, 0, 1}) {
                if (ranks != 0 || files != 0) t.king[square] |= step(square, ranks, files);
            }
        }
        t.pawn[kWhite][square] = step(square, 1, -1) | step(square, 1, 1);
        t.pawn[kBlack][square] = step(square, -1, -1) | step(square, -1, 1);
    }
    return t;
}

constexpr Tables kTables = make_tables();

// Random numbers for keys (Zobrist 1970).
struct Keys {
    std::uint64_t piece[2][6][64]{};
    std::uint64_t castling[64]{};  // a rook that may castle
    std::uint64_t ep[8]{};
    std::uint64_t black{};
};

constexpr Keys make_keys() {
    Keys keys;
    std::uint64_t state = 0;
    const auto next = [&state] { return mixed(state += 0x9E3779B97F4A7C15ull); };
    for (auto& side : keys.piece) {
        for (auto& piece : side) {
            for (auto& key : piece) key = next();
        }
    }
    for (auto& key : keys.castling) key = next();
    for (auto& key : keys.ep) key = next();
    keys.black = next();
    return keys;
}

constexpr Keys kKeys = make_keys();

// --- Attacks -----------------------------------------------------------------------------------------------------

// Squares that a slider reaches on one line.  The subtraction borrows from the nearest piece above through every empty
// square down to the nearest piece below (or to bit 0, which the final mask removes).
inline Board line_attacks(Board occupied, const Line& line) {
    const Board upper = occupied & line.upper;
    const Board nearest = bit(63 - std::countl_zero((occupied & line.lower) | 1));
    return (upper ^ (upper - nearest)) & (line.lower | line.upper);
}

inline Board rook_attacks(int square, Board occupied) {
    return line_attacks(occupied, kTables.lines[square][kRank]) | line_attacks(occupied, kTables.lines[square][kFile]);
}

inline Board bishop_attacks(int square, Board occupied) {
    return line_attacks(occupied, kTables.lines[square][kDiagonal]) |
           line_attacks(occupied, kTables.lines[square][kAntidiagonal]);
}

inline Board queen_attacks(int square, Board occupied) {
    return rook_attacks(square, occupied) | bishop_attacks(square, occupied);
}

// Single pushes of all pawns of a side, and their captures towards the a-file and the h-file.
inline Board ahead(Board pawns, int side) { return side == kWhite ? pawns << 8 : pawns >> 8; }
inline Board pawn_attacks_west(Board pawns, int side) { return ahead((pawns & ~kFileA) >> 1, side); }
inline Board pawn_attacks_east(Board pawns, int side) { return ahead((pawns & ~kFileH) << 1, side); }

inline Board knight_attacks(Board knights) {
    const Board near = (knights & ~kFileA) >> 1 | (knights & ~kFileH) << 1;
    const Board far = (knights & ~(kFileA | kFileA << 1)) >> 2 | (knights & ~(kFileH | kFileH >> 1)) << 2;
    return near << 16 | near >> 16 | far << 8 | far >> 8;
}

// --- Properties of a position --------------------------------------------------------------------------------------

inline Board occupied(const State& s) { return s.colours[kWhite] | s.colours[kBlack]; }
inline int king_square(const State& s, int side) { return first_square(s.pieces[kKing] & s.colours[side]); }

// The piece on a square, without a branch; also `kPawn` for an empty square.
inline int piece_on(const State& s, int square) {
    const Board ones = s.pieces[kKnight] | s.pieces[kRook] | s.pieces[kKing];
    const Board twos = s.pieces[kBishop] | s.pieces[kRook];
    const Board fours = s.pieces[kQueen] | s.pieces[kKing];
    return static_cast<int>((ones >> square & 1) | (twos >> square & 1) << 1 | (fours >> square & 1) << 2);
}

// Pieces of either side that attack a square.
inline Board attackers(const State& s, int square, Board occupied) {
    return (kTables.pawn[kBlack][square] & s.pieces[kPawn] & s.colours[kWhite]) |
           (kTables.pawn[kWhite][square] & s.pieces[kPawn] & s.colours[kBlack]) |
           (kTables.knight[square] & s.pieces[kKnight]) | (kTables.king[square] & s.pieces[kKing]) |
           (rook_attacks(square, occupied) & (s.pieces[kRook] | s.pieces[kQueen])) |
           (bishop_attacks(square, occupied) & (s.pieces[kBishop] | s.pieces[kQueen]));
}

// Whether a side attacks a square that is not occupied by its own piece.  Sliders are checked one by one: there is
// seldom one on a line with the square.
inline bool is_attacked(const State& s, int square, int by, Board occupied) {
    const Board theirs = s.colours[by];
    if (((kTables.pawn[1 - by][square] & s.pieces[kPawn]) | (kTables.knight[square] & s.pieces[kKnight]) |
         (kTables.king[square] & s.pieces[kKing])) &
        theirs) {
        return true;
    }
    Board sliders = ((kTables.rook[square] & (s.pieces[kRook] | s.pieces[kQueen])) |
                     (kTables.bishop[square] & (s.pieces[kBishop] | s.pieces[kQueen]))) &
                    theirs;
    for (; sliders != 0; sliders &= sliders - 1) {
        if ((kTables.between[square][first_square(sliders)] & occupied) == 0) return true;
    }
    return false;
}

// Restrictions on the moves of the side to move.
struct Bonds {
    Board checkers;
    Board pinned;  // own pieces that may move only along the line to their king
};

inline Bonds find_bonds(const State& s) {
    const int side = s.side;
    const int king = king_square(s, side);
    const Board theirs = s.colours[1 - side];
    const Board all = occupied(s);
    const Board leapers = (kTables.pawn[side][king] & s.pieces[kPawn]) | (kTables.knight[king] & s.pieces[kKnight]);
    Bonds bonds{leapers & theirs, 0};
    Board sliders = ((kTables.rook[king] & (s.pieces[kRook] | s.pieces[kQueen])) |
                     (kTables.bishop[king] & (s.pieces[kBishop] | s.pieces[kQueen]))) &
                    theirs;
    for (; sliders != 0; sliders &= sliders - 1) {
        const Board blockers = kTables.between[king][first_square(sliders)] & all;
        if (blockers == 0) {
            bonds.checkers |= sliders & (0 - sliders);
        } else if (!has_many(blockers)) {
            bonds.pinned |= blockers & ~theirs;
        }
    }
    return bonds;
}

inline bool is_check(const State& s) {
    return is_attacked(s, king_square(s, s.side), 1 - s.side, occupied(s));
}

// Whether neither side can ever mate: as in python-chess.
inline bool is_insufficient(const State& s) {
    if ((s.pieces[kPawn] | s.pieces[kRook] | s.pieces[kQueen]) != 0) return false;
    if (s.pieces[kKnight] != 0) return std::popcount(occupied(s)) <= 3;
    constexpr Board kDark = 0xAA55AA55AA55AA55ull;
    return (s.pieces[kBishop] & kDark) == 0 || (s.pieces[kBishop] & ~kDark) == 0;
}

// Whether a position has already occurred twice in the game, so that this is the third time.  The last position of the
// game itself is in the past; those of a line are not, and repetitions within a line do not count.
inline bool is_repeated(const State& s, const Past& past) {
    for (int i = 0; i < past.twice_count; ++i) {
        if (past.twice[i] == s.key) return s.ply != past.root_ply || past.is_over;
    }
    return false;
}

// Fifty moves without a capture or a pawn move, or insufficient material.  Checkmate takes precedence.
inline bool is_rule_draw(const State& s) { return s.rule50 >= 100 || is_insufficient(s); }

// Whether a pawn on `from` may take en passant on `to`; `captured` is the other pawn.
inline bool is_ep_legal(const State& s, int side, int from, int to) {
    const Board captured = ahead(bit(to), 1 - side);
    const int king = king_square(s, side);
    const Board after = (occupied(s) ^ bit(from) ^ captured) | bit(to);
    return (attackers(s, king, after) & s.colours[1 - side] & ~captured) == 0;
}

// Whether the side may take en passant on a square.
inline bool has_legal_ep(const State& s, int side, int to) {
    Board takers = kTables.pawn[1 - side][to] & s.pieces[kPawn] & s.colours[side];
    for (; takers != 0; takers &= takers - 1) {
        if (is_ep_legal(s, side, first_square(takers), to)) return true;
    }
    return false;
}

inline std::uint64_t key_of(const State& s) {
    std::uint64_t key = s.side == kBlack ? kKeys.black : 0;
    for (int side = 0; side < 2; ++side) {
        for (int piece = 0; piece < 6; ++piece) {
            for (Board rest = s.pieces[piece] & s.colours[side]; rest != 0; rest &= rest - 1) {
                key ^= kKeys.piece[side][piece][first_square(rest)];
            }
        }
    }
    for (Board rest = s.castling; rest != 0; rest &= rest - 1) key ^= kKeys.castling[first_square(rest)];
    return s.ep == kNoSquare ? key : key ^ kKeys.ep[file_of(s.ep)];
}

// --- Moves ---------------------------------------------------------------------------------------------------------

// Captures, then the other moves.  Captures are written from the last to the first, so the two kinds meet in the middle
// of one array.
class MoveList {
   public:
    const std::uint16_t* begin() const { return moves_ + first_; }
    const std::uint16_t* end() const { return moves_ + last_; }
    bool empty() const { return first_ == last_; }
    int count() const { return last_ - first_; }
    int capture_count() const { return kMaxCaptures - first_; }

   private:
    friend class Writer;
    int first_ = kMaxCaptures;
    int last_ = kMaxCaptures;
    std::uint16_t moves_[kMaxCaptures + kMaxMoves];
};

// Keeps the ends of a list in registers during generation.
class Writer {
   public:
    explicit Writer(MoveList& list) : list_(list), first_(list.moves_ + list.first_), last_(list.moves_ + list.last_) {}
    ~Writer() {
        list_.first_ = static_cast<int>(first_ - list_.moves_);
        list_.last_ = static_cast<int>(last_ - list_.moves_);
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void capture(int move) { *--first_ = static_cast<std::uint16_t>(move); }
    void quiet(int move) { *last_++ = static_cast<std::uint16_t>(move); }

    void captures(int from, Board targets) {
        for (; targets != 0; targets &= targets - 1) capture(make_move(from, first_square(targets)));
    }
    void quiets(int from, Board targets) {
        for (; targets != 0; targets &= targets - 1) quiet(make_move(from, first_square(targets)));
    }

   private:
    MoveList& list_;
    std::uint16_t* first_;
    std::uint16_t* last_;
};

enum class Kind { kAll, kForcing };  // forcing: captures and promotions to a queen

// Target squares of the king and the rook when that rook castles.
struct Castling {
    int king_to;
    int rook_to;
};

inline Castling castling_of(int king, int rook) {
    const int corner = king & 56;
    return rook > king ? Castling{corner + 6, corner + 5} : Castling{corner + 2, corner + 3};
}

// For a side that is not in check.
inline bool may_castle(const State& s, int king, int rook) {
    const auto [king_to, rook_to] = castling_of(king, rook);
    const Board others = occupied(s) & ~(bit(king) | bit(rook));
    const Board way = kTables.between[king][king_to] | bit(king_to);
    if (((way | kTables.between[rook][rook_to] | bit(rook_to)) & others) != 0) return false;
    for (Board rest = way; rest != 0; rest &= rest - 1) {
        if (is_attacked(s, first_square(rest), 1 - s.side, others | bit(rook))) return false;
    }
    // In Chess960 the rook may have been a shield.
    return !is_attacked(s, king_to, 1 - s.side, others | bit(rook_to));
}

inline int castling_move(const State& s, int king, int rook) {
    return make_move(king, s.is_chess960 ? rook : castling_of(king, rook).king_to);
}

template <int kSide, Kind kKind>
inline void write_pawns(const State& s, const Bonds& bonds, int king, Board allowed, Writer& writer) {
    constexpr int kUp = kSide == kWhite ? 8 : -8;
    constexpr Board kLast = back_rank(1 - kSide);
    constexpr Board kThird = kSide == kWhite ? kRank1 << 16 : kRank1 << 40;
    const Board pawns = s.pieces[kPawn] & s.colours[kSide];
    const Board theirs = s.colours[1 - kSide] & allowed;
    const Board empty = ~occupied(s);

    const auto promote = [&writer](int from, int to, bool is_capture) {
        if (is_capture || kKind == Kind::kForcing) {
            // Written backwards, so that the queen comes first.
            if (kKind == Kind::kAll) {
                for (int piece = kKnight; piece < kQueen; ++piece) writer.capture(make_move(from, to, piece));
            }
            writer.capture(make_move(from, to, kQueen));
        } else {
            for (int piece = kQueen; piece >= kKnight; --piece) writer.quiet(make_move(from, to, piece));
        }
    };

    // Pushes; a pinned pawn may push on the king's file.
    const Board steppers = pawns & (~bonds.pinned | kFileA << file_of(king));
    const Board single = ahead(steppers, kSide) & empty;
    if (kKind == Kind::kAll) {
        const Board twice = ahead(single & kThird, kSide) & empty & allowed;
        for (Board rest = single & allowed & ~kLast; rest != 0; rest &= rest - 1) {
            const int to = first_square(rest);
            writer.quiet(make_move(to - kUp, to));
        }
        for (Board rest = twice; rest != 0; rest &= rest - 1) {
            const int to = first_square(rest);
            writer.quiet(make_move(to - 2 * kUp, to));
        }
    }
    for (Board rest = single & allowed & kLast; rest != 0; rest &= rest - 1) {
        const int to = first_square(rest);
        promote(to - kUp, to, false);
    }

    // Captures; pinned pawns, which are few, separately.
    const Board free = pawns & ~bonds.pinned;
    const Board west = pawn_attacks_west(free, kSide) & theirs;
    const Board east = pawn_attacks_east(free, kSide) & theirs;
    for (Board rest = west & ~kLast; rest != 0; rest &= rest - 1) {
        const int to = first_square(rest);
        writer.capture(make_move(to - kUp + 1, to));
    }
    for (Board rest = east & ~kLast; rest != 0; rest &= rest - 1) {
        const int to = first_square(rest);
        writer.capture(make_move(to - kUp - 1, to));
    }
    if (((west | east) & kLast) != 0) {
        for (Board rest = west & kLast; rest != 0; rest &= rest - 1) {
            const int to = first_square(rest);
            promote(to - kUp + 1, to, true);
        }
        for (Board rest = east & kLast; rest != 0; rest &= rest - 1) {
            const int to = first_square(rest);
            promote(to - kUp - 1, to, true);
        }
    }
    for (Board bound = pawns & bonds.pinned; bound != 0; bound &= bound - 1) {
        const int from = first_square(bound);
        Board targets = kTables.pawn[kSide][from] & theirs & kTables.through[king][from];
        for (; targets != 0; targets &= targets - 1) {  // one at most
            const int to = first_square(targets);
            if ((bit(to) & kLast) != 0) {
                promote(from, to, true);
            } else {
                writer.capture(make_move(from, to));
            }
        }
    }
    if (s.ep != kNoSquare) {
        for (Board takers = kTables.pawn[1 - kSide][s.ep] & pawns; takers != 0; takers &= takers - 1) {
            const int from = first_square(takers);
            if (is_ep_legal(s, kSide, from, s.ep)) writer.capture(make_move(from, s.ep));
        }
    }
}

template <int kSide, Kind kKind>
// Legal move generation.
inline void write_moves(const State& s, const Bonds& bonds, MoveList& list) {
    Writer writer(list);
    const Board ours = s.colours[kSide];
    const Board theirs = s.colours[1 - kSide];
    const Board all = ours | theirs;
    const int king = king_square(s, kSide);

    // The king.
    const Board without_king = all ^ bit(king);
    Board steps = kTables.king[king] & (kKind == Kind::kAll ? ~ours : theirs);
    for (; steps != 0; steps &= steps - 1) {
        const int to = first_square(steps);
        if (is_attacked(s, to, 1 - kSide, without_king)) continue;
        if ((theirs >> to & 1) != 0) {
            writer.capture(make_move(king, to));
        } else {
            writer.quiet(make_move(king, to));
        }
    }

    Board allowed = ~Board{0};  // targets of other pieces: in check, to capture or block the checker
    if (bonds.checkers != 0) {
        if (has_many(bonds.checkers)) return;
        allowed = bonds.checkers | kTables.between[king][first_square(bonds.checkers)];
    } else if (kKind == Kind::kAll) {
        for (Board rooks = s.castling & ours; rooks != 0; rooks &= rooks - 1) {
            const int rook = first_square(rooks);
            if (may_castle(s, king, rook)) writer.quiet(castling_move(s, king, rook));
        }
    }
    const Board taken = theirs & allowed;
    const Board empty = ~all & allowed;
    const auto write = [&](int from, Board attacks) {
        writer.captures(from, attacks & taken);
        if (kKind == Kind::kAll) writer.quiets(from, attacks & empty);
    };

    // Sliders; from the most valuable down, since captures are written backwards.
    const auto slide = [&](int piece, const auto& attacks) {
        for (Board rest = s.pieces[piece] & ours; rest != 0; rest &= rest - 1) {
            const int from = first_square(rest);
            const Board line = (bonds.pinned >> from & 1) != 0 ? kTables.through[king][from] : ~Board{0};
            write(from, attacks(from) & line);
        }
    };
    slide(kQueen, [all](int from) { return queen_attacks(from, all); });
    slide(kRook, [all](int from) { return rook_attacks(from, all); });
    slide(kBishop, [all](int from) { return bishop_attacks(from, all); });
    for (Board rest = s.pieces[kKnight] & ours & ~bonds.pinned; rest != 0; rest &= rest - 1) {
        const int from = first_square(rest);
        write(from, kTables.knight[from]);
    }
    write_pawns<kSide, kKind>(s, bonds, king, allowed, writer);
}

// All legal moves, or the forcing ones among them.
template <Kind kKind = Kind::kAll>
inline MoveList legal_moves(const State& s, const Bonds& bonds) {
    MoveList list;
    if (s.side == kWhite) {
        write_moves<kWhite, kKind>(s, bonds, list);
    } else {
        write_moves<kBlack, kKind>(s, bonds, list);
    }
    return list;
}
inline MoveList legal_moves(const State& s) { return legal_moves(s, find_bonds(s)); }

// Whether there is any legal move: the first test nearly always succeeds.
inline bool has_legal_move(const State& s, const Bonds& bonds) {
    if (bonds.checkers == 0) {
        const Board free = s.colours[s.side] & ~bonds.pinned;
        if ((ahead(s.pieces[kPawn] & free, s.side) & ~occupied(s)) != 0) return true;
        if ((knight_attacks(s.pieces[kKnight] & free) & ~s.colours[s.side]) != 0) return true;
        const Board ours = s.colours[s.side];
        for (Board rest = (s.pieces[kRook] | s.pieces[kQueen]) & free; rest != 0; rest &= rest - 1) {
            const int from = first_square(rest);
            if ((kTables.rook[from] & kTables.king[from] & ~ours) != 0) return true;  // a first step
        }
        for (Board rest = (s.pieces[kBishop] | s.pieces[kQueen]) & free; rest != 0; rest &= rest - 1) {
            const int from = first_square(rest);
            if ((kTables.bishop[from] & kTables.king[from] & ~ours) != 0) return true;
        }
    }
    return !legal_moves(s, bonds).empty();
}

inline bool is_castling(const State& s, int move) {
    const int from = from_of(move);
    const int to = to_of(move);
    if ((s.pieces[kKing] >> from & 1) == 0) return false;
    return (s.colours[s.side] >> to & 1) != 0 || to - from == 2 || from - to == 2;
}

// Whether a legal move is a capture.
inline bool is_capture(const State& s, int move) {
    const int to = to_of(move);
    return (s.colours[1 - s.side] >> to & 1) != 0 || (to == s.ep && (s.pieces[kPawn] >> from_of(move) & 1) != 0);
}

// --- Playing ---------------------------------------------------------------------------------------------------------

// Removes a piece, or places it.
inline void toggle(State& s, int side, int piece, int square) {
    s.pieces[piece] ^= bit(square);
    s.colours[side] ^= bit(square);
    s.key ^= kKeys.piece[side][piece][square];
}

inline void forget_castling(State& s, Board rooks) {
    s.castling &= ~rooks;
    for (; rooks != 0; rooks &= rooks - 1) s.key ^= kKeys.castling[first_square(rooks)];
}

// The position after a legal move.
inline State play(const State& s, int move) {
    State after = s;
    const int from = from_of(move);
    const int to = to_of(move);
    const int side = s.side;
    const int piece = piece_on(s, from);
    after.side = static_cast<std::uint8_t>(1 - side);
    after.ply = static_cast<std::uint16_t>(s.ply + 1);
    after.key ^= kKeys.black;
    if (s.ep != kNoSquare) {
        after.ep = kNoSquare;
        after.key ^= kKeys.ep[file_of(s.ep)];
    }
    if (s.castling != 0) {
        const Board touched = bit(from) | bit(to) | (piece == kKing ? back_rank(side) : 0);
        if ((s.castling & touched) != 0) forget_castling(after, s.castling & touched);
        if (piece == kKing && is_castling(s, move)) {
            const bool is_short = to > from;
            const int rook = s.is_chess960 ? to : (from & 56) + (is_short ? 7 : 0);
            const auto [king_to, rook_to] = castling_of(from, rook);
            toggle(after, side, kKing, from);
            toggle(after, side, kRook, rook);
            toggle(after, side, kKing, king_to);
            toggle(after, side, kRook, rook_to);
            after.rule50 = static_cast<std::uint16_t>(s.rule50 + 1);
            return after;
        }
    }

    // Remove the captured piece first: without a branch, which would be hard to predict (an empty mask removes
    // nothing).
    const Board taken = s.colours[1 - side] & bit(to);
    const int victim = piece_on(s, to);
    after.pieces[victim] ^= taken;
    after.colours[1 - side] ^= taken;
    after.key ^= taken != 0 ? kKeys.piece[1 - side][victim][to] : 0;
    after.rule50 = static_cast<std::uint16_t>(taken != 0 || piece == kPawn ? 0 : s.rule50 + 1);

    after.pieces[piece] ^= bit(from) | bit(to);
    after.colours[side] ^= bit(from) | bit(to);
    after.key ^= kKeys.piece[side][piece][from] ^ kKeys.piece[side][piece][to];
    if (piece != kPawn) return after;

    if (promotion_of(move) != 0) {
        toggle(after, side, kPawn, to);
        toggle(after, side, promotion_of(move), to);
    } else if ((from ^ to) == 16) {
        // An en passant square belongs to the position only if it adds a legal move (FIDE Laws 9.2).
        const int behind = (from + to) / 2;
        if (has_legal_ep(after, 1 - side, behind)) {
            after.ep = static_cast<std::uint8_t>(behind);
            after.key ^= kKeys.ep[file_of(behind)];
        }
    } else if (to == s.ep) {
        toggle(after, 1 - side, kPawn, to ^ 8);
    }
    return after;
}

// The position after a null move: for searches, not a rule.
inline State passed(const State& s) {
    State after = s;
    after.side = static_cast<std::uint8_t>(1 - s.side);
    after.ply = static_cast<std::uint16_t>(s.ply + 1);
    after.rule50 = static_cast<std::uint16_t>(s.rule50 + 1);
    after.key ^= kKeys.black;
    if (s.ep != kNoSquare) {
        after.ep = kNoSquare;
        after.key ^= kKeys.ep[file_of(s.ep)];
    }
    return after;
}

// Number of leaf positions `depth` plies away, by the moves alone: draws do not end a line.
[[gnu::noinline]] inline std::uint64_t perft(const State& s, int depth) {
    if (depth <= 0) return 1;
    std::uint64_t leaves = 0;
    for (const int move : legal_moves(s)) leaves += perft(play(s, move), depth - 1);
    return leaves;
}

}  // namespace
}  // namespace desdemona::chess
