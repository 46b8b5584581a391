// The exact endgame solver of Othello: the final disc difference under best play, empty squares to the winner.
//
// Theory of operation.  From top to bottom the work per position decreases, since the positions become more numerous:
//   pv             nodes with an open window; first move in full, the others by null window
//   full           null window, kMinLargeTableEmpties and more: large transposition table, enhanced cut-offs, careful ordering
//   middle         null window, kMinTableEmpties and more: a small table that fits the cache, fastest-first ordering
//   shallow        null window, five empties and up: odd quadrants first, no table
//   last_four ...  null window: squares by name, legality by trying; last_one counts discs without making a move
// Scores are discs from the side to move.  They are fail-soft: outside the window they are bounds, and every
// score of a position with e empties is even, since the empty squares are counted too.
//
// Each score is exact for any move ordering, so an Order may be rough.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "othello/othello.hpp"
#include "search/table.hpp"
#include "search/team.hpp"
#include "stop.hpp"

namespace desdemona::othello {
namespace {

namespace endgame {

constexpr int kMaxMoves = 64;      // 33 in games, but artificial positions have more
constexpr int kNoScore = -128;       // no move tried yet
constexpr int kMinTableEmpties = 6;    // below this, move ordering and the table cost more than they save
constexpr int kMinLargeTableEmpties = 10;    // below this, the small table beats the large one: no memory access
constexpr int kMinSearchOrderEmpties = 14;  // from here on the caller's Order is used
constexpr int kMaxOrderDepth = 4;  // one ply per two empties more; deeper costs more than it saves
constexpr int kMinSplitEmpties = 15;  // from here on nodes are shared with idle threads: less is not worth the trouble
constexpr int kMinAspirationEmpties = 14;  // from here on the root is searched with windows around a guess ...
constexpr int kAspirationWindowDiscs = 3;    // ... of this many discs to both sides (odd, since scores are even)

// --- Compile-time tables ---------------------------------------------------------------------------------

struct Lines {
    std::array<std::array<Board, 4>, 64> through{};  // row, column, both diagonals; with the square
    std::array<Board, 64> near{};                    // the up to eight squares around
};

constexpr Lines make_lines() {
    constexpr int steps[4][2] = {{0, 1}, {1, 0}, {1, -1}, {1, 1}};  // row, column
    Lines lines;
    for (std::size_t square = 0; square < 64; ++square) {
        for (std::size_t axis = 0; axis < 4; ++axis) {
            for (int distance = -7; distance <= 7; ++distance) {
                const int row = static_cast<int>(square) / 8 + distance * steps[axis][0];
                const int column = static_cast<int>(square) % 8 + distance * steps[axis][1];
                if (row < 0 || row > 7 || column < 0 || column > 7) continue;
                const Board bit = Board{1} << (8 * row + column);
                lines.through[square][axis] |= bit;
                if (distance == 1 || distance == -1) lines.near[square] |= bit;
            }
        }
    }
    return lines;
}

constexpr Lines kLines = make_lines();

// A line of eight squares: bit i of `mine` is a disc of the mover, any other square but `at` the waiter's.
constexpr int line_flips(unsigned mine, int at) {
    int count = 0;
    for (const int step : {-1, 1}) {
        int square = at + step;
        while (square >= 0 && square < 8 && (mine >> square & 1) == 0) square += step;
        if (square >= 0 && square < 8) count += step * (square - at) - 1;
    }
    return count;
}

struct LastFlips {
    std::uint8_t count[8][256]{};
};

constexpr LastFlips make_last_flips() {
    LastFlips flips;
    for (int at = 0; at < 8; ++at) {
        for (unsigned mine = 0; mine < 256; ++mine) {
            flips.count[at][mine] = static_cast<std::uint8_t>(line_flips(mine, at));
        }
    }
    return flips;
}

constexpr LastFlips kLastFlips = make_last_flips();

// The discs of one colour on an edge that can never be flipped.  An edge is a number in base three (0 empty, 1 own,
// 2 other); `ternary` spreads eight bits so that it is ternary[own] + 2 * ternary[other].
struct Edges {
    std::uint16_t ternary[256]{};
    std::uint8_t stable[6561]{};

