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

// The rounding of a vector of columns.
struct ColumnRounder {
  FloatVector low, high, factor, offset, unit, first;

  NNEFC_SIMD_INLINE void Round(FloatVector& x) const {
    FloatVector limited = low, y = high;
    Max(limited, x);  // NaN is preserved
    Min(y, limited);
    y = y * factor + offset;
    RoundToEven(y);
    x = y * unit + first;
  }
};

}  // namespace

void ApplyEpilogue(EpilogueFunction function, const EpilogueTile& tile) {
  VisitEpilogueFunction(function, tile.alpha, tile.beta,
                        [&](const auto& visited) { MapTile(tile, visited); });
}

void RoundTileToLevels(const LevelColumns& levels, const EpilogueTile& tile) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const EpilogueTile own = tile;
    for (int64_t column = 0; column < own.blocks * kBlockColumns; column += kSimdWidth) {
      const int64_t block = column / kBlockColumns, lane = column % kBlockColumns;
      const auto load = [&](const float* numbers, FloatVector& x) NNEFC_SIMD_INLINE {
        x = *reinterpret_cast<const UnalignedFloatVector*>(numbers + column);
      };
      ColumnRounder rounder;
      load(levels.low, rounder.low);
      load(levels.high, rounder.high);
      load(levels.factor, rounder.factor);
      load(levels.offset, rounder.offset);
      load(levels.unit, rounder.unit);
      load(levels.first, rounder.first);
      for (int64_t row = 0; row < own.rows; ++row) {
        auto& out = *reinterpret_cast<UnalignedFloatVector*>(own.out.At(row, block) + lane);
        FloatVector x = out;
        if (levels.adds_operand)
          x += *reinterpret_cast<const UnalignedFloatVector*>(own.operand.At(row, block) + lane);
        if (levels.replaces_nan) Max(x, rounder.low);
        rounder.Round(x);
        out = x;
      }
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
