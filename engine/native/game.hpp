// The concept `Game`: everything that a search may know about a game.
//
// Everything that is compiled once per instruction set (see unit.hpp) is in an unnamed namespace, so that each unit
// has its own functions: if two units shared an inline function, the linker would keep one copy for both, and a
// processor without AVX2 could execute AVX2 code.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "position.hpp"

namespace desdemona {

namespace {

// Thrown through a search that must stop; caught at the boundary of the unit.
struct Unwind {};

// Score for the side that has lost at this ply of the game: engine.game.lost_centi.
constexpr int lost_after(int ply) {
    constexpr int kMostPlies = 8'000;
    return -kWin - 10'000 + (ply < kMostPlies ? ply : kMostPlies);
}

// Random bits from a counter: the generator of Steele, Lea & Flood 2014 (doi:10.1145/2714064.2660195).
constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

// A game is an object (it may refer to evaluation weights) with two kinds of position: `Position`, the plain value
// that crosses the boundary, and `Node`, the same with whatever the game updates incrementally, move by move.
// Nodes are values: playing a move creates a new one, so there is nothing to undo.
//
// * Moves are small integers, below `kMoves`; `moves(node)` is a range of all legal moves in an order that is good to
//   search, forced passes included; it is empty exactly when the game is over.
// * Scores are from the view of the side to move.  A finished game has the score `result(node)`: 0, or beyond +-kWin,
//   further for a better win.  Others have `evaluate(node)`, well inside +-kWin.  `leaf(node)` is whichever of the
//   two applies.
// * `hash(node)` covers everything that a score may depend on; a game whose scores depend on the path to a position
//   (repetition) hashes the relevant part of the path.
// * `order(node, move)` is larger for moves to search earlier, by cheap criteria; `guess(node, move)` is the same with
//   the help of the evaluation.  Both stay well inside +-kInfinity.
template <class G>
concept Game = requires(const G& game, const typename G::Position& position, const typename G::Node& node, int move) {
    { G::kMoves } -> std::convertible_to<int>;     // moves are numbered 0 .. kMoves - 1
    { G::kMaxMoves } -> std::convertible_to<int>;  // upper limit for any position
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
