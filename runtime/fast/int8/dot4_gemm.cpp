// int8 convolution and matmul with dot products of four elements. With VNNI the microkernel reads quantized
// values from the im2col buffer. Without it values are clamped, so that the saturating microkernel is exact,
// and the residuals of clamped values are added afterwards (saturation_correction.h). Results are i32
// accumulators, passed to `store` in tiles of kBlockColumns outputs, or requantized directly.

#include "runtime/fast/int8/dot4_gemm.h"

#include <algorithm>
#include <optional>

#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/int8/int8_epilogue.h"
#include "runtime/fast/simd/int8/vnni_microkernel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using simd::IndexRange;
using simd::kBlockColumns;

namespace {

// One additional pixel between the sums of tiles, to avoid page-sized distances.
constexpr int64_t kSumsStride = (kMaxStoredPixels + 1) * kBlockColumns;
constexpr int64_t kSums = simd::kMaxResidualBlocks * kSumsStride,
                  kStarts = simd::kMaxResidualBlocks * kBlockColumns;

// Converts offsets in values to offsets in pixels.
std::vector<int32_t> InPixels(std::vector<int32_t> places, int64_t channels) {
  for (int32_t& place : places) place /= static_cast<int32_t>(channels);
  return places;
}

// The direct results of some tiles of a part, moved from pixel to pixel.
class DirectResults {
 public:
  DirectResults(const Dot4Gemm::Part& part, int64_t tile, simd::VnniTile& products) {
    if (part.codes != nullptr) {
      products.codes = &codes_.emplace(part.codes->From(0, tile));
    } else if (part.hard_swish != nullptr) {
      products.hard_swish = &hard_swish_.emplace(part.hard_swish->From(0, tile));
    } else if (part.numbers != nullptr) {
      products.numbers = &numbers_.emplace(part.numbers->From(0, tile));
    }
  }

  void Advance(int64_t pixels) {
    if (codes_) codes_->out += pixels * codes_->stride;
    if (hard_swish_) hard_swish_->out += pixels * hard_swish_->stride;
    if (!numbers_) return;
    numbers_->out += pixels * numbers_->stride;
    if (numbers_->start != nullptr) numbers_->start += pixels * numbers_->stride;
  }

 private:
  std::optional<simd::RequantizedResults> codes_;
  std::optional<simd::HSwishResults> hard_swish_;
  std::optional<simd::DequantizedResults> numbers_;
};

}  // namespace

// The values of a pixel are read in whole groups of four, the last ones with weights of 0. Without VNNI other
// kernels are as fast for few pixels or channels, and each window needs separate residual terms.
kernels::Reason Dot4Gemm::Applies(const Int8ConvolutionShape& form, bool has_vnni) {
  constexpr int64_t kMaxWindows = 9;
  // The taps of a row are joined if pixels are smaller than groups.
  const bool sees_pixel = form.rows.size == 1 && form.columns.size == 1;
  const bool is_unpadded = has_vnni && (sees_pixel || (form.columns.size > 1 && form.channels < simd::kQuad));
  if (form.padded_channels != form.channels || (form.channels % simd::kQuad != 0 && !is_unpadded))
    return kernels::Reason("{} channels, not a multiple of {}", form.channels, simd::kQuad);
  if (has_vnni) return kernels::Reason();
  const int64_t windows = SaturationCorrection::WindowsOf(form);
  return windows > kMaxWindows ? kernels::Reason("{} windows see a pixel, more than {}", windows, kMaxWindows)
                               : kernels::Reason();
}

// Without VNNI, clamping and correcting the values costs more than it saves for few pixels or products:
// measured on Zen 3.
bool Dot4Gemm::IsFasterThanDot2(const Int8ConvolutionShape& form, bool has_vnni) {
  constexpr int64_t kMinPixels = 12, kMinProducts = 64;
  return has_vnni || (form.out_pixels() >= kMinPixels &&
                      form.rows.size * form.columns.size * form.channels >= kMinProducts);
}

Dot4Gemm::Dot4Gemm(const Int8ConvolutionShape& form, const Int8Grid& grid, bool has_vnni)
    : form_(form),
      has_vnni_(has_vnni),
      rows_of_part_(tensor::CeilDivide(form.rows.output, grid.row_parts)),
      strips_(TapStrips::Of(form)),
      seen_(grid.FirstTapOffsets(form)),
      seen_pixels_(InPixels(seen_, form.channels)),
      strip_pixels_(InPixels(strips_.places, form.channels)) {}

