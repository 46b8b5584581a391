// The Python interface of a game's search: one class for all games, and a template with a `Binding` for each game.
//
// A `Binding` provides the game's `Position` and `Evaluation`, `position(argument)` (raises nb::value_error for an
// invalid one), the deepest search and the unit's `make`.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core.hpp"

namespace desdemona::bindings {

namespace nb = nanobind;
using namespace nb::literals;

constexpr double kMaxSeconds = 1e6;
constexpr int kMostGap = 100'000'000;  // centi-units
constexpr std::size_t kMaxTableMegabytes = 1 << 16;

// The unit in use: the best one that the processor runs, or the one that DESDEMONA_UNIT names.
const Unit& unit();

inline int depth_in_range(int depth, int least, int most) {
    if (depth < least || depth > most) {
        throw nb::value_error(
            ("depth must be " + std::to_string(least) + " .. " + std::to_string(most)).c_str());
    }
    return depth;
}

inline void check_window(int alpha, int beta) {
    if (alpha >= beta || alpha < -kInfinity || beta > kInfinity) {
        throw nb::value_error("the window must be -INFINITY <= alpha < beta <= INFINITY");
    }
}

// Of the selective search.
inline void check_options(int confidence, int contempt_centi) {
    if (confidence != 73 && confidence != 87 && confidence != 95 && confidence != 99 && confidence != 100) {
        throw nb::value_error("confidence must be 73, 87, 95, 99 or 100");
    }
    if (contempt_centi < -1'000 || contempt_centi > 1'000) {
        throw nb::value_error("contempt_centi must be -1000 .. 1000");
    }
}

// Receives the result of an analysis, and converts it to Python values.
class Collector final : public ProfileSink {
   public:
    void reply(int move, const int* scores, int count, int final_bound, double shallow_bound) override {
        replies_.push_back({move, std::vector<int>(scores, scores + count), final_bound, shallow_bound});
    }
    void shallow(int move, const int* shallow, int least, int most) override {
        replies_.push_back({move, std::vector<int>(shallow, shallow + 2), most, static_cast<double>(least)});
    }
    void candidate(int move, int raw, bool raw_is_bound, bool complete) override {
        candidates_.push_back({move, raw, raw_is_bound, complete, std::move(replies_)});
        replies_.clear();
    }

