// Chess: the core's rules, its readers of text and what searches ask of a node, against the naive rules.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "chess/chess_game.hpp"
#include "chess/chess_parse.hpp"
#include "search/search.hpp"

#include "checks.hpp"
#include "naive_chess.hpp"

namespace check {
namespace {

namespace chess = desdemona::chess;
using chess::ChessGame;
using chess::State;

constexpr int kValues[6] = {100, 325, 325, 500, 975, 0};  // as the core's exchanges have them

// Weights that stay clear of each other's sums or are mostly 0, so that many scores are equal.
const chess::Evaluation& weights() {
    static const chess::Evaluation evaluation = [] {
        chess::Evaluation all{};
        Random random(1);
        for (auto& pair : all.weights) {
            for (std::int16_t& weight : pair) {
                weight = static_cast<std::int16_t>(random.one_in(3) ? random.between(-40, 40) : 0);
            }
        }
        return all;
    }();
    return evaluation;
}

chess::Position parsed(const std::string& text) {
    try {
        return chess::parse(text);
    } catch (const std::invalid_argument& error) {
        require(false, "%s: %s", text.c_str(), error.what());
        throw;
    }
}

// --- Inputs ----------------------------------------------------------------------------------------------------------

naive_chess::Game start(Random& random) {
    naive_chess::Game g;
    const bool is_chess960 = random.one_in(2);
    for (const int rank : {0, 7}) {
        std::string pieces = "rnbqkbnr";
        if (is_chess960) {  // any order with the king between the rooks
            for (int i = 7; i > 0; --i) std::swap(pieces[i], pieces[random.between(0, i)]);
            std::size_t places[3] = {pieces.find('r'), pieces.rfind('r'), pieces.find('k')};
            std::sort(std::begin(places), std::end(places));
            pieces[places[0]] = pieces[places[2]] = 'r';
            pieces[places[1]] = 'k';
        }
        for (int file = 0; file < 8; ++file) {
            g.at[8 * rank + file] = rank == 0 ? static_cast<char>(std::toupper(pieces[file])) : pieces[file];
            g.at[8 * (rank == 0 ? 1 : 6) + file] = rank == 0 ? 'P' : 'p';
            g.may_castle[8 * rank + file] = pieces[file] == 'r';
        }
    }
    g.is_chess960 = is_chess960;
    return g;
}

// Pieces anywhere; often no position of chess at all.
naive_chess::Game made_up(Random& random) {
    naive_chess::Game g;
    const auto put = [&](char piece) {
        const int square = random.between(0, 63);
        const bool is_pawn_on_end = naive_chess::kind(piece) == 'p' && (square < 8 || square >= 56);
        if (g.at[square] == '.' && !is_pawn_on_end) g.at[square] = piece;
    };
    const bool may_castle = random.one_in(3);
    if (may_castle) {
        g = start(random);
        for (int square = 0; square < 64; ++square) {
            const char piece = naive_chess::kind(g.at[square]);
            if (piece == 'k' || (piece == 'r' && !random.one_in(4))) continue;
            g.at[square] = '.';
            g.may_castle[square] = false;
        }
        if (random.one_in(2)) g.is_chess960 = true;
    } else {
        put('K');
        put('k');
    }
    const char* letters = random.one_in(4) ? "QqRrBb" : random.one_in(3) ? "Pp" : "PPPpppNnBbRrQq";
    const int count = static_cast<int>(std::strlen(letters));
    for (int pieces = random.between(0, 24); pieces > 0; --pieces) put(letters[random.between(0, count - 1)]);
    g.is_white = random.one_in(2);
    g.rule50 = random.one_in(3) ? random.between(80, 99) : 0;
    g.number = random.between(1, 200);
    const int passed = (g.is_white ? 40 : 16) + random.between(0, 7);
    const int pawn = passed + (g.is_white ? -8 : 8);
    const bool is_free = g.at[passed] == '.' && g.at[2 * passed - pawn] == '.';
    if (is_free && g.at[pawn] == (g.is_white ? 'p' : 'P')) g.passed = passed;
    return g;
}

bool is_sound(const naive_chess::Game& g) {
    for (const bool white : {true, false}) {
        const auto is_its = [white](char piece) { return piece != '.' && naive_chess::is_white(piece) == white; };
        if (std::count_if(g.at.begin(), g.at.end(), is_its) > 16) return false;
        if (std::count(g.at.begin(), g.at.end(), white ? 'K' : 'k') != 1) return false;
    }
    return !naive_chess::is_attacked(g.at, naive_chess::king(g, !g.is_white), g.is_white);
}

naive_chess::Game any_game(Random& random) {
    if (random.one_in(2)) return start(random);
    for (;;) {
        const naive_chess::Game g = made_up(random);
        if (is_sound(g)) return g;
    }
}

// --- Rules -----------------------------------------------------------------------------------------------------------

std::vector<int> sorted(const chess::MoveList& list) {
    std::vector<int> moves(list.begin(), list.end());
    std::sort(moves.begin(), moves.end());
    return moves;
}

void require_equal(const State& a, const State& b, const std::string& where) {
    const bool is_equal = std::equal(a.pieces, a.pieces + 6, b.pieces) &&
                          std::equal(a.colours, a.colours + 2, b.colours) && a.castling == b.castling && a.key == b.key && a.ply == b.ply && a.rule50 == b.rule50 &&
                          a.side == b.side && a.ep == b.ep && (a.castling == 0 || a.is_chess960 == b.is_chess960);
    require(is_equal, "played and read differ: %s", where.c_str());
}

bool has_sufficient_material(const naive_chess::Game& g) {
    int knights = 0;
    int bishops[2] = {0, 0};
    for (int square = 0; square < 64; ++square) {
        const char piece = naive_chess::kind(g.at[square]);
        if (piece == 'p' || piece == 'r' || piece == 'q') return true;
        knights += piece == 'n';
        bishops[(square / 8 + square) & 1] += piece == 'b';
    }
    return knights + (bishops[0] != 0) + (bishops[1] != 0) > 1 || (knights == 1 && bishops[0] + bishops[1] != 0);
}

void check_exchange(Random& random, const ChessGame& game, const chess::Node& node, const naive_chess::Game& g,
                    int move, const std::string& where) {
    if (chess::is_castling(node.state, move)) {
        require(game.see_at_least(node, move, 0) && !game.see_at_least(node, move, 1), "exchange by castling: %s",
                where.c_str());
        return;
    }
    const int to = move >> 6 & 63;
    const naive_chess::Game after = naive_chess::play(g, move);
    const int worth = game.gain(node, move) - naive_chess::exchange(after.at, to, after.is_white, kValues);
    for (const int aim : {worth, worth + 1, random.between(-1000, 1000)}) {
        require(game.see_at_least(node, move, aim) == (worth >= aim), "exchange of %s, worth %d: %s",
                naive_chess::move_text(move).c_str(), worth, where.c_str());
    }
}

// One position in all respects; returns its legal moves.
std::vector<int> check_position(Random& random, const ChessGame& game, const State& s, const naive_chess::Game& g) {
    const std::string where = naive_chess::fen(g);
    const chess::Position position = parsed(where);
    require_equal(s, position.state, where);
    require(s.key == chess::key_of(s), "key of %s", where.c_str());

    const std::vector<int> moves = naive_chess::moves(g);
    const chess::MoveList list = chess::legal_moves(s);
    require(sorted(list) == moves, "moves of %s", where.c_str());
    for (const Unit* unit : all_units()) {
        std::uint16_t of_unit[desdemona::kMostMoves];
        const int count = unit->chess_moves(position, of_unit);
        require(std::equal(list.begin(), list.end(), of_unit, of_unit + count), "%s: moves of %s", unit->name,
                where.c_str());
    }
    static_assert(ChessGame::kMaxMoves <= desdemona::kMostMoves);
    require(list.count() <= ChessGame::kMaxMoves && list.capture_count() <= chess::kMaxCaptures, "too many moves: %s",
            where.c_str());

    const chess::Node node = game.root(position);
    const bool is_check = naive_chess::is_check(g);
    require(game.is_check(node) == is_check && chess::is_check(s) == is_check, "check in %s", where.c_str());
    require(chess::has_legal_move(s, node.bonds) != moves.empty(), "end of %s", where.c_str());
    std::vector<int> forcing;
    int place = 0;
    for (const int move : list) {
        const bool is_capture = naive_chess::is_other(g, move >> 6 & 63) ||
                                (naive_chess::kind(g.at[move & 63]) == 'p' && (move >> 6 & 63) == g.passed);
        require(chess::is_capture(s, move) == is_capture && (place++ < list.capture_count()) == is_capture,
                "capture %s in %s", naive_chess::move_text(move).c_str(), where.c_str());
        if (game.is_forcing(node, move)) forcing.push_back(move);
        require(move > 0 && move < ChessGame::kMoves && game.history_index(node, move) < ChessGame::kHistory,
                "number of a move in %s", where.c_str());
    }
    std::sort(forcing.begin(), forcing.end());
    if (!is_check) require(sorted(game.forcing(node)) == forcing, "forcing moves of %s", where.c_str());

    const bool is_drawn = g.rule50 >= 100 || !has_sufficient_material(g);
    const int mated = -kWin - 10'000 + std::min(8'000, 2 * (g.number - 1) + !g.is_white);
    const int result = moves.empty() && is_check ? mated : 0;
    require(game.is_rule_draw(node) == (is_drawn && result == 0), "draw: %s", where.c_str());
    require(game.moves(node).empty() == (is_drawn || moves.empty()), "game over: %s", where.c_str());
    if (game.moves(node).empty()) {
        require(game.result(node) == result && game.leaf(node) == result, "result of %s", where.c_str());
    } else {
        require(game.leaf(node) == game.evaluate(node) && std::abs(game.leaf(node)) <= 20'000, "evaluation of %s",
                where.c_str());
    }
    for (int i = 0; i < 3 && !moves.empty(); ++i) {
        check_exchange(random, game, node, g, moves[random.between(0, static_cast<int>(moves.size()) - 1)], where);
    }
    if (!is_check) {
        const State passed = chess::passed(s);
        require(passed.key == chess::key_of(passed) && passed.side != s.side, "pass in %s", where.c_str());
    }
    return moves;
}

// A game of random moves.
void check_playout(Random& random, const ChessGame& game) {
    naive_chess::Game g = any_game(random);
    State s = parsed(naive_chess::fen(g)).state;
    for (int plies = random.between(1, 40); plies > 0; --plies) {
        const std::vector<int> moves = check_position(random, game, s, g);
        if (moves.empty()) return;
        int move = moves[random.between(0, static_cast<int>(moves.size()) - 1)];
        for (const int other : moves) {  // castling and captures en passant are rare
            const bool is_rare = chess::is_castling(s, other) || (other >> 6 & 63) == s.ep;
            if (is_rare && random.one_in(3)) move = other;
        }
        s = chess::play(s, move);
        g = naive_chess::play(g, move);
        if (!g.is_chess960) continue;
        // Without rights nothing says that it was Chess960.
        if (s.castling == 0) g.is_chess960 = s.is_chess960 = false;
    }
}

// --- History ---------------------------------------------------------------------------------------------------------

// A game with repetitions as text, the core's account of it against a list of all its positions, and searches from
// there against plain minimax: the table must tell apart what depends on the game so far.
class History {
   public:
    explicit History(Random& random) : random_(random) {
        g_ = random.one_in(2) ? any_game(random) : few();
        text_ = naive_chess::fen(g_) + " moves";
        reset();
    }

