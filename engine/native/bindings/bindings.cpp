// The Python interface of the core.  Only this file, bindings_search.hpp and lab/native/ depend on Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings_search.hpp"
#include "chess/chess_parse.hpp"
#include "core.hpp"
#include "xiangqi/xiangqi_parse.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using desdemona::Core;
using desdemona::Stopped;
using desdemona::StopFlag;
using desdemona::Unit;
using desdemona::bindings::AnySearch;
using desdemona::bindings::depth_in_range;
using desdemona::bindings::Discs;
using desdemona::bindings::form_of;
using desdemona::bindings::GameSearch;
using desdemona::bindings::PositionArgument;
using desdemona::bindings::unit;
namespace connect4 = desdemona::connect4;
namespace chess = desdemona::chess;
namespace othello = desdemona::othello;
namespace patterns = desdemona::othello::patterns;
namespace xiangqi = desdemona::xiangqi;

const Unit& desdemona::bindings::unit() {
    static const Unit* const chosen = [] {
        int count = 0;
        const Unit* const* units = desdemona::runnable_units(count);
        const char* wanted = std::getenv("DESDEMONA_UNIT");
        if (wanted == nullptr || *wanted == '\0') return units[count - 1];
        std::string known;
        for (int i = 0; i < count; ++i) {
            if (std::strcmp(units[i]->name, wanted) == 0) return units[i];
            known += std::string(i == 0 ? "" : ", ") + units[i]->name;
        }
        throw nb::import_error(
            ("DESDEMONA_UNIT is '" + std::string(wanted) + "'; this processor runs: " + known).c_str());
    }();
    return *chosen;
}

namespace {

std::vector<std::string> unit_names() {
    int count = 0;
    const Unit* const* units = desdemona::runnable_units(count);
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.emplace_back(units[i]->name);
    return names;
}

void require_bytes(nb::bytes weights, std::size_t wanted) {
    if (weights.size() == wanted) return;
    throw nb::value_error(("the weights must be " + std::to_string(wanted) + " bytes, not " +
                           std::to_string(weights.size()))
                              .c_str());
}

// --- Othello ---------------------------------------------------------------------------------------------

othello::Position othello_position(othello::Board mover, othello::Board waiter) {
    if ((mover & waiter) != 0) throw nb::value_error("two discs on one square");
    return {mover, waiter};
}

std::unique_ptr<othello::Evaluation> othello_evaluation(nb::bytes weights) {
    require_bytes(weights, sizeof(std::int16_t) * patterns::kStages * patterns::kStageSize);
    auto evaluation = std::make_unique<othello::Evaluation>();
    std::vector<std::int16_t> stage(patterns::kStageSize);
    for (int s = 0; s < patterns::kStages; ++s) {
        const std::size_t bytes = sizeof(std::int16_t) * stage.size();
        std::memcpy(stage.data(), weights.c_str() + static_cast<std::size_t>(s) * bytes, bytes);
        evaluation->set_stage(s, stage.data());
    }
    return evaluation;
}

struct OthelloBinding {
    using Position = othello::Position;
    using Evaluation = othello::Evaluation;
    static constexpr auto kMake = &Unit::make_othello;
    static constexpr int kMaxDepth = 120;  // no game is longer: 60 moves and fewer passes

