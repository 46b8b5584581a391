// The inputs of the chess network: each piece on its square, as one side sees it.
//
// A side sees its own pieces first and the board from its own end. If its king is on the king's side, the board is
// mirrored, since the rules hardly distinguish left from right.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "chess/chess_game.hpp"
#include "search/networked.hpp"

namespace desdemona::chess {
namespace {

struct NetworkInputs {
    using Weights = chess::Network;

    static int mirror(const Node& node, int view) {
        return file_of(first_square(node.state.pieces[kKing] & node.state.colours[view])) >= 4;
    }

    static int index(int view, int mirror, networked::Piece piece) {
        const int square = piece.square ^ (view == kWhite ? 0 : 56) ^ (mirror ? 7 : 0);
        return 64 * (6 * (piece.side != view) + piece.kind) + square;
    }

    static int pieces(const Node& node) { return std::popcount(node.state.colours[0] | node.state.colours[1]); }

    template <class Visit>
    static void for_each(const Node& node, const Visit& visit) {
        for (int side = 0; side < 2; ++side) {
            for (int kind = 0; kind < 6; ++kind) {
                for (Board rest = node.state.pieces[kind] & node.state.colours[side]; rest != 0; rest &= rest - 1) {
                    visit(networked::Piece{side, kind, first_square(rest)});
                }
            }
        }
    }

    static networked::Changes changes(const Node& before, const Node& after) {
        networked::Changes changes;
        const State& old = before.state;
        const State& now = after.state;
        const Board captured = old.colours[0] & now.colours[1] ? old.colours[0] & now.colours[1]
                                                               : old.colours[1] & now.colours[0];
        for (int kind = 0; kind < 6; ++kind) {
            const Board was = old.pieces[kind];
            const Board is = now.pieces[kind];
            if (was == is && !(was & captured)) continue;
            for (Board rest = was & (~is | captured); rest != 0; rest &= rest - 1) {
                const int square = first_square(rest);
                changes.remove({static_cast<int>(old.colours[1] >> square & 1), kind, square});
            }
            for (Board rest = is & (~was | captured); rest != 0; rest &= rest - 1) {
                const int square = first_square(rest);
                changes.add({static_cast<int>(now.colours[1] >> square & 1), kind, square});
            }
        }
        return changes;
    }
};

// Centipawns for White that show the way to mate a bare king: it is driven to the edge (by bishop and knight: to a
// corner of the bishop's colour), and the other king comes near. On average it adds nothing
// to a lead. Few games of the training end so.
inline int mating_progress(const State& s) {
    for (int side = 0; side < 2; ++side) {
        const Board king = s.pieces[kKing];
        if ((s.colours[1 - side] & ~king) != 0 || (s.colours[side] & s.pieces[kPawn]) != 0) continue;
        const int hunted = first_square(s.colours[1 - side]);
        const int hunter = first_square(s.colours[side] & king);
        const int file = file_of(hunted);
        const int rank = rank_of(hunted);
        const Board bishops = (s.pieces[kRook] | s.pieces[kQueen]) == 0 && s.pieces[kKnight] != 0 ? s.pieces[kBishop] : 0;
        constexpr Board kDark = 0xAA55AA55AA55AA55;
        int driven = 25 * (std::max(3 - file, file - 4) + std::max(3 - rank, rank - 4)) - 75;
        if (bishops != 0 && (bishops & kDark) == 0) driven = 100 * std::abs(rank - file) - 400;
        if (bishops != 0 && (bishops & ~kDark) == 0) driven = 100 * std::abs(7 - rank - file) - 400;
        const int apart = std::max(std::abs(file - file_of(hunter)), std::abs(rank - rank_of(hunter)));
        const int progress = driven - 20 * apart;
        return side == kWhite ? progress : -progress;
    }
    return 0;
}

class StrongGame : public Networked<ChessGame, NetworkInputs> {
   public:
    using Networked::Networked;

    // In centi-units for the side to move.
    int evaluate(const Node& node) const {
        const int progress = mating_progress(node.state);
        return Networked::evaluate(node) + (node.state.side == kWhite ? progress : -progress);
    }
};

}  // namespace
}  // namespace desdemona::chess
