#pragma once

#include <cstdint>

namespace nnefc::runtime {

// Parts of `by` that hold so many; none for none or fewer.
constexpr int64_t DividedUp(int64_t number, int64_t by) {
  return number <= 0 ? 0 : (number + by - 1) / by;
}

// The least multiple of `unit` that is not below `count`.
constexpr int64_t RoundUp(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace nnefc::runtime
