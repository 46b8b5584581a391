// The tempting player's candidates: tests/engine/native/tempting_mirror.py in C++, with the same result in every number; see there
// for what is left out and why, and engine/tempting.py for the arithmetic.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "core.hpp"
#include "search/move_scores.hpp"

namespace desdemona {
namespace {

// The arithmetic of engine/tempting.py.
class TemptingArithmetic {
   public:
    static constexpr int kWhole = 10'000;  // a certain win
    static constexpr int kRawShare = 1'000;
    static constexpr int kLossShare = 600;

    explicit TemptingArithmetic(const TemptingOptions& options)
        : options_(options), certain_(least_score(kWhole)) {}

    int to_expected_score(int score) const {
        const int size = score < 0 ? -score : score;
        const int found = size < options_.expected_count ? options_.expected[size] : kWhole;
        return score < 0 ? kWhole - found : found;
    }

    // The lowest score with that expected score or more.
    int least_score(int least_expected) const {
        int low = -kInfinity;
        int high = kInfinity;
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (to_expected_score(middle) >= least_expected) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // From this score on a reply is worth a certain win.
    int certain() const { return certain_; }

    // The lowest raw value with which a move is allowed and could be chosen over the move with the best one.
    int contender_floor(int best) const {
        const int best_expected = to_expected_score(best);
        const int share = options_.share_percent * best_expected / 100;
        const int given_up = share < options_.budget ? share : options_.budget;
        const bool is_nearly_won = best_expected > kWhole - options_.budget;
        int floor = least_score(best_expected - given_up);
        const int nearest = best - (is_nearly_won ? options_.won_gap_centi : options_.gap_centi);
        floor = nearest > floor ? nearest : floor;
        const int missing = kRawShare * best_expected - kLossShare * kWhole;
        if (missing < 0) return floor;
        const int beaten = missing / (kRawShare - kLossShare);
        const int worthwhile = beaten >= kWhole ? best : least_score(beaten + 1);
        const int reach = worthwhile < best ? worthwhile : best;
        return reach > floor ? reach : floor;
    }

    int weight(int behind, int rank) const { return options_.weights[behind] / (1 + rank); }

    // adj, from the sums of q times profit, and of q.
    static int adjusted(int raw_expected, std::int64_t profits, std::int64_t total) {
        return kRawShare * raw_expected + (total == 0 ? 0 : static_cast<int>(kLossShare * profits / total));
    }

    // The maximum standing if nothing is known about the replies.
    static int ceiling(int raw_expected) { return (kRawShare - kLossShare) * raw_expected + kLossShare * kWhole; }

   private:
    const TemptingOptions options_;
    const int certain_;
};

template <class Node>
struct TemptingReply {
    Node after;
    int move;
    int shallow[2];  // s_2 and s_3, our view
    int weight;
    int least;  // s_D is at least this
    int most;   // and at most this
};

template <class Node>
struct TemptingCandidate {
    Node after;
    int move;
    int guess;
    int raw;
    bool raw_is_bound;
    bool is_over;     // it ends the game
    bool is_looked;   // its replies' shallow scores are known
    TemptingReply<Node>* replies;   // sorted by move
    int* order;       // of the replies, by falling weight
    int reply_count;
    std::int64_t total;  // of all weights
};

template <Game G>
class Tempter : MoveScores<G, TemptingCandidate<typename G::Node>> {
    using Base = MoveScores<G, TemptingCandidate<typename G::Node>>;
    using Base::count_, Base::depth_, Base::game_, Base::is_swindling_, Base::moves_, Base::order_, Base::raw_of;
    using Base::search_, Base::stop_;
    using typename Base::Node;
    using Reply = TemptingReply<Node>;
    using Candidate = TemptingCandidate<Node>;

   public:
    Tempter(Search<G>& search, const Node& root, int depth, const TemptingOptions& options, const StopFlag& stop)
        : Base(search, root, depth, options.swindle, stop), arithmetic_(options) {}

    // Passes every legal move to the sink, in the fixed order.
    void find(ProfileSink& sink) {
        this->list_moves();
        if (count_ == 0) return;
        find_raws();
        if (is_swindling_ && best_raw_ <= -kWin) {
            for (int i = 0; i < count_; ++i) report_escapes(moves_[i], sink);
            return;
        }
        const int floor = arithmetic_.contender_floor(best_raw_);
        for (int i = 0; i < count_; ++i) {
            Candidate& candidate = moves_[i];
            candidate.raw_is_bound = candidate.raw < floor;
            if (candidate.raw_is_bound) candidate.raw = floor - 1;
        }
        decide();
        for (int i = 0; i < count_; ++i) report(moves_[i], sink);
    }

   private:
    static constexpr int kSettledShare = 8;  // SETTLED_SHARE of tests/engine/native/tempting_mirror.py

    // Sort key of moves: the greatest is chosen.
    struct Standing {
        int adjusted;
        int raw;
        int index;

        bool operator>(const Standing& other) const {
            if (adjusted != other.adjusted) return adjusted > other.adjusted;
            if (raw != other.raw) return raw > other.raw;
            return index < other.index;
        }
    };