    void check(const ChessGame& game, desdemona::Search<ChessGame>& search) {
        for (int plies = random_.between(0, 30); plies > 0 && !is_over(3); --plies) play();
        const chess::Position position = parsed(text_);
        require(position.past.count == static_cast<int>(seen_.size()), "length of the past: %s", text_.c_str());
        const chess::Node root = game.root(position);
        require(game.past_key(root, game.past_count(root) - 1) == game.key(root), "the last of the past: %s",
                text_.c_str());
        require(game.moves(root).empty() == is_over(3), "end of the game: %s", text_.c_str());

        // A line from there: what stood twice in the game ends it, what stands twice in the line does not.
        const naive_chess::Game before = g_;
        std::string line = text_ + " line";
        chess::Node node = root;
        for (int plies = random_.between(0, 6); plies > 0 && !game.moves(node).empty(); --plies) {
            const int move = any_move(naive_chess::moves(g_));
            g_ = naive_chess::play(g_, move);
            line += ' ' + naive_chess::move_text(move);
            node = game.play(node, move);
            require(game.moves(node).empty() == is_over(2), "end of a line: %s", line.c_str());
            const chess::Position read = parsed(line);
            require_equal(read.state, node.state, line);
            require(game.hash(game.root(read)) == game.hash(node), "hash of %s", line.c_str());
        }
        g_ = before;

        // The same position again without its past, and with other counts.
        check_search(game, search, text_);
        check_search(game, search, naive_chess::fen(g_));
        g_.number += random_.between(1, 3);
        check_search(game, search, naive_chess::fen(g_));
        g_.rule50 = random_.between(94, 99);
        check_search(game, search, naive_chess::fen(g_));
    }

