// Games that the program plays against itself to learn from: chess and xiangqi.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "chess/chess_network.hpp"
#include "chess/chess_parse.hpp"
#include "core.hpp"
#include "random.hpp"
#include "xiangqi/xiangqi_network.hpp"
#include "xiangqi/xiangqi_parse.hpp"

namespace desdemona::learning {
namespace {

constexpr std::size_t kTableMb = 4;  // small searches; each game has its own table, for reproducibility

// The requirements of training for a game.
template <class Position>
struct Rules;

template <>
struct Rules<chess::Position> {
    using Game = chess::ChessGame;
    using Inputs = chess::NetworkInputs;
    using Evaluation = chess::Evaluation;
    using Network = chess::Network;
    static constexpr const char* kStart = "startpos";
    static constexpr auto kParse = &chess::parse;
    static constexpr auto kMake = &Unit::make_chess;
    static constexpr int kFeatures = chess::kFeatures;

    template <class Sink>
    static linear::Taper collect(const chess::Position& p, Sink& sink) {
        return chess::collect(p.state, sink);
    }
    // Whether the position before the move can recur.
    static bool play(chess::Position& p, int move) {
        const chess::State before = p.state;
        p.state = chess::play(before, move);
        p.past.root_ply = p.state.ply;
        return p.state.rule50 != 0 && p.state.castling == before.castling;
    }
    static std::uint64_t key(const chess::Position& p) { return p.state.key; }
    static std::uint64_t draw(std::uint64_t key) { return key; }
};

template <>
struct Rules<xiangqi::Position> {
    using Game = xiangqi::XiangqiGame;
    using Inputs = xiangqi::NetworkInputs;
    using Evaluation = xiangqi::Evaluation;
    using Network = xiangqi::Network;
    static constexpr const char* kStart = "startpos";
    static constexpr auto kParse = &xiangqi::parse;
    static constexpr auto kMake = &Unit::make_xiangqi;
    static constexpr int kFeatures = xiangqi::kFeatures;

    template <class Sink>
    static linear::Taper collect(const xiangqi::Position& p, Sink& sink) {
        const xiangqi::State state = xiangqi::state_of(p);
        return xiangqi::collect(state, sink);
    }
    static bool play(xiangqi::Position& p, int move) {
        const int from = move & 127;
        const int to = move >> 7;
        const bool is_capture = p.board[to] != xiangqi::kEmpty;
        p.board[to] = p.board[from];
        p.board[from] = xiangqi::kEmpty;
        p.side = static_cast<std::uint8_t>(1 - p.side);
        p.quiet = static_cast<std::uint16_t>(is_capture ? 0 : p.quiet + 1);
        ++p.ply;
        return !is_capture;
    }
    static std::uint64_t key(const xiangqi::Position& p) { return xiangqi::state_of(p).key; }
    // Perpetual check is not a draw; but few games end by it, and no label depends on it.
    static xiangqi::Past::Twice draw(std::uint64_t key) { return {key, xiangqi::kDrawn}; }
};

const Unit& best_unit() {
    int count = 0;
    const Unit* const* units = runnable_units(count);
    return *units[count - 1];
}

// A game in progress.
template <class Position>
class Board {
   public:
    using R = Rules<Position>;

    explicit Board(const typename R::Evaluation& evaluation) : rules_(evaluation) {
        position_ = R::kParse(R::kStart);
        look();
    }

    const Position& position() const { return position_; }
    const std::vector<int>& moves() const { return moves_; }
    bool is_over() const { return is_repeated_ || moves_.empty(); }
    // For the side to move of a finished game: 0 lost, 1 drawn, 2 won.
    int result() const {
        const int score = is_repeated_ ? 0 : rules_.result(rules_.root(position_));
        return score < 0 ? 0 : score > 0 ? 2 : 1;
    }

    void play(int move) {
        auto& past = position_.past;
        if (!R::play(position_, move)) past.count = past.twice_count = 0;
        const std::uint64_t key = R::key(position_);
        int before = 0;
        for (int i = 0; i < past.count; ++i) before += past.keys[i] == key;
        if (past.count < past.kMost) past.keys[past.count++] = key;
        if (before == 1) past.twice[past.twice_count++] = R::draw(key);
        is_repeated_ = before > 1;
        look();
    }
    void play_random(Random& random) { play(moves_[static_cast<std::size_t>(random.below(static_cast<int>(moves_.size())))]); }

   private:
    void look() {
        moves_.clear();
        for (const int move : rules_.moves(rules_.root(position_))) moves_.push_back(move);
    }

    typename R::Game rules_;
    Position position_{};
    std::vector<int> moves_;
    bool is_repeated_ = false;
};

template <class Position>
std::unique_ptr<Core<Position>> make_core(const typename Rules<Position>::Evaluation& evaluation,
                                          const typename Rules<Position>::Network* network = nullptr) {
    std::unique_ptr<Core<Position>> core((best_unit().*Rules<Position>::kMake)(kTableMb, evaluation, network));
    if (core == nullptr) throw std::bad_alloc{};
    return core;
}

// Calls work(i) for each i below `count`.
template <class Work>
void in_parallel(int threads, std::size_t count, const Work& work) {
    std::atomic<std::size_t> next{0};
    const auto run = [&] {
        for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
    };
    std::vector<std::thread> others;
    try {
        for (int t = 1; t < threads; ++t) others.emplace_back(run);
    } catch (const std::system_error&) {  // the existing threads share the work
    }
    run();
    for (std::thread& thread : others) thread.join();
}

}  // namespace
}  // namespace desdemona::learning
