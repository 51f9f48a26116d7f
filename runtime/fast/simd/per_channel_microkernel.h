// nChw16c images with per-channel operands.
#pragma once

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime {

enum class ChannelFunction : uint8_t {
  kMultiply,
  kAdd,
  kSubtract,
  kSubtractFrom,  // number - x
  kDivide,
  kPRelu,  // x < 0 ? x * number : x
};

struct PerChannelPixels {
  const float* x;        // pixels of a channel block
  const float* numbers;  // one per channel
  int64_t pixels;
  Limits limits = {};
  float* out;
};
NNEFC_SIMD_FUNCTION(ApplyPerChannel, void(ChannelFunction function, const PerChannelPixels& pixels));

// out = (x - mean) * factor + shift
struct NormalizedPixels {
  const float* x;  // pixels of a channel block
  const float *mean, *factor, *shift;
  int64_t pixels;
  Limits limits = {};
  float* out;
};
NNEFC_SIMD_FUNCTION(NormalizeChannels, void(const NormalizedPixels& pixels));

}  // namespace nnefc::runtime
