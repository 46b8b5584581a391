// A lock for a few instructions, without the system: units need no threading code (core.hpp).
#pragma once

#include <atomic>

#include "core.hpp"

namespace desdemona {
namespace {

class SpinLock {
   public:
    // Holds the lock while it exists.
    class Guard {
       public:
        explicit Guard(SpinLock& lock) : lock_(lock) {
            for (int turns = 0; lock_.is_locked_.exchange(true, std::memory_order_acquire);) pause_thread(turns++);
        }
        ~Guard() { lock_.is_locked_.store(false, std::memory_order_release); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

       private:
        SpinLock& lock_;
    };

   private:
    std::atomic<bool> is_locked_{false};
};

}  // namespace
}  // namespace desdemona
