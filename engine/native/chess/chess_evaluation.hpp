// The static evaluation of chess: linear in the features that `collect` walks, tapered from middlegame to endgame.
//
// The board is first flipped so that the side to move plays upwards; so the two colours are treated equally by
// construction, and "ours" below is the mover's. `collect` is a template for all users of the features: it calls
// add(feature, times) on a sink, with `times` negative for the waiting side. tests/engine/games/chess_mirror.py is a
// readable copy in Python, with equal results.
#pragma once

#include <bit>

#include "chess/chess.hpp"
#include "chess/chess_features.hpp"
#include "linear.hpp"

namespace desdemona::chess {
namespace {

namespace evaluation {

constexpr Board kDark = 0xAA55AA55AA55AA55;  // a1 is dark

// The two sides: 0 moves and plays upwards, 1 waits.
template <int kWho>
constexpr int kSign = kWho == 0 ? 1 : -1;
template <int kWho>
int own_view(int square) {
    return kWho == 0 ? square : square ^ 56;
}
template <int kWho>
Board forward(Board b) {
    return kWho == 0 ? b << 8 : b >> 8;
}
inline Board sideways(Board b) { return (b & ~kFileA) >> 1 | (b & ~kFileH) << 1; }
template <int kWho>
Board all_ahead(Board b) {  // all squares ahead on the same files
    b = forward<kWho>(b);
    b |= forward<kWho>(b);
    b |= kWho == 0 ? b << 16 : b >> 16;
    return b | (kWho == 0 ? b << 32 : b >> 32);
}
inline int distance(int a, int b) {
    const int files = file_of(a) - file_of(b);
    const int ranks = rank_of(a) - rank_of(b);
    const int f = files < 0 ? -files : files;
    const int r = ranks < 0 ? -ranks : ranks;
    return f > r ? f : r;
}
inline Board turned(Board b) { return __builtin_bswap64(b); }  // upside down

struct Camp {
    Board of[6];       // pieces
    Board all;
    Board attacks[6];  // of all pieces of a kind together
    Board attacked;    // by any piece
    Board twice;       // by two or more
    Board zone;        // the king and the squares around it
    int king;
    int units;         // of attack on the other king

    void attack(int kind, Board b) {
        attacks[kind] |= b;
        twice |= attacked & b;
        attacked |= b;
    }
};

template <class Sink>
class Walk {
   public:
    Walk(const State& state, Sink& sink) : sink_(sink) {
        const bool turn = state.side != 0;
        for (int kind = 0; kind < 6; ++kind) {
            for (int who = 0; who < 2; ++who) {
                const Board b = state.pieces[kind] & state.colours[who ^ static_cast<int>(turn)];
                sides_[who].of[kind] = turn ? turned(b) : b;
            }
        }
        for (Camp& side : sides_) {
            side.all = side.of[0] | side.of[1] | side.of[2] | side.of[3] | side.of[4] | side.of[5];
            for (Board& attacks : side.attacks) attacks = 0;
            side.attacked = side.twice = 0;
            side.units = 0;
            side.king = first_square(side.of[kKing]);
            side.zone = kTables.king[side.king] | side.of[kKing];
        }
        occupied_ = sides_[0].all | sides_[1].all;
    }

    linear::Taper run() {
        begin<0>();
        begin<1>();
        pieces<0>();
        pieces<1>();
        queens<0>();
        queens<1>();
        king<0>();
        king<1>();
        pawns<0>();
        pawns<1>();
        threats<0>();
        threats<1>();
        sink_.add(kTempo, 1);
        if (sides_[1].attacked & sides_[0].of[kKing]) sink_.add(kInCheck, 1);
        return taper();
    }

   private:
    template <int kWho>
    void add(int feature, int times = 1) {
        sink_.add(feature, kSign<kWho> * times);
    }
    template <int kWho>
    void place(int kind, int square) {
        add<kWho>(kPieceSquare + 64 * kind + own_view<kWho>(square));
    }

    // Inputs of the other steps: attacks of king and pawns.
    template <int kWho>
    void begin() {
        Camp& own = sides_[kWho];
        place<kWho>(kKing, own.king);
        own.attack(kKing, kTables.king[own.king]);
        const Board front = forward<kWho>(own.of[kPawn]);
        own.attack(kPawn, (front & ~kFileA) >> 1);
        own.attack(kPawn, (front & ~kFileH) << 1);
    }

