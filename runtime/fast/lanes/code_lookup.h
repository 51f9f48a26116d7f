// Table lookup of 8-bit values.
#pragma once

#include <cstddef>

#include "runtime/fast/lanes/lanes.h"

namespace nnefc::runtime {

struct CodeLookup {
  const uint8_t* table;  // 256 entries
  const uint8_t* codes;
  int64_t count;
  uint8_t* out;  // may be `codes`
};
NNEFC_LANE_FUNCTION(LookUpCodes, void(const CodeLookup& lookup));

}  // namespace nnefc::runtime
