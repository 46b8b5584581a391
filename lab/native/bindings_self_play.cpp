// The Python interface of self-play for learning networks (lab/training/networks.py).
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "self_play.hpp"

namespace nb = nanobind;
using namespace nb::literals;
namespace learning = desdemona::learning;

namespace {

template <class T>
nb::bytes bytes_of(const std::vector<T>& items) {
    return nb::bytes(reinterpret_cast<const char*>(items.data()), sizeof(T) * items.size());
}

template <class Position>
struct Binding {
    using Games = learning::SelfPlay<Position>;

    static nb::bytes play(const typename Games::Evaluation& evaluation, const typename Games::Network* network,
                          std::uint64_t seed, std::uint64_t first_game, std::size_t games, std::uint64_t nodes,
                          std::pair<int, int> random_plies, int threads) {
        if (games < 1 || games > 10'000'000) throw nb::value_error("games must be 1 .. 10000000");
        if (nodes < 1) throw nb::value_error("nodes must be 1 or more");
        if (threads < 1 || threads > 256) throw nb::value_error("threads must be 1 .. 256");
        const auto [least, most] = random_plies;
        if (least < 0 || least > most || most > 100) {
            throw nb::value_error("random_plies must be 0 <= from <= to <= 100");
        }
        std::vector<std::uint8_t> records;
        {
            const nb::gil_scoped_release release;
            records = Games::play({seed, first_game, games, nodes, least, most, threads}, evaluation, network);
        }
        return bytes_of(records);
    }

    static nb::tuple samples(nb::bytes records, const typename Games::Evaluation& evaluation) {
        typename Games::Samples samples;
        bool is_valid;
        {
            const nb::gil_scoped_release release;
            is_valid = Games::quiet_samples(reinterpret_cast<const std::uint8_t*>(records.data()), records.size(), evaluation,
                                      samples);
        }
        if (!is_valid) throw nb::value_error("these are not records of games");
        return nb::make_tuple(bytes_of(samples.inputs), bytes_of(samples.scores), bytes_of(samples.linear),
                              bytes_of(samples.results), bytes_of(samples.games));
    }

    static void bind(nb::module_& m, const char* evaluation_name, const char* play_name, const char* samples_name) {
        const std::string samples_signature = std::string("def ") + samples_name + "(records: bytes, evaluation: engine._native." +
                                              evaluation_name + ") -> tuple[bytes, bytes, bytes, bytes, bytes]";
        m.def(play_name, &play, "evaluation"_a, "network"_a.none(), "seed"_a, "first_game"_a, "games"_a, "nodes"_a,
              "random_plies"_a, "threads"_a,
              "Games of the strong search against itself, after so many random moves, as records (self_play.hpp).\n\n"
              "Depends on the seed and the numbers of the games, not on the threads.  Releases the GIL.");
        m.def(samples_name, &samples, "records"_a, "evaluation"_a,
              nb::sig(samples_signature.c_str()),
              "The quiet positions of such games: inputs of the network (16 bits; 32 for the mover's view, then 32 for\n"
              "the other's, filled up with the number of inputs), the search's scores and those of the evaluation (16\n"
              "bits, signed), results (8 bits: 0, 1, 2) and the number of the game among the records (32 bits).  Raises\n"
              "ValueError for other bytes.");
    }
};

}  // namespace

void bind_self_play(nb::module_& m) {
    Binding<desdemona::chess::Position>::bind(m, "ChessEvaluation", "chess_self_play", "chess_samples");
    Binding<desdemona::xiangqi::Position>::bind(m, "XiangqiEvaluation", "xiangqi_self_play", "xiangqi_samples");
}
