// The static evaluation of xiangqi: linear in the features that `collect` walks (see linear.hpp), tapered from
// middlegame to endgame. tests/engine/games/xiangqi_mirror.py is a readable copy in Python, with equal results.
#pragma once

#include <bit>

#include "linear.hpp"
#include "xiangqi/xiangqi.hpp"
#include "xiangqi/xiangqi_features.hpp"

namespace desdemona::xiangqi {
namespace {

namespace evaluation {

struct Tables {
    std::uint8_t place[2][kSquares]{};  // as a colour sees a square
    Bits palace[2]{};
    constexpr Tables() {
        for (int square = 0; square < kSquares; ++square) {
            const int file = file_of(square);
            const int rank = rank_of(square);
            const int folded = file < 5 ? file : 8 - file;
            place[0][square] = static_cast<std::uint8_t>(5 * rank + folded);
            place[1][square] = static_cast<std::uint8_t>(5 * (9 - rank) + folded);
            if (folded >= 3 && rank <= 2) palace[0] |= bit_of(square);
            if (folded >= 3 && rank >= 7) palace[1] |= bit_of(square);
        }
    }
};
constexpr Tables kBoard;

struct Camp {
    int colour;
    Bits all;
    Bits of[kKinds];       // pieces
    Bits attacks[kKinds];  // of all pieces of a kind together; a cannon attacks behind a screen
    Bits attacked;         // by any piece
    Bits twice;            // by two or more
    int units;             // of attack on the other general

    void attack(int kind, Bits squares) {
        attacks[kind] |= squares;
        twice |= attacked & squares;
        attacked |= squares;
    }
};

template <class Sink>
class Walk {
   public:
    Walk(const State& state, Sink& sink) : state_(state), sink_(sink), occupied_(state.occupied()) {
        for (int who = 0; who < 2; ++who) {
            Camp& camp = camps_[who];
            camp = {};
            camp.colour = who == 0 ? state.side : 1 - state.side;
            camp.all = state.colours[camp.colour];
            for (int kind = 0; kind < kKinds; ++kind) camp.of[kind] = state.kinds[kind] & camp.all;
        }
    }

    linear::Taper run() {
        steppers<0>();
        steppers<1>();
        jumpers<0>();
        jumpers<1>();
        rooks<0>();
        rooks<1>();
        general<0>();
        general<1>();
        threats<0>();
        threats<1>();
        facing();
        sink_.add(kTempo, 1);
        if (state_.check) sink_.add(kInCheck, 1);
        return taper();
    }

   private:
    template <int kWho>
    void add(int feature, int times = 1) {
        sink_.add(feature, kWho == 0 ? times : -times);
    }
    template <int kWho>
    void place(int kind, int square) {
        add<kWho>(kPieceSquare + kPlaces * kind + kBoard.place[camps_[kWho].colour][square]);
    }

    // A piece's square, and its attacks; `units` for attacks on the enemy palace.
    template <int kWho>
    void piece(Kind kind, int square, Bits attacks, int units) {
        Camp& own = camps_[kWho];
        place<kWho>(kind, square);
        if ((attacks & kBoard.palace[1 - own.colour]).any()) own.units += units;
        own.attack(kind, attacks);
    }

    // Soldiers, advisors, elephants and the general.
    template <int kWho>
    void steppers() {
        const Camp& own = camps_[kWho];
        own.of[kSoldier].each([&](int s) { piece<kWho>(kSoldier, s, soldier_attacks(own.colour, s), 2); });
        own.of[kAdvisor].each([&](int s) { piece<kWho>(kAdvisor, s, advisor_attacks(s), 0); });
        own.of[kElephant].each([&](int s) { piece<kWho>(kElephant, s, elephant_attacks(occupied_, s), 0); });
        const int general = state_.generals[own.colour];
        piece<kWho>(kGeneral, general, general_attacks(general), 0);
        add<kWho>(kSoldierLinks, (own.of[kSoldier] & own.attacks[kSoldier]).count());
        add<kWho>(kElephantLinks, (own.of[kElephant] & own.attacks[kElephant]).count());
    }

