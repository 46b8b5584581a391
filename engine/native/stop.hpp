// How a running search is told to end: by a flag, by a deadline, or by both.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace desdemona {

// Thrown out of a search that was told to end; its table stays sound.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "the search was told to stop"; }
};

// Set from any thread; asked by the search every thousand nodes or so (well under a millisecond).
class StopFlag {
   public:
    void set() noexcept { set_.store(true, std::memory_order_relaxed); }

    // From now on the flag also counts as set once so many seconds have passed.
    void set_deadline(double seconds) noexcept {
        const auto span = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        deadline_.store((Clock::now() + span).time_since_epoch().count(), std::memory_order_relaxed);
    }

    bool is_set() const noexcept {
        if (set_.load(std::memory_order_relaxed)) return true;
        const auto deadline = deadline_.load(std::memory_order_relaxed);
        return deadline != 0 && Clock::now().time_since_epoch().count() >= deadline;
    }

   private:
    using Clock = std::chrono::steady_clock;
    std::atomic<bool> set_{false};
    std::atomic<Clock::rep> deadline_{0};
};

}  // namespace desdemona
