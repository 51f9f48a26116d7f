// Grouped convolution microkernel with accumulators in registers.
#pragma once

#include "runtime/fast/simd/gemm/gemm_microkernel.h"

namespace nnefc::runtime::fast::simd {

// Maximum pixels per tile (1 to this many in a row), with as many output channels as vector elements. Windows
// are kGroupedColumns wide: each input pixel is loaded once and added to the accumulators of all windows that
// contain it.
inline constexpr int64_t kGroupedPixels = 12, kGroupedColumns = 3;

struct GroupedArguments {
  const float* in;  // first tap of the first pixel in the first channel block
  int64_t in_block, in_row;
  // A bit mask of the tile's input pixels inside the image.
  uint32_t inside;
  // Input channels per output, and the first of them, for vectors of outputs of one group. For narrower
  // groups `first` is that of the outputs.
  int64_t first, terms;
  int64_t rows;          // tap rows
  const float* weights;  // [rows][terms][columns][vector], starting at the first row
  // Initial accumulators: per-channel bias, elements in the layout of `out`, both or neither.
  const float* bias = nullptr;
  const float* start = nullptr;
  float* out;
  Limits limits = {};
};

// The width of groups: whole vectors, or four or eight channels with equal numbers of inputs and outputs, one
// or several groups per vector.
enum class GroupWidth : uint8_t { kRegisters, kFour, kEight };

// `stride` is the horizontal stride, 1 or 2.
NNEFC_SIMD_FUNCTION(RunGroupedMicrokernel,
                    void(GroupWidth width, int64_t pixels, int64_t stride, const GroupedArguments& call));

}  // namespace nnefc::runtime::fast::simd
