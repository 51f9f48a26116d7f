// Integer Winograd convolution of int8 images.

#include "runtime/fast/int8/convolution/int8_winograd.h"

#include <algorithm>

#include "runtime/fast/conv/winograd/winograd_grid.h"
#include "runtime/fast/simd/int8/int8_winograd_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;
using simd::IndexRange;
using simd::kBlockColumns;
using simd::kWinogradResults;

namespace {

conv::WinogradGrid GridOf(const Int8ConvolutionShape& form) {
  return conv::WinogradGrid::Of(form.images, form.rows, form.columns);
}
int64_t OutputBlocksOf(const Int8ConvolutionShape& form) {
  return tensor::CeilDivide(form.outputs, kBlockColumns);
}

// Returns the number of tile groups. Transforms and accumulators of a group should stay in a core's cache,
// but groups must be large enough to amortise the filter transform.
int64_t GroupsOf(const Int8ConvolutionShape& form) {
  const int64_t of_tile = simd::kWinogradProducts * (form.channels * int64_t{sizeof(int16_t)} +
                                                     kBlockColumns * int64_t{sizeof(int32_t)});
  const int64_t most = 2 * simd::L2Bytes() / of_tile;
  return tensor::CeilDivide(GridOf(form).tiles(), std::max(most, 4 * simd::TileRows()));
}

// Strides between products avoid multiples of the page size, which would cause cache conflicts.
int64_t NumbersOfProduct(const Int8ConvolutionShape& form, int64_t tiles) {
  return tiles * form.channels + 2 * kBlockColumns;
}
int64_t SumsOfProduct(int64_t tiles) {
  return (tiles + 1) * kBlockColumns;
}
int64_t FilterNumbers(const Int8ConvolutionShape& form) {
  return form.channels * kBlockColumns + 2 * kBlockColumns;
}

}  // namespace

Reason Int8Winograd::Applies(const Int8ConvolutionShape& form, float magnitude) {
  const kernels::WindowAxis &rows = form.rows, &columns = form.columns;
  if (rows.size != simd::kWinogradTaps || columns.size != simd::kWinogradTaps)
    return Reason("filter {}x{}", rows.size, columns.size);
  if (rows.stride != 1 || columns.stride != 1) return Reason("strides {}x{}", rows.stride, columns.stride);
  if (rows.dilation != 1 || columns.dilation != 1)
    return Reason("dilations {}x{}", rows.dilation, columns.dilation);
  if (form.channels % kBlockColumns != 0) return Reason("{} channels, not whole blocks", form.channels);
  if (!(magnitude * simd::kMidpoint < static_cast<float>(simd::kMaxWinogradSum)))
    return Reason("the sums of the filter are too large for 32 bits");
  return Reason();
}

// Compares estimated cycles per input pair and output block, measured on Zen 3.
bool Int8Winograd::IsFasterThanDirect(const Int8ConvolutionShape& form) {
  constexpr double kOfPixel = 1.4, kOfFilter = 130, kOfInput = 14, kOfSums = 500;
  const auto tiles = static_cast<double>(GridOf(form).tiles()), groups = static_cast<double>(GroupsOf(form));
  const double direct =
      static_cast<double>(simd::kWinogradTaps * simd::kWinogradTaps * form.images * form.out_pixels()) *
      kOfPixel;
  const double of_tile = static_cast<double>(simd::kWinogradProducts) * kOfPixel +
                         kOfInput / static_cast<double>(OutputBlocksOf(form)) +
                         kOfSums * 2 / static_cast<double>(form.channels);
  return tiles * of_tile + groups * kOfFilter < direct;
}

Int8Winograd::Int8Winograd(const Int8ConvolutionShape& form, Int8Epilogue results)
    : form_(form), results_(std::move(results)), groups_(GroupsOf(form)) {}

// Scratch memory per thread, except for the transformed tiles, which are shared.
struct Int8Winograd::Scratch {
  const int16_t* numbers;
  int16_t* filter;    // a row of transforms
  int32_t* products;  // for an output block
  int32_t* sums;      // rows of results
  int32_t* offsets;   // Int8WinogradSums::offsets

