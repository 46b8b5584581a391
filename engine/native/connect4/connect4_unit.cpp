// Connect Four for one instruction set; see unit.hpp.
#include "connect4/connect4.hpp"
#include "search/full_width.hpp"
#include "unit.hpp"

namespace desdemona {
namespace {

Core<connect4::Position>* make_connect4(std::size_t table_mb, const connect4::NoEvaluation& evaluation) {
    return make<connect4::Connect4Game, FullWidth<connect4::Connect4Game>>(table_mb, evaluation);
}

}  // namespace

DESDEMONA_PART(Connect4Unit, connect4_) = {&make_connect4};

}  // namespace desdemona
