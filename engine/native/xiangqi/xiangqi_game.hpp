// Xiangqi for the searches: the exact one (see game.hpp) and the strong one (see selective.hpp).
#pragma once

#include "xiangqi/xiangqi.hpp"
#include "xiangqi/xiangqi_evaluation.hpp"

namespace desdemona::xiangqi {
namespace {

struct Node {
    State state;
    const Past* past;
    Verdict verdict;  // of the position as a third occurrence
};

class XiangqiGame {
   public:
    using Position = xiangqi::Position;
    using Node = xiangqi::Node;
    static constexpr int kMoves = kSquares << 7;  // from | to << 7
    static constexpr int kMaxMoves = xiangqi::kMaxMoves;

    explicit XiangqiGame(const Evaluation& evaluation) : evaluation_(evaluation) {}

    // The position must outlive the node and all its descendants: they refer to its past.
    Node root(const Position& p) const { return {state_of(p), &p.past, p.verdict}; }

    // Empty when the game is over, by any rule.
    MoveList moves(const Node& node) const { return is_over_by_rule(node) ? MoveList{} : legal_moves(node.state); }

    Node play(const Node& node, int move) const {
        Node after{xiangqi::play(node.state, move), node.past, kGoesOn};
        for (int i = 0; i < node.past->twice_count; ++i) {  // nearly always none
            if (node.past->twice[i].key == after.state.key) after.verdict = node.past->twice[i].verdict;
        }
        return after;
    }

    // Repetitions within a line do not count, so a score depends only on the position, its counters and the game's
    // past.  No search is deeper than 60 plies, so only a counter of at least 40 can reach 100.
    std::uint64_t hash(const Node& node) const {
        constexpr int kCountMatters = 40;
        const std::uint64_t count = node.state.quiet >= kCountMatters ? node.state.quiet : 0;
        return node.state.key ^ mixed(count << 16 | node.state.ply) ^ node.past->salt;
    }

    int result(const Node& node) const {
        if (!has_legal_move(node.state)) return lost_after(node.state.ply);
        return node.state.quiet >= kDrawPlies ? 0 : -lost_after(node.state.ply) * node.verdict;
    }

    int evaluate(const Node& node) const { return xiangqi::evaluate(node.state, evaluation_); }

    int leaf(const Node& node) const {
        if (!has_legal_move(node.state)) return lost_after(node.state.ply);
        return is_over_by_rule(node) ? result(node) : evaluate(node);
    }

    // Captures that lose nothing by their gain, the least valuable attacker first.  Others by piece-square value, by
    // the threats from the new square, by whether the piece can be captured there, and by whether it was threatened
    // before.  The numbers were tuned on node counts of full-width searches.
    int order(const Node& node, int move) const {
        const State& s = node.state;
        const int us = s.side, from = move & 127, to = move >> 7;
        const int kind = s.kind_at(from);
        const int gained = gain(node, move);
        const bool is_sound = see_at_least(node, move, 0);
        if (gained != 0 && is_sound) return kFirst + 16 * gained - kind;
        int order = gained + place(us, kind, to) - place(us, kind, from);
        if (attackers_of(s, s.lines, us, from).any()) order += kValues[kind] / 4;
        if (!is_sound) return order - kValues[kind];
        const Bits aims = attacks_of(s, kind, to) & s.colours[1 - us];
        if ((aims & s.kinds[kGeneral]).any()) order += 60;
        if (kind != kRook && (aims & s.kinds[kRook]).any()) order += 60;
        if ((aims & (s.kinds[kHorse] | s.kinds[kCannon])).any()) order += 30;
        return order;
    }

    int guess(const Node& node, int move) const { return order(node, move) / 16 - leaf(play(node, move)); }

    // --- For the strong search ---------------------------------------------------------------------------------------

    static constexpr int kHistory = 2 * kKinds * kSquares;
    static constexpr bool kPerpetualCheckLoses = true;

    std::uint64_t key(const Node& node) const { return node.state.key; }
    int ply(const Node& node) const { return node.state.ply; }
    bool is_check(const Node& node) const { return node.state.check; }
    MoveList forcing(const Node& node) const { return legal_captures(node.state); }
    bool is_forcing(const Node& node, int move) const { return node.state.occupied().has(move >> 7); }

    int gain(const Node& node, int move) const {
        return is_forcing(node, move) ? kValues[node.state.kind_at(move >> 7)] : 0;
    }

    int attacker(const Node& node, int move) const { return node.state.kind_at(move & 127); }

