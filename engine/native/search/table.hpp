// Transposition tables: sized in MB, shared by threads without locks.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core.hpp"
#include "game.hpp"

namespace desdemona {
namespace {

enum class Bound : std::uint8_t { kNone, kLower, kUpper, kExact };

// Memory for entries of two words, four in a cache line: the first word is the key xor the data, the second the data,
// which is never 0 (Hyatt & Mann 2002).  If the words of two threads get mixed, they do not match, and count as absent.
class Clusters {
   public:
    struct Entry {
        std::atomic<std::uint64_t> check;
        std::atomic<std::uint64_t> data;

        // The data, or 0 when the entry belongs to another position.
        std::uint64_t read(std::uint64_t key) const noexcept {
            const std::uint64_t word = data.load(std::memory_order_relaxed);
            return (check.load(std::memory_order_relaxed) ^ word) == key ? word : 0;
        }
        void write(std::uint64_t key, std::uint64_t word) noexcept {
            check.store(key ^ word, std::memory_order_relaxed);
            data.store(word, std::memory_order_relaxed);
        }
    };
    struct alignas(64) Cluster {
        Entry entries[4];
    };

    static constexpr std::size_t kHugePage = std::size_t{1} << 21;

    // With an alignment of `kHugePage` the system is asked for huge pages, which save most of the TLB misses.
    explicit Clusters(std::size_t megabytes, std::size_t alignment = sizeof(Cluster))
        : count_(std::bit_floor((megabytes < 1 ? 1 : megabytes) << 14)),
          memory_(std::calloc(count_ * sizeof(Cluster) + alignment, 1)) {  // the system zeroes pages on first access
        const auto at = reinterpret_cast<std::uintptr_t>(memory_);
        clusters_ = reinterpret_cast<Cluster*>((at + alignment - 1) & ~(alignment - 1));
#if defined(__linux__)
        if (memory_ != nullptr && alignment >= kHugePage) madvise(clusters_, count_ * sizeof(Cluster), MADV_HUGEPAGE);
#endif
    }
    ~Clusters() { std::free(memory_); }
    Clusters(const Clusters&) = delete;
    Clusters& operator=(const Clusters&) = delete;

    bool is_allocated() const noexcept { return memory_ != nullptr; }
    void new_search() noexcept { age_ = (age_ + 1) & 0x3F; }
    void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&clusters_[key & (count_ - 1)]); }
    Cluster& cluster(std::uint64_t key) const noexcept { return clusters_[key & (count_ - 1)]; }

   protected:
    std::uint32_t age_ = 0;  // of the search, six bits: older entries are replaced first

   private:
    std::size_t count_;
    void* memory_;
    Cluster* clusters_;
};

// Clusters with at most one entry for a position.  `Data`, the content of an entry, has a static `unpacked`.
template <class Data>
class PositionClusters : public Clusters {
   public:
    using Clusters::Clusters;

    bool find(std::uint64_t key, Data& tt_data) const noexcept {
        for (const Entry& entry : cluster(key).entries) {
            const std::uint64_t word = entry.read(key);
            if (word != 0) {
                tt_data = Data::unpacked(word);
                return true;
            }
        }
        return false;
    }
};

// A line of moves that a search expects: its principal variation.
struct Line {
    std::uint16_t move[ThinkResult::kMaxLine];
    int length = 0;

    void put(int first, const Line& rest) {
        move[0] = static_cast<std::uint16_t>(first);
        length = 1;
        for (int i = 0; i < rest.length && length < ThinkResult::kMaxLine; ++i) move[length++] = rest.move[i];
    }
};

// An entry's content: bounds for a position at one depth.
struct TTData {
    int score;
    int depth;
    int move;
    Bound bound;
};

// For the exact search.  The same position may have entries for several depths, since each depth has its own score.
class Table : public Clusters {
   public:
    using Clusters::Clusters;

    static bool read(const Entry& entry, std::uint64_t key, TTData& tt_data) noexcept {
        const std::uint64_t data = entry.read(key);
        if (data == 0) return false;
        tt_data = {static_cast<std::int32_t>(data >> 32), static_cast<int>(data & 0xFF),
                 static_cast<int>(data >> 8 & 0xFFFF), static_cast<Bound>(data >> 24 & 3)};
        return true;
    }

    // Replaces the entry of the same position and depth, or else the least valuable one: first those of earlier
    // searches, then shallow ones.
    void store(Cluster& cluster, std::uint64_t key, const TTData& tt_data) const noexcept {
        Entry* victim = &cluster.entries[0];
        int least = 1 << 20;
        for (Entry& entry : cluster.entries) {
            const std::uint64_t data = entry.data.load(std::memory_order_relaxed);
            const int depth = static_cast<int>(data & 0xFF);
            if (depth == tt_data.depth && entry.read(key) != 0) {
                victim = &entry;
                break;
            }
            const int priority = data == 0 ? -1 : depth + ((data >> 26 & 0x3F) == age_ ? 256 : 0);
            if (priority < least) {
                least = priority;
                victim = &entry;
            }
        }
        const std::uint64_t data = static_cast<std::uint64_t>(static_cast<std::uint32_t>(tt_data.score)) << 32 |
                                   static_cast<std::uint64_t>(age_) << 26 |
                                   static_cast<std::uint64_t>(tt_data.bound) << 24 |
                                   static_cast<std::uint64_t>(tt_data.move) << 8 |
                                   static_cast<std::uint64_t>(tt_data.depth);
        victim->write(key, data);
    }
};

}  // namespace
}  // namespace desdemona