    constexpr std::size_t index(unsigned own, unsigned other) const {
        return ternary[own] + std::size_t{2} * ternary[other];
    }
};

constexpr unsigned edge_turned(unsigned own, unsigned other, int at) {
    unsigned turned = 0;
    for (const int step : {-1, 1}) {
        unsigned run = 0;
        int square = at + step;
        while (square >= 0 && square < 8 && (other >> square & 1) != 0) {
            run |= 1u << square;
            square += step;
        }
        if (square >= 0 && square < 8 && (own >> square & 1) != 0) turned |= run;
    }
    return turned;
}

constexpr Edges make_edges() {
    Edges edges;
    for (unsigned bits = 0; bits < 256; ++bits) {
        unsigned value = 0;
        for (unsigned i = 0, power = 1; i < 8; ++i, power *= 3) value += (bits >> i & 1) * power;
        edges.ternary[bits] = static_cast<std::uint16_t>(value);
    }
    // Fullest edges first: a disc is stable if it remains so after every next disc of either side (a disc may be placed
    // here without flipping any on this edge, thanks to lines that leave the edge).
    for (int empties = 0; empties <= 8; ++empties) {
        for (unsigned discs = 0; discs < 256; ++discs) {
            if (8 - std::popcount(discs) != empties) continue;
            for (unsigned own = discs;; own = (own - 1) & discs) {
                const unsigned other = discs & ~own;
                unsigned stable = own;
                for (int at = 0; at < 8 && stable != 0; ++at) {
                    if ((discs >> at & 1) != 0) continue;
                    const unsigned bit = 1u << at;
                    const unsigned won = edge_turned(own, other, at);
                    stable &= edges.stable[edges.index(own | won | bit, other & ~won)];
                    const unsigned lost = edge_turned(other, own, at);
                    stable &= edges.stable[edges.index(own & ~lost, other | lost | bit)];
                }
                edges.stable[edges.index(own, other)] = static_cast<std::uint8_t>(stable);
                if (own == 0) break;
            }
        }
    }
    return edges;
}

constexpr Edges kEdges = make_edges();

// A quadrant is one bit of four; a parity has that bit set when the quadrant has an odd number of empty squares.
struct Quadrants {
    std::uint8_t of[64]{};
    Board odd[16]{};
};

constexpr Quadrants make_quadrants() {
    Quadrants quadrants;
    for (unsigned square = 0; square < 64; ++square) {
        const unsigned bit = 1u << ((square >> 5) * 2 + (square >> 2 & 1));
        quadrants.of[square] = static_cast<std::uint8_t>(bit);
        for (unsigned parity = 0; parity < 16; ++parity) {
            if ((parity & bit) != 0) quadrants.odd[parity] |= Board{1} << square;
        }
    }
    return quadrants;
}

constexpr Quadrants kQuadrants = make_quadrants();

inline unsigned parity_of(Board empty) {
    unsigned parity = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const Board quadrant = 0x0F0F0F0Full << (i * 4 + (i / 2) * 24);
        parity |= (static_cast<unsigned>(std::popcount(empty & quadrant)) & 1) << i;
    }
    return parity;
}

// --- Counting --------------------------------------------------------------------------------------------

// Number of discs that the owner of `mine` flips by playing the only empty square.
inline int last_flips(Board mine, int square) {
    const auto at = static_cast<std::size_t>(square);
    const auto row = static_cast<std::size_t>(square >> 3);
    const auto column = static_cast<std::size_t>(square & 7);
    constexpr Board first_column = 0x0101010101010101ull;
    const auto& lines = kLines.through[at];
    return kLastFlips.count[column][mine >> (square & 56) & 255] +
           kLastFlips.count[row][(mine >> column & first_column) * 0x0102040810204080ull >> 56] +
           kLastFlips.count[column][(mine & lines[2]) * first_column >> 56] +
           kLastFlips.count[column][(mine & lines[3]) * first_column >> 56];
}

// A subset of the stable discs of `own`: discs that it keeps until the end of the game, whatever is played.
inline Board stable_discs(Board own, Board other) {
    constexpr Board column = 0x0101010101010101ull;
    constexpr Board gather = 0x0102040810204080ull;   // column bits to one byte
    const auto byte = [](Board b) { return static_cast<unsigned>(b & 255); };
    const auto left = [](Board b) { return static_cast<unsigned>((b & column) * gather >> 56); };
    const auto scatter = [](std::uint8_t bits) {  // the inverse: bit i of byte i, carried to its top
        return (((bits * column & 0x8040201008040201ull) + 0x00406070787C7E7Full) >> 7) & column;
    };

    // Step 1. The four edges separately.
    Board stable = kEdges.stable[kEdges.index(byte(own), byte(other))];
    stable |= Board{kEdges.stable[kEdges.index(byte(own >> 56), byte(other >> 56))]} << 56;
    stable |= scatter(kEdges.stable[kEdges.index(left(own), left(other))]);
    stable |= scatter(kEdges.stable[kEdges.index(left(own >> 7), left(other >> 7))]) << 7;

    // Step 2. Lines without an empty square, where nothing can be flipped any more.
    Board open[4] = {0, 0, 0, 0};
    for (Board empty = ~(own | other); empty != 0; empty &= empty - 1) {
        const auto& lines = kLines.through[static_cast<std::size_t>(std::countr_zero(empty))];
        for (std::size_t axis = 0; axis < 4; ++axis) open[axis] |= lines[axis];
    }

    // Step 3. Inside the board a disc is stable if each of its four lines is full or leads to a stable neighbour.
    const Board inner = own & 0x007E7E7E7E7E7E00ull;
    stable |= inner & ~(open[0] | open[1] | open[2] | open[3]);
    if (stable == 0) return 0;
    for (Board found = ~Board{0}; found != stable;) {
        found = stable;
        stable |= inner & (found << 1 | found >> 1 | ~open[0]) & (found << 8 | found >> 8 | ~open[1]) &
                  (found << 7 | found >> 7 | ~open[2]) & (found << 9 | found >> 9 | ~open[3]);
    }
    return stable;
}

// Weighted number of moves: corners count twice.
inline int weighted_mobility(Board moves) { return std::popcount(moves) + std::popcount(moves & kCorners); }

// Potential mobility: empty squares beside discs that may one day be flipped from there.
inline int potential_mobility(Board prey, Board empty) {
    const Board inner = prey & kInnerColumns;
    const Board beside = inner << 1 | inner >> 1 | inner << 7 | inner >> 7 | inner << 9 | inner >> 9 |
                         prey << 8 | prey >> 8;
    return weighted_mobility(beside & empty);
}

// --- Transposition table -----------------------------------------------------------------------------------

// The content of a table entry.
struct TTData {
    std::int8_t lower;
    std::int8_t upper;
    std::uint8_t move[2];  // the best ones, the latest first
    std::uint8_t empties;
    std::uint8_t age;  // 0: never written
    std::uint8_t unused[2];
};
static_assert(sizeof(TTData) == 8);

class Table : public Clusters {
   public:
    explicit Table(std::size_t megabytes) : Clusters(megabytes, kHugePage) {
        if (!is_allocated()) throw std::bad_alloc{};
    }