    static Position position(const PositionArgument& argument) {
        const auto& [mover, waiter] = form_of<Discs>(argument);
        return othello_position(mover, waiter);
    }
};

void bind_othello(nb::module_& m) {
    nb::class_<othello::Evaluation>(m, "OthelloEvaluation", "Weights of the Othello evaluation; shared by searches.")
        .def(nb::new_(&othello_evaluation), "weights"_a,
             "From little-endian 16-bit weights, all stages in turn.  Raises ValueError for a wrong length.");
    using Search = GameSearch<OthelloBinding>;
    nb::class_<Search, AnySearch>(m, "OthelloSearch", "Search of Othello.")
        .def(nb::init<std::size_t, const othello::Evaluation&>(), "table_mb"_a, "evaluation"_a, nb::keep_alive<1, 3>())
        .def("solve", &Search::solve, "position"_a, "stop"_a,
             nb::sig("def solve(self, position: tuple[int, int], stop: StopFlag) -> tuple[int, int]"),
             "A best move and the game's true score in centi-units, beyond +-100000, or 0.\n\n"
             "Releases the GIL.  Raises as `think` does; minutes from some 26 plies on.");
    m.def("othello_moves_mask",
          [](othello::Board mover, othello::Board waiter) {
              return unit().othello_moves(othello_position(mover, waiter));
          },
          "mover"_a, "waiter"_a, "Bitboard of the squares where the mover may place a disc.");
    m.def("othello_perft",
          [](othello::Board mover, othello::Board waiter, int depth) {
              const auto p = othello_position(mover, waiter);
              depth_in_range(depth, 0, OthelloBinding::kMaxDepth);
              const nb::gil_scoped_release release;
              return unit().othello_perft(p, depth);
          },
          "mover"_a, "waiter"_a, "depth"_a, "Leaf positions at this depth in plies; a pass is a ply.");
}

// --- Connect Four ----------------------------------------------------------------------------------------

struct Connect4Binding {
    using Position = connect4::Position;
    using Evaluation = connect4::NoEvaluation;
    static constexpr auto kMake = &Unit::make_connect4;
    static constexpr int kMaxDepth = 42;

    static Position position(const PositionArgument& argument) {
        const auto& [mover, waiter] = form_of<Discs>(argument);
        if (!connect4::is_position(mover, waiter)) throw nb::value_error("not a position of Connect Four");
        return {mover, waiter};
    }
};

void bind_connect4(nb::module_& m) {
    using Search = GameSearch<Connect4Binding>;
    nb::class_<Search, AnySearch>(m, "Connect4Search", "Search of Connect Four.")
        .def(nb::new_([](std::size_t table_mb) { return new Search(table_mb, connect4::NoEvaluation{}); }),
             "table_mb"_a);
}

// --- Chess and xiangqi -----------------------------------------------------------------------------------

// Common to both games: positions are texts, weights are pairs of 16-bit integers.
template <class Rules>
struct TextBinding : Rules {
    using typename Rules::Evaluation;
    using typename Rules::Network;
    using typename Rules::Position;
    static constexpr int kMaxDepth = 60;

    static Position position(const PositionArgument& argument) {
        return Rules::kParse(form_of<std::string>(argument));
    }

    static std::unique_ptr<Evaluation> evaluation(nb::bytes weights) {
        auto evaluation = std::make_unique<Evaluation>();
        require_bytes(weights, sizeof(evaluation->weights));
        std::memcpy(evaluation->weights, weights.c_str(), weights.size());
        return evaluation;
    }

    static std::unique_ptr<Network> network(nb::bytes weights) {
        auto network = std::make_unique<Network>();
        constexpr std::size_t kSize = sizeof(network->inputs) + sizeof(network->bias) + sizeof(network->outputs) +
                                      sizeof(network->output_bias);
        require_bytes(weights, kSize);
        const char* from = weights.c_str();
        const auto take = [&](auto& part) {
            std::memcpy(part, from, sizeof(part));
            from += sizeof(part);
        };
        take(network->inputs);
        take(network->bias);
        take(network->outputs);
        take(network->output_bias);
        return network;
    }

    static std::uint64_t perft(const std::string& text, int depth) {
        const Position p = position(text);
        depth_in_range(depth, 0, kMaxDepth);
        const nb::gil_scoped_release release;
        return (unit().*Rules::kPerft)(p, depth);
    }

