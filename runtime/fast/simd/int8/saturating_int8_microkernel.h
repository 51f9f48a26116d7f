// int8 dot products of four elements (dot4) without VNNI. The maddubs instruction multiplies u8 by i8 values
// and saturates the sum of two products to 16 bits. It is exact if two adjacent u8 values add up to at most
// kMaxPairSum. Values are therefore clamped relative to a base, and the residuals of the few that exceed the
// limit are multiplied separately.
#pragma once

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::simd {

inline constexpr int kMaxPairSum = 256;
// The weight layout: groups of four inputs by kBlockColumns outputs.
inline constexpr int64_t kQuad = 4, kQuadWeights = kQuad * kBlockColumns;

// The residuals of four clamped values, one byte each. Pairs add up to at most kMaxPairSum as well, so there
// may be two residuals of the same four values.
struct Residual {
  int32_t quad;  // index of the group of four
  uint32_t bytes;
};
// Residuals above and below the clamping range, in order. More than `most` of either kind are too many; the
// lists are then incomplete.
struct Residuals {
  Residual *above, *below;
  int64_t above_count = 0, below_count = 0, most;

  bool are_too_many() const { return above_count > most || below_count > most; }
};

// Consecutive values in groups of four, to be clamped relative to the base.
struct ValuesToClamp {
  const uint8_t* codes;
  int64_t count;
  int base;
  uint8_t* out;
  int64_t first_quad;  // index of the first group of four for added residuals
};
NNEFC_SIMD_FUNCTION(ClampValues, void(const ValuesToClamp& codes, Residuals& rests));

// Accumulators of several pixels and kBlockColumns outputs, modulo 2^32.
template <typename Number>
struct Dot4Tile {
  const Number* numbers;
  const int32_t* seen;  // offset of the first tap for each pixel
  // Contiguous strips of values in groups of four, and the offset of each strip relative to a pixel's first
  // tap.
  const int32_t* strips;
  int64_t strip_count, quads;
  const int8_t* weights;  // kQuadWeights per group of four
  int32_t* sums;          // kBlockColumns per pixel
};
// Computes 1 to TileRows() pixels of clamped values. Accumulators are initialised with the kBlockColumns
// elements of `start`.
NNEFC_SIMD_FUNCTION(RunSaturatingMicrokernel,
                    void(int64_t pixels, const Dot4Tile<uint8_t>& tile, const int32_t* start));
// Computes any number of pixels of i16 values without zero point.
NNEFC_SIMD_FUNCTION(RunInt16Dot4Microkernel, void(int64_t pixels, const Dot4Tile<int16_t>& tile));

// A residual in the receptive field of a result pixel, and the offset of the weights of its four inputs in a
// block.
struct ResidualTerm {
  int32_t pixel, weights;
  uint32_t bytes;
};
// Adds the products of residuals and weights to accumulators of pixels and blocks.
inline constexpr int64_t kMaxResidualBlocks = 4;
struct ResidualProducts {
  const ResidualTerm* terms;
  int64_t count;
  bool is_above;          // otherwise they are subtracted
  const int8_t* weights;  // packed weights of the first block
  int64_t first_pixel;
  int32_t* sums;                              // accumulators, starting at that pixel
  int64_t blocks, block_stride, sums_stride;  // strides between blocks
};
NNEFC_SIMD_FUNCTION(AddResiduals, void(const ResidualProducts& products));

}  // namespace nnefc::runtime::fast::simd
