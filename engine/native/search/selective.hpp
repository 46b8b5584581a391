// The strong search of chess and xiangqi (games with captures and checks): selective, with quiescence search. Its
// scores are estimates, not bounds; trap analysis, which needs exact scores, uses search.hpp.
//
// Theory of operation.  Iterative deepening with aspiration windows and principal variation search (PVS) over a
// transposition table. Nodes are cut off by reverse futility pruning, null-move pruning and ProbCut. Move ordering uses
// the table, static exchange evaluation (SEE), killer moves, countermoves and history. Late moves get late-move
// reductions (LMR), late-move pruning, futility pruning and SEE pruning; a singular table move is extended. A
// quiescence search resolves the leaves: captures, and all moves out of check.
//
// Two invariants hold in spite of all pruning.  A mate score is always a forced mate: nothing is pruned while
// everything searched so far loses by force. Every node checks for a draw by repetition or by rule before it probes the
// table, which has no information about the path to a position.
//
// Scores inside are 16-bit and counted from the root: mated n plies on is -(kMate - n).  In the table they are counted
// from the node.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <new>

#include "core.hpp"
#include "game.hpp"
#include "search/buffer.hpp"
#include "search/helpers.hpp"
#include "search/race.hpp"
#include "stop.hpp"
#include "search/table.hpp"

namespace desdemona {
namespace {

// The search's requirements of a game beyond Game (game.hpp).  There, `evaluate` stays within +-20,000, no move has
// the number 0 or needs more than 15 bits, and `moves` is empty wherever the game is over.
//
// * `key(node)`: the position alone, independent of the path to it and of the counters.
// * `ply(node)`: plies since the game began, as `result` counts them.
// * `is_check(node)`: whether the side to move is in check.  Called for every node: should be precomputed.
// * `forcing(node)`: the captures and promotions among the legal moves that the quiescence search considers; not
//   called in check.  `is_forcing(node, move)`: the move is one of them.
// * `gain(node, move)`: what it wins directly, in score units; 0 for most moves.  `attacker(node, move)`: the rank
//   of the moving piece by value, 0 to 15.  `see_at_least(node, move, score)`: the static exchange evaluation on its
//   target square, for any move.
// * `may_pass(node)`: not in check, and zugzwang is unlikely.
//   `pass(node)`: the other side to move.
// * `history_index(node, move)`: below `kHistory`; moves of the same kind of piece to the same square share it.
// * `is_reversible(node, move)`: an earlier position may recur after it.
// * `is_rule_draw(node)`: drawn by counter or material, and not mate.
// * `past_count(node)`, `past_key(node, i)`: keys of the game's positions since its last irreversible move, the root
//   being the last.  One that occurs there twice ends the game when it recurs, and then `result` says how.
// * `kPerpetualCheckLoses`: a side that alone checks with every move of a repetition loses; else it is a draw.
template <class G>
concept Tactical = Game<G> && requires(const G& game, const typename G::Node& node, int n) {
    { G::kHistory } -> std::convertible_to<int>;
    { G::kPerpetualCheckLoses } -> std::convertible_to<bool>;
    { game.key(node) } -> std::same_as<std::uint64_t>;
    { game.ply(node) } -> std::same_as<int>;
    { game.is_check(node) } -> std::same_as<bool>;
    { game.forcing(node).begin() };
    { game.is_forcing(node, n) } -> std::same_as<bool>;
    { game.gain(node, n) } -> std::same_as<int>;
    { game.attacker(node, n) } -> std::same_as<int>;
    { game.see_at_least(node, n, n) } -> std::same_as<bool>;
    { game.may_pass(node) } -> std::same_as<bool>;
    { game.pass(node) } -> std::same_as<typename G::Node>;
    { game.history_index(node, n) } -> std::same_as<int>;
    { game.is_reversible(node, n) } -> std::same_as<bool>;
    { game.is_rule_draw(node) } -> std::same_as<bool>;
    { game.past_count(node) } -> std::same_as<int>;
    { game.past_key(node, n) } -> std::same_as<std::uint64_t>;
};

namespace selective {

constexpr int kMaxPly = 120;                    // limit for any line
constexpr int kNone = -32'700;                  // below every score
constexpr int kMate = 32'000;                   // minus the plies to mate
constexpr int kMinMateScore = kMate - 2 * kMaxPly;     // from here on a mate
constexpr int kPerpetualCheckWin = 31'000;              // won by the other side's perpetual check; minus the plies
constexpr int kDecided = kPerpetualCheckWin - kMaxPly;  // from here on no evaluation
constexpr int kMostEvaluation = 20'000;         // limit for the game's evaluations
constexpr int kMaxLine = ThinkResult::kMaxLine;

constexpr bool is_mate(int score) { return score >= kMinMateScore || score <= -kMinMateScore; }
constexpr bool is_decided(int score) { return score >= kDecided || score <= -kDecided; }

// --- Transposition table -----------------------------------------------------------------------------------

// The content of a table entry.  A depth of 0 is that of the quiescence search.
struct TTData {
    int score;       // counted from the node
    int evaluation;  // static; kNone: unknown (in check)
    int move;        // 0: none
    int depth;
    Bound bound;
    bool is_open;  // once searched with an open window: worth keeping

    static bool is_open_of(std::uint64_t data) { return (data >> 15 & 1) != 0; }
    static TTData unpacked(std::uint64_t data) {
        return {static_cast<std::int16_t>(data >> 48), static_cast<std::int16_t>(data >> 32 & 0xFFFF),
                static_cast<int>(data >> 17 & 0x7FFF), static_cast<int>(data & 0x7F),
                static_cast<Bound>(data >> 13 & 3),    is_open_of(data)};
    }
};

class Table : public PositionClusters<TTData> {
   public:
    using PositionClusters::PositionClusters;

