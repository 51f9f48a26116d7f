// Reasons and conditions that several implementations share.
#pragma once

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime {

inline constexpr Reason kNeedsSimd("needs AVX2");
inline constexpr Reason kNeedsConstantFilter("the filter is not constant");
inline constexpr Reason kNotF32("an operand is not f32, empty, or has strides");
inline constexpr Reason kNotBlocked("the images are not nChw16c");
inline constexpr Reason kHasFusedOperation("a fused operation");
inline constexpr Reason kNotFusedByOneDnn("a fused operation that oneDNN lacks, or computes differently");

// The requests of a table: f32 values that are multiplied as f32, or as bf16.
inline Reason ServesF32(const KernelRequest& request) {
  if (!AreDenseF32(request)) return kNotF32;
  return request.precision == Precision::kBf16 ? Reason("precision bf16") : Reason();
}
inline Reason ServesBf16(const KernelRequest& request) {
  if (!AreDenseF32(request)) return kNotF32;
  return request.precision == Precision::kBf16 ? Reason() : Reason("precision f32");
}
inline Reason ServesI32(const KernelRequest& request) {
  return request.inputs[0].type == ElementType::kI32 ? Reason() : Reason("the first operand is not i32");
}

}  // namespace nnefc::runtime
