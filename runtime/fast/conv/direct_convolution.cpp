// Direct convolution with register-tiled microkernels.

#include "runtime/fast/conv/direct_convolution.h"

#include <algorithm>
#include <utility>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/row_partitions.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/conv/direct_convolution_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using simd::ImageOrder;
using simd::kBlockColumns;
using simd::kTileColumns;
using tensor::CeilDivide;

namespace {

struct DirectForm {
  ImageOrder order;
  int64_t groups;                   // multiples of the block size if more than one
  int64_t images, inputs, outputs;  // per group
  kernels::WindowAxis slices, rows, columns;
  int threads;

  bool is_blocked() const { return order == ImageOrder::kBlocked; }
  // Pixels of a channel, and floats of a result block.
  int64_t in_plane() const { return slices.input * rows.input * columns.input; }
  int64_t out_plane() const { return slices.output * out_slice(); }
  int64_t out_slice() const { return rows.output * columns.output * kBlockColumns; }
  int64_t out_blocks() const { return CeilDivide(outputs, kBlockColumns); }
  int64_t tiles() const { return CeilDivide(outputs, kTileColumns); }
  int64_t taps() const { return slices.size * rows.size * columns.size; }
  // Floats of an image, and of an output tile's weights.
  int64_t in_size() const {
    return in_plane() * (is_blocked() ? tensor::RoundUp(inputs, kBlockColumns) : inputs);
  }
  int64_t tile_size() const { return taps() * inputs * kTileColumns; }
  int64_t channels() const { return groups * outputs; }
  int64_t GroupOf(int64_t image) const { return groups == 1 ? 0 : image % groups; }
  // Strides to the next pixel, row, slice, and channel (block).
  int64_t in_pixel() const { return is_blocked() ? kBlockColumns : 1; }
  int64_t in_row() const { return columns.input * in_pixel(); }
  int64_t in_slice() const { return rows.input * in_row(); }
  int64_t in_term() const { return in_plane() * in_pixel(); }
  int64_t weights_slice() const { return rows.size * weights_row(); }
  int64_t weights_row() const { return inputs * columns.size * kTileColumns; }
  int64_t weights_step() const { return (is_blocked() ? inputs : columns.size) * kTileColumns; }

  // Returns the rows per tile: two for small images.
  int64_t rows_together() const {
    return is_blocked() && 2 * columns.output <= gemm::TilePixels() && rows.output > 1 ? 2 : 1;
  }
  int64_t lines_of_slice() const { return CeilDivide(rows.output, rows_together()); }
  int64_t lines() const { return slices.output * lines_of_slice(); }
  // Lines with common input are consecutive: those of a slice, or of all slices.
  bool has_slices_together() const { return slices.size > rows.size; }
  int64_t SliceOf(int64_t line) const {
    return has_slices_together() ? line % slices.output : line / lines_of_slice();
  }
  int64_t RowOf(int64_t line) const {
    return (has_slices_together() ? line / slices.output : line % lines_of_slice()) * rows_together();
  }
  // Returns the floats read per line.
  int64_t in_line() const {
    const int64_t of_rows = rows_together() * rows.stride * in_size() / rows.input;
    return has_slices_together() ? of_rows / slices.output : of_rows * slices.size / slices.input;
  }
};

// The partition of lines (result rows of all images) and output tiles into tasks.
struct DirectGrid {
  int64_t line_parts, tile_parts;