    // A position has at most one entry.  A much shallower result does not replace an entry of the current search.
    void store(std::uint64_t key, TTData tt_data) const noexcept {
        Entry* victim = nullptr;
        int least = 1 << 20;
        for (Entry& entry : cluster(key).entries) {
            if (const std::uint64_t own = entry.read(key); own != 0) {  // read once: others may write meanwhile
                const TTData old = TTData::unpacked(own);
                const int priority = tt_data.depth + 4 + 2 * tt_data.is_open;
                if (tt_data.bound != Bound::kExact && age_of(own) == age_ && priority <= old.depth) return;
                if (tt_data.move == 0) tt_data.move = old.move;
                victim = &entry;
                break;
            }
            const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
            const int age = static_cast<int>((age_ - age_of(data)) & 0x3F);
            const int priority = data == 0 ? -(1 << 10) : static_cast<int>(data & 0x7F) + 2 * TTData::is_open_of(data) - 8 * age;
            if (priority < least) {
                least = priority;
                victim = &entry;
            }
        }
        victim->write(key, static_cast<std::uint64_t>(static_cast<std::uint16_t>(tt_data.score)) << 48 |
                               static_cast<std::uint64_t>(static_cast<std::uint16_t>(tt_data.evaluation)) << 32 |
                               static_cast<std::uint64_t>(tt_data.move) << 17 | kUsed |
                               static_cast<std::uint64_t>(tt_data.is_open) << 15 |
                               static_cast<std::uint64_t>(tt_data.bound) << 13 |
                               static_cast<std::uint64_t>(age_) << 7 | static_cast<std::uint64_t>(tt_data.depth));
    }

   private:
    static constexpr std::uint64_t kUsed = 1 << 16;  // no data is 0
    static std::uint32_t age_of(std::uint64_t data) { return static_cast<std::uint32_t>(data >> 7 & 0x3F); }
};

// The result of an iteration; the line's first move is the best one.
struct Iteration {
    int depth = 0;
    int score = 0;
    Line line;
};

// Late-move reductions (LMR) by depth and index in the ordered list, in 64ths of a ply.
struct Reductions {
    static constexpr int kCount = 64;
    std::int16_t of[kCount][kCount];

    Reductions() {
        for (int depth = 0; depth < kCount; ++depth) {
            for (int place = 0; place < kCount; ++place) {
                const double plies = 0.75 + std::log(depth + 1e-9) * std::log(place + 1e-9) / 2.2;
                of[depth][place] = depth < 1 || place < 1 ? std::int16_t{0} : static_cast<std::int16_t>(64 * plies);
            }
        }
    }
    int operator()(int depth, int place) const {
        return of[depth < kCount ? depth : kCount - 1][place < kCount ? place : kCount - 1];
    }
};

// A history entry: evidence of past cut-offs for or against a move.  Each update decays it in proportion to its size,
// so that it stays within +-kMostHistory.
constexpr int kMostHistory = 16'384;
inline void update_history(std::int16_t& entry, int bonus) {
    entry = static_cast<std::int16_t>(entry + bonus - entry * (bonus < 0 ? -bonus : bonus) / kMostHistory);
}

}  // namespace selective

// One thread's search: all its state beside the shared table.
template <Tactical G>
class SelectiveWorker {
   public:
    using Node = typename G::Node;
    using Iteration = selective::Iteration;

    SelectiveWorker(const selective::Table& table, const Race<Iteration>& race, const G& game)
        : table_(table), race_(race), game_(game) {}

    // Sets the flag to check from now on.
    void set_stop(const StopFlag& stop) { stop_ = &stop; }

    // Must be called first: lists the moves.
    void start(const Node& root, const StopFlag& stop, int contempt_centi) {
        root_ = root;
        stop_ = &stop;
        contempt_ = contempt_centi;
        // The value of a draw affects scores, so searches with different contempt must not share table entries.
        salt_ = contempt_ == 0 ? 0 : static_cast<std::uint64_t>(2 * contempt_ + (game_.ply(root) & 1)) * kSalt;
        count_ = 0;
        line_.length = 0;
        score_ = 0;
        for (Frame& each : frames_) each = {0, selective::kNone, 0, -1, 0, {0, 0}, false};
        frame(0).key = game_.key(root);
        frame(0).is_check = game_.is_check(root);
        frame(0).evaluation = frame(0).is_check ? selective::kNone : game_.evaluate(root);
        selective::TTData tt_data{};
        if (!table_.find(table_key(0), tt_data)) tt_data.move = 0;
        Scored list[G::kMaxMoves];
        for (const int move : game_.moves(root)) {
            insert(list, count_, move, move_order(root, move, tt_data.move, 0));
        }
        for (int i = 0; i < count_; ++i) moves_[i] = list[i].move;
        find_repeated_positions();
    }

    // Runs one iteration; returns its score.  Even if it is stopped (`Unwind`), the first root move is the best so far.
    // Throws Overtaken.
    int iterate(int depth, int guess) {
        root_depth_ = depth;
        // An iteration that was overtaken may have left these set.
        null_from_ = 0;
        for (Frame& each : frames_) each.excluded = 0;
        int width = depth < kMinAspirationDepth || selective::is_decided(guess) ? kAllScores : kAspirationWidth;
        int low = guess - width;
        int high = guess + width;
        for (;;) {
            if (low < selective::kNone) low = selective::kNone;
            if (high > -selective::kNone) high = -selective::kNone;
            const int score = search_root(depth, low, high);
            if (score > low && score < high) return score_ = score;
            width = width > 500 ? kAllScores : 2 * width;
            if (score <= low) {
                high = (low + high) / 2;
                low = score - width;
            } else {
                high = score + width;
            }
        }
    }

    // The score of one iteration in a given window: a bound outside it (fail-soft).
    int bounded(int depth, int alpha, int beta) {
        root_depth_ = depth;
        null_from_ = 0;
        return search_root(depth, alpha, beta);
    }

    // Searches for a mate in this many moves by brute force: iterations would find it later where it begins with a
    // sacrifice, and may miss the shortest one.
    bool find_mate(int moves) {
        root_depth_ = selective::kMaxPly;  // this is no iteration: nobody overtakes it
        if (!mates(root_, moves, line_)) return false;
        score_ = selective::kMate - (2 * moves - 1);
        best_to_front();
        return true;
    }

    // Takes over the result of another thread's iteration.
    void copy_from(const Iteration& iteration) {
        line_ = iteration.line;
        score_ = iteration.score;
        best_to_front();
    }

    // Of the last iteration, finished or not.
    const Line& line() const { return line_; }
    int score() const { return score_; }
    int move_count() const { return count_; }
    int move(int i) const { return moves_[i]; }
    std::uint64_t nodes() const { return nodes_; }

