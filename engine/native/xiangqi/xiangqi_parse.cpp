#include "xiangqi/xiangqi_parse.hpp"

#include <algorithm>
#include <vector>

#include "parse_text.hpp"
#include "xiangqi/xiangqi.hpp"

namespace desdemona::xiangqi {

namespace {

constexpr std::string_view kStart = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1";
constexpr std::string_view kLetters = "PABNCRKpabncrk";  // by number of the piece
constexpr std::string_view kOtherLetters = "EHeh", kOurLetters = "BNbn";  // elephants and horses in other programs
constexpr const char* kNames[kKinds] = {"soldier", "advisor", "elephant", "horse", "cannon", "rook", "general"};
constexpr int kSet[kKinds] = {5, 2, 2, 2, 2, 2, 1};
constexpr const char* kColours[2] = {"red", "black"};

using Bad = BadText;

std::string name_of(int square) {
    return static_cast<char>('a' + file_of(square)) + std::to_string(rank_of(square) + 1);
}

bool can_stand(int kind, int colour, int square) {
    const int file = file_of(square);
    const int rank = colour == 0 ? rank_of(square) : kRanks - 1 - rank_of(square);  // from the owner's home
    const bool is_in_palace = rank <= 2 && file >= 3 && file <= 5;
    switch (kind) {
        case kSoldier: return rank >= 5 || (rank >= 3 && file % 2 == 0);
        case kAdvisor: return is_in_palace && (rank + file) % 2 == 1;
        case kElephant: return (rank == 2 && file % 4 == 0) || ((rank == 0 || rank == 4) && (file == 2 || file == 6));
        case kGeneral: return is_in_palace;
        default: return true;
    }
}

void read_board(std::string_view text, Position& p) {
    std::fill(std::begin(p.board), std::end(p.board), static_cast<std::uint8_t>(kEmpty));
    const auto is_no_board = [&] { return Bad("the board " + quoted(text) + " is not ten rows of nine points"); };
    int rank = kRanks - 1, file = 0;
    for (const char c : text) {
        if (c == '/') {
            if (file != kFiles || rank == 0) throw is_no_board();
            --rank;
            file = 0;
        } else if (c >= '1' && c <= '9') {
            file += c - '0';
        } else {
            const std::size_t other = kOtherLetters.find(c);
            const std::size_t piece = kLetters.find(other == std::string_view::npos ? c : kOurLetters[other]);
            if (piece == std::string_view::npos) throw Bad(quoted({&c, 1}) + " is no piece");
            if (file >= kFiles) throw is_no_board();
            p.board[kFiles * rank + file++] = static_cast<std::uint8_t>(piece);
        }
        if (file > kFiles) throw is_no_board();
    }
    if (rank != 0 || file != kFiles) throw is_no_board();
    int counts[2 * kKinds] = {};
    for (int square = 0; square < kSquares; ++square) {
        const int piece = p.board[square];
        if (piece == kEmpty) continue;
        const int colour = piece / kKinds, kind = piece % kKinds;
        const std::string owner = kColours[colour];
        if (!can_stand(kind, colour, square)) {
            throw Bad(owner + "'s " + kNames[kind] + " cannot stand on " + name_of(square));
        }
        if (++counts[piece] > kSet[kind]) throw Bad(owner + " has too many pieces of the kind " + kNames[kind]);
    }
    for (int colour = 0; colour < 2; ++colour) {
        if (counts[kKinds * colour + kGeneral] == 0) throw Bad(std::string(kColours[colour]) + " has no general");
    }
}

void read_fen(const Words& fields, Position& p) {
    if (fields.size() < 2 || fields.size() > 6) {
        throw Bad("a FEN has a board, the side to move, two dashes and two numbers");
    }
    read_board(fields[0], p);
    if (fields[1] != "w" && fields[1] != "r" && fields[1] != "b") {
        throw Bad("the side to move is w, r or b, not " + quoted(fields[1]));
    }
    p.side = fields[1] == "b";
    for (std::size_t i = 2; i < std::min<std::size_t>(fields.size(), 4); ++i) {
        if (fields[i] != "-") throw Bad("two dashes stand after the side to move, not " + quoted(fields[i]));
    }
    p.quiet = fields.size() > 4
                  ? static_cast<std::uint16_t>(read_number(fields[4], 3, "count of plies since a capture"))
                  : std::uint16_t{0};
    const int number = fields.size() > 5 ? read_number(fields[5], 4, "move number") : 1;
    p.ply = static_cast<std::uint16_t>(2 * (number > 0 ? number - 1 : 0) + p.side);
    if (is_check(state_of(p), 1 - p.side)) {
        throw Bad(std::string(kColours[p.side]) + " is to move and could take the general");
    }
}

int square_of(std::string_view text) {  // -1: none
    if (text.size() < 2 || text.size() > 3 || text[0] < 'a' || text[0] > 'i') return -1;
    if (text.size() == 3) return text.substr(1) == "10" ? kFiles * 9 + (text[0] - 'a') : -1;
    return text[1] >= '1' && text[1] <= '9' ? kFiles * (text[1] - '1') + (text[0] - 'a') : -1;
}

int read_move(std::string_view text, const State& s) {
    const std::size_t second = text.find_first_not_of("0123456789", 1);
    if (!text.empty() && second != std::string_view::npos) {
        const int from = square_of(text.substr(0, second)), to = square_of(text.substr(second));
        for (const int move : legal_moves(s)) {
            if (move == move_of(from, to)) return move;
        }
    }
    throw Bad(quoted(text) + " is no legal move");
}

// The game up to the position being parsed.
class Reader {
   public:
    explicit Reader(Position& p) : p_(p), state_(state_of(p)) { remember(); }

