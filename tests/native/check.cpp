// Fuzzes the core: seeded random inputs, each unit against the others and all of them against the naive rules.
//
//   check --inputs N [--seed S] [--first I] [--perft D]     inputs I .. I + N - 1 of that seed
//   check --threads T [--rounds N] [--seed S]               threads that share what the core lets them share
//
// Each input has a generator of its own, so that a failure is repeated by naming it alone; only what the tables
// hold depends on the inputs before, and that must never show.
#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "bench.hpp"
#include "checks.hpp"

namespace check {
namespace {

using namespace desdemona::othello::patterns;

// --- The units side by side ----------------------------------------------------------------------------------

struct Set {
    explicit Set(std::vector<std::int16_t> all, const std::vector<const Unit*>& units) : weights(std::move(all)) {
        for (const Unit* unit : units) cores.push_back(make_core(*unit, weights.core));
        judge = make_core(*units.back(), weights.core);
    }

    // The same call on all cores: each must give the same, and visit as many nodes.
    template <class Call>
    auto on_all(const Call& call, const char* what, Position p) {
        const auto first = call(*cores[0]);
        for (std::size_t i = 1; i < cores.size(); ++i) {
            require(call(*cores[i]) == first, "units differ in %s of %s", what, text(p).c_str());
            require(cores[i]->nodes() == cores[0]->nodes(), "units differ in the nodes of %s of %s", what,
                    text(p).c_str());
        }
        return first;
    }

    int exact(Position p, int depth) {
        const StopFlag never;
        return judge->search(p, depth, -kInfinity, kInfinity, never);
    }

    // The game's true result, without the help of the endgame solver (which searches to the end may call).
    int truth(Position p) {
        const Unit& unit = *all_units().back();
        const Board moves = unit.othello_moves(p);
        if (inputs::empties_of(p) <= 5) return exact(p, 10);
        if (moves == 0) {
            return unit.othello_moves(naive::passed(p)) == 0 ? naive::result(p) : -truth(naive::passed(p));
        }
        int best = -kInfinity;
        for (Board rest = moves; rest != 0; rest &= rest - 1) {
            best = std::max(best, -truth(unit.othello_play(p, std::countr_zero(rest))));
        }
        return best;
    }

    Weights weights;
    std::vector<std::unique_ptr<OthelloCore>> cores;  // one of each unit, all asked the same
    std::unique_ptr<OthelloCore> judge;               // asked for whatever a check needs to know
};

// Equal when all that was found is.
struct Comparable : ThinkResult {
    bool operator==(const Comparable& other) const {
        return move == other.move && score_centi == other.score_centi && depth == other.depth &&
               confidence == other.confidence && solved == other.solved && nodes == other.nodes &&
               line_length == other.line_length && std::equal(line, line + line_length, other.line);
    }
};

struct Bench {
    explicit Bench(std::uint64_t seed) : units(all_units()) {
        Random random(seed);
        for (const auto style : {inputs::Style::kMild, inputs::Style::kWild, inputs::Style::kCoarse}) {
            sets.push_back(std::make_unique<Set>(inputs::weights(random, style), units));
        }
    }
    Set& any_set(Random& random) { return *sets[static_cast<std::size_t>(random.between(0, 2))]; }
    const Unit& best() const { return *units.back(); }

