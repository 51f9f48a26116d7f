#pragma once

#include <cstdint>

namespace nnefc::runtime::tensor {

// Returns ceil(number / by), or 0 for negative numbers.
constexpr int64_t CeilDivide(int64_t number, int64_t by) {
  return number <= 0 ? 0 : (number + by - 1) / by;
}

// Returns the smallest multiple of `unit` that is at least `count`.
constexpr int64_t RoundUp(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace nnefc::runtime::tensor