  static DirectGrid Of(const DirectForm& form, int64_t tiles_of_line) {
    constexpr int64_t kMinTiles = 8;  // minimum pixel tiles per load of the weights from an outer cache
    const int64_t lines = form.images * form.lines();
    const int64_t together = std::max(simd::L2Floats() / std::max<int64_t>(form.in_line(), 1),
                                      CeilDivide(kMinTiles, tiles_of_line));
    DirectGrid grid{.line_parts = CeilDivide(lines, together), .tile_parts = 1};
    if (form.threads == 1) return grid;
    if (form.images == 1) {
      const int64_t parts = gemm::RowPartitionsFor(lines * form.columns.output, form.threads);
      grid.line_parts = std::min(lines, tensor::RoundUp(grid.line_parts, parts));
    }
    const int64_t wanted = tensor::kTasksPerThread * form.threads;
    if (grid.line_parts >= wanted) return grid;
    const int64_t more = CeilDivide(wanted, grid.line_parts);
    if (form.tiles() >= more) {
      grid.tile_parts = more;
      return grid;
    }
    grid.line_parts = std::min(lines, grid.line_parts * more);
    // Too few lines, such as the single one of one-dimensional images.
    if (grid.line_parts < form.threads) grid.tile_parts = form.tiles();
    return grid;
  }
};

class DirectConvolution final : public kernels::Kernel {
 public:
  DirectConvolution(const DirectForm& form, gemm::Epilogue steps)
      : form_(form),
        tiles_(TilesOf(form)),
        grid_(DirectGrid::Of(form, static_cast<int64_t>(tiles_.size()))),
        steps_(std::move(steps)) {
    for (int64_t line = 0; line < form.lines(); ++line) lines_.push_back(LineOf(form, line));
  }

  std::string implementation() const override { return "nnefc:direct"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.channels());
    const int64_t lines = form_.images * form_.lines();
    tensor::RunTasks(grid_.line_parts * grid_.tile_parts, form_.threads, [&](int64_t task, int) {
      const int64_t line_part = task / grid_.tile_parts, tile_part = task % grid_.tile_parts;
      RunPart(call, {.lines = {tensor::PartBegin(lines, grid_.line_parts, line_part),
                               tensor::PartBegin(lines, grid_.line_parts, line_part + 1)},
                     .tiles = {tensor::PartBegin(form_.tiles(), grid_.tile_parts, tile_part),
                               tensor::PartBegin(form_.tiles(), grid_.tile_parts, tile_part + 1)}});
    });
    return Success();
  }

 private:
  // A row of pixels, or two rows of a slice: the taps with at least one row inside the image, and per row the
  // taps inside.
  struct Line {
    int64_t count;
    simd::IndexRange slices, taps, seeing[2];
    int64_t in, weights;  // offset of the first tap from the beginning of the image and of the weights
    int64_t out;          // offset from the beginning of a block of results
  };
  // Adjacent pixels; in row-major images several tiles with the same set of taps.
  struct Tile {
    gemm::TileColumns columns;
    int64_t count;
    int64_t in, weights;
  };
  struct Part {
    simd::IndexRange lines, tiles;
  };
  // A line of one of the images (of groups).
  struct ImageLine {
    int64_t image, line;
  };

  static Line LineOf(const DirectForm& form, int64_t index) {
    const kernels::WindowAxis& rows = form.rows;
    const int64_t slice = form.SliceOf(index), first = form.RowOf(index);
    Line line{.count = std::min(form.rows_together(), rows.output - first),
              .out = slice * form.out_slice() + first * form.columns.output * kBlockColumns};
    line.slices = gemm::ValidTaps(form.slices, slice);
    line.taps = gemm::ValidTaps(rows, simd::IndexRange{first, first + line.count});
    for (int64_t row = 0; row < line.count; ++row) {
      const simd::IndexRange seeing = gemm::ValidTaps(rows, first + row);
      line.seeing[row] = {seeing.begin - line.taps.begin, seeing.end - line.taps.begin};
    }
    line.in = gemm::InputPosition(form.slices, slice, line.slices.begin) * form.in_slice() +
              gemm::InputPosition(rows, first, line.taps.begin) * form.in_row();
    line.weights = line.slices.begin * form.weights_slice() + line.taps.begin * form.weights_row();
    return line;
  }

