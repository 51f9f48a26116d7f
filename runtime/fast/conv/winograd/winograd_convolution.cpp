// Winograd convolution with squares and lines of taps.

#include "runtime/fast/conv/winograd/winograd_convolution.h"

#include <algorithm>

#include "runtime/fast/conv/winograd/winograd_form.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/conv/winograd_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using gemm::ConvolutionCall;
using kernels::Reason;
using kernels::WindowAxis;
using simd::IndexRange;
using simd::kBlockColumns;
using simd::kWinogradExtent;
using tensor::CeilDivide;

namespace {

// Strides between products that are not multiples of a page, to avoid cache conflicts.
int64_t StrideOf(int64_t blocks, int64_t tiles) {
  return (blocks * tiles + 1) * kBlockColumns;
}

// The division of the work. With a small filter and many tiles each thread processes its own tiles with the
// whole filter, transformed beforehand. Otherwise the filter is transformed in parts for each group of tiles,
// because the transformed filter is four times as large: several groups are divided among threads; in a
// single group all threads share the tiles and divide the filter.
struct WinogradGroups {
  int64_t count;  // tiles per group
  bool has_whole_filter;
  bool are_shared = false;

  static WinogradGroups Of(const WinogradForm& form) {
    constexpr int64_t kMaxOfFilter = 655360, kMaxSharedTiles = 1048576;  // floats
    const auto count_of = [&](int64_t floats, int64_t least_tiles) {
      const int64_t of_tile = form.products() * (form.term_blocks() + 2) * kBlockColumns;
      const int64_t tiles = std::clamp<int64_t>(floats / of_tile, least_tiles, 64 * simd::TileRows());
      return CeilDivide(form.tiles(), tiles / simd::TileRows() * simd::TileRows());
    };
    const int64_t own = count_of(simd::L2Floats(), 2 * simd::TileRows());
    const bool is_small =
        form.products() * form.terms() * form.output_tiles() * simd::kTileColumns <= kMaxOfFilter;
    const int64_t least = form.threads == 1 ? 2 : 2 * form.threads;
    if (is_small && own >= least)
      return {.count = tensor::RoundUp(own, form.threads), .has_whole_filter = true};
    const int64_t count = count_of(kMaxSharedTiles, 4 * simd::TileRows());
    if (count < form.threads) return {.count = count, .has_whole_filter = false, .are_shared = true};
    return {.count = tensor::RoundUp(count, form.threads), .has_whole_filter = false};
  }
};

// The cycles per term and block of outputs that transforms and products take: per tile, per tile and block of
// the image and the result, and per filter.
struct WinogradCycles {
  double of_products, of_image, of_result, of_filter;
};
// Measured on Zen 4 and, for lines, on Zen 5.
constexpr WinogradCycles kSquareCycles = {
    .of_products = 40, .of_image = 150, .of_result = 130, .of_filter = 300};
constexpr WinogradCycles kLineCycles = {.of_products = 6.7, .of_image = 22, .of_result = 22, .of_filter = 60};
// Direct convolution, per pixel.
constexpr double kDirectCyclesOfTap = 9.3 / 9;

// Returns the estimated time relative to direct convolution.
double TimeComparedWithDirect(const WinogradForm& form) {
  const auto tiles = static_cast<double>(form.tiles());
  const int64_t images = form.images * form.slices.output;
  const auto pixels = static_cast<double>(images * form.rows.output * form.columns.output);
  const int64_t outputs = form.result_phases() * form.output_blocks() * kBlockColumns;
  const WinogradGroups groups = WinogradGroups::Of(form);
  const WinogradCycles& cycles = form.has_lines() ? kLineCycles : kSquareCycles;
  const double of_tile = cycles.of_products + cycles.of_image / static_cast<double>(outputs) +
                         cycles.of_result / static_cast<double>(form.terms());
  const double of_filter = cycles.of_filter * static_cast<double>(groups.has_whole_filter ? 1 : groups.count);
  return (tiles * of_tile + of_filter) / (kDirectCyclesOfTap * static_cast<double>(form.taps()) * pixels);
}

class WinogradKernel final : public kernels::Kernel {
 public:
  WinogradKernel(const WinogradForm& form, gemm::Epilogue steps)
      : form_(form), groups_(WinogradGroups::Of(form)), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:winograd"; }

