#pragma once

#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::simd {

// The index range [begin, end).
struct IndexRange {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
  bool Has(int64_t index) const { return index >= begin && index < end; }
  IndexRange Part(int64_t parts, int64_t part) const {
    return {begin + tensor::PartBegin(count(), parts, part),
            begin + tensor::PartBegin(count(), parts, part + 1)};
  }
};

}  // namespace nnefc::runtime::fast::simd
