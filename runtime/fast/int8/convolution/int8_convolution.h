// Convolutions and matmuls of int8 values with our own microkernels (simd/dot2_microkernel.h). Sums are exact
// even without VNNI, unlike oneDNN's i16 accumulation of pairs.
#pragma once

#include <optional>
#include <vector>

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::int8 {

// The quantization of a step: of the left operand, the filter and the result.
struct Int8Step {
  // Requires a quantized left operand and the scales of the filter. Columns are axis `channel_axis` of the
  // result.
  Int8Step(const kernels::KernelRequest& given, int64_t channel_axis);

  const memory::ValueQuantization* source;
  Int8Request coded;
  std::vector<float> scales;                   // from accumulators to f32
  std::vector<int32_t> zeros = {};             // zero points by channel; empty: that of the source
  std::optional<FoldedRequantization> folded;  // if the result is quantized
};

// Returns the reason if the left operand or the filter of a step are not quantized.
kernels::Reason IsQuantized(const kernels::KernelRequest& given);

// The kernels of int8 convolutions: for groups, for one channel per group in f32 or with VNNI, Winograd,
// for few outputs, and accumulators of four or two products each. Matmuls use the last two.
enum class Int8Algorithm : uint8_t {
  kGrouped,
  kDepthwise,
  kDot4Depthwise,
  kWinograd,
  kFewOutputs,
  kDot4,
  kDot2
};

// The implementation of convolutions by an algorithm: the reason why a request is not supported (empty if it
// is), the cost, and the kernel. The request is a Convolution, or a GroupConvolution for the first three
// algorithms. Quantized images are NHWC, f32 images nChw16c.
kernels::Reason Int8ConvolutionApplies(const kernels::KernelRequest& given, Int8Algorithm algorithm);
kernels::Cost Int8ConvolutionCost(const kernels::KernelRequest& given, Int8Algorithm algorithm);
kernels::KernelOrReason MakeInt8Convolution(const kernels::KernelRequest& given, const Int8Step& step,
                                            Int8Algorithm algorithm);

// Matmuls with a constant matrix of the given sizes.
kernels::Reason Int8MatmulApplies(const kernels::KernelRequest& given, const gemm::InnerProduct& shape,
                                  Int8Algorithm algorithm);
kernels::Cost Int8MatmulCost(const kernels::KernelRequest& given, const gemm::InnerProduct& shape,
                             Int8Algorithm algorithm);
kernels::KernelOrReason MakeInt8Matmul(const kernels::KernelRequest& given, const Int8Step& step,
                                       const gemm::InnerProduct& shape, Int8Algorithm algorithm);

}  // namespace nnefc::runtime::fast::int8
