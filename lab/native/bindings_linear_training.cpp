// The Python interface of the training of linear evaluations (lab/training/linear.py).
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "linear_training.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace learning = desdemona::learning;

namespace {

struct Binding {
    using Trainer = learning::AnyTrainer;
    using Weights = std::vector<std::int16_t>;

    static Weights weights_of(const Trainer& self, nb::bytes bytes) {
        Weights weights(static_cast<std::size_t>(self.weight_count()));
        const std::size_t size = sizeof(std::int16_t) * weights.size();
        if (bytes.size() != size) {
            const std::string message =
                "the weights must be " + std::to_string(size) + " bytes, not " + std::to_string(bytes.size());
            throw nb::value_error(message.c_str());
        }
        std::memcpy(weights.data(), bytes.c_str(), size);
        return weights;
    }

    static void require(bool holds, const char* message) {
        if (!holds) throw nb::value_error(message);
    }

    static std::tuple<std::size_t, std::size_t> play(Trainer& self, std::size_t games, int depth, int asides,
                                                     std::pair<int, int> random_plies) {
        require(games >= 1 && games <= 10'000'000, "games must be 1 .. 10000000");
        require(depth >= 1 && depth <= 20, "depth must be 1 .. 20");
        require(asides >= 0 && asides <= 8, "asides must be 0 .. 8");
        const auto [least, most] = random_plies;
        require(0 <= least && least <= most && most <= 100, "random_plies must be 0 <= from <= to <= 100");
        learning::PlaySettings settings;
        settings.games = games;
        settings.depth = depth;
        settings.asides = asides;
        settings.least_random = least;
        settings.most_random = most;
        const nb::gil_scoped_release release;
        const learning::PlayReport report = self.play(settings);
        return {report.positions, report.held_out};
    }

    static std::pair<double, double> fit(Trainer& self, int epochs, double scale_centi, double trace,
                                         double first_rate, double last_rate, double pull, double smooth,
                                         const std::vector<std::pair<int, int>>& neighbours) {
        require(epochs >= 1, "epochs must be 1 or more");
        require(scale_centi >= 1, "scale_centi must be 1 or more");
        require(trace >= 0 && trace <= 1, "trace must be 0 .. 1");
        require(last_rate > 0 && first_rate >= last_rate, "rates must be 0 < last_rate <= first_rate");
        require(pull >= 0 && smooth >= 0, "pull and smooth must be 0 or more");
        const int features = self.weight_count() / 2;
        for (const auto& [a, b] : neighbours) {
            require(a >= 0 && a < features && b >= 0 && b < features, "there is no such feature");
        }
        const nb::gil_scoped_release release;
        const learning::Error error =
            self.fit({epochs, scale_centi, trace, first_rate, last_rate, pull, smooth}, neighbours);
        return {error.log_loss, error.rms};
    }

    static std::vector<std::tuple<int, int, int>> scored(const Trainer& self) {
        std::vector<std::tuple<int, int, int>> all;
        for (const learning::Scored& one : self.scored()) all.emplace_back(one.score_centi, one.middle, one.result);
        return all;
    }

    static std::tuple<int, int, int> match(Trainer& self, nb::bytes others, int games, std::uint64_t nodes) {
        require(games >= 0 && games <= 1'000'000, "games must be 0 .. 1000000");
        require(nodes >= 1, "nodes must be 1 or more");
        const Weights weights = weights_of(self, others);
        const nb::gil_scoped_release release;
        const learning::MatchReport report = self.match(weights.data(), games, nodes);
        return {report.wins, report.draws, report.losses};
    }

    static nb::bytes weights(const Trainer& self) {
        const Weights all = self.weights();
        return nb::bytes(reinterpret_cast<const char*>(all.data()), sizeof(std::int16_t) * all.size());
    }

    static void bind(nb::module_& m) {
        nb::class_<Trainer>(m, "AnyTrainer",
                            "Learns a linear evaluation from games against itself; for one thread at a time.")
            .def("set_start", [](Trainer& self, nb::bytes start) { self.set_start(weights_of(self, start).data()); },
                 "start"_a, "The present weights, and what `fit` pulls them to.")
            .def_prop_rw("weights", &weights,
                         [](Trainer& self, nb::bytes bytes) { self.set_weights(weights_of(self, bytes).data()); },
                         nb::for_setter(nb::sig("def weights(self, weights: bytes) -> None")),
                         "The present weights, as the game's evaluation takes them.")
            .def("play", &play, "games"_a, "depth"_a, "asides"_a, "random_plies"_a,
                 "Play games by the present weights and keep their positions; numbers kept: to learn, held out.")
            .def("forget", &Trainer::forget, "Drop the positions of all but the last call of `play`.")
            .def("fit", &fit, "epochs"_a, "scale_centi"_a, "trace"_a, "first_rate"_a, "last_rate"_a, "pull"_a,
                 "smooth"_a, "neighbours"_a,
                 "Learn from the positions kept.\n\n"
                 "Returns the log-loss and the root mean square error of the expected result on those held out.")
            .def("error",
                 [](const Trainer& self, double scale_centi, double trace) {
                     const learning::Error error = self.error(scale_centi, trace);
                     return std::pair<double, double>{error.log_loss, error.rms};
                 },
                 "scale_centi"_a, "trace"_a, "As `fit` returns it, of the present weights.")
            .def("scored", &scored,
                 "Positions of the last call's games: score of the search, share of the middle game (of 64), result\n"
                 "(0 lost, 1 drawn, 2 won); for the side to move.")
            .def("match", &match, "others"_a, "games"_a, "nodes"_a,
                 "Play the present weights against others, with so many nodes a move: wins, draws, losses.");
    }

    template <class Position>
    static void bind_game(nb::module_& m, const char* name, const char* about) {
        using Own = learning::LinearTrainer<Position>;
        nb::class_<Own, Trainer>(m, name, about)
            .def(nb::new_([](std::uint64_t seed, int threads) {
                     require(threads >= 1 && threads <= 256, "threads must be 1 .. 256");
                     return new Own(seed, threads);
                 }),
                 "seed"_a, "threads"_a, nb::rv_policy::take_ownership,
                 "What follows depends on the seed, not on the number of threads.");
    }
};

}  // namespace

void bind_linear_training(nb::module_& m) {
    Binding::bind(m);
    Binding::bind_game<desdemona::chess::Position>(m, "ChessTrainer", "Learns the evaluation of chess.");
    Binding::bind_game<desdemona::xiangqi::Position>(m, "XiangqiTrainer", "Learns the evaluation of xiangqi.");
}
