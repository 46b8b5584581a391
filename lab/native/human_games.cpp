#include "human_games.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "chess/chess.hpp"
#include "chess/chess_parse.hpp"
#include "xiangqi/xiangqi.hpp"
#include "xiangqi/xiangqi_parse.hpp"

namespace desdemona::learning {

namespace {

constexpr int kNotFound = -1;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_file(char c) { return c >= 'a' && c <= 'h'; }
bool is_rank(char c) { return c >= '1' && c <= '8'; }

// --- Chess -------------------------------------------------------------------------------------------------------

struct Chess {
    using State = chess::State;
    static constexpr int kSquares = 64;
    static constexpr int kKinds = 6;

    static State start() { return chess::parse("startpos").state; }
    static auto legal(const State& s) { return chess::legal_moves(s); }
    static State play(const State& s, int move) { return chess::play(s, move); }
    static int from(int move) { return chess::from_of(move); }
    static int to(int move) { return chess::to_of(move); }
    static int seen(const State& s, int square) { return s.side == chess::kWhite ? square : square ^ 56; }

    static int encoded(const State& s, int move) {
        int target = seen(s, to(move));
        const int promotion = chess::promotion_of(move);
        if (promotion != 0 && promotion != chess::kQueen) {
            target = (target & 7) + 8 * (promotion - chess::kKnight);
        }
        return kSquares * seen(s, from(move)) + target;
    }

    static void write_board(const State& s, std::uint8_t* board) {
        for (int piece = 0; piece < kKinds; ++piece) {
            for (chess::Board rest = s.pieces[piece]; rest != 0; rest &= rest - 1) {
                const int square = chess::first_square(rest);
                const bool own = (s.colours[s.side] >> square & 1) != 0;
                board[seen(s, square)] = static_cast<std::uint8_t>(1 + piece + (own ? 0 : kKinds));
            }
        }
    }

    static void write_rights(const State& s, std::uint8_t* marks) {
        if (s.ep != chess::kNoSquare) marks[2] = static_cast<std::uint8_t>(seen(s, s.ep));
        for (const int whose : {0, 1}) {
            const int side = whose == 0 ? s.side : 1 - s.side;
            const chess::Board rooks = s.castling & chess::back_rank(side);
            if (rooks == 0) continue;
            const int king = chess::king_square(s, side);
            if ((rooks >> king) != 0) marks[3] |= static_cast<std::uint8_t>(1 << 2 * whose);
            if ((rooks & (chess::bit(king) - 1)) != 0) marks[3] |= static_cast<std::uint8_t>(2 << 2 * whose);
        }
    }
};

int chess_piece(char c) {
    constexpr std::string_view kLetters = "PNBRQK";
    const auto at = kLetters.find(c);
    return at == std::string_view::npos ? kNotFound : static_cast<int>(at);
}

int find_castling(const chess::State& s, const chess::MoveList& legal, bool is_short) {
    for (const int move : legal) {
        if (chess::is_castling(s, move) && (chess::to_of(move) > chess::from_of(move)) == is_short) return move;
    }
    return kNotFound;
}

// The legal move that a word in SAN names; `kNotFound` if there is none, or more than one.
int find_chess_move(const chess::State& s, const chess::MoveList& legal, std::string_view word) {
    while (!word.empty() && (word.back() == '+' || word.back() == '#' || word.back() == '!' || word.back() == '?')) {
        word.remove_suffix(1);
    }
    if (word == "O-O" || word == "0-0") return find_castling(s, legal, true);
    if (word == "O-O-O" || word == "0-0-0") return find_castling(s, legal, false);
    int piece = word.empty() ? kNotFound : chess_piece(word.front());
    if (piece == kNotFound) {
        piece = chess::kPawn;
    } else {
        word.remove_prefix(1);
    }
    int promotion = 0;
    if (piece == chess::kPawn && word.size() > 2 && chess_piece(word.back()) > 0) {
        promotion = chess_piece(word.back());
        word.remove_suffix(word[word.size() - 2] == '=' ? 2 : 1);
    }
    if (word.size() < 2 || !is_rank(word.back()) || !is_file(word[word.size() - 2])) return kNotFound;
    const int target = word[word.size() - 2] - 'a' + 8 * (word.back() - '1');
    word.remove_suffix(2);
    int file = kNotFound, rank = kNotFound;
    for (const char c : word) {
        if (is_file(c)) {
            file = c - 'a';
        } else if (is_rank(c)) {
            rank = c - '1';
        } else if (c != 'x' && c != '-') {
            return kNotFound;
        }
    }
    int found = kNotFound;
    for (const int move : legal) {
        const int from = chess::from_of(move);
        if (chess::to_of(move) != target || chess::promotion_of(move) != promotion) continue;
        if ((s.pieces[piece] >> from & 1) == 0 || chess::is_castling(s, move)) continue;
        if (file != kNotFound && file != chess::file_of(from)) continue;
        if (rank != kNotFound && rank != chess::rank_of(from)) continue;
        if (found != kNotFound) return kNotFound;
        found = move;
    }
    return found;
}

// --- Xiangqi -----------------------------------------------------------------------------------------------------

struct Xiangqi {
    using State = xiangqi::State;
    static constexpr int kSquares = xiangqi::kSquares;
    static constexpr int kKinds = xiangqi::kKinds;

