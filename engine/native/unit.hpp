// Building blocks of the core's units.  A unit (othello_unit.cpp, ...) is the code of one game for one instruction
// set: CMakeLists.txt compiles the file once for each set.
//
// DESDEMONA_UNIT names the set.  All code except the function tables at the end of the files has internal linkage (see
// game.hpp) or is inlined; weak_symbols.py fails the build on anything else.
#pragma once

#include <new>

#include "core.hpp"
#include "search/profile.hpp"
#include "search/search.hpp"
#include "search/tempting_profile.hpp"

// Begins the definition of a unit's function table, which core.cpp looks up by this name: othello_v3.
#define DESDEMONA_JOIN(a, b) a##b
#define DESDEMONA_SYMBOL(a, b) DESDEMONA_JOIN(a, b)
#define DESDEMONA_PART(Type, game)                        \
    extern const Type DESDEMONA_SYMBOL(game, DESDEMONA_UNIT); \
    const Type DESDEMONA_SYMBOL(game, DESDEMONA_UNIT)

namespace desdemona {
namespace {

// A strong search that can also solve a game exactly when few plies are left.
template <class Strong, class G>
concept Solves = requires(const typename G::Node& node) {
    { Strong::plies_left(node) } -> std::same_as<int>;
};

// The strong search may use another view of the game than the exact one.
template <Game G, class Strong, Game StrongGame = G>
class UnitCore final : public Core<typename G::Position> {
    using Position = typename G::Position;

   public:
    UnitCore(std::size_t table_mb, const G& game, const StrongGame& strong_game)
        : game_(game), strong_game_(strong_game), table_(table_mb), search_(table_, game_),
          strong_(table_mb, strong_game_) {}

    bool is_allocated() const { return table_.is_allocated() && strong_.is_allocated(); }
    bool is_over(const Position& p) override { return game_.moves(game_.root(p)).empty(); }
    bool are_legal(const Position& p, const int* moves, int count) override {
        const auto root = game_.root(p);
        const auto legal = game_.moves(root);
        for (int i = 0; i < count; ++i) {
            bool is_legal = false;
            for (const int move : legal) is_legal |= move == moves[i];
            if (!is_legal) return false;
        }
        return true;
    }
    int evaluate(const Position& p) override { return game_.evaluate(game_.root(p)); }
    int strong_evaluation(const Position& p, const int* moves, int count) override {
        auto node = strong_game_.root(p);
        for (int i = 0; i < count; ++i) {
            auto next = strong_game_.play(node, moves[i]);
            if constexpr (requires { strong_game_.detach(next); }) strong_game_.detach(next);
            node = next;
        }
        return strong_game_.evaluate(node);
    }
    std::uint64_t nodes() const override { return search_.nodes() + strong_.nodes(); }

   protected:
    bool try_search(const Position& p, int depth, int alpha, int beta, const StopFlag& stop, int& score) override {
        return unless_stopped([&] { return try_node(game_.root(p), depth, alpha, beta, stop, score); });
    }

    bool try_scores_after(const Position& p, const int* moves, int count, int least, int most, const StopFlag& stop,
                          int* scores) override {
        return unless_stopped([&] {
            const auto root = game_.root(p);
            for (int i = 0; i < count; ++i) {
                const auto after = game_.play(root, moves[i]);
                for (int depth = least; depth <= most; ++depth) {
                    if (!try_node(after, depth, -kInfinity, kInfinity, stop, *scores++)) return false;
                }
            }
            return true;
        });
    }

    bool try_trappy(const Position& p, int depth, const TrapOptions& options, const StopFlag& stop,
                    ProfileSink& sink) override {
        return unless_stopped([&] {
            table_.new_search();
            Profiler<G>(search_, game_.root(p), depth, options, stop).find(sink);
            return true;
        });
    }

    bool try_tempting(const Position& p, int depth, const TemptingOptions& options, const StopFlag& stop,
                      ProfileSink& sink) override {
        return unless_stopped([&] {
            table_.new_search();
            Tempter<G>(search_, game_.root(p), depth, options, stop).find(sink);
            return true;
        });
    }

    bool try_think(const Position& p, const ThinkLimits& limits, const StopFlag& stop,
                   ThinkResult& result) override {
        return strong_.think(p, limits, stop, result);
    }

    bool try_probe(const Position& p, const ProbeLimits& limits, const StopFlag& stop, int& score) override {
        return unless_stopped([&] {
            score = strong_.probe(p, limits, stop);
            return true;
        });
    }

    bool try_solve(const Position& p, const StopFlag& stop, SolveResult& result) override {
        if constexpr (!Solves<Strong, G>) return false;
        ThinkResult thought;
        if (!strong_.think(p, {kSolveDepth, 0.0, 73, 1, 0}, stop, thought) || !thought.solved) return false;
        result = {thought.move, thought.score_centi};
        return true;
    }

   private:
    // What the work returns; false: it was stopped.
    template <class Work>
    static bool unless_stopped(const Work& work) {
        try {
            return work();
        } catch (const Unwind&) {
            return false;
        }
    }

    // May throw Unwind.
    bool try_node(const typename G::Node& node, int depth, int alpha, int beta, const StopFlag& stop, int& score) {
        if constexpr (Solves<Strong, G>) {
            const int plies = Strong::plies_left(node);
            if (plies >= kSolvePlies && depth >= 2 * plies && !game_.moves(node).empty()) {
                SolveResult solved;  // the depth covers every line, passes included: solving is much faster
                if (!try_solve(node.position, stop, solved)) return false;
                score = solved.score_centi;
                return true;
            }
        }
        table_.new_search();
        score = search_.search(node, depth, alpha, beta, stop);
        return true;
    }

    static constexpr int kSolveDepth = 1'000;  // longer than any game
    static constexpr int kSolvePlies = 6;      // from here on the solver is faster than the search

    const G game_;
    const StrongGame strong_game_;
    Table table_;
    Search<G> search_;
    Strong strong_;  // with its own tables: selective results must not reach the exact search's
};

// Null if there is not enough memory.  The network, if any, is for the strong search.
template <Game G, class Strong, Game StrongGame = G, class Evaluation, class... Network>
Core<typename G::Position>* make(std::size_t table_mb, const Evaluation& evaluation, const Network*... network) {
    try {
        auto* core = new UnitCore<G, Strong, StrongGame>(table_mb, G(evaluation), StrongGame(evaluation, network...));
        if (core->is_allocated()) return core;
        delete core;
    } catch (const std::bad_alloc&) {
    }
    return nullptr;
}

}  // namespace
}  // namespace desdemona
