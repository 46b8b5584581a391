// What lies in unnamed namespaces, and so apart from check.cpp: the endgame solver and the key of a position.
#include "othello/endgame.hpp"

#include "checks.hpp"

namespace check {

// Scores are exact whatever the move ordering.
struct NoOrder {
    int operator()(Position, int) const { return 0; }
};

int solve_ending(Position p, int alpha, int beta) {
    static desdemona::othello::EndgameSolver solver(1, NoOrder{});
    const StopFlag never;
    return solver.solve(p, alpha, beta, never);
}

std::uint64_t key_of(Position p) { return desdemona::othello::hash(p); }

}  // namespace check
