// Trappy minimax's reply profiles: finds only the scores that the choice depends on.
//
// The complete table needs every reply's exact score at every depth, at many times the cost of the plain search.
// Nearly all of these scores cannot change the choice, and proving this is cheap. All prunings are exact: the choice
// equals that from the complete table (engine/search/profiles.py), and the bounds behind the proofs are passed on with
// the scores, so that engine.verification.verify can check them. The chosen move's own bonus is only proved to be high
// enough; it becomes exact when its profile is completed, after the move is played.
#pragma once

#include <cstdlib>

#include "core.hpp"
#include "search/move_scores.hpp"
#include "search/trap_arithmetic.hpp"

namespace desdemona {
namespace {

template <class Node>
struct TrappyReply {
    Node after;
    int move;
    int* scores;         // s_2 .. s_D exact up to `known`, lower bounds beyond; our view
    int known;           // number of exact ones, from the front
    int final_bound;     // s_D is at most this
    int likely_final;    // s_D, extrapolated from the depths searched so far
    double likely;       // quality, likewise
};

// kLikely: the replies that look like traps; kExhausted: until no bonus worth finding was left.
enum class Effort { kNone, kLikely, kExhausted };

template <class Node>
struct TrappyCandidate {
    Node after;
    int move;
    int guess;
    int raw;
    bool raw_is_bound;  // from above
    TrappyReply<Node>* replies;  // null: not analysed; sorted by move
    int* order;      // of the replies, to search them in
    int reply_count;
    double quality;    // of the best trap found so far
    Effort effort;     // spent on raising it
    bool is_resolved;  // proved not to be chosen over the best
};

template <Game G>
class Profiler : MoveScores<G, TrappyCandidate<typename G::Node>> {
    using Base = MoveScores<G, TrappyCandidate<typename G::Node>>;
    using Base::count_, Base::depth_, Base::game_, Base::is_swindling_, Base::moves_, Base::order_, Base::raw_of;
    using Base::search_, Base::stop_;
    using typename Base::Node;
    using Reply = TrappyReply<Node>;
    using Candidate = TrappyCandidate<Node>;

   public:
    Profiler(Search<G>& search, const Node& root, int depth, const TrapOptions& options, const StopFlag& stop)
        : Base(search, root, depth, options.swindle, stop), trap_(options) {}

    // Passes every legal move to the sink, in the fixed order.
    void find(ProfileSink& sink) {
        // Step 1. The moves, and the order to search them in.
        this->list_moves();

        // Step 2. Raw values, as far as they can matter.
        for (int i = 0; i < count_; ++i) find_raw(order_[i]);

        // Step 3. Bonuses, until no other move can overtake the best.
        const bool is_lost = best_ >= 0 && is_swindling_ && moves_[best_].raw <= -kWin;
        if (best_ >= 0 && !is_lost) decide();

        // Step 4. When every move loses by force, find the trap that is hardest to see instead.
        if (is_lost) {
            for (int i = 0; i < count_; ++i) find_escapes(moves_[i]);
        }
        for (int i = 0; i < count_; ++i) report(moves_[i], sink);
    }

   private:
    // By nodes (bench.trap_price, all games together): of the replies that may show that a move is no contender, a
    // quarter, but two at least; shares of the highest bonus of the best move.
    static constexpr int kRefutationReplyDivisor = 4;
    static constexpr int kMinRefutationReplies = 2;
    static constexpr int kManyContenders = 3;       // after this many others, a contender is worth ...
    static constexpr double kSufficientBonusShareOfMany = 0.8;   // ... a search for traps up to this share,
    static constexpr double kSufficientBonusShare = 0.5;          // with fewer up to this one,
    static constexpr double kMinUsefulBonusShare = 0.25;   // as long as there may be one above this

    // --- Raw values -------------------------------------------------------------------------------------

    // Whether a move with this adjusted and raw value would be chosen over the best so far.
    bool beats_best(double adjusted, int raw, int index) const {
        if (best_ < 0) return true;
        if (adjusted != best_adjusted_) return adjusted > best_adjusted_;
        if (raw != moves_[best_].raw) return raw > moves_[best_].raw;
        return index < best_;
    }