    static State start() { return xiangqi::state_of(xiangqi::parse("startpos")); }
    static auto legal(const State& s) { return xiangqi::legal_moves(s); }
    static State play(const State& s, int move) { return xiangqi::play(s, move); }
    static int from(int move) { return move & 127; }
    static int to(int move) { return move >> 7; }
    static int seen(const State& s, int square) { return s.side == 0 ? square : kSquares - 1 - square; }
    static int encoded(const State& s, int move) { return kSquares * seen(s, from(move)) + seen(s, to(move)); }

    static void write_board(const State& s, std::uint8_t* board) {
        for (const int colour : {0, 1}) {
            for (xiangqi::Bits rest = s.colours[colour]; rest.any(); rest.drop_first()) {
                const int square = rest.first();
                const int piece = s.kind_at(square) + (colour == s.side ? 0 : kKinds);
                board[seen(s, square)] = static_cast<std::uint8_t>(1 + piece);
            }
        }
    }

    static void write_rights(const State&, std::uint8_t*) {}
};

// Reads a square from the beginning of a word.
int take_xiangqi_square(std::string_view& word) {
    if (word.size() < 2 || word[0] < 'a' || word[0] > 'i' || !is_digit(word[1])) return kNotFound;
    const int file = word[0] - 'a';
    int rank = word[1] - '0';
    word.remove_prefix(2);
    if (rank == 1 && !word.empty() && word[0] == '0') {
        rank = 10;
        word.remove_prefix(1);
    }
    return rank == 0 ? kNotFound : xiangqi::kFiles * (rank - 1) + file;
}

int find_xiangqi_move(const xiangqi::MoveList& legal, std::string_view word) {
    const int from = take_xiangqi_square(word);
    const int to = take_xiangqi_square(word);
    if (from == kNotFound || to == kNotFound || !word.empty()) return kNotFound;
    const int move = xiangqi::move_of(from, to);
    return std::find(legal.begin(), legal.end(), move) == legal.end() ? kNotFound : move;
}

// --- Games -------------------------------------------------------------------------------------------------------

// One game in progress, which writes its positions.
template <class G>
class Recorder {
   public:
    Recorder(HumanPositions& out, std::uint32_t game) : out_(out), game_(game), state_(G::start()), legal_(G::legal(state_)) {}

    const typename G::State& state() const { return state_; }
    const auto& legal() const { return legal_; }

    void play(int move) {
        write(move);
        last_from_ = G::from(move);
        last_to_ = G::to(move);
        state_ = G::play(state_, move);
        legal_ = G::legal(state_);
        ++ply_;
    }

    // The time left after the latest move, which is that side's time before its next one.
    void note_clock(std::int32_t tenths) {
        if (ply_ > 0) clocks_[(ply_ - 1) & 1] = tenths;
    }

   private:
    void write(int move) {
        const std::size_t board = out_.boards.size(), marks = out_.marks.size();
        out_.boards.resize(board + G::kSquares, 0);
        G::write_board(state_, out_.boards.data() + board);
        out_.marks.resize(marks + 3, HumanPositions::kNone);
        out_.marks.push_back(0);
        if (ply_ > 0) {
            out_.marks[marks] = static_cast<std::uint8_t>(G::seen(state_, last_from_));
            out_.marks[marks + 1] = static_cast<std::uint8_t>(G::seen(state_, last_to_));
        }
        G::write_rights(state_, out_.marks.data() + marks);
        int count = 0;
        for (const int each : legal_) {
            if (each == move) out_.played.push_back(static_cast<std::uint16_t>(count));
            out_.moves.push_back(static_cast<std::uint16_t>(G::encoded(state_, each)));
            ++count;
        }
        out_.counts.push_back(static_cast<std::uint16_t>(count));
        out_.games.push_back(game_);
        out_.plies.push_back(static_cast<std::uint16_t>(ply_));
        out_.clocks.push_back(clocks_[ply_ & 1]);
    }

