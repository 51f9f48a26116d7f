#pragma once

// 8-bit quantization: results of FakeQuantize and NNEF's linear quantization stay quantized if their readers
// accept it.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::fast::int8 {

// The mapping of numbers to quantized values 0 to 255, and back.
struct QuantizationRange {
  using Formula = ir::ops::LinearQuantization::Formula;
  Formula formula = Formula::kFakeQuantize;
  float low = 0;  // lowest input value
  float high = 0;
  memory::ValueQuantization codes;

  // Returns the quantized value of a number by the formula, clamped to 0 to 255.
  uint8_t Quantize(float x) const;
};
// ir::ops::LinearQuantizationOf for the inputs of a request.
std::optional<QuantizationRange> QuantizationRangeOf(const ir::Node& node,
                                                     llvm::ArrayRef<kernels::ValueInfo> limits);

// A sum of quantized values that is quantized again.
struct QuantizedSum {
  size_t operand = 0;  // input of the request with the other operand
  bool has_relu = false;
  QuantizationRange range;  // quantization of the sum
};

// A request without its final quantization if a quantized result is requested, and that quantization. With a
// sum between two quantizations, the range is that of the first.
struct Int8Request {
  explicit Int8Request(const kernels::KernelRequest& given);

  kernels::KernelRequest request;
  std::optional<QuantizationRange> range;
  std::optional<QuantizedSum> sum;

 private:
  void FindSum();
};

// Repeats numbers of channels, so that loops over a few channels are long enough.
void RepeatChannels(std::vector<float>& numbers);

// Returns the values of the constant operand of a function, per channel; nothing for other operations.
std::optional<std::vector<float>> ChannelNumbers(const kernels::PostOperation& post,
                                                 const kernels::KernelRequest& request, int64_t channel_axis,
                                                 ir::ElementFunction function);

// Quantization as value = factor * x + offset, rounded with ties to even as in oneDNN, equal to the range's
// formula.
struct QuantizationMap {
  explicit QuantizationMap(const QuantizationRange& range);

  float factor, offset;
};

// Returns the scales that convert int8 accumulators to f32, by channel.
std::vector<float> AccumulatorScales(const memory::ValueQuantization& source,
                                     llvm::ArrayRef<float> filter_scales);

// A folded epilogue up to a quantized result: value = scales * (sum + bias) per channel, clamped to `limits`.
struct FoldedRequantization {
  // The quantized sum with values already in the result: value = factor * value + offset + other_factor *
  // (other - other_zero).
  struct Sum {
    size_t operand;
    float factor, offset;
    float other_factor;
    memory::ValueQuantization others;
  };

  std::vector<float> scales;
  std::vector<float> bias;                        // empty: zeros
  std::optional<std::pair<float, float>> limits;  // nothing if the 8-bit range is narrower
  std::optional<Sum> sum;
};
// A quantization of f32 results by channel: value = factors * x + offsets.
struct ChannelQuantization {
  ChannelQuantization(const QuantizationRange& range, int64_t channels);

  std::vector<float> factors, offsets;
};
// Folds constant per-channel operands followed by functions with limits; returns nothing for other post-ops.
// `request` excludes the quantization; per-channel operands belong to `channel_axis` of the result.
std::optional<FoldedRequantization> FoldRequantization(const kernels::KernelRequest& request,
                                                       const QuantizationRange& range,
                                                       llvm::ArrayRef<float> scales_of_products,
                                                       int64_t channel_axis);
// Folds the sum after values of `range`. Returns nothing if the other operand has later readers, or if
// negative sums may be quantized to values other than 0.
std::optional<FoldedRequantization::Sum> FoldSum(const kernels::KernelRequest& given,
                                                 const QuantizationRange& range, const QuantizedSum& sum);

}  // namespace nnefc::runtime::fast::int8