   private:
    // Few pieces, so that lines come together.
    naive_chess::Game few() {
        for (;;) {
            naive_chess::Game g;
            for (const char piece : {'K', 'k', 'R', 'p'}) g.at[random_.between(8, 55)] = piece;
            g.rule50 = random_.one_in(2) ? random_.between(60, 99) : 0;
            if (is_sound(g)) return g;
        }
    }

    void reset() { seen_.assign(1, key()); }

    // What makes two positions the same one: pieces, castling and, if it adds a move, the passed square.
    std::string key() const {
        naive_chess::Game g = g_;
        g.rule50 = 0;
        g.number = 1;
        if (g.passed >= 0) {
            bool adds = false;
            for (const int move : naive_chess::moves(g)) {
                adds = adds || (naive_chess::kind(g.at[move & 63]) == 'p' && (move >> 6 & 63) == g.passed);
            }
            if (!adds) g.passed = -1;
        }
        return naive_chess::fen(g);
    }

    bool is_over(int times) const {
        return g_.rule50 >= 100 || !has_sufficient_material(g_) || naive_chess::moves(g_).empty() ||
               std::count(seen_.begin(), seen_.end(), key()) >= times;
    }

    int any_move(const std::vector<int>& moves) {
        return moves[random_.between(0, static_cast<int>(moves.size()) - 1)];
    }

