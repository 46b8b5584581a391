// What check.cpp calls in the other files.
#pragma once

#include "bench.hpp"

namespace check {

// endings.cpp: margin in discs by the endgame solver, exact inside (alpha, beta), else a bound.
int solve_ending(Position p, int alpha, int beta);

// endings.cpp: what the tables know a position by.
std::uint64_t key_of(Position p);

// chess.cpp: one random input, and the published counts of at most so many leaves.
void check_chess(Random& random);
void check_chess_perft(std::uint64_t most);

// xiangqi.cpp: likewise.
void check_xiangqi(Random& random);
void check_xiangqi_perft(std::uint64_t most);

// selective.cpp: one random input of the strong search of chess or xiangqi; thoughts of several threads.
void check_selective(Random& random);
void think_selectively(std::uint64_t seed, int threads, std::uint64_t rounds);

// threads.cpp: threads with a core each, stopped by another thread.
void run_threads(std::uint64_t seed, int threads, std::uint64_t rounds);

}  // namespace check