    // Extends a line with the table's moves, up to a repetition.
    void continue_line(Line& line, int most) const {
        std::uint64_t keys[selective::kMaxLine + 1];
        Node node = root_;
        for (int i = 0;; ++i) {
            keys[i] = game_.key(node);
            for (int j = 0; j < i; ++j) {
                if (keys[j] == keys[i]) return;
            }
            if (i >= selective::kMaxLine) return;
            if (i == line.length) {
                selective::TTData tt_data;
                if (i >= most || !table_.find(keys[i] ^ salt_, tt_data) || tt_data.move == 0) return;
                bool is_legal = false;
                for (const int move : game_.moves(node)) is_legal = is_legal || move == tt_data.move;
                if (!is_legal) return;
                line.move[line.length++] = static_cast<std::uint16_t>(tt_data.move);
            }
            node = game_.play(node, line.move[i]);
        }
    }

   private:
    static constexpr int kAllScores = -2 * selective::kNone;
    static constexpr std::uint64_t kSalt = 0x9E3779B97F4A7C15ull;
    static constexpr int kMaxPly = selective::kMaxPly;

    // Depths are in plies, margins in score units (centipawns).
    static constexpr int kMinAspirationDepth = 4;         // from here on an aspiration window,
    static constexpr int kAspirationWidth = 20;         // this wide around the score of the iteration before
    static constexpr int kReverseFutilityDepth = 8;
    static constexpr int kReverseFutilityMargin = 70;  // a ply
    static constexpr int kNullDepth = 3;
    static constexpr int kVerifyDepth = 10;        // from here on a null-move cut-off is verified without null moves
    static constexpr int kMinProbCutDepth = 5;
    static constexpr int kProbCutMargin = 180;
    static constexpr int kIterativeReductionDepth = 4;  // deep nodes without a table move are searched a ply less
    static constexpr int kSingularDepth = 7;
    static constexpr int kLateMovePruningDepth = 8;
    static constexpr int kFutilityDepth = 7;
    static constexpr int kFutilityBase = 100;
    static constexpr int kFutilityMargin = 70;     // per ply
    static constexpr int kQuietExchange = 25;      // per ply squared
    static constexpr int kCaptureExchange = 100;   // per ply
    static constexpr int kExchangeDepth = 6;
    static constexpr int kCheckDepth = 2;          // checks that lose material: pruned less than other moves
    static constexpr int kDelta = 150;             // delta pruning: what a capture may gain beyond its material
    static constexpr int kMaxTried = 64;           // moves of a node whose history a cut-off lowers

    // Move ordering: by kind of move, then by history within the kind.
    static constexpr int kTableMove = 1 << 30;
    static constexpr int kGoodForcing = 1 << 27;
    static constexpr int kKiller = 1 << 24;
    static constexpr int kBadForcing = -(1 << 27);

    // State of a node on the current line.
    struct Frame {
        std::uint64_t key;
        int evaluation;  // static; kNone in check
        int reversible;  // number of reversible moves that led here
        int history;     // index of the move that is searched; -1: none (null move)
        int excluded;    // the move excluded by the singularity test
        int killers[2];
        bool is_check;
    };

    Frame& frame(int ply) { return frames_[ply + 2]; }
    std::uint64_t table_key(int ply) { return frame(ply).key ^ salt_; }

    void count_node() {
        if ((++nodes_ & (StopFlag::kNodesPerCheck - 1)) != 0) return;
        if (stop_->spend(StopFlag::kNodesPerCheck)) throw Unwind{};
        if (race_.depth() >= root_depth_) throw Overtaken{};
    }

    // --- Scores ------------------------------------------------------------------------------------------------

    // The score of a draw for the side to move.
    int draw_score(int ply) const { return (ply & 1) == 0 ? -contempt_ : contempt_; }

    // The score of a finished game, on the search's scale.
    int result(const Node& node, int ply) const {
        const int score = game_.result(node);
        if (score <= -kWin) return -(selective::kMate - ply);
        if (score >= kWin) return selective::kMate - ply;
        return draw_score(ply);
    }

    static int mate_score_to_table(int score, int ply) {
        return score >= selective::kDecided ? score + ply : score <= -selective::kDecided ? score - ply : score;
    }
    static int mate_score_from_table(int score, int ply) {
        return score >= selective::kDecided ? score - ply : score <= -selective::kDecided ? score + ply : score;
    }

    // The table's score of a node, counted from the root; kNone: none.
    static int score_of(bool is_known, const selective::TTData& tt_data, int ply) {
        return is_known && tt_data.bound != Bound::kNone ? mate_score_from_table(tt_data.score, ply) : selective::kNone;
    }

    // Whether a table score decides the node, whatever its depth.
    static bool is_settled(const selective::TTData& tt_data, int score, int alpha, int beta) {
        if (score == selective::kNone) return false;
        return tt_data.bound == Bound::kExact || (tt_data.bound == Bound::kLower ? score >= beta : score <= alpha);
    }

    // Whether a table score is closer to the truth than an evaluation.
    static bool is_better(const selective::TTData& tt_data, int score, int evaluation) {
        if (score == selective::kNone || selective::is_decided(score)) return false;
        return tt_data.bound == Bound::kExact || (tt_data.bound == Bound::kLower) == (score > evaluation);
    }

    void store(std::uint64_t key, int ply, int score, int evaluation, int move, int depth, Bound bound,
               bool is_open) {
        // Losing by a forbidden repetition depends on the path, so the table must not store it.
        if (selective::is_decided(score) && !selective::is_mate(score)) return;
        table_.store(key, {mate_score_to_table(score, ply), evaluation, move, depth, bound, is_open});
    }

    // --- Repetition --------------------------------------------------------------------------------------------

    // Collects the positions that have occurred twice in the game: a third occurrence ends it.
    void find_repeated_positions() {
        twice_count_ = 0;
        const int count = game_.past_count(root_);
        for (int i = 0; i < count && twice_count_ < kMaxRepeatedPositions; ++i) {
            const std::uint64_t key = game_.past_key(root_, i);
            for (int j = 0; j < i; ++j) {
                if (game_.past_key(root_, j) == key) {
                    twice_[twice_count_++] = key;
                    break;
                }
            }
        }
    }

