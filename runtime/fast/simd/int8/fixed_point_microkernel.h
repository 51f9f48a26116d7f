// Products of f32 numbers in fixed point with constant i8 weights, by dot products of four bytes (VNNI). Only
// the rounding differs from products in f32.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::simd {

// A row of f32 numbers as rows of bytes, least significant first: unit * (value - kFixedPointZero).
inline constexpr int64_t kFixedPointBytes = 3;
inline constexpr int32_t kFixedPointZero = 1 << 23;
struct FixedPointRow {
  const float* numbers;
  int64_t count;
  float factor;    // a power of two; products with the numbers are below kFixedPointZero in magnitude
  uint8_t* bytes;  // [kFixedPointBytes, row_bytes]; those after `count` are unchanged
  int64_t row_bytes;
};
NNEFC_SIMD_FUNCTION(StoreFixedPoint, void(const FixedPointRow& row));

// out = start + numbers * weights for some rows and panels of kBlockColumns outputs. `start` may be `out`.
struct FixedPointTile {
  const uint8_t* bytes;   // [rows, kFixedPointBytes, row_bytes]
  const float* units;     // one per row
  int64_t row_bytes;      // a multiple of kQuad
  const int8_t* weights;  // [panels, row_bytes / kQuad, kBlockColumns, kQuad]
  // Negated sums of the weights and their scales, kBlockColumns per panel.
  const int32_t* less;
  const float* scales;
  const float* start;
  int64_t start_stride;  // between rows
  float* out;
  int64_t out_stride;
};
inline constexpr int64_t kMaxFixedPointRows = 2;
// Computes 1 to kMaxFixedPointRows rows and any number of panels; requires HasVnni().
NNEFC_SIMD_FUNCTION(RunFixedPointMicrokernel, void(int64_t rows, int64_t panels, const FixedPointTile& tile));

}  // namespace nnefc::runtime::fast::simd