int64_t Dot4Gemm::scratch_bytes() const {
  return PartBytes() + (kSums + kStarts) * int64_t{sizeof(int32_t)};
}

// The first `direct_tiles` tiles bypass `store`.
bool Dot4Gemm::SumQuantized(const Part& part, const uint8_t* image, int zero, Store store) const {
  if (has_vnni_) {
    const uint8_t* seen =
        Im2colBuffer(form_, part.rows, reinterpret_cast<uint8_t*>(part.scratch), over_read())
            .Find(image, zero);
    Part stored = part;
    if (part.direct_tiles > 0) {
      stored.tiles.begin = std::clamp(part.direct_tiles, part.tiles.begin, part.tiles.end);
      const IndexRange pixels{0, part.rows.count() * form_.columns.output};
      const Sums sums = part.out == nullptr ? Sums{}
                                            : Sums{.first = part.out + part.tiles.begin * kBlockColumns,
                                                   .pixel_stride = form_.outputs,
                                                   .tile_stride = kBlockColumns};
      SumWhole(part, seen, zero, {part.tiles.begin, stored.tiles.begin}, pixels, sums);
    }
    ForGroups(
        stored, [](const Group&) {},
        [&](const Group& group, const IndexRange& pixels) {
          SumWhole(part, seen, zero, group.tiles, pixels,
                   {.first = group.sums, .pixel_stride = kBlockColumns, .tile_stride = kSumsStride});
        },
        store);
    return true;
  }
  const SaturationCorrection::Windows windows{seen_pixels_, strip_pixels_,
                                              quads() * simd::kQuad / form_.channels};
  SaturationCorrection clamped(form_, windows, part.rows,
                               SaturationCorrection::Scratch(form_, rows_of_part_, part.scratch));
  if (!clamped.Fill(image, zero)) return false;
  ForGroups(
      part, [&](const Group& group) { FindStarts(part, zero - SaturationCorrection::BaseOf(zero), group); },
      [&](const Group& group, const IndexRange& pixels) { SumClamped(part, clamped, group, pixels); }, store);
  return true;
}

void Dot4Gemm::SumNumbers(const Part& part, const int16_t* numbers, Store store) const {
  ForGroups(
      part, [](const Group&) {},
      [&](const Group& group, const IndexRange& pixels) {
        for (int64_t tile = 0; tile < group.tiles.count(); ++tile) {
          simd::Dot4Tile<int16_t> products = TileOf(part, numbers, group.tiles.begin + tile);
          products.seen = seen_.data() + pixels.begin;
          products.sums = group.sums + tile * kSumsStride;
          simd::RunInt16Dot4Microkernel(pixels.count(), products);
        }
      },
      store);
}

template <typename Number>
simd::Dot4Tile<Number> Dot4Gemm::TileOf(const Part& part, const Number* numbers, int64_t tile) const {
  return {.numbers = numbers,
          .seen = nullptr,
          .strips = strips_.places.data(),
          .strip_count = strip_count(),
          .quads = quads(),
          .weights = part.weights + tile * WeightsOfTile(),
          .sums = nullptr};
}

// Calls start(group) for groups of tiles, then sum(group, pixels) for ranges of pixels.
template <typename Start, typename Sum>
void Dot4Gemm::ForGroups(const Part& part, const Start& start, const Sum& sum, Store store) const {
  auto* sums = reinterpret_cast<int32_t*>(part.scratch + PartBytes());
  const int64_t pixels = part.rows.count() * form_.columns.output;
  const int64_t groups = tensor::CeilDivide(part.tiles.count(), simd::kMaxResidualBlocks);
  const int64_t at_once = kMaxStoredPixels / simd::TileRows() * simd::TileRows();
  for (int64_t index = 0; index < groups; ++index) {
    const Group group{part.tiles.Part(groups, index), sums, sums + kSums};
    start(group);
    for (int64_t pixel = 0; pixel < pixels; pixel += at_once) {
      const IndexRange some = {pixel, std::min(pixels, pixel + at_once)};
      sum(group, some);
      for (int64_t tile = 0; tile < group.tiles.count(); ++tile)
        store(group.tiles.begin + tile, some, sums + tile * kSumsStride);
    }
  }
}