    void play() {
        const std::vector<int> moves = naive_chess::moves(g_);
        int move = any_move(moves);
        if (last_[0] >= 0 && !random_.one_in(4)) {  // back to where it came from
            const int back = last_[0] >> 6 | (last_[0] & 63) << 6;
            if (last_[0] < 4096 && std::find(moves.begin(), moves.end(), back) != moves.end()) move = back;
        }
        last_[0] = last_[1];
        last_[1] = move;
        const auto rights = std::count(g_.may_castle, g_.may_castle + 64, true);
        g_ = naive_chess::play(g_, move);
        text_ += ' ' + naive_chess::move_text(move);
        if (g_.rule50 == 0 || std::count(g_.may_castle, g_.may_castle + 64, true) != rights) {
            reset();
        } else {
            seen_.push_back(key());
        }
    }

    void check_search(const ChessGame& game, desdemona::Search<ChessGame>& search, const std::string& text) const {
        const chess::Position position = parsed(text);
        const chess::Node root = game.root(position);
        const int most = game.moves(root).count();
        const int depth = most > 12 ? 2 : most > 6 ? 3 : 4;
        const StopFlag never;
        const int found = search.search(root, depth, -kInfinity, kInfinity, never);
        const int truth = minimax(game, root, depth);
        require(found == truth, "search of depth %d gives %d, minimax %d: %s", depth, found, truth, text.c_str());
    }

    static int minimax(const ChessGame& game, const chess::Node& node, int depth) {
        if (depth == 0) return game.leaf(node);
        const chess::MoveList moves = game.moves(node);
        if (moves.empty()) return game.result(node);
        int best = -kInfinity;
        for (const int move : moves) best = std::max(best, -minimax(game, game.play(node, move), depth - 1));
        return best;
    }

