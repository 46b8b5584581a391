// A game whose strong search evaluates positions by a network instead of the game's own evaluation.
#pragma once

#include <cstdint>

#include "network.hpp"

namespace desdemona {
namespace {
namespace networked {

struct Piece {
    int side;
    int kind;
    int square;
};

// What a move changes, at most: castling moves two pieces, and a promotion may capture.
struct Changes {
    Piece added[2];
    Piece removed[2];
    int added_count = 0;
    int removed_count = 0;

    void add(Piece piece) { added[added_count++] = piece; }
    void remove(Piece piece) { removed[removed_count++] = piece; }
};

}  // namespace networked

// The game G with accumulators in its nodes.  `Inputs` numbers the inputs of its network:
//
// * `Inputs::Weights`: the type of the network.
// * `mirror(node, view)`: how side `view` sees the board, from the place of its own king: 0, or 1 for mirrored.
// * `index(view, mirror, piece)`: the input for a piece.
// * `for_each(node, visit)`: calls visit(piece) for all pieces.  `pieces(node)`: how many there are.
// * `changes(before, after)`: of a move, which changes at least one piece on either hand, or none at all (a pass).
template <class G, class Inputs>
class Networked : public G {
    using Weights = typename Inputs::Weights;
    static constexpr int kWidth = network::kWidth;

   public:
    using typename G::Position;

    struct Node : G::Node {
        network::Accumulators sums;
    };

    template <class Evaluation>
    Networked(const Evaluation& evaluation, const Weights* weights) : G(evaluation), weights_(weights) {}

    Node root(const Position& p) const {
        Node node;
        base(node) = G::root(p);
        if (weights_ != nullptr) {
            for (const int view : {0, 1}) refresh(node, view);
        }
        return node;
    }

    Node play(const Node& before, int move) const {
        Node after;
        base(after) = G::play(before, move);
        if (weights_ == nullptr) return after;
        const networked::Changes changes = Inputs::changes(before, after);
        for (const int view : {0, 1}) {
            const int mirror = Inputs::mirror(after, view);
            if (mirror == Inputs::mirror(before, view)) {
                update(before.sums.of[view], after.sums.of[view], view, mirror, changes);
            } else {
                refresh(after, view);
            }
        }
        return after;
    }

    Node pass(const Node& before) const {
        Node after;
        base(after) = G::pass(before);
        if (weights_ != nullptr) after.sums = before.sums;
        return after;
    }

    // In centi-units for the side to move.
    int evaluate(const Node& node) const {
        if (weights_ == nullptr) return G::evaluate(node);
        using namespace network;
        const int bucket = bucket_of(Inputs::pieces(node));
        const int side = node.state.side;
        const auto& outputs = weights_->outputs[bucket];
        const std::int64_t squared = activated(node.sums.of[side], outputs[0]) +
                                     activated(node.sums.of[1 - side], outputs[1]);
        const std::int64_t sum = squared / kInputUnit + weights_->output_bias[bucket];
        const std::int64_t score = sum * kScoreUnit / (kInputUnit * kOutputUnit);
        constexpr int kMost = 20'000;
        return score > kMost ? kMost : score < -kMost ? -kMost : static_cast<int>(score);
    }

   private:
    static typename G::Node& base(Node& node) { return node; }

    // Written so that compilers turn the loops into vector instructions.
    static std::int64_t activated(const std::int16_t* sums, const std::int16_t* weights) {
        constexpr int kPart = kWidth / 2;  // few enough for 32 bits
        std::int64_t total = 0;
        for (int part = 0; part < kWidth; part += kPart) {
            std::int32_t sum = 0;
            for (int i = part; i < part + kPart; ++i) {
                std::int16_t value = sums[i];
                value = value < 0 ? std::int16_t{0} : value;
                value = value > network::kInputUnit ? std::int16_t{network::kInputUnit} : value;
                const auto weighed = static_cast<std::int16_t>(value * weights[i]);
                sum += static_cast<std::int32_t>(weighed) * static_cast<std::int32_t>(value);
            }
            total += sum;
        }
        return total;
    }

    const std::int16_t* input(int view, int mirror, networked::Piece piece) const {
        return weights_->inputs[Inputs::index(view, mirror, piece)];
    }

    void refresh(Node& node, int view) const {
        std::int16_t* sums = node.sums.of[view];
        const int mirror = Inputs::mirror(node, view);
        for (int i = 0; i < kWidth; ++i) sums[i] = weights_->bias[i];
        Inputs::for_each(node, [&](networked::Piece piece) {
            const std::int16_t* added = input(view, mirror, piece);
            for (int i = 0; i < kWidth; ++i) sums[i] = static_cast<std::int16_t>(sums[i] + added[i]);
        });
    }

    void update(const std::int16_t* before, std::int16_t* after, int view, int mirror,
                const networked::Changes& changes) const {
        const std::int16_t* added = input(view, mirror, changes.added[0]);
        const std::int16_t* removed = input(view, mirror, changes.removed[0]);
        if (changes.removed_count == 1) {
            for (int i = 0; i < kWidth; ++i) after[i] = static_cast<std::int16_t>(before[i] + added[i] - removed[i]);
            return;
        }
        const std::int16_t* second = input(view, mirror, changes.removed[1]);
        for (int i = 0; i < kWidth; ++i) {
            after[i] = static_cast<std::int16_t>(before[i] + added[i] - removed[i] - second[i]);
        }
        if (changes.added_count == 2) {
            const std::int16_t* other = input(view, mirror, changes.added[1]);
            for (int i = 0; i < kWidth; ++i) after[i] = static_cast<std::int16_t>(after[i] + other[i]);
        }
    }

    const Weights* weights_;  // null: the game's own evaluation
};

}  // namespace
}  // namespace desdemona
