// Reasons and conditions that several implementations share.
#pragma once

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast {

inline constexpr kernels::Reason kNeedsSimd("needs AVX2");
inline constexpr kernels::Reason kNeedsConstantFilter("the filter is not constant");
inline constexpr kernels::Reason kNotF32("an operand is not f32, empty, or has strides");
inline constexpr kernels::Reason kNotBlocked("the images are not nChw16c");
inline constexpr kernels::Reason kHasFusedOperation("a fused operation");
inline constexpr kernels::Reason kNotFusedByOneDnn(
    "a fused operation that oneDNN lacks, or computes differently");

// Return an empty reason if the table of that type serves a request: all values are f32 and are multiplied as
// f32, or as bf16 (Precision), or the first operand is i32.
inline kernels::Reason ServesF32(const kernels::KernelRequest& request) {
  if (!memory::AreDenseF32(request)) return kNotF32;
  return request.precision == kernels::Precision::kBf16 ? kernels::Reason("precision bf16")
                                                        : kernels::Reason();
}
inline kernels::Reason ServesBf16(const kernels::KernelRequest& request) {
  if (!memory::AreDenseF32(request)) return kNotF32;
  return request.precision == kernels::Precision::kBf16 ? kernels::Reason()
                                                        : kernels::Reason("precision f32");
}
inline kernels::Reason ServesI32(const kernels::KernelRequest& request) {
  return request.inputs[0].type == ElementType::kI32 ? kernels::Reason()
                                                     : kernels::Reason("the first operand is not i32");
}

}  // namespace nnefc::runtime::fast
