// Iterations that several threads run at the same time: the first one to finish counts for all ("Lazy SMP").
//
// Two threads with a shared transposition table and different histories rarely need the same time for an iteration.
// A thread that is overtaken abandons its own iteration and continues from the other's result.
#pragma once

#include <atomic>

#include "core.hpp"
#include "search/spin_lock.hpp"

namespace desdemona {
namespace {

// Thrown through an iteration that another thread has made superfluous.
struct Overtaken {};

// `Iteration`: the result of an iteration, with its `depth`; {} stands for no iteration, at depth 0.
template <class Iteration>
class Race {
   public:
    // Before a search; no other thread takes part yet.
    void begin() { put({}); }

    // Of the deepest finished iteration.
    int depth() const { return depth_.load(std::memory_order_relaxed); }

    // Enters the result of an iteration, unless it comes too late; returns the deepest one.
    Iteration finish(const Iteration& iteration) {
        const SpinLock::Guard guard(lock_);
        if (iteration.depth > deepest_.depth) put(iteration);
        return deepest_;
    }

    Iteration deepest() {
        const SpinLock::Guard guard(lock_);
        return deepest_;
    }

   private:
    void put(const Iteration& iteration) {
        deepest_ = iteration;
        depth_.store(iteration.depth, std::memory_order_relaxed);
    }

    SpinLock lock_;
    Iteration deepest_{};
    std::atomic<int> depth_{0};  // as in `deepest_`: read without the lock
};

}  // namespace
}  // namespace desdemona