    // A piece's square, its mobility, and its attack on the enemy king zone.
    template <int kWho>
    void piece(int kind, int square, Board attacks, int mobility, Board safe, int units) {
        place<kWho>(kind, square);
        add<kWho>(mobility + std::popcount(attacks & safe));
        if (attacks & sides_[1 - kWho].zone) sides_[kWho].units += units;
        sides_[kWho].attack(kind, attacks);
    }

    template <int kWho>
    void pieces() {
        const Camp& own = sides_[kWho];
        const Camp& other = sides_[1 - kWho];
        const Board own_pawns = own.of[kPawn];
        const int pawns = std::popcount(own_pawns);
        const Board safe = ~(own_pawns | own.of[kKing] | other.attacks[kPawn]);
        // Outposts: a pawn of ours defends the square, and no enemy pawn can ever attack it.
        const Board outposts = own.attacks[kPawn] & ~sideways(all_ahead<1 - kWho>(other.of[kPawn])) &
                               (kWho == 0 ? Board{0x0000FFFFFF000000} : Board{0x000000FFFFFF0000});
        for (Board rest = own.of[kKnight]; rest != 0; rest &= rest - 1) {
            const int square = first_square(rest);
            piece<kWho>(kKnight, square, kTables.knight[square], kKnightMobility, safe, 2);
        }
        for (Board rest = own.of[kBishop]; rest != 0; rest &= rest - 1) {
            const int square = first_square(rest);
            // X-ray: the queen does not block pieces that move as she does.
            piece<kWho>(kBishop, square, bishop_attacks(square, occupied_ ^ own.of[kQueen]), kBishopMobility, safe, 2);
            const Board colour = bit(square) & kDark ? kDark : ~kDark;
            add<kWho>(kBishopPawns, std::popcount(own_pawns & colour));
        }
        for (Board rest = own.of[kRook]; rest != 0; rest &= rest - 1) {
            const int square = first_square(rest);
            piece<kWho>(kRook, square, rook_attacks(square, occupied_ ^ own.of[kQueen] ^ own.of[kRook]), kRookMobility,
                        safe, 3);
            const Board file = kFileA << file_of(square);
            if (!(own_pawns & file)) add<kWho>(kOpenRook + (other.of[kPawn] & file ? 1 : 0));
        }
        add<kWho>(kOutpost, std::popcount(own.of[kKnight] & outposts));
        add<kWho>(kOutpost + 1, std::popcount(own.of[kBishop] & outposts));
        if ((own.of[kBishop] & kDark) && (own.of[kBishop] & ~kDark)) add<kWho>(kBishopPair);
        add<kWho>(kKnightPawns, std::popcount(own.of[kKnight]) * pawns);
        add<kWho>(kRookPawns, std::popcount(own.of[kRook]) * pawns);
    }

    // After the other pieces, because a square that a lesser piece attacks is not safe for a queen.
    template <int kWho>
    void queens() {
        const Camp& own = sides_[kWho];
        const Camp& other = sides_[1 - kWho];
        const Board safe = ~(own.of[kPawn] | own.of[kKing] | other.attacks[kPawn] | other.attacks[kKnight] |
                             other.attacks[kBishop] | other.attacks[kRook]);
        for (Board rest = own.of[kQueen]; rest != 0; rest &= rest - 1) {
            const int square = first_square(rest);
            const Board attacks = queen_attacks(square, occupied_);
            piece<kWho>(kQueen, square, attacks, kQueenMobility, safe, 4);
        }
    }

    // The king's pawn shield, the enemy pawn storm, and how heavily the king is attacked.
    template <int kWho>
    void king() {
        const Camp& own = sides_[kWho];
        const Camp& other = sides_[1 - kWho];
        const int file = own.king & 7;
        const int middle = file < 1 ? 1 : file > 6 ? 6 : file;
        const int rank = own.king >> 3;
        const Board not_behind = kWho == 0 ? ~Board{0} << 8 * rank : ~Board{0} >> 8 * (7 - rank);
        for (int f = middle - 1; f <= middle + 1; ++f) {
            const Board here = kFileA << f & not_behind;
            const int shield = nearest_rank<kWho>(own.of[kPawn] & here);
            const int storm = nearest_rank<kWho>(other.of[kPawn] & here);
            add<kWho>(kShield + 8 * (f != file) + shield);
            add<kWho>(kStorm + 8 * ((shield != 0) & (storm == shield + 1)) + storm);
        }

        const Board alone = own.attacks[kKing] & ~own.twice;  // defended by the king only
        int units = other.units;
        // Squares beside the king that no other piece defends.
        units += 2 * std::popcount(own.zone & other.attacked & (~own.attacked | alone));
        // Safe checks: from squares where nothing can take the piece, or only the king, although protected.
        const Board safe = ~other.all & (~own.attacked | (other.twice & alone));
        const Board diagonal = bishop_attacks(own.king, occupied_) & safe;
        const Board straight = rook_attacks(own.king, occupied_) & safe;
        if (other.attacks[kKnight] & kTables.knight[own.king] & safe) units += 3;
        if (other.attacks[kBishop] & diagonal) units += 2;
        if (other.attacks[kRook] & straight) units += 4;
        if (other.attacks[kQueen] & (diagonal | straight)) units += 4;
        const int step = units < kDangers ? units : kDangers - 1;
        add<kWho>(kDanger + kDangers * (2 * (kWho == 0) + (other.of[kQueen] != 0)) + step);
    }