    // --- Raw values -------------------------------------------------------------------------------------

    // Exact raw values from the floor up, for the others upper bounds: `raw_candidates_above` in engine/search/profiles.py.
    void find_raws() {
        best_raw_ = -kInfinity;
        for (int i = 0; i < count_; ++i) {
            Candidate& candidate = moves_[order_[i]];
            candidate.is_over = game_.moves(candidate.after).empty();
            if (i == 0) {
                candidate.raw = raw_of(candidate.after, -kInfinity, kInfinity);
            } else {
                const int floor = arithmetic_.contender_floor(best_raw_);
                const int alpha = floor - 1 > -kInfinity ? floor - 1 : -kInfinity;
                candidate.raw = raw_of(candidate.after, alpha, best_raw_ + 1);
                if (candidate.raw > best_raw_) candidate.raw = raw_of(candidate.after, best_raw_, kInfinity);
            }
            if (candidate.raw > best_raw_) best_raw_ = candidate.raw;
        }
    }

    // --- The choice -------------------------------------------------------------------------------------

    void decide() {
        Buffer<int> order(count_);
        int contenders = 0;
        for (int i = 0; i < count_; ++i) {
            if (!moves_[i].raw_is_bound) order[contenders++] = i;
        }
        sort(order, contenders, [this](int a, int b) { return moves_[a].raw > moves_[b].raw; });
        int best = order[0];
        for (int i = 1; i < contenders; ++i) {
            if (is_beaten(order[i], best)) continue;
            settle(best, kSettledShare);
            if (!is_beaten(order[i], best) && overtakes(order[i], best)) best = order[i];
        }
    }

    // Whether a move with only its raw value known cannot be chosen over the best so far.
    bool is_beaten(int index, int best) const {
        const Candidate& candidate = moves_[index];
        const int expected = arithmetic_.to_expected_score(candidate.raw);
        const int most = candidate.is_over ? TemptingArithmetic::adjusted(expected, 0, 0) : TemptingArithmetic::ceiling(expected);
        return low(best) > Standing{most, candidate.raw, index};
    }

    // Computes the shallow scores of a move's replies.
    void look(Candidate& candidate) {
        if (candidate.is_looked) return;
        candidate.is_looked = true;
        list_replies(candidate);
        const int count = candidate.reply_count;
        Buffer<int> shallow(count);
        int best = 0;
        for (int r = 0; r < count; ++r) {
            Reply& reply = candidate.replies[r];
            for (int d = 0; d < 2; ++d) reply.shallow[d] = search_.search(reply.after, d, -kInfinity, kInfinity, stop_);
            reply.least = candidate.raw;
            reply.most = kInfinity;
            shallow[r] = 2 * TemptingArithmetic::kWhole - arithmetic_.to_expected_score(reply.shallow[0]) -
                       arithmetic_.to_expected_score(reply.shallow[1]);
            if (shallow[r] > best) best = shallow[r];
        }
        for (int r = 0; r < count; ++r) {
            int rank = 0;
            for (int other = 0; other < count; ++other) rank += shallow[other] > shallow[r];
            candidate.replies[r].weight = arithmetic_.weight(best - shallow[r], rank);
            candidate.total += candidate.replies[r].weight;
            candidate.order[r] = r;
        }
        const Reply* replies = candidate.replies;
        sort(candidate.order, count, [replies](int a, int b) { return replies[a].weight > replies[b].weight; });
    }

    bool is_settled(const Reply& reply) const {
        return reply.least == reply.most || reply.least >= arithmetic_.certain();
    }
    bool is_open(const Reply& reply) const { return reply.most == kInfinity && !is_settled(reply); }

    std::int64_t open_weight(const Candidate& candidate) const {
        std::int64_t open = 0;
        for (int r = 0; r < candidate.reply_count; ++r) {
            if (!is_settled(candidate.replies[r])) open += candidate.replies[r].weight;
        }
        return open;
    }

    // The minimum and the maximum of the standing.
    Standing low(int index) const { return standing(index, &Reply::least); }
    Standing high(int index) const { return standing(index, &Reply::most); }

    Standing standing(int index, int Reply::* bound) const {
        const Candidate& candidate = moves_[index];
        const int raw_expected = arithmetic_.to_expected_score(candidate.raw);
        std::int64_t profits = 0;
        for (int r = 0; r < candidate.reply_count; ++r) {
            const Reply& reply = candidate.replies[r];
            profits += std::int64_t{reply.weight} * (arithmetic_.to_expected_score(reply.*bound) - raw_expected);
        }
        return {TemptingArithmetic::adjusted(raw_expected, profits, candidate.total), candidate.raw, index};
    }

    // Exact scores by falling weight, until the other replies have less than the share of all weight (0: of all).
    void settle(int index, int share = 0) {
        Candidate& candidate = moves_[index];
        look(candidate);
        for (int r = 0; r < candidate.reply_count; ++r) {
            if (share > 0 && open_weight(candidate) * share < candidate.total) return;
            settle_reply(candidate.replies[candidate.order[r]]);
        }
    }

