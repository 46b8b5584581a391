// Trains evaluations that are linear in their features (chess, xiangqi) by self-play.
//
// A generation is `play` followed by `fit`. Games begin with random moves and continue with the strong search's; the
// label of each position is a mean of the search's score for it, of the scores for the positions that followed, and of
// the game's result, with decreasing weights: temporal differences (Sutton 1988, doi:10.1007/BF00115009). As many other
// positions are a random move or two off the game and are labelled with a search's score alone: the leaves of
// full-width searches are such positions, full of hanging pieces. `fit` minimises the log-loss of the expected results
// that the weights predict.
//
// Results depend on the seed, not on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core.hpp"

namespace desdemona::learning {

struct PlaySettings {
    std::size_t games = 1000;
    int depth = 5;           // plies of the strong search, for moves and labels
    int asides = 1;          // positions off the game for each one of a game
    int least_random = 4;    // random moves of an opening
    int most_random = 12;
    int most_plies = 200;    // longer games count as drawn
};

struct FitSettings {
    int epochs = 30;
    double scale_centi = 200.0;  // s of the logistic expected result 1 / (1 + exp(-score / s))
    double trace = 0.95;         // weight of the next position's label in a label; the rest is its own score's
    double first_rate = 4.0;     // steps of the descent in centi-units; falls geometrically ...
    double last_rate = 0.1;      // ... to this
    // Weights are pulled to their initial values, and neighbouring ones to each other, as if by this many positions at
    // a distance of 100 centi-units; weights that have neighbours are pulled by a tenth of that.
    double pull = 0.1;
    double smooth = 5.0;
};

struct PlayReport {
    std::size_t games;
    std::size_t positions;  // in all so far
    std::size_t held_out;   // of separate games, for the error
};

struct Error {
    double log_loss;  // nats, of the labels
    double rms;       // of the expected result
};

// A position of a game: a search's score of it for the side to move, and how the game ended for that side.
struct Scored {
    int score_centi;
    int middle;  // 0 endgame .. 64 middlegame
    int result;  // 0 lost, 1 drawn, 2 won
};

struct MatchReport {
    int wins;
    int draws;
    int losses;
};

// Training of the evaluation of any game.
class AnyTrainer {
   public:
    virtual ~AnyTrainer() = default;

    // Weights of all features, middlegame and endgame alternating, as in the game's Evaluation.
    virtual int weight_count() const = 0;
    // `start`: what `fit` pulls to. Also sets the current weights.
    virtual void set_start(const std::int16_t* start) = 0;
    virtual void set_weights(const std::int16_t* weights) = 0;
    virtual std::vector<std::int16_t> weights() const = 0;

    // Plays games with the current weights and stores their positions.
    virtual PlayReport play(const PlaySettings& settings) = 0;
    // Drops the positions of all but the last call of `play`.
    virtual void forget() = 0;

    // Learns from all stored positions.  `neighbours`: pairs of features whose weights should be similar.
    virtual Error fit(const FitSettings& settings, const std::vector<std::pair<int, int>>& neighbours) = 0;
    // For the current weights, on held-out positions.
    virtual Error error(double scale_centi, double trace) const = 0;

    // Positions from the games of the last `play` whose scores are not decided.
    virtual std::vector<Scored> scored() const = 0;

    // Plays the current weights against others, with this many nodes a move; each opening twice, colours exchanged.
    virtual MatchReport match(const std::int16_t* others, int games, std::uint64_t nodes) = 0;
};

// For chess::Position and xiangqi::Position.
template <class Position>
class LinearTrainer final : public AnyTrainer {
   public:
    LinearTrainer(std::uint64_t seed, int threads);
    int weight_count() const override;
    void set_start(const std::int16_t* start) override;
    void set_weights(const std::int16_t* weights) override;
    std::vector<std::int16_t> weights() const override;
    PlayReport play(const PlaySettings& settings) override;
    void forget() override;
    Error fit(const FitSettings& settings, const std::vector<std::pair<int, int>>& neighbours) override;
    Error error(double scale_centi, double trace) const override;
    std::vector<Scored> scored() const override;
    MatchReport match(const std::int16_t* others, int games, std::uint64_t nodes) override;

   private:
    struct Entry {
        std::uint16_t feature;
        std::int16_t times;
    };
    struct Sample {
        std::size_t first;  // of its entries
        std::uint16_t count;
        std::int16_t score;   // centi-units; decided ones are at the ends of the range
        std::uint8_t middle;  // as linear::Taper
        std::uint8_t scale;
        std::int8_t result;   // as Scored; -1: not of a game
        bool is_held_out;
        bool is_last;         // of its game's positions
    };
    struct Game;

    Game sample_game(std::uint64_t number, const PlaySettings& settings) const;
    double evaluate(const Sample& sample) const;
    // The target expected results of all samples.
    std::vector<float> labels(double scale_centi, double trace) const;
    Error error(const std::vector<float>& labels, double scale_centi) const;

    const std::uint64_t seed_;
    const int threads_;
    std::uint64_t generation_ = 0;
    std::vector<std::int16_t> start_;
    std::vector<float> weights_;
    std::vector<Entry> entries_;
    std::vector<Sample> samples_;
    std::size_t latest_ = 0;  // where the samples of the last call of `play` begin
};

extern template class LinearTrainer<chess::Position>;
extern template class LinearTrainer<xiangqi::Position>;

}  // namespace desdemona::learning
