// Random numbers for training: each game has its own generator, so that the result does not depend on the scheduling
// of threads.
#pragma once

#include <cstdint>

namespace desdemona {

// The generator by Steele, Lea & Flood 2014 (doi:10.1145/2714064.2660195).
class Random {
   public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ z >> 27) * 0x94D049BB133111EBull;
        return z ^ z >> 31;
    }
    int below(int n) { return static_cast<int>((next() >> 32) * static_cast<std::uint64_t>(n) >> 32); }
    double fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

   private:
    std::uint64_t state_;
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return Random(Random(Random(a).next() ^ b).next() ^ c).next();
}

}  // namespace desdemona
