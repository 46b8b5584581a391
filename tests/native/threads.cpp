// Threads that share what the core lets them share, for ThreadSanitizer: evaluation, flags, tables, training.
#include <atomic>
#include <mutex>
#include <thread>

#include "checks.hpp"
#include "search/race.hpp"
#include "search/team.hpp"
#include "othello_training.hpp"

namespace check {
namespace {

// Runs work(t) in so many threads, and `meanwhile` in this one; the first failure is thrown again here.
template <class Work, class Meanwhile>
void in_threads(int count, const Work& work, const Meanwhile& meanwhile) {
    std::mutex mutex;
    std::string failure;
    std::atomic<int> running{count};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
        threads.emplace_back([&, t] {
            try {
                work(t);
            } catch (const Failure& told) {
                const std::lock_guard lock(mutex);
                failure = told.what();
            }
            --running;
        });
    }
    meanwhile([&] { return running.load() > 0; });
    for (std::thread& thread : threads) thread.join();
    require(failure.empty(), "%s", failure.c_str());
}

// Every thread has a core of its own; all read one evaluation and obey flags that another thread sets.
void share_evaluation_and_flags(std::uint64_t seed, int threads, std::uint64_t rounds) {
    constexpr std::size_t kFlags = 2;  // fewer than threads, so that searches share them, too
    Random random(seed);
    const Weights weights(inputs::weights(random, inputs::Style::kMild));
    std::mutex mutex;
    std::shared_ptr<StopFlag> flags[kFlags];
    for (auto& flag : flags) flag = std::make_shared<StopFlag>();
    const auto flag_at = [&](std::size_t i) {
        const std::lock_guard lock(mutex);
        return flags[i];
    };
    std::atomic<std::uint64_t> finished{0}, stopped{0};

    const auto work = [&](int t) {
        const std::vector<const Unit*> units = all_units();
        const Unit& unit = *units[static_cast<std::size_t>(t) % units.size()];
        const auto core = make_core(unit, weights.core);
        Random own(seed + 1 + static_cast<std::uint64_t>(t));
        for (std::uint64_t round = 0; round < rounds; ++round) {
            const Position p = inputs::played(own, unit, own.between(0, 50));
            const auto stop = flag_at(static_cast<std::size_t>(own.between(0, kFlags - 1)));
            const int depth = own.between(2, 5);
            try {
                if (own.one_in(4)) {
                    Collector sink;
                    core->trappy_candidates(p, 3, {TrapOptions::kMedian, 100, false}, *stop, sink);
                } else {
                    const int score = core->search(p, depth, -kInfinity, kInfinity, *stop);
                    const StopFlag never;
                    require(score == core->search(p, depth, -kInfinity, kInfinity, never), "score of %s",
                            text(p).c_str());
                }
                ++finished;
            } catch (const Stopped&) {
                ++stopped;
            }
        }
    };
    const auto meanwhile = [&](const auto& goes_on) {
        for (int n = 0; goes_on(); ++n) {
            const auto flag = flag_at(static_cast<std::size_t>(random.between(0, kFlags - 1)));
            switch (random.between(0, 3)) {
                case 0: flag->set(); break;
                case 1: flag->set_node_limit(static_cast<std::uint64_t>(random.between(0, 20'000))); break;
                case 2: flag->set_deadline(random.between(-1, 20) / 1000.0); break;
                default: break;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(random.between(0, 3)));
            const std::lock_guard lock(mutex);
            flags[static_cast<std::size_t>(random.between(0, kFlags - 1))] = std::make_shared<StopFlag>();
        }
    };
    in_threads(threads, work, meanwhile);
    std::printf("%d threads: %llu searches finished, %llu were stopped\n", threads,
                static_cast<unsigned long long>(finished.load()), static_cast<unsigned long long>(stopped.load()));
}

// One thought of several threads, whose tables are shared without locks; some are cut short by another thread.
void think_together(std::uint64_t seed, int threads, std::uint64_t rounds) {
    Random random(seed);
    const Weights weights(inputs::weights(random, inputs::Style::kMild));
    const std::vector<const Unit*> units = all_units();
    std::uint64_t solved = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const Unit& unit = *units[round % units.size()];
        const auto core = make_core(unit, weights.core);
        for (int i = 0; i < 4; ++i) {
            const Position p = inputs::played(random, unit, i < 2 ? random.between(0, 40) : random.between(44, 54));
            if (unit.othello_moves(p) == 0) continue;
            constexpr int kConfidences[] = {73, 87, 95, 99, 100};
            // From depth 9 on open nodes below the root are shared, too.
            const ThinkLimits limits{i < 2 ? random.between(1, 10) : 60, i == 1 ? 0.005 : 0.0,
                                     kConfidences[random.between(0, 4)], threads, 0};
            StopFlag stop;
            const bool is_cut_short = i == 0 && random.one_in(2);
            const auto think = [&](int) {
                try {
                    const ThinkResult found = core->think(p, limits, stop);
                    const Board moves = unit.othello_moves(p);
                    require(found.move < 64 && (moves >> found.move & 1) != 0, "a move that is not legal: %s",
                            text(p).c_str());
                    if (!found.solved) return;
                    ++solved;
                    const StopFlag never;
                    if (inputs::empties_of(p) > 8) return;
                    require(found.score_centi == core->search(p, 16, -kInfinity, kInfinity, never),
                            "solved by %d threads: %s", threads, text(p).c_str());
                } catch (const Stopped&) {
                    require(is_cut_short || limits.seconds > 0, "a thought was stopped: %s", text(p).c_str());
                }
            };
            in_threads(1, think, [&](const auto& goes_on) {
                while (is_cut_short && goes_on()) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(random.between(0, 10)));
                    stop.set();
                }
            });
        }
    }
    std::printf("%d threads together: %llu endings solved\n", threads, static_cast<unsigned long long>(solved));
}

// Iterations by several threads: all see the same result of each depth, and never a shallower one after a deeper one.
void race(int threads, std::uint64_t rounds) {
    struct Iteration {
        int depth = 0;
        int thread = 0;
    };
    constexpr int kLast = 100;
    desdemona::Race<Iteration> race;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        race.begin();
        require(race.depth() == 0 && race.deepest().depth == 0, "a race begins at depth %d", race.depth());
        std::atomic<int> winners[kLast + 1] = {};
        const auto work = [&](int t) {
            for (int depth = 1; depth <= kLast;) {
                const Iteration deepest = race.finish({depth, t + 1});
                require(deepest.depth >= depth && race.depth() >= deepest.depth, "a result was lost: %d", depth);
                int winner = 0;
                winners[deepest.depth].compare_exchange_strong(winner, deepest.thread);
                require(winner == 0 || winner == deepest.thread, "two results of depth %d", deepest.depth);
                depth = race.deepest().depth + 1 + t % 2;
            }
        };
        in_threads(threads, work, [](const auto&) {});
        require(race.depth() >= kLast, "a race ends at depth %d", race.depth());
    }
}