    Bits cheap_attacks(const Camp& camp) const {
        return camp.attacks[kSoldier] | camp.attacks[kAdvisor] | camp.attacks[kElephant];
    }

    // Horses and cannons: their mobility excludes squares that cheap pieces guard.
    template <int kWho>
    void jumpers() {
        const Camp& own = camps_[kWho];
        const Camp& other = camps_[1 - kWho];
        const Bits safe = ~(own.all | cheap_attacks(other));
        own.of[kHorse].each([&](int s) {
            const Bits attacks = horse_attacks(state_.lines, s);
            piece<kWho>(kHorse, s, attacks, 3);
            add<kWho>(kHorseMobility + (attacks & safe).count());
        });
        own.of[kCannon].each([&](int s) {
            piece<kWho>(kCannon, s, cannon_captures(state_.lines, s), 2);
            add<kWho>(kCannonMobility + (rook_attacks(state_.lines, s) & safe & ~occupied_).count());
            aim<kWho>(kCannonAim, 4, s);
        });
        add<kWho>(kHorseLinks, (own.of[kHorse] & own.attacks[kHorse]).count());
    }

    // After the other pieces, because a square that a lesser piece guards is not safe for a rook.
    template <int kWho>
    void rooks() {
        const Camp& own = camps_[kWho];
        const Camp& other = camps_[1 - kWho];
        const Bits safe = ~(own.all | cheap_attacks(other) | other.attacks[kHorse] | other.attacks[kCannon]);
        own.of[kRook].each([&](int s) {
            const Bits attacks = rook_attacks(state_.lines, s);
            piece<kWho>(kRook, s, attacks, 3);
            add<kWho>(kRookMobility + (attacks & safe).count());
            aim<kWho>(kRookAim, 3, s);
        });
    }

    // Number of pieces between a piece and the other general on a common line.
    template <int kWho>
    void aim(int feature, int steps, int square) {
        const int general = state_.generals[1 - camps_[kWho].colour];
        const bool on_file = kTables.file[square] == kTables.file[general];
        if (!on_file && kTables.rank[square] != kTables.rank[general]) return;
        const int pieces = pieces_between(on_file, square, general);
        add<kWho>(feature + steps * on_file + (pieces < steps ? pieces : steps - 1));
    }

    int pieces_between(bool on_file, int a, int b) const {
        const auto& at = on_file ? kTables.rank : kTables.file;
        const unsigned line = on_file ? state_.lines.files[kTables.file[a]] : state_.lines.ranks[kTables.rank[a] + 1];
        const int low = at[a] < at[b] ? at[a] : at[b];
        const int high = at[a] < at[b] ? at[b] : at[a];
        return std::popcount(line & ((1u << high) - 1) & ~((2u << low) - 1));
    }

    // The guards of a general, and how heavily it is attacked.
    template <int kWho>
    void general() {
        const Camp& own = camps_[kWho];
        const Camp& other = camps_[1 - kWho];
        const int advisors = at_most(own.of[kAdvisor].count(), 2);
        const int elephants = at_most(own.of[kElephant].count(), 2);
        add<kWho>(kGuards + 3 * advisors + elephants);
        add<kWho>(kAdvisorsVersus + 5 * advisors + at_most((other.of[kRook] | other.of[kHorse]).count(), 4));
        add<kWho>(kElephantsVersus + 3 * elephants + at_most(other.of[kCannon].count(), 2));

        const int square = state_.generals[own.colour];
        const Bits alone = own.attacks[kGeneral] & ~own.twice;  // guarded by the general only
        int units = other.units;
        units += (alone & other.attacked).count();
        const Bits safe = ~other.all & (~own.attacked | (other.twice & alone));
        if ((other.attacks[kRook] & rook_attacks(state_.lines, square) & safe).any()) units += 3;
        if ((other.attacks[kHorse] & horses_to(state_.lines, square) & safe).any()) units += 3;
        add<kWho>(kDanger + kDangers * (3 * (kWho == 0) + advisors) + at_most(units, kDangers - 1));
    }

    static int at_most(int number, int most) { return number < most ? number : most; }

