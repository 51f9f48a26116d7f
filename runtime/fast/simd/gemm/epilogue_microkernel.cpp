// Post-ops of a matmul or convolution on a tile of its result, in place.

#include "runtime/fast/simd/gemm/epilogue_microkernel.h"

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Calls function(x, place) for the registers of a tile, with `place` the address of their operand.
template <typename Function>
void MapTile(const EpilogueTile& tile, const Function& function) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    // Local copies, to exclude aliasing.
    const EpilogueTile own = tile;
    const Function own_function = function;
    for (int64_t row = 0; row < own.rows; ++row) {
      for (int64_t block = 0; block < own.blocks; ++block) {
        float* const out = own.out.At(row, block);
        const float* const operand = own.operand.At(row, block);
#pragma GCC unroll 2
        for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth)
          own_function(*reinterpret_cast<UnalignedFloatVector*>(out + lane), operand + lane);
      }
    }
  });
}

// A function of the number alone.
template <typename Function>
void MapNumbers(const EpilogueTile& tile, const Function& function) {
  MapTile(tile, [=](UnalignedFloatVector& numbers, const float*) NNEFC_SIMD_INLINE {
    FloatVector x = numbers;
    function(x);
    numbers = x;
  });
}

}  // namespace

void ApplyEpilogue(EpilogueFunction function, const EpilogueTile& tile) {
  const float alpha = tile.alpha, beta = tile.beta;
  switch (function) {
    case EpilogueFunction::kAdd:
      return MapTile(tile, [](UnalignedFloatVector& x, const float* y)
                               NNEFC_SIMD_INLINE { x += *reinterpret_cast<const UnalignedFloatVector*>(y); });
    case EpilogueFunction::kMultiply:
      return MapTile(tile, [](UnalignedFloatVector& x, const float* y)
                               NNEFC_SIMD_INLINE { x *= *reinterpret_cast<const UnalignedFloatVector*>(y); });
    case EpilogueFunction::kPRelu:
      return MapTile(tile, [](UnalignedFloatVector& x, const float* y) NNEFC_SIMD_INLINE {
        const FloatVector number = x;
        x = number < 0.0f ? number * *reinterpret_cast<const UnalignedFloatVector*>(y) : number;
      });
    case EpilogueFunction::kLinear:
      return MapNumbers(tile, [=](FloatVector& x) NNEFC_SIMD_INLINE { x = alpha * x + beta; });
    case EpilogueFunction::kRelu:
      return MapNumbers(tile, [=](FloatVector& x) NNEFC_SIMD_INLINE { x = x > 0.0f ? x : alpha * x; });
    case EpilogueFunction::kLowerBound:
      return MapNumbers(tile, [=](FloatVector& x) NNEFC_SIMD_INLINE { Max(x, FloatVector{} + alpha); });
    case EpilogueFunction::kUpperBound:
      return MapNumbers(tile, [=](FloatVector& x) NNEFC_SIMD_INLINE { Min(x, FloatVector{} + alpha); });
    case EpilogueFunction::kSigmoid:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdSigmoid(x); });
    case EpilogueFunction::kSwish:
      return MapNumbers(tile, [=](FloatVector& x) NNEFC_SIMD_INLINE { SimdSwish(x, alpha); });
    case EpilogueFunction::kHSwish:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdHSwish(x); });
    case EpilogueFunction::kGelu:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdGelu(x); });
    case EpilogueFunction::kGeluTanh:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdGeluTanh(x); });
    case EpilogueFunction::kTanh:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdTanh(x); });
    case EpilogueFunction::kElu:
      return MapNumbers(tile, [=](FloatVector& x) NNEFC_SIMD_INLINE { SimdElu(x, alpha); });
    case EpilogueFunction::kMish:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdMish(x); });
    case EpilogueFunction::kSoftPlus:
      return MapNumbers(tile, [](FloatVector& x) NNEFC_SIMD_INLINE { SimdSoftPlus(x); });
  }
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