    void new_search() noexcept { age_ = age_ == 255 ? 1 : age_ + 1; }

    // Age 0: not there.
    static TTData find(const Cluster& cluster, std::uint64_t key) noexcept {
        for (const Entry& entry : cluster.entries) {
            if (const std::uint64_t word = entry.read(key); word != 0) return std::bit_cast<TTData>(word);
        }
        return {};
    }

    void store(Cluster& cluster, std::uint64_t key, int empties, int lower, int upper, int move) noexcept {
        Entry* victim = nullptr;
        int least = 1 << 20;
        for (Entry& entry : cluster.entries) {
            if (const std::uint64_t word = entry.read(key); word != 0) {
                auto own = std::bit_cast<TTData>(word);
                // Both bounds hold, whenever they were found.
                if (lower > own.lower) own.lower = static_cast<std::int8_t>(lower);
                if (upper < own.upper) own.upper = static_cast<std::int8_t>(upper);
                if (move != kPass && move != own.move[0]) {
                    own.move[1] = own.move[0];
                    own.move[0] = static_cast<std::uint8_t>(move);
                }
                own.age = age_;
                entry.write(key, std::bit_cast<std::uint64_t>(own));
                return;
            }
            const auto other = std::bit_cast<TTData>(entry.data.load(std::memory_order_relaxed));
            const int priority = other.age == 0 ? -1 : other.empties + (other.age == age_ ? 128 : 0);
            if (priority < least) {
                least = priority;
                victim = &entry;
            }
        }
        const TTData made{static_cast<std::int8_t>(lower), static_cast<std::int8_t>(upper),
                          {static_cast<std::uint8_t>(move), kPass}, static_cast<std::uint8_t>(empties), age_, {}};
        victim->write(key, std::bit_cast<std::uint64_t>(made));
    }

   private:
    std::uint8_t age_ = 1;
};

// The same for positions near the end, which are the most numerous: small enough for a core's own cache; always
// replaced.
struct NearEntry {
    std::uint64_t key;
    std::int8_t lower;
    std::int8_t upper;
    std::uint8_t move;
    std::uint8_t unused[5];
};

class NearTable {
   public:
    NearTable() : entries_(static_cast<NearEntry*>(std::calloc(kCount, sizeof(NearEntry)))) {
        if (entries_ == nullptr) throw std::bad_alloc{};
    }
    ~NearTable() { std::free(entries_); }
    NearTable(const NearTable&) = delete;
    NearTable& operator=(const NearTable&) = delete;
    // The entry of a position, which may hold another. (A fresh table has key 0, which is as unlikely as any other and
    // has never occurred.)
    NearEntry& at(std::uint64_t key) noexcept { return entries_[key & (kCount - 1)]; }