    // Static exchange evaluation: whether a move wins at least this much when both sides keep capturing on its target
    // square, the least valuable piece first, for as long as they like. Exposed generals are ignored.
    bool see_at_least(const Node& node, int move, int centi) const {
        const State& s = node.state;
        const int from = move & 127, to = move >> 7;
        // How far the side that has just captured is above its aim; if negative, the other side need not go on.
        int balance = gain(node, move) - centi;
        if (balance < 0) return false;
        balance -= kValues[s.kind_at(from)];
        if (balance >= 0) return true;  // even if the capturing piece is lost
        Lines lines = s.lines;
        Bits there = (s.occupied() & ~kTables.bit[from]) | kTables.bit[to];
        lines.flip(from);
        if (!is_forcing(node, move)) lines.flip(to);
        int side = 1 - s.side;
        for (;;) {
            int kind = kSoldier;
            const Bits takers = smallest_takers(s, lines, there, side, to, kind);
            if (!takers.any()) break;
            if (kind == kGeneral) {  // may not capture a guarded piece
                int other = kSoldier;
                if (smallest_takers(s, lines, there, 1 - side, to, other).any()) break;
            }
            const int taker = takers.first();
            there ^= kTables.bit[taker];
            lines.flip(taker);
            side = 1 - side;
            balance = -1 - balance - kValues[kind];
            if (balance >= 0) break;
        }
        return side != s.side;  // that side cannot capture, or gains nothing by it
    }

    // Requires long-range pieces, so that zugzwang is very unlikely.
    bool may_pass(const Node& node) const {
        const State& s = node.state;
        return !s.check && (s.colours[s.side] & (s.kinds[kRook] | s.kinds[kCannon] | s.kinds[kHorse])).any();
    }
    Node pass(const Node& node) const { return {xiangqi::pass(node.state), node.past, kGoesOn}; }

    int history_index(const Node& node, int move) const {
        return (kKinds * node.state.side + attacker(node, move)) * kSquares + (move >> 7);
    }

    bool is_reversible(const Node& node, int move) const {
        const int from = move & 127, to = move >> 7;
        const bool is_step_forward = node.state.kinds[kSoldier].has(from) && (to - from) % kFiles == 0;
        return !is_step_forward && !is_forcing(node, move);
    }

    bool is_rule_draw(const Node& node) const { return node.state.quiet >= kDrawPlies && has_legal_move(node.state); }

    int past_count(const Node& node) const { return node.past->count; }
    std::uint64_t past_key(const Node& node, int i) const { return node.past->keys[i]; }

   private:
    static constexpr int kFirst = 30'000;  // captures before other moves
    static constexpr int kValues[kKinds] = {100, 200, 200, 400, 450, 900, 0};  // the general captures at no risk


    static bool is_over_by_rule(const Node& node) {
        return node.verdict != kGoesOn || node.state.quiet >= kDrawPlies;
    }

    // A side's least valuable attackers of a square; `there` and `lines` say which pieces are still on the board.
    static Bits smallest_takers(const State& s, const Lines& lines, Bits there, int side, int square, int& kind) {
        const Bits own = s.colours[side] & there & ~kTables.bit[square];
        kind = kSoldier;
        if (const Bits b = kTables.soldier_to[side][square] & s.kinds[kSoldier] & own; b.any()) return b;
        kind = kAdvisor;
        if (const Bits b = advisor_attacks(square) & s.kinds[kAdvisor] & own; b.any()) return b;
        kind = kElephant;
        if (const Bits b = s.kinds[kElephant] & own; b.any()) {
            if (const Bits takers = elephant_attacks(there, square) & b; takers.any()) return takers;
        }
        kind = kHorse;
        if (const Bits b = s.kinds[kHorse] & own & kTables.horse_zone[square]; b.any()) {
            if (const Bits takers = horses_to(lines, square) & b; takers.any()) return takers;
        }
        const Bits in_line = own & kTables.lines[square];
        kind = kCannon;
        if (const Bits b = s.kinds[kCannon] & in_line; b.any()) {
            if (const Bits takers = cannon_captures(lines, square) & b; takers.any()) return takers;
        }
        kind = kRook;
        if (const Bits b = s.kinds[kRook] & in_line; b.any()) {
            if (const Bits takers = rook_attacks(lines, square) & b; takers.any()) return takers;
        }
        kind = kGeneral;
        return general_attacks(square) & s.kinds[kGeneral] & own;
    }

    // Attacks of a piece from a square, as if it stood there; only for kinds that can cross the river.
    static Bits attacks_of(const State& s, int kind, int square) {
        switch (kind) {
            case kSoldier: return soldier_attacks(s.side, square);
            case kHorse: return horse_attacks(s.lines, square);
            case kCannon: return cannon_captures(s.lines, square);
            case kRook: return rook_attacks(s.lines, square);
            default: return kNoSquares;
        }
    }

    // Middlegame value.
    int place(int side, int kind, int square) const {
        const int rank = side == 0 ? kTables.rank[square] : kRanks - 1 - kTables.rank[square];
        const int file = kTables.file[square];
        return evaluation_.weights[kPieceSquare + kPlaces * kind + 5 * rank + (file < 5 ? file : 8 - file)][0];
    }

    const Evaluation& evaluation_;
};

static_assert(Game<XiangqiGame>);

}  // namespace
}  // namespace desdemona::xiangqi
