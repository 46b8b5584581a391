// Trains the Othello evaluation from nothing but the rules: a backward minimax sweep.
//
// The idea is that of K. Engel, "Learning a Reversi Board Evaluator with Minimax": learn the stages of the game from
// the end backwards.  A position near the end is labelled with its exact result, any other with a shallow full-width
// search whose leaves fall into a stage that has already been learned.  Such labels are far less noisy than results of
// games.  Part of the games are well played; their results, which see further than a shallow search, have a share in
// the labels of their positions.
//
// A sweep is `play` (games of the current weights against themselves) followed by `learn` for each stage, the last
// first; `settle_parity` comes after the last sweep.  Results depend on the seed, not on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core.hpp"

namespace desdemona::othello::training {

struct PlaySettings {
    std::size_t per_stage = 100'000;  // positions wanted for each stage, before duplicates are dropped
    int depth = 2;                    // plies that the players look ahead; two more in well played games
    double well_played = 0.5;         // share of games with few random plies and stronger play
};

struct LearnSettings {
    // Plies, for every other position one less; at least 3.  A stage is one ply, but a pass leaves the position in its
    // stage.  Two passes in a row end the game, so two plies always lead to a stage that has been learned.
    int label_depth = 4;
    int exact_empties = 12;     // labels are exact results up to this many empty squares
    int epochs = 12;            // rounds; the weights are the mean of those after each round of the last third
    double first_rate = 0.008;  // steps of the descent, per disc of error; falls geometrically ...
    double last_rate = 0.0003;  // ... to this
    double shrink = 150.0;      // a weight is pulled to its initial value as if by this many positions
    double neighbours = 0.5;    // share of each neighbouring stage's positions that is learned as well
    double result_share = 0.4;  // of a well played game's final margin in a label that is not exact
};

struct ParitySettings {
    std::size_t games = 200;
    int depth = 7;  // odd; scores of this depth and of one ply more are compared
};

struct StageReport {
    std::size_t positions;  // that were learned from
    std::size_t held_out;   // from separate games, for the error
    double error;           // root mean square against the labels of the held-out positions, discs
    double label_seconds;
    double descent_seconds;
};

// A position's static evaluation and exact score, both in centidiscs for its side to move.
struct Check {
    int evaluation;
    int exact;
};

class Trainer {
   public:
    // Starts from rules of thumb: many moves, few for the other side, corners.
    Trainer(std::uint64_t seed, int threads);

    // Weights as in the file: `patterns::kStages` times `patterns::kStageSize`, canonical entries only.
    void set_weights(const std::int16_t* weights);
    std::vector<std::int16_t> weights() const;

    // Plays games for their positions; those of an earlier call are dropped.  Returns the number of games.
    std::size_t play(const PlaySettings& settings);

    // Labels the positions of a stage and learns them; then learns the stage before it again, which now has neighbours
    // on both sides.  Must be called for stages 0, 1, 2 ... in turn.
    StageReport learn(int stage, const LearnSettings& settings);

    // Adds a constant for each number of empty squares to the evaluation, from the mover's view, such that scores of
    // full-width searches of odd and of even depth agree on average; measured in games after eight random plies.
    // Returns the constants in discs for 0 .. 60 empty squares; does nothing if no position can be compared.
    std::vector<double> settle_parity(const ParitySettings& settings);

    // Error on the held-out positions of a stage, as in the report, with the current weights.
    double error(int stage) const;

    // Positions with this many empty squares, from games with ten random plies.
    std::vector<Check> check(int empties, std::size_t count);

    // A position of one or more games.
    struct TrainingPosition {
        Position position;
        float margin;  // final discs of its mover minus those of the other side, on average; or kNoMargin
    };
    static constexpr float kNoMargin = 100.0f;  // not well played from here on

   private:
    struct Sample {
        std::uint32_t at[patterns::kFeatureCount + 2];  // its weights
        float label;                                    // discs
    };
    struct Stage {
        std::vector<Sample> samples;
        std::vector<float> start;  // its initial weights
    };

    void publish(int stage);
    Sample describe(const Position& p) const;
    std::vector<Sample> label(std::vector<TrainingPosition>& positions, const LearnSettings& settings);
    void descend(int stage, const Stage& own, const Stage& later, const Stage& earlier,
                 const LearnSettings& settings, std::uint64_t seed);

    const Unit& unit_;
    const std::uint64_t seed_;
    const int threads_;
    std::uint64_t sweep_ = 0;
    bool is_new_ = true;  // no stage has weights worth starting from
    Evaluation evaluation_;
    std::vector<std::vector<float>> weights_;  // discs, by stage
    std::vector<std::vector<TrainingPosition>> positions_;
    std::vector<std::vector<TrainingPosition>> held_out_;
    std::vector<std::vector<Sample>> held_out_samples_;
    Stage now_;     // the stage that is being learned,
    Stage later_;   // the one learned before it,
    Stage latest_;  // and the one before that
};

}  // namespace desdemona::othello::training
