// The inputs of the xiangqi network: each piece on its point, as one side sees it.
//
// A side sees its own pieces first and the board from its own end. If its general is right of the middle file, the
// board is mirrored.
#pragma once

#include "search/networked.hpp"
#include "xiangqi/xiangqi_game.hpp"

namespace desdemona::xiangqi {
namespace {

struct NetworkInputs {
    using Weights = xiangqi::Network;

    static int mirror(const Node& node, int view) { return kTables.file[node.state.generals[view]] > kFiles / 2; }

    static int index(int view, int mirror, networked::Piece piece) {
        const int rank = kTables.rank[piece.square];
        const int file = kTables.file[piece.square];
        const int square = kFiles * (view == 0 ? rank : kRanks - 1 - rank) + (mirror ? kFiles - 1 - file : file);
        return kSquares * (kKinds * (piece.side != view) + piece.kind) + square;
    }

    static int pieces(const Node& node) { return node.state.occupied().count(); }

    template <class Visit>
    static void for_each(const Node& node, const Visit& visit) {
        for (int side = 0; side < 2; ++side) {
            for (int kind = 0; kind < kKinds; ++kind) {
                each_of(node.state.kinds[kind] & node.state.colours[side], side, kind, visit);
            }
        }
    }

    static networked::Changes changes(const Node& before, const Node& after) {
        networked::Changes changes;
        for (int kind = 0; kind < kKinds; ++kind) {
            for (int side = 0; side < 2; ++side) {
                const Bits was = before.state.kinds[kind] & before.state.colours[side];
                const Bits is = after.state.kinds[kind] & after.state.colours[side];
                each_of(was & ~is, side, kind, [&](networked::Piece piece) { changes.remove(piece); });
                each_of(is & ~was, side, kind, [&](networked::Piece piece) { changes.add(piece); });
            }
        }
        return changes;
    }

   private:
    template <class Visit>
    static void each_of(Bits bits, int side, int kind, const Visit& visit) {
        bits.each([&](int square) { visit(networked::Piece{side, kind, square}); });
    }
};

using StrongGame = Networked<XiangqiGame, NetworkInputs>;

}  // namespace
}  // namespace desdemona::xiangqi
