// Tiles of a product of matrices that stay in registers.
#pragma once

#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/lanes/limits.h"

namespace nnefc::runtime {

// A tile has 1 to TileRows() rows, and one block of columns or two.
inline constexpr int64_t kTileColumns = 2 * kBlockColumns;

// A matrix in blocks of columns: of a row-major one a row is behind the other, of images with channels in
// blocks a pixel's block is behind that of the pixel before.
template <typename Number>
struct BlockedMatrix {
  Number* data;
  int64_t row_stride, block_stride;

  Number* At(int64_t row, int64_t block) const { return data + row * row_stride + block * block_stride; }
};

struct TileCall {
  // Rows that are kBlockColumns apart, in blocks of terms that are `left_stride` apart.
  const float* left;
  int64_t left_stride;
  int64_t terms;
  const float* weights;  // kTileColumns for each term
  // What the sums begin with: a number for each column, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  BlockedMatrix<float> out;
  Limits limits = {};
  // What a later tile reads, and how much of it is fetched from memory in the meantime: lines of a cache for
  // each block of terms.
  const float* next = nullptr;
  int64_t next_lines = 0;
  // So many tiles of as many rows lie behind one another.
  int64_t tiles = 1;
};
inline constexpr int64_t kLineFloats = 16;

// out = start + left * weights, for `rows` rows of each tile and `blocks` blocks of columns.
NNEFC_LANE_FUNCTION(RunTile, void(int64_t rows, int64_t blocks, const TileCall& call));

// Of more terms than these the sums go through memory, so that a core's first cache holds the weights of a
// tile while rows go by: wide tiles take them from the second as fast as they multiply.
inline int64_t TermsAtATime() {
  constexpr int64_t kOfNarrow = 128, kOfWide = int64_t{1} << 40;
  return LaneCount() == kWideLanes ? kOfWide : kOfNarrow;
}

}  // namespace nnefc::runtime
