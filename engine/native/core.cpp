#include "core.hpp"

#include <system_error>
#include <thread>
#include <vector>

namespace desdemona {

ProfileSink::~ProfileSink() = default;

template <class Position>
Core<Position>::~Core() = default;
template class Core<othello::Position>;

void run_with_helpers(int helpers, void (*lead)(void* context), void (*help)(void* context, int index),
                      void* context) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(helpers));
    try {
        for (int i = 1; i <= helpers; ++i) threads.emplace_back(help, context, i);
    } catch (const std::system_error&) {
    }  // the search goes on with those there are
    lead(context);
    for (std::thread& thread : threads) thread.join();
}

const Unit* const* runnable_units(int& count) {
    static const Unit* units[3];
    static const int found = [] {
        int n = 0;
        units[n++] = &unit_baseline;
#if defined(DESDEMONA_X86_UNITS)
        // What x86-64-v2 and -v3 stand for; v3 is Haswell's set.
        if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) units[n++] = &unit_v2;
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
            __builtin_cpu_supports("fma")) {
            units[n++] = &unit_v3;
        }
#endif
        return n;
    }();
    count = found;
    return units;
}

}  // namespace desdemona
