// A game whose strong search corrects the evaluation with a network.
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
// * `changes(before, after)`: what a move changes: at least one piece in each position, or nothing at all (a pass).
template <class G, class Inputs>
class Networked : public G {
    using Weights = typename Inputs::Weights;
    static constexpr int kWidth = network::kWidth;

   public:
    using typename G::Position;

    // The accumulators are computed when they are needed, from those of the previous node.
    struct Node : G::Node {
        const Node* before;  // which must live as long as this one is evaluated, or null: the root
        mutable bool is_summed;
        mutable network::Accumulators sums;
    };

    template <class Evaluation>
    Networked(const Evaluation& evaluation, const Weights* weights) : G(evaluation), weights_(weights) {}

    Node root(const Position& p) const {
        Node node;
        base(node) = G::root(p);
        node.before = nullptr;
        node.is_summed = false;
        return node;
    }

    Node play(const Node& before, int move) const {
        Node after;
        base(after) = G::play(before, move);
        after.before = &before;
        after.is_summed = false;
        return after;
    }

    Node pass(const Node& before) const {
        Node after;
        base(after) = G::pass(before);
        after.before = &before;
        after.is_summed = false;
        return after;
    }

    // Makes the node independent of the previous one.
    void detach(Node& node) const {
        if (weights_ != nullptr) sum(node);
        node.before = nullptr;
    }

    // In centi-units for the side to move.
    int evaluate(const Node& node) const {
        if (weights_ == nullptr) return G::evaluate(node);
        using namespace network;
        sum(node);
        const int bucket = bucket_of(Inputs::pieces(node));
        const int side = node.state.side;
        const auto& outputs = weights_->outputs[bucket];
        const std::int64_t squared = activated(node.sums.of[side], outputs[0]) +
                                     activated(node.sums.of[1 - side], outputs[1]);
        const std::int64_t sum = squared / kInputUnit + weights_->output_bias[bucket];
        const std::int64_t score = G::evaluate(node) + sum * kScoreUnit / (kInputUnit * kOutputUnit);
        constexpr int kMost = 20'000;
        return score > kMost ? kMost : score < -kMost ? -kMost : static_cast<int>(score);
    }

   private:
    static typename G::Node& base(Node& node) { return node; }

    void sum(const Node& node) const {
        if (node.is_summed) return;
        node.is_summed = true;
        if (node.before == nullptr) {
            for (const int view : {0, 1}) refresh(node, view);
            return;
        }
        const Node& before = *node.before;
        sum(before);
        const networked::Changes changes = Inputs::changes(before, node);
        if (changes.added_count == 0) {
            node.sums = before.sums;
            return;
        }
        for (const int view : {0, 1}) {
            const int mirror = Inputs::mirror(node, view);
            if (mirror == Inputs::mirror(before, view)) {
                update(before.sums.of[view], node.sums.of[view], view, mirror, changes);
            } else {
                refresh(node, view);
            }
        }
    }

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

    void refresh(const Node& node, int view) const {
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

    const Weights* weights_;  // null: no correction
};

}  // namespace
}  // namespace desdemona
