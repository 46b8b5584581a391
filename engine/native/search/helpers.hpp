// The helper threads of a strong search.
//
// The search decides what they do: take part in the leading thread's tree (team.hpp), or run their own iterations with
// a shared transposition table (race.hpp).
#pragma once

#include <cstdint>
#include <new>

#include "core.hpp"

namespace desdemona {
namespace {

// Workers persist from one search to the next, with their histories.
template <class Worker>
class Helpers {
   public:
    Helpers() = default;
    ~Helpers() {
        for (int i = 0; i < count_; ++i) delete workers_[i];
    }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

    Worker& operator[](int i) { return *workers_[i]; }

    std::uint64_t nodes() const {
        std::uint64_t sum = 0;
        for (int i = 0; i < count_; ++i) sum += workers_[i]->nodes();
        return sum;
    }

    // Calls search.lead() in this thread, and search.help(1), search.help(2) ... in this many others, each with a
    // worker constructed from these arguments; fewer if the system lacks memory or threads.
    template <class Search, class... Arguments>
    void run(Search& search, int wanted, Arguments&... arguments) {
        const int count = make(wanted, arguments...);
        if (count == 0) {
            search.lead();
            return;
        }
        run_with_helpers(
            count, [](void* self) { static_cast<Search*>(self)->lead(); },
            [](void* self, int i) { static_cast<Search*>(self)->help(i); }, &search);
    }

   private:
    static constexpr int kMost = 63;

    template <class... Arguments>
    int make(int wanted, Arguments&... arguments) {
        if (wanted > kMost) wanted = kMost;
        while (count_ < wanted) {
            try {
                Worker* worker = new (std::nothrow) Worker(arguments...);
                if (worker == nullptr) break;
                workers_[count_++] = worker;
            } catch (const std::bad_alloc&) {
                break;
            }
        }
        return wanted < count_ ? wanted : count_;
    }

    Worker* workers_[kMost] = {};
    int count_ = 0;
};

}  // namespace
}  // namespace desdemona
