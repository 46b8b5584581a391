// Chess for the searches: the exact one (see game.hpp) and the strong one (see selective.hpp).
#pragma once

#include "chess/chess.hpp"
#include "chess/chess_evaluation.hpp"

namespace desdemona::chess {
namespace {

struct Node {
    State state;
    Bonds bonds;  // of the side to move: every use of a node needs them
    const Past* past;
};

class ChessGame {
   public:
    using Position = chess::Position;
    using Node = chess::Node;
    static constexpr int kMoves = chess::kMoves;
    static constexpr int kMaxMoves = chess::kMaxMoves;

    explicit ChessGame(const Evaluation& evaluation) : evaluation_(evaluation) {}

    // The position must outlive the node and all its descendants: they refer to its past.
    Node root(const Position& p) const { return {p.state, find_bonds(p.state), &p.past}; }

    // Empty when the game is over, by any rule.  Captures come first.
    MoveList moves(const Node& node) const {
        return is_rule_draw(node) || is_repeated(node.state, *node.past) ? MoveList{}
                                                                         : legal_moves(node.state, node.bonds);
    }

    Node play(const Node& node, int move) const { return made(chess::play(node.state, move), node.past); }

    // Repetitions within a line do not count, so a score depends only on the position, its counters and the game's
    // past.  No search is deeper than 60 plies, so only a counter of at least 40 can reach 100.
    std::uint64_t hash(const Node& node) const {
        constexpr int kCountMatters = 40;
        const std::uint64_t count = node.state.rule50 >= kCountMatters ? node.state.rule50 : 0;
        return node.state.key ^ mixed(kKeys.black + (count << 16 | node.state.ply)) ^ node.past->salt;
    }

    int result(const Node& node) const {
        return is_check(node) && legal_moves(node.state, node.bonds).empty() ? lost_after(node.state.ply) : 0;
    }

    int evaluate(const Node& node) const { return chess::evaluate(node.state, evaluation_); }

    int leaf(const Node& node) const {
        if (!has_legal_move(node.state, node.bonds)) return is_check(node) ? lost_after(node.state.ply) : 0;
        if (chess::is_rule_draw(node.state) || is_repeated(node.state, *node.past)) return 0;
        return evaluate(node);
    }

    // Captures by their gain, the least valuable attacker first; others by the gain in piece-square value.
    int order(const Node& node, int move) const {
        const State& s = node.state;
        const int from = from_of(move);
        const int to = to_of(move);
        const int piece = piece_on(s, from);
        const int gained = gain(node, move);
        const bool is_guarded = (kTables.pawn[s.side][to] & s.pieces[kPawn] & s.colours[1 - s.side]) != 0;
        if (gained != 0 && !(is_guarded && kValues[piece] > gained)) return kFirst + 16 * gained - piece;
        const bool is_threatened = (kTables.pawn[s.side][from] & s.pieces[kPawn] & s.colours[1 - s.side]) != 0;
        return place(s.side, piece, to) - place(s.side, piece, from) + gained +
               kValues[piece] / 2 * (static_cast<int>(is_threatened) - static_cast<int>(is_guarded));
    }

    int guess(const Node& node, int move) const { return order(node, move) / 4 - leaf(play(node, move)); }

    // --- For the strong search ---------------------------------------------------------------------------------------

    static constexpr int kHistory = 2 * 6 * 64;
    static constexpr bool kPerpetualCheckLoses = false;

    std::uint64_t key(const Node& node) const { return node.state.key; }
    int ply(const Node& node) const { return node.state.ply; }
    bool is_check(const Node& node) const { return node.bonds.checkers != 0; }
    MoveList forcing(const Node& node) const { return legal_moves<Kind::kForcing>(node.state, node.bonds); }

    bool is_forcing(const Node& node, int move) const {
        return promotion_of(move) == 0 ? is_capture(node.state, move) : promotion_of(move) == kQueen;
    }

