// Othello for one instruction set; see unit.hpp.
#include "othello/othello_game.hpp"
#include "othello/othello_strong.hpp"
#include "search/strong.hpp"
#include "unit.hpp"

namespace desdemona {
namespace othello {
namespace {

Core<Position>* make(std::size_t table_mb, const Evaluation& evaluation) {
    return desdemona::make<OthelloGame, StrongSearch<OthelloGame, OthelloStrong>>(table_mb, evaluation);
}
Board unit_moves(const Position& p) { return moves_mask(p); }
Position unit_play(const Position& p, int move) { return play(p, move); }
std::uint64_t unit_perft(const Position& p, int depth) { return perft(p, depth); }

}  // namespace
}  // namespace othello

DESDEMONA_PART(OthelloUnit, othello_) = {
    &othello::make,
    &othello::unit_moves,
    &othello::unit_play,
    &othello::unit_perft,
};

}  // namespace desdemona