    // Whether the game is over by a rule, or would be if the line's repetition continued.
    bool is_drawn(const Node& node, int ply, int& score) {
        const Frame& here = frame(ply);
        for (int back = 4; back <= here.reversible; back += 2) {
            if (frame(ply - back).key == here.key) {
                score = repeated(ply, back);
                return true;
            }
        }
        if (here.reversible == ply) {
            for (int i = 0; i < twice_count_; ++i) {
                if (twice_[i] == here.key) {
                    score = result(node, ply);  // a loss by this rule scores like a mate
                    return true;
                }
            }
        }
        if (game_.is_rule_draw(node)) {
            score = draw_score(ply);
            return true;
        }
        return false;
    }

    int repeated(int ply, int back) {
        if constexpr (G::kPerpetualCheckLoses) {
            bool are_checked[2] = {true, true};  // the side to move, the other
            for (int i = 0; i < back; ++i) are_checked[i & 1] = are_checked[i & 1] && frame(ply - i).is_check;
            if (are_checked[0] != are_checked[1]) {
                return are_checked[0] ? selective::kPerpetualCheckWin - ply : -(selective::kPerpetualCheckWin - ply);
            }
        }
        return draw_score(ply);
    }

    // --- Move ordering -----------------------------------------------------------------------------------------

    int move_order(const Node& node, int move, int table_move, int ply) {
        if (move == table_move) return kTableMove;
        if (game_.is_forcing(node, move)) return kGoodForcing + forcing_order(node, move);
        const Frame& here = frame(ply);
        if (move == here.killers[0]) return kKiller + 2;
        if (move == here.killers[1]) return kKiller + 1;
        const int before = frame(ply - 1).history;
        if (before >= 0 && counters_[before] == move) return kKiller;
        return quiet_order(game_.history_index(node, move), ply);
    }

    int forcing_order(const Node& node, int move) const {
        return 64 * game_.gain(node, move) - 16 * game_.attacker(node, move) +
               captures_[game_.history_index(node, move)] / 8;
    }

    int quiet_order(int index, int ply) {
        int sum = 2 * history_[index];
        if (const int before = frame(ply - 1).history; before >= 0) sum += 2 * continuations_[before][index];
        if (const int before = frame(ply - 2).history; before >= 0) sum += continuations_[before][index];
        return sum;
    }

    // Selection sort: moves the best of the remaining moves to index i.  A capture that SEE finds losing goes to the
    // end.
    void pick_move(const Node& node, Scored* list, int count, int i) {
        for (;;) {
            int best = i;
            for (int j = i + 1; j < count; ++j) {
                if (list[j].order > list[best].order) best = j;
            }
            const Scored chosen = list[best];
            if (chosen.order >= kGoodForcing / 2 && chosen.order < kTableMove / 2 &&
                !game_.see_at_least(node, chosen.move, 0)) {
                list[best].order += kBadForcing - kGoodForcing;
                continue;
            }
            list[best] = list[i];
            list[i] = chosen;
            return;
        }
    }

    struct Tried {
        std::int16_t quiet[kMaxTried];
        std::int16_t forcing[kMaxTried];
        int quiets = 0;
        int forcings = 0;
    };

    void update_histories(const Node& node, int move, int depth, int ply, const Tried& tried) {
        const int bonus = depth > 11 ? 1'600 : 150 * depth - 50;
        const int index = game_.history_index(node, move);
        if (game_.is_forcing(node, move)) {
            selective::update_history(captures_[index], bonus);
        } else {
            Frame& here = frame(ply);
            if (here.killers[0] != move) {
                here.killers[1] = here.killers[0];
                here.killers[0] = move;
            }
            if (const int before = frame(ply - 1).history; before >= 0) {
                counters_[before] = static_cast<std::uint16_t>(move);
            }
            update_quiet_history(index, bonus, ply);
            for (int i = 0; i < tried.quiets; ++i) update_quiet_history(tried.quiet[i], -bonus, ply);
        }
        for (int i = 0; i < tried.forcings; ++i) selective::update_history(captures_[tried.forcing[i]], -bonus);
    }

    void update_quiet_history(int index, int bonus, int ply) {
        selective::update_history(history_[index], bonus);
        for (const int back : {1, 2}) {
            const int before = frame(ply - back).history;
            if (before >= 0) selective::update_history(continuations_[before][index], bonus);
        }
    }

    // --- Search ------------------------------------------------------------------------------------------------

    void to_front(int i) {
        const int chosen = moves_[i];
        for (; i > 0; --i) moves_[i] = moves_[i - 1];
        moves_[0] = chosen;
    }

    void best_to_front() {
        int i = 0;
        while (moves_[i] != line_.move[0]) ++i;
        to_front(i);
    }

    // Whether the side to move can force mate within this many moves; if so, `line` is the mating line.
    bool mates(const Node& node, int moves, Line& line) {
        for (const int move : game_.moves(node)) {
            count_node();
            const Node next = game_.play(node, move);
            if (moves == 1 && !game_.is_check(next)) continue;
            Line below;
            if (!is_mated(next, moves - 1, below)) continue;
            line.put(move, below);
            return true;
        }
        return false;
    }

    // Whether the side to move is mated after at most this many moves of its own.
    bool is_mated(const Node& node, int moves, Line& line) {
        line.length = 0;
        const auto replies = game_.moves(node);
        if (replies.empty()) return game_.result(node) <= -kWin;
        if (moves == 0) return false;
        for (const int reply : replies) {
            Line below;
            if (!mates(game_.play(node, reply), moves, below)) return false;
            line.put(reply, below);
        }
        return true;
    }

    // Records the state of the node that a move leads to, and prefetches its table entry.
    void enter(const Node& node, const Node& next, int move, int ply) {
        Frame& here = frame(ply);
        Frame& there = frame(ply + 1);
        there.key = game_.key(next);
        table_.prefetch(table_key(ply + 1));
        there.is_check = game_.is_check(next);
        there.reversible = game_.is_reversible(node, move) ? here.reversible + 1 : 0;
        here.history = game_.history_index(node, move);
    }

