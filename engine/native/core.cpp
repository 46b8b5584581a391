#include "core.hpp"

namespace desdemona {

ProfileSink::~ProfileSink() = default;

template <class Position>
Core<Position>::~Core() = default;
template class Core<othello::Position>;

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
