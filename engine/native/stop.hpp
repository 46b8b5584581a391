// Stops a running search: by a flag, a deadline, a number of nodes, or all three.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace desdemona {

// Thrown to the caller of a search that had to stop; the search's table stays consistent.
struct Stopped : std::exception {
    const char* what() const noexcept override;
};

// A monotonic clock, in seconds.
double now_s() noexcept;

// Set from any thread; searches check it every `kNodesPerLook` nodes (well under a millisecond).
//
// Its functions are deliberately not inline: the linker must not keep a copy that was compiled for a newer
// instruction set.
class StopFlag {
   public:
    static constexpr std::uint64_t kNodesPerLook = 1024;

    StopFlag() noexcept = default;
    // Counts as set whenever its parent does, too, and counts nodes there as well: for a limit within a limit.
    explicit StopFlag(const StopFlag* parent) noexcept : parent_(parent) {}

    void set() noexcept;

    // The flag also counts as set once this many seconds have passed from now.
    void set_deadline(double seconds) noexcept;

    // The searches that share the flag may visit this many more nodes, to within `kNodesPerLook`.
    void set_node_limit(std::uint64_t nodes) noexcept;

    bool is_set() const noexcept;

    // Counts this many nodes as visited, and returns whether to stop.
    bool spend(std::uint64_t nodes) const noexcept;

   private:
    using Clock = std::chrono::steady_clock;
    const StopFlag* parent_ = nullptr;
    std::atomic<bool> set_{false};
    std::atomic<Clock::rep> deadline_{0};
    mutable std::atomic<std::int64_t> nodes_left_{INT64_MAX};
};

}  // namespace desdemona
