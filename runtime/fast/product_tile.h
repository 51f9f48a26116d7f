// Tiles of a product of matrices that stay in the registers of AVX-512.
#pragma once

#include <cstdint>

#include "runtime/fast/limits.h"

namespace nnefc::runtime {

// Numbers of a block: columns of a matrix, or channels of images, that lie behind one another.
inline constexpr int64_t kBlockColumns = 16;
// A tile has 1 to so many rows, and one block of columns or two.
inline constexpr int64_t kTileRows = 14;
inline constexpr int64_t kTileColumns = 2 * kBlockColumns;

// Of rows that many tiles read, so many floats stay in a core's cache.
inline constexpr int64_t kCacheFloats = 98304;

// A matrix in blocks of columns: of a row-major one a row is behind the other, of images with channels in
// blocks a pixel's block is behind that of the pixel before.
template <typename Number>
struct BlockedMatrix {
  Number* data;
  int64_t row_stride, block_stride;

  Number* At(int64_t row, int64_t block) const { return data + row * row_stride + block * block_stride; }
};

// What the rows of weights are that a tile takes: those that lie at one place, or the sums or differences of
// those of two.
enum class WeightTerms : uint8_t { kOne, kSum, kDifference };

struct TileCall {
  // Rows that are kBlockColumns apart, in blocks of terms that are `left_stride` apart.
  const float* left;
  int64_t left_stride;
  int64_t terms;
  // kTileColumns for each term; those of the second place lie `second` behind.
  const float* weights;
  int64_t second = 0;
  // What the sums begin with: a number for each column, elements that lie as `out` does, both or nothing.
  const float* bias = nullptr;
  const float* start = nullptr;
  BlockedMatrix<float> out;
  Limits limits = {};
  // What a later tile reads, and how much of it is fetched from memory in the meantime: lines of a cache for
  // each block of terms.
  const float* next = nullptr;
  int64_t next_lines = 0;
};
inline constexpr int64_t kLineFloats = 16;

// out = start + left * weights, for `rows` rows and `blocks` blocks of columns. For processors with AVX-512.
void RunTile(int64_t rows, int64_t blocks, WeightTerms terms, const TileCall& call);

}  // namespace nnefc::runtime
