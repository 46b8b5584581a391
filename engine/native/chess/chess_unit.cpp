// Chess for one instruction set; see unit.hpp.
#include "chess/chess_network.hpp"
#include "search/selective.hpp"
#include "unit.hpp"

namespace desdemona {
namespace chess {
namespace {

Core<Position>* make(std::size_t table_mb, const Evaluation& evaluation, const Network* network) {
    return desdemona::make<ChessGame, SelectiveSearch<StrongGame>, StrongGame>(table_mb, evaluation, network);
}

int unit_moves(const Position& p, std::uint16_t* moves) {
    int count = 0;
    for (const int move : legal_moves(p.state)) moves[count++] = static_cast<std::uint16_t>(move);
    return count;
}

std::uint64_t unit_perft(const Position& p, int depth) { return perft(p.state, depth); }

}  // namespace
}  // namespace chess

DESDEMONA_PART(ChessUnit, chess_) = {&chess::make, &chess::unit_moves, &chess::unit_perft};

}  // namespace desdemona
