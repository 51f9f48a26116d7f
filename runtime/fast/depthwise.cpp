#include "runtime/fast/depthwise.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/lanes/depthwise_tile.h"
#include "runtime/fast/product_steps.h"
#include "runtime/fast/ways.h"
#include "runtime/fast/window_tiles.h"
#include "runtime/kernels/window.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kRowsTogether = 4;

struct DepthwiseForm {
  int64_t images, channels;
  WindowAxis rows, columns;
  int threads;

  int64_t blocks() const { return (channels + kBlockColumns - 1) / kBlockColumns; }
  int64_t in_size() const { return rows.input * columns.input * kBlockColumns; }
  int64_t out_size() const { return rows.output * columns.output * kBlockColumns; }
  int64_t weights_size() const { return rows.size * columns.size * kBlockColumns; }
};

class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const DepthwiseForm& form, ProductSteps steps)
      : form_(form), tiles_(DivideColumns(form.columns)), steps_(std::move(steps)) {
    for (int64_t row = 0; row < form.rows.output; ++row) row_taps_.push_back(SeeingTaps(form.rows, row));
  }

  std::string implementation() const override { return "nnefc:depthwise"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    const FilterCall call = FilterCall::Of(run, steps_, form_.channels);
    const int64_t planes = form_.images * form_.blocks(), rows = form_.rows.output;
    const int64_t parts = RowParts();
    RunTasks(planes * parts, form_.threads, [&](int64_t task, int) {
      const int64_t part = task / planes;
      const Span span = Span{0, rows}.Part(parts, part);
      for (int64_t row = span.begin; row < span.end; row += kRowsTogether)
        RunRows(call, task % planes, {row, std::min(row + kRowsTogether, span.end)});
    });
    return Success();
  }

 private:
  // Threads divide rows where products before and behind do, in large images, and planes otherwise.
  int64_t RowParts() const {
    constexpr int64_t kLeastPixels = 512;
    const int64_t rows = form_.rows.output, planes = form_.images * form_.blocks();
    if (form_.threads == 1) return 1;
    const bool by_rows = form_.images == 1 && rows * form_.columns.output >= kLeastPixels;
    return std::min(rows, by_rows ? 4 * form_.threads : DividedUp(4 * form_.threads, planes));
  }

  // Rows of a plane, a block of channels of an image: tiles that lie below one another see many of the same
  // pixels.
  void RunRows(const FilterCall& call, int64_t plane, const Span& rows) const {
    for (const TileColumns& tile : tiles_) {
      for (int64_t row = rows.begin; row < rows.end; ++row) RunTile(call, plane, row, tile);
    }
    const int64_t row_size = form_.columns.output * kBlockColumns;
    const int64_t offset = plane * form_.out_size() + rows.begin * row_size;
    steps_.Finish({.out = {call.out + offset, kBlockColumns, 0},
                   .offset = offset,
                   .column = plane % form_.blocks() * kBlockColumns,
                   .rows = rows.count() * form_.columns.output,
                   .blocks = 1},
                  form_.channels, call.operands);
  }

  void RunTile(const FilterCall& call, int64_t plane, int64_t row, const TileColumns& tile) const {
    const WindowAxis& rows = form_.rows;
    const WindowAxis& columns = form_.columns;
    const Span taps = row_taps_[static_cast<size_t>(row)];
    const int64_t block = plane % form_.blocks();
    const int64_t in_row = SeenBy(rows, row, taps.begin);
    const int64_t in_column = SeenBy(columns, tile.places.begin, tile.taps.begin);
    const int64_t offset =
        plane * form_.out_size() + (row * columns.output + tile.places.begin) * kBlockColumns;
    RunDepthwiseTile(
        tile.places.count(), columns.stride,
        {.in = call.in + plane * form_.in_size() + (in_row * columns.input + in_column) * kBlockColumns,
         .rows = taps.count(),
         .columns = tile.taps.count(),
         .in_row = rows.dilation * columns.input * kBlockColumns,
         .in_column = columns.dilation * kBlockColumns,
         .seeing = tile.seeing.data(),
         .weights = call.weights + block * form_.weights_size() +
                    (taps.begin * columns.size + tile.taps.begin) * kBlockColumns,
         .weights_row = columns.size * kBlockColumns,
         .bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns),
         .start = call.operands.ElementsOf(steps_.start(), offset),
         .out = call.out + offset,
         .limits = steps_.limits()});
  }

  DepthwiseForm form_;
  std::vector<Span> row_taps_;  // by row
  std::vector<TileColumns> tiles_;
  ProductSteps steps_;
};

// [channels, 1, 1, rows, columns] with its channels in blocks.
Layout FilterLayout(llvm::ArrayRef<int64_t> filter) {
  using Tag = dnnl::memory::format_tag;
  return LayoutOf(
      dnnl::memory::desc(DnnDims(filter), DnnType::f32, filter.size() == 4 ? Tag::Goiw16g : Tag::Goihw16g));
}

// Of one channel a group, on one axis or two.
std::optional<DepthwiseForm> DepthwiseFormOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if ((filter.size() != 4 && filter.size() != 5) || filter[1] != 1 || filter[2] != 1 ||
      filter[0] < kBlockColumns)
    return std::nullopt;
  const Window window = WindowOfConvolution(request);
  if (window[2].stride > 2) return std::nullopt;
  return DepthwiseForm{.images = input[0],
                       .channels = filter[0],
                       .rows = window[1],
                       .columns = window[2],
                       .threads = CurrentThreads()};
}

}  // namespace

std::optional<PreparedKernel> MakeDepthwise(const KernelRequest& request) {
  if (!request.way.empty() && request.way != kTiles) return std::nullopt;
  if (!HasLanes()) return std::nullopt;
  const std::optional<DepthwiseForm> form = DepthwiseFormOf(request);
  if (!form) return std::nullopt;
  std::optional<ProductSteps> steps = ProductSteps::Make(request, request.posts, 1);
  if (!steps) return std::nullopt;
  PreparedKernel prepared =
      PrepareFilterStep(request, *steps, form->channels, FilterLayout(request.inputs[1].shape));
  prepared.kernel = std::make_shared<DepthwiseKernel>(*form, std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime
