// The strong search of Othello, over any game with `StrongTraits`: selective, with Multi-ProbCut.  Its scores are
// estimates; what must be exact (trap analysis) uses search.hpp.
//
// Theory of operation.  Iterative deepening with aspiration windows and principal variation search (PVS) over a
// transposition table. Null-window nodes are cut by Multi-ProbCut (Buro 1997): we rely on a much shallower search if it
// is so far beyond the window that the deep search would be, too, in 73 of 100 cases, for instance. The difference
// between shallow and deep scores is measured for the current evaluation; a *level* sets the number of standard
// deviations required. A search that reaches the end of the game is repeated at higher levels, and finally the game's
// own endgame solver takes over.
//
// Scores inside are 16-bit: those of finished games share the range with evaluations, in one of two ways.
// * Selective: the score of a finished game is its margin, which is what an evaluation estimates.
// * Full width (level kFullWidth): beyond every evaluation, as in search.hpp; every score equals that search's.
// The two must not share table entries, so full width has its own keys.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>

#include "core.hpp"
#include "game.hpp"
#include "search/buffer.hpp"
#include "search/helpers.hpp"
#include "stop.hpp"
#include "search/table.hpp"
#include "search/team.hpp"

namespace desdemona {
namespace {

// The strong search's requirements of a game beyond its rules.
//
// * `plies_left(node)`: upper bound for the plies to the end of the game, free moves not counted.
// * `is_free(move)`: the move (a forced pass) does not bring the end nearer, and costs no ply.
// * `rating(move, after)`: larger for moves to search earlier, evaluation aside.
// * `error(depth, shallow, plies_left)`: standard deviation, in score units, of the difference between searches of
//   these depths; 0 where ProbCut must not be used.
// * `shallow_depth(depth)`: depth of the ProbCut search in place of a search of that depth.
// * `nodes_to_solve(plies)`: average node count of `Ending` for an ending of this length.
// * `Ending`: solves endings; `score` is the final margin in score units, fail-soft.  One constructed from it and a
//   team shares its work once `help` is called.
template <class T, class G>
concept StrongTraits = requires(const typename G::Node& node, int n, typename T::Ending& ending,
                                const StopFlag& stop) {
    { T::plies_left(node) } -> std::same_as<int>;
    { T::is_free(n) } -> std::same_as<bool>;
    { T::rating(n, node) } -> std::same_as<int>;
    { T::shallow_depth(n) } -> std::same_as<int>;
    { T::error(n, n, n) } -> std::same_as<int>;
    { T::kLeafPlies } -> std::convertible_to<int>;   // endings of this length are solved directly
    { T::kScoreStep } -> std::convertible_to<int>;   // smallest difference between two final margins
    { T::kLastScore } -> std::convertible_to<int>;   // largest final margin
    { T::nodes_to_solve(n) } -> std::same_as<double>;
    { ending.score(node, n, n, stop) } -> std::same_as<int>;
    { ending.best_move(node, stop) } -> std::same_as<int>;
    { ending.nodes() } -> std::same_as<std::uint64_t>;
    ending.set_team(static_cast<Team*>(nullptr));
    ending.help(stop);
};

namespace strong {

// Confidence levels: percentage, and the corresponding number of standard deviations (two-sided, normal).
struct Level {
    int percent;
    int centi_deviations;
};
constexpr Level kLevels[] = {{73, 110}, {87, 151}, {95, 196}, {99, 258}, {100, 0}};
constexpr int kFullWidth = 4;

constexpr int kNone = -32'000;    // below every score
constexpr int kDecided = 20'000;  // full width: score of a finished game, plus its margin
constexpr int kMaxLine = ThinkResult::kMaxLine;

// --- Transposition table -----------------------------------------------------------------------------------

// The content of a table entry: bounds of a position's score at one depth and level.
struct TTData {
    int lower;
    int upper;
    int move;
    int depth;
    int level;

    static int depth_of(std::uint64_t data) { return static_cast<int>(data & 0x7F); }
    static TTData unpacked(std::uint64_t data) {
        return {static_cast<std::int16_t>(data >> 48), static_cast<std::int16_t>(data >> 32),
                static_cast<int>(data >> 16 & 0xFFFF), depth_of(data), static_cast<int>(data >> 13 & 7)};
    }
};

// Unlike Table (table.hpp) it has at most one entry per position, the latest, with both bounds: here a deeper result
// may replace a shallower one.
class Table : public PositionClusters<TTData> {
   public:
    using PositionClusters::PositionClusters;

    void store(std::uint64_t key, TTData tt_data) const noexcept {
        Entry* victim = nullptr;
        int least = 1 << 20;
        for (Entry& entry : cluster(key).entries) {
            if (const std::uint64_t own = entry.read(key); own != 0) {  // read once: others may write meanwhile
                victim = &entry;
                const TTData old = TTData::unpacked(own);
                if (old.depth == tt_data.depth && old.level == tt_data.level) {
                    // Both bounds hold, unless a selective search contradicts itself: then the latest result.
                    if (tt_data.lower == kNone && old.lower <= tt_data.upper) tt_data.lower = old.lower;
                    if (tt_data.upper == -kNone && old.upper >= tt_data.lower) tt_data.upper = old.upper;
                }
                break;
            }
            const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
            const int priority = data == 0 ? -1 : TTData::depth_of(data) + (age_of(data) == age_ ? 256 : 0);
            if (priority < least) {
                least = priority;
                victim = &entry;
            }
        }
        const std::uint64_t data = static_cast<std::uint64_t>(static_cast<std::uint16_t>(tt_data.lower)) << 48 |
                                   static_cast<std::uint64_t>(static_cast<std::uint16_t>(tt_data.upper)) << 32 |
                                   static_cast<std::uint64_t>(tt_data.move) << 16 |
                                   static_cast<std::uint64_t>(tt_data.level) << 13 |
                                   static_cast<std::uint64_t>(age_) << 7 | static_cast<std::uint64_t>(tt_data.depth);
        victim->write(key, data);
    }

   private:
    static std::uint32_t age_of(std::uint64_t data) { return static_cast<std::uint32_t>(data >> 7 & 0x3F); }
};

}  // namespace strong

// One thread's search at a given level: all its state beside the shared table.
template <Game G, StrongTraits<G> T>
class StrongWorker {
   public:
    using Node = typename G::Node;

    StrongWorker(const strong::Table& table, const G& game) : table_(table), game_(game), leaves_(1, game) {}

    // Must be called first: lists the moves.  Null: no team.
    void start(const Node& root, const StopFlag& stop, Team* team) {
        root_ = root;
        stop_ = &stop;
        member_.set_team(team);
        count_ = 0;
        line_.length = 0;
        for (const int move : game_.moves(root)) moves_[count_++] = move;
    }

    // In place of iterations: works for the team until its search ends.
    void help() {
        member_.help([this](const SplitPoint& point, int i) { return search_move(point, i); });
    }

    // Runs one iteration; returns its score.  Even if it is stopped (`Unwind`), the first root move is the best so far.
    int iterate(int depth, int level, int guess) {
        set_level(level);
        int width = depth < kMinAspirationDepth ? kAllScores : kAspirationWidth;
        int low = guess - width;
        int high = guess + width;
        for (;;) {
            if (low < strong::kNone) low = strong::kNone;
            if (high > -strong::kNone) high = -strong::kNone;
            score_ = search_root(depth, low, high);
            if (score_ > low && score_ < high) return score_;
            width = width > 2'000 ? kAllScores : 4 * width;
            if (score_ <= low) {
                low = score_ - width;
            } else {
                high = score_ + width;
            }
        }
    }

    // The score of one iteration in a given window: a bound outside it (fail-soft).
    int bounded(int depth, int level, int alpha, int beta) {
        set_level(level);
        return search_root(depth, alpha, beta);
    }

    // Of the last iteration, finished or not.
    const Line& line() const { return line_; }
    int score() const { return score_; }

    int move_count() const { return count_; }
    int move(int i) const { return moves_[i]; }
    void to_front(int i) {
        const int chosen = moves_[i];
        for (; i > 0; --i) moves_[i] = moves_[i - 1];
        moves_[0] = chosen;
    }

    // Extends a line with the table's moves.
    void continue_line(Line& line) const {
        Node node = root_;
        for (int i = 0; i < line.length; ++i) node = game_.play(node, line.move[i]);
        strong::TTData tt_data;
        while (line.length < strong::kMaxLine) {
            const auto moves = game_.moves(node);
            if (moves.empty()) return;
            int next = *moves.begin();
            if (!T::is_free(next)) {
                if (!table_.find(key_of(node), tt_data)) return;
                next = tt_data.move;
            }
            bool is_legal = false;
            for (const int move : moves) is_legal = is_legal || move == next;
            if (!is_legal) return;
            line.move[line.length++] = static_cast<std::uint16_t>(next);
            node = game_.play(node, next);
        }
    }
    std::uint64_t nodes() const { return nodes_ + leaves_.nodes(); }

   private:
    static constexpr int kAllScores = -2 * strong::kNone;
    static constexpr int kMinAspirationDepth = 4;     // from here on an aspiration window
    static constexpr int kAspirationWidth = 150;    // of that window, around the score of the iteration before
    static constexpr int kMinTableDepth = 2;      // from here on the table and ProbCut; below,
    static constexpr int kLeafMarginFactor = 2;     // ProbCut by the evaluation, with this many times the margin
    static constexpr int kMinEtcDepth = 5;   // from here on enhanced transposition cut-offs (ETC)
    static constexpr int kMinEvaluationOrderDepth = 3;      // from here on evaluations help to order the moves,
    static constexpr int kMinSearchOrderDepth = 9;       // from here on also shallow searches
    static constexpr int kMinSplitDepth = 8;      // from here on nodes are shared with idle threads
    static constexpr std::uint64_t kSalt = 0x5851F42D4C957F2Dull;

    void count_node() {
        if ((++nodes_ & (StopFlag::kNodesPerCheck - 1)) != 0) return;
        if (stop_->spend(StopFlag::kNodesPerCheck)) throw Unwind{};
    }

    bool is_full_width() const { return level_ == strong::kFullWidth; }

    // A game's score on the search's scale.
    int clamp(int score) const {
        if (score >= kWin) return score - kWin + (is_full_width() ? strong::kDecided : 0);
        if (score <= -kWin) return score + kWin - (is_full_width() ? strong::kDecided : 0);
        return score;
    }

    int result(const Node& node) const { return clamp(game_.result(node)); }
    int leaf(const Node& node) const { return clamp(game_.leaf(node)); }
    std::uint64_t key_of(const Node& node) const { return game_.hash(node) ^ salt_; }
    int after(int depth, int move) const { return T::is_free(move) && !is_full_width() ? depth : depth - 1; }

    int search_root(int depth, int alpha, int beta) {
        Scored list[G::kMaxMoves];
        for (int i = 0; i < count_; ++i) list[i] = {moves_[i], 0};
        return search_moves(root_, std::span(list, count_), depth, alpha, beta, [&](int move, int score, const Line& below) {
            if (score <= alpha) return;
            line_.put(move, below);
            int at = 0;
            while (moves_[at] != move) ++at;
            to_front(at);
            score_ = score;
        });
    }

    // Principal variation search: the first move gets the full window; the others must first fail high in a null
    // window. Passes on every better move, with its score and variation.
    template <class Improve>
    int search_moves(const Node& node, std::span<Scored> list, int depth, int alpha, int beta,
                     const Improve& improve) {
        int best = strong::kNone - 1;
        for (int i = 0; i < std::ssize(list) && best < beta; ++i) {
            const int lower = alpha > best ? alpha : best;
            int score = strong::kNone;
            if (i > 0 && depth >= kMinSplitDepth && std::ssize(list) - i > 1 && member_.has_help()) {
                // The null windows of all these moves at once: one that fails high comes next.
                const int found = share(node, list, i, depth, lower, score);
                const Scored move = list[found];
                for (int k = found; k > i; --k) list[k] = list[k - 1];
                list[i] = move;
                if (score <= lower) list = list.first(i + 1);  // the others are no better
            } else if (i > 0) {
                score = search_move(node, list[i].move, depth, lower);
            }
            const int move = list[i].move;
            Line below;
            if (i == 0 || (score > lower && score < beta)) {
                score = -open(game_.play(node, move), after(depth, move), -beta, -lower, below);
            }
            if (score > best) {
                best = score;
                improve(move, score, below);
            }
        }
        return best;
    }

    // --- Several threads ---------------------------------------------------------------------------------------

    struct Split : SplitPoint {
        using SplitPoint::SplitPoint;
        const Node* node = nullptr;
        std::span<const Scored> list;
        int depth = 0;
        int level = 0;
    };