    Random& random_;
    naive_chess::Game g_;
    std::string text_;
    std::vector<std::string> seen_;
    int last_[2] = {-1, -1};
};

// --- Text ------------------------------------------------------------------------------------------------------------

// Texts that are nearly positions: they are refused, or give a position that can be searched.
void check_garbled(Random& random, const ChessGame& game) {
    std::string text = naive_chess::fen(any_game(random));
    if (random.one_in(2)) text = "startpos moves e2e4 e7e5 g1f3 line b8c6 f1b5";
    constexpr char kLetters[] = "KQRBNPkqrbnpwabcdefgh123456789/- 0moveslin\0\xFF\t";
    for (int changes = random.between(1, 4); changes > 0 && !text.empty(); --changes) {
        const auto at = static_cast<std::size_t>(random.between(0, static_cast<int>(text.size()) - 1));
        const char letter = kLetters[random.between(0, sizeof kLetters - 2)];
        switch (random.between(0, 4)) {
            case 0: text[at] = letter; break;
            case 1: text.insert(at, 1, letter); break;
            case 2: text.erase(at, static_cast<std::size_t>(random.between(1, 4))); break;
            case 3: text.insert(at, text.substr(0, static_cast<std::size_t>(random.between(0, 20)))); break;
            default: std::swap(text[at], text[text.size() / 2]);
        }
    }
    chess::Position position;
    try {
        position = chess::parse(text);
    } catch (const std::invalid_argument& error) {
        const std::string_view why = error.what();
        require(!why.empty() && why.size() < 200, "an error without words, or with too many");
        return;
    }
    const State& s = position.state;
    require(s.key == chess::key_of(s), "key of %s", text.c_str());
    require(chess::legal_moves(s).count() <= ChessGame::kMaxMoves, "too many moves: %s", text.c_str());
    require(position.past.count >= 1 && position.past.count <= chess::Past::kMost, "past of %s", text.c_str());
    for (const int move : game.moves(game.root(position))) game.leaf(game.play(game.root(position), move));
}

}  // namespace

void check_chess(Random& random) {
    static const ChessGame game(weights());
    static desdemona::Table table(1);
    static desdemona::Search<ChessGame> search(table, game);
    const int kind = random.between(0, 9);
    if (kind < 5) {
        check_playout(random, game);
    } else if (kind < 7) {
        table.new_search();
        History(random).check(game, search);
    } else {
        for (int i = 0; i < 10; ++i) check_garbled(random, game);
    }
}

// Published counts (https://www.chessprogramming.org/Perft_Results and, of Chess960 and of checks that no game leads
// to, threads 55274 and 71379 of http://www.talkchess.com), as far as they have so many leaves.
void check_chess_perft(std::uint64_t most) {
    struct Count {
        const char* fen;
        std::uint64_t leaves[6];  // 1, 2, ... plies away
    };
    constexpr Count kCounts[] = {
        {"startpos", {20, 400, 8'902, 197'281, 4'865'609, 119'060'324}},
        {"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
         {48, 2'039, 97'862, 4'085'603, 193'690'690}},
        {"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - -", {14, 191, 2'812, 43'238, 674'624, 11'030'083}},
        {"r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ -", {6, 264, 9'467, 422'333, 15'833'292}},
        {"rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ -", {44, 1'486, 62'379, 2'103'487, 89'941'194}},
        {"r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq -", {23, 522, 12'333, 285'754}},
        {"8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q -", {34, 318, 9'002, 118'388}},
        {"4r3/3k4/8/8/8/8/6PP/qR1K1R2 w KQ -", {19, 628, 12'858, 405'636}},
        {"8/6kR/8/8/8/bq6/1rqqqqqq/K1nqnbrq b - -", {7, 52, 4'593, 50'268}},
        {"8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3", {6, 121, 711}},
        {"1b1k4/8/8/1rPpK3/8/8/8/8 w - d6", {5, 100, 555}},
        {"rnbqk1nr/bb3p1p/1q2r3/2pPp3/3P4/7P/1PP1NpPP/R1BQKBNR w KQkq c6", {2, 92, 2'528}},
    };
    for (const Count& count : kCounts) {
        const chess::Position position = parsed(count.fen);
        for (int depth = 1; depth <= 6; ++depth) {
            const std::uint64_t expected = count.leaves[depth - 1];
            if (expected == 0 || expected > most) break;
            for (const Unit* unit : all_units()) {
                const std::uint64_t leaves = unit->chess_perft(position, depth);
                require(leaves == expected, "%s: perft %d is %llu: %s", unit->name, depth,
                        static_cast<unsigned long long>(leaves), count.fen);
            }
        }
    }
}

}  // namespace check
