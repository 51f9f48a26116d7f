// Convolution and GroupConvolution with post-ops. A filter that covers the whole input makes it an inner
// product.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fast/gemm/inner_product_shape.h"
#include "runtime/fast/int8/convolution/int8_convolution.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

// The window of a convolution by spatial axis. Dilations count the skipped elements: 0 for none.
struct SpatialDims {
  std::vector<int64_t> strides, dilations, before, after;
  bool all_see_input = true;  // no window is entirely in the border
};
// Returns the window of a Convolution or GroupConvolution, with automatic padding resolved.
SpatialDims SpatialDimsOf(const kernels::KernelRequest& request);

// Returns whether the request is a GroupConvolution, whose filter has an axis for groups.
bool IsGroupedConvolution(const kernels::KernelRequest& request);

// Returns true if a convolution that multiplies zeros of the border, as GEMM does, differs from the
// definition: the window has a border, and the filter has infinities or NaN. A null filter (not constant) may
// have them.
bool MakesNanOfBorder(const SpatialDims& spatial, const TensorValue* filter);
inline constexpr kernels::Reason kNanOfBorder(
    "the filter has infinities or NaN, which a border of zeros would turn into NaN");

// Returns the quantization of a step with its sum, if any.
kernels::OrReason<int8::Int8Step> Int8ConvolutionStepOf(const kernels::KernelRequest& given,
                                                        const SpatialDims& spatial);

// Returns the sizes of a convolution whose only window covers the image.
kernels::OrReason<gemm::InnerProduct> ConvolutionInnerProductOf(const kernels::KernelRequest& request);

// Returns the reason if the window is the whole image, and oneDNN's inner product lacks a fused operation: it
// runs with fewer of them.
kernels::Reason FusesAsInnerProduct(const kernels::KernelRequest& request);
// Returns the reason of kApplies or, if that is empty, of FusesAsInnerProduct.
template <kernels::Reason (*kApplies)(const kernels::KernelRequest&)>
kernels::Reason FusedAnd(const kernels::KernelRequest& request) {
  const kernels::Reason reason = kApplies(request);
  return reason.empty() ? FusesAsInnerProduct(request) : reason;
}

}  // namespace nnefc::runtime::fast