    // Searches the moves from `first` on in null windows above alpha, with whatever threads are idle; returns the best
    // one's index.
    int share(const Node& node, std::span<const Scored> list, int first, int depth, int alpha, int& score) {
        Split split(first, static_cast<int>(list.size()), alpha);
        split.node = &node;
        split.list = list;
        split.depth = depth;
        split.level = level_;
        member_.share(split, [this](const SplitPoint& point, int i) { return search_move(point, i); });
        int index = first;
        split.best(score, index);
        return index;
    }

    int search_move(const SplitPoint& point, int i) {
        const auto& split = static_cast<const Split&>(point);
        set_level(split.level);
        return search_move(*split.node, split.list[i].move, split.depth, split.alpha);
    }

    // In a null window.
    int search_move(const Node& node, int move, int depth, int alpha) {
        return -null(game_.play(node, move), after(depth, move), -alpha - 1);
    }

    void set_level(int level) {
        level_ = level;
        salt_ = level == strong::kFullWidth ? kSalt : 0;
    }

    // --- Nodes -------------------------------------------------------------------------------------------------

    // Null window below the table, at depth 0 or 1.
    int shallow(const Node& node, int depth, int alpha) {
        count_node();
        if (depth == 0) return leaf(node);
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        if (int bound; !is_full_width() && is_cut_by_evaluation(node, alpha, bound)) return bound;
        int best = strong::kNone;
        for (const int move : moves) {
            if (T::is_free(move) && !is_full_width()) return -shallow(game_.play(node, move), 1, -alpha - 1);
            count_node();
            const int score = -leaf(game_.play(node, move));
            if (score > best) {
                best = score;
                if (best > alpha) break;
            }
        }
        return best;
    }

    // Whether a table entry may replace a search.
    bool serves(const strong::TTData& tt_data, int depth) const {
        if (is_full_width()) return tt_data.depth == depth;
        return tt_data.depth >= depth && tt_data.level >= level_;
    }

    int null(const Node& node, int depth, int alpha) {
        if (depth < kMinTableDepth) {
            // Step 0. Near the leaves.
            if (is_full_width() || T::plies_left(node) > T::kLeafPlies || T::plies_left(node) > depth) {
                return shallow(node, depth, alpha);
            }
        }

        // Step 1. Near the end of the game: exact.
        if (!is_full_width()) {
            const int rest = T::plies_left(node);
            if (depth >= rest) {
                depth = rest;
                if (rest <= T::kLeafPlies) return leaves_.score(node, alpha, alpha + 1, *stop_);
            }
        }
        count_node();

        if (member_.is_cancelled()) throw Cancelled{};

        // Step 2. Transposition table.
        const std::uint64_t key = key_of(node);
        table_.prefetch(key);
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        strong::TTData tt_data;
        int table_move = -1;
        if (table_.find(key, tt_data)) {
            if (serves(tt_data, depth)) {
                if (tt_data.lower > alpha) return tt_data.lower;
                if (tt_data.upper <= alpha) return tt_data.upper;
            }
            table_move = tt_data.move;
        }
        const int only = *moves.begin();
        if (T::is_free(only)) return -null(game_.play(node, only), after(depth, only), -alpha - 1);

        // Step 3. ProbCut.
        if (int bound; !is_full_width() && is_cut(node, depth, alpha, bound)) return bound;

        // Step 4. Move ordering, and enhanced transposition cut-offs: a child's table entry may settle the node.
        Scored list[G::kMaxMoves];
        int count = 0;
        int best = strong::kNone;
        int best_move = table_move >= 0 ? table_move : only;
        for (const int move : moves) {
            const Node next = game_.play(node, move);
            if (depth >= kMinEtcDepth) {
                strong::TTData child;
                if (table_.find(key_of(next), child) && serves(child, depth - 1)) {
                    if (-child.upper > alpha) {
                        table_.store(key, {-child.upper, -strong::kNone, move, depth, level_});
                        return -child.upper;
                    }
                    if (-child.lower <= alpha) {  // cannot exceed alpha: skip it
                        if (-child.lower > best) {
                            best = -child.lower;
                            best_move = move;
                        }
                        continue;
                    }
                }
            }
            int order;
            if (move == table_move) {
                order = 1 << 28;
            } else {
                order = T::rating(move, next);
                if (depth >= kMinSearchOrderDepth) {
                    order -= look(next, depth >= kMinSearchOrderDepth + 4 ? 2 : 1) / 2;
                } else if (depth >= kMinEvaluationOrderDepth) {
                    order -= leaf(next) / 2;
                }
            }
            insert(list, count, move, order);
        }

        // Step 5. Search.
        for (int i = 0; i < count && best <= alpha; ++i) {
            int score = strong::kNone;
            int next = i;
            if (i > 0 && depth >= kMinSplitDepth && count - i > 1 && member_.has_help()) {
                next = share(node, std::span(list, count), i, depth, alpha, score);
                i = count;  // the last ones
            } else {
                score = search_move(node, list[i].move, depth, alpha);
            }
            if (score > best) {
                best = score;
                best_move = list[next].move;
            }
        }

        // Step 6. Store in the table.
        if (best > alpha) {
            table_.store(key, {best, -strong::kNone, best_move, depth, level_});
        } else {
            table_.store(key, {strong::kNone, best, best_move, depth, level_});
        }
        return best;
    }

