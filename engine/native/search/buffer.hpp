// Memory and sorting for the few plain values of an analysis, without code that units would share (see unit.hpp).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace desdemona {
namespace {

// Zeroed memory for plain values, aligned for vector registers.
template <class T>
class Buffer {
   public:
    explicit Buffer(int count) {
        const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(T) / 64 + 1) * 64;
        data_ = static_cast<T*>(std::aligned_alloc(64, bytes));
        if (data_ == nullptr) std::abort();  // a few kB: out of memory beyond recovery
        std::memset(static_cast<void*>(data_), 0, bytes);
    }
    ~Buffer() { std::free(data_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    T& operator[](int i) { return data_[i]; }
    const T& operator[](int i) const { return data_[i]; }

   private:
    T* data_;
};

// A move in a list that is ordered for the search.
struct Scored {
    int move;
    int order;
};

// Adds a move behind those of the same order: few and nearly sorted, so that insertion beats std::sort.
inline void insert(Scored* list, int& count, int move, int order) {
    int i = count++;
    for (; i > 0 && list[i - 1].order < order; --i) list[i] = list[i - 1];
    list[i] = {move, order};
}

// Insertion sort, which is stable: `before` says whether the first of two items must come before the second.
template <class Items, class Before>
void sort(Items& items, int count, Before before) {
    for (int i = 1; i < count; ++i) {
        const auto moved = items[i];
        int j = i;
        for (; j > 0 && before(moved, items[j - 1]); --j) items[j] = items[j - 1];
        items[j] = moved;
    }
}

}  // namespace
}  // namespace desdemona