    static void store(NearEntry& entry, std::uint64_t key, int alpha, int score, int move) noexcept {
        if (entry.key != key) {
            entry.key = key;
            entry.lower = -64;
            entry.upper = 64;
        }
        (score > alpha ? entry.lower : entry.upper) = static_cast<std::int8_t>(score);
        entry.move = static_cast<std::uint8_t>(move);
    }

   private:
    static constexpr std::size_t kCount = std::size_t{1} << 15;  // 512 KiB
    NearEntry* entries_;
};

}  // namespace endgame

// An Order estimates a position for the side to move from a search of some plies; an eighth of a move (see
// Weight::mobility) is a good unit.
template <class Order>
class EndgameSolver {
   public:
    EndgameSolver(std::size_t table_megabytes, Order order)
        : own_table_(std::make_unique<endgame::Table>(table_megabytes)), table_(*own_table_), order_(order) {}

    // A solver for another thread of a team; it uses the table of the leading thread's solver, which must outlive it.
    EndgameSolver(EndgameSolver& leader, Team& team)
        : table_(leader.table_), order_(leader.order_) {
        member_.set_team(&team);
    }

    // From now on the team's threads help each other; null: they no longer do.
    void set_team(Team* team) { member_.set_team(team); }

    // For all threads of the team but the leading one: works until the team's search ends.
    void help(const StopFlag& stop) {
        stop_ = &stop;
        member_.help([this](const SplitPoint& point, int i) { return search_move(point, i); });
    }

    // Final disc difference for the side to move, -64..64; outside (alpha, beta) a bound on it (fail-soft).
    // Throws Unwind when it must stop; the table stays consistent.
    int solve(Position p, int alpha, int beta, const StopFlag& stop) {
        int move = kPass;
        return search_root(p, alpha, beta, stop, move);
    }

    // The best move (kPass when forced, or when the game is over); its score in `score`.
    int best_move(Position p, const StopFlag& stop, int& score) {
        int move = kPass;
        score = search_root(p, -64, 64, stop, move);
        return move;
    }

    // Positions visited since this solver was created.
    std::uint64_t nodes() const noexcept { return nodes_; }

   private:
    struct Move {
        Position after;
        Board replies;  // legal moves there
        std::uint64_t key;
        int square;
        int score;
    };

    struct MoveList {
        Move move[endgame::kMaxMoves];
        int count = 0;

        // Moves the best of the moves from `first` on to that index.
        Move& pick(int first) {
            int best = first;
            for (int i = first + 1; i < count; ++i) {
                if (move[i].score > move[best].score) best = i;
            }
            const Move chosen = move[best];
            move[best] = move[first];
            move[first] = chosen;
            return move[first];
        }
    };

    std::unique_ptr<endgame::Table> own_table_;  // null: another solver's
    endgame::Table& table_;
    endgame::NearTable near_;
    Order order_;
    TeamMember member_;
    std::uint64_t nodes_ = 0;
    std::uint64_t checked_ = 0;  // nodes_ at the last check of the flag
    const StopFlag* stop_ = nullptr;

    int search_root(Position p, int alpha, int beta, const StopFlag& stop, int& move) {
        stop_ = &stop;
        table_.new_search();
        const Board empty = ~(p.mover | p.waiter);
        const int empties = std::popcount(empty);
        const unsigned parity = endgame::parity_of(empty);
        if (alpha < -64) alpha = -64;
        if (beta > 64) beta = 64;
        if (alpha >= beta) return alpha;  // the window lies outside -64 .. 64
        if (empties < endgame::kMinAspirationEmpties) return pv(p, alpha, beta, empties, parity, move);

        // Aspiration window around a guess, moved until the score lies inside: even several small searches are cheaper
        // than an open one, whose first variation is searched almost without bounds.
        int low = alpha;  // the score is known not to lie below, or irrelevant there
        int high = beta;
        for (int guess = 0;;) {
            guess = std::clamp(guess, low, high);
            const int from = std::max(guess - endgame::kAspirationWindowDiscs, low - (low != alpha));
            const int to = std::min(guess + endgame::kAspirationWindowDiscs, high + (high != beta));
            int found = kPass;
            const int score = pv(p, from, to, empties, parity, found);
            if (score >= to || move == kPass) move = found;
            if (score >= to) {
                if (score >= high) return score;
                low = score;
                guess = score + 2;
            } else if (score <= from) {
                if (score <= low) return score;
                high = score;
                guess = score - 2;
            } else {
                move = found;
                return score;
            }
        }
    }

    void check_stop() {
        if (nodes_ - checked_ < StopFlag::kNodesPerCheck) return;
        const std::uint64_t news = nodes_ - checked_;
        checked_ = nodes_;
        if (stop_->spend(news)) throw Unwind{};
        if (member_.is_cancelled()) throw Cancelled{};
    }

