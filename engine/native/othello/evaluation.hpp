// The weights of the Othello evaluation as the search reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "othello/patterns.hpp"

namespace desdemona::othello {

// For each entry of a table: the entry with the two sides exchanged, and the first of the (at most two) entries that a
// symmetry of the pattern makes equal: only that one has a weight in the file.
struct PatternMaps {
    PatternMaps();
    std::vector<std::int32_t> exchanged;
    std::vector<std::int32_t> canonical;
};
const PatternMaps& pattern_maps();

// Weights of all stages, expanded for both colours so that a look-up is one index.
//
// Nodes keep their features by colour, not by mover and waiter (an exchange would change every digit); so there is one
// copy of the weights for each colour to move.
class Evaluation {
   public:
    Evaluation();  // all weights 0

    // Weights of one stage, `kStageSize` of them; only canonical entries are read.  Not while a search uses the object.
    void set_stage(int stage, const std::int16_t* weights);

    // For `evaluate` in the units: the weights of a stage for a colour to move.
    const std::int16_t* stage(int stage, int colour) const noexcept {
        return weights_.data() + static_cast<std::size_t>(2 * stage + colour) * patterns::kStageSize;
    }

   private:
    std::vector<std::int16_t> weights_;
};

}  // namespace desdemona::othello