  static int64_t FilterBytes(const Int8ConvolutionShape& form) {
    return simd::kWinogradExtent * FilterNumbers(form) * int64_t{sizeof(int16_t)};
  }
  static int64_t ProductBytes(int64_t tiles) {
    return simd::kWinogradProducts * SumsOfProduct(tiles) * int64_t{sizeof(int32_t)};
  }
  static int64_t SumBytes(const Int8ConvolutionShape& form) {
    return kWinogradResults * GridOf(form).columns * kWinogradResults * kBlockColumns *
           int64_t{sizeof(int32_t)};
  }
  static constexpr int64_t kOffsetBytes = kBlockColumns * sizeof(int32_t);
  static int64_t NumberBytes(const Int8ConvolutionShape& form, int64_t tiles) {
    return simd::kWinogradProducts * NumbersOfProduct(form, tiles) * int64_t{sizeof(int16_t)};
  }
  static int64_t ThreadBytes(const Int8ConvolutionShape& form, int64_t tiles) {
    return FilterBytes(form) + ProductBytes(tiles) + SumBytes(form) + kOffsetBytes;
  }
};

size_t Int8Winograd::scratch_bytes() const {
  const int64_t tiles = tensor::CeilDivide(GridOf(form_).tiles(), groups_);
  return static_cast<size_t>(results_.scratch_floats()) * sizeof(float) +
         static_cast<size_t>(Scratch::NumberBytes(form_, tiles) +
                             form_.threads * Scratch::ThreadBytes(form_, tiles));
}

kernels::FaultOr<Success> Int8Winograd::Run(const kernels::KernelRun& run) const {
  const tensor::ThreadScope scope(form_.threads);
  auto* columns = reinterpret_cast<float*>(run.scratch);
  const Call call = results_.CallOf(run, columns);
  auto* numbers = reinterpret_cast<int16_t*>(columns + results_.scratch_floats());
  const int64_t blocks = OutputBlocksOf(form_), threads = form_.threads;
  const bool is_even = blocks % threads == 0 || blocks >= 4 * threads;
  for (int64_t index = 0; index < groups_; ++index) {
    const IndexRange group = TilesOf(index);
    constexpr int64_t kTilesAtATime = 4;
    const int64_t some = tensor::CeilDivide(group.count(), kTilesAtATime);
    tensor::RunTasks(some, form_.threads, [&](int64_t task, int) {
      TransformTiles(call, group, group.Part(some, task), numbers);
    });
    const int64_t parts = is_even ? 1 : std::min(group.count(), threads);
    std::byte* own = reinterpret_cast<std::byte*>(numbers) + Scratch::NumberBytes(form_, group.count());
    tensor::RunTasks(blocks * parts, form_.threads, [&](int64_t task, int member) {
      std::byte* filter = own + member * Scratch::ThreadBytes(form_, group.count());
      std::byte* products = filter + Scratch::FilterBytes(form_);
      std::byte* sums = products + Scratch::ProductBytes(group.count());
      const Scratch scratch{.numbers = numbers,
                            .filter = reinterpret_cast<int16_t*>(filter),
                            .products = reinterpret_cast<int32_t*>(products),
                            .sums = reinterpret_cast<int32_t*>(sums),
                            .offsets = reinterpret_cast<int32_t*>(sums + Scratch::SumBytes(form_))};
      const IndexRange tiles = group.Part(parts, task % parts);
      Multiply(call, group, tiles, task / parts, scratch);
      Finish(call, tiles, task / parts, scratch);
    });
  }
  return Success();
}

IndexRange Int8Winograd::TilesOf(int64_t group) const {
  return IndexRange{0, GridOf(form_).tiles()}.Part(groups_, group);
}

void Int8Winograd::TransformTiles(const Call& call, const IndexRange& group, const IndexRange& tiles,
                                  int16_t* numbers) const {
  const kernels::WindowAxis &rows = form_.rows, &columns = form_.columns;
  GridOf(form_).ForRows(tiles, [&](int64_t image, int64_t row, int64_t column, int64_t count, int64_t index) {
    for (int64_t i = 0; i < count; ++i) {
      simd::TransformInt8Image({.image = call.in + image * form_.in_size(),
                                .rows = rows.input,
                                .columns = columns.input,
                                .channels = form_.channels,
                                .row = row * kWinogradResults - rows.before,
                                .column = (column + i) * kWinogradResults - columns.before,
                                .border = form_.zero,
                                .out = numbers + (tiles.begin - group.begin + index + i) * form_.channels,
                                .stride = NumbersOfProduct(form_, group.count())});
    }
  });
}