  static std::vector<Tile> TilesOf(const DirectForm& form) {
    std::vector<Tile> tiles;
    const kernels::WindowAxis& columns = form.columns;
    const gemm::TileWidths widths = form.is_blocked() ? gemm::TileWidths::kEqual : gemm::TileWidths::kWidest;
    for (gemm::TileColumns& tile : gemm::DivideColumns(columns, widths)) {
      const bool is_alike = !tiles.empty() && tiles.back().columns.places.count() == tile.places.count() &&
                            tiles.back().columns.taps.begin == tile.taps.begin &&
                            tiles.back().columns.seeing == tile.seeing;
      if (is_alike && !form.is_blocked()) {
        ++tiles.back().count;
        continue;
      }
      const int64_t column = gemm::InputPosition(columns, tile.places.begin, tile.taps.begin);
      const int64_t weights = tile.taps.begin * (form.is_blocked() ? form.weights_step() : kTileColumns);
      tiles.push_back(
          {.columns = std::move(tile), .count = 1, .in = column * form.in_pixel(), .weights = weights});
    }
    return tiles;
  }

  // One accumulation pass: the terms added for a tile of output channels and all pixels of a part before the
  // next tile starts.
  struct Pass {
    int64_t tile;
    simd::IndexRange terms;
    bool is_first, is_last;
    int64_t next, next_lines;  // DirectArguments, per tile of pixels
  };

  // Number of input channels whose weights, for a tile of outputs, fit a core's cache.
  int64_t TermsOfPass(int64_t pixel_tiles) const {
    constexpr int64_t kFewTiles = 2;
    if (!form_.is_blocked() || pixel_tiles <= kFewTiles) return form_.inputs;
    const int64_t weights = simd::SelectedInstructionSet().direct_pass_weights;
    const int64_t most = std::max(kBlockColumns, weights / (form_.taps() * kTileColumns));
    const int64_t passes = CeilDivide(form_.inputs, most);
    return tensor::RoundUp(CeilDivide(form_.inputs, passes), kBlockColumns);
  }

  int64_t WeightsOf(int64_t tile, int64_t term) const {
    return tile * form_.tile_size() + term * kTileColumns;
  }

  void RunPart(const gemm::ConvolutionCall& call, const Part& part) const {
    constexpr int64_t kLinesOfBlock = kBlockColumns * kTileColumns / simd::kLineFloats;
    const int64_t pixel_tiles = part.lines.count() * static_cast<int64_t>(tiles_.size());
    const int64_t terms = TermsOfPass(pixel_tiles);
    for (int64_t tile = part.tiles.begin; tile < part.tiles.end; ++tile) {
      for (int64_t term = 0; term < form_.inputs; term += terms) {
        Pass pass{.tile = tile, .terms = {term, std::min(term + terms, form_.inputs)}};
        pass.is_first = term == 0;
        pass.is_last = pass.terms.end == form_.inputs;
        const bool has_next = form_.is_blocked() && (!pass.is_last || tile + 1 < part.tiles.end);
        const int64_t here = WeightsOf(tile, term);
        pass.next = (pass.is_last ? WeightsOf(tile + 1, 0) : WeightsOf(tile, pass.terms.end)) - here;
        pass.next_lines = has_next ? CeilDivide(kLinesOfBlock, pixel_tiles) : 0;
        RunPass(call, part, pass);
      }
    }
  }

  void RunPass(const gemm::ConvolutionCall& call, const Part& part, Pass pass) const {
    const auto lines = static_cast<int64_t>(lines_.size());
    ImageLine at{.image = part.lines.begin / lines, .line = part.lines.begin % lines};
    for (int64_t left = part.lines.count(); left > 0; --left) {
      RunLine(call, pass, at);
      pass.next += pass.next_lines * simd::kLineFloats * static_cast<int64_t>(tiles_.size());
      if (pass.is_last) Finish(call, pass.tile, at);
      if (++at.line == lines) at = {.image = at.image + 1, .line = 0};
    }
  }

