#pragma once

#include <algorithm>
#include <cstdint>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnefc::runtime::tensor {

// Loops over fewer elements run on one thread, because waking others costs more.
inline constexpr int64_t kParallelGrain = 32768;

// Divides the indices 0 <= i < count into ranges and calls run(begin, end) for each, on the threads of the
// calling thread's ThreadScope. `cost` estimates the elements processed per index. Calls must be independent;
// there are no reductions across threads, so results do not depend on the thread count.
void RunRanges(int64_t count, int64_t cost, llvm::function_ref<void(int64_t begin, int64_t end)> run);

// Calls body(i) for 0 <= i < count like RunRanges.
template <typename Body>
void ParallelFor(int64_t count, int64_t cost, const Body& body) {
  RunRanges(count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

// Calls body(begin, end) for blocks of `count` elements in parallel, like ParallelFor.
template <typename Body>
void ParallelParts(int64_t count, const Body& body) {
  constexpr int64_t kPart = 16384;
  ParallelFor((count + kPart - 1) / kPart, kPart,
              [&](int64_t part) { body(part * kPart, std::min(count, (part + 1) * kPart)); });
}

}  // namespace nnefc::runtime::tensor