    nb::list to_python() const {
        nb::list candidates;
        for (const Candidate& candidate : candidates_) {
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

   private:
    struct Reply {
        int move;
        std::vector<int> scores;
        int final_bound;
        double shallow_bound;
    };
    struct Candidate {
        int move;
        int raw;
        bool raw_is_bound;
        bool complete;
        std::vector<Reply> replies;
    };
    std::vector<Candidate> candidates_;
    std::vector<Reply> replies_;
};

// A position from Python: the discs of the mover and of the other, or a text.
using Discs = std::pair<std::uint64_t, std::uint64_t>;
using PositionArgument = std::variant<Discs, std::string>;

template <class Form>
const Form& form_of(const PositionArgument& argument) {
    if (const Form* found = std::get_if<Form>(&argument)) return *found;
    throw nb::type_error("the position is one of another game");
}

// The search of any game.
class AnySearch {
   public:
    using Argument = const PositionArgument&;

    virtual ~AnySearch() = default;
    virtual int search(Argument argument, int depth, int alpha, int beta, const StopFlag& stop) = 0;
    virtual nb::list scores_after(Argument argument, const std::vector<int>& moves, int least, int most,
                                  const StopFlag& stop) = 0;
    virtual nb::list trappy_candidates(Argument argument, int depth, int assessment, int margin_centi, bool swindle,
                                       const nb::bytes& expected, double risk, double risk_share,
                                       const StopFlag& stop) = 0;
    virtual nb::list tempting_candidates(Argument argument, int depth, const nb::bytes& expected,
                                         const nb::bytes& weights, int budget, int share_percent, int gap_centi,
                                         int won_gap_centi, bool swindle, const StopFlag& stop) = 0;
    virtual nb::tuple think(Argument argument, int depth, double seconds, int confidence, int threads,
                            int contempt_centi, const StopFlag& stop, std::uint64_t nodes) = 0;
    virtual int probe(Argument argument, int depth, int alpha, int beta, int confidence, int contempt_centi,
                      const StopFlag& stop) = 0;
    virtual int evaluate(Argument argument) = 0;
    virtual std::uint64_t nodes() const = 0;
};

// The search of one unit; the evaluation must outlive it.
template <class Binding>
class GameSearch final : public AnySearch {
   public:
    using Position = typename Binding::Position;

    // `network`: for games whose strong search can use one; it must also outlive the search.
    template <class... Network>
    explicit GameSearch(std::size_t table_mb, const typename Binding::Evaluation& evaluation, Network... network) {
        if (table_mb < 1 || table_mb > kMaxTableMegabytes) throw nb::value_error("table_mb must be 1 .. 65536");
        core_.reset((unit().*Binding::kMake)(table_mb, evaluation, network...));
        if (core_ == nullptr) throw std::bad_alloc{};
    }

    int search(Argument argument, int depth, int alpha, int beta, const StopFlag& stop) override {
        check_window(alpha, beta);
        const Position p = Binding::position(argument);
        depth_in_range(depth, 0, Binding::kMaxDepth);
        const nb::gil_scoped_release release;
        const Use use(busy_);
        return core_->search(p, depth, alpha, beta, stop);
    }

    nb::list scores_after(Argument argument, const std::vector<int>& moves, int least, int most,
                          const StopFlag& stop) override {
        const Position p = Binding::position(argument);
        depth_in_range(least, 0, Binding::kMaxDepth);
        depth_in_range(most, least, Binding::kMaxDepth);
        const int count = static_cast<int>(moves.size());
        const int depths = most - least + 1;
        std::vector<int> scores(moves.size() * static_cast<std::size_t>(depths));
        bool are_legal;
        {
            const nb::gil_scoped_release release;
            const Use use(busy_);
            are_legal = core_->are_legal(p, moves.data(), count);
            if (are_legal) core_->scores_after(p, moves.data(), count, least, most, stop, scores.data());
        }
        if (!are_legal) throw nb::value_error("a move is not legal");
        nb::list found;
        for (int i = 0; i < count; ++i) {
            nb::list row;
            for (int j = 0; j < depths; ++j) row.append(scores[static_cast<std::size_t>(i * depths + j)]);
            found.append(nb::tuple(row));
        }
        return found;
    }

    nb::list trappy_candidates(Argument argument, int depth, int assessment, int margin_centi, bool swindle,
                               const nb::bytes& expected, double risk, double risk_share,
                               const StopFlag& stop) override {
        if (assessment < 0 || assessment > 2) throw nb::value_error("assessment must be 0, 1 or 2");
        if (margin_centi < 0) throw nb::value_error("margin_centi must be 0 or more");
        const Position p = Binding::position(argument);
        depth_in_range(depth, 2, Binding::kMaxDepth);
        const std::size_t count = expected.size() / sizeof(std::int16_t);
        if (expected.size() % sizeof(std::int16_t) != 0 || count > kWin) {
            throw nb::value_error("expected must be 16-bit integers, 100000 at most");
        }
        if (count != 0 && !(risk > 0 && risk <= 10'000)) throw nb::value_error("risk must be above 0 .. 10000");
        if (count != 0 && !(risk_share >= 0)) throw nb::value_error("risk_share must be 0 or more");
        const TrapOptions options{static_cast<TrapOptions::Assessment>(assessment), margin_centi, swindle,
                                  static_cast<const std::int16_t*>(expected.data()), static_cast<int>(count), risk,
                                  risk_share};
        Collector found;
        {
            const nb::gil_scoped_release release;
            const Use use(busy_);
            core_->trappy_candidates(p, depth, options, stop, found);
        }
        return found.to_python();
    }

    nb::list tempting_candidates(Argument argument, int depth, const nb::bytes& expected, const nb::bytes& weights,
                                 int budget, int share_percent, int gap_centi, int won_gap_centi, bool swindle,
                                 const StopFlag& stop) override {
        const Position p = Binding::position(argument);
        depth_in_range(depth, 4, Binding::kMaxDepth);
        const std::size_t count = expected.size() / sizeof(std::int16_t);
        if (expected.size() % sizeof(std::int16_t) != 0 || count == 0 || count > kWin) {
            throw nb::value_error("expected must be 16-bit integers, 1 .. 100000");
        }
        if (weights.size() != TemptingOptions::kWeights * sizeof(std::int32_t)) {
            throw nb::value_error("weights must be 20001 32-bit integers");
        }
        if (budget < 0 || budget > 10'000) throw nb::value_error("budget must be 0 .. 10000");
        if (share_percent < 0 || share_percent > 100) throw nb::value_error("share_percent must be 0 .. 100");
        if (gap_centi < 0 || gap_centi > kMostGap) throw nb::value_error("gap_centi must be 0 .. 100000000");
        if (won_gap_centi < 0 || won_gap_centi > kMostGap) {
            throw nb::value_error("won_gap_centi must be 0 .. 100000000");
        }
        const TemptingOptions options{static_cast<const std::int16_t*>(expected.data()), static_cast<int>(count),
                                      static_cast<const std::int32_t*>(weights.data()), budget, share_percent,
                                      gap_centi, won_gap_centi, swindle};
        Collector found;
        {
            const nb::gil_scoped_release release;
            const Use use(busy_);
            core_->tempting_candidates(p, depth, options, stop, found);
        }
        return found.to_python();
    }

    nb::tuple think(Argument argument, int depth, double seconds, int confidence, int threads, int contempt_centi,
                    const StopFlag& stop, std::uint64_t nodes) override {
        const Position p = ongoing(argument);
        if (!(seconds >= 0 && seconds <= kMaxSeconds)) throw nb::value_error("seconds must be 0 .. 1e6");
        check_options(confidence, contempt_centi);
        if (threads < 1 || threads > 64) throw nb::value_error("threads must be 1 .. 64");
        const ThinkLimits limits{depth_in_range(depth, 1, Binding::kMaxDepth), seconds, confidence, threads,
                                 contempt_centi, nodes};
        ThinkResult found;
        {
            const nb::gil_scoped_release release;
            const Use use(busy_);
            found = core_->think(p, limits, stop);
        }
        nb::list line;
        for (int i = 0; i < found.line_length; ++i) line.append(found.line[i]);
        return nb::make_tuple(found.move, found.score_centi, found.depth, found.confidence, found.solved,
                              nb::tuple(line), found.nodes);
    }

    int probe(Argument argument, int depth, int alpha, int beta, int confidence, int contempt_centi,
              const StopFlag& stop) override {
        const Position p = ongoing(argument);
        check_window(alpha, beta);
        check_options(confidence, contempt_centi);
        const ProbeLimits limits{depth_in_range(depth, 1, Binding::kMaxDepth), alpha, beta, confidence, contempt_centi};
        const nb::gil_scoped_release release;
        const Use use(busy_);
        return core_->probe(p, limits, stop);
    }

    nb::tuple solve(Argument argument, const StopFlag& stop) {
        const Position p = ongoing(argument);
        SolveResult found;
        {
            const nb::gil_scoped_release release;
            const Use use(busy_);
            found = core_->solve(p, stop);
        }
        return nb::make_tuple(found.move, found.score_centi);
    }

    int evaluate(Argument argument) override { return core_->evaluate(Binding::position(argument)); }
    int strong_evaluation(Argument argument, const std::vector<int>& moves) {
        return core_->strong_evaluation(Binding::position(argument), moves.data(), static_cast<int>(moves.size()));
    }
    std::uint64_t nodes() const override { return core_->nodes(); }

   private:
    // Locks the object for one search: two at a time would corrupt its state.
    class Use {
       public:
        explicit Use(std::atomic_flag& busy) : busy_(busy) {
            if (busy_.test_and_set()) throw std::runtime_error("this object is searching in another thread");
        }
        ~Use() { busy_.clear(); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

       private:
        std::atomic_flag& busy_;
    };

    Position ongoing(Argument argument) {
        const Position p = Binding::position(argument);
        if (core_->is_over(p)) throw nb::value_error("the game is over");
        return p;
    }

    std::unique_ptr<Core<Position>> core_;
    std::atomic_flag busy_;
};

#define DESDEMONA_POSITION "(self, position: tuple[int, int] | str, "
#define DESDEMONA_CANDIDATES "list[tuple[int, int, bool, bool, list[tuple[int, tuple[int, ...], int, float]]]]"

inline void bind_any_search(nb::module_& m) {
    nb::class_<AnySearch>(m, "AnySearch",
                          "Search of a game by one thread at a time, with tables of its own.\n\n"
                          "Positions of Othello and Connect Four are the discs of the mover and of the other, those of "
                          "chess and\n"
                          "xiangqi texts: `FEN moves m1 m2 ... line l1 l2 ...`, the moves of the line not counting as "
                          "the game's\n"
                          "past.  `table_mb` is for the exact search; `think` and `solve` use as much again.")
        .def("search", &AnySearch::search, "position"_a, "depth"_a, "alpha"_a, "beta"_a, "stop"_a,
             "Score in centi-units for the side to move: exact inside the window, else a bound (fail-soft).\n\n"
             "Releases the GIL.  Raises Stopped when the flag is or becomes set, ValueError for bad arguments.")
        .def("scores_after", &AnySearch::scores_after, "position"_a, "moves"_a, "least"_a, "most"_a, "stop"_a,
             nb::sig("def scores_after" DESDEMONA_POSITION
                     "moves: Sequence[int], least: int, most: int, stop: StopFlag) -> list[tuple[int, ...]]"),
             "Exact scores of the positions after some legal moves, for whoever is to move there, by searches of\n"
             "`least` .. `most` plies: a tuple of them for each move.  Raises as `search` does.")
        .def("trappy_candidates", &AnySearch::trappy_candidates, "position"_a, "depth"_a, "assessment"_a,
             "margin_centi"_a, "swindle"_a, "expected"_a, "risk"_a, "risk_share"_a, "stop"_a,
             nb::sig("def trappy_candidates" DESDEMONA_POSITION
                     "depth: int, assessment: int, margin_centi: int, swindle: bool, expected: bytes, risk: float, "
                     "risk_share: float, stop: StopFlag) -> " DESDEMONA_CANDIDATES),
             "Candidates as far as trappy minimax needs them to choose, in the fixed order of moves: tuples of\n"
             "move, raw, whether that is a bound, whether the profile is whole, and replies; each of these a tuple\n"
             "of move, scores s_2 .. s_D, bound on s_D, bound on the assessment (the bounds where there are no\n"
             "scores).  `expected` is `engine.expected.expected_table`, or empty for the paper's scale, and `risk`\n"
             "its budget in hundredths of a per cent, but for no move more than `risk_share` times what it is worth\n"
             "(infinity: no such limit).  Raises as `search` does.")
        .def("tempting_candidates", &AnySearch::tempting_candidates, "position"_a, "depth"_a, "expected"_a,
             "weights"_a, "budget"_a, "share_percent"_a, "gap_centi"_a, "won_gap_centi"_a, "swindle"_a, "stop"_a,
             nb::sig("def tempting_candidates" DESDEMONA_POSITION
                     "depth: int, expected: bytes, weights: bytes, budget: int, share_percent: int, gap_centi: int, "
                     "won_gap_centi: int, swindle: bool, stop: StopFlag) -> " DESDEMONA_CANDIDATES),
             "Candidates as far as the tempting player needs them to choose, at a depth of 4 or more: tuples as of\n"
             "`trappy_candidates`, but a reply has s_2 and s_3 alone, then the upper and the lower bound on s_D.\n"
             "Where every move loses by force and `swindle` is set, replies that let us escape have s_2 .. s_D,\n"
             "others nothing but the upper bound.  The other arguments are those of `engine.tempting`:\n"
             "`expected_table`, `weight_table`, the budget, its share, and `gaps_centi`.  Raises as `search` does.")
        .def("think", &AnySearch::think, "position"_a, "depth"_a, "seconds"_a, "confidence"_a, "threads"_a,
             "contempt_centi"_a, "stop"_a, "nodes"_a = 0,
             nb::sig("def think" DESDEMONA_POSITION
                     "depth: int, seconds: float, confidence: int, threads: int, contempt_centi: int, stop: StopFlag, "
                     "nodes: int = 0) -> tuple[int, int, int, int, bool, tuple[int, ...], int]"),
             "The best move within the limits by selective search, in Connect Four by full width: a tuple of move,\n"
             "score in centi-units, depth, confidence in percent (0: not known), whether solved, principal\n"
             "variation, and positions visited.\n\n"
             "`seconds` may be 0: as long as it takes; so may `nodes`.  Othello alone uses `confidence` (73, 87, 95,\n"
             "99, or 100: full width), and solves the ending with a depth of all the squares left, when there is\n"
             "time.  In chess and xiangqi a draw counts as -`contempt_centi` for the side to move, and a proven win\n"
             "or loss as solved.  Any other score is an estimate, unless of full width.  The same calls on a new\n"
             "object give the same, if there is no clock and one thread.  Stopped early, it answers with what it\n"
             "has.  Releases the GIL.  Raises Stopped when the flag is set too early for any answer, ValueError for\n"
             "bad arguments or a game that is over.")
        .def("probe", &AnySearch::probe, "position"_a, "depth"_a, "alpha"_a, "beta"_a, "confidence"_a,
             "contempt_centi"_a, "stop"_a,
             "Score in centi-units for the side to move by one iteration of `think`'s search, to a fixed depth: an\n"
             "estimate inside the window, else a bound (fail-soft).  Uses and fills the table of the latest `think`.\n"
             "The arguments are those of `think`.  Raises as `search` does, and ValueError if the game is over.")
        .def("evaluate", &AnySearch::evaluate, "position"_a,
             "Static evaluation in centi-units for the side to move.")
        .def_prop_ro("nodes", &AnySearch::nodes, "Positions visited since this object was made.");
}

#undef DESDEMONA_POSITION
#undef DESDEMONA_CANDIDATES

}  // namespace desdemona::bindings
