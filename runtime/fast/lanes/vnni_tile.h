// Sums of products of codes and weights of 8 bits, four at a time, by the instruction that adds four of them
// in 32 bits (VNNI), whatever the codes are.
#pragma once

#include "runtime/fast/lanes/clamped_tile.h"
#include "runtime/fast/lanes/code_tile.h"

namespace nnefc::runtime {

// Of 1 to TileRows() pixels, of codes as they are.
struct VnniTile {
  QuadTile<uint8_t> products;            // of the first block
  int64_t weights_stride, sums_stride;   // from one block to the next
  const int32_t* start;                  // with which sums begin: kBlockColumns of each block
  int64_t pixel_stride = kBlockColumns;  // of sums
  // What a later call reads: so many lines of a cache for every kQuadsOfLines fours.
  const int8_t* next = nullptr;
  int64_t next_lines = 0;
  // Instead of sums, the codes that they become: of the first pixel and block, of which all have
  // kBlockColumns channels.
  const CodeResults* codes = nullptr;
};
inline constexpr int64_t kQuadsOfLines = 8;
// Only where HasVnni(); of 1 to BlocksOfTile() blocks.
NNEFC_LANE_FUNCTION(RunVnniTile, void(int64_t pixels, int64_t blocks, const VnniTile& tile));

}  // namespace nnefc::runtime