    // Rank, as the side sees it, of the pawn closest to its own end of the board; 0: none.
    template <int kWho>
    static int nearest_rank(Board pawns) {
        if (pawns == 0) return 0;
        return kWho == 0 ? std::countr_zero(pawns) >> 3 : std::countl_zero(pawns) >> 3;
    }

    template <int kWho>
    void pawns() {
        const Camp& own = sides_[kWho];
        const Camp& other = sides_[1 - kWho];
        const Board pawns = own.of[kPawn];
        const Board others = other.of[kPawn];
        const Board ours_ahead = all_ahead<kWho>(pawns);
        const Board theirs_ahead = all_ahead<1 - kWho>(others);
        const Board files = ours_ahead | pawns | all_ahead<1 - kWho>(pawns);

        add<kWho>(kDoubled, std::popcount(pawns & all_ahead<1 - kWho>(pawns)));
        const Board isolated = pawns & ~sideways(files);
        count_by_openness<kWho>(kIsolated, isolated, theirs_ahead);
        // Backward: no pawn beside or behind it on adjacent files, and an enemy pawn guards the next square.
        const Board backward = pawns & ~isolated & ~sideways(ours_ahead | pawns) &
                               forward<1 - kWho>(other.attacks[kPawn]);
        count_by_openness<kWho>(kBackward, backward, theirs_ahead);

        const Board phalanx = pawns & sideways(pawns);
        const Board passed = pawns & ~(theirs_ahead | sideways(theirs_ahead)) & ~all_ahead<1 - kWho>(pawns);
        const bool is_bare = (other.of[kKnight] | other.of[kBishop] | other.of[kRook] | other.of[kQueen]) == 0;
        bool runs = false;
        for (Board rest = pawns; rest != 0; rest &= rest - 1) {
            const int square = first_square(rest);
            const int seen = own_view<kWho>(square);
            const int rank = seen >> 3;
            const Board b = rest & -rest;
            place<kWho>(kPawn, square);
            add<kWho>(kSupported + rank, (b & own.attacks[kPawn]) != 0);  // no branch: hard to predict
            add<kWho>(kPhalanx + rank, (b & phalanx) != 0);
            if (!(b & passed)) continue;
            add<kWho>(kPassed + rank);
            const Board next = forward<kWho>(b);
            if (!(next & occupied_)) {
                add<kWho>(kPassedFree + rank);
                if (!(next & other.attacked)) add<kWho>(kPassedSafe + rank);
            }
            if (rank < 4) continue;
            const int stop = kWho == 0 ? (square + 8) & 63 : (square - 8) & 63;
            add<kWho>(kPassedOwnKing + distance(own.king, stop));
            add<kWho>(kPassedOtherKing + distance(other.king, stop));
            const int goal = kWho == 0 ? (square & 7) + 56 : square & 7;
            runs |= is_bare && !(all_ahead<kWho>(b) & occupied_) && distance(other.king, goal) - (kWho == 1) > 7 - rank;
        }
        if (runs) add<kWho>(kRunner);
    }

    template <int kWho>
    void count_by_openness(int feature, Board pawns, Board theirs_ahead) {
        add<kWho>(feature, std::popcount(pawns & theirs_ahead));
        add<kWho>(feature + 1, std::popcount(pawns & ~theirs_ahead));
    }

