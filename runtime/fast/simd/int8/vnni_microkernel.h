// int8 microkernel with VNNI (dot4): four products are accumulated in i32 without restrictions on the values.
#pragma once

#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::simd {

// 1 to TileRows() pixels of u8 values.
struct VnniTile {
  Dot4Tile<uint8_t> products;            // arguments of the first block
  int64_t weights_stride, sums_stride;   // between blocks
  const int32_t* start;                  // initial accumulators: kBlockColumns per block
  int64_t pixel_stride = kBlockColumns;  // stride of accumulators
  // Prefetch for a later call: cache lines per kQuadsPerPrefetch groups of four.
  const int8_t* next = nullptr;
  int64_t next_lines = 0;
  // If not null, requantizes in place of storing accumulators: parameters of the first pixel and block. All
  // blocks must have kBlockColumns channels.
  const RequantizedResults* codes = nullptr;
};
inline constexpr int64_t kQuadsPerPrefetch = 8;
// Computes 1 to BlocksPerTile() blocks; requires HasVnni().
NNEFC_SIMD_FUNCTION(RunVnniMicrokernel, void(int64_t pixels, int64_t blocks, const VnniTile& tile));

}  // namespace nnefc::runtime::fast::simd