    // --- The last four empties ---------------------------------------------------------------------------

    int last_one(Board mover, int alpha, int x) {
        ++nodes_;
        const int discs = std::popcount(mover);
        const int flips = endgame::last_flips(mover, x);
        if (flips != 0) return 2 * (discs + flips) - 62;
        // The side ahead has the empty square unless the waiter can take it.
        const int stays = 2 * discs - (discs > 31 ? 62 : 64);
        if (stays <= alpha) return stays;
        const int lost = endgame::last_flips(~mover, x);
        return lost != 0 ? 2 * (discs - lost) - 64 : stays;
    }

    int last_two(Position p, int alpha, int x, int y) {
        using endgame::kLines;
        ++nodes_;
        int best = endgame::kNoScore;
        if ((kLines.near[x] & p.waiter) != 0) {
            if (const Board flipped = flips_mask(p, x); flipped != 0) {
                best = -last_one(p.waiter & ~flipped, -alpha - 1, y);
                if (best > alpha) return best;
            }
        }
        if ((kLines.near[y] & p.waiter) != 0) {
            if (const Board flipped = flips_mask(p, y); flipped != 0) {
                const int score = -last_one(p.waiter & ~flipped, -alpha - 1, x);
                if (score > best) best = score;
            }
        }
        if (best != endgame::kNoScore) return best;

        // The mover passes: the same for the other side, with the sign reversed.
        best = -endgame::kNoScore;
        if (const Board flipped = flips_mask({p.waiter, p.mover}, x); flipped != 0) {
            best = last_one(p.mover & ~flipped, alpha, y);
            if (best <= alpha) return best;
        }
        if (const Board flipped = flips_mask({p.waiter, p.mover}, y); flipped != 0) {
            const int score = last_one(p.mover & ~flipped, alpha, x);
            if (score < best) best = score;
        }
        return best != -endgame::kNoScore ? best : margin_discs(p);
    }

    static Position moved(Position p, Board flipped, int x) {
        return {p.waiter & ~flipped, p.mover | flipped | Board{1} << x};
    }

    int last_three(Position p, int alpha, int x, int y, int z) {
        using endgame::kLines;
        ++nodes_;
        int best = endgame::kNoScore;
        if ((kLines.near[x] & p.waiter) != 0) {
            if (const Board flipped = flips_mask(p, x); flipped != 0) {
                best = -last_two(moved(p, flipped, x), -alpha - 1, y, z);
                if (best > alpha) return best;
            }
        }
        if ((kLines.near[y] & p.waiter) != 0) {
            if (const Board flipped = flips_mask(p, y); flipped != 0) {
                const int score = -last_two(moved(p, flipped, y), -alpha - 1, x, z);
                if (score > alpha) return score;
                if (score > best) best = score;
            }
        }
        if ((kLines.near[z] & p.waiter) != 0) {
            if (const Board flipped = flips_mask(p, z); flipped != 0) {
                const int score = -last_two(moved(p, flipped, z), -alpha - 1, x, y);
                if (score > best) best = score;
            }
        }
        if (best != endgame::kNoScore) return best;
        if (moves_mask(passed(p)) == 0) return margin_discs(p);
        return -last_three(passed(p), -alpha - 1, x, y, z);
    }

    int last_four(Position p, int alpha, unsigned parity) {
        using endgame::kLines;
        using endgame::kQuadrants;
        ++nodes_;
        if (int bound; cut_by_stability(p, alpha, 4, bound)) return bound;
        // Squares alone in their quadrant come first (parity); the opponent must then open the others.
        const Board empty = ~(p.mover | p.waiter);
        Board odd = empty & kQuadrants.odd[parity];
        Board even = empty & ~odd;
        int square[4];
        int count = 0;
        for (; odd != 0; odd &= odd - 1) square[count++] = std::countr_zero(odd);
        for (; even != 0; even &= even - 1) square[count++] = std::countr_zero(even);
        struct Three {
            int x, y, z;
        };
        const auto lone_first = [](int a, int b, int c) {  // the one alone in its quadrant
            if (kQuadrants.of[a] == kQuadrants.of[b]) return Three{c, a, b};
            if (kQuadrants.of[a] == kQuadrants.of[c]) return Three{b, a, c};
            return Three{a, b, c};
        };
        int best = endgame::kNoScore;
        for (int i = 0; i < 4; ++i) {
            const int x = square[i];
            if ((kLines.near[x] & p.waiter) == 0) continue;
            const Board flipped = flips_mask(p, x);
            if (flipped == 0) continue;
            const auto rest = lone_first(square[i == 0], square[i < 2 ? 2 : 1], square[i < 3 ? 3 : 2]);
            const int score = -last_three(moved(p, flipped, x), -alpha - 1, rest.x, rest.y, rest.z);
            if (score > alpha) return score;
            if (score > best) best = score;
        }
        if (best != endgame::kNoScore) return best;
        if (moves_mask(passed(p)) == 0) return margin_discs(p);
        return -last_four(passed(p), -alpha - 1, parity);
    }