    // Value of the captured piece, plus the gain of a promotion.
    int gain(const Node& node, int move) const {
        const State& s = node.state;
        const int to = to_of(move);
        const int promoted = promotion_of(move) == 0 ? 0 : kValues[promotion_of(move)] - kValues[kPawn];
        if ((s.colours[1 - s.side] >> to & 1) != 0) return promoted + kValues[piece_on(s, to)];
        return promoted + (is_capture(s, move) ? kValues[kPawn] : 0);
    }

    int attacker(const Node& node, int move) const { return piece_on(node.state, from_of(move)); }

    // Static exchange evaluation: whether a move wins at least this much when both sides keep capturing on its target
    // square, the least valuable piece first, for as long as they like. Pins are ignored.
    bool see_at_least(const Node& node, int move, int centi) const {
        const State& s = node.state;
        if (is_castling(s, move)) return centi <= 0;
        const int from = from_of(move);
        const int to = to_of(move);
        // How far the side that has just captured is above its aim; if negative, the other side need not go on.
        int balance = gain(node, move) - centi;
        if (balance < 0) return false;
        balance -= kValues[promotion_of(move) != 0 ? promotion_of(move) : piece_on(s, from)];
        if (balance >= 0) return true;  // even if the capturing piece is lost
        Board all = occupied(s) & ~bit(from);
        if (to == s.ep && (s.pieces[kPawn] >> from & 1) != 0) all ^= bit(to ^ 8);
        all |= bit(to);
        const Board diagonal = s.pieces[kBishop] | s.pieces[kQueen];
        const Board straight = s.pieces[kRook] | s.pieces[kQueen];
        Board rest = attackers(s, to, all) & all;
        int side = 1 - s.side;
        for (;;) {
            const Board own = rest & s.colours[side];
            if (own == 0) break;
            int piece = kPawn;
            while ((own & s.pieces[piece]) == 0) ++piece;
            if (piece == kKing && (rest & s.colours[1 - side]) != 0) break;
            const Board taker = own & s.pieces[piece];
            all ^= taker & (0 - taker);
            if (piece == kPawn || piece == kBishop || piece == kQueen) rest |= bishop_attacks(to, all) & diagonal;
            if (piece == kRook || piece == kQueen) rest |= rook_attacks(to, all) & straight;
            rest &= all;
            side = 1 - side;
            balance = -1 - balance - kValues[piece];
            if (balance >= 0) break;
        }
        return side != s.side;  // that side cannot capture, or gains nothing by it
    }

    // Requires pieces besides pawns, so that zugzwang is very unlikely.
    bool may_pass(const Node& node) const {
        const State& s = node.state;
        return !is_check(node) && (s.colours[s.side] & ~(s.pieces[kPawn] | s.pieces[kKing])) != 0;
    }
    Node pass(const Node& node) const { return made(passed(node.state), node.past); }

    int history_index(const Node& node, int move) const {
        return (6 * node.state.side + piece_on(node.state, from_of(move))) * 64 + to_of(move);
    }

    bool is_reversible(const Node& node, int move) const {
        const State& s = node.state;
        return ((s.colours[1 - s.side] >> to_of(move) | s.pieces[kPawn] >> from_of(move)) & 1) == 0 &&
               !is_castling(s, move);
    }

    bool is_rule_draw(const Node& node) const {
        if (!chess::is_rule_draw(node.state)) return false;
        return !is_check(node) || !legal_moves(node.state, node.bonds).empty();
    }

    int past_count(const Node& node) const { return node.past->count; }
    std::uint64_t past_key(const Node& node, int i) const { return node.past->keys[i]; }

   private:
    static constexpr int kFirst = 30'000;  // captures before other moves
    static constexpr int kValues[6] = {100, 325, 325, 500, 975, 0};  // the king captures at no risk

    static Node made(const State& s, const Past* past) { return {s, find_bonds(s), past}; }

    int place(int side, int piece, int square) const {
        return evaluation_.weights[kPieceSquare + 64 * piece + (side == kWhite ? square : square ^ 56)][0];
    }

    const Evaluation& evaluation_;
};

static_assert(Game<ChessGame>);

}  // namespace
}  // namespace desdemona::chess