// Computes the compensation for quantized values minus their base: its distance from the zero point times the
// sum of weights.
void Dot4Gemm::FindStarts(const Part& part, int distance, const Group& group) {
  std::fill_n(group.starts, kStarts, 0);
  if (distance == 0) return;
  const int32_t* own = part.less_weights + group.tiles.begin * kBlockColumns;
  for (int64_t i = 0; i < group.tiles.count() * kBlockColumns; ++i)
    group.starts[i] = static_cast<int32_t>(static_cast<uint32_t>(own[i]) * static_cast<uint32_t>(distance));
}

void Dot4Gemm::SumWhole(const Part& part, const uint8_t* seen, int zero, const IndexRange& tiles,
                        const IndexRange& pixels, const Sums& sums) const {
  const gemm::TilePanels panels(pixels.count());
  const int64_t lines_of_one =
      tensor::CeilDivide(strip_count() * quads(), simd::kQuadsPerPrefetch);  // multiplied by next_lines
  auto* starts = reinterpret_cast<int32_t*>(part.scratch + PartBytes()) + kSums;
  for (int64_t tile = tiles.begin, blocks = 0; tile < tiles.end; tile += blocks) {
    blocks = std::min(simd::BlocksPerTile(), tiles.end - tile);
    FindStarts(part, zero, {.tiles = {tile, tile + blocks}, .sums = nullptr, .starts = starts});
    simd::VnniTile products{.products = TileOf(part, seen, tile),
                            .weights_stride = WeightsOfTile(),
                            .sums_stride = sums.tile_stride,
                            .start = starts,
                            .pixel_stride = sums.pixel_stride};
    // The first panels prefetch part of the weights for the next tile.
    if (tile + blocks < tensor::CeilDivide(form_.outputs, kBlockColumns))
      products.next_lines = tensor::CeilDivide(blocks * simd::kQuadsPerPrefetch, panels.count());
    products.next = products.products.weights + blocks * WeightsOfTile();
    const int8_t* last_line = products.next + blocks * WeightsOfTile();
    DirectResults direct(sums.first == nullptr ? part : Part{}, tile, products);
    int64_t finished = 0;
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t first = panels.Begin(panel), end = first + panels.RowsOf(panel);
      products.products.seen = seen_.data() + pixels.begin + first;
      if (sums.first != nullptr)
        products.products.sums =
            sums.first + first * sums.pixel_stride + (tile - tiles.begin) * sums.tile_stride;
      simd::RunVnniMicrokernel(end - first, blocks, products);
      direct.Advance(end - first);
      products.next += lines_of_one * products.next_lines * simd::kQuadWeights;
      if (products.next >= last_line) products.next_lines = 0;
      if (!part.finish || sums.first != nullptr ||
          (end < pixels.count() && end - finished + simd::TileRows() <= kMaxStoredPixels))
        continue;
      part.finish({tile, tile + blocks}, {pixels.begin + finished, pixels.begin + end});
      finished = end;
    }
  }
}

void Dot4Gemm::SumClamped(const Part& part, const SaturationCorrection& clamped, const Group& group,
                          const IndexRange& pixels) const {
  const gemm::TilePanels panels(pixels.count());
  for (int64_t tile = 0; tile < group.tiles.count(); ++tile) {
    simd::Dot4Tile<uint8_t> products = TileOf(part, clamped.codes(), group.tiles.begin + tile);
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      products.seen = seen_.data() + pixels.begin + panels.Begin(panel);
      products.sums = group.sums + tile * kSumsStride + panels.Begin(panel) * kBlockColumns;
      simd::RunSaturatingMicrokernel(panels.RowsOf(panel), products, group.starts + tile * kBlockColumns);
    }
  }
  clamped.AddResidualsTo(pixels, {.terms = nullptr,
                                  .count = 0,
                                  .is_above = true,
                                  .weights = part.weights + group.tiles.begin * WeightsOfTile(),
                                  .first_pixel = pixels.begin,
                                  .sums = group.sums,
                                  .blocks = group.tiles.count(),
                                  .block_stride = WeightsOfTile(),
                                  .sums_stride = kSumsStride});
}

}  // namespace nnefc::runtime::fast::int8