    // A shallow search for move ordering.
    int look(const Node& node, int depth) {
        int best = strong::kNone;
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        for (const int move : moves) {
            count_node();
            const Node next = game_.play(node, move);
            const int score = depth > 1 ? -shallow(next, depth - 1, -best - 1) : -leaf(next);
            if (score > best) best = score;
        }
        return best;
    }

    // How far a search of this depth may lie from a shallower one, at the search's level.
    int margin(int depth, int shallow, int plies_left) const {
        return T::error(depth, shallow, plies_left) * strong::kLevels[level_].centi_deviations / 100;
    }

    // ProbCut of the last ply: most positions there lie so far from alpha that no move brings them back.
    bool is_cut_by_evaluation(const Node& node, int alpha, int& bound) const {
        const int most = kLeafMarginFactor * margin(1, 0, T::plies_left(node));
        if (alpha - most <= -T::kLastScore || alpha + 1 + most >= T::kLastScore) return false;
        const int value = game_.evaluate(node);
        bound = value > alpha ? alpha + 1 : alpha;
        return value >= alpha + 1 + most || value <= alpha - most;
    }

    bool is_cut(const Node& node, int depth, int alpha, int& bound) {
        const int rest = T::plies_left(node);
        const int shallow_depth = T::shallow_depth(depth);
        const int deep_error = margin(depth, shallow_depth, rest);
        if (deep_error == 0) return false;
        const int static_error = margin(shallow_depth, 0, rest);
        const int value = game_.evaluate(node);
        const int high = alpha + 1 + deep_error;
        if (high < T::kLastScore && value >= high - static_error) {
            if (null(node, shallow_depth, high - 1) >= high) {
                bound = alpha + 1;
                return true;
            }
        }
        const int low = alpha - deep_error;
        if (low > -T::kLastScore && value <= low + static_error) {
            if (null(node, shallow_depth, low) <= low) {
                bound = alpha;
                return true;
            }
        }
        return false;
    }

    // Open window.
    int open(const Node& node, int depth, int alpha, int beta, Line& line) {
        line.length = 0;
        if (!is_full_width()) {
            const int rest = T::plies_left(node);
            if (depth > rest) depth = rest;
        }
        count_node();
        const auto moves = game_.moves(node);
        if (moves.empty()) return result(node);
        if (depth == 0) return leaf(node);
        const std::uint64_t key = key_of(node);
        strong::TTData tt_data;
        int table_move = -1;
        if (table_.find(key, tt_data)) table_move = tt_data.move;

        Scored list[G::kMaxMoves];
        int count = 0;
        for (const int move : moves) {
            const Node next = game_.play(node, move);
            const int order = move == table_move ? 1 << 28
                              : T::is_free(move) ? 0
                                                 : T::rating(move, next) - look(next, depth >= 5 ? 2 : 1) / 2;
            insert(list, count, move, order);
        }
        int best_move = *moves.begin();
        const auto improve = [&](int move, int, const Line& below) {
            best_move = move;
            line.put(move, below);
        };
        const int best = search_moves(node, std::span(list, count), depth, alpha, beta, improve);
        table_.store(key, {best > alpha ? best : strong::kNone, best < beta ? best : -strong::kNone, best_move, depth,
                           level_});
        return best;
    }