    // --- Null window ---------------------------------------------------------------------------------------

    // Stability cut-off: whether the waiter's stable discs alone keep the mover's score at or below alpha; `bound` is
    // the resulting limit.  Worth trying only where alpha is high for the number of empties.
    static bool cut_by_stability(Position p, int alpha, int empties, int& bound) {
        if (alpha < kStabilityAlpha[empties]) return false;
        bound = 64 - 2 * std::popcount(endgame::stable_discs(p.waiter, p.mover));
        return bound <= alpha;
    }

    static constexpr std::array<std::int8_t, 65> kStabilityAlpha = [] {
        std::array<std::int8_t, 65> least{};
        for (int empties = 0; empties < 65; ++empties) {
            const int value = empties < 4 ? 99 : 2 * empties - 4;
            least[static_cast<std::size_t>(empties)] = static_cast<std::int8_t>(value > 64 ? 64 : value);
        }
        return least;
    }();

    int shallow(Position p, Board moves, int alpha, int empties, unsigned parity) {
        using endgame::kQuadrants;
        ++nodes_;
        if (int bound; cut_by_stability(p, alpha, empties, bound)) return bound;
        if (moves == 0) {
            const Board theirs = moves_mask(passed(p));
            if (theirs == 0) return margin_discs(p);
            return -shallow(passed(p), theirs, -alpha - 1, empties, parity);
        }
        int best = endgame::kNoScore;
        Board now = moves & kQuadrants.odd[parity];
        Board later = moves & ~now;
        if (now == 0) {
            now = later;
            later = 0;
        }
        for (;;) {
            const int x = std::countr_zero(now);
            now &= now - 1;
            const Position after = moved(p, flips_mask(p, x), x);
            const unsigned rest = parity ^ kQuadrants.of[x];
            const int score = empties == 5 ? -last_four(after, -alpha - 1, rest)
                                           : -shallow(after, moves_mask(after), -alpha - 1, empties - 1, rest);
            if (score > alpha) return score;
            if (score > best) best = score;
            if (now == 0) {
                if (later == 0) return best;
                now = later;
                later = 0;
            }
        }
    }

    int middle(Position p, Board moves, std::uint64_t key, int alpha, int empties, unsigned parity) {
        using endgame::kQuadrants;
        // Step 1. Stability cut-off.
        ++nodes_;
        if (int bound; cut_by_stability(p, alpha, empties, bound)) return bound;

        // Step 2. Small table.
        endgame::NearEntry& entry = near_.at(key);
        int first = kPass;
        if (entry.key == key) {
            if (entry.lower > alpha) return entry.lower;
            if (entry.upper <= alpha) return entry.upper;
            first = entry.move;
        }

        // Step 3. A pass, or the end of the game.
        if (moves == 0) {
            const Board theirs = moves_mask(passed(p));
            if (theirs == 0) return margin_discs(p);
            return -middle(passed(p), theirs, hash(passed(p)), -alpha - 1, empties, parity);
        }

        // Step 4. Fastest-first ordering.
        MoveList list;
        for (; moves != 0; moves &= moves - 1) {
            const int x = std::countr_zero(moves);
            const Board flipped = flips_mask(p, x);
            if (flipped == p.waiter) return 64;
            Move& move = list.move[list.count++];
            move.after = moved(p, flipped, x);
            move.square = x;
            move.replies = moves_mask(move.after);
            if (empties > endgame::kMinTableEmpties) {
                move.key = hash(move.after);
                __builtin_prefetch(&near_.at(move.key));
            }
            if (x == first) {
                move.score = 1000;
                continue;
            }
            move.score = -kWeight.mobility * endgame::weighted_mobility(move.replies);
            if ((kQuadrants.odd[parity] >> x & 1) != 0) move.score += kWeight.parity;
        }

        // Step 5. Search.
        int best = endgame::kNoScore;
        int best_square = kPass;
        for (int i = 0; i < list.count; ++i) {
            const Move& move = list.pick(i);
            const unsigned rest = parity ^ kQuadrants.of[move.square];
            const int score = -(empties > endgame::kMinTableEmpties
                                    ? middle(move.after, move.replies, move.key, -alpha - 1, empties - 1, rest)
                                    : shallow(move.after, move.replies, -alpha - 1, empties - 1, rest));
            if (score > best) {
                best = score;
                best_square = move.square;
                if (score > alpha) break;
            }
        }
        endgame::NearTable::store(entry, key, alpha, best, best_square);
        return best;
    }

