#pragma once

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/post_ops.h"

namespace nnefc::runtime {

// The sizes of a matmul of a row-major matrix [rows, inputs] (input 0 of the request, with any shape) and a
// constant matrix (input 1): [outputs, inputs], or [inputs, outputs] if `inputs_first`. oneDNN chooses the
// packed layout of the constant.
struct InnerProduct {
  int64_t rows = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool inputs_first = false;
};
std::optional<PreparedKernel> MakeInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                               const InnerProduct& shape);
// Prepares the matmul of one row with a constant matrix [outputs, inputs] in place, without packing. Outputs
// are axis `channel_axis` of the result. Returns nothing for matrices that fit into a core's cache, and for
// unsupported post-ops.
std::optional<PreparedKernel> MakeInPlaceProduct(const KernelRequest& request, const InnerProduct& shape,
                                                 int64_t channel_axis);
// Prepares the int8 matmul with i32 accumulators and an f32 epilogue. Returns nothing if the input is not
// quantized.
std::optional<PreparedKernel> MakeInnerProductOfCodes(const KernelRequest& given, const InnerProduct& shape);

}  // namespace nnefc::runtime
