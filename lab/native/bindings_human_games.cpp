// The Python interface of the positions of people's games (lab/training/people).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "human_games.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace learning = desdemona::learning;

namespace {

template <class T>
nb::bytes bytes_of(const std::vector<T>& items) {
    return nb::bytes(reinterpret_cast<const char*>(items.data()), sizeof(T) * items.size());
}

template <class Read>
nb::tuple positions_of(const std::vector<std::string>& movetexts, const Read& read) {
    learning::HumanPositions found;
    {
        const nb::gil_scoped_release release;
        found = read(movetexts);
    }
    return nb::make_tuple(bytes_of(found.boards), bytes_of(found.marks), bytes_of(found.counts), bytes_of(found.moves),
                          bytes_of(found.played), bytes_of(found.games), bytes_of(found.plies), bytes_of(found.clocks),
                          bytes_of(found.is_whole));
}

nb::tuple chess(const std::vector<std::string>& movetexts) { return positions_of(movetexts, learning::read_chess_games); }
nb::tuple xiangqi(const std::vector<std::string>& movetexts) {
    return positions_of(movetexts, learning::read_xiangqi_games);
}

}  // namespace

void bind_human_games(nb::module_& m) {
    m.def("chess_human_positions", &chess, "movetexts"_a,
          nb::sig("def chess_human_positions(movetexts: collections.abc.Sequence[str]) -> tuple[bytes, bytes, bytes, bytes, "
                  "bytes, bytes, bytes, bytes, bytes]"),
          "The positions of chess games given as the movetext of PGN, from the usual start.\n\n"
          "Returns the arrays of HumanPositions (human_games.hpp) in its order.  A game ends before a word that is not\n"
          "a legal move.  Releases the GIL.");
    m.def("xiangqi_human_positions", &xiangqi, "movetexts"_a,
          nb::sig("def xiangqi_human_positions(movetexts: collections.abc.Sequence[str]) -> tuple[bytes, bytes, bytes, "
                  "bytes, bytes, bytes, bytes, bytes, bytes]"),
          "The same for games of xiangqi: moves such as b1a3 or h10g8, with blanks between them.");
}