    // Null window for any number of empties.
    int null_window(Position p, int alpha, int empties, unsigned parity) {
        if (empties >= endgame::kMinLargeTableEmpties) return full(p, moves_mask(p), hash(p), alpha, empties, parity);
        if (empties >= endgame::kMinTableEmpties) return middle(p, moves_mask(p), hash(p), alpha, empties, parity);
        if (empties >= 5) return shallow(p, moves_mask(p), alpha, empties, parity);
        if (empties == 4) return last_four(p, alpha, parity);
        Board empty = ~(p.mover | p.waiter);
        const int x = std::countr_zero(empty);
        if (empties == 0) return margin_discs(p);
        if (empties == 1) return last_one(p.mover, alpha, x);
        empty &= empty - 1;
        const int y = std::countr_zero(empty);
        if (empties == 2) return last_two(p, alpha, x, y);
        empty &= empty - 1;
        return last_three(p, alpha, x, y, std::countr_zero(empty));
    }

    int full(Position p, Board moves, std::uint64_t key, int alpha, int empties, unsigned parity) {
        using endgame::kQuadrants;
        // Step 1. Check the stop flag.
        ++nodes_;
        check_stop();

        // Step 2. Stability cut-off.
        if (int bound; cut_by_stability(p, alpha, empties, bound)) return bound;

        // Step 3. Transposition table.
        endgame::Table::Cluster& cluster = table_.cluster(key);
        const endgame::TTData tt_data = endgame::Table::find(cluster, key);
        int first = kPass, second = kPass;
        if (tt_data.age != 0) {
            if (tt_data.lower > alpha) return tt_data.lower;
            if (tt_data.upper <= alpha) return tt_data.upper;
            first = tt_data.move[0];
            second = tt_data.move[1];
        }

        // Step 4. A pass, or the end of the game.
        if (moves == 0) {
            const Board theirs = moves_mask(passed(p));
            if (theirs == 0) return margin_discs(p);
            return -full(passed(p), theirs, hash(passed(p)), -alpha - 1, empties, parity);
        }

        // Step 5. Moves; one that leaves the waiter no disc is a wipe-out and wins all.
        MoveList list;
        if (list_moves(p, moves, list, empties > endgame::kMinLargeTableEmpties)) return 64;

        // Step 6. Enhanced transposition cut-off: a child in the table may settle this node, or itself.
        int best = endgame::kNoScore;
        int best_square = kPass;
        if (empties > endgame::kMinLargeTableEmpties) {
            for (int i = 0; i < list.count; ++i) {
                const Move& move = list.move[i];
                const std::uint64_t child = move.key;
                const endgame::TTData below = endgame::Table::find(table_.cluster(child), child);
                if (below.age == 0) continue;
                if (-below.upper > alpha) {
                    table_.store(cluster, key, empties, -below.upper, 64, move.square);
                    return -below.upper;
                }
                if (-below.lower <= alpha) {
                    if (-below.lower > best) {
                        best = -below.lower;
                        best_square = move.square;
                    }
                    list.move[i--] = list.move[--list.count];
                }
            }
        }

        // Step 7. Move ordering: likely refutations first, cheap ones before expensive ones.
        if (list.count > 1) rate(p, list, empties, parity, first, second);

        // Step 8. Search: alone, or once the first move is known not to cut, with others.
        for (int i = 0; i < list.count; ++i) {
            if (i > 0 && list.count - i > 1 && empties >= endgame::kMinSplitEmpties && member_.has_help()) {
                search_together(list, i, alpha, empties, parity, best, best_square);
                break;
            }
            const Move& move = list.pick(i);
            const unsigned rest = parity ^ kQuadrants.of[move.square];
            const int score =
                -(empties > endgame::kMinLargeTableEmpties
                      ? full(move.after, move.replies, move.key, -alpha - 1, empties - 1, rest)
                      : middle(move.after, move.replies, move.key, -alpha - 1, empties - 1, rest));
            if (score > best) {
                best = score;
                best_square = move.square;
                if (score > alpha) break;
            }
        }
        if (best > alpha) {
            table_.store(cluster, key, empties, best, 64, best_square);
        } else {
            table_.store(cluster, key, empties, -64, best, best_square);
        }
        return best;
    }

    // --- Several threads -----------------------------------------------------------------------------------

    struct Split : SplitPoint {
        using SplitPoint::SplitPoint;
        const MoveList* list = nullptr;  // in the order of search
        int empties = 0;
        unsigned parity = 0;
    };

