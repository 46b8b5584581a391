// Threads that share what the core lets them share, for ThreadSanitizer: the evaluation, flags, the training.
#include <atomic>
#include <mutex>
#include <thread>

#include "checks.hpp"
#include "training.hpp"

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

// The training plays and labels in threads of its own; what it learns must not depend on their number.
void train(std::uint64_t seed, int threads) {
    std::vector<std::int16_t> learned[2];
    for (const int count : {threads, 1}) {
        desdemona::othello::training::Trainer trainer(seed, count);
        trainer.play({4, 1});
        desdemona::othello::training::LearnSettings settings;
        settings.exact_empties = 4;
        settings.epochs = 1;
        for (int stage = 0; stage < 4; ++stage) trainer.learn(stage, settings);
        trainer.check(4, 70);
        learned[count == 1] = trainer.weights();
    }
    require(learned[0] == learned[1], "the training depends on the number of threads");
}

}  // namespace

void run_threads(std::uint64_t seed, int threads, std::uint64_t rounds) {
    share_evaluation_and_flags(seed, threads, rounds);
    train(seed, threads);
}

}  // namespace check
