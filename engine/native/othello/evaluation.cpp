#include "othello/evaluation.hpp"

#include <algorithm>

namespace desdemona::othello {

using namespace patterns;

namespace {

// The image of a pattern's squares under the symmetry (other than the identity) that maps the pattern to itself.
std::vector<int> mirror_of(const Pattern& pattern) {
    std::vector<int> trivial(static_cast<std::size_t>(pattern.size));
    for (int i = 0; i < pattern.size; ++i) trivial[static_cast<std::size_t>(i)] = i;
    for (int symmetry = 1; symmetry < 8; ++symmetry) {
        std::vector<int> places;
        for (int i = 0; i < pattern.size; ++i) {
            const int* end = pattern.squares + pattern.size;
            const int* found = std::find(pattern.squares, end, turned(pattern.squares[i], symmetry));
            if (found != end) places.push_back(static_cast<int>(found - pattern.squares));
        }
        if (static_cast<int>(places.size()) == pattern.size && places != trivial) return places;
    }
    return trivial;
}

}  // namespace

PatternMaps::PatternMaps() : exchanged(kStageSize), canonical(kStageSize) {
    for (int i = 0; i < kStageSize; ++i) {
        exchanged[static_cast<std::size_t>(i)] = canonical[static_cast<std::size_t>(i)] = i;
    }
    for (int p = 0; p < kPatternCount; ++p) {
        const Pattern& pattern = kPatterns[p];
        const std::vector<int> mirror = mirror_of(pattern);
        const int base = kLayout.table[p];
        for (int index = 0; index < power_of_three(pattern.size); ++index) {
            int other = 0;
            int mirrored = 0;
            for (int i = 0, rest = index; i < pattern.size; ++i, rest /= 3) {
                const int digit = rest % 3;
                other += (digit == 0 ? 0 : 3 - digit) * power_of_three(i);
                mirrored += digit * power_of_three(mirror[static_cast<std::size_t>(i)]);
            }
            exchanged[static_cast<std::size_t>(base + index)] = base + other;
            canonical[static_cast<std::size_t>(base + index)] = base + std::min(index, mirrored);
        }
    }
}

const PatternMaps& pattern_maps() {
    static const PatternMaps maps;
    return maps;
}

Evaluation::Evaluation() : weights_(static_cast<std::size_t>(2 * kStages) * kStageSize) {}

void Evaluation::set_stage(int stage, const std::int16_t* weights) {
    const PatternMaps& maps = pattern_maps();
    std::int16_t* own = weights_.data() + static_cast<std::size_t>(2 * stage) * kStageSize;
    std::int16_t* other = own + kStageSize;
    for (std::size_t i = 0; i < kStageSize; ++i) {
        own[i] = weights[maps.canonical[i]];
        other[static_cast<std::size_t>(maps.exchanged[i])] = own[i];
    }
}

}  // namespace desdemona::othello
