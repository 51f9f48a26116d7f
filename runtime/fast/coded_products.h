// Convolutions and products with constant matrices of codes of 8 bits, in our own tiles (lanes/code_tile.h):
// sums are exact on processors without VNNI, too, where oneDNN adds two products in 16 bits.
#pragma once

#include "runtime/fast/inner_product.h"
#include "runtime/fast/quantization.h"

namespace nnefc::runtime {

// What both want of a step: codes of the left factor, scales of the filter, what follows.
struct CodedStep {
  const DnnCodes* source;
  const CodedRequest* coded;
  std::optional<FoldedCodes> folded;  // with the codes of the result
};

// Of a Convolution, or a GroupConvolution of each channel by itself. Codes lie with channels behind the
// pixels, numbers with channels in blocks. Nothing for what has no such kernel, or with VNNI a faster one of
// oneDNN's.
std::optional<PreparedKernel> MakeCodedConvolution(const KernelRequest& given, const CodedStep& step,
                                                   bool is_grouped);
// Of rows.
std::optional<PreparedKernel> MakeCodedProduct(const KernelRequest& given, const CodedStep& step,
                                               const InnerProduct& shape);

}  // namespace nnefc::runtime