    // Searches the moves from `first` on with whatever threads are idle.
    void search_together(MoveList& list, int first, int alpha, int empties, unsigned parity, int& best,
                         int& best_square) {
        for (int i = first; i < list.count; ++i) list.pick(i);
        Split split(first, list.count, alpha);
        split.list = &list;
        split.empties = empties;
        split.parity = parity;
        member_.share(split, [this](const SplitPoint& point, int i) { return search_move(point, i); });
        int score;
        int index;
        if (split.best(score, index) && score > best) {
            best = score;
            best_square = list.move[index].square;
        }
    }

    int search_move(const SplitPoint& point, int i) {
        const auto& split = static_cast<const Split&>(point);
        const Move& move = split.list->move[i];
        const unsigned rest = split.parity ^ endgame::kQuadrants.of[move.square];
        return -null_window(move.after, -split.alpha - 1, split.empties - 1, rest);
    }

    // Lists the moves; true as soon as one flips the waiter's last disc, which is then the first in the list.
    bool list_moves(Position p, Board moves, MoveList& list, bool remember) {
        for (; moves != 0; moves &= moves - 1) {
            const int x = std::countr_zero(moves);
            const Board flipped = flips_mask(p, x);
            if (flipped == p.waiter) {
                list.move[0].square = x;
                return true;
            }
            const Position after = moved(p, flipped, x);
            const std::uint64_t key = hash(after);
            if (remember) table_.prefetch(key);
            list.move[list.count++] = {after, moves_mask(after), key, x, 0};
        }
        return false;
    }

    void rate(Position p, MoveList& list, int empties, unsigned parity, int first, int second) {
        using endgame::kQuadrants;
        const Board empty = ~(p.mover | p.waiter);
        for (int i = 0; i < list.count; ++i) {
            Move& move = list.move[i];
            if (move.square == first) {
                move.score = 1 << 28;
                continue;
            }
            if (move.square == second) {
                move.score = 1 << 27;
                continue;
            }
            const Board bit = Board{1} << move.square;
            int score = -kWeight.mobility * endgame::weighted_mobility(move.replies);
            if ((bit & kQuadrants.odd[parity]) != 0) score += kWeight.parity;
            score -= kWeight.potential * endgame::potential_mobility(move.after.waiter, empty & ~bit);
            if (empties >= endgame::kMinSearchOrderEmpties) {
                if (stop_->is_set()) throw Unwind{};  // an Order may take a millisecond, uncounted
                const int depth = std::min((empties - endgame::kMinSearchOrderEmpties) / 2, endgame::kMaxOrderDepth);
                score -= order_(move.after, depth);
            }
            move.score = score;
        }
    }

    struct Weight {
        int mobility, parity, potential;
    };
    static constexpr Weight kWeight{16, 8, 4};

    // --- Open window ---------------------------------------------------------------------------------------

    int pv(Position p, int alpha, int beta, int empties, unsigned parity, int& best_square) {
        using endgame::kQuadrants;
        ++nodes_;
        check_stop();
        best_square = kPass;
        int ignored;
        const Board moves = moves_mask(p);
        if (moves == 0) {
            if (moves_mask(passed(p)) == 0) return margin_discs(p);
            return -pv(passed(p), -beta, -alpha, empties, parity, ignored);
        }
        const std::uint64_t key = hash(p);
        endgame::Table::Cluster& cluster = table_.cluster(key);
        int first = kPass, second = kPass;
        if (const endgame::TTData tt_data = endgame::Table::find(cluster, key); tt_data.age != 0) {
            first = tt_data.move[0];
            second = tt_data.move[1];
        }
        MoveList list;
        if (list_moves(p, moves, list, empties > endgame::kMinLargeTableEmpties)) {
            best_square = list.move[0].square;
            return 64;
        }
        rate(p, list, empties, parity, first, second);
        int best = endgame::kNoScore;
        int low = alpha;
        for (int i = 0; i < list.count; ++i) {
            const Move& move = list.pick(i);
            const unsigned rest = parity ^ kQuadrants.of[move.square];
            int score;
            if (i == 0) {
                score = -pv(move.after, -beta, -low, empties - 1, rest, ignored);
            } else {
                score = -null_window(move.after, -low - 1, empties - 1, rest);
                if (score > low && score < beta) {
                    score = -pv(move.after, -beta, -score + 1, empties - 1, rest, ignored);
                }
            }
            if (score > best) {
                best = score;
                best_square = move.square;
            }
            if (best > low) low = best;
            if (low >= beta) break;
        }
        if (empties >= endgame::kMinLargeTableEmpties) {
            const int lower = best > alpha ? best : -64;
            const int upper = best < beta ? best : 64;
            table_.store(cluster, key, empties, lower, upper, best_square);
        }
        return best;
    }
};

}  // namespace
}  // namespace desdemona::othello
