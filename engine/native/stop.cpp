#include "stop.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace desdemona {

namespace {
constexpr double kLongest_s = 1e9;
}

const char* Stopped::what() const noexcept { return "the search was told to stop"; }

std::int64_t StopFlag::now_ns() const noexcept {
    if (clock_ == Clock::kWall) {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    }
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

double StopFlag::now_s() const noexcept { return 1e-9 * static_cast<double>(now_ns()); }

void StopFlag::set() noexcept { set_.store(true, std::memory_order_relaxed); }

void StopFlag::set_deadline(double seconds) noexcept {
    // Three decades are as good as forever, and fit the clock; a NaN counts as forever, too.
    const double limited = seconds < kLongest_s ? std::max(seconds, -kLongest_s) : kLongest_s;
    const auto at = now_ns() + static_cast<std::int64_t>(1e9 * limited);
    deadline_ns_.store(at != 0 ? at : 1, std::memory_order_relaxed);  // 0: no deadline
}

void StopFlag::set_node_limit(std::uint64_t nodes) noexcept {
    const auto most = static_cast<std::uint64_t>(INT64_MAX);
    nodes_left_.store(static_cast<std::int64_t>(std::min(nodes, most)), std::memory_order_relaxed);
}

bool StopFlag::is_set() const noexcept {
    if (set_.load(std::memory_order_relaxed) || nodes_left_.load(std::memory_order_relaxed) <= 0) return true;
    if (parent_ != nullptr && parent_->is_set()) return true;
    const auto deadline_ns = deadline_ns_.load(std::memory_order_relaxed);
    return deadline_ns != 0 && now_ns() >= deadline_ns;
}

bool StopFlag::spend(std::uint64_t nodes) const noexcept {
    if (nodes_left_.load(std::memory_order_relaxed) != INT64_MAX) {  // a limit is set
        nodes_left_.fetch_sub(static_cast<std::int64_t>(nodes), std::memory_order_relaxed);
    }
    if (parent_ != nullptr) parent_->spend(nodes);
    return is_set();
}

}  // namespace desdemona