  size_t scratch_bytes() const {
    const int64_t of_member = ResultFloats() + (groups_.are_shared ? 0 : ImageFloats()) +
                              (groups_.has_whole_filter ? 0 : FilterFloats(TermsTogether()));
    const int64_t of_all = groups_.has_whole_filter
                               ? form_.output_tiles() * form_.product_rows() * FilterFloats(form_.terms())
                           : groups_.are_shared ? ImageFloats()
                                                : 0;
    const int64_t floats = steps_.column_floats(form_.outputs) + of_all + form_.threads * of_member;
    return static_cast<size_t>(floats) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const ConvolutionCall call = ConvolutionCall::Of(run, steps_, form_.outputs);
    float* scratch = reinterpret_cast<float*>(run.scratch) + steps_.column_floats(form_.outputs);
    if (groups_.has_whole_filter) {
      RunOwnTiles(call, scratch);
    } else if (groups_.are_shared) {
      for (int64_t group = 0; group < groups_.count; ++group) RunSharedTiles(call, TilesOf(group), scratch);
    } else {
      RunOwnGroups(call, scratch);
    }
    return Success();
  }

 private:
  // Number of terms with filters transformed together. More of them mean fewer memory accesses for the sums
  // of wide tiles; L1 holds a product's filters and L2 a row of products.
  static int64_t TermsTogether() {
    constexpr int64_t kFew = 64, kLargeCache = 196608;  // floats
    return simd::L2Floats() >= kLargeCache ? simd::SelectedInstructionSet().winograd_terms : kFew;
  }

  IndexRange TilesOf(int64_t group) const { return IndexRange{0, form_.tiles()}.Part(groups_.count, group); }
  int64_t MaxTiles() const { return CeilDivide(form_.tiles(), groups_.count); }
  int64_t ImageFloats() const { return form_.products() * StrideOf(form_.term_blocks(), MaxTiles()); }
  int64_t ResultFloats() const { return form_.products() * StrideOf(2, MaxTiles()); }
  // Stride of a row of products for a tile of outputs.
  static int64_t FilterStride(int64_t terms) { return terms * simd::kTileColumns + kBlockColumns; }
  int64_t FilterFloats(int64_t terms) const { return kWinogradExtent * FilterStride(terms); }

  // A range of the tiles transformed together, and a tile of outputs.
  struct Part {
    IndexRange all, some;
    int64_t outputs;
  };

  void RunOwnTiles(const ConvolutionCall& call, float* scratch) const {
    const int64_t filter_floats = FilterFloats(form_.terms()), tiles = form_.output_tiles();
    const int64_t rows = form_.product_rows();
    const IndexRange terms = {0, form_.terms()};
    tensor::RunTasks(tiles * rows, form_.threads, [&](int64_t task, int) {
      TransformTaps(call, task / rows, task % rows, terms, scratch + task * filter_floats);
    });
    tensor::RunTasks(groups_.count, form_.threads, [&](int64_t group, int member) {
      const IndexRange span = TilesOf(group);
      float* image = scratch + tiles * rows * filter_floats + member * (ImageFloats() + ResultFloats());
      float* results = image + ImageFloats();
      for (int64_t block = 0; block < form_.term_blocks(); ++block) TransformPixels(call, span, block, image);
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const Part part = {span, span, tile};
        for (int64_t row = 0; row < rows; ++row)
          Multiply(part, row, terms, image, scratch + (tile * rows + row) * filter_floats, results);
        Finish(call, part, results);
      }
    });
  }

  void RunOwnGroups(const ConvolutionCall& call, float* scratch) const {
    const int64_t own_floats = ImageFloats() + FilterFloats(TermsTogether()) + ResultFloats();
    tensor::RunTasks(groups_.count, form_.threads, [&](int64_t group, int member) {
      const IndexRange span = TilesOf(group);
      float* image = scratch + member * own_floats;
      for (int64_t block = 0; block < form_.term_blocks(); ++block) TransformPixels(call, span, block, image);
      for (int64_t tile = 0; tile < form_.output_tiles(); ++tile)
        RunPart(call, {span, span, tile}, image, image + ImageFloats());
    });
  }

