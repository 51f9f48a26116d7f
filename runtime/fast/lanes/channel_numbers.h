// nChw16c images with per-channel operands.
#pragma once

#include "runtime/fast/lanes/lanes.h"
#include "runtime/fast/lanes/limits.h"

namespace nnefc::runtime {

enum class ChannelFunction : uint8_t {
  kMultiply,
  kAdd,
  kSubtract,
  kSubtractFrom,  // number - x
  kDivide,
  kPRelu,  // x < 0 ? x * number : x
};

struct NumberedPixels {
  const float* x;        // pixels of a channel block
  const float* numbers;  // one per channel
  int64_t pixels;
  Limits limits = {};
  float* out;
};
NNEFC_LANE_FUNCTION(ApplyChannelNumbers, void(ChannelFunction function, const NumberedPixels& pixels));

// out = (x - mean) * factor + shift
struct NormalizedPixels {
  const float* x;  // pixels of a channel block
  const float *mean, *factor, *shift;
  int64_t pixels;
  Limits limits = {};
  float* out;
};
NNEFC_LANE_FUNCTION(NormalizeChannels, void(const NormalizedPixels& pixels));

}  // namespace nnefc::runtime
