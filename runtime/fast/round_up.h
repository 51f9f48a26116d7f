#pragma once

#include <cstdint>

namespace nnefc::runtime {

// The least multiple of `unit` that is not below `count`.
constexpr int64_t RoundUp(int64_t count, int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace nnefc::runtime
