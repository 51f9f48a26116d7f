// int8 microkernel with VNNI (dot4): four products are accumulated in i32 without restrictions on the values.
#pragma once

#include "runtime/fast/lanes/clamped_tile.h"
#include "runtime/fast/lanes/code_tile.h"

namespace nnefc::runtime {

// 1 to TileRows() pixels of u8 values.
struct VnniTile {
  QuadTile<uint8_t> products;            // arguments of the first block
  int64_t weights_stride, sums_stride;   // between blocks
  const int32_t* start;                  // initial accumulators: kBlockColumns per block
  int64_t pixel_stride = kBlockColumns;  // stride of accumulators
  // Prefetch for a later call: cache lines per kQuadsOfLines groups of four.
  const int8_t* next = nullptr;
  int64_t next_lines = 0;
  // If not null, requantizes in place of storing accumulators: parameters of the first pixel and block. All
  // blocks must have kBlockColumns channels.
  const CodeResults* codes = nullptr;
};
inline constexpr int64_t kQuadsOfLines = 8;
// Computes 1 to BlocksOfTile() blocks; requires HasVnni().
NNEFC_LANE_FUNCTION(RunVnniTile, void(int64_t pixels, int64_t blocks, const VnniTile& tile));

}  // namespace nnefc::runtime
