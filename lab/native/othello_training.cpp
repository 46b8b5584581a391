#include "othello_training.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <thread>

#include "game.hpp"
#include "random.hpp"

namespace desdemona::othello::training {

using namespace patterns;

namespace {

using Core = desdemona::Core<Position>;
using TrainingPosition = Trainer::TrainingPosition;

constexpr Position kStart{0x0000000810000000, 0x0000001008000000};
constexpr int kStartEmpties = 60;

const Unit& best_unit() {
    int count = 0;
    const Unit* const* units = runnable_units(count);
    return *units[count - 1];
}

int empties_of(const Position& p) { return 64 - std::popcount(p.mover | p.waiter); }

int nth_square(Board squares, int n) {
    for (; n > 0; --n) squares &= squares - 1;
    return std::countr_zero(squares);
}

double discs_of(int score) {
    const int margin = score > kWin / 2 ? score - kWin : score < -kWin / 2 ? score + kWin : score;
    return margin / 100.0;
}

std::vector<std::unique_ptr<Core>> make_cores(const Unit& unit, const Evaluation& evaluation, int count,
                                              std::size_t table_mb) {
    std::vector<std::unique_ptr<Core>> cores;
    for (int i = 0; i < count; ++i) {
        cores.emplace_back(unit.make_othello(table_mb, evaluation));
        if (cores.back() == nullptr) throw std::bad_alloc{};
    }
    return cores;
}

// Calls work(core, i) for each i below `count`; each thread has its own core.
template <class Work>
void in_parallel(std::vector<std::unique_ptr<Core>>& cores, std::size_t count, const Work& work) {
    const std::size_t chunk = std::clamp<std::size_t>(count / (8 * cores.size()), 1, 64);
    std::atomic<std::size_t> next{0};
    const auto run = [&](Core& core) {
        for (;;) {
            const std::size_t begin = next.fetch_add(chunk);
            if (begin >= count) return;
            for (std::size_t i = begin; i < std::min(begin + chunk, count); ++i) work(core, i);
        }
    };
    std::vector<std::thread> others;
    others.reserve(cores.size());
    try {
        for (std::size_t t = 1; t < cores.size(); ++t) others.emplace_back(run, std::ref(*cores[t]));
    } catch (const std::system_error&) {  // the existing threads share the work
    }
    run(*cores[0]);
    for (std::thread& thread : others) thread.join();
}

// The best move of a search of `depth` plies, the first of equals.
int best_move(const Unit& unit, Core& core, const Position& p, Board moves, int depth,
              const StopFlag& never) {
    int best = -kInfinity;
    int chosen = kPass;
    for (Board rest = moves; rest != 0; rest &= rest - 1) {
        const int move = std::countr_zero(rest);
        const int score = -core.search(unit.othello_play(p, move), depth - 1, -kInfinity, -best, never);
        if (score > best) {
            best = score;
            chosen = move;
        }
    }
    return chosen;
}

struct Game {
    const Unit& unit;
    Position position = kStart;
    Board moves = unit.othello_moves(kStart);
    int sign = 1;  // of a margin from the view of the side to move, for the side that began

