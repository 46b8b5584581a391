// One unit of the core: this file is compiled once for each instruction set (CMakeLists.txt).
//
// DESDEMONA_UNIT names the set.  All code but the `Unit` at the end has internal linkage, see game.hpp.
#include <new>

#include "core.hpp"
#include "othello_game.hpp"
#include "profile.hpp"
#include "search.hpp"

#define DESDEMONA_TEXT(name) #name
#define DESDEMONA_NAME(name) DESDEMONA_TEXT(name)
#define DESDEMONA_JOIN(a, b) a##b
#define DESDEMONA_SYMBOL(a, b) DESDEMONA_JOIN(a, b)

namespace desdemona {
namespace {

template <Game G>
class UnitCore final : public Core<typename G::Position> {
    using Position = typename G::Position;

   public:
    UnitCore(std::size_t table_mb, const G& game) : game_(game), table_(table_mb), search_(table_, game_) {}

    bool is_allocated() const { return table_.is_allocated(); }
    int evaluate(const Position& p) override { return game_.evaluate(game_.root(p)); }
    std::uint64_t nodes() const override { return search_.nodes(); }

   protected:
    bool try_search(const Position& p, int depth, int alpha, int beta, const StopFlag& stop, int& score) override {
        try {
            table_.new_search();
            score = search_.search(game_.root(p), depth, alpha, beta, stop);
            return true;
        } catch (const Unwind&) {
            return false;
        }
    }

    bool try_trappy(const Position& p, int depth, const TrapOptions& options, const StopFlag& stop,
                    ProfileSink& sink) override {
        try {
            table_.new_search();
            Profiler<G>(search_, game_.root(p), depth, options, stop).find(sink);
            return true;
        } catch (const Unwind&) {
            return false;
        }
    }

   private:
    const G game_;
    Table table_;
    Search<G> search_;
};

Core<othello::Position>* make_othello(std::size_t table_mb, const othello::Evaluation& evaluation) {
    auto* core = new (std::nothrow) UnitCore<othello::OthelloGame>(table_mb, othello::OthelloGame(evaluation));
    if (core != nullptr && !core->is_allocated()) {
        delete core;
        return nullptr;
    }
    return core;
}

othello::Board othello_moves(const othello::Position& p) { return othello::moves_mask(p); }
othello::Position othello_play(const othello::Position& p, int move) { return othello::play(p, move); }
std::uint64_t othello_perft(const othello::Position& p, int depth) { return othello::perft(p, depth); }

}  // namespace

const Unit DESDEMONA_SYMBOL(unit_, DESDEMONA_UNIT) = {
    DESDEMONA_NAME(DESDEMONA_UNIT), &make_othello, &othello_moves, &othello_play, &othello_perft,
};

}  // namespace desdemona
