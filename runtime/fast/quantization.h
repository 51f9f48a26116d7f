#pragma once

// Numbers as codes of 8 bits: what FakeQuantize and NNEF's linear quantization make stays in
// its codes where what follows takes them.

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// How a quantization cuts its input into codes 0 to 255, and the number that each
// stands for.
struct CodeRange {
  // By which formula a number gets its code.
  enum class Formula : uint8_t {
    kFakeQuantize,  // halves to even; NaN has no code and gets 0
    kMinMax,        // R 4.9.5: halves up; NaN gets 255, as clamp says
    kZeroPoint,     // the same, by multiples of the scale
  };
  Formula formula = Formula::kFakeQuantize;
  float low = 0;  // of the input
  float high = 0;
  DnnCodes codes;

  uint8_t CodeOf(float x) const;
};
// Nothing if the node quantizes nothing, or makes numbers that are no multiples of a scale,
// other numbers for each channel, or not 256 of them. `limits`: its inputs behind the first,
// where they are constant.
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<const TensorValue*> limits);
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<ValueInfo> limits);

// The request without a quantization at its end whose codes are asked for, and their range.
struct CodedRequest {
  explicit CodedRequest(const KernelRequest& given);

  KernelRequest request;
  std::optional<CodeRange> range;
};

}  // namespace nnefc::runtime
