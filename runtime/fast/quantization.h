#pragma once

// Numbers as codes of 8 bits: what FakeQuantize makes stays in its codes where what
// follows takes them.

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// How a FakeQuantize cuts its input into codes 0 to 255, and the number that each
// stands for.
struct CodeRange {
  float low = 0;  // of the input
  float high = 0;
  DnnCodes codes;

  // The code of a number; 0 of NaN, which has none.
  uint8_t CodeOf(float x) const;
};
// Nothing if the node makes numbers that are no multiples of a scale, other numbers for
// each channel, or not 256 of them. `limits`: its constant inputs behind the first.
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<const TensorValue*> limits);
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<ValueInfo> limits);

// The request without a FakeQuantize at its end whose codes are asked for, and their range.
struct CodedRequest {
  explicit CodedRequest(const KernelRequest& given);

  KernelRequest request;
  std::optional<CodeRange> range;
};

}  // namespace nnefc::runtime
