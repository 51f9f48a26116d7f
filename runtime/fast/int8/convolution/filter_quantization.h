#pragma once

// 8-bit quantization of constant filters: finds scales with all elements as integer multiples.

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/plan_functions.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/reason.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::fast::int8 {

// Finds the scale of each channel in turn, starting with the previous scale.
class ScaleFinder {
 public:
  // Returns the smallest scale for which all numbers are multiples by -128 to 127, except for f32 rounding:
  // the largest magnitude divided by an integer. Returns 1 for zeros, and nothing if the accumulator may
  // overflow i32 or a number is not finite.
  std::optional<float> Find(std::span<const float> numbers);
  // Returns FilterQuantization::max_magnitude of the channels so far.
  float max_magnitude() const { return max_magnitude_; }

 private:
  std::optional<int> QuantizeByUnit(std::span<const float> numbers, double largest, int most) const;

  double unit_ = 0;  // the previous scale; initially 0
  float max_magnitude_ = 0;
};

// Quantizes a filter with output channels as its first axis or, with groups, its first two.
ir::FilterQuantization QuantizeFilter(const TensorValue& filter, bool grouped);
// Quantizes a filter with output channels as its second axis, as that of a transposed convolution.
ir::FilterQuantization QuantizeColumns(const TensorValue& filter);
// Quantizes a constant right operand by column, or by row if it is transposed.
ir::FilterQuantization QuantizeMatrix(const TensorValue& matrix, bool transposed);
// Returns the reason why a ConvolutionBackpropData with the filter [inputs, outputs, spatial..] has no 8-bit
// kernel, or an empty one. Those of oneDNN are exact with VNNI only. They support dilated filters by GEMM
// alone, and oneDNN 2.6 writes other values where a result is not a sum of at least one product.
kernels::Reason TransposedInt8Applies(const ir::Node& node, llvm::ArrayRef<int64_t> filter);
// Quantizes the constant filter of a convolution or matmul. `numbers` caches the scales of large filters,
// since the search takes as long as packing the filter. Filters of transposed convolutions without 8-bit
// kernel are not quantized.
ir::FilterQuantization QuantizeFilterOf(const ir::Node& node, const TensorValue& filter,
                                        kernels::ConstantNumbers& numbers);

}  // namespace nnefc::runtime::fast::int8