    // Pieces of a side that the next capture may win, counted separately: the first, the second, all further ones. The
    // waiting side loses the first one immediately; the side to move can save one, but hardly two.
    template <int kWho>
    void threats() {
        const Camp& own = sides_[kWho];
        const Camp& other = sides_[1 - kWho];
        const Board minors = own.of[kKnight] | own.of[kBishop];
        const Board attacked = own.all & other.attacked;
        const Board hangs = attacked & ~own.attacked;
        const Board defended = attacked & own.attacked;
        const Board by_pawn = defended & other.attacks[kPawn];
        const Board by_minor = defended & (other.attacks[kKnight] | other.attacks[kBishop]) & ~by_pawn;
        const Board by_rook = defended & other.attacks[kRook] & ~by_pawn & ~by_minor;
        const Board outnumbered = defended & other.twice & ~own.twice & ~own.attacks[kPawn] & ~by_pawn;
        const Board pushes = other_pushes<kWho>();
        add<kWho>(kPushThreat + kWho, std::popcount(pushes & (own.all ^ own.of[kPawn]) & ~other.attacks[kPawn]));

        const Board queens = own.of[kQueen];
        const Board rooks = own.of[kRook];
        const Board outnumbered_rooks = rooks & outnumbered & ~by_minor;
        if (!(hangs | ((queens | rooks | minors) & (by_pawn | by_minor | by_rook)) | outnumbered)) return;
        const Board kinds[kThreats] = {
            queens & hangs,
            queens & by_pawn,
            queens & by_minor,
            rooks & hangs,
            queens & by_rook,
            rooks & by_pawn,
            own.of[kBishop] & hangs,
            own.of[kKnight] & hangs,
            outnumbered_rooks,
            own.of[kBishop] & by_pawn,
            own.of[kKnight] & by_pawn,
            rooks & by_minor,
            minors & outnumbered,
            own.of[kPawn] & hangs,
            own.of[kPawn] & outnumbered,
        };
        unsigned there = 0;
        for (int kind = 0; kind < kThreats; ++kind) there |= static_cast<unsigned>(kinds[kind] != 0) << kind;
        int place = 0;
        for (; there != 0; there &= there - 1) {
            const int kind = std::countr_zero(there);
            for (Board rest = kinds[kind]; rest != 0; rest &= rest - 1) {
                add<kWho>(kThreat + kThreats * (3 * kWho + place) + kind);
                place += place < 2;
            }
        }
    }

    // What the other side's pawns would attack after a safe pawn push.
    template <int kWho>
    Board other_pushes() const {
        const Camp& own = sides_[kWho];
        const Camp& other = sides_[1 - kWho];
        Board steps = forward<1 - kWho>(other.of[kPawn]) & ~occupied_;
        steps |= forward<1 - kWho>(steps & (kWho == 0 ? Board{0xFF} << 40 : Board{0xFF} << 16)) & ~occupied_;
        steps &= ~own.attacks[kPawn] & (other.attacked | ~own.attacked);
        const Board front = forward<1 - kWho>(steps);
        return sideways(front);
    }

    static int points(const Camp& side) {  // total value of its pieces
        return 3 * std::popcount(side.of[kKnight] | side.of[kBishop]) + 5 * std::popcount(side.of[kRook]) +
               10 * std::popcount(side.of[kQueen]);
    }

    linear::Taper taper() const {
        const int ours = points(sides_[0]);
        const int theirs = points(sides_[1]);
        const int lead = ours + std::popcount(sides_[0].of[kPawn]) - theirs - std::popcount(sides_[1].of[kPawn]);
        const int middle = ours + theirs < 64 ? ours + theirs : 64;
        // A piece up without pawns does not win.
        if (lead > 0 && sides_[0].of[kPawn] == 0 && ours - theirs <= 3) return {middle, 12};
        if (lead < 0 && sides_[1].of[kPawn] == 0 && theirs - ours <= 3) return {middle, 12};
        const Board bishops = sides_[0].of[kBishop] | sides_[1].of[kBishop];
        if (ours == 3 && theirs == 3 && sides_[0].of[kBishop] && sides_[1].of[kBishop] && (bishops & kDark) &&
            (bishops & ~kDark)) {
            return {middle, 36};  // opposite-coloured bishops
        }
        return {middle, 64};
    }

    Sink& sink_;
    Camp sides_[2];
    Board occupied_;
};

}  // namespace evaluation

// Passes the features of a position, from the side to move's view, to `sink`; returns how their sums become a score.
template <class Sink>
linear::Taper collect(const State& state, Sink& sink) {
    return evaluation::Walk<Sink>(state, sink).run();
}

// Centipawns for the side to move, in an unfinished game.
inline int evaluate(const State& state, const Evaluation& weights) {
    linear::Sum sum{weights.weights};
    const linear::Taper taper = collect(state, sum);
    return sum.score(taper, kMaxEvaluation);
}

}  // namespace
}  // namespace desdemona::chess