  // Offset of a line from the beginning of the result within a block of channels.
  int64_t OffsetOf(const ImageLine& at, int64_t block) const {
    return (at.image * form_.out_blocks() + block) * form_.out_plane() + LineAt(at).out;
  }
  const Line& LineAt(const ImageLine& at) const { return lines_[static_cast<size_t>(at.line)]; }
  int64_t BlocksOf(int64_t tile) const { return std::min<int64_t>(2, form_.out_blocks() - 2 * tile); }

  void RunLine(const gemm::ConvolutionCall& call, const Pass& pass, const ImageLine& at) const {
    const Line& rows = LineAt(at);
    const int64_t block = 2 * pass.tile, blocks = BlocksOf(pass.tile), group = form_.GroupOf(at.image);
    const int64_t offset = OffsetOf(at, block), column = group * form_.outputs + block * kBlockColumns;
    const int64_t term = pass.terms.begin / form_.in_pixel() * form_.in_term();
    float* out = call.out + offset;
    simd::DirectArguments tile{
        .in = call.in + at.image * form_.in_size() + term + rows.in,
        .in_pixel = form_.columns.stride * form_.in_pixel(),
        .in_below = form_.rows.stride * form_.in_row(),
        .terms = pass.terms.count(),
        .in_term = form_.in_term(),
        .slices = rows.slices.count(),
        .rows = rows.taps.count(),
        .columns = 0,
        .in_slice = form_.slices.dilation * form_.in_slice(),
        .in_row = form_.rows.dilation * form_.in_row(),
        .in_column = form_.columns.dilation * form_.in_pixel(),
        .seeing = nullptr,
        .seeing_rows = {rows.seeing[0], rows.seeing[1]},
        .weights = call.weights + group * form_.tiles() * form_.tile_size() +
                   WeightsOf(pass.tile, pass.terms.begin) + rows.weights,
        .weights_slice = form_.weights_slice(),
        .weights_row = form_.weights_row(),
        .weights_step = form_.weights_step(),
        .bias = pass.is_first ? call.operands.ColumnsOf(steps_.bias(), column) : nullptr,
        .start = pass.is_first ? call.operands.ElementsOf(steps_.start(), offset) : out,
        .out = out,
        .out_block = form_.out_plane(),
        .limits = pass.is_last ? steps_.limits() : simd::Limits{},
        .next = pass.next,
        .next_lines = pass.next_lines};
    const simd::DirectArguments begin = tile;
    for (const Tile& place : tiles_) {
      const int64_t pixel = place.columns.places.begin * kBlockColumns;
      tile.in = begin.in + place.in;
      tile.weights = begin.weights + place.weights;
      tile.columns = place.columns.taps.count();
      tile.seeing = place.columns.seeing.data();
      if (begin.start != nullptr) tile.start = begin.start + pixel;
      tile.out = out + pixel;
      tile.tiles = place.count;
      simd::RunDirectMicrokernel(form_.order, rows.count, place.columns.places.count(), blocks, tile);
      tile.next += tile.next_lines * simd::kLineFloats;
    }
  }

  void Finish(const gemm::ConvolutionCall& call, int64_t tile, const ImageLine& at) const {
    const int64_t block = 2 * tile;
    const int64_t offset = OffsetOf(at, block);
    steps_.Finish({.out = {call.out + offset, kBlockColumns, form_.out_plane()},
                   .offset = offset,
                   .column = form_.GroupOf(at.image) * form_.outputs + block * kBlockColumns,
                   .rows = LineAt(at).count * form_.columns.output,
                   .blocks = BlocksOf(tile)},
                  form_.channels(), call.operands);
  }

  DirectForm form_;
  std::vector<Line> lines_;  // per image
  std::vector<Tile> tiles_;  // per line
  DirectGrid grid_;
  gemm::Epilogue steps_;
};

