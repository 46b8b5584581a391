// Stops a running search: by a flag, a deadline, a number of nodes, or all three.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace desdemona {

// What a caller sees of a search that was told to end; the search's table stays sound.
struct Stopped : std::exception {
    const char* what() const noexcept override;
};

// Seconds of a clock that only goes forward.
double now_s() noexcept;

// Set from any thread; asked by searches every `kNodesPerLook` nodes (well under a millisecond).
//
// Its functions are not inline on purpose: a copy of them compiled for a newer instruction set must not be
// the one that the linker keeps for everybody.
class StopFlag {
   public:
    static constexpr std::uint64_t kNodesPerLook = 1024;

    StopFlag() noexcept = default;
    // Counts as set whenever its parent does, too, and books nodes there: for a limit within a limit.
    explicit StopFlag(const StopFlag* parent) noexcept : parent_(parent) {}

    void set() noexcept;

    // From now on the flag also counts as set once so many seconds have passed.
    void set_deadline(double seconds) noexcept;

    // The searches that share the flag may visit so many nodes more, to within `kNodesPerLook`.
    void set_node_limit(std::uint64_t nodes) noexcept;

    bool is_set() const noexcept;

    // Books so many nodes as visited, and says whether to end.
    bool spend(std::uint64_t nodes) const noexcept;

   private:
    using Clock = std::chrono::steady_clock;
    const StopFlag* parent_ = nullptr;
    std::atomic<bool> set_{false};
    std::atomic<Clock::rep> deadline_{0};
    mutable std::atomic<std::int64_t> nodes_left_{INT64_MAX};
};

}  // namespace desdemona
