// The rules of Othello on two bitboards, with move generation (scalar and AVX2); they must equal
// engine/games/othello.py.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "game.hpp"
#include "position.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace desdemona::othello {
namespace {

constexpr Board kNotA = 0xFEFEFEFEFEFEFEFEull;
constexpr Board kNotH = 0x7F7F7F7F7F7F7F7Full;
constexpr Board kInnerColumns = kNotA & kNotH;
constexpr Board kCorners = 0x8100000000000081ull;

// The rays from a square on the four axes: towards higher bits, and towards lower ones.
constexpr int kSteps[4] = {1, 7, 8, 9};

struct Rays {
    alignas(32) Board up[64][4]{};
    alignas(32) Board down[64][4]{};
};

constexpr Rays make_rays() {
    constexpr int towards[4][2] = {{0, 1}, {1, -1}, {1, 0}, {1, 1}};  // row, column, as kSteps
    Rays rays;
    for (int square = 0; square < 64; ++square) {
        for (int axis = 0; axis < 4; ++axis) {
            for (const int sign : {1, -1}) {
                Board ray = 0;
                int row = square / 8 + sign * towards[axis][0];
                int column = square % 8 + sign * towards[axis][1];
                for (; row >= 0 && row < 8 && column >= 0 && column < 8;
                     row += sign * towards[axis][0], column += sign * towards[axis][1]) {
                    ray |= Board{1} << (8 * row + column);
                }
                (sign > 0 ? rays.up : rays.down)[square][axis] = ray;
            }
        }
    }
    return rays;
}

constexpr Rays kRays = make_rays();

#if defined(__AVX2__)

inline __m256i load4(const Board (&four)[4]) { return _mm256_load_si256(reinterpret_cast<const __m256i*>(four)); }

inline Board or_of_lanes(__m256i four) {
    const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return static_cast<Board>(_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two))));
}

// Squares where the mover may place a disc; four axes in four lanes.
inline Board moves_mask(Position p) {
    const __m256i step = _mm256_set_epi64x(9, 8, 7, 1);
    const __m256i step2 = _mm256_add_epi64(step, step);
    const __m256i mover = _mm256_set1_epi64x(static_cast<long long>(p.mover));
    const auto inner = static_cast<long long>(p.waiter & kInnerColumns);  // no runs across the edge of the board
    const __m256i prey = _mm256_set_epi64x(inner, static_cast<long long>(p.waiter), inner, inner);
    __m256i up = _mm256_and_si256(prey, _mm256_sllv_epi64(mover, step));
    __m256i down = _mm256_and_si256(prey, _mm256_srlv_epi64(mover, step));
    up = _mm256_or_si256(up, _mm256_and_si256(prey, _mm256_sllv_epi64(up, step)));
    down = _mm256_or_si256(down, _mm256_and_si256(prey, _mm256_srlv_epi64(down, step)));
    const __m256i pairs_up = _mm256_and_si256(prey, _mm256_sllv_epi64(prey, step));
    const __m256i pairs_down = _mm256_srlv_epi64(pairs_up, step);
    up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, step2)));
    down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, step2)));
    up = _mm256_or_si256(up, _mm256_and_si256(pairs_up, _mm256_sllv_epi64(up, step2)));
    down = _mm256_or_si256(down, _mm256_and_si256(pairs_down, _mm256_srlv_epi64(down, step2)));
    const __m256i ends = _mm256_or_si256(_mm256_sllv_epi64(up, step), _mm256_srlv_epi64(down, step));
    return or_of_lanes(ends) & ~(p.mover | p.waiter);
}

// Discs flipped by a disc placed on an empty square; 0: not a legal placement.
inline Board flips_mask(Position p, int square) {
    const __m256i step = _mm256_set_epi64x(9, 8, 7, 1);
    const __m256i mover = _mm256_set1_epi64x(static_cast<long long>(p.mover));
    const __m256i waiter = _mm256_set1_epi64x(static_cast<long long>(p.waiter));
    const __m256i zero = _mm256_setzero_si256();
    const __m256i ones = _mm256_cmpeq_epi64(zero, zero);
    // Upwards the carry of an addition runs through the waiter's discs to the first other square ...
    const __m256i up = load4(kRays.up[square]);
    const __m256i filled = _mm256_or_si256(waiter, _mm256_xor_si256(up, ones));
    const __m256i end = _mm256_and_si256(_mm256_and_si256(_mm256_sub_epi64(filled, ones), up), mover);
    const __m256i below = _mm256_sub_epi64(_mm256_add_epi64(end, ones), _mm256_cmpeq_epi64(end, zero));
    const __m256i flips_up = _mm256_and_si256(below, up);
    // ... downwards the squares that are not the waiter's cast a shadow away from the placed disc: the squares
    // outside the shadow are the run, and the one square that casts without lying in a shadow is its end.
    const __m256i down = load4(kRays.down[square]);
    const __m256i others = _mm256_andnot_si256(waiter, down);
    const __m256i step2 = _mm256_add_epi64(step, step);
    __m256i shadow = _mm256_srlv_epi64(others, step);
    shadow = _mm256_or_si256(shadow, _mm256_srlv_epi64(shadow, step));
    shadow = _mm256_or_si256(shadow, _mm256_srlv_epi64(shadow, step2));
    shadow = _mm256_or_si256(shadow, _mm256_srlv_epi64(shadow, _mm256_add_epi64(step2, step2)));
    const __m256i lit = _mm256_andnot_si256(shadow, others);
    const __m256i no_end = _mm256_cmpeq_epi64(_mm256_and_si256(lit, mover), zero);
    const __m256i run = _mm256_andnot_si256(_mm256_or_si256(shadow, others), down);
    return or_of_lanes(_mm256_or_si256(flips_up, _mm256_andnot_si256(no_end, run)));
}

