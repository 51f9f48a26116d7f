#pragma once

// 8-bit quantization: results of FakeQuantize and NNEF's linear quantization stay quantized if their readers
// accept it.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// The mapping of numbers to quantized values 0 to 255, and back.
struct CodeRange {
  // The rounding rule.
  enum class Formula : uint8_t {
    kFakeQuantize,  // ties to even; NaN becomes 0
    kMinMax,        // R 4.9.5: ties up; NaN becomes 255, as defined by clamp
    kZeroPoint,     // the same, in multiples of the scale
  };
  Formula formula = Formula::kFakeQuantize;
  float low = 0;  // lowest input value
  float high = 0;
  DnnCodes codes;

  uint8_t CodeOf(float x) const;
};
// Returns nothing if the node does not quantize, its values are not multiples of a scale or differ per
// channel, or there are not 256 levels. `limits`: its other inputs, if constant.
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<const TensorValue*> limits);
std::optional<CodeRange> CodeRangeOf(const ir::Node& node, llvm::ArrayRef<ValueInfo> limits);
// The same for a node in its graph with f32 result and a known shape equal to that of its data.
std::optional<CodeRange> CodeRangeOf(const ir::Graph& graph, const ir::Node& node);

// A sum of quantized values that is quantized again.
struct SumOfCodes {
  size_t operand = 0;  // input of the request with the other operand
  bool has_relu = false;
  CodeRange range;  // quantization of the sum
};

// A request without its final quantization if a quantized result is requested, and that quantization. With a
// sum between two quantizations, the range is that of the first.
struct CodedRequest {
  explicit CodedRequest(const KernelRequest& given);

  KernelRequest request;
  std::optional<CodeRange> range;
  std::optional<SumOfCodes> sum;

 private:
  void FindSum();
};

// Quantization as value = factor * x + offset, rounded with ties to even as in oneDNN, equal to the range's
// formula.
struct CodeMap {
  explicit CodeMap(const CodeRange& range);

  float factor, offset;
};

// Returns the scales that convert int8 accumulators to f32, by channel.
std::vector<float> ScalesOfProducts(const DnnCodes& source, llvm::ArrayRef<float> filter_scales);

// A folded epilogue up to a quantized result: value = scales * (sum + bias) per channel, clamped to `limits`.
struct FoldedCodes {
  // The quantized sum with values already in the result: value = factor * value + offset + other_factor *
  // (other - other_zero).
  struct Sum {
    size_t operand;
    float factor, offset;
    float other_factor;
    DnnCodes others;
  };

  std::vector<float> scales;
  std::vector<float> bias;                        // empty: zeros
  std::optional<std::pair<float, float>> limits;  // nothing if the 8-bit range is narrower
  std::optional<Sum> sum;
};
// Folds constant per-channel operands followed by functions with limits; returns nothing for other post-ops.
// `request` excludes the quantization; per-channel operands belong to `channel_axis` of the result.
std::optional<FoldedCodes> FoldCodes(const KernelRequest& request, const CodeRange& range,
                                     llvm::ArrayRef<float> scales_of_products, int64_t channel_axis);
// Folds the sum after values of `range`. Returns nothing if the other operand has later readers, or if
// negative sums may be quantized to values other than 0.
std::optional<FoldedCodes::Sum> FoldSum(const KernelRequest& given, const CodeRange& range,
                                        const SumOfCodes& sum);

}  // namespace nnefc::runtime
