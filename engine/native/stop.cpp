#include "stop.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <pthread.h>

namespace desdemona {

namespace {
constexpr double kLongest_s = 1e9;

std::int64_t wall_ns() noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// -1: there is no such clock (any more).
std::int64_t read_ns(clockid_t clock) noexcept {
    timespec now{};
    if (clock_gettime(clock, &now) != 0) return -1;
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
}  // namespace

const char* Stopped::what() const noexcept { return "the search was told to stop"; }

std::int64_t StopFlag::now_ns() const noexcept {
    if (parent_ != nullptr) return parent_->now_ns();
    if (follows_thread_.load(std::memory_order_acquire)) return thread_ns();
    return clock_ == Clock::kWall ? wall_ns() : read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

std::int64_t StopFlag::thread_ns() const noexcept {
    const auto wall = static_cast<double>(wall_ns() - wall_began_ns_.load(std::memory_order_relaxed));
    const auto least = static_cast<std::int64_t>(wall / most_stretch_.load(std::memory_order_relaxed));
    const std::int64_t thread = read_ns(thread_clock_.load(std::memory_order_relaxed));
    const std::int64_t used = thread < 0 ? 0 : thread - thread_began_ns_.load(std::memory_order_relaxed);
    return began_ns_.load(std::memory_order_relaxed) + std::max(used, least);
}

void StopFlag::follow_thread(double most_stretch) noexcept {
    clockid_t clock{};
    if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return;
    began_ns_.store(now_ns(), std::memory_order_relaxed);
    thread_clock_.store(clock, std::memory_order_relaxed);
    thread_began_ns_.store(read_ns(clock), std::memory_order_relaxed);
    wall_began_ns_.store(wall_ns(), std::memory_order_relaxed);
    set_most_stretch(most_stretch);
    follows_thread_.store(true, std::memory_order_release);
}

void StopFlag::set_most_stretch(double most_stretch) noexcept {
    most_stretch_.store(std::max(1.0, most_stretch), std::memory_order_relaxed);
}

double StopFlag::now_s() const noexcept { return 1e-9 * static_cast<double>(now_ns()); }

void StopFlag::set() noexcept { set_.store(true, std::memory_order_relaxed); }

void StopFlag::set_deadline(double seconds) noexcept {
    // Three decades are as good as forever, and fit the clock; NaN also counts as forever.
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
