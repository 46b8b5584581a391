// Seeded random inputs for the checks of the core: numbers, positions, weights.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core.hpp"
#include "othello/patterns.hpp"

namespace inputs {

using desdemona::Unit;
using desdemona::othello::Board;
using desdemona::othello::kPass;
using desdemona::othello::Position;

constexpr Position kStart{0x0000000810000000, 0x0000001008000000};

// The generator by Steele, Lea & Flood 2014 (doi:10.1145/2714064.2660195).
class Random {
   public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        return z ^ z >> 31;
    }
    // least .. most, both included
    int between(int least, int most) {
        const auto span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
        return least + static_cast<int>((next() >> 32) * span >> 32);
    }
    bool one_in(int n) { return between(1, n) == 1; }

   private:
    std::uint64_t state_;
};

inline int nth_square(Board squares, int n) {
    for (; n > 0; --n) squares &= squares - 1;
    return std::countr_zero(squares);
}

inline int empties_of(Position p) { return std::popcount(~(p.mover | p.waiter)); }

// A board on which about so many eighths of the squares are set.
inline Board board(Random& random, int eighths) {
    if (eighths <= 0) return 0;
    if (eighths >= 8) return ~Board{0};
    Board b = 0;
    for (int bit = 0; bit < 3; ++bit) {  // one digit of the fraction at a time, the lowest first
        b = (eighths >> bit & 1) != 0 ? b | random.next() : b & random.next();
    }
    return b;
}

// A legal position: so many random plies from the start, fewer when the game ends before.
inline Position played(Random& random, const Unit& unit, int plies) {
    Position p = kStart;
    for (; plies > 0; --plies) {
        const Board moves = unit.othello_moves(p);
        if (moves == 0 && unit.othello_moves({p.waiter, p.mover}) == 0) break;
        p = unit.othello_play(p, moves == 0 ? kPass : nth_square(moves, random.between(0, std::popcount(moves) - 1)));
    }
    return p;
}

// Any two boards without a common square, of any density.
inline Position disjoint(Random& random) {
    const Board discs = board(random, random.between(0, 8));
    const Board side = board(random, random.between(0, 8));
    return {discs & side, discs & ~side};
}

// A board with so many empty squares and any discs on the others.
inline Position filled(Random& random, int empties) {
    Board empty = 0;
    while (std::popcount(empty) < empties) empty |= Board{1} << random.between(0, 63);
    const Board side = board(random, random.between(1, 7));
    return {side & ~empty, ~side & ~empty};
}

// Whatever there is: legal and made-up positions, empty, full and one-sided boards.
inline Position any(Random& random, const Unit& unit) {
    switch (random.between(0, 9)) {
        case 0: case 1: case 2: case 3: return played(random, unit, random.between(0, 62));
        case 4: case 5: case 6: return disjoint(random);
        case 7: return filled(random, random.between(0, 3));
        case 8: return filled(random, random.between(0, 12));
        default:
            switch (random.between(0, 3)) {
                case 0: return {0, 0};
                case 1: return {board(random, random.between(0, 8)), 0};
                case 2: return {0, board(random, random.between(0, 8))};
                default: return filled(random, 0);
            }
    }
}

// Weights of all stages.  Mild ones stay clear of the evaluation's limit, wild ones fill all 16 bits, and coarse
// ones are mostly 0, so that many scores are equal.
enum class Style { kMild, kWild, kCoarse };

inline std::vector<std::int16_t> weights(Random& random, Style style) {
    using namespace desdemona::othello::patterns;
    std::vector<std::int16_t> all(static_cast<std::size_t>(kStages) * kStageSize);
    for (std::int16_t& weight : all) {
        const std::uint64_t bits = random.next();
        switch (style) {
            case Style::kMild: weight = static_cast<std::int16_t>(static_cast<int>(bits >> 33 & 63) - 32); break;
            case Style::kWild: weight = static_cast<std::int16_t>(bits >> 48); break;
            case Style::kCoarse: weight = (bits & 15) == 0 ? static_cast<std::int16_t>(bits >> 63 ? 25 : -25) : 0;
        }
    }
    return all;
}

}  // namespace inputs
