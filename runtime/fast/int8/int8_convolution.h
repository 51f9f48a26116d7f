// Convolutions and matmuls of int8 values with our own microkernels (simd/dot2_microkernel.h). Sums are exact
// even without VNNI, unlike oneDNN's i16 accumulation of pairs.
#pragma once

#include <optional>

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// The quantization of a step: of the left operand, the filter and the result.
struct Int8Step {
  const DnnQuantization* source;
  const Int8Request* coded;
  std::optional<FoldedRequantization> folded;  // if the result is quantized
};

// Prepares a Convolution or depthwise GroupConvolution. Quantized images are NHWC, f32 images nChw16c.
// Returns nothing if unsupported, or if oneDNN is faster with VNNI.
std::optional<PreparedKernel> MakeInt8Convolution(const KernelRequest& given, const Int8Step& step,
                                                  bool is_grouped);
// Prepares a matmul.
std::optional<PreparedKernel> MakeInt8Matmul(const KernelRequest& given, const Int8Step& step,
                                             const InnerProduct& shape);

}  // namespace nnefc::runtime
