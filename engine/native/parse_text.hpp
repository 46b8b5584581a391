// Helpers of the position parsers (chess_parse.cpp, xiangqi_parse.cpp); not for units.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace desdemona {

// A text that is not a position; the message says why.
using BadText = std::invalid_argument;

// Untrusted text for an error message: short, and printable.
inline std::string quoted(std::string_view text) {
    std::string shown = "'";
    for (const char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
    return shown + (text.size() > 40 ? "...'" : "'");
}

// A number of at most `digits` digits; `what` names it in the message.
inline int read_number(std::string_view text, std::size_t digits, const char* what) {
    int number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9' || text.size() > digits) throw BadText(quoted(text) + " is no " + what);
        number = 10 * number + (c - '0');
    }
    return number;
}

using Words = std::vector<std::string_view>;

inline Words words(std::string_view text) {
    Words found;
    std::size_t end = 0;
    for (;;) {
        const std::size_t begin = text.find_first_not_of(' ', end);
        if (begin == std::string_view::npos) return found;
        end = std::min(text.find(' ', begin), text.size());
        found.push_back(text.substr(begin, end - begin));
    }
}

// The words of a position's text: its FEN, the game's moves since then, and the moves of a searched line.
struct GameText {
    Words fen, moves, line;

    // `start` is the FEN that `startpos` stands for.
    GameText(std::string_view text, std::string_view start) {
        Words* part = &fen;
        for (const std::string_view word : words(text)) {
            if (word == "line" && part != &line) {
                part = &line;
            } else if (word == "moves" && part == &fen) {
                part = &moves;
            } else if (word == "startpos" && part == &fen && fen.empty()) {
                fen = words(start);
            } else {
                part->push_back(word);
            }
        }
    }
};

}  // namespace desdemona
