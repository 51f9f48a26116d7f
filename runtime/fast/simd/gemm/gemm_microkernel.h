// GEMM microkernel with accumulators in registers.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// A tile has 1 to TileRows() rows, and one or two column blocks.
inline constexpr int64_t kTileColumns = 2 * kBlockColumns;

// A matrix in column blocks: consecutive rows of a row-major block, or consecutive pixels of an nChw16c
// block.
template <typename Number>
struct BlockedMatrix {
  Number* data;
  int64_t row_stride, block_stride;

  Number* At(int64_t row, int64_t block) const { return data + row * row_stride + block * block_stride; }
};

struct GemmTile {
  // Left rows with stride kBlockColumns, in blocks of terms with stride `left_stride`.
  const float* left;
  int64_t left_stride;
  int64_t terms;
  const float* weights;  // kTileColumns per term
  // Initial accumulators: per-column bias, elements in the layout of `out`, both or neither.
  const float* bias = nullptr;
  const float* start = nullptr;
  BlockedMatrix<float> out;
  Limits limits = {};
  // Prefetch: the weights of a later tile, and the number of cache lines per block of terms.
  const float* next = nullptr;
  int64_t next_lines = 0;
  // The number of consecutive tiles with equal row counts.
  int64_t tiles = 1;
};
inline constexpr int64_t kLineFloats = 16;

// out = start + left * weights, for `rows` rows of each tile and `blocks` column blocks.
NNEFC_SIMD_FUNCTION(RunTile, void(int64_t rows, int64_t blocks, const GemmTile& call));

// Returns the K block size.
inline int64_t TermsPerPass() {
  return SelectedInstructionSet().gemm_pass_terms;
}

}  // namespace nnefc::runtime::fast::simd
