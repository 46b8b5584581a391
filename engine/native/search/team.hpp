// Threads that search one tree together: "young brothers wait" (Feldmann 1993, "Game Tree Search on Massively Parallel
// Systems").
//
// If the first move of a node causes no cut-off, all other moves are probably needed: its thread opens a *split point*,
// from which idle threads take moves. The owner also takes moves, then waits for the others and meanwhile helps at
// split points below its own. A cut-off cancels all work below.
#pragma once

#include <atomic>
#include <cstdint>

#include "core.hpp"
#include "game.hpp"
#include "search/spin_lock.hpp"

namespace desdemona {
namespace {

// Thrown through a search whose result is no longer needed, up to its split point.
struct Cancelled {};

// A split point, on the stack of its owner: moves to search with the null window above `alpha`.
struct SplitPoint {
    // From this move on.
    SplitPoint(int first, int moves, int bound) : next(first), count(moves), alpha(bound) {}

    const SplitPoint* parent = nullptr;  // the split point below which its owner works; null: none
    std::atomic<bool> is_cut{false};     // nothing below is needed any more
    std::atomic<bool> is_stopped{false};  // nor anything else: the search must stop
    std::atomic<int> helpers{0};         // threads at work on it besides its owner
    std::atomic<int> next;               // the next move to take
    const int count;                     // moves
    const int alpha;

    // The best score of the moves searched, and its move: the first of equals.  False: none was searched.
    bool best(int& score, int& index) const {
        const int found = best_.load(std::memory_order_relaxed);
        if (found == 0) return false;
        score = found / 256 - kOffset;
        index = 255 - found % 256;
        return true;
    }

    void note(int score, int index) {
        const int found = 256 * (score + kOffset) + 255 - index;
        for (int old = best_.load(std::memory_order_relaxed); old < found;) {
            if (best_.compare_exchange_weak(old, found, std::memory_order_relaxed)) break;
        }
        if (score > alpha) is_cut.store(true, std::memory_order_relaxed);
    }

    bool has_work() const {
        return next.load(std::memory_order_relaxed) < count && !is_cut.load(std::memory_order_relaxed);
    }

    bool is_cancelled() const {
        for (const SplitPoint* point = this; point != nullptr; point = point->parent) {
            if (point->is_cut.load(std::memory_order_relaxed)) return true;
        }
        return false;
    }

    bool is_below(const SplitPoint* other) const {
        for (const SplitPoint* point = this; point != nullptr; point = point->parent) {
            if (point == other) return true;
        }
        return false;
    }

   private:
    static constexpr int kOffset = 1 << 16;  // makes scores positive
    std::atomic<int> best_{0};               // score and move, packed
};

class Team {
   public:
    // Before a search by several threads.
    void begin() { is_over_.store(false, std::memory_order_relaxed); }
    // Ends `help` in all threads.
    void end() { is_over_.store(true, std::memory_order_release); }

    // Whether a split point would find helpers.
    bool is_waiting() const { return idle_.load(std::memory_order_relaxed) > 0; }

    // Work at split points of others, until the search ends.  `work(point)` must not throw.
    template <class Work>
    void help(const Work& work) {
        const auto is_over = [&] { return is_over_.load(std::memory_order_acquire); };
        help_until(is_over, [&] { return join(nullptr); }, work);
    }

    // Opens a split point for others; false: there are too many already.
    bool open(SplitPoint& point) {
        for (Slot& slot : slots_) {
            if (slot.point.load(std::memory_order_relaxed) != nullptr) continue;
            const SpinLock::Guard guard(slot.lock);
            if (slot.point.load(std::memory_order_relaxed) != nullptr) continue;
            slot.point.store(&point, std::memory_order_relaxed);
            return true;
        }
        return false;
    }

