// The rules of xiangqi on bitboards of 90 squares, with legal move generation; they must equal engine/games/xiangqi.py.
//
// Theory of operation.  The board is two words of five ranks each, plus the occupancy of every rank and file as a small
// number.  That number and a square's index on the line look up the targets of a rook and the captures of a cannon; the
// neighbours of a square, read from the same numbers, look up the targets of a horse.
//
// Move generation lists strictly legal moves only.  Out of check a move can expose its own general only if it leaves a
// line that it keeps closed, unblocks a horse or becomes a cannon's screen: `Danger` marks these squares, so nearly all
// moves need no further check.
#pragma once

#include <bit>
#include <cstdint>

#include "game.hpp"
#include "xiangqi/xiangqi_position.hpp"

namespace desdemona::xiangqi {
namespace {

constexpr int kFiles = 9;
constexpr int kRanks = 10;
constexpr int kHalf = 45;
constexpr std::uint64_t kHalfMask = (std::uint64_t{1} << kHalf) - 1;

constexpr int rank_of(int square) { return square / kFiles; }
constexpr int file_of(int square) { return square % kFiles; }

// A set of squares: half[0] holds ranks 0 to 4, half[1] the others.
struct alignas(16) Bits {
    std::uint64_t half[2];

    constexpr bool any() const { return (half[0] | half[1]) != 0; }
    constexpr bool has(int square) const {
        return square < kHalf ? (half[0] >> square & 1) != 0 : (half[1] >> (square - kHalf) & 1) != 0;
    }
    constexpr int count() const { return std::popcount(half[0]) + std::popcount(half[1]); }
    constexpr int first() const {  // requires at least one
        return half[0] != 0 ? std::countr_zero(half[0]) : kHalf + std::countr_zero(half[1]);
    }
    constexpr void drop_first() {
        if (half[0] != 0) {
            half[0] &= half[0] - 1;
        } else {
            half[1] &= half[1] - 1;
        }
    }
    // Calls with each square.  A separate loop for each half is much faster than `first` in a single loop.
    template <class Call>
    constexpr void each(const Call& call) const {
        for (std::uint64_t rest = half[0]; rest != 0; rest &= rest - 1) call(std::countr_zero(rest));
        for (std::uint64_t rest = half[1]; rest != 0; rest &= rest - 1) call(kHalf + std::countr_zero(rest));
    }

