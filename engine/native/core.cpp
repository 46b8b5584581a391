#include "core.hpp"

#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

namespace desdemona {

ProfileSink::~ProfileSink() = default;

template <class Position>
Core<Position>::~Core() = default;
template class Core<othello::Position>;
template class Core<connect4::Position>;
template class Core<chess::Position>;
template class Core<xiangqi::Position>;

void run_with_helpers(int helpers, void (*lead)(void* context), void (*help)(void* context, int index),
                      void* context) {
    std::vector<std::thread> threads;
    try {
        threads.reserve(static_cast<std::size_t>(helpers));
        for (int i = 1; i <= helpers; ++i) threads.emplace_back(help, context, i);
    } catch (const std::exception&) {  // no thread or no memory available
    }  // the search continues with the threads it has
    lead(context);
    for (std::thread& thread : threads) thread.join();
}

void pause_thread(int turns) noexcept {
    constexpr int kBusy = 2'000;  // tens of microseconds
    constexpr int kYielding = 200;
    if (turns < kBusy) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    } else if (turns < kBusy + kYielding) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

#define DESDEMONA_UNIT_PARTS(set)             \
    extern const OthelloUnit othello_##set;   \
    extern const Connect4Unit connect4_##set; \
    extern const ChessUnit chess_##set;       \
    extern const XiangqiUnit xiangqi_##set;
#define DESDEMONA_UNIT_OF(set) Unit{othello_##set, connect4_##set, chess_##set, xiangqi_##set, #set}

DESDEMONA_UNIT_PARTS(baseline)
#if defined(DESDEMONA_X86_UNITS)
DESDEMONA_UNIT_PARTS(v2)
DESDEMONA_UNIT_PARTS(v3)
#endif

const Unit* const* runnable_units(int& count) {
    static const Unit* units[3];
    static const int found = [] {
        int n = 0;
        static const Unit baseline = DESDEMONA_UNIT_OF(baseline);
        units[n++] = &baseline;
#if defined(DESDEMONA_X86_UNITS)
        static const Unit v2 = DESDEMONA_UNIT_OF(v2);
        static const Unit v3 = DESDEMONA_UNIT_OF(v3);
        // Check every part of the set: virtual machines may expose AVX2 and hide other parts.
        if (__builtin_cpu_supports("x86-64-v2")) units[n++] = &v2;
        if (__builtin_cpu_supports("x86-64-v3")) units[n++] = &v3;
#endif
        return n;
    }();
    count = found;
    return units;
}

}  // namespace desdemona
