// Packing of columns of quantized values.

#include "runtime/fast/int8/packed_columns.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/fast/simd/loop_math.h"

namespace nnefc::runtime::fast::int8 {

using simd::kBlockColumns;
using simd::kQuad;
using simd::kQuadWeights;

namespace {

constexpr uint32_t kSignsOfFour = 0x80808080;

}  // namespace

void PackStoredColumns(const uint8_t* from, int64_t columns, int64_t terms, int8_t* out) {
  if (columns < kBlockColumns || terms % kQuad != 0) std::fill_n(out, PackedTileBytes(terms), int8_t{0});
  for (int64_t quad = 0; quad < terms / kQuad; ++quad) {
    for (int64_t j = 0; j < columns; ++j) {
      uint32_t four;
      std::memcpy(&four, from + j * terms + quad * kQuad, sizeof(four));
      four ^= kSignsOfFour;
      std::memcpy(out + quad * kQuadWeights + j * kQuad, &four, sizeof(four));
    }
  }
  for (int64_t k = terms / kQuad * kQuad; k < terms; ++k) {
    for (int64_t j = 0; j < columns; ++j)
      out[k / kQuad * kQuadWeights + j * kQuad + k % kQuad] = static_cast<int8_t>(from[j * terms + k] - 128);
  }
}

namespace {

void PackRows(const uint8_t* from, int64_t stride, int64_t columns, int64_t terms, int8_t* out) {
  // Becomes 0.
  static constexpr auto kPadding = [] {
    std::array<uint8_t, kBlockColumns> values = {};
    values.fill(128);
    return values;
  }();
  for (int64_t k = 0; k < terms; k += kQuad, out += kQuadWeights) {
    std::array<const uint8_t*, kQuad> rows;
    for (int64_t i = 0; i < kQuad; ++i)
      rows[static_cast<size_t>(i)] = k + i < terms ? from + (k + i) * stride : kPadding.data();
    std::array<uint32_t, kBlockColumns> words = {};
    const auto pack = [&](int64_t count) __attribute__((always_inline)) {
      for (int64_t j = 0; j < count; ++j) {
        const uint32_t low = rows[0][j] | uint32_t{rows[1][j]} << 8,
                       high = rows[2][j] | uint32_t{rows[3][j]} << 8;
        words[static_cast<size_t>(j)] = (low | high << 16) ^ kSignsOfFour;
      }
    };
    columns == kBlockColumns ? pack(kBlockColumns) : pack(columns);
    std::memcpy(out, words.data(), sizeof(words));
  }
}

}  // namespace

void PackStoredRows(const uint8_t* from, int64_t stride, int64_t columns, int64_t terms, int8_t* out) {
  simd::Vectorized([=] { PackRows(from, stride, columns, terms, out); });
}

void FindColumnStarts(const int8_t* packed, int64_t terms, int zero, int32_t* starts) {
  std::fill_n(starts, kBlockColumns, 0);
  if (zero == 0) return;
  simd::Vectorized([=] {
    for (int64_t quad = 0; quad < tensor::CeilDivide(terms, kQuad); ++quad) {
      const int8_t* four = packed + quad * kQuadWeights;
      for (int64_t j = 0; j < kBlockColumns; ++j)
        starts[j] -=
            zero * (four[j * kQuad] + four[j * kQuad + 1] + four[j * kQuad + 2] + four[j * kQuad + 3]);
    }
  });
}

}  // namespace nnefc::runtime::fast::int8
