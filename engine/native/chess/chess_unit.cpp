// Chess for one instruction set; see unit.hpp.
#include "chess/chess_game.hpp"
#include "search/selective.hpp"
#include "unit.hpp"

namespace desdemona {
namespace chess {
namespace {

Core<Position>* make(std::size_t table_mb, const Evaluation& evaluation) {
    return desdemona::make<ChessGame, SelectiveSearch<ChessGame>>(table_mb, evaluation);
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