    bool is_over() const { return moves == 0 && unit.othello_moves({position.waiter, position.mover}) == 0; }
    void play(int move) {
        position = unit.othello_play(position, move);
        moves = unit.othello_moves(position);
        sign = -sign;
    }
    void play_random(Random& random) {
        play(moves == 0 ? kPass : nth_square(moves, random.below(std::popcount(moves))));
    }
};

// The final margin of a game with best play from here on, in discs for the side that began.
double final_margin(Core& core, const Game& game) {
    const StopFlag never;
    const int score = game.is_over() ? core.search(game.position, 0, -kInfinity, kInfinity, never)
                                     : core.solve(game.position, never).score_centi;
    return game.sign * discs_of(score);
}

// Positions of one game.  Its first plies are random: in most games 6 to 46, few more often than many; in well played
// ones 8 to 14.  Positions count from then on, and those of the first plies always, which would otherwise be rare.  A
// quarter of them are a random move or two off the game: good moves alone do not teach why the others are bad.  The
// margin of a well played game belongs to the positions from which no further move was random.
std::vector<TrainingPosition> sample_positions(const Unit& unit, Core& core, Random random, const PlaySettings& settings,
                                    int last_stage) {
    constexpr int kAlways = 14;  // plies whose positions always count
    constexpr int kSolved = 12;  // with this many empty squares, a well played game's margin is that of best play
    const bool is_well_played = random.fraction() < settings.well_played;
    const double skew = random.fraction();
    const int random_plies = is_well_played ? 8 + random.below(7) : 6 + static_cast<int>(41 * skew * skew);
    const int depth = settings.depth + (is_well_played ? 2 : 0);
    const StopFlag never;
    std::vector<TrainingPosition> positions;
    std::vector<int> signs;  // of the final margin, for each position; 0: it has none
    Game game{unit};
    bool is_settled = !is_well_played;
    double margin = 0.0;
    while (!game.is_over()) {
        const int empties = empties_of(game.position);
        if (!is_settled && empties <= kSolved) {
            margin = final_margin(core, game);
            is_settled = true;
        }
        if (is_settled && stage_of(empties) < last_stage) break;
        const int ply = kStartEmpties - empties;
        if (ply < kAlways || ply >= random_plies) {
            Game seen = game;
            const bool is_off_game = random.below(4) == 0;
            if (is_off_game) {
                for (int i = random.below(2); i >= 0 && !seen.is_over(); --i) seen.play_random(random);
            }
            if (!seen.is_over()) {
                positions.push_back({seen.position, Trainer::kNoMargin});
                signs.push_back(is_well_played && !is_off_game && ply >= random_plies ? seen.sign : 0);
            }
        }
        if (ply < random_plies || game.moves == 0) {
            game.play_random(random);
        } else {
            game.play(best_move(unit, core, game.position, game.moves, depth, never));
        }
    }
    if (!is_settled) margin = final_margin(core, game);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        if (signs[i] != 0) positions[i].margin = static_cast<float>(signs[i] * margin);
    }
    return positions;
}

bool is_before(const TrainingPosition& left, const TrainingPosition& right) {
    const Position& a = left.position;
    const Position& b = right.position;
    return a.mover != b.mover ? a.mover < b.mover : a.waiter < b.waiter;
}

// Sorts; a position of several games gets the mean of their margins.
void merge_duplicates(std::vector<TrainingPosition>& positions) {
    std::sort(positions.begin(), positions.end(), is_before);
    auto kept = positions.begin();
    for (auto first = positions.begin(); first != positions.end();) {
        double sum = 0.0;
        int count = 0;
        auto next = first;
        for (; next != positions.end() && !is_before(*first, *next); ++next) {
            if (next->margin == Trainer::kNoMargin) continue;
            sum += next->margin;
            ++count;
        }
        *kept++ = {first->position, count == 0 ? Trainer::kNoMargin : static_cast<float>(sum / count)};
        first = next;
    }
    positions.erase(kept, positions.end());
}

// Weights by rule of thumb, in discs; the same for all stages.
std::vector<float> rule_of_thumb() {
    std::vector<float> weights(kStageSize);
    for (int n = 0; n < kMobilities; ++n) {
        weights[static_cast<std::size_t>(kMoverMobility + n)] = static_cast<float>(n);
        weights[static_cast<std::size_t>(kWaiterMobility + n)] = static_cast<float>(-n);
    }
    // The first pattern is the corner of three by three: corner, its two neighbours (digits 1 and 3), and the
    // square diagonally beside it (digit 4).
    constexpr const int* kSquares = kPatterns[0].squares;
    static_assert(kSquares[1] == 1 && kSquares[3] == 8 && kSquares[4] == 9);
    for (int index = 0; index < power_of_three(kPatterns[0].size); ++index) {
        const auto side = [&](int digit) {
            constexpr float kSides[3] = {0.0f, 1.0f, -1.0f};
            return kSides[index / power_of_three(digit) % 3];
        };
        const bool taken = side(0) != 0.0f;
        weights[static_cast<std::size_t>(kLayout.table[0] + index)] =
            taken ? 9.0f * side(0) + side(1) + side(3) : -4.0f * side(4) - 1.5f * (side(1) + side(3));
    }
    const auto& canonical = pattern_maps().canonical;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (canonical[i] != static_cast<std::int32_t>(i)) weights[i] = 0.0f;
    }
    return weights;
}

