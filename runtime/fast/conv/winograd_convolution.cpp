// Winograd convolution with 3x3 filters and with lines of taps.

#include "runtime/fast/conv/winograd_convolution.h"

#include <algorithm>

#include "runtime/fast/conv/winograd_grid.h"
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

// One phase of a dilated axis: taps `dilation` pixels apart form a separate image from every such pixel.
// Describes one axis of it, for the results starting at `first` at a distance of `dilation`.
struct WinogradPhase {
  int64_t results, pixels;
  int64_t first_pixel;  // in the image
  int64_t seen_first;   // first input of the first result, in pixels of this phase; negative in the border

  static WinogradPhase Of(const WindowAxis& axis, int64_t first) {
    const int64_t apart = axis.dilation, seen = first - axis.before;
    const int64_t pixel = (seen % apart + apart) % apart;
    return {.results = CeilDivide(axis.output - first, apart),
            .pixels = CeilDivide(axis.input - pixel, apart),
            .first_pixel = pixel,
            .seen_first = (seen - pixel) / apart};
  }
};

// The distances between the pixels of an image and of its result along an axis.
struct PixelSteps {
  int64_t input, output;
};

// The shape of a Winograd convolution. Slices of a volume are images: each adds the products of its inputs
// for all taps along that axis, as additional input channels, ordered by tap. Lines of taps are along the
// columns. If the filter has one column, rows and columns of the image are exchanged.
struct WinogradForm {
  int64_t images, inputs, outputs;
  WindowAxis slices, rows, columns;
  PixelSteps row_steps, column_steps;
  int threads;

  bool has_lines() const { return rows.size == 1; }
  int64_t taps() const { return rows.size * columns.size; }
  // Per tile: rows of products, all products, and results along each axis.
  int64_t product_rows() const { return has_lines() ? 1 : kWinogradExtent; }
  int64_t products() const { return product_rows() * kWinogradExtent; }
  int64_t row_results() const { return has_lines() ? 1 : simd::kWinogradResults; }
  int64_t column_results() const { return simd::WinogradResultsOf(columns.size); }

  int64_t terms() const { return slices.size * inputs; }
  int64_t input_blocks() const { return CeilDivide(inputs, kBlockColumns); }
  int64_t term_blocks() const { return slices.size * input_blocks(); }
  int64_t output_blocks() const { return CeilDivide(outputs, kBlockColumns); }
  int64_t output_tiles() const { return CeilDivide(outputs, simd::kTileColumns); }
  int64_t phases() const { return rows.dilation * columns.dilation; }
  // One image per slice and phase.
  WinogradGrid grid() const {
    WindowAxis of_rows = rows, of_columns = columns;
    of_rows.output = CeilDivide(rows.output, rows.dilation);
    of_columns.output = CeilDivide(columns.output, columns.dilation);
    return WinogradGrid::Of(images * slices.output * phases(), of_rows, of_columns, row_results(),
                            column_results());
  }
  WinogradPhase RowPhase(int64_t phase) const { return WinogradPhase::Of(rows, phase / columns.dilation); }
  WinogradPhase ColumnPhase(int64_t phase) const {
    return WinogradPhase::Of(columns, phase % columns.dilation);
  }
  int64_t tiles() const { return grid().tiles(); }
  int64_t in_slice() const { return rows.input * columns.input * kBlockColumns; }
  int64_t out_slice() const { return rows.output * columns.output * kBlockColumns; }
};

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
  const WinogradGroups groups = WinogradGroups::Of(form);
  const WinogradCycles& cycles = form.has_lines() ? kLineCycles : kSquareCycles;
  const double of_tile = cycles.of_products +
                         cycles.of_image / static_cast<double>(form.output_blocks() * kBlockColumns) +
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
    const int64_t taps = form_.taps() * simd::kTileColumns;
    const float* filter = call.weights + (outputs * form_.terms() + terms.begin) * taps;
    if (form_.has_lines()) {
      return simd::TransformFilterLines({.taps = filter,
                                         .count = form_.columns.size,
                                         .inputs = terms.count(),
                                         .out = out,
                                         .stride = FilterStride(terms.count())});
    }
    simd::TransformFilter({.taps = filter,
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
               .row = row * form_.row_results() + of_rows.seen_first,
               .column = column * form_.column_results() + of_columns.seen_first,
               .results = form_.column_results(),
               .count = count,
               .out = out + (block * span.count() + index) * kBlockColumns,
               .stride = StrideOf(form_.term_blocks(), span.count())});
        });
  }

  int64_t BlocksOf(const Part& part) const {
    return std::min<int64_t>(2, form_.output_blocks() - 2 * part.outputs);
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
      FinishBlock(call, part.some, 2 * part.outputs + block,
                  results + block * part.some.count() * kBlockColumns);
  }

  // Computes a channel block of the results.
  void FinishBlock(const ConvolutionCall& call, const IndexRange& span, int64_t block,
                   const float* products) const {
    const int64_t slices = form_.slices.output;
    form_.grid().ForRows(span, [&](int64_t image, int64_t row, int64_t column, int64_t count, int64_t index) {
      const int64_t slice = image / form_.phases(), phase = image % form_.phases();
      const int64_t plane = (slice / slices * form_.output_blocks() + block) * slices + slice % slices;
      const int64_t first = row * form_.row_results(), begin = column * form_.column_results();
      const int64_t rows = std::min(form_.row_results(), form_.RowPhase(phase).results - first);
      const int64_t pixels =
          std::min(count * form_.column_results(), form_.ColumnPhase(phase).results - begin);
      if (rows <= 0 || pixels <= 0) return;
      const int64_t pixel_stride = form_.columns.dilation * form_.column_steps.output * kBlockColumns;
      const int64_t row_stride = form_.rows.dilation * form_.row_steps.output * kBlockColumns;
      const int64_t own = phase / form_.columns.dilation * form_.row_steps.output +
                          phase % form_.columns.dilation * form_.column_steps.output;
      const int64_t offset =
          plane * form_.out_slice() + own * kBlockColumns + first * row_stride + begin * pixel_stride;
      const auto transform = form_.has_lines() ? simd::TransformResultLines : simd::TransformResult;
      transform({.products = products + index * kBlockColumns,
                 .stride = StrideOf(2, span.count()),
                 .count = count,
                 .bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns),
                 .start = call.operands.ElementsOf(steps_.start(), offset),
                 .out = call.out + offset,
                 .row_stride = row_stride,
                 .pixel_stride = pixel_stride,
                 .rows = rows,
                 .columns = pixels,
                 .results = form_.column_results(),
                 .limits = steps_.limits()});
      for (int64_t y = 0; y < rows; ++y)
        steps_.Finish({.out = {call.out + offset + y * row_stride, pixel_stride, 0},
                       .offset = offset + y * row_stride,
                       .column = block * kBlockColumns,
                       .rows = pixels,
                       .blocks = 1},
                      form_.outputs, call.operands);
    });
  }

  WinogradForm form_;
  WinogradGroups groups_;
  gemm::Epilogue steps_;
};