    // See `threats` in chess_evaluation.hpp.
    template <int kWho>
    void threats() {
        const Camp& own = camps_[kWho];
        const Camp& other = camps_[1 - kWho];
        const Bits cheap = own.of[kSoldier] | own.of[kAdvisor] | own.of[kElephant];
        const Bits minors = own.of[kHorse] | own.of[kCannon];
        const Bits rooks = own.of[kRook];
        const Bits attacked = own.all & other.attacked;
        const Bits hangs = attacked & ~own.attacked;
        const Bits defended = attacked & own.attacked;
        const Bits by_cheap = defended & cheap_attacks(other);
        const Bits by_minor = defended & (other.attacks[kHorse] | other.attacks[kCannon]) & ~by_cheap;
        const Bits outnumbered = defended & other.twice & ~own.twice & ~by_cheap;
        const Bits kinds[kThreats] = {
            rooks & hangs,
            rooks & by_cheap,
            rooks & by_minor,
            own.of[kCannon] & hangs,
            own.of[kHorse] & hangs,
            rooks & outnumbered & ~by_minor,
            minors & by_cheap,
            minors & outnumbered,
            own.of[kElephant] & hangs,
            own.of[kAdvisor] & hangs,
            cheap & outnumbered,
            own.of[kSoldier] & hangs,
        };
        unsigned there = 0;
        for (int kind = 0; kind < kThreats; ++kind) there |= static_cast<unsigned>(kinds[kind].any()) << kind;
        int place = 0;
        for (; there != 0; there &= there - 1) {
            const int kind = std::countr_zero(there);
            for (int n = kinds[kind].count(); n > 0; --n) {
                add<kWho>(kThreat + kThreats * (3 * kWho + place) + kind);
                place += place < 2;
            }
        }
    }

    // The only piece between the generals may not leave their file.
    void facing() {
        const int red = state_.generals[0];
        const int black = state_.generals[1];
        if (kTables.file[red] != kTables.file[black] || pieces_between(true, red, black) != 1) return;
        const int ours = (rook_attacks(state_.lines, red) & rook_attacks(state_.lines, black) & camps_[0].all).count();
        sink_.add(kFacing, ours != 0 ? 1 : -1);
    }

    static int force(const Camp& camp) {
        return 2 * camp.of[kRook].count() + camp.of[kHorse].count() + camp.of[kCannon].count();
    }
    static int points(const Camp& camp) {
        return 9 * force(camp) + 4 * (camp.of[kAdvisor].count() + camp.of[kElephant].count()) +
               2 * camp.of[kSoldier].count();
    }

    linear::Taper taper() const {
        const int forces[2] = {force(camps_[0]), force(camps_[1])};
        const int middle = at_most(4 * (forces[0] + forces[1]), 64);
        const int lead = points(camps_[0]) - points(camps_[1]);
        if (lead == 0) return {middle, 64};
        const int ahead = lead > 0 ? 0 : 1;
        const Camp& defender = camps_[1 - ahead];
        const int soldiers = camps_[ahead].of[kSoldier].count();
        const int guards = defender.of[kAdvisor].count() + defender.of[kElephant].count();
        // Attackers are needed to win, and one is hardly enough against enough guards.
        if (forces[ahead] + soldiers == 0) return {middle, 2};
        if (forces[ahead] + soldiers == 1 && guards >= 2) return {middle, 16};
        if (forces[ahead] == 2 && soldiers == 0 && (guards == 4 || forces[1 - ahead] > 0)) return {middle, 24};
        return {middle, 64};
    }

    const State& state_;
    Sink& sink_;
    const Bits occupied_;
    Camp camps_[2];  // 0 moves, 1 waits
};

}  // namespace evaluation

// Passes the features of a position, from the side to move's view, to `sink`; returns how their sums become a score.
template <class Sink>
linear::Taper collect(const State& state, Sink& sink) {
    return evaluation::Walk<Sink>(state, sink).run();
}

// Centi-soldiers for the side to move, in an unfinished game.
inline int evaluate(const State& state, const Evaluation& weights) {
    linear::Sum sum{weights.weights};
    const linear::Taper taper = collect(state, sum);
    return sum.score(taper, kMaxEvaluation);
}

}  // namespace
}  // namespace desdemona::xiangqi
