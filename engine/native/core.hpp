// The border between the core and its units: one unit of code for each instruction set, one of them in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "evaluation.hpp"
#include "position.hpp"
#include "stop.hpp"

namespace desdemona {

// Settings of the trap arithmetic, as engine.params.TrapParams.
struct TrapOptions {
    enum Assessment { kMedian, kBest, kLast };
    Assessment assessment;
    int margin_centi;
    bool swindle;
};

// Takes what an analysis found: a candidate at a time, its replies first.
class ProfileSink {
   public:
    virtual ~ProfileSink();
    // One reply of the next candidate.  Either its scores s_2 .. s_D (`count` of them), or, with `count` 0,
    // what the search proved instead: s_D is at most `final_bound`, the assessment of the shallow scores at
    // least `shallow_bound`.  All from the view of the side that sets the trap.
    virtual void reply(int move, const int* scores, int count, int final_bound, int shallow_bound) = 0;
    virtual void candidate(int move, int raw, bool raw_is_bound, bool complete) = 0;
};

// Search of one game, with a transposition table of its own; for one thread at a time.
template <class Position>
class Core {
   public:
    virtual ~Core();

    // Exact score inside (alpha, beta), else a bound (fail-soft).  Throws Stopped.
    int search(const Position& p, int depth, int alpha, int beta, const StopFlag& stop) {
        int score = 0;
        if (!try_search(p, depth, alpha, beta, stop, score)) throw Stopped{};
        return score;
    }

    // Candidates of trappy minimax at a depth of 2 or more: as much of raw values and profiles as the choice
    // depends on.  Throws Stopped.
    void trappy_candidates(const Position& p, int depth, const TrapOptions& options, const StopFlag& stop,
                           ProfileSink& sink) {
        if (!try_trappy(p, depth, options, stop, sink)) throw Stopped{};
    }

    virtual int evaluate(const Position& p) = 0;
    virtual std::uint64_t nodes() const = 0;

   protected:
    // What the units fill in; false: stopped.  (No exception crosses the border between units.)
    virtual bool try_search(const Position& p, int depth, int alpha, int beta, const StopFlag& stop, int& score) = 0;
    virtual bool try_trappy(const Position& p, int depth, const TrapOptions& options, const StopFlag& stop,
                            ProfileSink& sink) = 0;
};

extern template class Core<othello::Position>;

// What a unit offers.
struct Unit {
    const char* name;  // "baseline", "v2", "v3"
    Core<othello::Position>* (*make_othello)(std::size_t table_mb, const othello::Evaluation& evaluation);
    othello::Board (*othello_moves)(const othello::Position& p);
    othello::Position (*othello_play)(const othello::Position& p, int move);
    std::uint64_t (*othello_perft)(const othello::Position& p, int depth);
};

extern const Unit unit_baseline;
extern const Unit unit_v2;
extern const Unit unit_v3;

// The units that this processor can run, the best last; `count` of them.
const Unit* const* runnable_units(int& count);

}  // namespace desdemona