// A team is empty after each search: who helped in one must not count as waiting in the next.
void leave_team(int threads, std::uint64_t rounds) {
    desdemona::Team team;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        team.begin();
        in_threads(threads, [&](int) { team.help([](const auto&) {}); }, [&](const auto&) { team.end(); });
        require(!team.is_waiting(), "a helper still counts as waiting after %d searches", static_cast<int>(round) + 1);
    }
}

// The training plays and labels in threads of its own; what it learns must not depend on their number.
std::vector<std::int16_t> trained(std::uint64_t seed, int threads) {
    desdemona::othello::training::Trainer trainer(seed, threads);
    trainer.play({4, 1});
    desdemona::othello::training::LearnSettings settings;
    settings.exact_empties = 4;
    settings.epochs = 1;
    for (int stage = 0; stage < 6; ++stage) trainer.learn(stage, settings);
    trainer.settle_parity({2, 1});
    return trainer.weights();
}

void train(std::uint64_t seed, int threads) {
    const std::vector<std::int16_t> together = trained(seed, threads);
#if !defined(__SANITIZE_THREAD__)  // slow there, and one thread has nobody to race with
    require(together == trained(seed, 1), "the training depends on the number of threads");
#endif
}

}  // namespace

void run_threads(std::uint64_t seed, int threads, std::uint64_t rounds) {
    share_evaluation_and_flags(seed, threads, rounds);
    think_together(seed, threads, rounds / 10);
    race(threads, rounds);
    leave_team(threads, rounds);
    think_selectively(seed, threads, rounds / 10);
    train(seed, threads);
}

}  // namespace check
