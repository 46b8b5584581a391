#include "chess/chess_parse.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "chess/chess.hpp"
#include "parse_text.hpp"

namespace desdemona::chess {

namespace {

constexpr std::string_view kStart = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

using Bad = BadText;

void read_board(std::string_view text, State& s) {
    const Bad bad("the board " + quoted(text) + " is not eight ranks of eight squares");
    int rank = 7;
    int file = 0;
    char before = '/';
    for (const char c : text) {
        const auto is_count = [](char ch) { return ch >= '1' && ch <= '8'; };
        constexpr std::string_view kLetters = "PNBRQKpnbrqk";
        const std::size_t letter = kLetters.find(c);
        if (c == '/') {
            if (file != 8 || rank == 0) throw bad;
            --rank;
            file = 0;
        } else if (is_count(c)) {
            if (is_count(before)) throw bad;
            file += c - '0';
        } else {
            if (letter == std::string_view::npos || file > 7) throw bad;
            s.pieces[letter % 6] |= bit(8 * rank + file);
            s.colours[letter / 6] |= bit(8 * rank + file);
            ++file;
        }
        before = c;
    }
    if (rank != 0 || file != 8) throw bad;
    for (int side = 0; side < 2; ++side) {
        if (std::popcount(s.pieces[kKing] & s.colours[side]) != 1) throw Bad("each side must have one king");
        if (std::popcount(s.colours[side]) > 16) throw Bad("a side has more than sixteen pieces");
    }
    if ((s.pieces[kPawn] & (back_rank(kWhite) | back_rank(kBlack))) != 0) {
        throw Bad("a pawn stands on the first or last rank");
    }
}

// X-FEN: K and Q mean the outermost rook on that side of the king; a file's letter (Shredder-FEN) a rook by name.
void read_castling(std::string_view text, State& s) {
    if (text == "-") return;
    for (const char c : text) {
        const bool is_white = std::isupper(static_cast<unsigned char>(c)) != 0;
        const int side = is_white ? kWhite : kBlack;
        const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const int king = king_square(s, side);
        const Board home = back_rank(side);
        const Board rooks = (home >> king & 1) != 0 ? s.pieces[kRook] & s.colours[side] & home : 0;
        const Board before = rooks & (bit(king) - 1);
        const Board behind = rooks & ~before;
        Board rook = 0;
        if (letter == 'k') {
            if (behind != 0) rook = bit(63 - std::countl_zero(behind));
        } else if (letter == 'q') {
            rook = before & (0 - before);
        } else if (letter >= 'a' && letter <= 'h') {
            rook = rooks & kFileA << (letter - 'a');
            s.is_chess960 = true;
        } else {
            throw Bad(quoted(text) + " are no castling rights");
        }
        if (rook == 0) throw Bad("there is no king and rook for the castling right " + quoted({&c, 1}));
        if ((s.castling & ((rook & before) != 0 ? before : behind)) != 0) {
            throw Bad("two castling rights on one side in " + quoted(text));
        }
        s.castling |= rook;
        if (file_of(king) != 4 || (rook & (kFileA | kFileH)) == 0) s.is_chess960 = true;
    }
}

void read_ep(std::string_view text, State& s) {
    s.ep = kNoSquare;
    if (text == "-") return;
    if (text.size() != 2 || text[0] < 'a' || text[0] > 'h' || text[1] != (s.side == kWhite ? '6' : '3')) {
        throw Bad(quoted(text) + " is no en passant square here");
    }
    const int to = (text[0] - 'a') + 8 * (text[1] - '1');
    const Board pawn = ahead(bit(to), 1 - s.side);
    const Board way = bit(to) | ahead(bit(to), s.side);
    if ((pawn & s.pieces[kPawn] & s.colours[1 - s.side]) == 0 || (way & occupied(s)) != 0) {
        throw Bad("no pawn can have just passed " + quoted(text));
    }
    if (has_legal_ep(s, s.side, to)) s.ep = static_cast<std::uint8_t>(to);
}

State read_fen(const Words& fields) {
    if (fields.size() < 4 || fields.size() > 6) {
        throw Bad("a FEN has a board, the side to move, castling rights, an en passant square and perhaps two numbers");
    }
    State s{};
    read_board(fields[0], s);
    if (fields[1] != "w" && fields[1] != "b") throw Bad("the side to move is w or b, not " + quoted(fields[1]));
    s.side = fields[1] == "w" ? kWhite : kBlack;
    if (is_attacked(s, king_square(s, 1 - s.side), s.side, occupied(s))) {
        throw Bad("the side that is not to move is in check");
    }
    read_castling(fields[2], s);
    read_ep(fields[3], s);
    const int rule50 = fields.size() > 4 ? read_number(fields[4], 4, "count of plies since a capture or pawn move") : 0;
    const int number = fields.size() > 5 ? read_number(fields[5], 4, "move number") : 1;
    s.rule50 = static_cast<std::uint16_t>(rule50);
    s.ply = static_cast<std::uint16_t>(2 * (number > 0 ? number - 1 : 0) + s.side);
    s.key = key_of(s);
    return s;
}

// The move with that text, which must be legal in an unfinished game.
int read_move(std::string_view text, const State& s, bool is_over) {
    constexpr std::string_view kPromotions = " nbrq";
    int move = -1;
    if ((text.size() == 4 || text.size() == 5) && !is_over) {
        const int from_file = text[0] - 'a', from_rank = text[1] - '1';
        const int to_file = text[2] - 'a', to_rank = text[3] - '1';
        const std::size_t promotion = text.size() == 5 ? kPromotions.find(text[4], 1) : 0;
        const auto is_on_board = [](int n) { return n >= 0 && n < 8; };
        if (is_on_board(from_file) && is_on_board(from_rank) && is_on_board(to_file) && is_on_board(to_rank) &&
            promotion != std::string_view::npos) {
            move = make_move(8 * from_rank + from_file, 8 * to_rank + to_file, static_cast<int>(promotion));
        }
    }
    if (move >= 0) {
        for (const int legal : legal_moves(s)) {
            if (legal == move) return move;
        }
    }
    throw Bad(quoted(text) + (is_over ? ": the game is over before" : " is no legal move"));
}

// Adds a position to the game so far.
void remember(const State& s, Past& past) {
    if (past.count == Past::kMost) throw Bad("too many moves");  // impossible: the fifty-move rule applies first
    past.keys[past.count++] = s.key;
    past.root_ply = s.ply;
    past.twice_count = 0;
    past.is_over = false;
    past.salt = 0;
    for (int i = 0; i < past.count; ++i) {
        int before = 0;
        for (int j = 0; j < i; ++j) before += past.keys[j] == past.keys[i];
        if (before == 1) {
            past.twice[past.twice_count++] = past.keys[i];
            past.salt += mixed(past.keys[i]);
        }
        if (before == 2) past.is_over = true;
    }
}

}  // namespace

Position parse(std::string_view text) {
    const GameText game(text, kStart);
    Position p{};
    State& s = p.state;
    s = read_fen(game.fen);
    remember(s, p.past);
    const auto is_over = [&p] { return is_rule_draw(p.state) || is_repeated(p.state, p.past); };
    for (const std::string_view word : game.moves) {
        const State before = s;
        s = play(s, read_move(word, s, is_over()));
        if (s.rule50 == 0 || s.castling != before.castling) p.past.count = 0;
        remember(s, p.past);
    }
    for (const std::string_view word : game.line) s = play(s, read_move(word, s, is_over()));
    return p;
}

}  // namespace desdemona::chess