    const strong::Table& table_;
    const G& game_;
    typename T::Ending leaves_;
    TeamMember member_;
    const StopFlag* stop_ = nullptr;
    std::uint64_t nodes_ = 0;
    std::uint64_t salt_ = 0;
    int level_ = 0;
    Node root_{};
    int moves_[G::kMaxMoves];
    int count_ = 0;
    int score_ = 0;
    Line line_;
};

// The complete search: order of the steps, stopping, and threads.
template <Game G, StrongTraits<G> T>
class StrongSearch {
   public:
    using Node = typename G::Node;
    using Position = typename G::Position;

    static int plies_left(const Node& node) { return T::plies_left(node); }  // see `StrongTraits`

    // Throws std::bad_alloc.
    StrongSearch(std::size_t table_mb, const G& game)
        : game_(game), table_(table_mb / 2), ending_(table_mb / 2, game), worker_(table_, game) {}

    StrongSearch(const StrongSearch&) = delete;
    StrongSearch& operator=(const StrongSearch&) = delete;

    bool is_allocated() const { return table_.is_allocated(); }

    // The best move within the limits.  False: stopped before it had any result.
    bool think(const Position& p, const ThinkLimits& limits, const StopFlag& stop, ThinkResult& result) {
        began_ = stop.now_s();
        began_nodes_ = own_nodes();
        const std::uint64_t nodes_before = nodes();
        StopFlag deadline(&stop);
        if (limits.seconds > 0) deadline.set_deadline(limits.seconds);
        if (limits.nodes > 0) deadline.set_node_limit(limits.nodes);
        if (stop.is_set()) return false;
        stop_ = &deadline;
        limits_ = &limits;
        root_ = game_.root(p);
        result = {};
        result_ = &result;
        is_solving_ = false;
        table_.new_search();
        const bool is_alone = limits.threads == 1;
        worker_.start(root_, deadline, is_alone ? nullptr : &team_);
        first_level_ = level_of(limits.confidence);
        if (!is_alone) {
            team_.begin();
            ending_team_.begin();
        }
        ending_.set_team(is_alone ? nullptr : &ending_team_);
        helpers_.run(*this, limits.threads - 1, table_, game_);
        result.nodes = nodes() - nodes_before;
        return result.depth > 0;
    }

    // See `Core::probe`. May throw Unwind.
    int probe(const Position& p, const ProbeLimits& limits, const StopFlag& stop) {
        root_ = game_.root(p);
        worker_.start(root_, stop, nullptr);
        const int level = level_of(limits.confidence);
        const int most = level == strong::kFullWidth ? limits.depth : std::min(limits.depth, plies_left());
        const int low = std::max(limits.alpha, strong::kNone);
        return centi_of(worker_.bounded(most, level, low, std::min(limits.beta, -strong::kNone)), level);
    }

    std::uint64_t nodes() const {
        return own_nodes() + helpers_.nodes() + solving_nodes_.load(std::memory_order_relaxed);
    }

   private:
    using Worker = StrongWorker<G, T>;
    friend Helpers<Worker>;  // lead, help

    static constexpr int kMaxFinalJumpPlies = 6;          // this close to the end, the next iteration goes all the way
    static constexpr double kMinUsefulCostShare = 0.4; // see deepen
    static constexpr double kEndSearchCostRatio = 0.15;   // cost of a selective search to the end, relative to solving the ending
    static constexpr double kLevelCostRatio = 2.0; // cost of the next level relative to this one
    static constexpr double kSolverSpeedRatio = 3.2;  // nodes per second of the endgame solver, relative to the search

    // --- Threads ---------------------------------------------------------------------------------------------

    void lead() {
        try {
            deepen();
        } catch (const Unwind&) {
            // The unfinished step's result counts if it is another move.
            if (result_->depth > 0 && worker_.move(0) != result_->move) {
                if (is_solving_) {
                    result_->move = worker_.move(0);
                    put_line_of(result_->move);
                } else {
                    report_line(worker_.score());
                }
            }
        }
        team_.end();
        ending_team_.end();
    }

