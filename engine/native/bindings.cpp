// The only file of the core that knows Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>

#include <limits>

#include "othello.hpp"
#include "search.hpp"
#include "stop.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using desdemona::Stopped;
using desdemona::StopFlag;
namespace othello = desdemona::othello;

namespace {

constexpr int kMaxDepth = 120;  // no game is longer: 60 moves and fewer passes
constexpr std::size_t kMaxTableMegabytes = 1 << 16;

othello::Position position(othello::Board mover, othello::Board waiter) {
    if ((mover & waiter) != 0) throw nb::value_error("two discs on one square");
    return {mover, waiter};
}

int depth_in_range(int depth) {
    if (depth < 0 || depth > kMaxDepth) throw nb::value_error("depth must be 0 .. 120");
    return depth;
}

int search(othello::Search& self, othello::Board mover, othello::Board waiter, int depth, int alpha, int beta,
           const StopFlag& stop) {
    if (alpha >= beta || alpha < -othello::kInfinity || beta > othello::kInfinity) {
        throw nb::value_error("the window must be -INFINITY <= alpha < beta <= INFINITY");
    }
    const auto p = position(mover, waiter);
    depth = depth_in_range(depth);
    const nb::gil_scoped_release release;
    return self.search(p, depth, alpha, beta, stop);
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The C++ core: exact search of Othello, and the flag that stops it.";
    m.attr("INFINITY") = othello::kInfinity;
    nb::exception<Stopped>(m, "Stopped");

    nb::class_<StopFlag>(m, "StopFlag", "Tells a running search to end; set from any thread.")
        .def(nb::init<>())
        .def("set", &StopFlag::set, "End every search that was given this flag, within milliseconds.")
        .def("set_deadline", &StopFlag::set_deadline, "seconds"_a,
             "Count as set, too, once this many seconds have passed from now.")
        .def("is_set", &StopFlag::is_set, "Whether a search should end.");

    nb::class_<othello::Search>(m, "OthelloSearch", "Exact fixed-depth search; for one thread at a time.")
        .def("__init__",
             [](othello::Search* self, std::size_t table_mb, const othello::Weights& weights) {
                 if (table_mb < 1 || table_mb > kMaxTableMegabytes) {
                     throw nb::value_error("table_mb must be 1 .. 65536");
                 }
                 new (self) othello::Search(table_mb, weights);
             },
             "table_mb"_a, "weights"_a)
        .def("search", &search, "mover"_a, "waiter"_a, "depth"_a, "alpha"_a, "beta"_a, "stop"_a,
             "Score in centidiscs for the side to move: exact inside the window, else a bound (fail-soft).\n\n"
             "Releases the GIL.  Raises Stopped when the flag is or becomes set, ValueError for bad arguments.")
        .def("evaluate", [](const othello::Search& self, othello::Board mover,
                            othello::Board waiter) { return self.evaluate(position(mover, waiter)); },
             "mover"_a, "waiter"_a, "Static evaluation in centidiscs for the side to move.")
        .def_prop_ro("nodes", &othello::Search::nodes, "Positions visited since this object was made.");

    m.def("othello_moves_mask",
          [](othello::Board mover, othello::Board waiter) { return othello::moves_mask(position(mover, waiter)); },
          "mover"_a, "waiter"_a, "Bitboard of the squares where the mover may place a disc.");
    m.def("othello_perft",
          [](othello::Board mover, othello::Board waiter, int depth) {
              const auto p = position(mover, waiter);
              depth = depth_in_range(depth);
              const nb::gil_scoped_release release;
              return othello::perft(p, depth);
          },
          "mover"_a, "waiter"_a, "depth"_a, "Leaf positions so many plies away; a pass is a ply.");
}
