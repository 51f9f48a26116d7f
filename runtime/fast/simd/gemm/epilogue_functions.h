// The functions of an epilogue on vectors, for files compiled per vector width (simd/dispatch.h).
#pragma once

#include "runtime/fast/simd/gemm/epilogue_microkernel.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

// Calls visit(f) with the implementation of a function: f(x, operand) replaces the vector x, with `operand`
// the address of the second operand of kAdd, kMultiply and kPRelu.
template <typename Visit>
void VisitEpilogueFunction(EpilogueFunction function, float alpha, float beta, const Visit& visit) {
  switch (function) {
    case EpilogueFunction::kAdd:
      return visit([](FloatVector& x, const float* y)
                       NNEFC_SIMD_INLINE { x += *reinterpret_cast<const UnalignedFloatVector*>(y); });
    case EpilogueFunction::kMultiply:
      return visit([](FloatVector& x, const float* y)
                       NNEFC_SIMD_INLINE { x *= *reinterpret_cast<const UnalignedFloatVector*>(y); });
    case EpilogueFunction::kPRelu:
      return visit([](FloatVector& x, const float* y) NNEFC_SIMD_INLINE {
        x = x < 0.0f ? x * *reinterpret_cast<const UnalignedFloatVector*>(y) : x;
      });
    case EpilogueFunction::kLinear:
      return visit([=](FloatVector& x, const float*) NNEFC_SIMD_INLINE { x = alpha * x + beta; });
    case EpilogueFunction::kRelu:
      return visit([=](FloatVector& x, const float*) NNEFC_SIMD_INLINE { x = x > 0.0f ? x : alpha * x; });
    case EpilogueFunction::kLowerBound:
      return visit([=](FloatVector& x, const float*) NNEFC_SIMD_INLINE { Max(x, FloatVector{} + alpha); });
    case EpilogueFunction::kUpperBound:
      return visit([=](FloatVector& x, const float*) NNEFC_SIMD_INLINE { Min(x, FloatVector{} + alpha); });
    case EpilogueFunction::kSigmoid:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdSigmoid(x); });
    case EpilogueFunction::kSwish:
      return visit([=](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdSwish(x, alpha); });
    case EpilogueFunction::kHSwish:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdHSwish(x); });
    case EpilogueFunction::kGelu:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdGelu(x); });
    case EpilogueFunction::kGeluTanh:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdGeluTanh(x); });
    case EpilogueFunction::kTanh:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdTanh(x); });
    case EpilogueFunction::kElu:
      return visit([=](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdElu(x, alpha); });
    case EpilogueFunction::kMish:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdMish(x); });
    case EpilogueFunction::kSoftPlus:
      return visit([](FloatVector& x, const float*) NNEFC_SIMD_INLINE { SimdSoftPlus(x); });
  }
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