// Computes the compensation for subtracting kMidpoint, from the products of the point 1, the sums of all
// taps.
void Int8Winograd::FindOffsets(simd::Int16Dot2Tile of_one, int32_t* offsets) const {
  const std::vector<int16_t> ones(static_cast<size_t>(form_.channels), 1);
  of_one.numbers = ones.data();
  of_one.sums = offsets;
  simd::RunInt16Dot2Microkernel(1, of_one);
  for (int64_t i = 0; i < kBlockColumns; ++i) offsets[i] *= simd::kMidpoint - form_.zero;
}

// Computes all accumulators of a span of tiles and an output block.
void Int8Winograd::Multiply(const Call& call, const IndexRange& group, const IndexRange& tiles, int64_t block,
                            const Scratch& scratch) const {
  constexpr int64_t kTaps = simd::kWinogradTaps * simd::kWinogradTaps;
  constexpr int32_t kOneStrip = 0;
  constexpr int64_t kOfOne = 1;  // index of the products of point 1
  std::array<int32_t, simd::kMaxDot2Pixels> seen;
  for (size_t i = 0; i < seen.size(); ++i)
    seen[i] = static_cast<int32_t>(i * static_cast<size_t>(form_.channels));
  const int64_t of_tap = form_.channels * kBlockColumns;
  simd::Int16Dot2Tile product{.numbers = nullptr,
                              .seen = seen.data(),
                              .strips = &kOneStrip,
                              .strip_count = 1,
                              .pairs = form_.channels / 2,
                              .weights = nullptr,
                              .sums = nullptr};
  const gemm::TilePanels panels(tiles.count());
  for (int64_t row = 0; row < simd::kWinogradExtent; ++row) {
    simd::TransformInt8Filter({.taps = call.weights + block * kTaps * of_tap,
                               .tap_stride = of_tap,
                               .pairs = form_.channels / 2,
                               .row = row,
                               .out = scratch.filter,
                               .stride = FilterNumbers(form_)});
    for (int64_t x = 0; x < simd::kWinogradExtent; ++x) {
      const int64_t index = row * simd::kWinogradExtent + x;
      const int16_t* numbers = scratch.numbers + index * NumbersOfProduct(form_, group.count()) +
                               (tiles.begin - group.begin) * form_.channels;
      int32_t* sums = scratch.products + index * SumsOfProduct(tiles.count());
      product.weights = scratch.filter + x * FilterNumbers(form_);
      if (row == kOfOne && x == kOfOne) FindOffsets(product, scratch.offsets);
      for (int64_t panel = 0; panel < panels.count(); ++panel) {
        const int64_t first = panels.Begin(panel);
        product.numbers = numbers + first * form_.channels;
        product.sums = sums + first * kBlockColumns;
        simd::RunInt16Dot2Microkernel(panels.RowsOf(panel), product);
      }
    }
  }
}

void Int8Winograd::Finish(const Call& call, const IndexRange& tiles, int64_t block,
                          const Scratch& scratch) const {
  GridOf(form_).ForRows(tiles, [&](int64_t image, int64_t row, int64_t column, int64_t count, int64_t index) {
    const int64_t of_row = count * kWinogradResults;
    simd::TransformInt8Sums({.products = scratch.products + index * kBlockColumns,
                             .stride = SumsOfProduct(tiles.count()),
                             .count = count,
                             .offsets = scratch.offsets,
                             .out = scratch.sums,
                             .row_stride = of_row * kBlockColumns});
    const int64_t first_row = row * kWinogradResults, first = column * kWinogradResults;
    const int64_t rows = std::min(kWinogradResults, form_.rows.output - first_row);
    for (int64_t y = 0; y < rows; ++y) {
      const TilePosition place = {.image = image,
                                  .pixel = (first_row + y) * form_.columns.output + first,
                                  .pixels = std::min(of_row, form_.columns.output - first),
                                  .tile = block};
      results_.Store(scratch.sums + y * of_row * kBlockColumns, place, call);
    }
  });
}

}  // namespace nnefc::runtime::fast::int8