  void RunSharedTiles(const ConvolutionCall& call, const IndexRange& span, float* image) const {
    float* own = image + ImageFloats();
    const int64_t own_floats = FilterFloats(TermsTogether()) + ResultFloats();
    tensor::RunTasks(form_.term_blocks(), form_.threads,
                     [&](int64_t block, int) { TransformPixels(call, span, block, image); });
    const int64_t tiles = form_.output_tiles();
    const bool is_even = tiles % form_.threads == 0 || tiles >= 4 * form_.threads;
    const int64_t parts = is_even ? 1 : std::min<int64_t>(span.count(), form_.threads);
    tensor::RunTasks(tiles * parts, form_.threads, [&](int64_t task, int member) {
      RunPart(call, {span, span.Part(parts, task % parts), task / parts}, image, own + member * own_floats);
    });
  }

  // Transforms the filter in parts: `own` has room for one, followed by the products.
  void RunPart(const ConvolutionCall& call, const Part& part, const float* image, float* own) const {
    float* results = own + FilterFloats(TermsTogether());
    for (int64_t row = 0; row < form_.product_rows(); ++row) {
      for (int64_t first = 0; first < form_.terms(); first += TermsTogether()) {
        const IndexRange terms = {first, std::min(first + TermsTogether(), form_.terms())};
        TransformTaps(call, part.outputs, row, terms, own);
        Multiply(part, row, terms, image, own, results);
      }
    }
    Finish(call, part, results);
  }

  // Transforms the filters of a range of terms and a tile of outputs for a row of products.
  void TransformTaps(const ConvolutionCall& call, int64_t outputs, int64_t row, const IndexRange& terms,
                     float* out) const {
    const WinogradTaps taps = form_.TapsOf(outputs / form_.phase_tiles());
    const int64_t input_stride = form_.taps_of_all() * simd::kTileColumns;
    const int64_t first = outputs % form_.phase_tiles() * form_.terms() + terms.begin;
    const auto transform = form_.has_lines() ? simd::TransformFilterLines : simd::TransformFilter;
    transform({.taps = call.weights + first * input_stride + taps.first,
               .count = form_.columns.size,
               .tap_row = taps.row,
               .tap_column = taps.column,
               .input_stride = input_stride,
               .inputs = terms.count(),
               .row = row,
               .out = out,
               .stride = FilterStride(terms.count())});
  }

  // Transforms a block of terms: channels of the slices at a tap.
  void TransformPixels(const ConvolutionCall& call, const IndexRange& span, int64_t block, float* out) const {
    const WindowAxis& slices = form_.slices;
    const WindowAxis& rows = form_.rows;
    const WindowAxis& columns = form_.columns;
    const int64_t tap = block / form_.input_blocks(), channels = block % form_.input_blocks();
    form_.grid().ForRows(
        span, [&](int64_t index_of_image, int64_t row, int64_t column, int64_t count, int64_t index) {
          const int64_t index_of_slice = index_of_image / form_.phases();
          const WinogradPhase of_rows = form_.RowPhase(index_of_image % form_.phases());
          const WinogradPhase of_columns = form_.ColumnPhase(index_of_image % form_.phases());
          const int64_t image = index_of_slice / slices.output;
          const int64_t slice = gemm::InputPosition(slices, index_of_slice % slices.output, tap);
          const int64_t plane = (image * form_.input_blocks() + channels) * slices.input;
          const bool is_seen = slice >= 0 && slice < slices.input;
          const int64_t first =
              of_rows.first_pixel * form_.row_steps.input + of_columns.first_pixel * form_.column_steps.input;
          const auto transform = form_.has_lines() ? simd::TransformImageLines : simd::TransformImage;
          transform(
              {.image = call.in + (plane + (is_seen ? slice : 0)) * form_.in_slice() + first * kBlockColumns,
               .row_stride = rows.dilation * form_.row_steps.input * kBlockColumns,
               .pixel_stride = columns.dilation * form_.column_steps.input * kBlockColumns,
               .rows = is_seen ? of_rows.pixels : 0,
               .columns = of_columns.pixels,
               .row = row * form_.tile_rows() + of_rows.seen_first,
               .column = column * form_.tile_columns() + of_columns.seen_first,
               .results = form_.tile_columns(),
               .count = count,
               .out = out + (block * span.count() + index) * kBlockColumns,
               .stride = StrideOf(form_.term_blocks(), span.count())});
        });
  }

