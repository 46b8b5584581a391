// Othello for the search: rules and evaluation on two 64-bit boards.
//
// Bit 8 * row + column, row 0 at the top, as in engine/games/othello.py, which these rules must equal
// (tests/engine/test_search.py plays both).  No Python here: bindings.cpp alone knows it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace desdemona::othello {

using Board = std::uint64_t;

inline constexpr int kPass = 64;
inline constexpr int kWin = 100'000;  // engine.game.WIN_CENTI
inline constexpr Board kNotA = 0xFEFEFEFEFEFEFEFEull;
inline constexpr Board kNotH = 0x7F7F7F7F7F7F7F7Full;
inline constexpr Board kInnerColumns = kNotA & kNotH;
inline constexpr Board kCorners = 0x8100000000000081ull;

struct Position {
    Board mover;
    Board waiter;
    bool operator==(const Position&) const = default;
};

// --- Rules ---------------------------------------------------------------------------------------------

namespace detail {

// Squares behind an unbroken run of the waiter's discs, on both sides of one axis.  Doubling the step
// (Kogge-Stone) covers a run of six in three rounds.
inline Board both_ways(Board mover, Board prey, int step) {
    Board up = prey & (mover << step);
    Board down = prey & (mover >> step);
    up |= prey & (up << step);
    down |= prey & (down >> step);
    const Board up2 = prey & (prey << step);
    const Board down2 = prey & (prey >> step);
    up |= up2 & (up << 2 * step);
    down |= down2 & (down >> 2 * step);
    up |= up2 & (up << 2 * step);
    down |= down2 & (down >> 2 * step);
    return up << step | down >> step;
}

// For each square the eight rays that leave it, four towards higher bits and four towards lower ones.
struct Rays {
    std::array<std::array<Board, 4>, 64> up{};
    std::array<std::array<Board, 4>, 64> down{};
};

constexpr Rays make_rays() {
    constexpr int steps[4][2] = {{0, 1}, {1, -1}, {1, 0}, {1, 1}};  // row, column
    Rays rays;
    for (int square = 0; square < 64; ++square) {
        for (int axis = 0; axis < 4; ++axis) {
            for (const int sign : {1, -1}) {
                Board ray = 0;
                int row = square / 8 + sign * steps[axis][0];
                int column = square % 8 + sign * steps[axis][1];
                for (; row >= 0 && row < 8 && column >= 0 && column < 8;
                     row += sign * steps[axis][0], column += sign * steps[axis][1]) {
                    ray |= Board{1} << (8 * row + column);
                }
                auto& side = sign > 0 ? rays.up : rays.down;
                side[static_cast<std::size_t>(square)][static_cast<std::size_t>(axis)] = ray;
            }
        }
    }
    return rays;
}

inline constexpr Rays kRays = make_rays();

}  // namespace detail

// Squares where the mover may place a disc.
inline Board moves_mask(Position p) {
    const Board inner = p.waiter & kInnerColumns;  // a run over the side of the board is none
    return (detail::both_ways(p.mover, inner, 1) | detail::both_ways(p.mover, inner, 7) |
            detail::both_ways(p.mover, inner, 9) | detail::both_ways(p.mover, p.waiter, 8)) &
           ~(p.mover | p.waiter);
}

// Discs that a disc placed on an empty square turns over; 0: not a legal placement.
inline Board flips_mask(Position p, int square) {
    const auto& up = detail::kRays.up[static_cast<std::size_t>(square)];
    const auto& down = detail::kRays.down[static_cast<std::size_t>(square)];
    Board flipped = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) {
        // Upwards the carry of an addition runs through the waiter's discs to the first other square ...
        const Board end_up = ((p.waiter | ~up[axis]) + 1) & up[axis] & p.mover;
        flipped |= (end_up - (end_up != 0)) & up[axis];
        // ... downwards that square is the highest one on the ray that is not the waiter's.
        const Board others = (down[axis] & ~p.waiter) | 1;
        const Board end_down = (Board{1} << (63 - std::countl_zero(others))) & down[axis] & p.mover;
        flipped |= (Board{0} - end_down * 2) & down[axis];
    }
    return flipped;
}