    void help(int index) {
        Worker& worker = helpers_[index - 1];
        worker.start(root_, *stop_, &team_);
        worker.help();
        if (!may_solve()) return;
        try {
            typename T::Ending ending(ending_, ending_team_);
            ending.help(*stop_);
            solving_nodes_.fetch_add(ending.nodes(), std::memory_order_relaxed);
        } catch (const std::bad_alloc&) {  // the other threads go on
        }
    }

    // --- Steps -----------------------------------------------------------------------------------------------

    int plies_left() const { return plies_left(root_); }
    bool is_full_width() const { return first_level_ == strong::kFullWidth; }
    bool may_solve() const { return limits_->depth >= plies_left(); }

    // Full width counts passes as plies (as search.hpp does), so it leaves the end to the solver.
    int last_depth() const {
        const int end = is_full_width() ? plies_left() - 1 : plies_left();
        const int last = limits_->depth < end ? limits_->depth : end;
        return last < 1 ? 1 : last;
    }

    // Costs are in seconds or, with a limit of nodes alone, in nodes of the leading thread.
    bool is_timed() const { return limits_->seconds > 0; }
    bool is_limited() const { return is_timed() || limits_->nodes > 0; }
    std::uint64_t own_nodes() const { return worker_.nodes() + ending_.nodes(); }
    double budget() const {
        return is_timed() ? limits_->seconds : static_cast<double>(limits_->nodes) / limits_->threads;
    }
    double spent() const {
        return is_timed() ? stop_->now_s() - began_ : static_cast<double>(own_nodes() - began_nodes_);
    }
    bool fits(double cost) const { return !is_limited() || spent() + cost <= budget(); }

    double cost_to_solve() const {
        const double nodes = T::nodes_to_solve(plies_left());
        if (!is_timed()) return nodes;
        const double seconds = spent();
        double speed = 1e7;
        if (seconds > 0.002) speed = static_cast<double>(worker_.nodes() - first_nodes_) / seconds;
        return nodes / (kSolverSpeedRatio * speed);
    }

    void deepen() {
        first_nodes_ = worker_.nodes();
        const int end = plies_left();
        const int last = last_depth();

        // Step 1. Iterative deepening at the first level.
        double longest = 0.0;  // of the last two iterations
        double before = 0.0;
        int scores[2] = {0, 0};
        int depth = 0;
        while (depth < last) {
            ++depth;
            const bool is_ready = depth > (end / 2 < 8 ? end / 2 : 8);
            if (may_solve() && is_ready) {
                if (!is_limited() ? end <= kMaxSolveAtOnceEmpties : fits(kSolveAtOnceSafetyFactor * cost_to_solve())) break;
                if (!is_full_width() && depth > end - kMaxFinalJumpPlies && fits(kEndSearchCostRatio * cost_to_solve())) depth = last;
            }
            // Half an iteration may find a better move; less than this share of the longer of the last two would only
            // search the best one again.
            if (depth > 1 && !fits(kMinUsefulCostShare * longest)) return;
            if (is_limited() && worker_.move_count() == 1 && depth > kForcedDepth) return;
            const double start = is_limited() ? spent() : 0.0;
            // Scores of odd and even depths differ, so the guess is the score of two plies before.
            const int score = step(depth, first_level_, scores[depth & 1]);
            scores[depth & 1] = score;
            if (depth == 1) scores[0] = score;
            if (is_limited()) {
                const double cost = spent() - start;
                longest = cost > before ? cost : before;
                before = cost;
            }
        }
        if (!may_solve()) return;
        int score = scores[depth & 1];

        // Step 2. To the end at higher levels, while there is not enough left to solve.
        if (!is_full_width() && depth == end) {
            double cost = before;
            for (int level = first_level_ + 1; level < strong::kFullWidth; ++level) {
                if (is_limited() ? fits(cost_to_solve()) : end <= kMaxSolveAfterFirstEmpties) break;
                cost *= kLevelCostRatio;
                if (!fits(cost)) break;
                const double start = is_limited() ? spent() : 0.0;
                score = step(end, level, score);
                if (is_limited()) cost = spent() - start;
            }
            if (!fits(0.7 * cost_to_solve())) return;
        } else if (is_full_width() && !fits(cost_to_solve())) {
            return;
        }

        // Step 3. The exact result.
        solve(score);
    }

    int step(int depth, int level, int guess) {
        const int score = worker_.iterate(depth, level, guess);
        result_->depth = depth;
        result_->confidence = strong::kLevels[level].percent;
        report_line(score);
        return score;
    }

