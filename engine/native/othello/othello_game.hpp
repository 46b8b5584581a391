// Othello for the search (see game.hpp): nodes with incrementally updated pattern indices.
#pragma once

#include "othello/evaluation.hpp"
#include "othello/othello.hpp"

namespace desdemona::othello {
namespace {

// Sixteen features; the compiler maps it to one AVX2 register, or to two of SSE2.
typedef std::uint16_t Lane __attribute__((vector_size(32), may_alias));
constexpr int kLaneCount = patterns::kLanes / 16;

struct Node {
    Lane features[kLaneCount];
    Position position;
    int colour;  // 0: the side that was to move at the root, whose discs are digit 1 in the features
};

// Legal moves as a range: corners first, then by square; a pass when there is no other.
class Moves {
   public:
    class Iterator {
       public:
        Iterator(Board now, Board later, bool done) : now_(now), later_(later), done_(done) {}
        int operator*() const { return std::countr_zero(now_); }  // of no square: 64, the pass
        Iterator& operator++() {
            now_ &= now_ - 1;
            if (now_ == 0) {
                now_ = later_;
                later_ = 0;
                if (now_ == 0) done_ = true;
            }
            return *this;
        }
        bool operator!=(std::nullptr_t) const { return !done_; }

       private:
        Board now_;
        Board later_;
        bool done_;
    };

    Moves(Board squares, bool can_pass) : squares_(squares), can_pass_(can_pass) {}
    bool empty() const { return squares_ == 0 && !can_pass_; }
    Iterator begin() const {
        const Board corners = squares_ & kCorners;
        if (corners != 0) return {corners, squares_ & ~kCorners, false};
        return {squares_, 0, empty()};
    }
    std::nullptr_t end() const { return nullptr; }

   private:
    Board squares_;
    bool can_pass_;
};

inline Board neighbours(Board b) {
    const Board sides = (b << 1 & kNotA) | (b >> 1 & kNotH);
    const Board row = b | sides;
    return sides | row << 8 | row >> 8;
}

class OthelloGame {
   public:
    using Position = othello::Position;
    using Node = othello::Node;
    static constexpr int kMoves = 65;
    static constexpr int kMaxMoves = 64;  // 33 in games; artificial positions have more

    explicit OthelloGame(const Evaluation& evaluation) : evaluation_(evaluation) {}

    Node root(Position p) const {
        Node node{{}, p, 0};
        for (Board rest = p.mover; rest != 0; rest &= rest - 1) add(node, std::countr_zero(rest));
        for (Board rest = p.waiter; rest != 0; rest &= rest - 1) {
            add(node, std::countr_zero(rest));
            add(node, std::countr_zero(rest));
        }
        return node;
    }

    Moves moves(const Node& node) const {
        const Board squares = moves_mask(node.position);
        return {squares, squares == 0 && moves_mask(passed(node.position)) != 0};
    }

    Node play(const Node& node, int move) const {
        Node after = node;
        after.colour = 1 - node.colour;
        if (move == kPass) {
            after.position = passed(node.position);
            return after;
        }
        const Board flipped = flips_mask(node.position, move);
        after.position = {node.position.waiter & ~flipped, node.position.mover | flipped | Board{1} << move};
        Lane change[kLaneCount];
        const Lane* placed = steps(move);
        if (node.colour == 0) {  // 0 becomes 1, and each flipped 2 becomes 1
            for (int i = 0; i < kLaneCount; ++i) change[i] = placed[i];
            for (Board rest = flipped; rest != 0; rest &= rest - 1) {
                const Lane* turned = steps(std::countr_zero(rest));
                for (int i = 0; i < kLaneCount; ++i) change[i] -= turned[i];
            }
        } else {
            for (int i = 0; i < kLaneCount; ++i) change[i] = placed[i] + placed[i];
            for (Board rest = flipped; rest != 0; rest &= rest - 1) {
                const Lane* turned = steps(std::countr_zero(rest));
                for (int i = 0; i < kLaneCount; ++i) change[i] += turned[i];
            }
        }
        for (int i = 0; i < kLaneCount; ++i) after.features[i] += change[i];
        return after;
    }

    std::uint64_t hash(const Node& node) const { return othello::hash(node.position); }

    int result(const Node& node) const { return result_of_margin(margin_discs(node.position)); }

    int evaluate(const Node& node) const {
        return evaluate(node, moves_mask(node.position), moves_mask(passed(node.position)));
    }

    int leaf(const Node& node) const {
        const Board ours = moves_mask(node.position);
        const Board theirs = moves_mask(passed(node.position));
        return (ours | theirs) == 0 ? result(node) : evaluate(node, ours, theirs);
    }

    // Leave the opponent few moves, and few potential ones; corners count double.
    int order(const Node& node, int move) const {
        return order_after(move, othello::play(node.position, move));
    }
    static int order_after(int move, Position p) {
        const Board replies = moves_mask(p);
        const Board empty = ~(p.mover | p.waiter);
        return kSquareOrder[move] - 16 * (std::popcount(replies) + std::popcount(replies & kCorners)) -
               6 * std::popcount(neighbours(p.waiter) & empty);
    }

    int guess(const Node& node, int move) const { return order(node, move) - leaf(play(node, move)) / 2; }

   private:
    static const Lane* steps(int square) {
        return reinterpret_cast<const Lane*>(patterns::kLayout.step[square]);
    }
    static void add(Node& node, int square) {
        for (int i = 0; i < kLaneCount; ++i) node.features[i] += steps(square)[i];
    }

    int evaluate(const Node& node, Board ours, Board theirs) const {
        using namespace patterns;
        const Position p = node.position;
        const int empties = std::popcount(~(p.mover | p.waiter));
        const std::int16_t* weights = evaluation_.stage(stage_of(empties), node.colour);
        const auto* feature = reinterpret_cast<const std::uint16_t*>(node.features);
        int sum = weights[kMoverMobility + std::popcount(ours)] + weights[kWaiterMobility + std::popcount(theirs)];
#pragma GCC unroll 46
        for (int i = 0; i < kFeatureCount; ++i) sum += weights[kLayout.table[kLayout.pattern_of[i]] + feature[i]];
        const int score = kUnitCenti * sum;
        return score > kMaxEvaluation ? kMaxEvaluation : score < -kMaxEvaluation ? -kMaxEvaluation : score;
    }

    // Square values for move ordering, other things being equal; the pass comes last.
    static constexpr std::int8_t kSquareOrder[65] = {
        90,  -20, 10, 6, 6, 10, -20, 90,  -20, -40, 0, 0, 0, 0, -40, -20, 10, 0,   4,  2, 2, 4,
        0,   10,  6,  0, 2, 0,  0,   2,   0,   6,   6, 0, 2, 0, 0,   2,   0,  6,   10, 0, 4, 2,
        2,   4,   0,  10, -20, -40, 0, 0, 0,   0,   -40, -20, 90, -20, 10, 6, 6,   10, -20, 90, 0};

    const Evaluation& evaluation_;
};

static_assert(Game<OthelloGame>);

}  // namespace
}  // namespace desdemona::othello
