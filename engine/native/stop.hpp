// Stops a running search: by a flag, a deadline, a number of nodes, or all three.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <exception>

namespace desdemona {

// Thrown to the caller of a search that had to stop; the search's table stays consistent.
struct Stopped : std::exception {
    const char* what() const noexcept override;
};

// Set from any thread; searches check it every `kNodesPerCheck` nodes (well under a millisecond).
//
// Its functions are deliberately not inline: the linker must not keep a copy that was compiled for a newer
// instruction set.
class StopFlag {
   public:
    static constexpr std::uint64_t kNodesPerCheck = 1024;

    // The clock of a flag, and of measurements of the searches that it stops.
    enum class Clock {
        kWall,
        kProcessor,  // of all threads of the process together: other work on the machine does not count
    };

    explicit StopFlag(Clock clock = Clock::kWall) noexcept : clock_(clock) {}
    // Also counts as set whenever its parent does, and counts nodes there as well: for a limit within a limit. It has
    // the parent's clock.
    explicit StopFlag(const StopFlag* parent) noexcept : clock_(parent->clock_), parent_(parent) {}

    // From now on the flag's clock counts the processor time of the calling thread, so that a busy machine takes none
    // of a search's time; it runs at least at 1 / `most_stretch` of the wall clock's speed. It continues from its
    // present time.
    void follow_thread(double most_stretch) noexcept;

    // Changes `most_stretch`; the time may jump, so set the deadline afterwards.  From any thread.
    void set_most_stretch(double most_stretch) noexcept;

    // The time on the flag's clock, in seconds since an arbitrary moment.
    double now_s() const noexcept;

    void set() noexcept;

    // The flag also counts as set once this many seconds have passed from now, on its clock.
    void set_deadline(double seconds) noexcept;

    // The searches that share the flag may visit this many more nodes, to within `kNodesPerCheck`.
    void set_node_limit(std::uint64_t nodes) noexcept;

    bool is_set() const noexcept;

    // Counts this many nodes as visited, and returns whether to stop.
    bool spend(std::uint64_t nodes) const noexcept;

   private:
    std::int64_t now_ns() const noexcept;
    std::int64_t thread_ns() const noexcept;

    const Clock clock_;
    const StopFlag* parent_ = nullptr;
    std::atomic<bool> set_{false};
    std::atomic<std::int64_t> deadline_ns_{0};
    mutable std::atomic<std::int64_t> nodes_left_{INT64_MAX};

    // Of a flag that follows a thread: the thread's clock, and its own and the other clocks' times at the beginning.
    std::atomic<bool> follows_thread_{false};
    std::atomic<clockid_t> thread_clock_{};
    std::atomic<std::int64_t> began_ns_{0};
    std::atomic<std::int64_t> thread_began_ns_{0};
    std::atomic<std::int64_t> wall_began_ns_{0};
    std::atomic<double> most_stretch_{1.0};
};

}  // namespace desdemona
