// int8 microkernel with VNNI (dot4): four products are accumulated in i32 without restrictions on the values.
#pragma once

#include "runtime/fast/simd/int8/dot2_microkernel.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::simd {

// Quantization of HSwish of accumulators, by channel: value = gate * (scales * sum + bias) + offsets, with
// gate = gate_scales * sum + gate_bias clamped within 0 to 1. Values are clamped within 0 to 255 and rounded
// with ties to even; NaN becomes 0.
struct HSwishResults {
  const float *gate_scales, *gate_bias, *scales, *bias, *offsets;  // kBlockColumns per block
  uint8_t* out;
  int64_t stride;  // between pixels

  // Returns the parameters for a later pixel and block.
  HSwishResults From(int64_t pixel, int64_t block) const {
    HSwishResults moved = *this;
    for (const float** array :
         {&moved.gate_scales, &moved.gate_bias, &moved.scales, &moved.bias, &moved.offsets})
      *array += block * kBlockColumns;
    moved.out += pixel * stride + block * kBlockColumns;
    return moved;
  }
};

// 1 to TileRows() pixels of u8 values.
struct VnniTile {
  Dot4Tile<uint8_t> products;            // arguments of the first block
  int64_t weights_stride, sums_stride;   // between blocks
  const int32_t* start;                  // initial accumulators: kBlockColumns per block
  int64_t pixel_stride = kBlockColumns;  // stride of accumulators
  // Prefetch for a later call: cache lines per kQuadsPerPrefetch groups of four.
  const int8_t* next = nullptr;
  int64_t next_lines = 0;
  // If one is not null, stores these results instead of accumulators: parameters of the first pixel and
  // block. All blocks must have kBlockColumns channels.
  const RequantizedResults* codes = nullptr;
  const HSwishResults* hard_swish = nullptr;
  const DequantizedResults* numbers = nullptr;
};
inline constexpr int64_t kQuadsPerPrefetch = 8;
// Computes 1 to BlocksPerTile() blocks; requires HasVnni().
NNEFC_SIMD_FUNCTION(RunVnniMicrokernel, void(int64_t pixels, int64_t blocks, const VnniTile& tile));

}  // namespace nnefc::runtime::fast::simd
