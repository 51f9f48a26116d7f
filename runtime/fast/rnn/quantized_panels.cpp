// Products of 8-bit weights in panels.

#include "runtime/fast/rnn/quantized_panels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/fast/int8/convolution/filter_quantization.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/int8/fixed_point_microkernel.h"
#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::rnn {

using simd::kBlockColumns;
using simd::kQuad;
using simd::kQuadWeights;

namespace {

constexpr int64_t kMaxTileRows = 14, kMaxTilePanels = 2;

// Returns the format of a matrix [outputs, terms]: panels, each with its terms in order in groups of four.
memory::BlockedFormat QuantizedPanelFormat(int64_t outputs, int64_t terms) {
  memory::BlockedFormat format = memory::RowMajorFormat({outputs, terms}, memory::StorageType::kS8);
  format.padded_extents[0] = tensor::RoundUp(outputs, kBlockColumns);
  format.padded_extents[1] = tensor::RoundUp(terms, kQuad);
  format.num_blocks = 2;
  format.blocks[0] = {0, kBlockColumns};
  format.blocks[1] = {1, kQuad};
  format.strides[1] = kQuadWeights;
  format.strides[0] = format.padded_extents[1] / kQuad * kQuadWeights;
  return format;
}

// Returns the power of two above all magnitudes, or NaN for numbers without a unit.
float PowerAbove(const float* numbers, int64_t count) {
  constexpr float kMost = 0x1p64F, kLeast = 0x1p-96F;
  float most = kLeast;
  bool is_finite = true;
  simd::Vectorized([=, &most, &is_finite] {
    int32_t bits = 0;
    for (int64_t i = 0; i < count; ++i) {
      int32_t number = 0;
      __builtin_memcpy(&number, numbers + i, sizeof(number));
      number &= INT32_MAX;
      bits = number > bits ? number : bits;
    }
    const float largest = std::bit_cast<float>(bits);
    is_finite = largest < kMost;
    most = largest > most ? largest : most;
  });
  if (!is_finite) return std::numeric_limits<float>::quiet_NaN();
  constexpr int32_t kExponent = 0x7F800000;
  return 2 * std::bit_cast<float>(std::bit_cast<int32_t>(most) & kExponent);
}

}  // namespace

void FixedPointRows::Store(int64_t row, const float* numbers, int64_t count) const {
  uint8_t* const first = bytes + row * simd::kFixedPointBytes * row_bytes;
  const float power = PowerAbove(numbers, count);
  units[row] = power / simd::kFixedPointZero;
  if (std::isnan(power)) return;
  simd::StoreFixedPoint({.numbers = numbers,
                         .count = count,
                         .factor = simd::kFixedPointZero / power,
                         .bytes = first,
                         .row_bytes = row_bytes});
  for (int64_t i = 0; i < simd::kFixedPointBytes; ++i)
    std::fill(first + i * row_bytes + count, first + (i + 1) * row_bytes, uint8_t{0});
}

std::optional<QuantizedPanels> QuantizedPanels::Make(const kernels::ValueInfo& value, int64_t group) {
  const Shape& shape = value.shape;
  if (!HasVnni() || !simd::HasSimd() || value.constant == nullptr || !memory::IsDenseF32(value) ||
      shape.size() < 2 || shape.size() > 3 || shape.back() < kQuad)
    return std::nullopt;
  const ir::FilterQuantization filter = int8::QuantizeFilter(*value.constant, shape.size() == 3);
  if (filter.scales.empty()) return std::nullopt;
  const auto groups = static_cast<int64_t>(filter.scales.size()) / group;
  QuantizedPanels made;
  made.terms_ = shape.back();
  memory::BlockedFormat format = memory::StackedFormat(QuantizedPanelFormat(group, made.terms_), groups);
  constexpr int kGroupsAndOutputs = 0b11;
  format.sum_axes = kGroupsAndOutputs;
  const int64_t padded = format.padded_extents[1];
  made.panels_ = groups * padded / kBlockColumns;
  made.scales_.resize(static_cast<size_t>(groups * padded));
  for (int64_t i = 0; i < groups; ++i)
    std::copy_n(filter.scales.begin() + i * group, group, made.scales_.begin() + i * padded);
  memory::BlockedLayout::Form form;
  form.filter_codes = memory::FilterScales{.scales = filter.scales, .mask = kGroupsAndOutputs};
  made.layout_ = std::make_shared<memory::BlockedLayout>(std::move(format), std::move(form));
  return made;
}

int64_t QuantizedPanels::row_bytes() const {
  return tensor::RoundUp(terms_, kQuad);
}

// Rows of bytes with the same initial accumulators: `zero` times the negated sum of the weights.
struct QuantizedPanels::Tile {
  const uint8_t* rows;
  int64_t count;
  int zero;
};

