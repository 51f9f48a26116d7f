// Convolutions and matmuls of int8 values with our own microkernels (lanes/code_tile.h). Sums are exact even
// without VNNI, unlike oneDNN's i16 accumulation of pairs.
#pragma once

#include "runtime/fast/inner_product.h"
#include "runtime/fast/quantization.h"

namespace nnefc::runtime {

// The quantization of a step: of the left operand, the filter and the result.
struct CodedStep {
  const DnnCodes* source;
  const CodedRequest* coded;
  std::optional<FoldedCodes> folded;  // if the result is quantized
};

// Prepares a Convolution or depthwise GroupConvolution. Quantized images are NHWC, f32 images nChw16c.
// Returns nothing if unsupported, or if oneDNN is faster with VNNI.
std::optional<PreparedKernel> MakeCodedConvolution(const KernelRequest& given, const CodedStep& step,
                                                   bool is_grouped);
// Prepares a matmul.
std::optional<PreparedKernel> MakeCodedProduct(const KernelRequest& given, const CodedStep& step,
                                               const InnerProduct& shape);

}  // namespace nnefc::runtime