  int64_t BlocksOf(const Part& part) const {
    return std::min<int64_t>(2, form_.output_blocks() - 2 * (part.outputs % form_.phase_tiles()));
  }

  // Adds or initializes a row of products with a range of terms.
  void Multiply(const Part& part, int64_t row, const IndexRange& terms, const float* image,
                const float* filter, float* results) const {
    const int64_t all = part.all.count(), tiles = part.some.count();
    const gemm::TilePanels panels(tiles);
    image += (part.some.begin - part.all.begin + terms.begin / kBlockColumns * all) * kBlockColumns;
    for (int64_t x = 0; x < kWinogradExtent; ++x) {
      const int64_t product = row * kWinogradExtent + x;
      const float* left = image + product * StrideOf(form_.term_blocks(), all);
      float* out = results + product * StrideOf(2, tiles);
      panels.ForEqualPanels([&](int64_t panel, int64_t count) {
        const int64_t begin = panels.Begin(panel);
        float* sums = out + begin * kBlockColumns;
        simd::RunTile(panels.RowsOf(panel), BlocksOf(part),
                      {.left = left + begin * kBlockColumns,
                       .left_stride = all * kBlockColumns,
                       .terms = terms.count(),
                       .weights = filter + x * FilterStride(terms.count()),
                       .start = terms.begin == 0 ? nullptr : sums,
                       .out = {sums, kBlockColumns, tiles * kBlockColumns},
                       .tiles = count});
      });
    }
  }

  void Finish(const ConvolutionCall& call, const Part& part, const float* results) const {
    for (int64_t block = 0; block < BlocksOf(part); ++block)
      FinishBlock(call, part, block, results + block * part.some.count() * kBlockColumns);
  }

  // The results of a phase along an axis, starting at a tile: the distance of adjacent ones and the place of
  // the first, the first one that exists, and the end.
  struct PhaseResults {
    int64_t stride, place, first, end;

    static PhaseResults Of(const WindowAxis& axis, const WinogradResults& results, int64_t phase,
                           int64_t result_phase, int64_t begin) {
      const int64_t stride = axis.dilation * results.stride;
      const int64_t place = begin * stride + phase + result_phase + results.shift;
      return {.stride = stride,
              .place = place,
              .first = place < 0 ? 1 : 0,
              .end = CeilDivide(results.extent - place, stride)};
    }
    int64_t first_place() const { return place + first * stride; }
  };

  // Computes a channel block of the results of a tile of outputs.
  void FinishBlock(const ConvolutionCall& call, const Part& part, int64_t block_of_tile,
                   const float* products) const {
    const int64_t slices = form_.slices.output, result_phase = part.outputs / form_.phase_tiles();
    const int64_t block = part.outputs % form_.phase_tiles() * 2 + block_of_tile;
    const WinogradResults &of_rows = form_.row_results, &of_columns = form_.column_results;
    form_.grid().ForRows(part.some, [&](int64_t image, int64_t row, int64_t column, int64_t count,
                                        int64_t index) {
      const int64_t slice = image / form_.phases(), phase = image % form_.phases();
      const int64_t plane = (slice / slices * form_.output_blocks() + block) * slices + slice % slices;
      const auto rows = PhaseResults::Of(form_.rows, of_rows, phase / form_.columns.dilation,
                                         result_phase / of_columns.stride, row * form_.tile_rows());
      const auto columns = PhaseResults::Of(form_.columns, of_columns, phase % form_.columns.dilation,
                                            result_phase % of_columns.stride, column * form_.tile_columns());
      const int64_t end_row = std::min(form_.tile_rows(), rows.end);
      const int64_t end_column = std::min(count * form_.tile_columns(), columns.end);
      if (end_row <= rows.first || end_column <= columns.first) return;
      const int64_t row_stride = rows.stride * form_.row_steps.output * kBlockColumns;
      const int64_t pixel_stride = columns.stride * form_.column_steps.output * kBlockColumns;
      const int64_t pixel =
          rows.first_place() * form_.row_steps.output + columns.first_place() * form_.column_steps.output;
      const int64_t offset = plane * form_.out_slice() + pixel * kBlockColumns;
      const auto transform = form_.has_lines() ? simd::TransformResultLines : simd::TransformResult;
      transform({.products = products + index * kBlockColumns,
                 .stride = StrideOf(2, part.some.count()),
                 .count = count,
                 .bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns),
                 .start = call.operands.ElementsOf(steps_.start(), offset),
                 .out = call.out + offset,
                 .row_stride = row_stride,
                 .pixel_stride = pixel_stride,
                 .rows = end_row,
                 .columns = end_column,
                 .first_row = rows.first,
                 .first_column = columns.first,
                 .results = form_.tile_columns(),
                 .limits = steps_.limits()});
      for (int64_t y = 0; y < end_row - rows.first; ++y)
        steps_.Finish({.out = {call.out + offset + y * row_stride, pixel_stride, 0},
                       .offset = offset + y * row_stride,
                       .column = block * kBlockColumns,
                       .rows = end_column - columns.first,
                       .blocks = 1},
                      form_.outputs, call.operands);
    });
  }

  WinogradForm form_;
  WinogradGroups groups_;
  gemm::Epilogue steps_;
};

