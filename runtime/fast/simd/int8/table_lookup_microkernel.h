// Table lookup of 8-bit values.
#pragma once

#include <cstddef>

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

struct TableLookup {
  const uint8_t* table;  // 256 entries
  const uint8_t* codes;
  int64_t count;
  uint8_t* out;  // may be `codes`
};
NNEFC_SIMD_FUNCTION(LookUpUint8, void(const TableLookup& lookup));

// A lookup of numbers.
struct FloatLookup {
  const float* table;  // 256 numbers
  const uint8_t* codes;
  int64_t count;
  float* out;
};
NNEFC_SIMD_FUNCTION(LookUpFloats, void(const FloatLookup& call));

}  // namespace nnefc::runtime::fast::simd