    friend constexpr Bits operator&(Bits a, Bits b) { return {{a.half[0] & b.half[0], a.half[1] & b.half[1]}}; }
    friend constexpr Bits operator|(Bits a, Bits b) { return {{a.half[0] | b.half[0], a.half[1] | b.half[1]}}; }
    friend constexpr Bits operator^(Bits a, Bits b) { return {{a.half[0] ^ b.half[0], a.half[1] ^ b.half[1]}}; }
    friend constexpr Bits operator~(Bits a) { return {{~a.half[0] & kHalfMask, ~a.half[1] & kHalfMask}}; }
    constexpr Bits& operator&=(Bits b) { return *this = *this & b; }
    constexpr Bits& operator|=(Bits b) { return *this = *this | b; }
    constexpr Bits& operator^=(Bits b) { return *this = *this ^ b; }
};

constexpr Bits kNoSquares{};
constexpr Bits kAllSquares{{kHalfMask, kHalfMask}};

constexpr Bits bit_of(int square) {
    return square < kHalf ? Bits{{std::uint64_t{1} << square, 0}} : Bits{{0, std::uint64_t{1} << (square - kHalf)}};
}

// --- Tables ------------------------------------------------------------------------------------------------------

// The occupancy of a line of `length` squares is a number; from one square of it, with that occupancy:
struct Line {
    std::uint16_t reach;  // empty squares up to and including the first pieces
    std::uint16_t jump;   // the pieces behind the first ones
};

constexpr Line line_from(unsigned occupied, int place, int length) {
    const unsigned all = (1u << length) - 1;
    const unsigned above = occupied & (all & ~((2u << place) - 1));
    const unsigned below = occupied & ((1u << place) - 1);
    const unsigned up = above & (0u - above);       // the first piece upwards
    const unsigned beyond_up = above ^ up;
    const unsigned down = std::bit_floor(below);
    const unsigned beyond_down = below ^ down;
    unsigned reach = (up == 0 ? all : 2 * up - 1) & ~((2u << place) - 1);
    reach |= ((1u << place) - 1) & ~(down == 0 ? 0u : down - 1);
    const unsigned jump = (beyond_up & (0u - beyond_up)) | std::bit_floor(beyond_down);
    return {static_cast<std::uint16_t>(reach), static_cast<std::uint16_t>(jump)};
}

template <int kLength>
struct LineTable {
    Line at[kLength][1 << kLength];
    constexpr LineTable() : at() {
        for (int place = 0; place < kLength; ++place) {
            for (unsigned i = 0; i < 1u << kLength; ++i) at[place][i] = line_from(i, place, kLength);
        }
    }
};

constexpr LineTable<kFiles> kRankLines;
constexpr LineTable<kRanks> kFileLines;

// The lines of a square, and everything else that depends on the square alone.
struct SquareTables {
    std::uint8_t rank[kSquares]{};
    std::uint8_t file[kSquares]{};
    Bits bit[kSquares]{};
    Bits lines[kSquares]{};      // its rank and its file
    Bits exposing[kSquares]{};   // a general's lines, and the legs of the horses that might attack it
    Bits horse_zone[kSquares]{}; // squares from which a horse attacks it, if no leg is blocked
    Bits soldier[2][kSquares]{};     // targets of a soldier of that colour
    Bits soldier_to[2][kSquares]{};  // origins of a soldier of that colour
    Bits advisor[kSquares]{};
    Bits general[kSquares]{};
    std::uint8_t elephant_count[kSquares]{};
    std::uint8_t elephant[kSquares][4]{};  // targets; the eye is half-way
    std::uint64_t spread[32]{};  // five bits of a file, as they stand in a half
    // Indexed by the blocked legs: left 1, below 2, right 4, above 8.
    Bits horse[kSquares][16]{};
    // Origins of attacking horses, indexed by the blocking diagonal neighbours: below left 1, above left 2, below right
    // 4, above right 8.
    Bits horse_to[kSquares][16]{};

    constexpr SquareTables() {
        for (int i = 0; i < 32; ++i) {
            for (int b = 0; b < 5; ++b) spread[i] |= static_cast<std::uint64_t>(i >> b & 1) << (kFiles * b);
        }
        for (int s = 0; s < kSquares; ++s) fill(s);
    }

   private:
    static constexpr bool is_on(int f, int r) { return f >= 0 && f < kFiles && r >= 0 && r < kRanks; }
    static constexpr int at(int f, int r) { return kFiles * r + f; }

