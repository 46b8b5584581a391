// Chess once more, square by square and without a thought for speed: what the checks compare the core with.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

namespace naive_chess {

// Moves are numbered as in the core.
struct Game {
    std::string at = std::string(64, '.');  // letters of a FEN, from a1
    bool is_white = true;                   // to move
    bool may_castle[64] = {};               // rooks
    int passed = -1;                        // square that a pawn has just passed
    int rule50 = 0;
    int number = 1;
    bool is_chess960 = false;
};

inline bool is_white(char piece) { return std::isupper(static_cast<unsigned char>(piece)) != 0; }
inline char kind(char piece) { return static_cast<char>(std::tolower(static_cast<unsigned char>(piece))); }
inline bool is_own(const Game& g, int square) { return g.at[square] != '.' && is_white(g.at[square]) == g.is_white; }
inline bool is_other(const Game& g, int square) { return g.at[square] != '.' && is_white(g.at[square]) != g.is_white; }

// The square so many ranks and files away; -1: off the board.
inline int step(int square, int ranks, int files) {
    const int rank = square / 8 + ranks;
    const int file = square % 8 + files;
    return rank >= 0 && rank < 8 && file >= 0 && file < 8 ? 8 * rank + file : -1;
}

// What the piece on a square attacks: for a pawn both squares, whatever is there.
inline std::vector<int> attacks(const std::string& at, int from) {
    std::vector<int> found;
    const auto go = [&](int ranks, int files, int most) {
        for (int n = 1; n <= most; ++n) {
            const int to = step(from, n * ranks, n * files);
            if (to < 0) return;
            found.push_back(to);
            if (at[to] != '.') return;
        }
    };
    const char piece = kind(at[from]);
    if (piece == 'p') {
        for (const int files : {-1, 1}) go(is_white(at[from]) ? 1 : -1, files, 1);
    } else if (piece == 'n') {
        for (const int a : {-1, 1}) {
            for (const int b : {-1, 1}) {
                go(a, 2 * b, 1);
                go(2 * a, b, 1);
            }
        }
    } else {
        for (int ranks = -1; ranks <= 1; ++ranks) {
            for (int files = -1; files <= 1; ++files) {
                if (ranks == 0 && files == 0) continue;
                const bool is_straight = ranks == 0 || files == 0;
                if (piece != (is_straight ? 'b' : 'r')) go(ranks, files, piece == 'k' ? 1 : 7);
            }
        }
    }
    return found;
}

inline bool is_attacked(const std::string& at, int square, bool by_white) {
    for (int from = 0; from < 64; ++from) {
        if (at[from] == '.' || is_white(at[from]) != by_white) continue;
        for (const int to : attacks(at, from)) {
            if (to == square) return true;
        }
    }
    return false;
}

inline int king(const Game& g, bool white) { return static_cast<int>(g.at.find(white ? 'K' : 'k')); }
inline bool is_check(const Game& g) { return is_attacked(g.at, king(g, g.is_white), !g.is_white); }

inline int castling_king(int rook, int king) { return king / 8 * 8 + (rook > king ? 6 : 2); }
inline int castling_rook(int rook, int king) { return king / 8 * 8 + (rook > king ? 5 : 3); }

// The rook that a move castles with; -1: it does not.
inline int castler(const Game& g, int from, int to) {
    if (kind(g.at[from]) != 'k') return -1;
    for (int rook = 0; rook < 64; ++rook) {
        if (!g.may_castle[rook] || !is_own(g, rook)) continue;
        if (g.is_chess960 ? to == rook : std::abs(to - from) == 2 && to == castling_king(rook, from)) return rook;
    }
    return -1;
}

inline Game play(Game g, int move) {
    const int from = move & 63;
    const int to = move >> 6 & 63;
    const char piece = g.at[from];
    const bool is_pawn = kind(piece) == 'p';
    const int rook = castler(g, from, to);
    ++g.rule50;
    if (is_pawn || (rook < 0 && g.at[to] != '.')) g.rule50 = 0;
    if (is_pawn && to == g.passed) g.at[to + (g.is_white ? -8 : 8)] = '.';
    g.at[from] = '.';
    if (rook >= 0) {
        const char moved = g.at[rook];
        g.at[rook] = '.';
        g.at[castling_king(rook, from)] = piece;
        g.at[castling_rook(rook, from)] = moved;
    } else {
        const char promoted = ".qrbn"[move >> 12];
        g.at[to] = move >> 12 == 0 ? piece : g.is_white ? static_cast<char>(std::toupper(promoted)) : promoted;
    }
    for (int square = 0; square < 64; ++square) {
        const bool is_kings = kind(piece) == 'k' && square / 8 == (g.is_white ? 0 : 7);
        if (square == from || square == to || is_kings) g.may_castle[square] = false;
    }
    g.passed = is_pawn && std::abs(to - from) == 16 ? (from + to) / 2 : -1;
    if (!g.is_white) ++g.number;
    g.is_white = !g.is_white;
    return g;
}

// Legal moves, sorted.
inline std::vector<int> moves(const Game& g) {
    std::vector<int> found;
    const auto add = [&](int from, int to, int promotion) {
        const int move = from | to << 6 | promotion << 12;
        const Game after = play(g, move);
        if (!is_attacked(after.at, king(after, g.is_white), !g.is_white)) found.push_back(move);
    };
    const auto add_pawn = [&](int from, int to) {
        const bool promotes = to < 8 || to >= 56;
        for (int promotion = promotes ? 1 : 0; promotion <= (promotes ? 4 : 0); ++promotion) add(from, to, promotion);
    };
    for (int from = 0; from < 64; ++from) {
        if (!is_own(g, from)) continue;
        if (kind(g.at[from]) == 'p') {
            const int up = g.is_white ? 8 : -8;
            if (g.at[from + up] == '.') {
                add_pawn(from, from + up);
                if (from / 8 == (g.is_white ? 1 : 6) && g.at[from + 2 * up] == '.') add(from, from + 2 * up, 0);
            }
            for (const int to : attacks(g.at, from)) {
                if (is_other(g, to) || to == g.passed) add_pawn(from, to);
            }
            continue;
        }
        for (const int to : attacks(g.at, from)) {
            if (!is_own(g, to)) add(from, to, 0);
        }
    }
    const int from = king(g, g.is_white);
    for (int rook = 0; rook < 64; ++rook) {
        if (!g.may_castle[rook] || !is_own(g, rook)) continue;
        const int king_to = castling_king(rook, from);
        const int rook_to = castling_rook(rook, from);
        bool is_free = true;
        for (int square = 0; square < 64; ++square) {
            const auto is_between = [square](int a, int b) {
                return square >= std::min(a, b) && square <= std::max(a, b);
            };
            const bool is_kings_way = is_between(from, king_to);
            if (!is_kings_way && !is_between(rook, rook_to)) continue;
            if (square != from && square != rook && g.at[square] != '.') is_free = false;
            std::string without = g.at;
            without[from] = '.';
            if (is_kings_way && is_attacked(without, square, !g.is_white)) is_free = false;
        }
        if (is_free) add(from, g.is_chess960 ? rook : king_to, 0);
    }
    std::sort(found.begin(), found.end());
    return found;
}

inline std::string square_name(int square) {
    return {static_cast<char>('a' + square % 8), static_cast<char>('1' + square / 8)};
}

inline std::string move_text(int move) {
    const std::string squares = square_name(move & 63) + square_name(move >> 6 & 63);
    return move >> 12 == 0 ? squares : squares + ".qrbn"[move >> 12];
}

inline std::string fen(const Game& g) {
    std::string text;
    for (int rank = 7; rank >= 0; --rank) {
        int empty = 0;
        for (int file = 0; file < 8; ++file) {
            const char piece = g.at[8 * rank + file];
            if (piece == '.') {
                ++empty;
                continue;
            }
            if (empty > 0) text += static_cast<char>('0' + empty);
            empty = 0;
            text += piece;
        }
        if (empty > 0) text += static_cast<char>('0' + empty);
        if (rank > 0) text += '/';
    }
    std::string castling;
    for (int square = 0; square < 64; ++square) {
        if (!g.may_castle[square]) continue;
        const bool white = is_white(g.at[square]);
        char letter = static_cast<char>('a' + square % 8);
        if (!g.is_chess960) letter = square % 8 == 7 ? 'k' : 'q';
        castling += white ? static_cast<char>(std::toupper(letter)) : letter;
    }
    return text + (g.is_white ? " w " : " b ") + (castling.empty() ? "-" : castling) + ' ' +
           (g.passed < 0 ? "-" : square_name(g.passed)) + ' ' + std::to_string(g.rule50) + ' ' +
           std::to_string(g.number);
}

// Rank of a piece by value, as the core's: pawn 0 ... king 5.
inline int rank_of(char piece) { return static_cast<int>(std::string("pnbrqk").find(kind(piece))); }

// What the side to move wins at best by taking on a square, the smallest piece first, or leaving it; pins are
// overlooked, and a king takes only what nobody guards.
inline int exchange(const std::string& at, int square, bool white, const int (&values)[6]) {
    int taker = -1;
    for (int from = 0; from < 64; ++from) {
        if (at[from] == '.' || is_white(at[from]) != white) continue;
        if (taker >= 0 && rank_of(at[from]) >= rank_of(at[taker])) continue;
        for (const int to : attacks(at, from)) {
            if (to == square) taker = from;
        }
    }
    if (taker < 0) return 0;
    std::string after = at;
    after[square] = at[taker];
    after[taker] = '.';
    if (kind(at[taker]) == 'k' && is_attacked(after, square, !white)) return 0;
    return std::max(0, values[rank_of(at[square])] - exchange(after, square, !white, values));
}

}  // namespace naive_chess
