// The strong search of chess and xiangqi: the units side by side, lines, limits, and threads that think together.
#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "checks.hpp"
#include "chess/chess_parse.hpp"
#include "naive_chess.hpp"
#include "naive_xiangqi.hpp"
#include "xiangqi/xiangqi_parse.hpp"

namespace check {
namespace {

using desdemona::kMostMoves;

struct Chess {
    using Position = desdemona::chess::Position;
    using Evaluation = desdemona::chess::Evaluation;
    static constexpr const char* kName = "chess";

    static constexpr auto kParse = &desdemona::chess::parse;
    using Network = desdemona::chess::Network;
    static Core<Position>* make(const Unit& unit, const Evaluation& evaluation, const Network* network) {
        return unit.make_chess(1, evaluation, network);
    }
    static int moves(const Unit& unit, const Position& p, std::uint16_t* moves) {
        return unit.chess_moves(p, moves);
    }
    static std::string text(int move) { return naive_chess::move_text(move); }
};

struct Xiangqi {
    using Position = desdemona::xiangqi::Position;
    using Evaluation = desdemona::xiangqi::Evaluation;
    static constexpr const char* kName = "xiangqi";

    static constexpr auto kParse = &desdemona::xiangqi::parse;
    using Network = desdemona::xiangqi::Network;
    static Core<Position>* make(const Unit& unit, const Evaluation& evaluation, const Network* network) {
        return unit.make_xiangqi(1, evaluation, network);
    }
    static int moves(const Unit& unit, const Position& p, std::uint16_t* moves) {
        return unit.xiangqi_moves(p, moves);
    }
    static std::string text(int move) { return naive_xiangqi::move_text(move); }
};

// Weights of any size: evaluations are wild, and kept inside their bounds by the core.
template <class G>
const typename G::Evaluation& weights() {
    static const typename G::Evaluation evaluation = [] {
        typename G::Evaluation all{};
        Random random(1);
        for (auto& pair : all.weights) {
            for (std::int16_t& weight : pair) {
                weight = static_cast<std::int16_t>(random.one_in(50) ? random.between(-3'000, 3'000)
                                                                     : random.between(-60, 60));
            }
        }
        return all;
    }();
    return evaluation;
}

// Weights of any size: sums overflow, to the same values everywhere.
template <class G>
const typename G::Network& network() {
    static const auto network = [] {
        auto all = std::make_unique<typename G::Network>();
        Random random(20'061);
        const auto fill = [&](auto* from, std::size_t count, int most) {
            for (std::size_t i = 0; i < count; ++i) {
                from[i] = static_cast<std::remove_reference_t<decltype(*from)>>(random.between(-most, most));
            }
        };
        fill(&all->inputs[0][0], sizeof(all->inputs) / sizeof(std::int16_t), 9'000);
        fill(all->bias, sizeof(all->bias) / sizeof(std::int16_t), 32'000);
        fill(&all->outputs[0][0][0], sizeof(all->outputs) / sizeof(std::int16_t), 3'000);
        fill(all->output_bias, sizeof(all->output_bias) / sizeof(std::int32_t), 1'000'000'000);
        return all;
    }();
    return *network;
}

template <class G>
typename G::Position parsed(const std::string& text) {
    try {
        return G::kParse(text);
    } catch (const std::invalid_argument& error) {
        require(false, "%s: %s: %s", G::kName, text.c_str(), error.what());
        throw;
    }
}

template <class G>
bool is_legal(const typename G::Position& p, int move) {
    std::uint16_t moves[kMostMoves];
    const int count = G::moves(*all_units().back(), p, moves);
    return std::find(moves, moves + count, move) != moves + count;
}

// A game of so many random moves, which often go to and fro; the text of its last position that is not over.
template <class G>
std::string played(Random& random, Core<typename G::Position>& core, int plies) {
    std::string text = "startpos moves";
    int last[2] = {0, 0};  // moves of the two sides
    for (int ply = 0; ply < plies; ++ply) {
        const auto p = parsed<G>(ply == 0 ? "startpos" : text);
        std::uint16_t moves[kMostMoves];
        const int count = G::moves(*all_units().back(), p, moves);
        int move = moves[random.between(0, count - 1)];
        const int shift = std::string_view(G::kName) == "chess" ? 6 : 7;
        const int mask = (1 << shift) - 1;
        const int back = (last[ply & 1] >> shift & mask) | (last[ply & 1] & mask) << shift;
        if (random.one_in(3) && is_legal<G>(p, back)) move = back;
        last[ply & 1] = move;
        const std::string next = text + " " + G::text(move);
        if (core.is_over(parsed<G>(next))) break;
        text = next;
    }
    return text == "startpos moves" ? "startpos" : text;
}

template <class G>
void require_sane(const ThinkResult& found, const std::string& text, const ThinkLimits& limits) {
    const char* const name = text.c_str();
    require(found.line_length >= 1 && found.line_length <= ThinkResult::kMaxLine && found.line[0] == found.move,
            "the line's length or first move: %s", name);
    std::string line = text + " line";
    auto p = parsed<G>(text);
    for (int i = 0; i < found.line_length; ++i) {
        require(is_legal<G>(p, found.line[i]), "move %d of the line is not legal: %s", i, name);
        line += " " + G::text(found.line[i]);
        p = parsed<G>(line);
    }
    const int size = std::abs(found.score_centi);
    require(found.solved ? size > kWin && size <= kWin + 10'000 : size <= 20'000, "score %d: %s", found.score_centi,
            name);
    require(found.confidence == 0, "confidence %d: %s", found.confidence, name);
    require(found.depth >= 1 && found.depth <= limits.depth, "depth %d: %s", found.depth, name);
}

// The strong evaluation after moves is that of the position which they lead to, in every unit.
template <class G>
void check_sums(Random& random, const std::vector<std::unique_ptr<Core<typename G::Position>>>& cores,
                const std::string& text) {
    const auto p = parsed<G>(text);
    std::string line = text + " line";
    std::vector<int> path;
    auto after = p;
    for (int ply = 0; ply < 6 && !cores.back()->is_over(after); ++ply) {
        std::uint16_t moves[kMostMoves];
        const int count = G::moves(*all_units().back(), after, moves);
        path.push_back(moves[random.between(0, count - 1)]);
        line += " " + G::text(path.back());
        after = parsed<G>(line);
    }
    const int expected = cores.back()->strong_evaluation(after, nullptr, 0);
    for (const auto& core : cores) {
        const int found = core->strong_evaluation(p, path.data(), static_cast<int>(path.size()));
        require(found == expected, "strong evaluation %d by moves, %d: %s", found, expected, line.c_str());
    }
}

template <class G>
void check_units(Random& random) {
    const std::vector<const Unit*> units = all_units();
    std::vector<std::unique_ptr<Core<typename G::Position>>> cores;
    const bool has_network = random.one_in(2);
    for (const Unit* unit : units) {
        cores.emplace_back(G::make(*unit, weights<G>(), has_network ? &network<G>() : nullptr));
    }
    for (int i = 0; i < 3; ++i) {
        const std::string text = played<G>(random, *cores.back(), random.between(0, 80));
        const auto p = parsed<G>(text);
        check_sums<G>(random, cores, text);
        const ThinkLimits limits{random.between(1, 7), 0.0, 73, 1, random.one_in(2) ? random.between(-100, 100) : 0};
        const std::uint64_t nodes = static_cast<std::uint64_t>(random.between(1'500, 20'000));
        ThinkResult first{};
        for (std::size_t u = 0; u < units.size(); ++u) {
            StopFlag stop;
            stop.set_node_limit(nodes);
            ThinkResult found{};
            try {
                found = cores[u]->think(p, limits, stop);
                require_sane<G>(found, text, limits);
            } catch (const Stopped&) {  // before it knew anything: all or none
            }
            if (u == 0) first = found;
            const bool is_equal = found.score_centi == first.score_centi && found.depth == first.depth &&
                                  found.nodes == first.nodes && found.line_length == first.line_length &&
                                  std::equal(found.line, found.line + found.line_length, first.line);
            require(is_equal, "units differ in a thought of %s", text.c_str());
        }
    }
}

// Thoughts of several threads, whose table is shared without locks; some are cut short by another thread.
template <class G>
void think_together(std::uint64_t seed, int threads, std::uint64_t rounds) {
    Random random(seed);
    const std::vector<const Unit*> units = all_units();
    std::uint64_t finished = 0, stopped = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::unique_ptr<Core<typename G::Position>> core(G::make(*units[round % units.size()], weights<G>(), &network<G>()));
        for (int i = 0; i < 4; ++i) {
            const std::string text = played<G>(random, *core, random.between(0, 80));
            const auto p = parsed<G>(text);
            const bool is_cut_short = i == 0;
            const int depth = is_cut_short ? 60 : random.between(1, i == 3 ? 8 : 6);
            const ThinkLimits limits{depth, i == 1 ? 0.005 : 0.0, 73, threads, 10 * i};
            StopFlag stop;
            std::thread stopper;
            if (is_cut_short) {
                stopper = std::thread([&stop, wait = random.between(0, 10)] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
                    stop.set();
                });
            }
            std::string failure;
            try {
                const ThinkResult found = core->think(p, limits, stop);
                require_sane<G>(found, text, limits);
                ++finished;
            } catch (const Stopped&) {
                ++stopped;
                if (!is_cut_short && limits.seconds == 0) failure = "a thought was stopped: " + text;
            } catch (const Failure& told) {
                failure = told.what();
            }
            if (stopper.joinable()) stopper.join();
            require(failure.empty(), "%s", failure.c_str());
        }
    }
    std::printf("%s by %d threads together: %llu thoughts, %llu stopped before the first\n", G::kName, threads,
                static_cast<unsigned long long>(finished), static_cast<unsigned long long>(stopped));
}

}  // namespace

void check_selective(Random& random) {
    if (random.one_in(2)) {
        check_units<Chess>(random);
    } else {
        check_units<Xiangqi>(random);
    }
}

void think_selectively(std::uint64_t seed, int threads, std::uint64_t rounds) {
    think_together<Chess>(seed, threads, rounds);
    think_together<Xiangqi>(seed, threads, rounds);
}

}  // namespace check