#else

// Squares behind an unbroken run of the waiter's discs, on both sides of one axis.  Doubling the step
// (Kogge-Stone) covers a run of six in three rounds.
inline Board both_ways(Board mover, Board prey, int step) {
    Board up = prey & (mover << step);
    Board down = prey & (mover >> step);
    up |= prey & (up << step);
    down |= prey & (down >> step);
    const Board pairs_up = prey & (prey << step);
    const Board pairs_down = pairs_up >> step;
    up |= pairs_up & (up << 2 * step);
    down |= pairs_down & (down >> 2 * step);
    up |= pairs_up & (up << 2 * step);
    down |= pairs_down & (down >> 2 * step);
    return up << step | down >> step;
}

// Squares where the mover may place a disc.
inline Board moves_mask(Position p) {
    const Board inner = p.waiter & kInnerColumns;  // no runs across the edge of the board
    return (both_ways(p.mover, inner, 1) | both_ways(p.mover, inner, 7) | both_ways(p.mover, inner, 9) |
            both_ways(p.mover, p.waiter, 8)) &
           ~(p.mover | p.waiter);
}

// Discs flipped by a disc placed on an empty square; 0: not a legal placement.
inline Board flips_mask(Position p, int square) {
    Board flipped = 0;
    for (int axis = 0; axis < 4; ++axis) {
        // Upwards the carry of an addition runs through the waiter's discs to the first other square ...
        const Board up = kRays.up[square][axis];
        const Board end_up = ((p.waiter | ~up) + 1) & up & p.mover;
        flipped |= (end_up - (end_up != 0)) & up;
        // ... downwards that square is the highest one on the ray that is not the waiter's.
        const Board down = kRays.down[square][axis];
        const Board others = (down & ~p.waiter) | 1;
        const Board end_down = (Board{1} << (63 - std::countl_zero(others))) & down & p.mover;
        flipped |= (Board{0} - end_down * 2) & down;
    }
    return flipped;
}

#endif

inline Position passed(Position p) { return {p.waiter, p.mover}; }

// The position after a move, from the other side's view.
inline Position play(Position p, int move) {
    if (move == kPass) return passed(p);
    const Board flipped = flips_mask(p, move);
    return {p.waiter & ~flipped, p.mover | flipped | Board{1} << move};
}

// Final score in discs for the mover; the empty squares are the winner's.
inline int margin_discs(Position p) {
    const int mover = std::popcount(p.mover);
    const int waiter = std::popcount(p.waiter);
    if (mover == waiter) return 0;
    return mover > waiter ? 64 - 2 * waiter : 2 * mover - 64;
}

// The same as a score: a won game is worth kWin and 100 for each disc of the margin.
inline int result_of_margin(int discs) { return discs == 0 ? 0 : (discs > 0 ? kWin : -kWin) + 100 * discs; }

// A 64-bit key.  Each board is fully mixed before the two are combined: after one multiplication, a difference in the
// upper rows is still in the upper bits, where the other board can cancel it, and positions of one game did collide.
// With two rounds of multiplying and folding down, every bit affects every other.
inline std::uint64_t hash(Position p) {
    std::uint64_t a = p.waiter * 0x9E3779B97F4A7C15ull;
    std::uint64_t b = p.mover * 0xD6E8FEB86659FD93ull;
    a = (a ^ a >> 32) * 0xC2B2AE3D27D4EB4Full;
    b = (b ^ b >> 32) * 0xFF51AFD7ED558CCDull;
    a ^= a >> 29;
    b ^= b >> 32;
    const std::uint64_t h = (a + b) * 0xC4CEB9FE1A85EC53ull;
    return h ^ h >> 32;
}

// Number of leaf positions `depth` plies away; a pass is a ply, and a finished game is one leaf.
inline std::uint64_t perft(Position p, int depth) {
    if (depth == 0) return 1;
    Board moves = moves_mask(p);
    if (moves == 0) return moves_mask(passed(p)) == 0 ? 1 : perft(passed(p), depth - 1);
    if (depth == 1) return static_cast<std::uint64_t>(std::popcount(moves));
    std::uint64_t leaves = 0;
    if (depth == 2) {  // without a call for each child, a third faster
        for (; moves != 0; moves &= moves - 1) {
            const Board replies = moves_mask(play(p, std::countr_zero(moves)));
            leaves += replies != 0 ? static_cast<std::uint64_t>(std::popcount(replies)) : 1;
        }
        return leaves;
    }
    for (; moves != 0; moves &= moves - 1) leaves += perft(play(p, std::countr_zero(moves)), depth - 1);
    return leaves;
}

}  // namespace
}  // namespace desdemona::othello