// The position after a move, seen by the other side.
inline Position play(Position p, int move) {
    if (move == kPass) return {p.waiter, p.mover};
    const Board flipped = flips_mask(p, move);
    return {p.waiter & ~flipped, p.mover | flipped | Board{1} << move};
}

// Score of a finished game; the empty squares are the winner's.
inline int result_centi(Position p) {
    const int mover = std::popcount(p.mover);
    const int waiter = std::popcount(p.waiter);
    if (mover == waiter) return 0;
    return mover > waiter ? kWin + 100 * (64 - 2 * waiter) : -kWin + 100 * (2 * mover - 64);
}

// Number of leaf positions `depth` plies away; a pass is a ply, and a game that is over is one leaf.
inline std::uint64_t perft(Position p, int depth) {
    if (depth == 0) return 1;
    Board moves = moves_mask(p);
    if (moves == 0) {
        const Position passed{p.waiter, p.mover};
        return moves_mask(passed) == 0 ? 1 : perft(passed, depth - 1);
    }
    if (depth == 1) return static_cast<std::uint64_t>(std::popcount(moves));
    std::uint64_t leaves = 0;
    for (; moves != 0; moves &= moves - 1) leaves += perft(play(p, std::countr_zero(moves)), depth - 1);
    return leaves;
}

// --- Evaluation ----------------------------------------------------------------------------------------

inline constexpr int kFeatures = 7;
inline constexpr int kMaxEvaluation = 6'000;  // EVALUATION_LIMIT_CENTI

// weight[feature][empty squares], from engine/games/othello.py: one source for both languages.
using Weights = std::array<std::array<int, 65>, kFeatures>;

namespace detail {

inline Board neighbours(Board b) {
    const Board sides = (b << 1 & kNotA) | (b >> 1 & kNotH);
    const Board row = b | sides;
    return sides | row << 8 | row >> 8;
}

// Discs on the rim that are tied to a corner of their own colour: nothing can turn them.
inline Board anchored(Board own) {
    Board fixed = own & kCorners;
    if (fixed == 0) return 0;
    constexpr Board rows = 0xFF000000000000FFull;
    constexpr Board columns = 0x8181818181818181ull;
    const Board on_rows = own & rows;
    const Board on_columns = own & columns;
    for (int i = 0; i < 6; ++i) {
        fixed |= ((fixed << 1 & kNotA) | (fixed >> 1 & kNotH)) & on_rows;
        fixed |= (fixed << 8 | fixed >> 8) & on_columns;
    }
    return fixed;
}

// Squares beside each empty corner: first the diagonal ones (X), then those on the rim (C).
inline Board spread_diagonally(Board corners) {
    return (corners << 9 & kNotA) | (corners >> 9 & kNotH) | (corners << 7 & kNotH) | (corners >> 7 & kNotA);
}
inline Board spread_straight(Board corners) {
    return (corners << 1 & kNotA) | (corners >> 1 & kNotH) | corners << 8 | corners >> 8;
}

}  // namespace detail

// Static evaluation of a game that goes on, given both sides' moves (which the caller has at hand).
inline int evaluate_centi(Position p, Board mover_moves, Board waiter_moves, const Weights& weights) {
    const Board empty = ~(p.mover | p.waiter);
    const auto empties = static_cast<std::size_t>(std::popcount(empty));
    const Board open_corners = empty & kCorners;
    const Board x_squares = detail::spread_diagonally(open_corners);
    const Board c_squares = detail::spread_straight(open_corners);
    const auto difference = [](Board mine, Board theirs) { return std::popcount(mine) - std::popcount(theirs); };
    const int features[kFeatures] = {
        difference(mover_moves, waiter_moves),
        difference(detail::neighbours(p.waiter) & empty, detail::neighbours(p.mover) & empty),
        difference(p.mover & kCorners, p.waiter & kCorners),
        difference(p.mover & x_squares, p.waiter & x_squares),
        difference(p.mover & c_squares, p.waiter & c_squares),
        difference(detail::anchored(p.mover), detail::anchored(p.waiter)),
        empties % 2 != 0 ? 1 : -1,
    };
    int score = 0;
    for (std::size_t i = 0; i < kFeatures; ++i) score += weights[i][empties] * features[i];
    return score > kMaxEvaluation ? kMaxEvaluation : score < -kMaxEvaluation ? -kMaxEvaluation : score;
}

}  // namespace desdemona::othello