    // The lowest raw value at which a move could still be chosen over the best so far.
    int floor_of(int index) const {
        const int best_raw = moves_[best_].raw;
        if (is_swindling_ && (best_raw >= kWin || best_raw <= -kWin)) return best_raw + (index > best_);
        int low = -kInfinity + 1;  // utility + cap is monotonic in raw: bisection
        int high = best_raw + 1;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (beats_best(trap_.utility(middle) + trap_.bonus_cap(middle), middle, index)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // The raw value of a move that becomes the best so far, or that ends the game. For any other move, only an upper
    // bound: it rules the move out, or is likely to be the raw value of a contender.
    void find_raw(int index) {
        Candidate& candidate = moves_[index];
        if (best_ < 0 || game_.moves(candidate.after).empty()) {
            candidate.raw = raw_of(candidate.after, -kInfinity, kInfinity);
            compare(index);
            return;
        }
        candidate.raw = kInfinity;
        candidate.raw_is_bound = true;
        bool is_contender = false;  // its raw value is not better than the best's
        do {
            const int floor = floor_of(index);
            if (is_below(candidate, floor)) return;
            if (!is_contender) {
                const int best_raw = moves_[best_].raw;
                candidate.raw = raw_of(candidate.after, best_raw, best_raw + 1);
                if (candidate.raw < floor) {
                    candidate.is_resolved = true;
                    return;
                }
                is_contender = candidate.raw <= best_raw;
            }
        } while (is_contender && raise_best());
        if (is_contender) {
            ++contenders_;
            tighten_raw(index);
        } else {
            candidate.raw = raw_of(candidate.after, moves_[best_].raw, kInfinity);
            candidate.raw_is_bound = false;
            compare(index);
        }
    }

    // Whether the raw value is proved to be below the floor: by the bound on it, or by the first replies, which refute
    // the move.  To prove that none does costs as much as to rule out all of them as traps.
    bool is_below(Candidate& candidate, int floor) {
        if (candidate.raw >= floor) {
            int replies = 0;
            for ([[maybe_unused]] const int reply : game_.moves(candidate.after)) ++replies;
            const int most = replies < kMinRefutationReplies * kRefutationReplyDivisor ? kMinRefutationReplies : replies / kRefutationReplyDivisor;
            const int score = -search_.search_first(candidate.after, depth_ - 1, -floor, 1 - floor, most, stop_);
            if (score < floor) candidate.raw = score;
        }
        candidate.is_resolved = candidate.raw < floor;
        return candidate.is_resolved;
    }

    // Lowers the bound on a contender's raw value to the score of the reply that proved it: nearly always the best.
    void tighten_raw(int index) {
        Candidate& candidate = moves_[index];
        TTData tt_data;
        if (!search_.probe(candidate.after, depth_ - 1, tt_data)) return;
        const Node after = game_.play(candidate.after, tt_data.move);
        const int score = search_.search(after, depth_ - 2, floor_of(index) - 1, candidate.raw, stop_);
        if (score < candidate.raw) candidate.raw = score;
    }

    // The exact raw value of a contender, which may then turn out not to be one.
    void settle_raw(int index) {
        Candidate& candidate = moves_[index];
        const int floor = floor_of(index);
        candidate.raw = raw_of(candidate.after, floor - 1, candidate.raw + 1);
        candidate.raw_is_bound = candidate.raw < floor;
        if (candidate.raw_is_bound) return;
        for (int r = 0; r < candidate.reply_count; ++r) note(candidate, candidate.replies[r]);
        compare(index);
    }

    // Finds traps of the best move, so that fewer moves could overtake it.  False: none was found.
    bool raise_best() {
        Candidate& candidate = moves_[best_];
        const double before = best_adjusted_;
        if (candidate.effort == Effort::kNone) raise(best_);
        // Proving what bonus is possible costs about as much as ruling out a contender: so not for the first one.
        if (best_adjusted_ == before && contenders_ > 0 && candidate.effort == Effort::kLikely) raise_further(best_);
        return best_adjusted_ > before;
    }

    // Makes the move the best so far, if it is proved to be better.
    void compare(int index) {
        const Candidate& candidate = moves_[index];
        const double adjusted = trap_.utility(candidate.raw) + trap_.bonus(candidate.quality, candidate.raw);
        if (index != best_ && !beats_best(adjusted, candidate.raw, index)) return;
        best_ = index;
        best_adjusted_ = adjusted;
    }

    // --- The choice -------------------------------------------------------------------------------------

    // Proves that one move beats all others.
    //
    // Each move's adjusted value lies between its raw value with the best trap found so far and its raw value with the
    // best trap that is not ruled out.  As in B* (Berliner 1979), one move's lower bound above all upper ones is enough.
    void decide() {
        for (int contender = next_contender(); contender >= 0; contender = next_contender()) {
            if (moves_[best_].effort == Effort::kNone) {
                raise(best_);
            } else {
                resolve(contender);
            }
        }
    }

    // The move with the highest raw value among those that could still be chosen over the best so far; -1: none.
    int next_contender() const {
        int found = -1;
        for (int i = 0; i < count_; ++i) {
            const Candidate& candidate = moves_[i];
            if (i == best_ || candidate.is_resolved) continue;
            if (!beats_best(trap_.utility(candidate.raw) + trap_.bonus_cap(candidate.raw), candidate.raw, i)) continue;
            if (found < 0 || candidate.raw > moves_[found].raw) found = i;
        }
        return found;
    }

    // Searches those replies to the best move that are likely to be traps.
    void raise(int index) {
        Candidate& candidate = moves_[index];
        candidate.effort = Effort::kLikely;
        if (!look_into(candidate)) return;
        for (int r = 0; r < candidate.reply_count; ++r) {
            Reply& reply = candidate.replies[candidate.order[r]];
            while (reply.known < score_count() && reply.likely > candidate.quality) {
                search_next(reply);
                predict(reply, candidate.raw);
            }
            note(candidate, reply);
        }
        compare(index);
    }

    // Finds the next better trap of the best move, unless its bonus is high enough for the number of contenders:
    // further traps would cost more to find than they save.
    void raise_further(int index) {
        Candidate& candidate = moves_[index];
        const int raw = candidate.raw;
        const double cap = trap_.bonus_cap(raw);
        const double found = trap_.bonus(candidate.quality, raw);
        if (found >= (contenders_ < kManyContenders ? kSufficientBonusShare : kSufficientBonusShareOfMany) * cap) return;
        const auto matters = [&](double other) {
            const double bonus = trap_.bonus(other, raw);
            return bonus > kMinUsefulBonusShare * cap && bonus > found;
        };
        for (int r = 0; r < candidate.reply_count; ++r) {
            Reply& reply = candidate.replies[candidate.order[r]];
            settle(reply, raw, matters);
            note(candidate, reply);
            compare(index);
            if (trap_.bonus(candidate.quality, raw) > found) return;
        }
        candidate.effort = Effort::kExhausted;
    }

    // Rules out the traps by which a contender would be chosen over the best so far, or finds one.
    //
    // The largest raw value that is possible will do, since the adjusted value rises with it.
    void resolve(int index) {
        Candidate& candidate = moves_[index];
        // Whether another quality would change the choice.
        const auto matters = [&](double other) {
            return beats_best(trap_.utility(candidate.raw) + trap_.bonus(other, candidate.raw), candidate.raw, index);
        };
        if (candidate.raw_is_bound && matters(0)) settle_raw(index);
        if (best_ != index && look_into(candidate) && !is_refuted(index)) {
            for (int r = 0; r < candidate.reply_count && best_ != index; ++r) {
                Reply& reply = candidate.replies[candidate.order[r]];
                settle(reply, candidate.raw, matters);
                if (candidate.raw_is_bound) {
                    if (reply.known == score_count() && matters(quality(reply, candidate.raw))) settle_raw(index);
                } else {
                    note(candidate, reply);
                    compare(index);
                }
            }
        }
        candidate.is_resolved = best_ != index;
    }

    // Whether a reply that seems to refute the move, by the depths searched so far, does.
    bool is_refuted(int index) {
        Candidate& candidate = moves_[index];
        const int last = score_count() - 1;
        const int floor = floor_of(index);
        for (int r = 0; r < candidate.reply_count && candidate.raw_is_bound; ++r) {
            Reply& reply = candidate.replies[r];
            if (reply.likely_final >= floor) continue;
            const int score = search_.search(reply.after, last, floor - 1, floor, stop_);
            if (score < floor) {
                reply.final_bound = score;
                candidate.raw = score;
                return true;
            }
            reply.scores[last] = score;
            reply.likely_final = score;
        }
        return false;
    }

    double quality(const Reply& reply, int raw) const {
        return trap_.quality(trap_.assess(reply.scores, shallow_count()), reply.scores[score_count() - 1], raw);
    }

    void note(Candidate& candidate, const Reply& reply) const {
        if (reply.known < score_count()) return;
        const double found = quality(reply, candidate.raw);
        if (found > candidate.quality) candidate.quality = found;
    }

    // --- Profiles ---------------------------------------------------------------------------------------

    // Lists the replies, those first that look most like traps to shallow searches.  False: there are none, since the
    // move ends the game, or none could gain a bonus.
    bool look_into(Candidate& candidate) {
        if (candidate.replies != nullptr) return true;
        if (trap_.bonus_cap(candidate.raw) == 0 || !list_replies(candidate)) return false;
        Reply* replies = candidate.replies;
        for (int r = 0; r < candidate.reply_count; ++r) {
            begin(replies[r], candidate.raw);
            candidate.order[r] = r;
        }
        sort(candidate.order, candidate.reply_count, [&](int a, int b) { return replies[a].likely > replies[b].likely; });
        return true;
    }

    bool list_replies(Candidate& candidate) {
        return Base::list_replies(candidate, depth_, [&](Reply& reply, int move, int* scores) {
            reply = {game_.play(candidate.after, move), move, scores, 0, kInfinity, 0, 0};
            for (int d = 0; d < depth_; ++d) scores[d] = -kInfinity;
        });
    }

    static constexpr int kMinProvingGapCenti = 100;  // centi-units between the likely score and a sufficient one

    int score_count() const { return depth_ - 1; }    // s_2 .. s_D
    int shallow_count() const { return depth_ - 2; }  // s_2 .. s_(D-1)

    // The next exact score of a reply, the shallow ones first.
    void search_next(Reply& reply) {
        const int i = reply.known;
        const int alpha = reply.scores[i] > -kInfinity ? reply.scores[i] - 1 : -kInfinity;
        reply.scores[i] = search_.search(reply.after, i, alpha, kInfinity, stop_);
        ++reply.known;
    }

    // A lower bound of the assessment, in the scale's unit.
    double shallow_bound(const Reply& reply) const {
        return shallow_count() == 0 ? kInfinity : trap_.assess(reply.scores, shallow_count());
    }

    // Searches so shallow that they cost next to nothing, but enough of them to bound a median.
    void begin(Reply& reply, int raw) {
        const int enough = shallow_count() / 2 + 1;
        while (reply.known < enough && reply.known < shallow_count()) search_next(reply);
        // The searches behind the raw value left bounds in the table.
        for (int i = reply.known; i < score_count(); ++i) {
            TTData tt_data;
            if (search_.probe(reply.after, i, tt_data) && tt_data.bound != Bound::kUpper) reply.scores[i] = tt_data.score;
        }
        predict(reply, raw);
    }

    // Sets `likely`: every depth repeats the last known score of its parity.
    void predict(Reply& reply, int raw) {
        if (reply.known == 0) return;
        int scores[TrapArithmetic::kMaxShallow];
        for (int i = 0; i < score_count(); ++i) {
            const int back = i - reply.known + 1;
            const int from = back <= 0 ? i : i - back - (back & 1);
            scores[i] = reply.scores[from < 0 ? 0 : from];
            if (scores[i] < reply.scores[i]) scores[i] = reply.scores[i];
        }
        const int last = score_count() - 1;
        reply.likely_final = scores[last] > reply.scores[last] ? scores[last] : reply.scores[last];
        reply.likely = trap_.inclination(trap_.assess(scores, shallow_count()), reply.likely_final, raw);
    }

    // Searches until the reply's quality is known, or has bounds that prove that it does not matter.
    template <class Matters>
    void settle(Reply& reply, int raw, const Matters& matters) {
        const int last = score_count() - 1;
        while (reply.known < score_count()) {
            const double shallow = shallow_bound(reply);
            if (!matters(trap_.quality_ceiling(shallow, reply.final_bound, raw))) return;
            const int telling = min_relevant_final(shallow, raw, matters);
            // A null window proves that the reply stays below it, but costs more than several of the shallow searches
            // that could raise it: so only when it will probably succeed.
            if (reply.likely_final < telling) {
                const int score = search_.search(reply.after, last, telling - 1, telling, stop_);
                if (score < telling) {
                    reply.final_bound = score;
                    return;
                }
                reply.scores[last] = score;
                if (reply.likely_final < score) reply.likely_final = score;
                continue;
            }
            if (reply.known == shallow_count() - 1 && prove_shallow(reply, raw, matters)) continue;
            search_next(reply);
            predict(reply, raw);
        }
    }

    // The lowest full-depth score at which a reply with that assessment (or higher) could matter.
    template <class Matters>
    int min_relevant_final(double shallow, int raw, const Matters& matters) const {
        int low = raw + 1;
        int high = kInfinity;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (matters(trap_.quality_ceiling(shallow, middle, raw))) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // A bound on the deepest shallow score at which the full-depth score can probably be pruned.
    template <class Matters>
    bool prove_shallow(Reply& reply, int raw, const Matters& matters) {
        const int deepest = shallow_count() - 1;
        if (deepest < 4 || reply.scores[deepest] > -kInfinity) return false;  // cheap enough, or tried
        const int likely = reply.scores[deepest - 2];
        const int final = reply.likely_final;
        int low = -kInfinity;
        int high = likely + 1;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            reply.scores[deepest] = middle;
            const double shallow = shallow_bound(reply);
            if (!matters(trap_.quality_ceiling(shallow, final, raw))) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        reply.scores[deepest] = -kInfinity;
        if (low + kMinProvingGapCenti > likely) return false;
        const int bound = low + (likely - low) / 4;
        const int score = search_.search(reply.after, deepest, bound - 1, bound, stop_);
        if (score < bound) return false;
        reply.scores[deepest] = score;
        return true;
    }

    // --- Lost positions ---------------------------------------------------------------------------------

    // Exact raw value, and profiles of the replies that would let us escape.
    void find_escapes(Candidate& candidate) {
        candidate.raw = raw_of(candidate.after, -kInfinity, kInfinity);
        candidate.raw_is_bound = false;
        if (candidate.replies == nullptr && !list_replies(candidate)) return;
        for (int r = 0; r < candidate.reply_count; ++r) {
            Reply& reply = candidate.replies[r];
            const int score = search_.search(reply.after, score_count() - 1, -kWin, -kWin + 1, stop_);
            reply.final_bound = score;
            if (score > -kWin) {
                while (reply.known < score_count()) search_next(reply);
            }
        }
    }

    // --- Output -----------------------------------------------------------------------------------------

    void report(const Candidate& candidate, ProfileSink& sink) const {
        bool complete = !candidate.raw_is_bound;
        for (int r = 0; r < candidate.reply_count; ++r) {
            const Reply& reply = candidate.replies[r];
            const bool is_known = reply.known == score_count();
            complete = complete && is_known;
            double shallow = shallow_bound(reply);
            if (shallow < -kInfinity) shallow = -kInfinity;
            sink.reply(reply.move, reply.scores, is_known ? score_count() : 0, reply.final_bound, shallow);
        }
        if (candidate.reply_count == 0) complete = complete && game_.moves(candidate.after).empty();
        sink.candidate(candidate.move, candidate.raw, candidate.raw_is_bound, complete);
    }

    const TrapArithmetic trap_;
    int contenders_ = 0;  // moves not better than the best that could overtake it
    int best_ = -1;
    double best_adjusted_ = 0;
};

}  // namespace
}  // namespace desdemona
