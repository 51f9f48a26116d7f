// Products of numbers in fixed point: three i32 accumulators per result, one for each byte of the numbers.

#include "runtime/fast/simd/int8/fixed_point_microkernel.h"

#include "runtime/fast/simd/int8/dot4.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr int kBytes = static_cast<int>(kFixedPointBytes);
// Panels with accumulators in registers: enough independent ones to hide the latency of the products.
template <int kRows>
constexpr int kMaxPanels = kVectorsPerBlock == 1                 ? 4
                           : kVectorsPerBlock == 2 && kRows == 1 ? 2
                                                                 : 1;

template <int kRows, int kPanels>
NNEFC_SIMD_INLINE inline void FixedPointTileOf(const FixedPointTile& tile) {
  constexpr int kOfPanel = static_cast<int>(kVectorsPerBlock), kParts = kPanels * kOfPanel;
  Uint32Vector sums[kRows][kBytes][kParts];
#pragma GCC unroll 4
  for (int p = 0; p < kParts; ++p) {
    Uint32Vector less;
    LoadAccumulators(tile.less + p * kSimdWidth, less);
#pragma GCC unroll 2
    for (int row = 0; row < kRows; ++row) {
      sums[row][0][p] = sums[row][1][p] = Uint32Vector{};
      sums[row][2][p] = less * uint32_t{kFixedPointZero >> 16};
    }
  }
  const int64_t quads = tile.row_bytes / kQuad, of_panel = tile.row_bytes * kBlockColumns;
  for (int64_t quad = 0; quad < quads; ++quad) {
    Uint8Vector codes[kRows][kBytes];
#pragma GCC unroll 2
    for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 3
      for (int byte = 0; byte < kBytes; ++byte)
        BroadcastQuad(tile.bytes + (row * kBytes + byte) * tile.row_bytes + kQuad * quad, codes[row][byte]);
    }
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p) {
      const Uint8Vector weights = *reinterpret_cast<const UnalignedUint8Vector*>(
          tile.weights + p / kOfPanel * of_panel + kQuadWeights * quad + p % kOfPanel * kVectorWeights);
#pragma GCC unroll 2
      for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 3
        for (int byte = 0; byte < kBytes; ++byte) AddQuads(sums[row][byte][p], codes[row][byte], weights);
      }
    }
  }
#pragma GCC unroll 2
  for (int row = 0; row < kRows; ++row) {
    FloatVector unit;
    Broadcast(tile.units + row, unit);
#pragma GCC unroll 4
    for (int p = 0; p < kParts; ++p) {
      FloatVector parts[kBytes];
#pragma GCC unroll 3
      for (int byte = 0; byte < kBytes; ++byte)
        parts[byte] = __builtin_convertvector(reinterpret_cast<Int32Vector>(sums[row][byte][p]), FloatVector);
      const FloatVector sum = parts[2] * 65536.0f + (parts[1] * 256.0f + parts[0]);
      const FloatVector scales = *reinterpret_cast<const UnalignedFloatVector*>(tile.scales + p * kSimdWidth);
      const FloatVector start = *reinterpret_cast<const UnalignedFloatVector*>(
          tile.start + row * tile.start_stride + p * kSimdWidth);
      *reinterpret_cast<UnalignedFloatVector*>(tile.out + row * tile.out_stride + p * kSimdWidth) =
          start + scales * (unit * sum);
    }
  }
}

template <int kRows>
NNEFC_SIMD_INLINE inline void RunFixedPointRows(int64_t panels, FixedPointTile tile) {
  constexpr int kTogether = kMaxPanels<kRows>;
  const auto advance = [&](int64_t count) {
    tile.weights += count * tile.row_bytes * kBlockColumns;
    tile.less += count * kBlockColumns;
    tile.scales += count * kBlockColumns;
    tile.start += count * kBlockColumns;
    tile.out += count * kBlockColumns;
  };
  for (; panels >= kTogether; panels -= kTogether) {
    FixedPointTileOf<kRows, kTogether>(tile);
    advance(kTogether);
  }
  if constexpr (kTogether > 2) {
    if (panels >= 2) {
      FixedPointTileOf<kRows, 2>(tile);
      advance(2);
      panels -= 2;
    }
  }
  if (panels == 1) FixedPointTileOf<kRows, 1>(tile);
}

}  // namespace

void StoreFixedPoint(const FixedPointRow& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    using Bytes = uint8_t __attribute__((vector_size(NNEFC_SIMD_WIDTH), aligned(1), may_alias));
    const FixedPointRow row = given;  // local copy, to exclude aliasing
    // Adding half of a unit away from 0 and truncation round to nearest.
    int64_t i = 0;
    for (; i + kSimdWidth <= row.count; i += kSimdWidth) {
      const FloatVector number = *reinterpret_cast<const UnalignedFloatVector*>(row.numbers + i) * row.factor;
      const FloatVector half = number < 0.0f ? FloatVector{} - 0.5f : FloatVector{} + 0.5f;
      Int32Vector value = __builtin_convertvector(number + half, Int32Vector);
      value = value < kFixedPointZero ? value : Int32Vector{} + (kFixedPointZero - 1);
      value += kFixedPointZero;
      uint8_t* to = row.bytes + i;
#pragma GCC unroll 3
      for (int byte = 0; byte < kBytes; ++byte) {
        const Int32Vector low = value >> (8 * byte) & 255;
        *reinterpret_cast<Bytes*>(to + byte * row.row_bytes) =
            reinterpret_cast<Bytes>(__builtin_convertvector(low, Bytes));
      }
    }
    for (; i < row.count; ++i) {
      const float number = row.numbers[i] * row.factor;
      const auto rounded = static_cast<int32_t>(number < 0.0f ? number - 0.5f : number + 0.5f);
      const int32_t value = (rounded < kFixedPointZero ? rounded : kFixedPointZero - 1) + kFixedPointZero;
      for (int byte = 0; byte < kBytes; ++byte)
        row.bytes[byte * row.row_bytes + i] = static_cast<uint8_t>(value >> (8 * byte));
    }
  });
}

void RunFixedPointMicrokernel(int64_t rows, int64_t panels, const FixedPointTile& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    if (rows == 1) {
      RunFixedPointRows<1>(panels, given);
    } else {
      RunFixedPointRows<2>(panels, given);
    }
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
