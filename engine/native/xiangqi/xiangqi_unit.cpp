// Xiangqi for one instruction set; see unit.hpp.
#include "xiangqi/xiangqi_network.hpp"
#include "search/selective.hpp"
#include "unit.hpp"

namespace desdemona {
namespace xiangqi {
namespace {

Core<Position>* make(std::size_t table_mb, const Evaluation& evaluation, const Network* network) {
    return desdemona::make<XiangqiGame, SelectiveSearch<StrongGame>, StrongGame>(table_mb, evaluation, network);
}

int unit_moves(const Position& p, std::uint16_t* moves) {
    int count = 0;
    for (const int move : legal_moves(state_of(p))) moves[count++] = static_cast<std::uint16_t>(move);
    return count;
}

std::uint64_t unit_perft(const Position& p, int depth) { return perft(state_of(p), depth); }

}  // namespace
}  // namespace xiangqi

DESDEMONA_PART(XiangqiUnit, xiangqi_) = {&xiangqi::make, &xiangqi::unit_moves, &xiangqi::unit_perft};

}  // namespace desdemona
