// Microkernels that combine one channel block of an nChw16c image with per-channel operands.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {

// A function of an element x and the operand's value for its channel, `number`.
enum class ChannelFunction : uint8_t {
  kMultiply,
  kAdd,
  kSubtract,
  kSubtractFrom,  // number - x
  kDivide,
  kPRelu,  // x < 0 ? x * number : x
};

// Pixels of one channel block. Pointers may be unaligned, and `out` may equal `x`.
struct PerChannelPixels {
  const float* x;        // [pixels, kBlockColumns]
  const float* numbers;  // kBlockColumns values, one per channel
  int64_t pixels;
  Limits limits = {};  // of the results
  float* out;          // [pixels, kBlockColumns]
};
// Writes the function of each element and its channel's number, clamped to the limits.
NNEFC_SIMD_FUNCTION(ApplyPerChannel, void(ChannelFunction function, const PerChannelPixels& pixels));

// Pixels of one channel block to normalize. Pointers may be unaligned, and `out` may equal `x`.
struct NormalizedPixels {
  const float* x;                      // [pixels, kBlockColumns]
  const float *mean, *factor, *shift;  // kBlockColumns values each, one per channel
  int64_t pixels;
  Limits limits = {};  // of the results
  float* out;          // [pixels, kBlockColumns]
};
// Writes (x - mean) * factor + shift for each element, clamped to the limits.
NNEFC_SIMD_FUNCTION(NormalizeChannels, void(const NormalizedPixels& pixels));

}  // namespace nnefc::runtime::fast::simd