    constexpr void fill(int s) {
        const int f = file_of(s), r = rank_of(s);
        rank[s] = static_cast<std::uint8_t>(r);
        file[s] = static_cast<std::uint8_t>(f);
        bit[s] = bit_of(s);
        for (int i = 0; i < kFiles; ++i) lines[s] |= bit_of(at(i, r));
        for (int i = 0; i < kRanks; ++i) lines[s] |= bit_of(at(f, i));
        exposing[s] = lines[s];
        const bool is_palace_file = f >= 3 && f <= 5;
        for (int i = 0; i < 4; ++i) {
            const int df = i & 1 ? 1 : -1, dr = i & 2 ? 1 : -1;  // diagonals
            if (is_on(f + df, r + dr)) exposing[s] |= bit_of(at(f + df, r + dr));
            const int to_r = r + dr, to_f = f + df;
            const bool in_palace = to_f >= 3 && to_f <= 5 && (to_r <= 2 || to_r >= 7) && to_r >= 0 && to_r < kRanks;
            if (is_palace_file && (r <= 2 || r >= 7) && in_palace && (to_r <= 2) == (r <= 2)) {
                if (is_advisor_point(f, r)) advisor[s] |= bit_of(at(to_f, to_r));
            }
            if (is_elephant_point(f, r) && is_on(f + 2 * df, r + 2 * dr) &&
                (r <= 4) == (r + 2 * dr <= 4)) {
                elephant[s][elephant_count[s]++] = static_cast<std::uint8_t>(at(f + 2 * df, r + 2 * dr));
            }
        }
        constexpr int steps[4][2] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};  // in the order of the legs
        for (int i = 0; i < 4; ++i) {
            const int df = steps[i][0], dr = steps[i][1];
            const int to_f = f + df, to_r = r + dr;
            const bool in_palace = to_f >= 3 && to_f <= 5 && (to_r <= 2 || to_r >= 7) && to_r >= 0 && to_r < kRanks;
            if (is_palace_file && (r <= 2 || r >= 7) && in_palace && (to_r <= 2) == (r <= 2)) {
                general[s] |= bit_of(at(to_f, to_r));
            }
            for (int turn = -1; turn <= 1; turn += 2) {
                const int horse_f = f + 2 * df + turn * dr, horse_r = r + 2 * dr + turn * df;
                if (!is_on(horse_f, horse_r)) continue;
                for (int blocked = 0; blocked < 16; ++blocked) {
                    if ((blocked >> i & 1) == 0) horse[s][blocked] |= bit_of(at(horse_f, horse_r));
                }
                // The reverse: a horse there has its leg one step from itself, diagonal from here.
                const int leg_f = horse_f - df, leg_r = horse_r - dr;
                const int diagonal = (leg_r > r ? 1 : 0) + (leg_f > f ? 2 : 0);
                for (int blocked = 0; blocked < 16; ++blocked) {
                    if ((blocked >> diagonal & 1) == 0) horse_to[s][blocked] |= bit_of(at(horse_f, horse_r));
                }
            }
        }
        horse_zone[s] = horse_to[s][0];
        for (int colour = 0; colour < 2; ++colour) {
            const int forward = colour == 0 ? 1 : -1;
            const auto crossed = [&](int rank) { return colour == 0 ? rank >= 5 : rank <= 4; };
            if (is_on(f, r + forward)) soldier[colour][s] |= bit_of(at(f, r + forward));
            if (is_on(f, r - forward)) soldier_to[colour][s] |= bit_of(at(f, r - forward));
            for (int df = -1; df <= 1; df += 2) {
                if (crossed(r) && is_on(f + df, r)) {
                    soldier[colour][s] |= bit_of(at(f + df, r));
                    soldier_to[colour][s] |= bit_of(at(f + df, r));
                }
            }
        }
    }

    static constexpr bool is_advisor_point(int f, int r) {
        const int own = r >= 5 ? kRanks - 1 - r : r;
        return f >= 3 && f <= 5 && own <= 2 && (f + own) % 2 == 1;
    }
    static constexpr bool is_elephant_point(int f, int r) {
        const int own = r >= 5 ? kRanks - 1 - r : r;
        return (own == 2 && f % 4 == 0) || ((own == 0 || own == 4) && (f == 2 || f == 6));
    }
};

constexpr SquareTables kTables;

struct Keys {
    std::uint64_t piece[2 * kKinds][kSquares]{};
    std::uint64_t side = 0;  // for black to move

    constexpr Keys() {
        std::uint64_t state = 0x78'69'61'6E'67'71'69;
        const auto next = [&state] { return mixed(state += 0x9E3779B97F4A7C15ull); };
        for (auto& squares : piece) {
            for (std::uint64_t& key : squares) key = next();
        }
        side = next();
    }
};

constexpr Keys kKeys;

// --- State -------------------------------------------------------------------------------------------------------

// The occupancy of each rank and file.
struct Lines {
    std::uint16_t ranks[kRanks + 2];  // rank r at r + 1, so that every rank has neighbours; bit = file
    std::uint16_t files[kFiles + 1];  // bit = rank; the last is padding