// [outputs, inputs, slices, rows, columns], possibly without the first tap axes, packed in tiles of outputs
// that are contiguous per tap and input: [tile][slices][rows][columns][inputs], for row-major images
// [tile][slices][rows][inputs][columns]. Groups are consecutive.
tensor::Layout DirectFilterLayout(llvm::ArrayRef<int64_t> filter, ImageOrder order, bool is_grouped) {
  memory::BlockedFormat format = memory::RowMajorFormat(filter);
  const size_t outputs = is_grouped ? 1 : 0, inputs = outputs + 1;
  memory::SetBlock(format, outputs, kTileColumns);
  const size_t last = filter.size() - 1;
  const bool is_blocked = order == ImageOrder::kBlocked;
  format.strides[inputs] = kTileColumns * (is_blocked ? 1 : filter[last]);
  format.strides[last] = kTileColumns * (is_blocked ? filter[inputs] : 1);
  int64_t of_taps = kTileColumns * filter[inputs] * filter[last];
  for (size_t axis = last - 1; axis > inputs; of_taps *= filter[axis--]) format.strides[axis] = of_taps;
  format.strides[outputs] = of_taps;
  if (is_grouped) format.strides[0] = of_taps * CeilDivide(filter[outputs], kTileColumns);
  return memory::LayoutOf(format);
}

// Merges rows into one if windows cover a single pixel and the input fits a core's cache, to fill tiles well;
// slices become the rows.
void MergeRows(DirectForm& form) {
  if (!gemm::IsIdentityWindow(form.rows) || !gemm::IsIdentityWindow(form.columns)) return;
  const int64_t pixels = form.rows.output * form.columns.output;
  if (pixels * form.slices.size * form.inputs > simd::L2Floats()) return;
  form.columns.input = form.columns.output = pixels;
  form.rows = std::exchange(form.slices, kernels::WindowAxis{});
}

// Filters with fewer outputs than a block compute padding channels.
kernels::OrReason<DirectForm> DirectFormOf(const kernels::KernelRequest& request, bool is_grouped) {
  const llvm::ArrayRef<int64_t> filter =
      llvm::ArrayRef<int64_t>(request.inputs[1].shape).drop_front(is_grouped);
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (filter.size() < 3 || filter.size() > 5)
    return kernels::Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 2);
  const int64_t groups = is_grouped ? request.inputs[1].shape[0] : 1;
  if (groups > 1 && (filter[0] % kBlockColumns != 0 || filter[1] % kBlockColumns != 0))
    return kernels::Reason("groups of {} input and {} output channels, not whole blocks", filter[1],
                           filter[0]);
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const bool is_blocked = filter[1] >= kBlockColumns || memory::IsChannelBlocked(request.inputs[0]);
  DirectForm form{.order = is_blocked ? ImageOrder::kBlocked : ImageOrder::kRowMajor,
                  .groups = groups,
                  .images = input[0] * groups,
                  .inputs = filter[1],
                  .outputs = filter[0],
                  .slices = window[0],
                  .rows = window[1],
                  .columns = window[2],
                  .threads = tensor::CurrentThreads()};
  MergeRows(form);
  // A single-column image is treated as one row.
  if (form.is_blocked() && form.columns.input == 1 && form.columns.size == 1 && form.columns.output == 1)
    std::swap(form.rows, form.columns);
  return form;
}

}  // namespace

tensor::Layout BlockedFilterLayout(llvm::ArrayRef<int64_t> filter) {
  return DirectFilterLayout(filter, ImageOrder::kBlocked, false);
}

kernels::Reason DirectApplies(const kernels::KernelRequest& request, bool is_grouped) {
  if (!simd::HasSimd()) return kNeedsSimd;
  return DirectFormOf(request, is_grouped).reason();
}

kernels::KernelOrReason MakeDirectConvolution(const kernels::KernelRequest& request, bool is_grouped) {
  const kernels::OrReason<DirectForm> form = DirectFormOf(request, is_grouped);
  if (!form) return form.reason();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form->channels(),
                               DirectFilterLayout(request.inputs[1].shape, form->order, is_grouped));
  if (!form->is_blocked()) prepared.inputs[0] = nullptr;
  prepared.kernel = std::make_shared<DirectConvolution>(*form, std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
