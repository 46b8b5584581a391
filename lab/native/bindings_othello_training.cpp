// The Python interface of the training of the Othello evaluation (lab/training/).
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "othello_training.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace othello = desdemona::othello;
namespace patterns = desdemona::othello::patterns;
namespace training = desdemona::othello::training;

namespace {

constexpr std::size_t kWeights = static_cast<std::size_t>(patterns::kStages) * patterns::kStageSize;

training::Trainer* make_trainer(std::uint64_t seed, int threads) {
    if (threads < 1 || threads > 256) throw nb::value_error("threads must be 1 .. 256");
    return new training::Trainer(seed, threads);
}

void set_weights(training::Trainer& self, nb::bytes weights) {
    if (weights.size() != sizeof(std::int16_t) * kWeights) {
        const std::string wanted = std::to_string(sizeof(std::int16_t) * kWeights);
        throw nb::value_error(
            ("the weights must be " + wanted + " bytes, not " + std::to_string(weights.size())).c_str());
    }
    std::vector<std::int16_t> copy(kWeights);
    std::memcpy(copy.data(), weights.c_str(), weights.size());
    self.set_weights(copy.data());
}

nb::bytes weights(const training::Trainer& self) {
    const std::vector<std::int16_t> all = self.weights();
    return nb::bytes(reinterpret_cast<const char*>(all.data()), sizeof(std::int16_t) * all.size());
}

std::size_t play(training::Trainer& self, std::size_t per_stage, int depth, double well_played) {
    if (per_stage < 1 || per_stage > 100'000'000) throw nb::value_error("per_stage must be 1 .. 100000000");
    if (depth < 1 || depth > 10) throw nb::value_error("depth must be 1 .. 10");
    if (!(well_played >= 0 && well_played <= 1)) throw nb::value_error("well_played must be 0 .. 1");
    const nb::gil_scoped_release release;
    return self.play({per_stage, depth, well_played});
}

void stage_in_range(int stage) {
    if (stage < 0 || stage >= patterns::kStages) throw nb::value_error("stage must be 0 .. 59");
}

nb::tuple learn(training::Trainer& self, int stage, int label_depth, int exact_empties, int epochs,
                            double first_rate, double last_rate, double shrink, double neighbours,
                            double result_share) {
    stage_in_range(stage);
    if (label_depth < 3 || label_depth > 12) throw nb::value_error("label_depth must be 3 .. 12");
    if (exact_empties < 4 || exact_empties > 24) throw nb::value_error("exact_empties must be 4 .. 24");
    if (epochs < 1) throw nb::value_error("epochs must be 1 or more");
    if (!(first_rate > 0 && last_rate > 0 && first_rate <= 0.03 && last_rate <= first_rate)) {
        // Above 2 / 48, a weight for each feature, the descent would diverge.
        throw nb::value_error("rates must be 0 < last_rate <= first_rate <= 0.03");
    }
    if (!(shrink >= 0)) throw nb::value_error("shrink must be 0 or more");
    if (!(neighbours >= 0 && neighbours <= 1)) throw nb::value_error("neighbours must be 0 .. 1");
    if (!(result_share >= 0 && result_share <= 1)) throw nb::value_error("result_share must be 0 .. 1");
    training::StageReport report;
    {
        const nb::gil_scoped_release release;
        report = self.learn(stage, {label_depth, exact_empties, epochs, first_rate, last_rate, shrink,
                                    neighbours, result_share});
    }
    return nb::make_tuple(report.positions, report.held_out, report.error, report.label_seconds,
                          report.descent_seconds);
}

std::vector<double> settle_parity(training::Trainer& self, std::size_t games, int depth) {
    if (games < 1 || games > 1'000'000) throw nb::value_error("games must be 1 .. 1000000");
    if (depth < 1 || depth > 11 || depth % 2 == 0) throw nb::value_error("depth must be odd, 1 .. 11");
    const nb::gil_scoped_release release;
    return self.settle_parity({games, depth});
}

std::vector<std::pair<int, int>> check(training::Trainer& self, int empties, std::size_t count) {
    if (empties < 1 || empties > 30) throw nb::value_error("empties must be 1 .. 30");
    std::vector<std::pair<int, int>> pairs;
    const nb::gil_scoped_release release;
    for (const training::Check& one : self.check(empties, count)) {
        pairs.emplace_back(one.evaluation, one.exact);
    }
    return pairs;
}

}  // namespace

void bind_othello_training(nb::module_& m) {
    nb::class_<training::Trainer>(
        m, "OthelloTrainer", "Learns Othello weights by a backward minimax sweep; for one thread at a time.")
        .def(nb::new_(&make_trainer), "seed"_a, "threads"_a, nb::rv_policy::take_ownership,
             "Starts from rules of thumb.  What follows depends on the seed, not on the number of threads.")
        .def("set_weights", &set_weights, "weights"_a,
             "Start from weights as `OthelloEvaluation` takes them.")
        .def_prop_ro("weights", &weights, "The present weights, as `OthelloEvaluation` takes them.")
        .def("play", &play, "per_stage"_a, "depth"_a, "well_played"_a,
             "Play games for their positions, so many for each stage; forget those of earlier calls.\n\n"
             "A share `well_played` of the games has few random plies and stronger play, and its results count.\n"
             "Returns the number of games.")
        .def("learn", &learn, "stage"_a, "label_depth"_a, "exact_empties"_a, "epochs"_a, "first_rate"_a,
             "last_rate"_a, "shrink"_a, "neighbours"_a, "result_share"_a,
             nb::sig("def learn(self, stage: int, label_depth: int, exact_empties: int, epochs: int, "
                     "first_rate: float, last_rate: float, shrink: float, neighbours: float, "
                     "result_share: float) -> tuple[int, int, float, float, float]"),
             "Label the positions of a stage and learn them, then the one before again; for 0, 1 ...\n\n"
             "Returns positions learned, positions held out, the error on these (root mean square, discs),\n"
             "seconds that the labels took, and seconds of the descent.")
        .def("settle_parity", &settle_parity, "games"_a, "depth"_a,
             "Add a constant for each number of empty squares such that searches of `depth` plies and of one\n"
             "more agree on average.\n\n"
             "Returns the constants, in discs for the side to move, for 0 .. 60 empty squares.")
        .def("error",
             [](const training::Trainer& self, int stage) {
                 stage_in_range(stage);
                 return self.error(stage);
             },
             "stage"_a, "Error on the held-out positions of a stage with the present weights.")
        .def("check", &check, "empties"_a, "count"_a,
             "Evaluation and exact result, in centidiscs, of positions from games with ten random plies.");
}