    void report_line(int score) {
        result_->move = worker_.move(0);
        result_->score_centi = centi_of(score, first_level_);
        Line line = worker_.line();
        worker_.continue_line(line);
        put(line);
    }

    static int level_of(int confidence) {
        int level = 0;
        while (strong::kLevels[level].percent < confidence) ++level;
        return level;
    }

    // The search's score in centi-units.
    static int centi_of(int score, int level) {
        const bool is_decided =
            level == strong::kFullWidth && (score >= strong::kDecided || score <= -strong::kDecided);
        const int beyond = is_decided ? kWin - strong::kDecided : 0;
        return score > 0 ? score + beyond : score - beyond;
    }

    void put_line_of(int move) {
        Line line;
        line.put(move, Line{});
        put(line);
    }

    void put(const Line& line) {
        result_->line_length = line.length;
        for (int i = 0; i < line.length; ++i) result_->line[i] = line.move[i];
    }

    // --- The end of the game -----------------------------------------------------------------------------------

    void solve(int guess) {
        team_.end();  // its threads go on to help here
        is_solving_ = true;
        if (guess > T::kLastScore) guess = T::kLastScore;
        if (guess < -T::kLastScore) guess = -T::kLastScore;
        constexpr int step = T::kScoreStep;
        int width = step;
        int low = (guess + 1'000 * step + step / 2) / step * step - 1'000 * step - step;
        int high = low + 2 * step;
        int score;
        for (;;) {
            score = solve_root(low, high);
            if (score > low && score < high) break;
            width *= 2;
            if (score <= low) {
                high = score + 1;
                low = score - width;
            } else {
                low = score - 1;
                high = score + width;
            }
        }
        result_->move = worker_.move(0);
        result_->score_centi = score > 0 ? kWin + score : score < 0 ? score - kWin : 0;
        result_->depth = plies_left();
        result_->confidence = 100;
        result_->solved = true;
        Line line;
        line.put(result_->move, Line{});
        put(line);
        try {
            Node node = game_.play(root_, result_->move);
            while (line.length < strong::kMaxLine && !game_.moves(node).empty()) {
                const int move = ending_.best_move(node, *stop_);
                line.move[line.length++] = static_cast<std::uint16_t>(move);
                put(line);
                node = game_.play(node, move);
            }
        } catch (const Unwind&) {  // keep the short line
        }
    }

    int solve_root(int alpha, int beta) {
        int best = strong::kNone;
        for (int i = 0; i < worker_.move_count(); ++i) {
            const Node next = game_.play(root_, worker_.move(i));
            const int lower = alpha > best ? alpha : best;
            int score;
            if (i == 0) {
                score = -ending_.score(next, -beta, -lower, *stop_);
            } else {
                score = -ending_.score(next, -lower - 1, -lower, *stop_);
                if (score > lower && score < beta) score = -ending_.score(next, -beta, -lower, *stop_);
            }
            if (score > best) {
                best = score;
                if (score > alpha) worker_.to_front(i);
                if (best >= beta || best >= T::kLastScore) break;
            }
        }
        return best;
    }

    static constexpr int kMaxSolveAtOnceEmpties = 16;       // with depth alone: solve endings of this length at once, or ...
    static constexpr int kMaxSolveAfterFirstEmpties = 26;   // ... of this length after one search to the end
    static constexpr double kSolveAtOnceSafetyFactor = 8.0;  // with a limit: solve if it would suffice this many times over
    static constexpr int kForcedDepth = 6;        // enough for a forced move

    const G& game_;
    strong::Table table_;
    typename T::Ending ending_;
    Worker worker_;
    Helpers<Worker> helpers_;
    Team team_;         // iterates
    Team ending_team_;  // then solves the ending
    std::atomic<std::uint64_t> solving_nodes_{0};  // of its other threads

    // State of the current call.
    Node root_{};
    const ThinkLimits* limits_ = nullptr;
    const StopFlag* stop_ = nullptr;
    ThinkResult* result_ = nullptr;
    int first_level_ = 0;
    bool is_solving_ = false;
    double began_ = 0.0;
    std::uint64_t began_nodes_ = 0;
    std::uint64_t first_nodes_ = 0;
};

}  // namespace
}  // namespace desdemona