    int search_root(int depth, int alpha, int beta) {
        int best = selective::kNone;
        frame(2).killers[0] = frame(2).killers[1] = 0;
        for (int i = 0; i < count_; ++i) {
            const int move = moves_[i];
            const Node next = game_.play(root_, move);
            enter(root_, next, move, 0);
            const int lower = alpha > best ? alpha : best;
            Line below;
            int score = 0;
            bool is_open = i == 0;
            if (!is_open) {
                int rest = depth - 1;
                if (depth >= 3 && i >= 3 && !game_.is_forcing(root_, move) && !frame(1).is_check) {
                    rest -= reductions_(depth, i) / 128;  // half as much as elsewhere
                    if (rest < 1) rest = 1;
                }
                score = -search<false>(next, rest, -lower - 1, -lower, 1, true, nullptr);
                if (score > lower && rest < depth - 1) {
                    score = -search<false>(next, depth - 1, -lower - 1, -lower, 1, true, nullptr);
                }
                is_open = score > lower && score < beta;
            }
            if (is_open) score = -search<true>(next, depth - 1, -beta, -lower, 1, false, &below);
            if (score > best) {
                best = score;
                if (score > alpha) {
                    line_.put(move, below);
                    to_front(i);
                    score_ = score;
                }
                if (best >= beta) break;
            }
        }
        const Bound bound = best >= beta ? Bound::kLower : best <= alpha ? Bound::kUpper : Bound::kExact;
        store(table_key(0), 0, best, frame(0).evaluation, moves_[0], depth, bound, true);
        return best;
    }