    HumanPositions& out_;
    std::uint32_t game_;
    typename G::State state_;
    decltype(G::legal(G::start())) legal_;
    int ply_ = 0;
    int last_from_ = 0, last_to_ = 0;
    std::int32_t clocks_[2] = {-1, -1};
};

// The time in `[%clk 1:02:03.4]`, in tenths of a second; -1 if the comment has none.
std::int32_t clock_in(std::string_view comment) {
    constexpr std::string_view kTag = "[%clk ";
    constexpr std::int64_t kMostTenths = 36'000'000;  // longer clocks are not clocks
    const auto at = comment.find(kTag);
    if (at == std::string_view::npos) return -1;
    std::int64_t seconds = 0, part = 0, tenths = 0;
    bool has_digit = false;
    for (comment.remove_prefix(at + kTag.size()); !comment.empty(); comment.remove_prefix(1)) {
        const char c = comment.front();
        if (is_digit(c)) {
            has_digit = true;
            part = std::min<std::int64_t>(10 * part + (c - '0'), kMostTenths);
        } else if (c == ':') {
            seconds = std::min(60 * (seconds + part), kMostTenths);
            part = 0;
        } else {
            if (c == '.' && comment.size() > 1 && is_digit(comment[1])) tenths = comment[1] - '0';
            break;
        }
    }
    if (!has_digit) return -1;
    return static_cast<std::int32_t>(std::min(10 * (seconds + part) + tenths, kMostTenths));
}

// Where the variation that begins at `at` ends: behind its closing bracket.
std::size_t end_of_variation(std::string_view text, std::size_t at) {
    int depth = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '{') {
            at = text.find('}', at);
            if (at == std::string_view::npos) break;
        } else if (text[at] == '(') {
            ++depth;
        } else if (text[at] == ')' && --depth == 0) {
            return at + 1;
        }
    }
    return text.size();
}

// A word without its move number: `12.e4` and `12...e5` are read as e4 and e5.
std::string_view without_number(std::string_view word) {
    const auto digits = std::find_if_not(word.begin(), word.end(), is_digit) - word.begin();
    const auto rest = word.substr(static_cast<std::size_t>(digits));
    if (digits == 0 || rest.empty()) return rest;
    if (rest.front() != '.') return word;  // 0-0, or a result
    return rest.substr(std::min(rest.find_first_not_of('.'), rest.size()));
}

bool is_result(std::string_view word) {
    return word == "1-0" || word == "0-1" || word == "1/2-1/2" || word == "*";
}

// False: a word is no legal move.
bool read_chess_game(std::string_view text, Recorder<Chess>& game) {
    constexpr std::string_view kEnds = " \t\r\n{}();$";
    std::size_t at = 0;
    while (at < text.size()) {
        const char c = text[at];
        if (is_blank(c) || c == ')' || c == '}') {
            ++at;
        } else if (c == '{') {
            const auto end = std::min(text.find('}', at), text.size());
            const std::int32_t clock = clock_in(text.substr(at, end - at));
            if (clock >= 0) game.note_clock(clock);
            at = end + 1;
        } else if (c == ';') {
            at = std::min(text.find('\n', at), text.size());
        } else if (c == '(') {
            at = end_of_variation(text, at);
        } else if (c == '$') {
            for (++at; at < text.size() && is_digit(text[at]);) ++at;
        } else {
            const auto end = std::min(text.find_first_of(kEnds, at), text.size());
            const auto word = text.substr(at, end - at);
            at = end;
            if (is_result(word)) return true;
            const auto name = without_number(word);
            if (name.find_first_not_of("!?.") == std::string_view::npos) continue;
            const int move = find_chess_move(game.state(), game.legal(), name);
            if (move == kNotFound) return false;
            game.play(move);
        }
    }
    return true;
}

bool read_xiangqi_game(std::string_view text, Recorder<Xiangqi>& game) {
    std::size_t at = 0;
    while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
        const auto end = std::min(text.find(' ', at), text.size());
        const int move = find_xiangqi_move(game.legal(), text.substr(at, end - at));
        if (move == kNotFound) return false;
        game.play(move);
        at = end;
    }
    return true;
}

template <class G, class Read>
HumanPositions read_games(const std::vector<std::string>& movetexts, const Read& read) {
    HumanPositions out;
    for (std::size_t i = 0; i < movetexts.size(); ++i) {
        Recorder<G> game(out, static_cast<std::uint32_t>(i));
        out.is_whole.push_back(read(movetexts[i], game));
    }
    return out;
}

}  // namespace

HumanPositions read_chess_games(const std::vector<std::string>& movetexts) {
    return read_games<Chess>(movetexts, read_chess_game);
}

HumanPositions read_xiangqi_games(const std::vector<std::string>& movetexts) {
    return read_games<Xiangqi>(movetexts, read_xiangqi_game);
}

}  // namespace desdemona::learning
