#include "self_play.hpp"

#include <algorithm>
#include <cstdlib>

#include "board.hpp"

namespace desdemona::learning {

namespace {

constexpr int kMostPlies = 300;  // longer games count as drawn
constexpr int kUneven = 600;     // an opening beyond this score is not played, centi-units
constexpr int kHopeless = 1'500; // a side with such a score for this many of its moves in turn has lost
constexpr int kHopelessMoves = 3;
constexpr int kEven = 10;        // so small a score for this many plies in turn, after the opening, is a draw
constexpr int kEvenPlies = 16;
constexpr int kEvenFrom = 80;

void put(std::vector<std::uint8_t>& bytes, int number) {
    bytes.push_back(static_cast<std::uint8_t>(number & 0xFF));
    bytes.push_back(static_cast<std::uint8_t>(number >> 8 & 0xFF));
}

template <class Position>
std::vector<std::uint8_t> play_game(const SelfPlaySettings& settings, std::uint64_t number,
                                    const typename Rules<Position>::Evaluation& evaluation,
                                    const typename Rules<Position>::Network* network) {
    const auto core = make_core<Position>(evaluation, network);
    const ThinkLimits limits{60, 0.0, 100, 1, 0, settings.nodes};
    const StopFlag never;
    Random random(mixed(settings.seed, number, 0));
    Board<Position> board(evaluation);
    const int random_plies = settings.least_random + random.below(settings.most_random - settings.least_random + 1);
    std::vector<std::uint8_t> moves;
    int ply = 0;
    for (; ply < random_plies && !board.is_over(); ++ply) {
        const auto& legal = board.moves();
        const int move = legal[static_cast<std::size_t>(random.below(static_cast<int>(legal.size())))];
        put(moves, move);
        put(moves, kNoScore);
        board.play(move);
    }
    int loser = -1;  // parity of the plies at which the side to move loses
    int hopeless = 0;
    int even = 0;
    for (; !board.is_over() && loser < 0 && ply < kMostPlies; ++ply) {
        const ThinkResult thought = core->think(board.position(), limits, never);
        const int score = thought.score_centi;
        if (ply == random_plies && std::abs(score) > kUneven) return {};
        put(moves, thought.move);
        put(moves, thought.solved ? (score > 0 ? kDecided : -kDecided) : score);
        hopeless = std::abs(score) >= kHopeless ? hopeless + 1 : 0;
        even = ply >= kEvenFrom && std::abs(score) <= kEven ? even + 1 : 0;
        board.play(thought.move);
        if (thought.solved || hopeless >= 2 * kHopelessMoves) loser = (score > 0 ? ply + 1 : ply) & 1;
        if (even >= kEvenPlies) {
            ++ply;
            break;
        }
    }
    if (loser < 0 && board.is_over() && board.result() != 1) loser = (board.result() == 0 ? ply : ply + 1) & 1;
    std::vector<std::uint8_t> record;
    put(record, ply);
    put(record, std::min(random_plies, ply));
    put(record, loser < 0 ? 1 : loser == 0 ? 0 : 2);
    record.insert(record.end(), moves.begin(), moves.end());
    return record;
}

}  // namespace

template <class Position>
std::vector<std::uint8_t> SelfPlay<Position>::play(const SelfPlaySettings& settings, const Evaluation& evaluation,
                                                   const Network* network) {
    std::vector<std::vector<std::uint8_t>> games(settings.games);
    in_parallel(settings.threads, games.size(), [&](std::size_t i) {
        games[i] = play_game<Position>(settings, settings.first_game + i, evaluation, network);
    });
    std::vector<std::uint8_t> all;
    for (const auto& game : games) all.insert(all.end(), game.begin(), game.end());
    return all;
}

template <class Position>
bool SelfPlay<Position>::quiet_samples(const std::uint8_t* records, std::size_t size, const Evaluation& evaluation,
                                 Samples& samples) {
    using R = Rules<Position>;
    const typename R::Game rules(evaluation);
    const auto number = [&](std::size_t at) { return records[at] | records[at + 1] << 8; };
    std::size_t at = 0;
    for (std::uint32_t game = 0; at < size; ++game) {
        if (at + 6 > size) return false;
        const int plies = number(at), random_plies = number(at + 2), result = number(at + 4);
        at += 6;
        if (result > 2 || at + 4 * static_cast<std::size_t>(plies) > size) return false;
        Board<Position> board(evaluation);
        for (int ply = 0; ply < plies; ++ply, at += 4) {
            const int move = number(at);
            const auto score = static_cast<std::int16_t>(number(at + 2));
            const auto& legal = board.moves();
            if (std::find(legal.begin(), legal.end(), move) == legal.end()) return false;
            const auto node = rules.root(board.position());
            if (ply >= random_plies && std::abs(score) < kDecided && !rules.is_check(node) &&
                !rules.is_forcing(node, move)) {
                const int side = node.state.side;
                for (const int view : {side, 1 - side}) {
                    const std::size_t end = samples.inputs.size() + Samples::kPieces;
                    const int mirror = R::Inputs::mirror(node, view);
                    R::Inputs::for_each(node, [&](networked::Piece piece) {
                        if (samples.inputs.size() == end) return;
                        samples.inputs.push_back(static_cast<std::uint16_t>(R::Inputs::index(view, mirror, piece)));
                    });
                    samples.inputs.resize(end, static_cast<std::uint16_t>(R::Network::kInputCount));
                }
                samples.scores.push_back(score);
                samples.linear.push_back(static_cast<std::int16_t>(rules.evaluate(node)));
                samples.results.push_back(static_cast<std::uint8_t>((ply & 1) == 0 ? result : 2 - result));
                samples.games.push_back(game);
            }
            board.play(move);
        }
    }
    return true;
}

template class SelfPlay<chess::Position>;
template class SelfPlay<xiangqi::Position>;

}  // namespace desdemona::learning