std::int16_t in_units(float discs) {
    const float units = std::clamp(discs * (100.0f / kUnitCenti), -32767.0f, 32767.0f);
    return static_cast<std::int16_t>(std::lrint(units));
}

class Watch {
   public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

   private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point start_ = Clock::now();
};

}  // namespace

Trainer::Trainer(std::uint64_t seed, int threads)
    : unit_(best_unit()), seed_(seed), threads_(threads), weights_(kStages, rule_of_thumb()),
      positions_(kStages), held_out_(kStages), held_out_samples_(kStages) {
    for (int s = 0; s < kStages; ++s) publish(s);
}

void Trainer::set_weights(const std::int16_t* weights) {
    is_new_ = false;
    const auto& canonical = pattern_maps().canonical;
    for (int s = 0; s < kStages; ++s) {
        auto& stage = weights_[static_cast<std::size_t>(s)];
        const std::int16_t* from = weights + static_cast<std::size_t>(s) * kStageSize;
        for (std::size_t i = 0; i < stage.size(); ++i) {
            const bool counts = canonical[i] == static_cast<std::int32_t>(i);
            stage[i] = counts ? static_cast<float>(from[i]) * (kUnitCenti / 100.0f) : 0.0f;
        }
        publish(s);
    }
}

std::vector<std::int16_t> Trainer::weights() const {
    std::vector<std::int16_t> all;
    all.reserve(static_cast<std::size_t>(kStages) * kStageSize);
    for (const auto& stage : weights_) {
        for (const float weight : stage) all.push_back(in_units(weight));
    }
    return all;
}

void Trainer::publish(int stage) {
    std::vector<std::int16_t> rounded;
    for (const float weight : weights_[static_cast<std::size_t>(stage)]) rounded.push_back(in_units(weight));
    evaluation_.set_stage(stage, rounded.data());
}

std::size_t Trainer::play(const PlaySettings& settings) {
    constexpr std::size_t kBatch = 2048;
    constexpr std::size_t kHeldOut = 20;  // one game in this many
    if (sweep_++ > 0) is_new_ = false;
    now_ = later_ = latest_ = {};
    for (auto& stage : positions_) stage.clear();
    for (auto& stage : held_out_) stage.clear();
    for (auto& stage : held_out_samples_) stage.clear();
    auto cores = make_cores(unit_, evaluation_, threads_, 1);

    // The last stages fill first; games then end early.
    const auto is_full = [&](std::size_t stage) { return positions_[stage].size() >= settings.per_stage; };
    std::size_t games = 0;
    std::size_t open = 0;
    while (open < kStages && games < 20 * settings.per_stage + kBatch) {
        std::vector<std::vector<TrainingPosition>> batch(kBatch);
        in_parallel(cores, kBatch, [&](Core& core, std::size_t i) {
            batch[i] = sample_positions(unit_, core, Random(mixed(seed_, sweep_, games + i)), settings,
                                         static_cast<int>(open));
        });
        for (std::size_t i = 0; i < kBatch; ++i) {
            auto& kept = (games + i) % kHeldOut == 0 ? held_out_ : positions_;
            for (const TrainingPosition& seen : batch[i]) {
                const auto stage = static_cast<std::size_t>(stage_of(empties_of(seen.position)));
                if (!is_full(stage)) kept[stage].push_back(seen);
            }
        }
        games += kBatch;
        while (open < kStages && is_full(open)) ++open;
    }
    for (std::size_t s = 0; s < kStages; ++s) {
        merge_duplicates(positions_[s]);
        merge_duplicates(held_out_[s]);
        std::erase_if(held_out_[s], [&](const TrainingPosition& seen) {
            return std::binary_search(positions_[s].begin(), positions_[s].end(), seen, is_before);
        });
    }
    return games;
}

