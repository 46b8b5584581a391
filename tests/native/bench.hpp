// What the checks of the core share: its units side by side, and how a failure is told.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core.hpp"
#include "inputs.hpp"
#include "naive.hpp"

namespace check {

using desdemona::Core;
using desdemona::kInfinity;
using desdemona::kWin;
using desdemona::ProfileSink;
using desdemona::SolveResult;
using desdemona::Stopped;
using desdemona::StopFlag;
using desdemona::ThinkLimits;
using desdemona::ThinkResult;
using desdemona::TrapOptions;
using desdemona::Unit;
using desdemona::othello::Board;
using desdemona::othello::Evaluation;
using desdemona::othello::kPass;
using desdemona::othello::Position;
using inputs::Random;
using OthelloCore = Core<Position>;

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[gnu::format(printf, 2, 3)]] inline void require(bool holds, const char* format, ...) {
    if (holds) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw Failure(text);
}

inline std::string text(Position p) {
    char hex[64];
    std::snprintf(hex, sizeof hex, "mover 0x%016llx waiter 0x%016llx", static_cast<unsigned long long>(p.mover),
                  static_cast<unsigned long long>(p.waiter));
    return hex;
}

inline std::vector<const Unit*> all_units() {
    int count = 0;
    const Unit* const* units = desdemona::runnable_units(count);
    return {units, units + count};
}

inline std::unique_ptr<OthelloCore> make_core(const Unit& unit, const Evaluation& evaluation) {
    std::unique_ptr<OthelloCore> core(unit.make_othello(1, evaluation));
    require(core != nullptr, "no memory for a core");
    return core;
}

// One evaluation, in the core's form and in the plain one.
struct Weights {
    explicit Weights(std::vector<std::int16_t> all) : naive(std::move(all)) {
        using namespace desdemona::othello::patterns;
        for (int stage = 0; stage < kStages; ++stage) {
            core.set_stage(stage, naive.weights().data() + static_cast<std::size_t>(stage) * kStageSize);
        }
    }
    naive::Evaluation naive;
    Evaluation core;
};

// What an analysis handed over.
struct Reply {
    int move;
    std::vector<int> scores;
    int final_bound;
    double shallow_bound;
    bool operator==(const Reply&) const = default;
};

struct Candidate {
    int move;
    int raw;
    bool raw_is_bound;
    bool complete;
    std::vector<Reply> replies;
    bool operator==(const Candidate&) const = default;
};

class Collector final : public ProfileSink {
   public:
    void reply(int move, const int* scores, int count, int final_bound, double shallow_bound) override {
        replies_.push_back({move, {scores, scores + count}, final_bound, shallow_bound});
    }
    void shallow(int move, const int* shallow, int least, int most) override {
        replies_.push_back({move, {shallow, shallow + 2}, most, static_cast<double>(least)});
    }
    void candidate(int move, int raw, bool raw_is_bound, bool complete) override {
        candidates.push_back({move, raw, raw_is_bound, complete, std::move(replies_)});
        replies_.clear();
    }
    std::vector<Candidate> candidates;

   private:
    std::vector<Reply> replies_;
};

}  // namespace check