    void play(std::string_view text) {
        apply(text);
        remember();
    }

    void play_in_line(std::string_view text) {
        apply(text);
        p_.verdict = kGoesOn;
        for (int i = 0; i < p_.past.twice_count; ++i) {
            if (p_.past.twice[i].key == state_.key) p_.verdict = p_.past.twice[i].verdict;
        }
    }

   private:
    void apply(std::string_view text) {
        if (p_.verdict != kGoesOn || p_.quiet >= kDrawPlies) throw Bad("the game is over before " + quoted(text));
        const int move = read_move(text, state_);
        const int from = move & 127, to = move >> 7;
        const bool is_soldier = p_.board[from] % kKinds == kSoldier;
        if (p_.board[to] != kEmpty || (is_soldier && file_of(from) == file_of(to))) {
            p_.past.count = 0;
            p_.past.twice_count = 0;
            p_.past.salt = 0;
        }
        p_.board[to] = p_.board[from];
        p_.board[from] = kEmpty;
        state_ = xiangqi::play(state_, move);
        p_.side = state_.side;
        p_.quiet = state_.quiet;
        p_.ply = state_.ply;
    }

    // Adds the position to the game.
    void remember() {
        Past& past = p_.past;
        if (past.count == Past::kMost) throw Bad("too many moves");  // impossible: a hundred plies end a game
        is_check_[past.count] = state_.check;
        past.keys[past.count++] = state_.key;
        past.twice_count = 0;
        past.salt = 0;
        p_.verdict = kGoesOn;
        const int now = past.count - 1;
        for (int second = 0; second <= now; ++second) {
            int before[2] = {-1, -1};  // the last occurrence before it, and the one before that
            for (int i = 0; i < second; ++i) {
                if (past.keys[i] == past.keys[second]) before[1] = before[0], before[0] = i;
            }
            if (before[1] >= 0) {
                p_.verdict = judge(before[1], second);  // it is the last position: the game ends with it
            } else if (before[0] >= 0) {
                const Verdict verdict = judge(before[0], second);
                past.twice[past.twice_count++] = {past.keys[second], verdict};
                past.salt += mixed(past.keys[second] + static_cast<std::uint64_t>(verdict));
            }
        }
    }

    // The side that loses by perpetual check, judged by the game from one occurrence of a position to another.
    Verdict judge(int first, int last) const {
        bool by_other = true, by_mover = true;
        for (int i = first; i <= last; ++i) ((i - first) % 2 == 0 ? by_other : by_mover) &= is_check_[i];
        return static_cast<Verdict>(static_cast<int>(by_other) - static_cast<int>(by_mover));
    }

    Position& p_;
    State state_;
    bool is_check_[Past::kMost];  // parallel to past.keys
};

}  // namespace

Position parse(std::string_view text) {
    const GameText game(text, kStart);
    Position p{};
    read_fen(game.fen, p);
    Reader reader(p);
    for (const std::string_view word : game.moves) reader.play(word);
    for (const std::string_view word : game.line) reader.play_in_line(word);
    return p;
}

}  // namespace desdemona::xiangqi