Trainer::Sample Trainer::describe(const Position& p) const {
    std::uint16_t feature[kLanes]{};
    const auto add = [&](Board discs, int digit) {
        for (; discs != 0; discs &= discs - 1) {
            const std::uint16_t* step = kLayout.step[std::countr_zero(discs)];
            for (int i = 0; i < kLanes; ++i) {
                feature[i] = static_cast<std::uint16_t>(feature[i] + digit * step[i]);
            }
        }
    };
    add(p.mover, 1);
    add(p.waiter, 2);
    const auto& canonical = pattern_maps().canonical;
    Sample sample;
    for (int i = 0; i < kFeatureCount; ++i) {
        const auto entry = static_cast<std::size_t>(kLayout.table[kLayout.pattern_of[i]] + feature[i]);
        sample.at[i] = static_cast<std::uint32_t>(canonical[entry]);
    }
    const int ours = std::popcount(unit_.othello_moves(p));
    const int theirs = std::popcount(unit_.othello_moves({p.waiter, p.mover}));
    sample.at[kFeatureCount] = static_cast<std::uint32_t>(kMoverMobility + ours);
    sample.at[kFeatureCount + 1] = static_cast<std::uint32_t>(kWaiterMobility + theirs);
    sample.label = 0.0f;
    return sample;
}

std::vector<Trainer::Sample> Trainer::label(std::vector<TrainingPosition>& positions, const LearnSettings& settings) {
    // Fresh tables: the entries of an old one may rest on weights that have changed since.
    const bool exact = !positions.empty() && empties_of(positions.front().position) <= settings.exact_empties;
    auto cores = make_cores(unit_, evaluation_, threads_, exact ? 8 : 1);
    std::vector<Sample> samples(positions.size());
    in_parallel(cores, positions.size(), [&](Core& core, std::size_t i) {
        const StopFlag never;
        const Position& p = positions[i].position;
        const int empties = empties_of(p);
        const bool is_exact = empties <= settings.exact_empties;
        // Odd and even depths by turns: a stage that sees both has no bias for the side that moves last.
        const int depth = is_exact ? 2 * empties : settings.label_depth - static_cast<int>(i % 2);
        double label = discs_of(core.search(p, depth, -kInfinity, kInfinity, never));
        const float margin = positions[i].margin;
        if (!is_exact && margin != kNoMargin) label += settings.result_share * (margin - label);
        samples[i] = describe(p);
        samples[i].label = static_cast<float>(label);
    });
    positions = {};
    return samples;
}

StageReport Trainer::learn(int stage, const LearnSettings& settings) {
    const auto s = static_cast<std::size_t>(stage);
    latest_ = std::move(later_);
    later_ = std::move(now_);
    now_ = {};
    StageReport report{};
    const Watch labelling;
    now_.samples = label(positions_[s], settings);
    held_out_samples_[s] = label(held_out_[s], settings);
    report.label_seconds = labelling.seconds();
    report.positions = now_.samples.size();
    report.held_out = held_out_samples_[s].size();

    const Watch descent;
    // The first sweep starts from the stage learned last, the best estimate so far; the others from the weights
    // of the sweep before, which preserves what its positions taught.
    now_.start = weights_[s];
    if (is_new_) now_.start = stage > 0 ? weights_[s - 1] : std::vector<float>(kStageSize);
    descend(stage, now_, later_, {}, settings, mixed(seed_, sweep_, 2 * s));
    if (!later_.samples.empty()) {
        descend(stage - 1, later_, latest_, now_, settings, mixed(seed_, sweep_, 2 * s + 1));
    }
    report.descent_seconds = descent.seconds();
    report.error = error(stage);
    return report;
}

// Stochastic gradient descent on the squared error in discs.
void Trainer::descend(int stage, const Stage& own, const Stage& later, const Stage& earlier,
                      const LearnSettings& settings, std::uint64_t seed) {
    constexpr std::size_t kAhead = 6;        // samples are scattered in memory: prefetch them this far ahead
    constexpr std::size_t kSteps = 100'000;  // a stage with few positions takes more rounds
    constexpr std::size_t kMostEpochs = 200;
    std::vector<float>& weights = weights_[static_cast<std::size_t>(stage)];
    weights = own.start;
    Random random(seed);
    const std::size_t count = own.samples.size();
    const std::size_t rounds = std::min(kMostEpochs, kSteps / std::max<std::size_t>(count, 1));
    const int epochs = std::max(settings.epochs, static_cast<int>(rounds));
    const int first_averaged = epochs - std::max(1, epochs / 3);
    std::vector<float> mean(weights.size());
    std::vector<const Sample*> order;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        order.clear();
        for (const Sample& sample : own.samples) order.push_back(&sample);
        for (const Stage* other : {&later, &earlier}) {
            const int others = static_cast<int>(other->samples.size());
            const auto borrowed = static_cast<std::size_t>(
                settings.neighbours * static_cast<double>(std::min(count, other->samples.size())));
            for (std::size_t i = 0; i < borrowed; ++i) {
                order.push_back(&other->samples[static_cast<std::size_t>(random.below(others))]);
            }
        }
        for (std::size_t i = order.size(); i > 1; --i) {
            std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
        }
        const double way = epochs == 1 ? 0.0 : static_cast<double>(epoch) / (epochs - 1);
        const double rate = settings.first_rate * std::pow(settings.last_rate / settings.first_rate, way);
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i + kAhead < order.size()) {
                const char* soon = reinterpret_cast<const char*>(order[i + kAhead]);
                for (std::size_t byte = 0; byte < sizeof(Sample); byte += 64) __builtin_prefetch(soon + byte);
            }
            const Sample& sample = *order[i];
            float sums[2] = {0.0f, 0.0f};
            for (int k = 0; k < kFeatureCount + 2; k += 2) {
                sums[0] += weights[sample.at[k]];
                sums[1] += weights[sample.at[k + 1]];
            }
            const float step = static_cast<float>(rate) * (sample.label - sums[0] - sums[1]);
            for (const std::uint32_t entry : sample.at) weights[entry] += step;
        }
        const auto pull = static_cast<float>(std::min(1.0, rate * settings.shrink));
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] += pull * (own.start[i] - weights[i]);
        if (epoch >= first_averaged) {
            const auto part = 1.0f / static_cast<float>(epoch - first_averaged + 1);
            for (std::size_t i = 0; i < weights.size(); ++i) mean[i] += part * (weights[i] - mean[i]);
        }
    }
    weights = std::move(mean);
    publish(stage);
}

std::vector<double> Trainer::settle_parity(const ParitySettings& settings) {
    constexpr int kRandomPlies = 8;
    constexpr int kPlayDepth = 4;
    constexpr int kFewest = 4;         // empty squares at the leaves of the odd search
    constexpr int kDecided = 4'000;    // such scores say nothing about constants,
    constexpr int kOutlier = 1'000;    // and such differences (centidiscs) no more than this
    constexpr int kReach = 1;          // pairs of numbers of empty squares on either side that smooth a constant
    const int most = kStartEmpties - kRandomPlies - settings.depth;
    struct Gap {
        std::int64_t sum = 0;  // of odd minus even scores, centidiscs
        std::int64_t count = 0;
    };
    // By game and by empty squares of the odd leaves; the even leaves have one less.
    std::vector<std::vector<Gap>> games(settings.games, std::vector<Gap>(kStartEmpties + 1));
    auto cores = make_cores(unit_, evaluation_, threads_, 4);
    in_parallel(cores, settings.games, [&](Core& core, std::size_t i) {
        const StopFlag never;
        Random random(mixed(seed_, ~std::uint64_t{1}, i));
        Game game{unit_};
        while (!game.is_over() && empties_of(game.position) >= kFewest + settings.depth) {
            const int leaf = empties_of(game.position) - settings.depth;
            if (leaf > most || game.moves == 0) {
                game.play_random(random);
                continue;
            }
            const int odd = core.search(game.position, settings.depth, -kInfinity, kInfinity, never);
            const int even = core.search(game.position, settings.depth + 1, -kInfinity, kInfinity, never);
            if (std::max(std::abs(odd), std::abs(even)) < kDecided) {
                Gap& gap = games[i][static_cast<std::size_t>(leaf)];
                gap.sum += std::clamp(odd - even, -kOutlier, kOutlier);
                ++gap.count;
            }
            game.play(best_move(unit_, core, game.position, game.moves, kPlayDepth, never));
        }
    });

    std::vector<Gap> gaps(kStartEmpties + 1);
    for (const auto& game : games) {
        for (std::size_t leaf = 0; leaf < gaps.size(); ++leaf) {
            gaps[leaf].sum += game[leaf].sum;
            gaps[leaf].count += game[leaf].count;
        }
    }
    // A constant shifts odd scores by its negative and even ones by itself: half of the mean gap for either.
    std::vector<double> constants(gaps.size());
    for (int empties = 0; empties <= kStartEmpties; ++empties) {
        const int nearest = std::clamp(empties, kFewest, std::max(kFewest, most - 1));
        Gap near;
        // The leaves of gap n have n and n - 1 empty squares.
        for (int reach = kReach; near.count == 0 && reach <= kStartEmpties; ++reach) {
            for (int n = std::max(0, nearest - reach); n <= std::min(kStartEmpties, nearest + 1 + reach); ++n) {
                near.sum += gaps[static_cast<std::size_t>(n)].sum;
                near.count += gaps[static_cast<std::size_t>(n)].count;
            }
        }
        if (near.count == 0) continue;
        constants[static_cast<std::size_t>(empties)] =
            static_cast<double>(near.sum) / static_cast<double>(near.count) / 200.0;
    }
    // Every position reads one entry of the table of its mover's moves.
    for (int stage = 0; stage < kStages; ++stage) {
        std::vector<float>& weights = weights_[static_cast<std::size_t>(stage)];
        const double constant = constants[static_cast<std::size_t>(stage) + 1];
        for (int n = 0; n < kMobilities; ++n) {
            weights[static_cast<std::size_t>(kMoverMobility + n)] += static_cast<float>(constant);
        }
        publish(stage);
    }
    return constants;
}

double Trainer::error(int stage) const {
    const std::vector<float>& weights = weights_[static_cast<std::size_t>(stage)];
    const std::vector<Sample>& samples = held_out_samples_[static_cast<std::size_t>(stage)];
    double sum = 0.0;
    for (const Sample& sample : samples) {
        double score = 0.0;
        for (const std::uint32_t entry : sample.at) score += weights[entry];
        sum += (sample.label - score) * (sample.label - score);
    }
    return samples.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(samples.size()));
}

std::vector<Check> Trainer::check(int empties, std::size_t count) {
    std::vector<Check> checks(count);
    auto cores = make_cores(unit_, evaluation_, threads_, 64);
    in_parallel(cores, count, [&](Core& core, std::size_t i) {
        const StopFlag never;
        Random random(mixed(seed_, ~std::uint64_t{0}, 1000 * i + static_cast<std::uint64_t>(empties)));
        for (;;) {
            Game game{unit_};
            while (!game.is_over() && empties_of(game.position) > empties) {
                if (empties_of(game.position) > kStartEmpties - 10 || game.moves == 0) {
                    game.play_random(random);
                } else {
                    game.play(best_move(unit_, core, game.position, game.moves, 3, never));
                }
            }
            if (game.moves == 0) continue;  // over, or a pass: another one
            checks[i].evaluation = core.evaluate(game.position);
            const int score = core.search(game.position, 2 * empties, -kInfinity, kInfinity, never);
            checks[i].exact = static_cast<int>(std::lrint(100 * discs_of(score)));
            break;
        }
    });
    return checks;
}

}  // namespace desdemona::othello::training
