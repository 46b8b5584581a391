// Training of the Othello evaluation from nothing but the rules: a backward minimax sweep.
//
// The idea is that of K. Engel, "Learning a Reversi Board Evaluator with Minimax": the stages of the game are
// learned from its end backwards.  A position near the end is labelled with its exact result, any other with a
// shallow full-width search whose leaves fall into a stage that has been learned already.  Such labels hold
// far less noise than results of games, and no game needs to be played well.
//
// A sweep is `play` (games of the present weights against themselves, for the positions alone) followed by
// `learn` for each stage, the last first.  Everything depends on the seed alone, not on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core.hpp"

namespace desdemona::othello::training {

struct PlaySettings {
    std::size_t per_stage = 100'000;  // positions wanted for each stage, before doubles are dropped
    int depth = 2;                    // plies that the players look ahead
};

struct LearnSettings {
    int label_depth = 4;    // plies; at least 4, lest leaves fall into the stage that is being learned
    int exact_empties = 10; // labels are exact results up to so many empty squares
    int epochs = 12;
    double first_rate = 0.008;  // steps of the descent, per disc of error; falls geometrically ...
    double last_rate = 0.0003;  // ... to this
    double shrink = 0.0;        // pull towards the start, as strong as so many positions
    double neighbour = 0.0;     // share of the neighbouring later stage's positions that is learned as well
};

struct StageReport {
    std::size_t positions;       // that were learned from
    std::size_t held_out;        // from games apart, for the errors below
    double error_learned;        // root mean square, discs, against the labels
    double error_held_out;
    double label_seconds;
    double descent_seconds;
};

// A position's static evaluation beside the truth, both in centidiscs for its side to move.
struct Check {
    int evaluation;
    int exact;
};

class Trainer {
   public:
    // Starts from a player by rule of thumb: many moves, few for the other side, corners.
    Trainer(std::uint64_t seed, int threads);

    // Weights as in the file: `patterns::kStages` times `patterns::kStageSize`, canonical entries alone.
    void set_weights(const std::int16_t* weights);
    std::vector<std::int16_t> weights() const;

    // Plays games for their positions; those of a former call are forgotten.  Returns the number of games.
    std::size_t play(const PlaySettings& settings);

    // Labels the positions of a stage and learns them.  The later stages must have been learned.
    StageReport learn(int stage, const LearnSettings& settings);

    // Positions of games with ten random plies, with so many empty squares.
    std::vector<Check> check(int empties, std::size_t count);

   private:
    struct Sample {
        std::uint32_t at[patterns::kFeatureCount + 2];  // its weights
        float label;                                    // discs
    };
    struct Labelled {
        std::vector<Sample> learned;
        std::vector<Sample> held_out;
    };

    void publish(int stage);
    Sample describe(const Position& p) const;
    std::vector<Sample> label(std::vector<Position>& positions, const LearnSettings& settings);
    void descend(int stage, const LearnSettings& settings, std::uint64_t seed);
    double error(int stage, const std::vector<Sample>& samples) const;

    const Unit& unit_;
    const std::uint64_t seed_;
    const int threads_;
    std::uint64_t sweep_ = 0;
    Evaluation evaluation_;
    std::vector<std::vector<float>> weights_;  // discs, by stage
    std::vector<std::vector<Position>> learned_;
    std::vector<std::vector<Position>> held_out_;
    Labelled now_;
    Labelled later_;  // what the stage before was learned from
};

}  // namespace desdemona::othello::training