    // Score of a node, fail-soft.  kOpen: the window is open, and `line` takes the principal variation.
    // `is_cut`: for a node with a null window, whether it is expected to fail high.
    template <bool kOpen>
    int search(const Node& node, int depth, int alpha, int beta, int ply, bool is_cut, Line* line) {
        using namespace selective;
        if constexpr (kOpen) line->length = 0;
        Frame& here = frame(ply);
        const bool is_check = here.is_check;
        const int excluded = here.excluded;

        // Step 1. The game is over by a rule.
        int score;
        if (is_drawn(node, ply, score)) {
            count_node();
            return score;
        }

        // Step 2. Leaves: quiescence search.
        if (depth <= 0) return quiescence_search<kOpen>(node, alpha, beta, ply);
        count_node();
        if (ply >= kMaxPly) return is_check ? draw_score(ply) : game_.evaluate(node);

        // Step 3. Mate distance pruning: no line from here is worth more than mate at the next move, or less than
        // being mated now.
        if (alpha < -(kMate - ply)) alpha = -(kMate - ply);
        if (beta > kMate - ply - 1) beta = kMate - ply - 1;
        if (alpha >= beta) return alpha;

        // Step 4. Transposition table.
        const std::uint64_t key = table_key(ply);
        selective::TTData tt_data{};
        const bool is_known = table_.find(key, tt_data);
        const int table_move = is_known ? tt_data.move : 0;
        const int table_score = score_of(is_known, tt_data, ply);
        if (!kOpen && excluded == 0 && tt_data.depth >= depth && is_settled(tt_data, table_score, alpha, beta)) {
            if (table_score >= beta && table_move != 0 && !game_.is_forcing(node, table_move)) {
                update_quiet_history(game_.history_index(node, table_move), depth > 11 ? 1'600 : 150 * depth - 50, ply);
            }
            return table_score;
        }

        // Step 5. Static evaluation, or the table's score where it is closer to the truth.
        int value = kNone;
        bool is_improving = false;
        if (is_check) {
            here.evaluation = kNone;
        } else if (excluded == 0) {
            value = here.evaluation = is_known && tt_data.evaluation != kNone ? tt_data.evaluation : game_.evaluate(node);
            if (!is_known) table_.store(key, {0, value, 0, 0, Bound::kNone, false});
            if (is_better(tt_data, table_score, value)) value = table_score;
        } else {
            value = here.evaluation;
        }
        if (!is_check) {
            const int before = frame(ply - 2).evaluation != kNone ? frame(ply - 2).evaluation
                               : ply >= 4                         ? frame(ply - 4).evaluation
                                                                  : kNone;
            is_improving = before == kNone || here.evaluation > before;
        }
        frame(ply + 2).killers[0] = frame(ply + 2).killers[1] = 0;

        if (!kOpen && !is_check && excluded == 0 && !is_decided(beta)) {
            // Step 6. Reverse futility pruning: so far above beta that the next moves will hardly bring it below.
            if (depth <= kReverseFutilityDepth && value - kReverseFutilityMargin * (depth - is_improving) >= beta &&
                !is_decided(value)) {
                return (value + beta) / 2;
            }

            // Step 7. Null-move pruning: good enough even if the opponent moves twice.
            if (depth >= kNullDepth && value >= beta && here.evaluation >= beta - 20 * depth + 160 &&
                frame(ply - 1).history >= 0 && ply >= null_from_ && game_.may_pass(node)) {
                const int gained = (value - beta) / 200;
                const int rest = depth - 3 - depth / 3 - (gained < 3 ? gained : 3);
                const Node next = game_.pass(node);
                frame(ply + 1).key = game_.key(next);
                table_.prefetch(table_key(ply + 1));
                frame(ply + 1).is_check = false;
                frame(ply + 1).reversible = 0;
                here.history = -1;
                score = -search<false>(next, rest, -beta, -beta + 1, ply + 1, !is_cut, nullptr);
                if (score >= beta) {
                    if (is_decided(score)) score = beta;
                    if (depth < kVerifyDepth || null_from_ > 0) return score;
                    null_from_ = ply + 3 * rest / 4 + 1;
                    const int verified = search<false>(node, rest, beta - 1, beta, ply, false, nullptr);
                    null_from_ = 0;
                    if (verified >= beta) return score;
                }
            }

            // Step 8. ProbCut: a capture that is far above beta in a shallow search will be above it in a deep one.
            const int probcut_beta = beta + kProbCutMargin - 60 * is_improving;
            if (depth >= kMinProbCutDepth && !is_decided(probcut_beta) &&
                !(table_score != kNone && tt_data.depth >= depth - 3 && table_score < probcut_beta)) {
                for (const int move : game_.forcing(node)) {
                    if (!game_.see_at_least(node, move, probcut_beta - here.evaluation)) continue;
                    const Node next = game_.play(node, move);
                    enter(node, next, move, ply);
                    score = -quiescence_search<false>(next, -probcut_beta, -probcut_beta + 1, ply + 1);
                    if (score >= probcut_beta) {
                        score = -search<false>(next, depth - 4, -probcut_beta, -probcut_beta + 1, ply + 1, !is_cut, nullptr);
                    }
                    if (score >= probcut_beta) {
                        store(key, ply, score, here.evaluation, move, depth - 3, Bound::kLower, false);
                        return is_decided(score) ? score : score - (probcut_beta - beta);
                    }
                }
            }
        }

        // Step 9. Internal iterative reduction: a deep node without a table move is cheaper at the next iteration.
        if (depth >= kIterativeReductionDepth && table_move == 0 && (kOpen || is_cut)) --depth;

        // Step 10. Move generation and ordering.
        Scored list[G::kMaxMoves];
        int count = 0;
        for (const int move : game_.moves(node)) list[count++] = {move, move_order(node, move, table_move, ply)};
        if (count == 0) return result(node, ply);

        // Step 11. Search the moves.
        const bool table_forces = table_move != 0 && game_.is_forcing(node, table_move);
        const int first_alpha = alpha;
        int best = kNone;
        int best_move = 0;
        int place = 0;
        Tried tried;
        for (int i = 0; i < count; ++i) {
            pick_move(node, list, count, i);
            const int move = list[i].move;
            if (move == excluded) continue;
            ++place;
            const bool is_forcing = game_.is_forcing(node, move);
            const Node next = game_.play(node, move);
            enter(node, next, move, ply);
            const int index = here.history;
            const bool gives_check = frame(ply + 1).is_check;
            int reduction = reductions_(depth, place);

            // Step 12. Late-move, history, futility and SEE pruning; none while everything else loses by force.
            if (best > -kDecided) {
                int rest = depth - 1 - reduction / 64;
                if (rest < 0) rest = 0;
                if (!is_forcing && !gives_check) {
                    if (depth <= kLateMovePruningDepth && place > (4 + depth * depth) / (is_improving ? 1 : 2)) {
                        continue;
                    }
                    const int quiet = list[i].order >= kKiller ? kMostHistory : quiet_order(index, ply);
                    if (depth <= 5 && quiet < -4'000 * depth) continue;
                    if (!is_check && rest <= kFutilityDepth &&
                        here.evaluation + kFutilityBase + kFutilityMargin * rest + quiet / 128 <= alpha) {
                        continue;
                    }
                    if (rest <= 8 && !game_.see_at_least(node, move, -kQuietExchange * rest * rest)) continue;
                } else if (depth <= (gives_check ? kCheckDepth : kExchangeDepth) &&
                           list[i].order < kGoodForcing / 2 &&
                           !game_.see_at_least(node, move, -kCaptureExchange * depth)) {
                    continue;
                }
            }

            // Step 13. Singular extension: a table move without which the node would fail low is searched a ply
            // deeper.  (Extending checks gained nothing.)
            int extension = 0;
            if (move == table_move && excluded == 0 && depth >= kSingularDepth && tt_data.depth >= depth - 3 &&
                tt_data.bound != Bound::kUpper && table_score != kNone && !is_decided(table_score) &&
                ply < 2 * root_depth_) {
                const int singular_beta = table_score - 2 * depth;
                here.excluded = move;
                const int others = search<false>(node, (depth - 1) / 2, singular_beta - 1, singular_beta, ply, is_cut, nullptr);
                here.excluded = 0;
                if (others < singular_beta) {
                    extension = 1;
                } else if (singular_beta >= beta && !kOpen) {
                    return singular_beta;  // several moves reach beta
                } else if (table_score >= beta && !kOpen) {
                    extension = -1;
                }
                enter(node, next, move, ply);  // the singularity search has overwritten it
            }
            const int rest = depth - 1 + extension;

            // Step 14. Principal variation search with late-move reductions: the first move gets the full window; the
            // others must first fail high in a null window, the late ones at a reduced depth.
            Line below;
            bool is_open = kOpen && place == 1;
            if (!is_open) {
                int shallow = rest;
                if (depth >= 3 && place >= 2 + kOpen && (!is_forcing || list[i].order < 0 || is_cut)) {
                    if (kOpen) reduction -= 64;
                    if (is_cut) reduction += 64;
                    if (!is_improving) reduction += 32;
                    if (table_forces) reduction += 32;
                    if (gives_check) reduction -= 64;
                    if (is_check) reduction -= 64;
                    if (is_forcing) {
                        reduction -= 64;
                    } else if (list[i].order >= kKiller) {
                        reduction -= 96;
                    } else {
                        reduction -= quiet_order(index, ply) / 192;
                    }
                    shallow -= reduction / 64;
                    if (shallow < 1) shallow = 1;
                    if (shallow > rest) shallow = rest;
                }
                const bool is_next_cut = shallow < rest || !is_cut;
                score = -search<false>(next, shallow, -alpha - 1, -alpha, ply + 1, is_next_cut, nullptr);
                if (score > alpha && shallow < rest) {
                    score = -search<false>(next, rest, -alpha - 1, -alpha, ply + 1, !is_cut, nullptr);
                }
                is_open = kOpen && score > alpha && score < beta;
            }
            if constexpr (kOpen) {
                if (is_open) score = -search<true>(next, rest, -beta, -alpha, ply + 1, false, &below);
            }

            if (score > best) {
                best = score;
                if (score > alpha) {
                    best_move = move;
                    if constexpr (kOpen) line->put(move, below);
                    if (score >= beta) break;
                    alpha = score;
                }
            }
            if (is_forcing) {
                if (tried.forcings < kMaxTried) tried.forcing[tried.forcings++] = static_cast<std::int16_t>(index);
            } else if (tried.quiets < kMaxTried) {
                tried.quiet[tried.quiets++] = static_cast<std::int16_t>(index);
            }
        }
        if (best == kNone) return alpha;  // the excluded move is the only one

        // Step 15. Update the histories and the table.
        if (best >= beta) update_histories(node, best_move, depth, ply, tried);
        if (excluded == 0) {
            const Bound bound = best >= beta ? Bound::kLower : best <= first_alpha ? Bound::kUpper : Bound::kExact;
            store(key, ply, best, here.evaluation, best_move, depth, bound, kOpen);
        }
        return best;
    }

    // Quiescence search: captures, and all moves out of check.
    template <bool kOpen>
    int quiescence_search(const Node& node, int alpha, int beta, int ply) {
        using namespace selective;
        count_node();
        Frame& here = frame(ply);
        const bool is_check = here.is_check;
        if (game_.is_rule_draw(node)) return draw_score(ply);
        if (ply >= kMaxPly) return is_check ? draw_score(ply) : game_.evaluate(node);

        // Step 1. Transposition table.
        const std::uint64_t key = table_key(ply);
        selective::TTData tt_data{};
        const bool is_known = table_.find(key, tt_data);
        const int table_score = score_of(is_known, tt_data, ply);
        if (!kOpen && is_settled(tt_data, table_score, alpha, beta)) return table_score;
        const int table_move = is_known ? tt_data.move : 0;

        // Step 2. Stand pat: the side to move need not capture.
        const int first_alpha = alpha;
        int best = kNone;
        here.evaluation = kNone;
        Scored list[G::kMaxMoves];
        int count = 0;
        if (is_check) {
            for (const int move : game_.moves(node)) list[count++] = {move, move_order(node, move, table_move, ply)};
            if (count == 0) return result(node, ply);
        } else {
            best = here.evaluation = is_known && tt_data.evaluation != kNone ? tt_data.evaluation : game_.evaluate(node);
            if (is_better(tt_data, table_score, best)) best = table_score;
            if (best >= beta) {
                if (!is_known) table_.store(key, {mate_score_to_table(best, ply), here.evaluation, 0, 0, Bound::kLower, false});
                return best;
            }
            if (best > alpha) alpha = best;
            for (const int move : game_.forcing(node)) {
                list[count++] = {move, move == table_move ? kTableMove : forcing_order(node, move)};
            }
        }

        // Step 3. Captures that may pay (delta and SEE pruning); out of check, all moves.
        const int hope = here.evaluation + kDelta;
        int best_move = 0;
        int quiets = 0;
        for (int i = 0; i < count; ++i) {
            int chosen = i;
            for (int j = i + 1; j < count; ++j) {
                if (list[j].order > list[chosen].order) chosen = j;
            }
            const int move = list[chosen].move;
            list[chosen] = list[i];
            if (!is_check) {
                const int most = hope + game_.gain(node, move);
                if (most <= alpha && !is_decided(alpha)) {
                    if (most > best) best = most;
                    continue;
                }
                if (!game_.see_at_least(node, move, 0)) continue;
            } else if (best > -kDecided) {
                if (!game_.is_forcing(node, move) && ++quiets > 2) continue;
                if (!game_.see_at_least(node, move, 0)) continue;
            }
            const Node next = game_.play(node, move);
            enter(node, next, move, ply);
            const int score = -quiescence_search<kOpen>(next, -beta, -alpha, ply + 1);
            if (score > best) {
                best = score;
                if (score > alpha) {
                    best_move = move;
                    if (score >= beta) break;
                    alpha = score;
                }
            }
        }

        // Step 4. Store in the table.
        const bool is_exact = kOpen && best > first_alpha;
        const Bound bound = best >= beta ? Bound::kLower : is_exact ? Bound::kExact : Bound::kUpper;
        store(key, ply, best, here.evaluation, best_move, 0, bound, kOpen);
        return best;
    }

    static constexpr int kMaxRepeatedPositions = 64;

    const selective::Table& table_;
    const Race<Iteration>& race_;
    const G& game_;
    const selective::Reductions reductions_;
    const StopFlag* stop_ = nullptr;
    std::uint64_t nodes_ = 0;
    std::uint64_t salt_ = 0;
    int contempt_ = 0;
    int null_from_ = 0;  // no null moves at smaller plies, while verifying one; 0: not verifying
    int root_depth_ = 0;
    Node root_{};
    int moves_[G::kMaxMoves];
    int count_ = 0;
    int score_ = 0;
    Line line_;
    std::uint64_t twice_[kMaxRepeatedPositions];
    int twice_count_ = 0;
    Frame frames_[kMaxPly + 6];

    // Histories of cut-offs, by piece and target square.
    std::int16_t history_[G::kHistory]{};
    std::int16_t captures_[G::kHistory]{};
    std::uint16_t counters_[G::kHistory]{};
    std::int16_t continuations_[G::kHistory][G::kHistory]{};
};

// The complete search: how deep to search, when to stop, and the threads.
template <Tactical G>
class SelectiveSearch {
   public:
    using Node = typename G::Node;
    using Position = typename G::Position;

    // Throws std::bad_alloc.
    SelectiveSearch(std::size_t table_mb, const G& game)
        : game_(game), table_(table_mb), worker_(table_, race_, game) {}

    SelectiveSearch(const SelectiveSearch&) = delete;
    SelectiveSearch& operator=(const SelectiveSearch&) = delete;

    bool is_allocated() const { return table_.is_allocated(); }

    // The best move within the limits; the game must not be over.  False: stopped before it had any result.  The error
    // rate of the pruning is not measured, so `confidence` is 0; `solved` means a forced mate.
    bool think(const Position& p, const ThinkLimits& limits, const StopFlag& stop, ThinkResult& result) {
        began_ = limits.seconds > 0 ? stop.now_s() : 0.0;
        const std::uint64_t nodes_before = nodes();
        StopFlag deadline(&stop);
        if (limits.seconds > 0) deadline.set_deadline(limits.seconds);
        if (limits.nodes > 0) deadline.set_node_limit(limits.nodes);
        if (stop.is_set()) return false;
        StopFlag helpers_stop(&deadline);
        caller_ = &stop;
        stop_ = &deadline;
        helpers_stop_ = &helpers_stop;
        limits_ = &limits;
        root_ = game_.root(p);
        result = {};
        result_ = &result;
        table_.new_search();
        // The first iteration nearly always finishes immediately, and we need a move however busy the machine is, so
        // the clock does not end it. A limit remains, since the captures of some positions never end.
        StopFlag first(&stop);
        first.set_node_limit(kFirstNodes);
        worker_.start(root_, first, limits.contempt_centi);
        race_.begin();
        helpers_.run(*this, limits.threads - 1, table_, race_, game_);
        result.nodes = nodes() - nodes_before;
        return result.depth > 0;
    }

    // See `Core::probe`. May throw Unwind.
    int probe(const Position& p, const ProbeLimits& limits, const StopFlag& stop) {
        root_ = game_.root(p);
        worker_.start(root_, stop, limits.contempt_centi);
        race_.begin();
        return centi_of(worker_.bounded(limits.depth, inner(limits.alpha), inner(limits.beta)));
    }

    std::uint64_t nodes() const { return worker_.nodes() + helpers_.nodes(); }

   private:
    using Worker = SelectiveWorker<G>;
    friend Helpers<Worker>;  // lead, help
    using Iteration = selective::Iteration;

    static constexpr int kMaxDepth = 100;     // of an iteration
    static constexpr double kMinUsefulCostShare = 0.4;  // see deepen
    static constexpr std::uint64_t kFirstNodes = 1 << 20;
    static constexpr int kForcedDepth = 6;    // enough for a forced move
    static constexpr int kFindMateDepth = 3;  // before this iteration, or a deeper one, look for a mate in two
    // A mate is searched this many plies beyond its own length, since pruning may have hidden a shorter one. If only
    // the depth is limited, fewer plies, because the search may then take any time.
    static constexpr int kMateDepth = 12;
    static constexpr int kUnlimitedMateDepth = 4;

    // --- Threads ---------------------------------------------------------------------------------------------

    void lead() {
        try {
            deepen();
        } catch (const Unwind&) {
            if (const Iteration deepest = race_.deepest(); deepest.depth > result_->depth) {
                worker_.copy_from(deepest);
                take(deepest);
            }
            // The unfinished iteration's result counts if it is another move.
            if (result_->depth > 0 && worker_.move(0) != result_->move) report(worker_.score());
            if (result_->depth == 0 && !caller_->is_set()) {
                result_->depth = 1;
                report(worker_.score());
            }
        }
        helpers_stop_->set();
    }

    void help(int index) {
        Worker& worker = helpers_[index - 1];
        worker.start(root_, *helpers_stop_, limits_->contempt_centi);
        const int last = last_depth();
        int guess = 0;
        try {
            while (!helpers_stop_->is_set() && race_.depth() < last) {
                // Every other helper searches one ply deeper: the threads behind it find its results in the
                // table.
                const int depth = race_.depth() + 1 + (index & 1);
                guess = run(worker, depth < last ? depth : last, guess).score;
            }
        } catch (const Unwind&) {
        }
    }

    // Runs an iteration unless it is overtaken; returns the deepest one that any thread has finished, whose result is
    // now the worker's, too.
    Iteration run(Worker& worker, int depth, int guess) {
        Iteration deepest;
        try {
            const int score = worker.iterate(depth, guess);
            deepest = race_.finish({depth, score, worker.line()});
        } catch (const Overtaken&) {
            deepest = race_.deepest();
        }
        worker.copy_from(deepest);
        return deepest;
    }

    // --- Iterations ------------------------------------------------------------------------------------------

    int last_depth() const { return limits_->depth < kMaxDepth ? limits_->depth : kMaxDepth; }
    double elapsed() const { return stop_->now_s() - began_; }
    bool is_timed() const { return limits_->seconds > 0; }
    int mate_depth() const { return is_timed() || limits_->nodes > 0 ? kMateDepth : kUnlimitedMateDepth; }
    bool fits(double seconds) const { return !is_timed() || elapsed() + seconds <= limits_->seconds; }

    void deepen() {
        const int last = last_depth();
        double longest = 0.0;  // of the last two iterations
        double before = 0.0;
        bool looks_for_mate = true;
        for (int depth = 1; depth <= last; depth = result_->depth + 1) {
            // Half an iteration may find a better move; less than this share of the longer of the last two would only
            // search the best one again.
            if (depth > 1 && !fits(kMinUsefulCostShare * longest)) return;
            if (is_timed() && worker_.move_count() == 1 && depth > kForcedDepth) return;
            if (depth >= kFindMateDepth && looks_for_mate) {
                looks_for_mate = false;
                if (worker_.find_mate(2)) {
                    result_->depth = depth;
                    report(worker_.score());
                    return;
                }
            }
            const double start = is_timed() ? elapsed() : 0.0;
            const Iteration deepest = run(worker_, depth, worker_.score());
            take(deepest);
            worker_.set_stop(*stop_);
            const int mate = selective::kMate - std::abs(deepest.score);
            if (mate <= 2 || (result_->solved && deepest.depth >= mate + mate_depth())) return;
            if (is_timed()) {
                const double spent = elapsed() - start;
                longest = spent > before ? spent : before;
                before = spent;
            }
        }
    }

    void take(const Iteration& iteration) {
        result_->depth = iteration.depth;
        report(iteration.score);
    }

    void report(int score) {
        result_->move = worker_.move(0);
        result_->solved = selective::is_mate(score);
        result_->score_centi = centi_of(score);
        Line line = worker_.line();
        worker_.continue_line(line, result_->depth);
        result_->line_length = line.length;
        for (int i = 0; i < line.length; ++i) result_->line[i] = line.move[i];
    }

    // The search's score of the root in centi-units.
    int centi_of(int score) const {
        if (selective::is_mate(score)) {
            // The `result` of the mated position at the end of the line, from the root's view.
            const int end = game_.ply(root_) + selective::kMate - std::abs(score);
            return score > 0 ? -lost_after(end) : lost_after(end);
        }
        const int most = selective::kMostEvaluation;
        return score > most ? most : score < -most ? -most : score;
    }

    // The limit of a window on the search's scale.
    static int inner(int centi) {
        return centi <= -selective::kMostEvaluation  ? selective::kNone
               : centi >= selective::kMostEvaluation ? -selective::kNone
                                                     : centi;
    }

    const G& game_;
    selective::Table table_;
    Race<Iteration> race_;
    Worker worker_;
    Helpers<Worker> helpers_;

    // State of the current call.
    Node root_{};
    const ThinkLimits* limits_ = nullptr;
    const StopFlag* caller_ = nullptr;
    const StopFlag* stop_ = nullptr;
    StopFlag* helpers_stop_ = nullptr;
    ThinkResult* result_ = nullptr;
    double began_ = 0.0;
};

}  // namespace
}  // namespace desdemona
