// The concept `Game`: everything that a search may know about a game.
//
// Everything that is compiled once per instruction set (see unit.hpp) lives in an unnamed namespace, so that
// each unit has functions of its own: were two units to share an inline function, the linker would keep one
// copy for both, and a processor without AVX2 could meet AVX2 code.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "position.hpp"

namespace desdemona {

namespace {

// Thrown through a search that was told to stop; caught at the border of the unit.
struct Unwind {};

// Score of the side that has lost after so many plies of the game: engine.game.lost_centi.
constexpr int lost_after(int ply) {
    constexpr int kMostPlies = 8'000;
    return -kWin - 10'000 + (ply < kMostPlies ? ply : kMostPlies);
}

// A game is an object (it may refer to evaluation weights) with two kinds of position: `Position`, the plain
// value that crosses the border, and `Node`, the same with whatever the game keeps up to date move by move.
// Nodes are values: playing a move makes a new one, so there is nothing to undo.
//
// * Moves are small integers, below `kMoves`; `moves(node)` is a range of all legal ones in an order that is
//   good to search, forced passes included; it is empty just when the game is over.
// * Scores are from the view of the side to move.  A finished game is worth `result(node)`: 0, or beyond
//   +-kWin and the better the further.  Any other is worth `evaluate(node)`, well inside +-kWin.  `leaf(node)`
//   is whichever of the two applies.
// * `hash(node)` covers all that a score may depend on; a game whose scores depend on the way to a position
//   (repetition) hashes what matters of the way.
// * `order(node, move)` is larger for moves that deserve to be searched earlier, by whatever is cheap to look
//   at; `guess(node, move)` is the same with the help of the evaluation.  Both stay well inside +-kInfinity.
template <class G>
concept Game = requires(const G& game, const typename G::Position& position, const typename G::Node& node, int move) {
    { G::kMoves } -> std::convertible_to<int>;     // moves are numbered 0 .. kMoves - 1
    { G::kMaxMoves } -> std::convertible_to<int>;  // no position has more
    { game.root(position) } -> std::same_as<typename G::Node>;
    { game.moves(node).begin() };
    { game.moves(node).empty() } -> std::same_as<bool>;
    { game.play(node, move) } -> std::same_as<typename G::Node>;
    { game.hash(node) } -> std::same_as<std::uint64_t>;
    { game.result(node) } -> std::same_as<int>;
    { game.evaluate(node) } -> std::same_as<int>;
    { game.leaf(node) } -> std::same_as<int>;
    { game.order(node, move) } -> std::same_as<int>;
    { game.guess(node, move) } -> std::same_as<int>;
};

}  // namespace
}  // namespace desdemona