    std::vector<const Unit*> units;
    std::vector<std::unique_ptr<Set>> sets;
};

// --- Rules ---------------------------------------------------------------------------------------------------

void check_rules(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    const Board moves = naive::moves(p);
    require(std::popcount(moves) < kMobilities, "more moves than the evaluation has weights: %s", text(p).c_str());
    for (const Unit* unit : bench.units) {
        require(unit->othello_moves(p) == moves, "%s: moves of %s", unit->name, text(p).c_str());
    }
    // Every legal move, the pass, and two squares of any kind (on a taken one the units must merely agree).
    const auto check_move = [&](int move, bool is_known) {
        const Position after = is_known ? naive::play(p, move) : bench.best().othello_play(p, move);
        for (const Unit* unit : bench.units) {
            const Position found = unit->othello_play(p, move);
            require(found.mover == after.mover && found.waiter == after.waiter, "%s: move %d of %s", unit->name, move,
                    text(p).c_str());
        }
    };
    for (Board rest = moves; rest != 0; rest &= rest - 1) check_move(std::countr_zero(rest), true);
    check_move(kPass, true);
    for (int i = 0; i < 2; ++i) {
        const int square = random.between(0, 63);
        check_move(square, !naive::has(p.mover | p.waiter, square));
    }
}

void check_perft(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    const int depth = random.between(0, 2) + random.one_in(8);
    const std::uint64_t leaves = naive::perft(p, depth);
    for (const Unit* unit : bench.units) {
        require(unit->othello_perft(p, depth) == leaves, "%s: perft %d of %s", unit->name, depth, text(p).c_str());
    }
}

void check_published_perft(const Bench& bench, int depth) {
    constexpr std::uint64_t kLeaves[] = {1,    4,     12,     56,      244,      1396,      8200,
                                         55092, 390216, 3005288, 24571284, 212258800};
    for (const Unit* unit : bench.units) {
        for (int d = 0; d <= std::min(depth, 11); ++d) {
            const std::uint64_t leaves = unit->othello_perft(inputs::kStart, d);
            require(leaves == kLeaves[d], "%s: perft %d is %llu", unit->name, d,
                    static_cast<unsigned long long>(leaves));
        }
    }
}

// No two positions have one key.  Random ones would not by any mix; so all that differ from one position on up to
// three squares, where a weak mix shows.
void check_keys(Random& random, const Bench& bench) {
    const Position p = inputs::played(random, bench.best(), random.between(20, 56));
    std::vector<std::uint64_t> keys{key_of(p)};
    const auto change = [&](const auto& self, Position q, int from, int squares) -> void {
        for (int square = from; square < 64; ++square) {
            const Board bit = Board{1} << square;
            const Position contents[] = {{q.mover & ~bit, q.waiter & ~bit},
                                         {q.mover | bit, q.waiter & ~bit},
                                         {q.mover & ~bit, q.waiter | bit}};
            for (const Position& changed : contents) {
                if (changed.mover == q.mover && changed.waiter == q.waiter) continue;
                keys.push_back(key_of(changed));
                if (squares > 1) self(self, changed, square + 1, squares - 1);
            }
        }
    };
    change(change, p, 0, 3);
    std::sort(keys.begin(), keys.end());
    require(std::adjacent_find(keys.begin(), keys.end()) == keys.end(), "two positions near this one share a key: %s",
            text(p).c_str());
}

// --- Evaluation ----------------------------------------------------------------------------------------------

Position turned(Position p, int symmetry) {
    Position after{0, 0};
    for (int square = 0; square < 64; ++square) {
        const Board to = Board{1} << desdemona::othello::patterns::turned(square, symmetry);
        if (naive::has(p.mover, square)) after.mover |= to;
        if (naive::has(p.waiter, square)) after.waiter |= to;
    }
    return after;
}

void check_evaluation(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    Set& set = bench.any_set(random);
    const int expected = set.weights.naive.evaluate(p);
    const Position mirrored = turned(p, random.between(1, 7));
    for (const auto& core : set.cores) {
        require(core->evaluate(p) == expected, "evaluation of %s", text(p).c_str());
        require(core->evaluate(mirrored) == expected, "evaluation of a mirror image, %s", text(mirrored).c_str());
    }
}

// --- Search --------------------------------------------------------------------------------------------------

void require_bound(int found, int exact, int alpha, int beta, const char* what, Position p) {
    const bool holds = found <= alpha ? exact <= found : found >= beta ? exact >= found : exact == found;
    require(holds, "%s gives %d in the window %d .. %d, the truth is %d: %s", what, found, alpha, beta, exact,
            text(p).c_str());
}

// A window somewhere around a score, of any width, or at the very ends.
std::pair<int, int> window(Random& random, int around) {
    int alpha = -kInfinity;
    int beta = kInfinity;
    if (!random.one_in(8)) {
        const int wobble = random.one_in(2) ? 8 : 2000;
        const int middle = random.one_in(4) ? random.between(-kWin - 6500, kWin + 6500) : around;
        if (!random.one_in(8)) alpha = middle - random.between(0, wobble);
        if (!random.one_in(8)) beta = std::max(alpha, middle) + random.between(1, wobble);
    }
    return {alpha, beta};
}

int search_depth(Random& random, Position p) {
    const int empties = inputs::empties_of(p);
    if (random.one_in(400)) return random.between(5, empties < 10 ? 120 : 6);
    if (empties <= 5) return random.one_in(4) ? random.between(0, 120) : random.between(0, 12);
    return random.one_in(8) ? random.between(3, 4) : random.between(0, 2);
}

void check_search(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    Set& set = bench.any_set(random);
    const StopFlag never;
    const int depth = search_depth(random, p);
    const int exact = set.exact(p, depth);
    const auto [alpha, beta] = window(random, exact);
    const int a = alpha, b = beta;
    const int found = set.on_all([&](OthelloCore& core) { return core.search(p, depth, a, b, never); }, "search", p);
    require_bound(found, exact, alpha, beta, "search", p);
    if (depth <= 1 || (depth == 2 && random.one_in(4))) {
        const int plain = naive::minimax(set.weights.naive, p, depth);
        require(plain == exact, "search of depth %d gives %d, minimax %d: %s", depth, exact, plain, text(p).c_str());
    }
}

// Many scores at one call are those of single searches; and which moves there are.
void check_scores(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    Set& set = bench.any_set(random);
    const Unit& unit = bench.best();
    const StopFlag never;
    const Board legal = unit.othello_moves(p);
    const bool passes = legal == 0 && unit.othello_moves(naive::passed(p)) != 0;
    std::vector<int> moves;
    for (int move = -1; move <= 65; ++move) {
        const bool is_legal = move >= 0 && move < 64 ? (legal >> move & 1) != 0 : move == 64 && passes;
        set.on_all([&](OthelloCore& core) {
            require(core.are_legal(p, &move, 1) == is_legal, "move %d: %s", move, text(p).c_str());
            return move;
        }, "a move's legality", p);
        if (is_legal) moves.push_back(move);
    }
    const int least = random.between(0, 2);
    const int most = least + random.between(0, inputs::empties_of(p) <= 5 ? 9 : 1);
    const auto depths = static_cast<std::size_t>(most - least + 1);
    const auto found = set.on_all([&](OthelloCore& core) {
        std::vector<int> scores(moves.size() * depths);
        core.scores_after(p, moves.data(), static_cast<int>(moves.size()), least, most, never, scores.data());
        return scores;
    }, "many scores", p);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const int depth = least + static_cast<int>(i % depths);
        const int exact = set.exact(unit.othello_play(p, moves[i / depths]), depth);
        require(found[i] == exact, "score %d after move %d and depth %d is %d: %s", found[i], moves[i / depths], depth,
                exact, text(p).c_str());
    }
}

// --- Stopping --------------------------------------------------------------------------------------------------

// What a stopped call may give: nothing at all.
constexpr int kStopped = INT_MIN;

template <class Call>
int unless_stopped(const Call& call) {
    try {
        return call();
    } catch (const Stopped&) {
        return kStopped;
    }
}

void check_stop(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    Set& set = bench.any_set(random);
    const bool is_set = random.one_in(8);
    const auto limit = static_cast<std::uint64_t>(random.one_in(8) ? 0 : random.between(1, 3000));
    const int deadline = random.between(0, 15);
    const bool analyse = random.one_in(2);
    const int depth = random.between(2, analyse ? 4 : 5);
    const TrapOptions options{TrapOptions::kMedian, random.between(0, 400), random.one_in(2)};
    const int found = set.on_all(
        [&](OthelloCore& core) {
            StopFlag stop;
            if (is_set) stop.set();
            stop.set_node_limit(limit);
            // Far away in the future and in the past, where numbers of ticks no longer fit.
            static const double kDeadlines[] = {1e5, 1e10, 1e18, 1e300, HUGE_VAL, NAN, -1.0, -1e10, -1e300, -HUGE_VAL};
            const auto which = static_cast<std::size_t>(deadline);
            if (which < std::size(kDeadlines)) stop.set_deadline(kDeadlines[which]);
            const bool is_over = is_set || limit == 0 || (which < std::size(kDeadlines) && kDeadlines[which] < 0);
            require(stop.is_set() == is_over, "a flag with deadline %d, limit %d", deadline, static_cast<int>(limit));
            const std::uint64_t before = core.nodes();
            const int score = unless_stopped([&] {
                if (!analyse) return core.search(p, depth, -kInfinity, kInfinity, stop);
                Collector sink;
                core.trappy_candidates(p, depth, options, stop, sink);
                return static_cast<int>(sink.candidates.size());
            });
            require(core.nodes() - before <= limit + StopFlag::kNodesPerCheck, "%d nodes with a limit of %d: %s",
                    static_cast<int>(core.nodes() - before), static_cast<int>(limit), text(p).c_str());
            const bool is_nothing = analyse && score == 0;  // a finished game has no candidates, and needs no search
            require(!is_over || is_nothing || score == kStopped, "a search went on when told to stop: %s", text(p).c_str());
            return score;
        },
        "a stopped search", p);
    if (found != kStopped && !analyse) {
        require(found == set.exact(p, depth), "score of a search with a limit: %s", text(p).c_str());
    }
    // What the tables hold after the stop is true.
    const StopFlag never;
    const int shallow = random.between(0, 3);
    const int after = set.on_all(
        [&](OthelloCore& core) { return core.search(p, shallow, -kInfinity, kInfinity, never); }, "a search", p);
    require(after == set.exact(p, shallow), "score after a stop: %s", text(p).c_str());
}

// --- Trappy minimax ----------------------------------------------------------------------------------------------

// Tables as engine/expected.py makes them, of steep and flat logistic functions.
const std::vector<std::int16_t>& expected_table(int which) {
    static const std::vector<std::vector<std::int16_t>> tables = [] {
        std::vector<std::vector<std::int16_t>> made;
        for (const double s : {1.0, 30.0, 300.0, 800.0, 50'000.0}) {
            const int size = std::min(kWin, static_cast<int>(std::ceil(std::log(20'000.0) * s)) + 1);
            auto& table = made.emplace_back();
            for (int score = 0; score < size; ++score) {
                table.push_back(static_cast<std::int16_t>(10'000 / (1 + std::exp(-score / s)) + 0.5));
            }
        }
        return made;
    }();
    return tables[static_cast<std::size_t>(which)];
}

TrapOptions trap_options(Random& random) {
    constexpr int kMargins[] = {0, 1, 25, 100, 400, 6000, 100'000, INT_MAX};
    constexpr double kRisks[] = {1, 100, 500, 512.5, 2500, 10'000};
    constexpr double kShares[] = {0.001, 1.0 / 3, 4, INFINITY};
    TrapOptions options{static_cast<TrapOptions::Assessment>(random.between(0, 2)), kMargins[random.between(0, 7)],
                        random.one_in(2)};
    if (random.one_in(2)) {
        const auto& table = expected_table(random.between(0, 4));
        options.expected = table.data();
        options.expected_count = static_cast<int>(table.size());
        options.risk = kRisks[random.between(0, 5)];
        options.risk_share = kShares[random.between(0, 3)];
    }
    return options;
}

std::vector<int> moves_of(const Unit& unit, Position p) {
    std::vector<int> moves;
    for (Board rest = unit.othello_moves(p); rest != 0; rest &= rest - 1) moves.push_back(std::countr_zero(rest));
    if (moves.empty() && unit.othello_moves(naive::passed(p)) != 0) moves.push_back(kPass);
    return moves;
}

// One reply against what it is worth: scores s_2 .. s_D, exact or bounded.
void check_reply(Set& set, Position after, const Reply& reply, int depth, const naive::Trap& trap, Position p) {
    std::vector<int> scores;
    for (int d = 0; d <= depth - 2; ++d) scores.push_back(set.exact(after, d));
    if (!reply.scores.empty()) {
        require(reply.scores == scores, "scores of a reply: %s", text(p).c_str());
        return;
    }
    require(reply.final_bound >= scores.back(), "bound %d on a reply worth %d: %s", reply.final_bound, scores.back(),
            text(p).c_str());
    if (depth > 2) {
        scores.pop_back();
        require(reply.shallow_bound <= trap.assess(scores), "bound %g on an assessment of %g: %s",
                reply.shallow_bound, trap.assess(scores), text(p).c_str());
    }
}

// The choice that the whole table leads to is the one that the analysis leads to, whose value is at least as high as the
// analysis found.
void check_choice(Set& set, const Unit& unit, Position p, int depth, const naive::Trap& trap,
                  const std::vector<Candidate>& candidates) {
    struct Standing {
        double adjusted = 0;
        int raw = 0;
        int move = -1;
        bool is_below(double other, int other_raw) const {
            return move < 0 || other > adjusted || (other == adjusted && other_raw > raw);
        }
    };
    Standing whole, lazy;
    for (const Candidate& candidate : candidates) {
        const Position after = unit.othello_play(p, candidate.move);
        const int raw = -set.exact(after, depth - 1);
        double quality = 0;
        for (const int move : moves_of(unit, after)) {
            const Position reply = unit.othello_play(after, move);
            std::vector<int> scores;
            for (int d = 0; d <= depth - 2; ++d) scores.push_back(set.exact(reply, d));
            quality = std::max(quality, trap.quality(scores, raw));
        }
        const double adjusted = trap.utility(raw) + trap.bonus(quality, raw);
        if (whole.is_below(adjusted, raw)) whole = {adjusted, raw, candidate.move};

        if (candidate.raw_is_bound) continue;
        quality = 0;
        for (const Reply& reply : candidate.replies) {
            if (!reply.scores.empty()) quality = std::max(quality, trap.quality(reply.scores, raw));
        }
        const double found = trap.utility(raw) + trap.bonus(quality, raw);
        if (lazy.is_below(found, raw)) lazy = {found, raw, candidate.move};
    }
    require(whole.move == lazy.move && whole.adjusted >= lazy.adjusted,
            "the whole table chooses %d (%.17g), the analysis %d (%.17g): depth %d, %s", whole.move, whole.adjusted,
            lazy.move, lazy.adjusted, depth, text(p).c_str());
}

void check_trappy(Random& random, Bench& bench) {
    const Position p = inputs::any(random, bench.best());
    const int empties = inputs::empties_of(p);
    Set& set = bench.any_set(random);
    const TrapOptions options = trap_options(random);
    const naive::Trap trap(options);
    const int depth = random.one_in(30)  ? random.between(5, empties <= 4 ? 120 : 5)
                      : random.one_in(3) ? random.between(3, 4)
                                         : random.between(2, 3);
    const StopFlag never;
    if (random.one_in(4)) set.on_all([&](OthelloCore& core) {  // as iterative deepening does
        return core.search(p, depth - 1, -kInfinity, kInfinity, never);
    }, "search", p);
    const auto candidates = set.on_all(
        [&](OthelloCore& core) {
            Collector sink;
            core.trappy_candidates(p, depth, options, never, sink);
            return sink.candidates;
        },
        "analysis", p);

    std::vector<int> moves;
    bool is_lost = true;
    for (const Candidate& candidate : candidates) {
        moves.push_back(candidate.move);
        is_lost = is_lost && candidate.raw <= -kWin;
    }
    const Unit& unit = bench.best();
    require(moves == moves_of(unit, p), "candidates of %s", text(p).c_str());
    if (candidates.empty()) return;

    const bool is_swindle = options.swindle && is_lost;
    for (const Candidate& candidate : candidates) {
        const Position after = unit.othello_play(p, candidate.move);
        const int raw = -set.exact(after, depth - 1);
        require(candidate.raw_is_bound ? candidate.raw >= raw : candidate.raw == raw, "raw value %d%s of %d: %s",
                candidate.raw, candidate.raw_is_bound ? " (bound)" : "", raw, text(p).c_str());
        require(!is_swindle || !candidate.raw_is_bound, "a bound for a lost move: %s", text(p).c_str());
        if (candidate.replies.empty()) continue;
        std::vector<int> replies;
        for (const Reply& reply : candidate.replies) {
            replies.push_back(reply.move);
            require(reply.scores.empty() || static_cast<int>(reply.scores.size()) == depth - 1,
                    "number of scores of a reply: %s", text(p).c_str());
            require(!is_swindle || !reply.scores.empty() || reply.final_bound <= -kWin, "an escape left out: %s",
                    text(p).c_str());
            require(!candidate.complete || !reply.scores.empty(), "a profile is incomplete: %s", text(p).c_str());
            if (random.one_in(4)) check_reply(set, unit.othello_play(after, reply.move), reply, depth, trap, p);
        }
        require(replies == moves_of(unit, after), "replies to %d in %s", candidate.move, text(p).c_str());
    }
    const bool is_small = candidates.size() * candidates.size() * static_cast<std::size_t>(depth) < 100;
    if (!is_swindle && (is_small || random.one_in(8))) check_choice(set, unit, p, depth, trap, candidates);
}

// --- The end of the game -------------------------------------------------------------------------------------------

void check_ending(Random& random, Bench& bench) {
    const int empties = random.one_in(100) ? random.between(7, 8) : random.between(0, 6);
    const Position p = random.one_in(2) ? inputs::filled(random, empties)
                                        : inputs::played(random, bench.best(), 60 - empties);
    Set& set = *bench.sets[0];
    if (inputs::empties_of(p) > 8) return;  // the game was over before
    const int score = set.truth(p);
    if (random.one_in(4)) {
        const int depth = random.between(2 * inputs::empties_of(p), 120);
        require(set.exact(p, depth) == score, "a search to the end: %s", text(p).c_str());
    }
    const int margin = (score > 0 ? score - kWin : score < 0 ? score + kWin : 0) / 100;
    int alpha = -64;
    int beta = 64;
    if (random.one_in(2)) {
        alpha = random.between(-70, 69);
        beta = random.one_in(2) ? alpha + 1 : random.between(alpha + 1, 70);
    }
    require_bound(solve_ending(p, alpha, beta), margin, alpha, beta, "the endgame solver", p);
}

// --- The strong search -----------------------------------------------------------------------------------------------

// Whether a line of moves can be played.
bool is_legal(const Unit& unit, Position p, const std::uint16_t* line, int length) {
    for (int i = 0; i < length; ++i) {
        const std::vector<int> moves = moves_of(unit, p);
        if (std::find(moves.begin(), moves.end(), line[i]) == moves.end()) return false;
        p = unit.othello_play(p, line[i]);
    }
    return true;
}

void require_sound(Set& set, const Unit& unit, Position p, const ThinkResult& found, const ThinkLimits& limits) {
    const std::string where = text(p);
    require(found.line_length >= 1 && found.line_length <= ThinkResult::kMaxLine && found.line[0] == found.move,
            "the line of a thought on %s", where.c_str());
    require(is_legal(unit, p, found.line, found.line_length), "a thought's line is not legal: %s", where.c_str());
    const int empties = inputs::empties_of(p);
    if (found.solved) {
        require(found.confidence == 100 && found.depth == empties && limits.depth >= empties, "solved, but %d %d: %s",
                found.confidence, found.depth, where.c_str());
        if (empties > 7) return;
        require(found.score_centi == set.truth(p), "solved for %d: %s", found.score_centi, where.c_str());
        require(found.score_centi == -set.truth(unit.othello_play(p, found.move)), "solved with move %d: %s",
                found.move, where.c_str());
        return;
    }
    require(found.depth >= 1 && found.depth <= std::max(1, std::min(limits.depth, empties)), "a thought of depth %d: %s",
            found.depth, where.c_str());
    require(found.confidence >= limits.confidence, "a thought's confidence: %s", where.c_str());
    if (limits.confidence < 100) {
        require(std::abs(found.score_centi) <= 6'400, "a thought's estimate, %d: %s", found.score_centi, where.c_str());
    }
}

void check_think(Random& random, Bench& bench) {
    Position p = inputs::any(random, bench.best());
    if (random.one_in(2)) p = inputs::filled(random, random.between(1, 14));
    if (moves_of(bench.best(), p).empty()) return;
    Set& set = bench.any_set(random);
    constexpr int kConfidences[] = {73, 87, 95, 99, 100};
    const bool to_end = inputs::empties_of(p) <= 10 && random.one_in(2);
    const ThinkLimits limits{to_end ? random.between(inputs::empties_of(p), 120) : random.between(1, 6), 0.0,
                             kConfidences[random.between(0, 4)], 1, 0};
    const bool is_limited = random.one_in(4);
    const auto limit = static_cast<std::uint64_t>(random.between(1, 5000));
    const ThinkResult found = set.on_all(
        [&](OthelloCore& core) {
            StopFlag stop;
            if (is_limited) stop.set_node_limit(limit);
            ThinkResult result{};
            try {
                result = core.think(p, limits, stop);
            } catch (const Stopped&) {
                require(is_limited, "a thought was stopped: %s", text(p).c_str());
            }
            return Comparable{result};
        },
        "thought", p);
    if (found.depth == 0) return;  // stopped
    require_sound(set, bench.best(), p, found, limits);
    if (limits.confidence == 100 && !found.solved && !is_limited) {
        require(found.score_centi == set.exact(p, found.depth), "full width says %d of %s", found.score_centi,
                text(p).c_str());
    }
}

void check_solve(Random& random, Bench& bench) {
    const int empties = random.one_in(50) ? random.between(8, 14) : random.between(0, 7);
    const Position p = random.one_in(2) ? inputs::filled(random, empties)
                                        : inputs::played(random, bench.best(), 60 - empties);
    if (inputs::empties_of(p) > 14 || moves_of(bench.best(), p).empty()) return;
    Set& set = bench.any_set(random);
    const StopFlag never;
    const auto found = set.on_all(
        [&](OthelloCore& core) {
            const SolveResult result = core.solve(p, never);
            return std::pair(result.move, result.score_centi);
        },
        "solution", p);
    if (inputs::empties_of(p) > 7) return;
    require(found.second == set.truth(p), "solved for %d: %s", found.second, text(p).c_str());
    require(found.second == -set.truth(bench.best().othello_play(p, found.first)), "solved with move %d: %s",
            found.first, text(p).c_str());
}

// --- Running ---------------------------------------------------------------------------------------------------------

struct Kind {
    const char* name;
    void (*check)(Random&, Bench&);
    int share;  // of 1000 inputs
    std::uint64_t count = 0;
    double seconds = 0;
};

Kind kinds[] = {
    {"rules", check_rules, 553},   {"evaluation", check_evaluation, 175}, {"search", check_search, 100},
    {"ending", check_ending, 60},  {"perft", check_perft, 25},            {"stop", check_stop, 10},
    {"trappy", check_trappy, 15},  {"think", check_think, 15},            {"solve", check_solve, 15},
    {"scores", check_scores, 10},
    {"chess", [](Random& random, Bench&) { check_chess(random); }, 10},
    {"xiangqi", [](Random& random, Bench&) { check_xiangqi(random); }, 10},
    {"selective", [](Random& random, Bench&) { check_selective(random); }, 2},
};

// For whatever ends the program without a word of ours: which input it was.
char where[128];

void tell_where() {
    // Nothing to be done if standard error is closed.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, where, std::strlen(where));
}

void on_signal(int number) {
    tell_where();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) { return Random(Random(seed).next() ^ index).next(); }

void run(std::uint64_t seed, std::uint64_t first, std::uint64_t inputs, int perft) {
    using Clock = std::chrono::steady_clock;
    Bench bench(seed);
    check_published_perft(bench, perft);
    check_chess_perft(perft > 10 ? 20'000'000 : 200'000);
    check_xiangqi_perft(perft > 10 ? 20'000'000 : 200'000);
    Random near(seed);
    for (int i = 0; i < 3; ++i) check_keys(near, bench);
    auto since = Clock::now();
    for (std::uint64_t i = first; i < first + inputs; ++i) {
        Random random(mixed(seed, i));
        Kind* kind = kinds;
        for (int draw = random.between(0, 999); draw >= kind->share; ++kind) draw -= kind->share;
        std::snprintf(where, sizeof where, "\ncheck: failed at: --seed %llu --first %llu --inputs 1 (%s)\n",
                      static_cast<unsigned long long>(seed), static_cast<unsigned long long>(i), kind->name);
        kind->check(random, bench);
        const auto now = Clock::now();
        ++kind->count;
        kind->seconds += std::chrono::duration<double>(now - since).count();
        since = now;
    }
    for (const Kind& kind : kinds) {
        std::printf("%-11s %9llu inputs %8.2f s\n", kind.name, static_cast<unsigned long long>(kind.count),
                    kind.seconds);
    }
    std::printf("%llu inputs, seed %llu, units:", static_cast<unsigned long long>(inputs),
                static_cast<unsigned long long>(seed));
    for (const Unit* unit : bench.units) std::printf(" %s", unit->name);
    std::printf("\n");
}

}  // namespace
}  // namespace check

// The sanitizers' ends, too, go through `on_signal`.
extern "C" const char* __asan_default_options() { return "abort_on_error=1:allow_user_segv_handler=0"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }
extern "C" const char* __tsan_default_options() { return "abort_on_error=1:halt_on_error=1"; }

int main(int count, char** arguments) {
    std::uint64_t inputs = 100'000, seed = 1, first = 0, rounds = 100;
    int perft = 8, threads = 0;
    for (int i = 1; i < count; i += 2) {
        const std::string name = arguments[i];
        char* end = nullptr;
        const std::uint64_t value = i + 1 < count ? std::strtoull(arguments[i + 1], &end, 10) : 0;
        if (end == nullptr || *end != '\0') end = nullptr;
        if (end != nullptr && name == "--inputs") inputs = value;
        else if (end != nullptr && name == "--seed") seed = value;
        else if (end != nullptr && name == "--first") first = value;
        else if (end != nullptr && name == "--perft") perft = static_cast<int>(value);
        else if (end != nullptr && name == "--threads") threads = static_cast<int>(value);
        else if (end != nullptr && name == "--rounds") rounds = value;
        else {
            std::fprintf(stderr, "usage: check [--inputs N] [--seed S] [--first I] [--perft D] | --threads T [--rounds N]\n");
            return 2;
        }
    }
    for (const int number : {SIGABRT, SIGILL, SIGSEGV}) std::signal(number, check::on_signal);
    try {
        if (threads > 0) {
            check::run_threads(seed, threads, rounds);
        } else {
            check::run(seed, first, inputs, perft);
        }
    } catch (const check::Failure& failure) {
        std::fprintf(stderr, "check: %s\n", failure.what());
        check::tell_where();
        return 1;
    }
    return 0;
}