// [outputs, inputs, slices, rows, columns] in tiles of outputs: [tile][slices][inputs][taps].
tensor::Layout WinogradFilterLayout(llvm::ArrayRef<int64_t> filter) {
  memory::BlockedFormat format = memory::AxisBlockedFormat(filter, 0, simd::kTileColumns);
  if (filter.size() == 5) {
    format.strides[1] = format.strides[2];
    format.strides[2] *= filter[1];
  }
  return memory::LayoutOf(format);
}

// [inputs, outputs, rows, columns] of a transposed convolution: [tile][inputs][taps].
tensor::Layout TransposedFilterLayout(llvm::ArrayRef<int64_t> filter) {
  memory::BlockedFormat format = memory::AxisBlockedFormat(filter, 1, simd::kTileColumns);
  format.strides[0] = format.strides[1];
  format.strides[1] *= filter[0];
  return memory::LayoutOf(format);
}

Reason Supports(const kernels::KernelRequest& request, const kernels::OrReason<WinogradForm>& form) {
  if (!simd::HasSimd()) return kNeedsSimd;
  if (request.precision == kernels::Precision::kExact) return Reason("precision exact");
  return form.reason();
}

kernels::KernelOrReason Make(const kernels::KernelRequest& request,
                             const kernels::OrReason<WinogradForm>& form, const tensor::Layout& filter) {
  if (!form) return form.reason();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  kernels::PreparedKernel prepared = gemm::PrepareConvolution(request, *steps, form->outputs, filter);
  auto kernel = std::make_shared<WinogradKernel>(*form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace

Reason WinogradApplies(const kernels::KernelRequest& request) {
  return Supports(request, WinogradFormOf(request));
}

kernels::Cost WinogradCost(const kernels::KernelRequest& request) {
  const WinogradForm form = *WinogradFormOf(request);
  const double time = TimeComparedWithDirect(form);
  if (time < 1) return {time};
  return {time, Reason("direct convolution is faster for {} tiles", form.tiles())};
}

kernels::KernelOrReason MakeWinograd(const kernels::KernelRequest& request) {
  return Make(request, WinogradFormOf(request), WinogradFilterLayout(request.inputs[1].shape));
}

Reason TransposedWinogradApplies(const kernels::KernelRequest& request) {
  return Supports(request, TransposedWinogradFormOf(request));
}

kernels::Cost TransposedWinogradCost(const kernels::KernelRequest& request) {
  // The cost of oneDNN's direct kernels in the same table. On Zen 5 they are faster than direct convolution
  // for squares, most of all for outputs that leave a part of a tile empty.
  constexpr double kCostOfDirect = 2, kTimeOfSquares = 1.2;
  const WinogradForm form = *TransposedWinogradFormOf(request);
  const auto filled =
      static_cast<double>(form.outputs) / static_cast<double>(form.phase_tiles() * simd::kTileColumns);
  const double time =
      TimeComparedWithDirect(form) * (form.has_lines() ? 1 : kTimeOfSquares * (1 + 1 / filled) / 2);
  if (time < 1) return {kCostOfDirect * time};
  return kernels::Cost::NotByDefault(Reason("other kernels are faster for {} tiles", form.tiles()));
}

kernels::KernelOrReason MakeTransposedWinograd(const kernels::KernelRequest& request) {
  return Make(request, TransposedWinogradFormOf(request), TransposedFilterLayout(request.inputs[1].shape));
}

}  // namespace nnefc::runtime::fast::conv