// Calls store(panel, sums, less) for each panel: its accumulators, kBlockColumns per row, and its negated
// sums of weights.
template <typename Store>
void QuantizedPanels::ForTiles(const std::byte* weights, const Tile& tile, const simd::IndexRange& panels,
                               const Store& store) const {
  const int64_t of_row = row_bytes(), of_panel = of_row * kBlockColumns;
  const auto* first = reinterpret_cast<const int8_t*>(weights);
  const auto* less = reinterpret_cast<const int32_t*>(weights + panels_ * of_panel);
  std::array<int32_t, kMaxTileRows> offsets;
  for (int64_t row = 0; row < tile.count; ++row)
    offsets[static_cast<size_t>(row)] = static_cast<int32_t>(row * of_row);
  std::array<int32_t, kMaxTilePanels * kBlockColumns> start;
  std::array<int32_t, kMaxTilePanels * kMaxTileRows * kBlockColumns> sums;
  constexpr int64_t kOfPanel = kMaxTileRows * kBlockColumns;
  const int32_t strip = 0;
  for (int64_t panel = panels.begin, count = 0; panel < panels.end; panel += count) {
    count = std::min(simd::BlocksPerTile(), panels.end - panel);
    for (int64_t i = 0; i < count * kBlockColumns; ++i)
      start[static_cast<size_t>(i)] = tile.zero * less[panel * kBlockColumns + i];
    simd::RunVnniMicrokernel(tile.count, count,
                             {.products = {.numbers = tile.rows,
                                           .seen = offsets.data(),
                                           .strips = &strip,
                                           .strip_count = 1,
                                           .quads = of_row / kQuad,
                                           .weights = first + panel * of_panel,
                                           .sums = sums.data()},
                              .weights_stride = of_panel,
                              .sums_stride = kOfPanel,
                              .start = start.data()});
    for (int64_t i = 0; i < count; ++i)
      store(panel + i, sums.data() + i * kOfPanel, less + (panel + i) * kBlockColumns);
  }
}

void QuantizedPanels::Multiply(const std::byte* weights, const QuantizedRows& rows,
                               const Results& results) const {
  const int64_t most = simd::TileRows();
  for (int64_t top = 0, count = 0; top < rows.count; top += count) {
    count = std::min(most, rows.count - top);
    const Tile tile{rows.values + top * row_bytes(), count, rows.quantization.zero};
    ForTiles(
        weights, tile, results.panels, [&, top](int64_t panel, const int32_t* sums, const int32_t* /*less*/) {
          const int64_t column = (panel - results.panels.begin) * kBlockColumns;
          const float* start = results.start + top * results.start_stride + column;
          float* out = results.out + top * results.out_stride + column;
          const float* scales = scales_.data() + panel * kBlockColumns;
          simd::Vectorized([=, scale = rows.quantization.scale, start_stride = results.start_stride,
                            stride = results.out_stride] {
            for (int64_t row = 0; row < count; ++row) {
              for (int64_t j = 0; j < kBlockColumns; ++j)
                out[row * stride + j] = start[row * start_stride + j] +
                                        scale * scales[j] * static_cast<float>(sums[row * kBlockColumns + j]);
            }
          });
        });
  }
}

void QuantizedPanels::Multiply(const std::byte* weights, const FixedPointRows& rows, int64_t count,
                               const float* const* numbers, const Results& results) const {
  const int64_t of_panel = row_bytes() * kBlockColumns, panel = results.panels.begin;
  const auto* less = reinterpret_cast<const int32_t*>(weights + panels_ * of_panel);
  for (int64_t row = 0, height = 0; row < count; row += height) {
    height = 1;
    if (std::isnan(rows.units[row])) {
      AddInF32(weights, numbers[row], row, results);
      continue;
    }
    while (height < simd::kMaxFixedPointRows && row + height < count && !std::isnan(rows.units[row + height]))
      ++height;
    simd::RunFixedPointMicrokernel(height, results.panels.count(),
                                   {.bytes = rows.bytes + row * simd::kFixedPointBytes * rows.row_bytes,
                                    .units = rows.units + row,
                                    .row_bytes = rows.row_bytes,
                                    .weights = reinterpret_cast<const int8_t*>(weights) + panel * of_panel,
                                    .less = less + panel * kBlockColumns,
                                    .scales = scales_.data() + panel * kBlockColumns,
                                    .start = results.start + row * results.start_stride,
                                    .start_stride = results.start_stride,
                                    .out = results.out + row * results.out_stride,
                                    .out_stride = results.out_stride});
  }
}

void QuantizedPanels::AddInF32(const std::byte* weights, const float* numbers, int64_t row,
                               const Results& results) const {
  const auto* first = reinterpret_cast<const int8_t*>(weights);
  for (int64_t panel = results.panels.begin; panel < results.panels.end; ++panel) {
    const int8_t* from = first + panel * row_bytes() * kBlockColumns;
    for (int64_t j = 0; j < kBlockColumns; ++j) {
      const float scale = scales_[static_cast<size_t>(panel * kBlockColumns + j)];
      float sum = 0;
      for (int64_t k = 0; k < terms_; ++k)
        sum +=
            numbers[k] * scale * static_cast<float>(from[k / kQuad * kQuadWeights + j * kQuad + k % kQuad]);
      const int64_t column = (panel - results.panels.begin) * kBlockColumns + j;
      results.out[row * results.out_stride + column] =
          results.start[row * results.start_stride + column] + sum;
    }
  }
}

}  // namespace nnefc::runtime::fast::rnn