// Describes a convolution of stride 1 with 3x3 taps or a line of them, with one slice or several, in channel
// blocks.
kernels::OrReason<WinogradForm> WinogradFormOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const WindowAxis &rows = window[1], &columns = window[2];
  const int64_t length = std::max(rows.size, columns.size);
  const bool is_line =
      std::min(rows.size, columns.size) == 1 && length >= simd::kMinLineTaps && length <= simd::kMaxLineTaps;
  const bool is_square = rows.size == simd::kWinogradTaps && columns.size == simd::kWinogradTaps;
  if (!is_line && !is_square) return Reason("filter {}x{}", rows.size, columns.size);
  if (rows.stride != 1 || columns.stride != 1) return Reason("strides {}x{}", rows.stride, columns.stride);
  if (std::min(filter[0], filter[1]) < kBlockColumns)
    return Reason("{} input and {} output channels, fewer than a block", filter[1], filter[0]);
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  // Terms are in blocks, so the channels of a tap must fill them. Tiles with all terms are transformed at a
  // time.
  constexpr int64_t kMaxTerms = 8192;
  const int64_t slices = window[0].size;
  if (slices > 1 && filter[1] % kBlockColumns != 0)
    return Reason("{} channels for several slices, not whole blocks", filter[1]);
  if (slices > 1 && filter[1] > kMaxTerms / slices)
    return Reason("{} channels of {} slices are too many", filter[1], slices);
  WinogradForm form = {.images = input[0],
                       .inputs = filter[1],
                       .outputs = filter[0],
                       .slices = window[0],
                       .rows = rows,
                       .columns = columns,
                       .row_steps = {.input = columns.input, .output = columns.output},
                       .column_steps = {.input = 1, .output = 1},
                       .threads = tensor::CurrentThreads()};
  if (columns.size == 1) {
    std::swap(form.rows, form.columns);
    std::swap(form.row_steps, form.column_steps);
  }
  if (is_line) form.rows.dilation = 1;  // no effect on a single tap
  return form;
}

// [outputs, inputs, slices, rows, columns] in tiles of outputs: [tile][slices][inputs][taps].
tensor::Layout WinogradFilterLayout(llvm::ArrayRef<int64_t> filter) {
  memory::BlockedFormat format = memory::AxisBlockedFormat(filter, 0, simd::kTileColumns);
  if (filter.size() == 5) {
    format.strides[1] = format.strides[2];
    format.strides[2] *= filter[1];
  }
  return memory::LayoutOf(format);
}

}  // namespace

Reason WinogradApplies(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  if (request.precision == kernels::Precision::kExact) return Reason("precision exact");
  return WinogradFormOf(request).reason();
}

kernels::Cost WinogradCost(const kernels::KernelRequest& request) {
  const kernels::OrReason<WinogradForm> form = WinogradFormOf(request);
  const double time = TimeComparedWithDirect(*form);
  if (time < 1) return {time};
  return {time, Reason("direct convolution is faster for {} tiles", form->tiles())};
}

kernels::KernelOrReason MakeWinograd(const kernels::KernelRequest& request) {
  const kernels::OrReason<WinogradForm> form = WinogradFormOf(request);
  if (!form) return form.reason();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form->outputs, WinogradFilterLayout(request.inputs[1].shape));
  auto kernel = std::make_shared<WinogradKernel>(*form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