    void flip(int square) {
        ranks[kTables.rank[square] + 1] ^= static_cast<std::uint16_t>(1u << kTables.file[square]);
        files[kTables.file[square]] ^= static_cast<std::uint16_t>(1u << kTables.rank[square]);
    }
};

// The board, and the rest of the state that a move changes.
struct State {
    Bits kinds[kKinds];  // of both colours
    Bits colours[2];
    Lines lines;
    std::uint8_t generals[2];
    std::uint8_t side;  // 0: red is to move
    bool check;         // of the side to move
    std::uint16_t quiet;  // plies since the last capture
    std::uint16_t ply;    // since the game began
    std::uint64_t key;    // of the board and the side to move

    Bits occupied() const { return colours[0] | colours[1]; }
    Bits pieces(int colour, Kind kind) const { return colours[colour] & kinds[kind]; }
    // For an occupied square.
    int kind_at(int square) const {
        const int h = square >= kHalf;
        const int shift = square - kHalf * h;
        int kind = 0;
        for (int k = 1; k < kKinds; ++k) kind += k * static_cast<int>(kinds[k].half[h] >> shift & 1);
        return kind;
    }
};

inline Bits on_rank(int rank, unsigned bits) {
    const std::uint64_t low = static_cast<std::uint64_t>(bits) << (kFiles * (rank < 5 ? rank : rank - 5));
    return rank < 5 ? Bits{{low, 0}} : Bits{{0, low}};
}

inline Bits on_file(int file, unsigned bits) {
    return {{kTables.spread[bits & 31] << file, kTables.spread[bits >> 5] << file}};
}

inline Line rank_line(const Lines& lines, int square) {
    return kRankLines.at[kTables.file[square]][lines.ranks[kTables.rank[square] + 1]];
}
inline Line file_line(const Lines& lines, int square) {
    return kFileLines.at[kTables.rank[square]][lines.files[kTables.file[square]]];
}

// Empty squares up to and including the first pieces, of either colour.
inline Bits rook_attacks(const Lines& lines, int square) {
    return on_rank(kTables.rank[square], rank_line(lines, square).reach) |
           on_file(kTables.file[square], file_line(lines, square).reach);
}

// The pieces, of either colour, behind one screen.  (Without a capture a cannon moves as a rook.)
inline Bits cannon_captures(const Lines& lines, int square) {
    return on_rank(kTables.rank[square], rank_line(lines, square).jump) |
           on_file(kTables.file[square], file_line(lines, square).jump);
}

inline Bits horse_attacks(const Lines& lines, int square) {
    const int file = kTables.file[square], rank = kTables.rank[square];
    const unsigned beside = static_cast<unsigned>(lines.ranks[rank + 1]) << 1 >> file & 5;
    const unsigned ahead = static_cast<unsigned>(lines.files[file]) << 1 >> rank & 5;
    return kTables.horse[square][beside | ahead << 1];
}

// Squares from which a horse attacks the square.
inline Bits horses_to(const Lines& lines, int square) {
    const int file = kTables.file[square], rank = kTables.rank[square];
    const unsigned below = static_cast<unsigned>(lines.ranks[rank]) << 1 >> file & 5;
    const unsigned above = static_cast<unsigned>(lines.ranks[rank + 2]) << 1 >> file & 5;
    return kTables.horse_to[square][below | above << 1];
}

inline Bits elephant_attacks(const Bits& occupied, int square) {
    Bits found = kNoSquares;
    for (int i = 0; i < kTables.elephant_count[square]; ++i) {
        const int target = kTables.elephant[square][i];
        if (!occupied.has((square + target) / 2)) found |= kTables.bit[target];
    }
    return found;
}

inline Bits advisor_attacks(int square) { return kTables.advisor[square]; }
inline Bits general_attacks(int square) { return kTables.general[square]; }
inline Bits soldier_attacks(int colour, int square) { return kTables.soldier[colour][square]; }

// The other side's pieces that attack a general's square, the facing general among them.
//
// `lines` and `gone` say how the board differs from the state: pieces of the other side on `gone` have been captured.
inline Bits attackers_of(const State& s, const Lines& lines, int us, int square, Bits gone = kNoSquares) {
    const Bits them = s.colours[1 - us] & ~gone;
    Bits found = kTables.soldier_to[1 - us][square] & s.kinds[kSoldier] & them;
    const Bits rooks = (s.kinds[kRook] | s.kinds[kGeneral]) & them;
    if (((rooks | (s.kinds[kCannon] & them)) & kTables.lines[square]).any()) {
        const Line on_its_rank = rank_line(lines, square), on_its_file = file_line(lines, square);
        const int rank = kTables.rank[square], file = kTables.file[square];
        found |= (on_rank(rank, on_its_rank.reach) | on_file(file, on_its_file.reach)) & rooks;
        found |= (on_rank(rank, on_its_rank.jump) | on_file(file, on_its_file.jump)) & s.kinds[kCannon] & them;
    }
    const Bits horses = s.kinds[kHorse] & them & kTables.horse_zone[square];
    if (horses.any()) found |= horses & horses_to(lines, square);
    return found;
}

inline bool is_check(const State& s, int us) { return attackers_of(s, s.lines, us, s.generals[us]).any(); }

// The state after a move, which must be legal (or at least leave the generals on the board).
inline State play(const State& s, int move) {
    const int from = move & 127, to = move >> 7;
    const int us = s.side, kind = s.kind_at(from);
    State after = s;
    const Bits from_bit = kTables.bit[from], to_bit = kTables.bit[to];
    after.key ^= kKeys.piece[kKinds * us + kind][from] ^ kKeys.piece[kKinds * us + kind][to] ^ kKeys.side;
    after.quiet = static_cast<std::uint16_t>(s.quiet + 1);
    after.ply = static_cast<std::uint16_t>(s.ply + 1);
    if (s.colours[1 - us].has(to)) {
        const int captured = s.kind_at(to);
        after.kinds[captured] ^= to_bit;
        after.colours[1 - us] ^= to_bit;
        after.key ^= kKeys.piece[kKinds * (1 - us) + captured][to];
        after.quiet = 0;
    } else {
        after.lines.flip(to);
    }
    after.lines.flip(from);
    after.kinds[kind] ^= from_bit | to_bit;
    after.colours[us] ^= from_bit | to_bit;
    if (kind == kGeneral) after.generals[us] = static_cast<std::uint8_t>(to);
    after.side = static_cast<std::uint8_t>(1 - us);
    after.check = is_check(after, 1 - us);
    return after;
}

// The state after a null move; the side to move must not be in check.
inline State pass(const State& s) {
    State after = s;
    after.key ^= kKeys.side;
    after.side = static_cast<std::uint8_t>(1 - s.side);
    after.quiet = static_cast<std::uint16_t>(s.quiet + 1);
    after.ply = static_cast<std::uint16_t>(s.ply + 1);
    after.check = is_check(after, after.side);
    return after;
}

// --- Moves -------------------------------------------------------------------------------------------------------

// Upper limit for all pieces of a side: rooks and cannons 17 each, horses 8, elephants 4, one advisor 4 and one 1,
// soldiers 3, the general 4.
constexpr int kMaxMoves = 128;

struct MoveList {
    int count = 0;
    std::uint16_t items[kMaxMoves];

