// Xiangqi once more, piece by piece and without a thought for speed: what the checks compare the core with.
#pragma once

#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

namespace naive_xiangqi {

// Moves are numbered as in the core.
struct Game {
    std::string at = std::string(90, '.');  // letters of a FEN, from a1
    bool is_red = true;                     // to move
    int quiet = 0;                          // plies since the last capture
    int number = 1;
};

inline bool is_red(char piece) { return std::isupper(static_cast<unsigned char>(piece)) != 0; }
inline char kind(char piece) { return static_cast<char>(std::tolower(static_cast<unsigned char>(piece))); }
inline bool is_its(char piece, bool red) { return piece != '.' && is_red(piece) == red; }

inline bool can_stand(char piece, int square) {
    const int file = square % 9, rank = is_red(piece) ? square / 9 : 9 - square / 9;
    switch (kind(piece)) {
        case 'p': return rank > 4 || (rank > 2 && file % 2 == 0);
        case 'a': return (rank == 1 && file == 4) || ((rank == 0 || rank == 2) && (file == 3 || file == 5));
        case 'b': return rank <= 4 && rank % 2 == 0 && file % 2 == 0 && (file + rank) % 4 == 2;
        case 'k': return rank <= 2 && file >= 3 && file <= 5;
        default: return true;
    }
}

// Number of pieces between two squares of a line.
inline int between(const std::string& at, int a, int b) {
    const int step = (b > a ? 1 : -1) * (a / 9 == b / 9 ? 1 : 9);
    int pieces = 0;
    for (int square = a + step; square != b; square += step) pieces += at[square] != '.';
    return pieces;
}

// Whether a piece goes from one square to another, as far as it is concerned.
inline bool goes(const std::string& at, int from, int to) {
    const char piece = at[from];
    if (from == to || !can_stand(piece, to) || is_its(at[to], is_red(piece))) return false;
    const int files = to % 9 - from % 9, ranks = to / 9 - from / 9;
    const int wide = std::abs(files), high = std::abs(ranks);
    const bool is_straight = wide == 0 || high == 0;
    switch (kind(piece)) {
        case 'r': return is_straight && between(at, from, to) == 0;
        case 'c': return is_straight && between(at, from, to) == (at[to] == '.' ? 0 : 1);
        case 'n':
            if (wide == 2 && high == 1) return at[from + files / 2] == '.';
            return wide == 1 && high == 2 && at[from + ranks / 2 * 9] == '.';
        case 'b': return wide == 2 && high == 2 && at[(from + to) / 2] == '.';
        case 'a': return wide == 1 && high == 1;
        case 'k': return wide + high == 1;
        default: {
            const bool is_forward = ranks == (is_red(piece) ? 1 : -1);
            const bool has_crossed = is_red(piece) ? from / 9 > 4 : from / 9 < 5;
            return (is_forward && wide == 0) || (has_crossed && high == 0 && wide == 1);
        }
    }
}

// Whether a side's general is attacked, or faces the other.
inline bool is_exposed(const std::string& at, bool red) {
    const auto general = static_cast<int>(at.find(red ? 'K' : 'k')), other = static_cast<int>(at.find(red ? 'k' : 'K'));
    if (general % 9 == other % 9 && between(at, general, other) == 0) return true;
    for (int from = 0; from < 90; ++from) {
        if (is_its(at[from], !red) && goes(at, from, general)) return true;
    }
    return false;
}

inline Game play(const Game& g, int move) {
    Game after = g;
    const int from = move & 127, to = move >> 7;
    after.quiet = g.at[to] == '.' ? g.quiet + 1 : 0;
    after.at[to] = g.at[from];
    after.at[from] = '.';
    after.is_red = !g.is_red;
    after.number += !g.is_red;
    return after;
}

// In the order of their numbers.
inline std::vector<int> moves(const Game& g) {
    std::vector<int> found;
    for (int to = 0; to < 90; ++to) {
        for (int from = 0; from < 90; ++from) {
            if (!is_its(g.at[from], g.is_red) || !goes(g.at, from, to)) continue;
            if (!is_exposed(play(g, from | to << 7).at, g.is_red)) found.push_back(from | to << 7);
        }
    }
    return found;
}

inline int worth(char piece) {
    switch (kind(piece)) {
        case 'p': return 100;
        case 'a': case 'b': return 200;
        case 'n': return 400;
        case 'c': return 450;
        case 'r': return 900;
        default: return 0;
    }
}

// The smallest piece with which a side takes the other's on a square; -1: none.
inline int taker(const std::string& at, int to, bool red) {
    for (const char wanted : {'p', 'a', 'b', 'n', 'c', 'r', 'k'}) {
        for (int from = 0; from < 90; ++from) {
            if (is_its(at[from], red) && kind(at[from]) == wanted && goes(at, from, to)) return from;
        }
    }
    return -1;
}

// What a side wins by taking on a square, if both take with the smallest piece for as long as they like.
inline int exchange(std::string at, int to, bool red) {
    const int from = taker(at, to, red);
    if (from < 0) return 0;
    if (kind(at[from]) == 'k') {  // may not take what is guarded
        std::string own = at;
        own[to] = red ? 'N' : 'n';
        if (taker(own, to, !red) >= 0) return 0;
    }
    const int won = worth(at[to]);
    at[to] = at[from];
    at[from] = '.';
    const int lost = exchange(at, to, !red);
    return won > lost ? won - lost : 0;
}

inline std::string square_text(int square) {
    return static_cast<char>('a' + square % 9) + std::to_string(square / 9 + 1);
}
inline std::string move_text(int move) { return square_text(move & 127) + square_text(move >> 7); }

inline std::string fen(const Game& g) {
    std::string text;
    for (int rank = 9; rank >= 0; --rank) {
        int empty = 0;
        for (int file = 0; file < 9; ++file) {
            const char piece = g.at[9 * rank + file];
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
    return text + (g.is_red ? " w - - " : " b - - ") + std::to_string(g.quiet) + ' ' + std::to_string(g.number);
}

}  // namespace naive_xiangqi
