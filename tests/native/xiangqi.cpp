// Xiangqi: the core's rules, its readers of text and what searches ask of a node, against the naive rules.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "search/search.hpp"
#include "xiangqi/xiangqi_game.hpp"
#include "xiangqi/xiangqi_parse.hpp"

#include "checks.hpp"
#include "naive_xiangqi.hpp"

namespace check {
namespace {

namespace naive = naive_xiangqi;
namespace xiangqi = desdemona::xiangqi;
using xiangqi::State;
using xiangqi::XiangqiGame;

// Weights that stay clear of each other's sums or are mostly 0, so that many scores are equal.
const xiangqi::Evaluation& weights() {
    static const xiangqi::Evaluation evaluation = [] {
        xiangqi::Evaluation all{};
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

xiangqi::Position parsed(const std::string& text) {
    try {
        return xiangqi::parse(text);
    } catch (const std::invalid_argument& error) {
        require(false, "%s: %s", text.c_str(), error.what());
        throw;
    }
}

int any_move(Random& random, const std::vector<int>& moves) {
    return moves[static_cast<std::size_t>(random.between(0, static_cast<int>(moves.size()) - 1))];
}

// --- Inputs ----------------------------------------------------------------------------------------------------------

naive::Game start() {
    naive::Game g;
    g.at = "RNBAKABNR..........C.....C.P.P.P.P.P..................p.p.p.p.p.c.....c..........rnbakabnr";
    return g;
}

// Pieces of a set anywhere where they can stand, the generals apart and the side that waits not in check.
naive::Game made_up(Random& random, const char* letters, int most) {
    for (;;) {
        naive::Game g;
        const auto put = [&](char piece) {
            for (int tries = 0; tries < 1'000; ++tries) {  // its few places may all be taken
                const int square = random.between(0, 89);
                if (g.at[square] != '.' || !naive::can_stand(piece, square)) continue;
                g.at[square] = piece;
                return;
            }
        };
        put('K');
        put('k');
        std::string left = letters;
        for (int pieces = random.between(0, most); pieces > 0 && !left.empty(); --pieces) {
            const auto which = static_cast<std::size_t>(random.between(0, static_cast<int>(left.size()) - 1));
            put(left[which]);
            left.erase(which, 1);
        }
        g.is_red = random.one_in(2);
        g.quiet = random.one_in(3) ? random.between(90, 99) : 0;
        g.number = random.one_in(20) ? random.between(3990, 9999) : random.between(1, 200);
        const bool has_both = g.at.find('K') != std::string::npos && g.at.find('k') != std::string::npos;
        if (has_both && !naive::is_exposed(g.at, !g.is_red)) return g;
    }
}

naive::Game any_game(Random& random) {
    if (random.one_in(3)) return start();
    const bool is_wild = random.one_in(2);  // many pieces that go far: pins, screens and checks
    return made_up(random, is_wild ? "RRCCNNrrccnnPp" : "RRCCNNAABBPPPPPrrccnnaabbppppp", is_wild ? 14 : 30);
}

// --- Rules -----------------------------------------------------------------------------------------------------------

std::vector<int> sorted(const xiangqi::MoveList& list) {
    std::vector<int> moves(list.begin(), list.end());
    std::sort(moves.begin(), moves.end());
    return moves;
}

bool is_equal(xiangqi::Bits a, xiangqi::Bits b) { return !(a ^ b).any(); }

void require_equal(const State& a, const State& b, const std::string& where) {
    const bool are_equal = std::equal(a.kinds, a.kinds + xiangqi::kKinds, b.kinds, is_equal) &&
                           std::equal(a.colours, a.colours + 2, b.colours, is_equal) &&
                           std::memcmp(&a.lines, &b.lines, sizeof a.lines) == 0 &&
                           std::equal(a.generals, a.generals + 2, b.generals) && a.side == b.side &&
                           a.check == b.check && a.quiet == b.quiet && a.ply == b.ply && a.key == b.key;
    require(are_equal, "played and read differ: %s", where.c_str());
}

int win_of(const naive::Game& g) { return kWin + 10'000 - std::min(8'000, 2 * (g.number - 1) + !g.is_red); }

void check_exchange(Random& random, const XiangqiGame& game, const xiangqi::Node& node, const naive::Game& g, int move,
                    const std::string& where) {
    const naive::Game after = naive::play(g, move);
    const int worth = naive::worth(g.at[move >> 7]) - naive::exchange(after.at, move >> 7, after.is_red);
    for (const int aim : {worth, worth + 1, random.between(-1000, 1000)}) {
        require(game.see_at_least(node, move, aim) == (worth >= aim), "exchange of %s, worth %d: %s",
                naive::move_text(move).c_str(), worth, where.c_str());
    }
}

// One position in all respects; returns its legal moves.
std::vector<int> check_position(Random& random, const XiangqiGame& game, const State& s, const naive::Game& g) {
    const std::string where = naive::fen(g);
    const xiangqi::Position position = parsed(where);
    require_equal(s, xiangqi::state_of(position), where);

    const std::vector<int> moves = naive::moves(g);
    const xiangqi::MoveList list = xiangqi::legal_moves(s);
    require(sorted(list) == moves, "moves of %s", where.c_str());
    for (const Unit* unit : all_units()) {
        std::uint16_t of_unit[desdemona::kMostMoves];
        const int count = unit->xiangqi_moves(position, of_unit);
        require(std::equal(list.begin(), list.end(), of_unit, of_unit + count), "%s: moves of %s", unit->name,
                where.c_str());
    }
    static_assert(XiangqiGame::kMaxMoves <= desdemona::kMostMoves);
    require(list.count <= XiangqiGame::kMaxMoves, "too many moves: %s", where.c_str());
    require(xiangqi::has_legal_move(s) != moves.empty(), "end of %s", where.c_str());

    const xiangqi::Node node = game.root(position);
    require(game.is_check(node) == naive::is_exposed(g.at, g.is_red), "check in %s", where.c_str());
    std::vector<int> captures;
    for (const int move : moves) {
        require(game.is_forcing(node, move) == (g.at[move >> 7] != '.'), "capture in %s", where.c_str());
        require(game.gain(node, move) == naive::worth(g.at[move >> 7]), "gain in %s", where.c_str());
        if (game.is_forcing(node, move)) captures.push_back(move);
        require(move > 0 && move < XiangqiGame::kMoves && game.history_index(node, move) < XiangqiGame::kHistory,
                "number of a move in %s", where.c_str());
        require(std::abs(game.order(node, move)) < desdemona::kInfinity / 2, "order in %s", where.c_str());
    }
    require(sorted(game.forcing(node)) == captures, "captures in %s", where.c_str());

    const bool is_drawn = g.quiet >= 100 && !moves.empty();
    require(game.is_rule_draw(node) == is_drawn, "draw: %s", where.c_str());
    require(game.moves(node).empty() == (is_drawn || moves.empty()), "game over: %s", where.c_str());
    if (game.moves(node).empty()) {
        const int result = moves.empty() ? -win_of(g) : 0;
        require(game.result(node) == result && game.leaf(node) == result, "result of %s", where.c_str());
    } else {
        require(game.leaf(node) == game.evaluate(node) && std::abs(game.leaf(node)) <= 20'000, "evaluation of %s",
                where.c_str());
    }
    for (int i = 0; i < 3 && !moves.empty(); ++i) check_exchange(random, game, node, g, any_move(random, moves), where);
    if (!s.check) {
        const State passed = xiangqi::pass(s);
        require(passed.key == (s.key ^ xiangqi::kKeys.side) && passed.side != s.side, "pass in %s", where.c_str());
    }
    return moves;
}

// A game of random moves.
void check_playout(Random& random, const XiangqiGame& game) {
    naive::Game g = any_game(random);
    State s = xiangqi::state_of(parsed(naive::fen(g)));
    for (int plies = random.between(1, 30); plies > 0 && g.quiet < 100 && g.number < 9999; --plies) {
        const std::vector<int> moves = check_position(random, game, s, g);
        if (moves.empty()) return;
        const int move = any_move(random, moves);
        s = xiangqi::play(s, move);
        g = naive::play(g, move);
    }
}

// --- History ---------------------------------------------------------------------------------------------------------

// A game with repetitions as text, the core's account of it against a list of all its positions, and searches from
// there against plain minimax: the table must tell apart what depends on the game so far.
class History {
   public:
    explicit History(Random& random) : random_(random), g_(few()), text_(naive::fen(g_) + " moves") { reset(); }

    void check(const XiangqiGame& game, desdemona::Search<XiangqiGame>& search) {
        for (int plies = random_.between(0, 30); plies > 0 && !is_over(verdict()); --plies) play();
        const xiangqi::Position position = parsed(text_);
        require(position.past.count == static_cast<int>(seen_.size()), "length of the past: %s", text_.c_str());
        const xiangqi::Node root = game.root(position);
        require(game.past_key(root, game.past_count(root) - 1) == game.key(root), "the last of the past: %s",
                text_.c_str());
        require_end(game, root, verdict(), text_);

        // A line from there: what stood twice in the game ends it, what stands twice in the line does not.
        const naive::Game before = g_;
        std::string line = text_ + " line";
        xiangqi::Node node = root;
        bool is_past = true;  // may still come back
        for (int plies = random_.between(0, 6); plies > 0 && !game.moves(node).empty(); --plies) {
            const int move = next_move();
            is_past = is_past && is_reversible(move);
            require(game.is_reversible(node, move) == is_reversible(move), "%s in %s", naive::move_text(move).c_str(),
                    line.c_str());
            g_ = naive::play(g_, move);
            line += ' ' + naive::move_text(move);
            node = game.play(node, move);
            require_end(game, node, is_past ? verdict_in_line() : xiangqi::kGoesOn, line);
            const xiangqi::Position read = parsed(line);
            require_equal(xiangqi::state_of(read), node.state, line);
            require_end(game, game.root(read), node.verdict, line);
        }
        g_ = before;

        // The same position again without its past, and with other counts.
        check_search(game, search, text_);
        check_search(game, search, naive::fen(g_));
        g_.number += random_.between(1, 3);
        check_search(game, search, naive::fen(g_));
        g_.quiet = random_.between(94, 99);
        check_search(game, search, naive::fen(g_));
    }

   private:
    // Few pieces, so that lines come together.
    naive::Game few() {
        naive::Game g = made_up(random_, random_.one_in(2) ? "Rr" : "RNCpPna", 3);
        g.number = random_.between(1, 100);
        g.quiet = random_.one_in(3) ? random_.between(60, 99) : 0;
        return g;
    }

    std::string board() const { return g_.at + (g_.is_red ? 'w' : 'b'); }

    void reset() {
        seen_.assign(1, board());
        checks_.assign(1, naive::is_exposed(g_.at, g_.is_red));
    }

    bool is_reversible(int move) const {
        const bool is_step = naive::kind(g_.at[move & 127]) == 'p' && (move & 127) % 9 == (move >> 7) % 9;
        return !is_step && g_.at[move >> 7] == '.';
    }

    // Who loses by perpetual check between two positions.
    int judged(std::size_t first, std::size_t last) const {
        bool by_other = true, by_mover = true;
        for (std::size_t i = first; i <= last; ++i) {
            if ((i - first) % 2 == 0 && !checks_[i]) by_other = false;
            if ((i - first) % 2 == 1 && !checks_[i]) by_mover = false;
        }
        return by_other == by_mover ? 0 : by_other ? 1 : -1;
    }

    // Of the last position, if it stands there for the third time.
    int verdict() const {
        const std::vector<std::size_t> times = times_of(seen_.back());
        return times.size() < 3 ? xiangqi::kGoesOn : judged(times[times.size() - 3], times.back());
    }
    // Of the position on the board, which comes after them.
    int verdict_in_line() const {
        const std::vector<std::size_t> times = times_of(board());
        return times.size() < 2 ? xiangqi::kGoesOn : judged(times[times.size() - 2], times.back());
    }
    std::vector<std::size_t> times_of(const std::string& board) const {
        std::vector<std::size_t> times;
        for (std::size_t i = 0; i < seen_.size(); ++i) {
            if (seen_[i] == board) times.push_back(i);
        }
        return times;
    }

    bool is_over(int verdict) const {
        return verdict != xiangqi::kGoesOn || g_.quiet >= 100 || naive::moves(g_).empty();
    }

    void require_end(const XiangqiGame& game, const xiangqi::Node& node, int verdict, const std::string& where) const {
        require(game.moves(node).empty() == is_over(verdict), "end of the game: %s", where.c_str());
        if (!is_over(verdict)) return;
        const int result = naive::moves(g_).empty() ? -win_of(g_) : g_.quiet >= 100 ? 0 : verdict * win_of(g_);
        require(game.result(node) == result && game.leaf(node) == result, "result of %s", where.c_str());
    }

    // Often back to where the piece came from.
    int next_move() {
        const std::vector<int> moves = naive::moves(g_);
        int& last = last_[g_.is_red];
        const int back = last >> 7 | (last & 127) << 7;
        const bool can_return = std::find(moves.begin(), moves.end(), back) != moves.end();
        return last = can_return && !random_.one_in(5) ? back : any_move(random_, moves);
    }

    void play() {
        const int move = next_move();
        const bool is_kept = is_reversible(move);
        g_ = naive::play(g_, move);
        text_ += ' ' + naive::move_text(move);
        if (!is_kept) {
            reset();
        } else {
            seen_.push_back(board());
            checks_.push_back(naive::is_exposed(g_.at, g_.is_red));
        }
    }

    void check_search(const XiangqiGame& game, desdemona::Search<XiangqiGame>& search, const std::string& text) const {
        const xiangqi::Position position = parsed(text);
        const xiangqi::Node root = game.root(position);
        const int most = game.moves(root).count;
        const int depth = most > 14 ? 2 : most > 7 ? 3 : 4;
        const StopFlag never;
        const int found = search.search(root, depth, -kInfinity, kInfinity, never);
        const int truth = minimax(game, root, depth);
        require(found == truth, "search of depth %d gives %d, minimax %d: %s", depth, found, truth, text.c_str());
    }

    static int minimax(const XiangqiGame& game, const xiangqi::Node& node, int depth) {
        if (depth == 0) return game.leaf(node);
        const xiangqi::MoveList moves = game.moves(node);
        if (moves.empty()) return game.result(node);
        int best = -kInfinity;
        for (const int move : moves) best = std::max(best, -minimax(game, game.play(node, move), depth - 1));
        return best;
    }

    Random& random_;
    naive::Game g_;
    std::string text_;
    std::vector<std::string> seen_;
    std::vector<bool> checks_;  // beside `seen_`
    int last_[2] = {};          // moves of the two sides
};

// --- Text ------------------------------------------------------------------------------------------------------------

// Texts that are nearly positions: they are refused, or give a position that can be searched.
void check_garbled(Random& random, const XiangqiGame& game) {
    std::string text = naive::fen(any_game(random));
    if (random.one_in(2)) text = "startpos moves h3e3 h10g8 h1g3 i10h10 line i1h1 g8i10 c4c5";
    constexpr char kLetters[] = "KRNBACPkrnbacpwabcdefghi0123456789/- moveslin\0\xFF\t";
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
    xiangqi::Position position;
    try {
        position = xiangqi::parse(text);
    } catch (const std::invalid_argument& error) {
        const std::string_view why = error.what();
        require(!why.empty() && why.size() < 200, "an error without words, or with too many");
        return;
    }
    const xiangqi::Node root = game.root(position);
    require(position.past.count >= 0 && position.past.count <= xiangqi::Past::kMost, "past of %s", text.c_str());
    for (const int move : game.moves(root)) game.leaf(game.play(root, move));
}

}  // namespace

void check_xiangqi(Random& random) {
    static const XiangqiGame game(weights());
    static desdemona::Table table(1);
    static desdemona::Search<XiangqiGame> search(table, game);
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

// Published counts (https://www.chessprogramming.org/Chinese_Chess_Perft_Results), as far as they have no more leaves.
void check_xiangqi_perft(std::uint64_t most) {
    struct Count {
        const char* fen;
        std::uint64_t leaves[5];  // 1, 2, ... plies away
    };
    constexpr Count kCounts[] = {
        {"startpos", {44, 1920, 79666, 3290240, 133312995}},
        {"r1ba1a3/4kn3/2n1b4/pNp1p1p1p/4c4/6P2/P1P2R2P/1CcC5/9/2BAKAB2 w - - 0 1", {38, 1128, 43929, 1339047, 53112976}},
        {"1cbak4/9/n2a5/2p1p3p/5cp2/2n2N3/6PCP/3AB4/2C6/3A1K1N1 w - - 0 1", {7, 281, 8620, 326201, 10369923}},
        {"5a3/3k5/3aR4/9/5r3/5n3/9/3A1A3/5K3/2BC2B2 w - - 0 1", {25, 424, 9850, 202884, 4739553}},
        {"CRN1k1b2/3ca4/4ba3/9/2nr5/9/9/4B4/4A4/4KA3 w - - 0 1", {28, 516, 14808, 395483, 11842230}},
        {"C1nNk4/9/9/9/9/9/n1pp5/B3C4/9/3A1K3 w - - 0 1", {28, 222, 6241, 64971, 1914306}},
        {"4ka3/4a4/9/9/4N4/p8/9/4C3c/7n1/2BK5 w - - 0 1", {23, 345, 8124, 149272, 3513104}},
    };
    for (const Count& count : kCounts) {
        const xiangqi::Position position = parsed(count.fen);
        for (int depth = 1; depth <= 5 && count.leaves[depth - 1] <= most; ++depth) {
            for (const Unit* unit : all_units()) {
                const std::uint64_t leaves = unit->xiangqi_perft(position, depth);
                require(leaves == count.leaves[depth - 1], "%s: perft %d of %s is %llu", unit->name, depth, count.fen,
                        static_cast<unsigned long long>(leaves));
            }
        }
    }
}

}  // namespace check
