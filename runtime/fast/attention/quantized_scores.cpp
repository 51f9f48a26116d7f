// Scores of quantized queries and keys.

#include "runtime/fast/attention/quantized_scores.h"

#include <algorithm>
#include <array>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/packed_columns.h"
#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"
#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::attention {

using simd::kBlockColumns;
using simd::kQuad;

namespace {

constexpr int64_t kAlignment = 64;  // bytes
constexpr int64_t kMaxBlocksOfTile = 4;

simd::QuantizedLevels LevelsOf(const memory::ValueQuantization& codes) {
  return {.low = codes.NumberOf(0), .high = codes.NumberOf(ir::ops::kQuantizedValues - 1)};
}

memory::ValueQuantization QuantizationOf(const ir::ops::QuantizedOperands::Operand& operand) {
  return {.scale = operand.scale, .zero = operand.zero};
}

}  // namespace

QuantizedScores::QuantizedScores(const ir::ops::QuantizedOperands& operands, int64_t width)
    : queries_(QuantizationOf(operands.left)), keys_(QuantizationOf(operands.right)), width_(width) {}

int64_t QuantizedScores::quads() const {
  return tensor::CeilDivide(width_, kQuad);
}
int64_t QuantizedScores::row_bytes() const {
  return quads() * kQuad;
}
int64_t QuantizedScores::tile_bytes() const {
  return int8::PackedTileBytes(width_);
}

// Tiles, and the initial accumulators of each column.
int64_t QuantizedScores::KeyBytes(int64_t keys) const {
  return tensor::CeilDivide(keys, kBlockColumns) *
         (tile_bytes() + kBlockColumns * static_cast<int64_t>(sizeof(int32_t)));
}
int64_t QuantizedScores::QueryBytes(int64_t queries) const {
  return tensor::RoundUp(queries * row_bytes(), kAlignment);
}

void QuantizedScores::PackKeys(const simd::StridedRows& keys, std::byte* to) const {
  const simd::QuantizedLevels levels = LevelsOf(keys_);
  const int64_t tiles = tensor::CeilDivide(keys.rows, kBlockColumns);
  auto* starts = reinterpret_cast<int32_t*>(to + tiles * tile_bytes());
  std::vector<uint8_t> columns(static_cast<size_t>(kBlockColumns * width_));
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t first = tile * kBlockColumns, count = std::min(kBlockColumns, keys.rows - first);
    for (int64_t i = 0; i < count; ++i)
      simd::QuantizeRow(levels, keys.At(first + i), width_, columns.data() + i * width_);
    auto* packed = reinterpret_cast<int8_t*>(to + tile * tile_bytes());
    int8::PackStoredColumns(columns.data(), count, width_, packed);
    int8::FindColumnStarts(packed, width_, queries_.zero, starts + tile * kBlockColumns);
  }
}

void QuantizedScores::PackQueries(const simd::StridedRows& queries, std::byte* to) const {
  const simd::QuantizedLevels levels = LevelsOf(queries_);
  auto* out = reinterpret_cast<uint8_t*>(to);
  for (int64_t row = 0; row < queries.rows; ++row, out += row_bytes()) {
    simd::QuantizeRow(levels, queries.At(row), width_, out);
    std::fill(out + width_, out + row_bytes(), uint8_t{0});
  }
}

void QuantizedScores::Multiply(const std::byte* queries, int64_t rows, const std::byte* keys, int64_t count,
                               float scale, const simd::BlockedMatrix<float>& scores) const {
  const gemm::TilePanels panels(rows);
  const int64_t tiles = tensor::CeilDivide(count, kBlockColumns);
  const auto* starts = reinterpret_cast<const int32_t*>(keys + tiles * tile_bytes());
  std::array<float, kMaxBlocksOfTile * kBlockColumns> scales;
  scales.fill(scale * queries_.scale * keys_.scale);
  std::array<int32_t, int8::kMaxPanelRows> offsets;
  for (size_t row = 0; row < offsets.size(); ++row)
    offsets[row] = static_cast<int32_t>(static_cast<int64_t>(row) * row_bytes());
  const int32_t strip = 0;
  simd::DequantizedResults numbers{.sums = nullptr,
                                   .pixels = 0,
                                   .scales = scales.data(),
                                   .out = nullptr,
                                   .stride = scores.row_stride,
                                   .block_stride = scores.block_stride};
  simd::VnniTile products{.products = {.numbers = nullptr,
                                       .seen = offsets.data(),
                                       .strips = &strip,
                                       .strip_count = 1,
                                       .quads = quads(),
                                       .weights = nullptr,
                                       .sums = nullptr},
                          .weights_stride = tile_bytes(),
                          .sums_stride = 0,
                          .start = nullptr,
                          .numbers = &numbers};
  // The tile of keys stays in L1 while all rows use it.
  for (int64_t tile = 0, blocks = 0; tile < tiles; tile += blocks) {
    blocks = std::min({simd::BlocksPerTile(), kMaxBlocksOfTile, tiles - tile});
    products.products.weights = reinterpret_cast<const int8_t*>(keys + tile * tile_bytes());
    products.start = starts + tile * kBlockColumns;
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t first = panels.Begin(panel);
      products.products.numbers = reinterpret_cast<const uint8_t*>(queries) + first * row_bytes();
      numbers.out = scores.At(first, tile);
      simd::RunVnniMicrokernel(panels.RowsOf(panel), blocks, products);
    }
  }
}

}  // namespace nnefc::runtime::fast::attention
