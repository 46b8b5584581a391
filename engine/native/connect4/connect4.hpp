// Connect Four for the search; it must equal engine/games/connect4.py.
#pragma once

#include <bit>
#include <cstdint>

#include "connect4/connect4_position.hpp"
#include "game.hpp"

namespace desdemona::connect4 {
namespace {

constexpr int kColumns = 7;
constexpr int kRows = 6;
constexpr int kHeight = kRows + 1;
constexpr int kPlaces = kColumns * kHeight;
constexpr int kSteps[] = {1, kHeight, kHeight - 1, kHeight + 1};
constexpr int kLineValues[] = {0, 4, 15, 60, 0};
constexpr int kLineCount = 69;

constexpr Board make_bottom() {
    Board bottom = 0;
    for (int column = 0; column < kColumns; ++column) bottom |= Board{1} << kHeight * column;
    return bottom;
}
constexpr Board kBottom = make_bottom();
constexpr Board kBoard = kBottom * ((Board{1} << kRows) - 1);

struct Lines {
    Board line[kLineCount]{};
};
constexpr Lines make_lines() {
    Lines lines;
    int count = 0;
    for (int start = 0; start < kPlaces; ++start) {
        for (const int step : kSteps) {
            if (start + 3 * step >= kPlaces) continue;
            Board line = 0;
            for (int n = 0; n < 4; ++n) line |= Board{1} << (start + n * step);
            if ((line | kBoard) == kBoard) lines.line[count++] = line;
        }
    }
    return lines;
}
constexpr Lines kLines = make_lines();

inline bool has_four(Board discs) {
    for (const int step : kSteps) {
        const Board pairs = discs & discs >> step;
        if ((pairs & pairs >> 2 * step) != 0) return true;
    }
    return false;
}

// The set bits of a bitboard, lowest first.
class Moves {
   public:
    explicit Moves(Board places) : places_(places) {}
    bool empty() const { return places_ == 0; }
    Moves begin() const { return *this; }
    std::nullptr_t end() const { return nullptr; }
    int operator*() const { return std::countr_zero(places_); }
    Moves& operator++() {
        places_ &= places_ - 1;
        return *this;
    }
    bool operator!=(std::nullptr_t) const { return places_ != 0; }

   private:
    Board places_;
};

class Connect4Game {
   public:
    using Position = connect4::Position;
    using Node = connect4::Position;
    static constexpr int kMoves = kPlaces;
    static constexpr int kMaxMoves = kColumns;

    explicit Connect4Game(const NoEvaluation&) {}

    Node root(const Position& p) const { return p; }
    Moves moves(const Node& p) const {
        return Moves(has_four(p.waiter) ? 0 : ((p.mover | p.waiter) + kBottom) & kBoard);
    }
    Node play(const Node& p, int move) const { return {p.waiter, p.mover | Board{1} << move}; }

    std::uint64_t hash(const Node& p) const {
        std::uint64_t h = p.waiter * 0x9E3779B97F4A7C15ull;
        h ^= h >> 32;
        h = (h ^ p.mover) * 0xD6E8FEB86659FD93ull;
        h ^= h >> 29;
        h *= 0xBF58476D1CE4E5B9ull;
        return h ^ h >> 32;
    }

    int result(const Node& p) const {
        if (!has_four(p.waiter)) return 0;
        return -kWin - 100 * (kColumns * kRows - std::popcount(p.mover | p.waiter));
    }

    int evaluate(const Node& p) const {
        int sum = 0;
        for (const Board line : kLines.line) {
            if ((p.waiter & line) == 0) sum += kLineValues[std::popcount(p.mover & line)];
            if ((p.mover & line) == 0) sum -= kLineValues[std::popcount(p.waiter & line)];
        }
        return sum;
    }

    int leaf(const Node& p) const { return moves(p).empty() ? result(p) : evaluate(p); }

    // Central columns first: more lines run through them.
    int order(const Node&, int move) const {
        const int column = move / kHeight;
        return column < kColumns / 2 ? column : kColumns - 1 - column;
    }
    int guess(const Node& p, int move) const { return order(p, move) - leaf(play(p, move)); }
};

static_assert(Game<Connect4Game>);

}  // namespace
}  // namespace desdemona::connect4
