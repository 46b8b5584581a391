// The core as Python sees it.  Only this file and bindings_training.cpp know Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using desdemona::Core;
using desdemona::Stopped;
using desdemona::StopFlag;
using desdemona::TrapOptions;
using desdemona::Unit;
namespace othello = desdemona::othello;
namespace patterns = desdemona::othello::patterns;

namespace {

constexpr int kMaxDepth = 120;  // no game is longer: 60 moves and fewer passes
constexpr double kMaxSeconds = 1e6;
constexpr std::size_t kMaxTableMegabytes = 1 << 16;

// The unit in use: the best that the processor runs, or the one that DESDEMONA_UNIT asks for.
const Unit& unit() {
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

std::vector<std::string> unit_names() {
    int count = 0;
    const Unit* const* units = desdemona::runnable_units(count);
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.emplace_back(units[i]->name);
    return names;
}

othello::Position position(othello::Board mover, othello::Board waiter) {
    if ((mover & waiter) != 0) throw nb::value_error("two discs on one square");
    return {mover, waiter};
}

int depth_in_range(int depth, int least = 0) {
    if (depth < least || depth > kMaxDepth) {
        throw nb::value_error(("depth must be " + std::to_string(least) + " .. 120").c_str());
    }
    return depth;
}

// --- Evaluation ------------------------------------------------------------------------------------------

constexpr std::size_t kWeightBytes = sizeof(std::int16_t) * patterns::kStages * patterns::kStageSize;

std::unique_ptr<othello::Evaluation> evaluation_of(nb::bytes weights) {
    if (weights.size() != kWeightBytes) {
        throw nb::value_error(("the weights must be " + std::to_string(kWeightBytes) + " bytes, not " +
                               std::to_string(weights.size()))
                                  .c_str());
    }
    auto evaluation = std::make_unique<othello::Evaluation>();
    std::vector<std::int16_t> stage(patterns::kStageSize);
    for (int s = 0; s < patterns::kStages; ++s) {
        const std::size_t bytes = sizeof(std::int16_t) * stage.size();
        std::memcpy(stage.data(), weights.c_str() + static_cast<std::size_t>(s) * bytes, bytes);
        evaluation->set_stage(s, stage.data());
    }
    return evaluation;
}

// --- Search ----------------------------------------------------------------------------------------------

// The search of one unit; the evaluation must outlive it.
class OthelloSearch {
   public:
    OthelloSearch(std::size_t table_mb, const othello::Evaluation& evaluation) {
        if (table_mb < 1 || table_mb > kMaxTableMegabytes) throw nb::value_error("table_mb must be 1 .. 65536");
        core_.reset(unit().make_othello(table_mb, evaluation));
        if (core_ == nullptr) throw std::bad_alloc{};
    }

    Core<othello::Position>& core() { return *core_; }

    // Holds the object for one search: two at a time would garble its state.
    class Use {
       public:
        explicit Use(OthelloSearch& search) : busy_(search.busy_) {
            if (busy_.test_and_set()) throw std::runtime_error("this object is searching in another thread");
        }
        ~Use() { busy_.clear(); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

       private:
        std::atomic_flag& busy_;
    };

   private:
    std::unique_ptr<Core<othello::Position>> core_;
    std::atomic_flag busy_;
};

int search(OthelloSearch& self, othello::Board mover, othello::Board waiter, int depth, int alpha, int beta,
           const StopFlag& stop) {
    if (alpha >= beta || alpha < -desdemona::kInfinity || beta > desdemona::kInfinity) {
        throw nb::value_error("the window must be -INFINITY <= alpha < beta <= INFINITY");
    }
    const auto p = position(mover, waiter);
    depth = depth_in_range(depth);
    const nb::gil_scoped_release release;
    const OthelloSearch::Use use(self);
    return self.core().search(p, depth, alpha, beta, stop);
}

othello::Position ongoing(othello::Board mover, othello::Board waiter) {
    const auto p = position(mover, waiter);
    if ((unit().othello_moves(p) | unit().othello_moves({waiter, mover})) == 0) throw nb::value_error("the game is over");
    return p;
}

nb::tuple think(OthelloSearch& self, othello::Board mover, othello::Board waiter, int depth, double seconds,
                int confidence, int threads, const StopFlag& stop) {
    const auto p = ongoing(mover, waiter);
    if (!(seconds >= 0 && seconds <= kMaxSeconds)) throw nb::value_error("seconds must be 0 .. 1e6");
    if (confidence != 73 && confidence != 87 && confidence != 95 && confidence != 99 && confidence != 100) {
        throw nb::value_error("confidence must be 73, 87, 95, 99 or 100");
    }
    if (threads < 1 || threads > 64) throw nb::value_error("threads must be 1 .. 64");
    const desdemona::ThinkLimits limits{depth_in_range(depth, 1), seconds, confidence, threads};
    desdemona::ThinkResult found;
    {
        const nb::gil_scoped_release release;
        const OthelloSearch::Use use(self);
        found = self.core().think(p, limits, stop);
    }
    nb::list line;
    for (int i = 0; i < found.line_length; ++i) line.append(found.line[i]);
    return nb::make_tuple(found.move, found.score_centi, found.depth, found.confidence, found.solved, nb::tuple(line),
                          found.nodes);
}

nb::tuple solve(OthelloSearch& self, othello::Board mover, othello::Board waiter, const StopFlag& stop) {
    const auto p = ongoing(mover, waiter);
    desdemona::SolveResult found;
    {
        const nb::gil_scoped_release release;
        const OthelloSearch::Use use(self);
        found = self.core().solve(p, stop);
    }
    return nb::make_tuple(found.move, found.score_centi);
}

struct Reply {
    int move;
    std::vector<int> scores;
    int final_bound;
    int shallow_bound;
};

struct Candidate {
    int move;
    int raw;
    bool raw_is_bound;
    bool complete;
    std::vector<Reply> replies;
};

class Collector final : public desdemona::ProfileSink {
   public:
    void reply(int move, const int* scores, int count, int final_bound, int shallow_bound) override {
        replies_.push_back({move, std::vector<int>(scores, scores + count), final_bound, shallow_bound});
    }
    void candidate(int move, int raw, bool raw_is_bound, bool complete) override {
        candidates.push_back({move, raw, raw_is_bound, complete, std::move(replies_)});
        replies_.clear();
    }
    std::vector<Candidate> candidates;

   private:
    std::vector<Reply> replies_;
};

nb::list trappy_candidates(OthelloSearch& self, othello::Board mover, othello::Board waiter, int depth,
                           int assessment, int margin_centi, bool swindle, const StopFlag& stop) {
    if (assessment < 0 || assessment > 2) throw nb::value_error("assessment must be 0, 1 or 2");
    if (margin_centi < 0) throw nb::value_error("margin_centi must be 0 or more");
    const auto p = position(mover, waiter);
    depth = depth_in_range(depth, 2);
    const TrapOptions options{static_cast<TrapOptions::Assessment>(assessment), margin_centi, swindle};
    Collector found;
    {
        const nb::gil_scoped_release release;
        const OthelloSearch::Use use(self);
        self.core().trappy_candidates(p, depth, options, stop, found);
    }
    nb::list candidates;
    for (const Candidate& candidate : found.candidates) {
        nb::list replies;
        for (const Reply& reply : candidate.replies) {
            nb::list scores;
            for (const int score : reply.scores) scores.append(score);
            replies.append(nb::make_tuple(reply.move, nb::tuple(scores), reply.final_bound, reply.shallow_bound));
        }
        candidates.append(
            nb::make_tuple(candidate.move, candidate.raw, candidate.raw_is_bound, candidate.complete, replies));
    }
    return candidates;
}

}  // namespace

void bind_training(nb::module_& m);  // bindings_training.cpp

NB_MODULE(_native, m) {
    m.doc() = "The C++ core: exact and strong search of Othello, the flag that stops them, and training.";
    m.attr("INFINITY") = desdemona::kInfinity;
    m.attr("UNIT") = unit().name;
    nb::exception<Stopped>(m, "Stopped");

    nb::class_<StopFlag>(m, "StopFlag", "Tells a running search to end; set from any thread.")
        .def(nb::init<>())
        .def("set", &StopFlag::set, "End every search that was given this flag, within milliseconds.")
        .def("set_deadline", &StopFlag::set_deadline, "seconds"_a,
             "Count as set, too, once this many seconds have passed from now.")
        .def("set_node_limit", &StopFlag::set_node_limit, "nodes"_a,
             "Count as set, too, once searches with this flag have visited about so many positions more.")
        .def("is_set", &StopFlag::is_set, "Whether a search should end.")
        .def("spend", &StopFlag::spend, "nodes"_a,
             "Book so many positions as visited, and say whether the search should end.");

    nb::class_<othello::Evaluation>(m, "OthelloEvaluation", "Weights of the Othello evaluation; shared by searches.")
        .def(nb::new_(&evaluation_of), "weights"_a,
             "From little-endian 16-bit weights, all stages in turn.  Raises ValueError for a wrong length.");

    nb::class_<OthelloSearch>(m, "OthelloSearch", "Search by one thread at a time, with tables of its own.\n\n"
                              "`table_mb` is for the exact search; `think` and `solve` use as much again.")
        .def(nb::init<std::size_t, const othello::Evaluation&>(), "table_mb"_a, "evaluation"_a,
             nb::keep_alive<1, 3>())  // the search, its second argument
        .def("search", &search, "mover"_a, "waiter"_a, "depth"_a, "alpha"_a, "beta"_a, "stop"_a,
             "Score in centidiscs for the side to move: exact inside the window, else a bound (fail-soft).\n\n"
             "Releases the GIL.  Raises Stopped when the flag is or becomes set, ValueError for bad arguments.")
        .def("trappy_candidates", &trappy_candidates, "mover"_a, "waiter"_a, "depth"_a, "assessment"_a,
             "margin_centi"_a, "swindle"_a, "stop"_a,
             nb::sig("def trappy_candidates(self, mover: int, waiter: int, depth: int, assessment: int, "
                     "margin_centi: int, swindle: bool, stop: StopFlag) "
                     "-> list[tuple[int, int, bool, bool, list[tuple[int, tuple[int, ...], int, int]]]]"),
             "Candidates as far as trappy minimax needs them to choose, in the fixed order of moves: tuples of\n"
             "move, raw, whether that is a bound, whether the profile is whole, and replies; each of these a tuple\n"
             "of move, scores s_2 .. s_D, bound on s_D, bound on the assessment (the bounds where there are no\n"
             "scores).  Raises as `search` does.")
        .def("think", &think, "mover"_a, "waiter"_a, "depth"_a, "seconds"_a, "confidence"_a, "threads"_a, "stop"_a,
             nb::sig("def think(self, mover: int, waiter: int, depth: int, seconds: float, confidence: int, "
                     "threads: int, stop: StopFlag) -> tuple[int, int, int, int, bool, tuple[int, ...], int]"),
             "The best move within the limits by selective search: a tuple of move, score in centidiscs, depth,\n"
             "confidence in percent, whether solved, principal variation, and positions visited.\n\n"
             "`seconds` may be 0: as long as it takes.  `confidence` is 73, 87, 95, 99, or 100: full width.  With a\n"
             "depth of all the squares left the ending is solved when there is time.  A score is an estimate unless\n"
             "solved or of full width.  The same calls on a new object give the same, if there is no clock and one\n"
             "thread.  Stopped early, it answers with what it has.  Releases the GIL.  Raises Stopped when the flag\n"
             "is set too early for any answer, ValueError for bad arguments or a game that is over.")
        .def("solve", &solve, "mover"_a, "waiter"_a, "stop"_a,
             nb::sig("def solve(self, mover: int, waiter: int, stop: StopFlag) -> tuple[int, int]"),
             "A best move and the game's true score in centidiscs, +-(100000 + 100 for each disc) or 0.\n\n"
             "Releases the GIL.  Raises as `think` does; minutes from some 26 empty squares on.")
        .def("evaluate", [](OthelloSearch& self, othello::Board mover,
                            othello::Board waiter) { return self.core().evaluate(position(mover, waiter)); },
             "mover"_a, "waiter"_a, "Static evaluation in centidiscs for the side to move.")
        .def_prop_ro("nodes", [](OthelloSearch& self) { return self.core().nodes(); },
                     "Positions visited since this object was made.");

    m.def("units", &unit_names, "Instruction sets of the core that this processor runs, the best last.");
    m.def("othello_moves_mask",
          [](othello::Board mover, othello::Board waiter) { return unit().othello_moves(position(mover, waiter)); },
          "mover"_a, "waiter"_a, "Bitboard of the squares where the mover may place a disc.");
    m.def("othello_perft",
          [](othello::Board mover, othello::Board waiter, int depth) {
              const auto p = position(mover, waiter);
              depth = depth_in_range(depth);
              const nb::gil_scoped_release release;
              return unit().othello_perft(p, depth);
          },
          "mover"_a, "waiter"_a, "depth"_a, "Leaf positions so many plies away; a pass is a ply.");

    bind_training(m);
}