    void settle_reply(Reply& reply) {
        if (is_settled(reply)) return;
        const int certain = arithmetic_.certain();
        const int beta = reply.most < certain ? reply.most + 1 : certain;
        const int score = search_.search(reply.after, depth_ - 2, reply.least - 1, beta, stop_);
        reply.least = score < beta ? score : beta;
        if (score < certain) reply.most = score;
    }

    // Whether the challenger is proved to be chosen over the best so far.
    bool overtakes(int index, int best) {
        Candidate& mine = moves_[index];
        look(mine);
        while (high(index) > low(best)) {
            if (low(index) > high(best)) return true;
            int x = 0;
            if (find_excluding_score(index, low(best), x)) {
                challenge(*first(mine, [this](const Reply& reply) { return is_open(reply); }), x);
            } else if (open_weight(moves_[best]) > 0) {
                settle(best);
            } else {
                settle_reply(*first(mine, [this](const Reply& reply) { return !is_settled(reply); }));
            }
        }
        return false;
    }

    // The first reply in order for which that holds; there is one.
    template <class Holds>
    Reply* first(Candidate& candidate, const Holds& holds) {
        int r = 0;
        while (!holds(candidate.replies[candidate.order[r]])) ++r;
        return &candidate.replies[candidate.order[r]];
    }

    // A null window at x; a reply that is better for us gets its exact score.
    void challenge(Reply& reply, int x) {
        if (search_.search(reply.after, depth_ - 2, x, x + 1, stop_) <= x) {
            reply.most = x;
            return;
        }
        reply.least = x + 1 < arithmetic_.certain() ? x + 1 : arithmetic_.certain();
        settle_reply(reply);
    }

    // The score x for the next null window: with all open s_D <= x, the move is ruled out.  False: there is none.
    bool find_excluding_score(int index, const Standing& best, int& x) const {
        const Candidate& candidate = moves_[index];
        const int raw_expected = arithmetic_.to_expected_score(candidate.raw);
        std::int64_t known = 0;
        std::int64_t open = 0;
        for (int r = 0; r < candidate.reply_count; ++r) {
            const Reply& reply = candidate.replies[r];
            if (is_open(reply)) {
                open += reply.weight;
            } else {
                known += std::int64_t{reply.weight} * (arithmetic_.to_expected_score(reply.most) - raw_expected);
            }
        }
        const std::int64_t spare = needed(index, best) - 1 - known;
        if (spare < 0 || open == 0) return false;
        x = arithmetic_.least_score(raw_expected + static_cast<int>(spare / open) + 1) - 1;
        return true;
    }

    // The lowest sum of weight times profit with which the move is chosen over one of that standing.
    std::int64_t needed(int index, const Standing& best) const {
        const Candidate& candidate = moves_[index];
        const bool wins_ties = candidate.raw != best.raw ? candidate.raw > best.raw : index < best.index;
        const std::int64_t lacking =
            best.adjusted + !wins_ties - TemptingArithmetic::kRawShare * arithmetic_.to_expected_score(candidate.raw);
        if (lacking <= 0) return 0;
        return (lacking * candidate.total + TemptingArithmetic::kLossShare - 1) / TemptingArithmetic::kLossShare;
    }

    void list_replies(Candidate& candidate) {
        Base::list_replies(candidate, 0, [&](Reply& reply, int move, int*) {
            reply = {game_.play(candidate.after, move), move, {0, 0}, 0, 0, 0};
        });
    }

    // --- Output -----------------------------------------------------------------------------------------

    // In a lost position: the exact raw value, and the scores of the replies that would let us escape.
    void report_escapes(Candidate& candidate, ProfileSink& sink) {
        candidate.raw = raw_of(candidate.after, -kInfinity, kInfinity);
        list_replies(candidate);
        Buffer<int> scores(depth_);
        bool complete = true;
        for (int r = 0; r < candidate.reply_count; ++r) {
            const Reply& reply = candidate.replies[r];
            const bool escapes = search_.search(reply.after, depth_ - 2, -kWin, -kWin + 1, stop_) > -kWin;
            for (int d = 0; escapes && d < depth_ - 1; ++d) {
                scores[d] = search_.search(reply.after, d, -kInfinity, kInfinity, stop_);
            }
            complete = complete && escapes;
            sink.reply(reply.move, &scores[0], escapes ? depth_ - 1 : 0, -kWin, 0.0);
        }
        sink.candidate(candidate.move, candidate.raw, false, complete);
    }

    void report(const Candidate& candidate, ProfileSink& sink) const {
        for (int r = 0; r < candidate.reply_count; ++r) {
            const Reply& reply = candidate.replies[r];
            sink.shallow(reply.move, reply.shallow, reply.least, reply.most);
        }
        sink.candidate(candidate.move, candidate.raw, candidate.raw_is_bound,
                       candidate.is_over && !candidate.raw_is_bound);
    }

    const TemptingArithmetic arithmetic_;
    int best_raw_ = 0;
};

}  // namespace
}  // namespace desdemona