    bool empty() const { return count == 0; }
    const std::uint16_t* begin() const { return items; }
    const std::uint16_t* end() const { return items + count; }
    void add(int from, int to) { items[count++] = static_cast<std::uint16_t>(from | to << 7); }
};

constexpr int move_of(int from, int to) { return from | to << 7; }

inline Bits between(int a, int b) {  // for two squares on one line
    const int low = a < b ? a : b, high = a < b ? b : a;
    const int step = high - low < kFiles ? 1 : kFiles;
    Bits found = kNoSquares;
    for (int s = low + step; s < high; s += step) found |= kTables.bit[s];
    return found;
}

// The leg of a horse on its way from one square to another.
inline int leg_of(int from, int to) {
    const int way = to - from;
    if (way > 2 * kFiles - 2) return from + kFiles;
    if (way < -2 * kFiles + 2) return from - kFiles;
    return way == kFiles + 2 || way == -kFiles + 2 ? from + 1 : from - 1;
}

// Squares that can expose the general of a side that is not in check.
struct Danger {
    Bits pinned = kNoSquares;     // pieces whose moves must be tested
    Bits forbidden = kNoSquares;  // empty squares where any piece would be a cannon's screen
};

inline Danger danger_of(const State& s) {
    const int us = s.side, square = s.generals[us];
    const Bits own = s.colours[us], them = s.colours[1 - us];
    Danger danger;
    const Bits cannons = s.kinds[kCannon] & them;
    const Bits rooks = (s.kinds[kRook] | s.kinds[kGeneral]) & them;
    if (((cannons | rooks) & kTables.lines[square]).any()) {
        const int rank = kTables.rank[square], file = kTables.file[square];
        // The three nearest pieces of a ray, given as numbers of squares.
        const auto look = [&](int first, int second, int third) {
            if (cannons.has(first)) danger.forbidden |= between(square, first);
            if (second < 0) return;
            const bool is_aimed_at = third >= 0 && cannons.has(third);
            if (own.has(first) && (is_aimed_at || rooks.has(second))) danger.pinned |= kTables.bit[first];
            if (is_aimed_at && own.has(second)) danger.pinned |= kTables.bit[second];
        };
        const auto upwards = [&](unsigned above, int start, int step) {
            int met[3] = {-1, -1, -1};
            for (int i = 0; i < 3 && above != 0; ++i, above &= above - 1) {
                met[i] = start + step * std::countr_zero(above);
            }
            if (met[0] >= 0) look(met[0], met[1], met[2]);
        };
        const auto downwards = [&](unsigned below, int start, int step) {
            int met[3] = {-1, -1, -1};
            for (int i = 0; i < 3 && below != 0; ++i) {
                const int highest = std::bit_width(below) - 1;
                met[i] = start + step * highest;
                below ^= 1u << highest;
            }
            if (met[0] >= 0) look(met[0], met[1], met[2]);
        };
        const unsigned on_its_rank = s.lines.ranks[rank + 1], on_its_file = s.lines.files[file];
        upwards(on_its_rank >> (file + 1), square + 1, 1);
        downwards(on_its_rank & ((1u << file) - 1), square - file, 1);
        upwards(on_its_file >> (rank + 1), square + kFiles, kFiles);
        downwards(on_its_file & ((1u << rank) - 1), file, kFiles);
    }
    (s.kinds[kHorse] & them & kTables.horse_zone[square]).each([&](int horse) {
        danger.pinned |= kTables.bit[leg_of(horse, square)] & own;
    });
    return danger;
}

// Whether a piece's move leaves its general safe, by making the move.
inline bool is_safe(const State& s, int from, int to) {
    Lines lines = s.lines;
    lines.flip(from);
    const Bits target = kTables.bit[to];
    if (!s.occupied().has(to)) lines.flip(to);
    const int us = s.side;
    const int general = s.generals[us] == from ? to : s.generals[us];
    return !attackers_of(s, lines, us, general, target).any();
}

// Lists the legal moves to some of the squares.
inline void list_moves(const State& s, Bits wanted, MoveList& list) {
    const int us = s.side, general = s.generals[us];
    const Bits own = s.colours[us], them = s.colours[1 - us], occupied = own | them;
    wanted &= ~own;
    Bits tried;     // pieces whose moves must be tested ...
    Bits targets;   // ... and the targets of all pieces except the general
    int screen = -1;  // a piece that may go anywhere, because leaving its square is what matters
    if (s.check) {
        tried = kAllSquares;
        targets = wanted;
        const Bits checkers = attackers_of(s, s.lines, us, general);
        if (checkers.count() == 1) {
            const int checker = checkers.first();
            Bits answers = checkers;
            if (s.kinds[kHorse].has(checker)) {
                answers |= kTables.bit[leg_of(checker, general)];
            } else if (!s.kinds[kSoldier].has(checker)) {
                answers |= between(general, checker);
                if (s.kinds[kCannon].has(checker)) screen = (between(general, checker) & occupied).first();
            }
            targets &= answers;
        }
    } else {
        const Danger danger = danger_of(s);
        tried = danger.pinned;
        targets = wanted & ~danger.forbidden;
    }
    const auto add = [&](int from, Bits reached) {
        reached &= from == screen ? wanted : targets;
        if (tried.has(from)) {
            reached.each([&](int to) {
                if (is_safe(s, from, to)) list.add(from, to);
            });
        } else {
            reached.each([&](int to) { list.add(from, to); });
        }
    };
    (s.kinds[kRook] & own).each([&](int from) { add(from, rook_attacks(s.lines, from)); });
    (s.kinds[kCannon] & own).each([&](int from) {
        const Line rank = rank_line(s.lines, from), file = file_line(s.lines, from);
        const int r = kTables.rank[from], f = kTables.file[from];
        add(from, ((on_rank(r, rank.reach) | on_file(f, file.reach)) & ~occupied) |
                      ((on_rank(r, rank.jump) | on_file(f, file.jump)) & them));
    });
    (s.kinds[kHorse] & own).each([&](int from) { add(from, horse_attacks(s.lines, from)); });
    (s.kinds[kSoldier] & own).each([&](int from) { add(from, soldier_attacks(us, from)); });
    (s.kinds[kElephant] & own).each([&](int from) { add(from, elephant_attacks(occupied, from)); });
    (s.kinds[kAdvisor] & own).each([&](int from) { add(from, advisor_attacks(from)); });
    (general_attacks(general) & wanted).each([&](int to) {
        if (is_safe(s, general, to)) list.add(general, to);
    });
}

inline MoveList legal_moves(const State& s) {
    MoveList list;
    list_moves(s, kAllSquares, list);
    return list;
}

inline MoveList legal_captures(const State& s) {
    MoveList list;
    list_moves(s, s.colours[1 - s.side], list);
    return list;
}

// Whether there is a legal move; nearly always the first piece tested has one.
inline bool has_legal_move(const State& s) {
    if (!s.check) {
        // A piece far from its general's lines that goes to a square off them exposes nothing.
        const int us = s.side, general = s.generals[us];
        const Bits own = s.colours[us];
        const Bits free = own & ~kTables.exposing[general];
        const Bits harmless = ~(own | kTables.lines[general]);
        for (Bits rest = free & s.kinds[kSoldier]; rest.any(); rest.drop_first()) {
            if ((soldier_attacks(us, rest.first()) & harmless).any()) return true;
        }
        for (Bits rest = free & s.kinds[kHorse]; rest.any(); rest.drop_first()) {
            if ((horse_attacks(s.lines, rest.first()) & harmless).any()) return true;
        }
        for (Bits rest = free & s.kinds[kRook]; rest.any(); rest.drop_first()) {
            if ((rook_attacks(s.lines, rest.first()) & harmless).any()) return true;
        }
    }
    return !legal_moves(s).empty();
}

// --- From a position ---------------------------------------------------------------------------------------------

inline State state_of(const Position& p) {
    State s{};
    for (int square = 0; square < kSquares; ++square) {
        const int piece = p.board[square];
        if (piece == kEmpty) continue;
        const int colour = piece / kKinds, kind = piece % kKinds;
        s.kinds[kind] |= kTables.bit[square];
        s.colours[colour] |= kTables.bit[square];
        s.lines.flip(square);
        s.key ^= kKeys.piece[piece][square];
        if (kind == kGeneral) s.generals[colour] = static_cast<std::uint8_t>(square);
    }
    if (p.side == 1) s.key ^= kKeys.side;
    s.side = p.side;
    s.quiet = p.quiet;
    s.ply = p.ply;
    s.check = is_check(s, s.side);
    return s;
}

// Number of leaf positions `depth` plies away; only a lack of moves ends the game.
inline std::uint64_t perft(const State& s, int depth) {
    if (depth == 0) return 1;
    const MoveList moves = legal_moves(s);
    if (depth == 1) return static_cast<std::uint64_t>(moves.count);
    std::uint64_t leaves = 0;
    for (const int move : moves) leaves += perft(play(s, move), depth - 1);
    return leaves;
}

}  // namespace
}  // namespace desdemona::xiangqi
