#pragma once

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/post_ops.h"

namespace nnefc::runtime {

// The product of a row-major matrix [rows, inputs] (input 0 of the request, of
// whatever shape) with a constant matrix (input 1), whose layout is oneDNN's
// choice: [outputs, inputs], or [inputs, outputs] if `inputs_first`.
struct InnerProduct {
  int64_t rows = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool inputs_first = false;
};
std::optional<PreparedKernel> MakeInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                               const InnerProduct& shape);
// The product of one row with a constant matrix [outputs, inputs] that stays as it lies; outputs are axis
// `channel_axis` of the result. Nothing for a small matrix, which a core's cache holds, or where what follows
// has no translation.
std::optional<PreparedKernel> MakeInPlaceProduct(const KernelRequest& request, const InnerProduct& shape,
                                                 int64_t channel_axis);
// Of codes of 8 bits and a matrix of multiples of such: sums of integers, then what
// follows in f32. Nothing if the input lies in no codes.
std::optional<PreparedKernel> MakeInnerProductOfCodes(const KernelRequest& given, const InnerProduct& shape);

}  // namespace nnefc::runtime
