// What check.cpp calls in the other files.
#pragma once

#include "bench.hpp"

namespace check {

// endings.cpp: margin in discs by the endgame solver, exact inside (alpha, beta), else a bound.
int solve_ending(Position p, int alpha, int beta);

// endings.cpp: what the tables know a position by.
std::uint64_t key_of(Position p);

// threads.cpp: threads with a core each, stopped by another thread.
void run_threads(std::uint64_t seed, int threads, std::uint64_t rounds);

}  // namespace check
