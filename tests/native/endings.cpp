// The endgame solver as the checks see it; apart from check.cpp, since it lies in an unnamed namespace.
#include "endgame.hpp"

#include "checks.hpp"

namespace check {

int solve_ending(Position p, int alpha, int beta) {
    static desdemona::othello::EndgameSolver solver(1);
    const StopFlag never;
    return solver.solve(p, alpha, beta, never);
}

}  // namespace check
