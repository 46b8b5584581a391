// The interface between the core and its units: one unit of code for each instruction set, one of them in use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chess/chess_features.hpp"
#include "chess/chess_position.hpp"
#include "connect4/connect4_position.hpp"
#include "othello/evaluation.hpp"
#include "network.hpp"
#include "position.hpp"
#include "stop.hpp"
#include "xiangqi/xiangqi_features.hpp"
#include "xiangqi/xiangqi_position.hpp"

namespace desdemona {

// Settings of the trap arithmetic, as engine.params.TrapParams.
struct TrapOptions {
    enum Assessment { kMedian, kBest, kLast };
    Assessment assessment;
    int margin_centi;
    bool swindle;
    // The expected scale (engine/expected.py): the values of scores 0, 1, 2, ... in hundredths of a per cent, up to
    // certainty; it must outlive the analysis.  Empty: the paper's scale.
    const std::int16_t* expected = nullptr;
    int expected_count = 0;
    double risk = 0;  // likewise in hundredths of a per cent
    double risk_share = 0;  // upper limit for a bonus, as a multiple of the move's value; may be infinite
};

// Settings of the tempting player, as engine.params.TemptingParams and engine.tempting.
struct TemptingOptions {
    static constexpr int kWeights = 20'001;
    // The expected scale, as in TrapOptions, and engine.tempting.weight_table; both must outlive the analysis.
    const std::int16_t* expected;
    int expected_count;
    const std::int32_t* weights;
    int budget;         // maximum expected score to give up, in hundredths of a per cent
    int share_percent;  // of the best move's, likewise
    int gap_centi;      // maximum centi-units to give up, ...
    int won_gap_centi;  // ... and when the game is nearly won
    bool swindle;
};

// Receives the result of an analysis: one candidate at a time, its replies first.
class ProfileSink {
   public:
    virtual ~ProfileSink();
    // One reply of the next candidate.  Either its scores s_2 .. s_D (`count` of them), or, with `count` 0, what the
    // search proved instead: s_D is at most `final_bound`, the assessment of the shallow scores at least
    // `shallow_bound` (a median may lie between two scores).  All from the view of the side that sets the trap.
    virtual void reply(int move, const int* scores, int count, int final_bound, double shallow_bound) = 0;
    // One reply of the next candidate in the tempting player's analysis: s_2 and s_3, and s_D lies in least .. most.
    virtual void shallow(int move, const int* shallow, int least, int most) = 0;
    virtual void candidate(int move, int raw, bool raw_is_bound, bool complete) = 0;
};

// When the strong search ends: at whichever limit comes first.
struct ThinkLimits {
    int depth;       // plies; if that covers the rest of the game, endings may be solved
    double seconds;  // from the call on, by the stop flag's clock; 0: no limit.  No step is begun that would hardly
                     // finish in time
    int confidence;  // percent, one of 73, 87, 95, 99; 100: full width
    int threads;     // with more than one, the result is not deterministic
    int contempt_centi;  // score penalty of a draw for the side to move, in games with draws
    std::uint64_t nodes = 0;  // approximate limit on visited positions; 0: no limit
};

// What `Core::probe` searches.
struct ProbeLimits {
    int depth;           // plies
    int alpha;           // the window, in centi-units for the side to move
    int beta;
    int confidence;      // as of `ThinkLimits`
    int contempt_centi;  // as of `ThinkLimits`
};

// Result of the strong search.
struct ThinkResult {
    static constexpr int kMaxLine = 64;
    int move;
    int score_centi;  // side to move's view; an estimate unless `solved` or full width
    int depth;        // plies of the last iteration that changed or confirmed the move
    int confidence;   // percent, likewise; 0: unknown
    bool solved;      // move and score are exact to the end of the game
    int line_length;
    std::uint16_t line[kMaxLine];  // principal variation, `move` first
    std::uint64_t nodes;
};

struct SolveResult {
    int move;
    int score_centi;  // decided, or 0
};

// Runs `lead` in this thread and help(context, 1), help(context, 2) ... in others (fewer if the system has none), and
// returns when all have finished.  Defined here so that units need no threading code.
void run_with_helpers(int helpers, void (*lead)(void* context), void (*help)(void* context, int index),
                      void* context);

// Waits briefly for other threads, for the `turns`th time in a row: the longer the wait so far, the more it leaves the
// processor to others.
void pause_thread(int turns) noexcept;

// Search of one game, with its own transposition table; used by one thread at a time.
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

    // Exact scores of the positions after some legal moves, from the view of the side to move there, by searches of
    // `least` .. `most` plies: a row of `most - least + 1` for each move.  Throws Stopped.
    void scores_after(const Position& p, const int* moves, int count, int least, int most, const StopFlag& stop,
                      int* scores) {
        if (!try_scores_after(p, moves, count, least, most, stop, scores)) throw Stopped{};
    }

