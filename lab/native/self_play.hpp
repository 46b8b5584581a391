// Games of the strong search against itself, recorded to learn a network from (lab/training/networks.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core.hpp"

namespace desdemona::learning {

struct SelfPlaySettings {
    std::uint64_t seed = 1;
    std::uint64_t first_game = 0;  // the number of the first game: each number has its own random moves
    std::size_t games = 1000;
    std::uint64_t nodes = 1000;  // of the search for each move
    int least_random = 6;        // random moves of an opening
    int most_random = 13;
    int threads = 1;
};

// A game as bytes, numbers of 16 bits little-endian: plies; random plies; the first side's result (0 lost, 1 drawn,
// 2 won); and for each ply its move and the score for the side to move, of a random ply `kNoScore`, of a forced win or
// loss +-`kDecided`.  Games follow one another.
constexpr std::int16_t kNoScore = -32'768;
constexpr std::int16_t kDecided = 32'000;

template <class Position>
class SelfPlay {
   public:
    using Evaluation = typename std::conditional_t<std::is_same_v<Position, chess::Position>, chess::Evaluation,
                                                   xiangqi::Evaluation>;
    using Network = typename std::conditional_t<std::is_same_v<Position, chess::Position>, chess::Network,
                                                xiangqi::Network>;

    // Records of games; depends on the seed and the numbers of the games, not on the threads.
    static std::vector<std::uint8_t> play(const SelfPlaySettings& settings, const Evaluation& evaluation,
                                          const Network* network);

    // The positions of games from which to learn: quiet ones, since a static evaluation is not used in others. So the
    // side to move is not in check, and its move neither captures nor promotes.
    struct Samples {
        static constexpr int kPieces = 32;  // inputs of a sample, filled up with `kInputs`
        std::vector<std::uint16_t> inputs;  // [sample][the mover's view, the other's][piece]
        std::vector<std::int16_t> scores;   // of the search, for the mover
        std::vector<std::int16_t> linear;   // of the linear evaluation, likewise
        std::vector<std::uint8_t> results;  // of the game, for the mover: 0, 1, 2
        std::vector<std::uint32_t> games;   // the game's place among the records
    };

    // False: the data is malformed.
    static bool quiet_samples(const std::uint8_t* records, std::size_t size, const Evaluation& evaluation, Samples& samples);
};

extern template class SelfPlay<chess::Position>;
extern template class SelfPlay<xiangqi::Position>;

}  // namespace desdemona::learning
