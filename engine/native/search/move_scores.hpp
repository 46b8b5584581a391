// Shared by the analyses of both trap players (profile.hpp, tempting_profile.hpp): our moves with their raw values, and
// memory for their replies.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "search/buffer.hpp"
#include "search/search.hpp"

namespace desdemona {
namespace {

template <Game G, class Candidate>
class MoveScores {
   public:
    using Node = typename G::Node;

   protected:
    MoveScores(Search<G>& search, const Node& root, int depth, bool is_swindling, const StopFlag& stop)
        : search_(search),
          game_(search.game()),
          root_(root),
          depth_(depth),
          is_swindling_(is_swindling),
          stop_(stop),
          moves_(G::kMaxMoves),
          order_(G::kMaxMoves) {}

    ~MoveScores() {
        for (int i = 0; i < count_; ++i) std::free(moves_[i].replies);
    }

    // Lists the moves in the fixed order (by number), and the order to search them in.
    void list_moves() {
        for (const int move : game_.moves(root_)) moves_[count_++].move = move;
        sort(moves_, count_, [](const Candidate& a, const Candidate& b) { return a.move < b.move; });
        for (int i = 0; i < count_; ++i) {
            order_[i] = i;
            moves_[i].after = game_.play(root_, moves_[i].move);
            moves_[i].guess = guess(moves_[i].after);
        }
        sort(order_, count_, [this](int a, int b) { return moves_[a].guess > moves_[b].guess; });
    }

    // The last iteration's score of a move (twice its value, so that an exact one outranks an equal bound): from the
    // table, or by a search too small for the table.
    int guess(const Node& after) {
        TTData tt_data;
        if (search_.probe(after, depth_ - 2, tt_data)) return -2 * tt_data.score + (tt_data.bound == Bound::kExact);
        return -2 * search_.search(after, depth_ < 6 ? depth_ - 2 : 2, -kInfinity, kInfinity, stop_);
    }

    int raw_of(const Node& after, int alpha, int beta) {
        return -search_.search(after, depth_ - 1, -beta, -alpha, stop_);
    }

    // Lists a candidate's replies, by number, and allocates memory for their order and a few more integers per reply;
    // `make` fills in a reply and receives these. False: there are none, since the move ends the game.
    template <class Make>
    bool list_replies(Candidate& candidate, int integers, const Make& make) {
        Buffer<int> replies(G::kMaxMoves);
        int count = 0;
        for (const int move : game_.moves(candidate.after)) replies[count++] = move;
        if (count == 0) return false;
        sort(replies, count, [](int a, int b) { return a < b; });
        const auto size = static_cast<std::size_t>(count);
        const auto more = static_cast<std::size_t>(integers);
        const std::size_t bytes = size * (sizeof(*candidate.replies) + (more + 1) * sizeof(int));
        void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (memory == nullptr) std::abort();
        candidate.replies = static_cast<decltype(candidate.replies)>(memory);
        candidate.reply_count = count;
        auto* free = reinterpret_cast<int*>(candidate.replies + size);
        candidate.order = free + size * more;
        for (int r = 0; r < count; ++r) make(candidate.replies[r], replies[r], free + r * integers);
        return true;
    }

    Search<G>& search_;
    const G& game_;
    const Node root_;
    const int depth_;
    const bool is_swindling_;
    const StopFlag& stop_;
    Buffer<Candidate> moves_;
    Buffer<int> order_;  // to search the moves in
    int count_ = 0;
};

}  // namespace
}  // namespace desdemona
