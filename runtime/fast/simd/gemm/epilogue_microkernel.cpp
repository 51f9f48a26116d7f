// Post-ops of a matmul or convolution on a tile of its result, in place.

#include "runtime/fast/simd/gemm/epilogue_microkernel.h"

#include "runtime/fast/simd/gemm/epilogue_functions.h"

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
        for (int64_t lane = 0; lane < kBlockColumns; lane += kSimdWidth) {
          FloatVector x = *reinterpret_cast<const UnalignedFloatVector*>(out + lane);
          own_function(x, operand + lane);
          *reinterpret_cast<UnalignedFloatVector*>(out + lane) = x;
        }
      }
    }
  });
}

}  // namespace

void ApplyEpilogue(EpilogueFunction function, const EpilogueTile& tile) {
  VisitEpilogueFunction(function, tile.alpha, tile.beta,
                        [&](const auto& visited) { MapTile(tile, visited); });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