    static void bind(nb::module_& m, const char* evaluation_name, const char* network_name, const char* search_name,
                     const char* perft_name) {
        nb::class_<Evaluation>(m, evaluation_name, "Weights of an evaluation; shared by searches.")
            .def(nb::new_(&evaluation), "weights"_a,
                 "From little-endian 16-bit weights, for each feature that of the middle game and that of the\n"
                 "endgame.  Raises ValueError for a wrong length.");
        nb::class_<Network>(m, network_name, "Weights of an evaluation network; shared by searches.")
            .def(nb::new_(&network), "weights"_a,
                 "From little-endian integers, as engine/native/network.hpp lists them.  Raises ValueError for a wrong\n"
                 "length.");
        using Search = GameSearch<TextBinding>;
        nb::class_<Search, AnySearch>(m, search_name, "Search of the game.")
            .def(nb::init<std::size_t, const Evaluation&, const Network*>(), "table_mb"_a, "evaluation"_a,
                 "network"_a = nb::none(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
                 "Without a network the strong search uses the evaluation, too.")
            .def("strong_evaluation", &Search::strong_evaluation, "position"_a, "moves"_a,
                 "The strong search's static evaluation after these moves, which must be legal, in centi-units for\n"
                 "the side to move there.");
        m.def(perft_name, &perft, "position"_a, "depth"_a,
              "Leaf positions at this depth in plies by the rules of the board alone: repetition, counters and dead\n"
              "positions end no game.");
    }
};

struct ChessRules {
    using Position = chess::Position;
    using Evaluation = chess::Evaluation;
    using Network = chess::Network;
    static constexpr auto kMake = &Unit::make_chess;
    static constexpr auto kPerft = &Unit::chess_perft;
    static constexpr auto kParse = &chess::parse;
};

struct XiangqiRules {
    using Position = xiangqi::Position;
    using Evaluation = xiangqi::Evaluation;
    using Network = xiangqi::Network;
    static constexpr auto kMake = &Unit::make_xiangqi;
    static constexpr auto kPerft = &Unit::xiangqi_perft;
    static constexpr auto kParse = &xiangqi::parse;
};

}  // namespace

NB_MODULE(_native, m) {
    // Threads still searching at program exit keep their objects alive: no leak warnings for the operator.
    nb::set_leak_warnings(false);
    m.doc() = "The C++ core: exact and strong search, and the flag that stops them.";
    m.attr("INFINITY") = desdemona::kInfinity;
    m.attr("UNIT") = unit().name;
    nb::exception<Stopped>(m, "Stopped");

    nb::class_<StopFlag>(m, "StopFlag", "Tells a running search to end; set from any thread.")
        .def(
            "__init__",
            [](StopFlag* self, bool processor_time, const StopFlag* parent) {
                if (parent != nullptr) {
                    new (self) StopFlag(parent);
                } else {
                    new (self) StopFlag(processor_time ? StopFlag::Clock::kProcessor : StopFlag::Clock::kWall);
                }
            },
            nb::kw_only(), "processor_time"_a = false, "parent"_a.none() = nb::none(), nb::keep_alive<1, 3>(),
            "Its clock: the wall clock, or the processor time of all threads of this process together.  With a\n"
            "parent, it has the parent's clock, counts as set whenever the parent does, and counts nodes there, too.")
        .def("now_s", &StopFlag::now_s, "The time on the flag's clock, in seconds since some moment.")
        .def("follow_thread", &StopFlag::follow_thread, "most_stretch"_a,
             "From now on the clock runs with the processor time of the calling thread, but at `1 / most_stretch`\n"
             "of the speed of the wall clock at least.")
        .def("set_most_stretch", &StopFlag::set_most_stretch, "most_stretch"_a,
             "Change `most_stretch`; set the deadline afterwards.")
        .def("set", &StopFlag::set, "End every search that was given this flag, within milliseconds.")
        .def("set_deadline", &StopFlag::set_deadline, "seconds"_a,
             "Count as set, too, once this many seconds have passed from now, on the flag's clock.")
        .def("set_node_limit", &StopFlag::set_node_limit, "nodes"_a,
             "Count as set, too, once searches with this flag have visited about this many more positions.")
        .def("is_set", &StopFlag::is_set, "Whether a search should end.")
        .def("spend", &StopFlag::spend, "nodes"_a,
             "Count this many positions as visited, and say whether the search should end.");

    m.def("units", &unit_names, "Instruction sets of the core that this processor runs, the best last.");
    desdemona::bindings::bind_any_search(m);
    bind_othello(m);
    bind_connect4(m);
    TextBinding<ChessRules>::bind(m, "ChessEvaluation", "ChessNetwork", "ChessSearch", "chess_perft");
    TextBinding<XiangqiRules>::bind(m, "XiangqiEvaluation", "XiangqiNetwork", "XiangqiSearch", "xiangqi_perft");
}