    // Admits no more helpers; returns when the last of them has finished. Meanwhile the owner works below, too.
    template <class Work>
    void close(SplitPoint& point, const Work& work) {
        for (Slot& slot : slots_) {
            if (slot.point.load(std::memory_order_relaxed) != &point) continue;
            const SpinLock::Guard guard(slot.lock);
            slot.point.store(nullptr, std::memory_order_relaxed);
        }
        const auto is_alone = [&] { return point.helpers.load(std::memory_order_acquire) == 0; };
        if (is_alone()) return;
        help_until(is_alone, [&] { return point.is_cancelled() ? nullptr : join(&point); }, work);
    }

   private:
    static constexpr int kSlots = 32;

    struct alignas(64) Slot {
        std::atomic<SplitPoint*> point{nullptr};
        SpinLock lock;
    };

    // Works at the points that `next` joins, until it is done.
    template <class Done, class Next, class Work>
    void help_until(const Done& is_done, const Next& next, const Work& work) {
        idle_.fetch_add(1, std::memory_order_relaxed);
        for (int turns = 0; !is_done();) {
            if (SplitPoint* point = next(); point != nullptr) {
                idle_.fetch_sub(1, std::memory_order_relaxed);
                work(*point);
                point->helpers.fetch_sub(1, std::memory_order_release);
                idle_.fetch_add(1, std::memory_order_relaxed);
                turns = 0;
            } else {
                pause_thread(turns++);
            }
        }
        idle_.fetch_sub(1, std::memory_order_relaxed);
    }

    // Joins a split point that has work, below `above` unless that is null; returns null if there is none.
    SplitPoint* join(const SplitPoint* above) {
        for (Slot& slot : slots_) {
            if (slot.point.load(std::memory_order_relaxed) == nullptr) continue;
            const SpinLock::Guard guard(slot.lock);
            SplitPoint* point = slot.point.load(std::memory_order_relaxed);
            // While it is in its slot, and the slot is locked, the point cannot go away.
            if (point == nullptr || !point->has_work() || (above != nullptr && !point->is_below(above))) continue;
            point->helpers.fetch_add(1, std::memory_order_relaxed);
            return point;
        }
        return nullptr;
    }

    Slot slots_[kSlots];
    std::atomic<int> idle_{0};
    std::atomic<bool> is_over_{true};
};

// One thread's part in a team.
//
// A parameter `search(point, index)` is a function that returns the score of a split point's move; it may throw Unwind
// when the whole search must stop, and Cancelled if `is_cancelled`.
class TeamMember {
   public:
    // Null: alone.
    void set_team(Team* team) {
        team_ = team;
        split_ = nullptr;
    }

    bool has_help() const { return team_ != nullptr && team_->is_waiting(); }
    bool is_cancelled() const { return split_ != nullptr && split_->is_cancelled(); }

    // Helps until the team's search ends.
    template <class Search>
    void help(const Search& search) {
        split_ = nullptr;
        team_->help([&](SplitPoint& point) { take_moves(point, search); });
    }

    // Searches the moves of a new split point, with whatever threads are idle.  Throws Unwind and Cancelled.
    template <class Search>
    void share(SplitPoint& point, const Search& search) {
        point.parent = split_;
        const auto work = [&](SplitPoint& any) { take_moves(any, search); };
        const bool is_open = team_->open(point);
        work(point);
        if (is_open) team_->close(point, work);
        if (point.is_stopped.load(std::memory_order_relaxed)) throw Unwind{};
        if (is_cancelled()) throw Cancelled{};
    }

   private:
    // Takes moves of a split point until none is left or needed.
    template <class Search>
    void take_moves(SplitPoint& point, const Search& search) {
        const SplitPoint* const before = split_;
        split_ = &point;
        try {
            for (;;) {
                const int i = point.next.fetch_add(1, std::memory_order_relaxed);
                if (i >= point.count || point.is_cancelled()) break;
                point.note(search(point, i), i);
            }
        } catch (const Cancelled&) {
        } catch (const Unwind&) {
            point.is_stopped.store(true, std::memory_order_relaxed);
            point.is_cut.store(true, std::memory_order_relaxed);
        }
        split_ = before;
    }

    Team* team_ = nullptr;
    const SplitPoint* split_ = nullptr;  // at work on it; null: none
};

}  // namespace
}  // namespace desdemona
