#include "runtime/fast/conv/depthwise_convolution.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/depthwise_microkernel.h"
#include "runtime/kernels/window.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime {

namespace {

constexpr int64_t kLinesTogether = 4;

struct DepthwiseForm {
  int64_t images, channels;
  WindowAxis slices, rows, columns;
  int threads;

  // Returns the rows of all slices of the result.
  int64_t lines() const { return slices.output * rows.output; }
  int64_t blocks() const { return (channels + kBlockColumns - 1) / kBlockColumns; }
  int64_t in_row() const { return columns.input * kBlockColumns; }
  int64_t in_slice() const { return rows.input * in_row(); }
  int64_t in_size() const { return slices.input * in_slice(); }
  int64_t out_size() const { return lines() * columns.output * kBlockColumns; }
  int64_t weights_row() const { return columns.size * kBlockColumns; }
  int64_t weights_slice() const { return rows.size * weights_row(); }
  int64_t weights_size() const { return slices.size * weights_slice(); }
};

class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const DepthwiseForm& form, Epilogue steps)
      : form_(form), tiles_(DivideColumns(form.columns)), steps_(std::move(steps)) {
    for (int64_t line = 0; line < form.lines(); ++line) lines_.push_back(LineOf(form, line));
  }

  std::string implementation() const override { return "nnefc:depthwise"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const ThreadScope scope(form_.threads);
    const ConvolutionCall call = ConvolutionCall::Of(run, steps_, form_.channels);
    const int64_t planes = form_.images * form_.blocks(), parts = LineParts();
    RunTasks(planes * parts, form_.threads, [&](int64_t task, int) {
      const IndexRange span = IndexRange{0, form_.lines()}.Part(parts, task / planes);
      for (int64_t line = span.begin; line < span.end; line += kLinesTogether)
        RunLines(call, task % planes, {line, std::min(line + kLinesTogether, span.end)});
    });
    return Success();
  }

 private:
  // A result row: its valid taps, and the offsets of the first one in the image and the weights.
  struct Line {
    int64_t slices, rows;
    int64_t in, weights;
  };
  static Line LineOf(const DepthwiseForm& form, int64_t line) {
    const int64_t slice = line / form.rows.output, row = line % form.rows.output;
    const IndexRange slices = ValidTaps(form.slices, slice), rows = ValidTaps(form.rows, row);
    return {.slices = slices.count(),
            .rows = rows.count(),
            .in = InputPosition(form.slices, slice, slices.begin) * form.in_slice() +
                  InputPosition(form.rows, row, rows.begin) * form.in_row(),
            .weights = slices.begin * form.weights_slice() + rows.begin * form.weights_row()};
  }

  // Partitions lines for large images, like preceding and following matmuls; otherwise planes.
  int64_t LineParts() const {
    constexpr int64_t kMinPixels = 512;
    const int64_t lines = form_.lines(), planes = form_.images * form_.blocks();
    if (form_.threads == 1) return 1;
    const bool by_lines = form_.images == 1 && lines * form_.columns.output >= kMinPixels;
    return std::min(lines, by_lines ? kTasksPerThread * form_.threads
                                    : CeilDivide(kTasksPerThread * form_.threads, planes));
  }

  // Computes lines of a plane (a channel block of an image): vertically adjacent tiles share input pixels.
  void RunLines(const ConvolutionCall& call, int64_t plane, const IndexRange& lines) const {
    const WindowAxis& columns = form_.columns;
    const int64_t block = plane % form_.blocks(), row_size = columns.output * kBlockColumns;
    const int64_t offset = plane * form_.out_size() + lines.begin * row_size;
    const float* in = call.in + plane * form_.in_size();
    const float* weights = call.weights + block * form_.weights_size();
    const float* start = call.operands.ElementsOf(steps_.start(), offset);
    DepthwiseArguments tile{.in = nullptr,
                            .in_pixel = columns.stride * kBlockColumns,
                            .slices = 1,
                            .rows = 0,
                            .columns = 0,
                            .in_slice = form_.slices.dilation * form_.in_slice(),
                            .in_row = form_.rows.dilation * form_.in_row(),
                            .in_column = columns.dilation * kBlockColumns,
                            .seeing = nullptr,
                            .weights = nullptr,
                            .weights_slice = form_.weights_slice(),
                            .weights_row = form_.weights_row(),
                            .bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns),
                            .out = nullptr,
                            .limits = steps_.limits()};
    for (const TileColumns& place : tiles_) {
      const int64_t in_column = InputPosition(columns, place.places.begin, place.taps.begin) * kBlockColumns;
      int64_t of_place = place.places.begin * kBlockColumns;
      tile.columns = place.taps.count();
      tile.seeing = place.seeing.data();
      for (int64_t line = lines.begin; line < lines.end; ++line, of_place += row_size) {
        const Line& seen = lines_[static_cast<size_t>(line)];
        tile.in = in + seen.in + in_column;
        tile.slices = seen.slices;
        tile.rows = seen.rows;
        tile.weights = weights + seen.weights + place.taps.begin * kBlockColumns;
        if (start != nullptr) tile.start = start + of_place;
        tile.out = call.out + offset + of_place;
        RunDepthwiseMicrokernel(place.places.count(), tile);
      }
    }
    steps_.Finish({.out = {call.out + offset, kBlockColumns, 0},
                   .offset = offset,
                   .column = block * kBlockColumns,
                   .rows = lines.count() * columns.output,
                   .blocks = 1},
                  form_.channels, call.operands);
  }

  DepthwiseForm form_;
  std::vector<Line> lines_;
  std::vector<TileColumns> tiles_;
  Epilogue steps_;
};

// Returns the blocked layout of [channels, 1, 1, .., rows, columns].
Layout FilterLayout(llvm::ArrayRef<int64_t> filter) {
  return LayoutOf(AxisBlockedFormat(filter, 0, kChannelBlock));
}

// Requires one channel per group and one to three spatial axes.
OrReason<DepthwiseForm> DepthwiseFormOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (filter.size() < 4 || filter.size() > 6)
    return Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 3);
  if (filter[1] != 1 || filter[2] != 1)
    return Reason("groups of {} input and {} output channels", filter[2], filter[1]);
  if (filter[0] < kBlockColumns) return Reason("{} channels, fewer than a block", filter[0]);
  const Window window = WindowOfConvolution(request);
  return DepthwiseForm{.images = input[0],
                       .channels = filter[0],
                       .slices = window[0],
                       .rows = window[1],
                       .columns = window[2],
                       .threads = CurrentThreads()};
}

}  // namespace

Reason DepthwiseApplies(const KernelRequest& request) {
  if (!HasSimd()) return kNeedsSimd;
  return DepthwiseFormOf(request).reason();
}

KernelOrReason MakeDepthwise(const KernelRequest& request) {
  const OrReason<DepthwiseForm> form = DepthwiseFormOf(request);
  if (!form) return form.reason();
  OrReason<Epilogue> steps = Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  PreparedKernel prepared =
      PrepareConvolution(request, *steps, form->channels, FilterLayout(request.inputs[1].shape));
  prepared.kernel = std::make_shared<DepthwiseKernel>(*form, std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime
