#include "linear_training.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "random.hpp"
#include "board.hpp"

namespace desdemona::learning {

namespace {

constexpr int kHeldOut = 16;         // one game in this many is held out

double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

constexpr int kDecidedScore = 32'000;  // in a sample, of a forced win

int sample_score(const ThinkResult& thought) {
    if (!thought.solved) return thought.score_centi;
    return thought.score_centi > 0 ? kDecidedScore : -kDecidedScore;
}

}  // namespace

template <class Position>
struct LinearTrainer<Position>::Game {
    std::vector<Entry> entries;
    std::vector<Sample> samples;

    // The sink of `collect`.
    void add(int feature, int times) {
        if (times != 0) entries.push_back({static_cast<std::uint16_t>(feature), static_cast<std::int16_t>(times)});
    }

    void add_position(const Position& p, int score) {
        const std::size_t first = entries.size();
        const linear::Taper taper = Rules<Position>::collect(p, *this);
        // The two sides' features often cancel out.
        const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(first);
        std::sort(begin, entries.end(), [](Entry a, Entry b) { return a.feature < b.feature; });
        auto last = begin;
        for (auto entry = begin; entry != entries.end(); ++entry) {
            if (last != begin && (last - 1)->feature == entry->feature) {
                (last - 1)->times = static_cast<std::int16_t>((last - 1)->times + entry->times);
                if ((last - 1)->times == 0) --last;
            } else {
                *last++ = *entry;
            }
        }
        entries.erase(last, entries.end());
        samples.push_back({first, static_cast<std::uint16_t>(entries.size() - first), static_cast<std::int16_t>(score),
                           static_cast<std::uint8_t>(taper.middle), static_cast<std::uint8_t>(taper.scale), -1, false, false});
    }
};

template <class Position>
LinearTrainer<Position>::LinearTrainer(std::uint64_t seed, int threads)
    : seed_(seed), threads_(threads), start_(static_cast<std::size_t>(weight_count())), weights_(start_.size()) {}

template <class Position>
int LinearTrainer<Position>::weight_count() const {
    return 2 * Rules<Position>::kFeatures;
}

template <class Position>
void LinearTrainer<Position>::set_start(const std::int16_t* start) {
    start_.assign(start, start + start_.size());
    set_weights(start);
}

template <class Position>
void LinearTrainer<Position>::set_weights(const std::int16_t* weights) {
    weights_.assign(weights, weights + weights_.size());
}

template <class Position>
std::vector<std::int16_t> LinearTrainer<Position>::weights() const {
    std::vector<std::int16_t> rounded;
    for (const float weight : weights_) {
        rounded.push_back(static_cast<std::int16_t>(std::lrint(std::clamp(weight, -32'000.0f, 32'000.0f))));
    }
    return rounded;
}

namespace {

template <class Evaluation>
std::unique_ptr<Evaluation> evaluation_of(const std::int16_t* weights) {
    auto evaluation = std::make_unique<Evaluation>();
    std::copy(weights, weights + sizeof(Evaluation) / sizeof(std::int16_t), &evaluation->weights[0][0]);
    return evaluation;
}

}  // namespace

template <class Position>
typename LinearTrainer<Position>::Game LinearTrainer<Position>::sample_game(std::uint64_t number,
                                                                          const PlaySettings& settings) const {
    const auto evaluation = evaluation_of<typename Rules<Position>::Evaluation>(weights().data());
    const auto core = make_core<Position>(*evaluation);
    const StopFlag never;
    const ThinkLimits limits{settings.depth, 0.0, 100, 1, 0};
    Random random(mixed(seed_, generation_, number));
    Game game;
    Board<Position> board(*evaluation);
    const int random_plies = settings.least_random + random.below(settings.most_random - settings.least_random + 1);
    for (int i = 0; i < random_plies && !board.is_over(); ++i) board.play_random(random);

    std::vector<std::pair<std::size_t, int>> played;  // samples of the game, and the plies they stand at
    int ply = 0;
    int loser = -1;  // parity of the plies at which the side to move loses
    for (; !board.is_over() && ply < settings.most_plies; ++ply) {
        const ThinkResult thought = core->think(board.position(), limits, never);
        played.emplace_back(game.samples.size(), ply);
        game.add_position(board.position(), sample_score(thought));
        for (int i = 0; i < settings.asides; ++i) {
            Board<Position> aside = board;
            for (int moves = 1 + random.below(2); moves > 0 && !aside.is_over(); --moves) aside.play_random(random);
            if (aside.is_over()) continue;
            game.add_position(aside.position(), sample_score(core->think(aside.position(), limits, never)));
        }
        if (thought.solved) {  // a forced mate
            loser = (thought.score_centi > 0 ? ply + 1 : ply) & 1;
            break;
        }
        board.play(thought.move);
    }
    if (board.is_over() && board.result() != 1) loser = (board.result() == 0 ? ply : ply + 1) & 1;
    for (const auto& [sample, at] : played) {
        game.samples[sample].result = static_cast<std::int8_t>(loser < 0 ? 1 : (at & 1) == loser ? 0 : 2);
    }
    if (!played.empty()) game.samples[played.back().first].is_last = true;
    for (Sample& sample : game.samples) sample.is_held_out = number % kHeldOut == 0;
    return game;
}

template <class Position>
PlayReport LinearTrainer<Position>::play(const PlaySettings& settings) {
    std::vector<Game> games(settings.games);
    in_parallel(threads_, games.size(), [&](std::size_t i) { games[i] = sample_game(i, settings); });
    ++generation_;
    latest_ = samples_.size();
    for (Game& game : games) {
        for (Sample& sample : game.samples) {
            sample.first += entries_.size();
            samples_.push_back(sample);
        }
        entries_.insert(entries_.end(), game.entries.begin(), game.entries.end());
        game = Game{};
    }
    const auto held_out = std::count_if(samples_.begin(), samples_.end(), [](const Sample& s) { return s.is_held_out; });
    return {games.size(), samples_.size() - static_cast<std::size_t>(held_out), static_cast<std::size_t>(held_out)};
}

template <class Position>
void LinearTrainer<Position>::forget() {
    if (latest_ == 0) return;
    const std::size_t entries = latest_ < samples_.size() ? samples_[latest_].first : entries_.size();
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(entries));
    samples_.erase(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(latest_));
    for (Sample& sample : samples_) sample.first -= entries;
    latest_ = 0;
}

template <class Position>
double LinearTrainer<Position>::evaluate(const Sample& sample) const {
    double middle = 0.0;
    double end = 0.0;
    const Entry* entry = entries_.data() + sample.first;
    for (int i = 0; i < sample.count; ++i, ++entry) {
        middle += entry->times * weights_[2u * entry->feature];
        end += entry->times * weights_[2u * entry->feature + 1];
    }
    return (middle * sample.middle + end * (64 - sample.middle)) * sample.scale / 4096.0;
}

template <class Position>
std::vector<float> LinearTrainer<Position>::labels(double scale_centi, double trace) const {
    std::vector<float> labels(samples_.size());
    double following = 0.0;  // label of the next position of the game, for the side to move there
    for (std::size_t i = samples_.size(); i-- > 0;) {
        const Sample& sample = samples_[i];
        const double promised = logistic(sample.score / scale_centi);
        double label = promised;
        if (sample.result >= 0) {
            const double later = sample.is_last ? 0.5 * sample.result : 1.0 - following;
            label = following = (1.0 - trace) * promised + trace * later;
        }
        labels[i] = static_cast<float>(label);
    }
    return labels;
}

// Adam (Kingma & Ba 2015, arXiv:1412.6980) on small batches.
template <class Position>
Error LinearTrainer<Position>::fit(const FitSettings& settings, const std::vector<std::pair<int, int>>& neighbours) {
    constexpr std::size_t kBatch = 512;
    constexpr double kFirstMoment = 0.9, kSecondMoment = 0.999;
    const std::vector<float> labels = this->labels(settings.scale_centi, settings.trace);
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        if (!samples_[i].is_held_out) order.push_back(static_cast<std::uint32_t>(i));
    }
    Random random(mixed(seed_, generation_, ~std::uint64_t{0}));
    std::vector<double> gradient(weights_.size()), first(weights_.size()), second(weights_.size());
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(order.size(), 1));
    // Neighbours constrain a weight already; a strong pull would bring rare weights, at the end of a table, back to
    // zero.
    constexpr double kPullWithNeighbours = 0.1;
    std::vector<double> pull(weights_.size(), share * settings.pull / 100.0);
    for (const auto& [a, b] : neighbours) {
        for (const int feature : {a, b}) {
            const std::size_t w = 2 * static_cast<std::size_t>(feature);
            pull[w] = pull[w + 1] = kPullWithNeighbours * share * settings.pull / 100.0;
        }
    }
    double first_left = 1.0, second_left = 1.0;
    for (int epoch = 0; epoch < settings.epochs; ++epoch) {
        for (std::size_t i = order.size(); i > 1; --i) {
            std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
        }
        const double way = settings.epochs == 1 ? 0.0 : static_cast<double>(epoch) / (settings.epochs - 1);
        const double rate = settings.first_rate * std::pow(settings.last_rate / settings.first_rate, way);
        for (std::size_t begin = 0; begin < order.size(); begin += kBatch) {
            const std::size_t end = std::min(order.size(), begin + kBatch);
            // Gradient of the loss in nats for each position, per hundred centi-units of a weight.
            for (std::size_t w = 0; w < weights_.size(); ++w) {
                gradient[w] = pull[w] * (weights_[w] - start_[w]);
            }
            for (const auto& [a, b] : neighbours) {
                for (std::size_t half = 0; half < 2; ++half) {
                    const std::size_t i = 2 * static_cast<std::size_t>(a) + half;
                    const std::size_t j = 2 * static_cast<std::size_t>(b) + half;
                    const double apart = share * settings.smooth * (weights_[i] - weights_[j]) / 100.0;
                    gradient[i] += apart;
                    gradient[j] -= apart;
                }
            }
            for (std::size_t i = begin; i < end; ++i) {
                const Sample& sample = samples_[order[i]];
                const double promised = logistic(evaluate(sample) / settings.scale_centi);
                const double error = promised - labels[order[i]];
                const double by_hundred = 100.0 / settings.scale_centi * sample.scale / 4096.0;
                const double step = error * by_hundred / static_cast<double>(end - begin);
                const Entry* entry = entries_.data() + sample.first;
                for (int k = 0; k < sample.count; ++k, ++entry) {
                    gradient[2u * entry->feature] += step * sample.middle * entry->times;
                    gradient[2u * entry->feature + 1] += step * (64 - sample.middle) * entry->times;
                }
            }
            first_left *= kFirstMoment;
            second_left *= kSecondMoment;
            for (std::size_t w = 0; w < weights_.size(); ++w) {
                first[w] = kFirstMoment * first[w] + (1 - kFirstMoment) * gradient[w];
                second[w] = kSecondMoment * second[w] + (1 - kSecondMoment) * gradient[w] * gradient[w];
                const double mean = first[w] / (1 - first_left);
                const double size = std::sqrt(second[w] / (1 - second_left));
                weights_[w] -= static_cast<float>(rate * mean / (size + 1e-7));
            }
        }
    }
    return error(labels, settings.scale_centi);
}

template <class Position>
Error LinearTrainer<Position>::error(double scale_centi, double trace) const {
    return error(labels(scale_centi, trace), scale_centi);
}

template <class Position>
Error LinearTrainer<Position>::error(const std::vector<float>& labels, double scale_centi) const {
    Error sum{0.0, 0.0};
    double count = 0.0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        if (!samples_[i].is_held_out) continue;
        const double p = std::clamp(logistic(evaluate(samples_[i]) / scale_centi), 1e-9, 1 - 1e-9);
        const double t = labels[i];
        sum.log_loss -= t * std::log(p) + (1 - t) * std::log(1 - p);
        sum.rms += (p - t) * (p - t);
        count += 1.0;
    }
    if (count == 0.0) return sum;
    return {sum.log_loss / count, std::sqrt(sum.rms / count)};
}

template <class Position>
std::vector<Scored> LinearTrainer<Position>::scored() const {
    std::vector<Scored> all;
    for (std::size_t i = latest_; i < samples_.size(); ++i) {
        const Sample& s = samples_[i];
        if (s.result >= 0 && std::abs(s.score) < kDecidedScore) all.push_back({s.score, s.middle, s.result});
    }
    return all;
}

template <class Position>
MatchReport LinearTrainer<Position>::match(const std::int16_t* others, int games, std::uint64_t nodes) {
    constexpr int kRandomPlies = 8;
    constexpr int kMostPlies = 300;
    constexpr int kHopeless = 1'500;  // centi-units; a game counts as lost when the loser's own score says so
    using Evaluation = typename Rules<Position>::Evaluation;
    const std::unique_ptr<Evaluation> evaluations[2] = {evaluation_of<Evaluation>(weights().data()),
                                                        evaluation_of<Evaluation>(others)};
    std::atomic<int> counts[3] = {0, 0, 0};  // lost, drawn, won by the current weights
    in_parallel(threads_, static_cast<std::size_t>(games), [&](std::size_t i) {
        const std::unique_ptr<Core<Position>> players[2] = {make_core<Position>(*evaluations[0]),
                                                            make_core<Position>(*evaluations[1])};
        Random random(mixed(seed_, ~std::uint64_t{0}, i / 2));
        Board<Position> board(*evaluations[0]);
        for (int ply = 0; ply < kRandomPlies && !board.is_over(); ++ply) board.play_random(random);
        int mover = static_cast<int>(i & 1);  // whose weights move
        int result = 1;                       // for the side to move
        for (int ply = 0; ply < kMostPlies; ++ply) {
            if (board.is_over()) {
                result = board.result();
                break;
            }
            StopFlag limit;
            limit.set_node_limit(nodes);
            const ThinkResult thought = players[mover]->think(board.position(), {60, 0.0, 100, 1, 0}, limit);
            if (thought.score_centi < -kHopeless) {
                result = 0;
                break;
            }
            board.play(thought.move);
            mover = 1 - mover;
        }
        ++counts[mover == 0 ? result : 2 - result];
    });
    return {counts[2], counts[1], counts[0]};
}

template class LinearTrainer<chess::Position>;
template class LinearTrainer<xiangqi::Position>;

}  // namespace desdemona::learning