    // Candidates of trappy minimax at a depth of 2 or more: the raw values and profiles that the choice depends on.
    // Throws Stopped.
    void trappy_candidates(const Position& p, int depth, const TrapOptions& options, const StopFlag& stop,
                           ProfileSink& sink) {
        if (!try_trappy(p, depth, options, stop, sink)) throw Stopped{};
    }

    // Candidates of the tempting player at a depth of 4 or more: the raw values, shallow scores and bounds that
    // prove the choice.  Throws Stopped.
    void tempting_candidates(const Position& p, int depth, const TemptingOptions& options, const StopFlag& stop,
                             ProfileSink& sink) {
        if (!try_tempting(p, depth, options, stop, sink)) throw Stopped{};
    }

    // The best move within the limits, by selective search; the game must not be over.  Throws Stopped only when
    // stopped before it has any result.
    ThinkResult think(const Position& p, const ThinkLimits& limits, const StopFlag& stop) {
        ThinkResult result{};
        if (!try_think(p, limits, stop, result)) throw Stopped{};
        return result;
    }

    // The score of a position by selective search to a fixed depth: an estimate inside the window, else a bound
    // (fail-soft); the game must not be over.  Uses and fills the table of the latest `think`.  Throws Stopped.
    int probe(const Position& p, const ProbeLimits& limits, const StopFlag& stop) {
        int score = 0;
        if (!try_probe(p, limits, stop, score)) throw Stopped{};
        return score;
    }

    // The exact result of the game and a move that achieves it; the game must not be over.  Throws Stopped.
    SolveResult solve(const Position& p, const StopFlag& stop) {
        SolveResult result{};
        if (!try_solve(p, stop, result)) throw Stopped{};
        return result;
    }

    virtual bool is_over(const Position& p) = 0;
    virtual bool are_legal(const Position& p, const int* moves, int count) = 0;
    virtual int evaluate(const Position& p) = 0;
    // The strong search's static evaluation after these legal moves, in centi-units for the side to move there.
    virtual int strong_evaluation(const Position& p, const int* moves, int count) = 0;
    virtual std::uint64_t nodes() const = 0;

   protected:
    // Implemented by the units; false: stopped.  (No exception crosses the boundary between units.)
    virtual bool try_search(const Position& p, int depth, int alpha, int beta, const StopFlag& stop, int& score) = 0;
    virtual bool try_scores_after(const Position& p, const int* moves, int count, int least, int most,
                                  const StopFlag& stop, int* scores) = 0;
    virtual bool try_trappy(const Position& p, int depth, const TrapOptions& options, const StopFlag& stop,
                            ProfileSink& sink) = 0;
    virtual bool try_tempting(const Position& p, int depth, const TemptingOptions& options, const StopFlag& stop,
                              ProfileSink& sink) = 0;
    virtual bool try_think(const Position& p, const ThinkLimits& limits, const StopFlag& stop,
                           ThinkResult& result) = 0;
    virtual bool try_probe(const Position& p, const ProbeLimits& limits, const StopFlag& stop, int& score) = 0;
    virtual bool try_solve(const Position& p, const StopFlag& stop, SolveResult& result) = 0;
};

extern template class Core<othello::Position>;
extern template class Core<connect4::Position>;
extern template class Core<chess::Position>;
extern template class Core<xiangqi::Position>;

// The functions of a unit, by game: each game's part is compiled separately, for each instruction set.
struct OthelloUnit {
    Core<othello::Position>* (*make_othello)(std::size_t table_mb, const othello::Evaluation& evaluation);
    othello::Board (*othello_moves)(const othello::Position& p);
    othello::Position (*othello_play)(const othello::Position& p, int move);
    std::uint64_t (*othello_perft)(const othello::Position& p, int depth);
};

struct Connect4Unit {
    Core<connect4::Position>* (*make_connect4)(std::size_t table_mb, const connect4::NoEvaluation& evaluation);
};

constexpr int kMostMoves = 512;  // in any position of chess or xiangqi

// Moves and perft follow the rules of the board alone: repetition, counters and dead positions do not end a game.
struct ChessUnit {
    // Without a network (null), the strong search uses the evaluation alone.
    Core<chess::Position>* (*make_chess)(std::size_t table_mb, const chess::Evaluation& evaluation,
                                         const chess::Network* network);
    int (*chess_moves)(const chess::Position& p, std::uint16_t* moves);  // their number; at most kMostMoves
    std::uint64_t (*chess_perft)(const chess::Position& p, int depth);
};

struct XiangqiUnit {
    Core<xiangqi::Position>* (*make_xiangqi)(std::size_t table_mb, const xiangqi::Evaluation& evaluation,
                                             const xiangqi::Network* network);
    int (*xiangqi_moves)(const xiangqi::Position& p, std::uint16_t* moves);
    std::uint64_t (*xiangqi_perft)(const xiangqi::Position& p, int depth);
};

struct Unit : OthelloUnit, Connect4Unit, ChessUnit, XiangqiUnit {
    const char* name;  // "baseline", "v2", "v3"
};

// The units that this processor can run, the best last; `count` of them.
const Unit* const* runnable_units(int& count);

}  // namespace desdemona
