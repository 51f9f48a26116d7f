// Depthwise convolution of nChw16c images.

#include "runtime/fast/conv/depthwise_convolution.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/conv/depthwise_microkernel.h"
#include "runtime/kernels/windows/window.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using simd::kBlockColumns;

namespace {

constexpr int64_t kLinesTogether = 4;

struct DepthwiseForm {
  int64_t images, channels;
  kernels::WindowAxis slices, rows, columns;
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

class DepthwiseKernel final : public kernels::Kernel {
 public:
  DepthwiseKernel(const DepthwiseForm& form, gemm::Epilogue steps)
      : form_(form), tiles_(gemm::DivideColumns(form.columns)), steps_(std::move(steps)) {
    for (int64_t line = 0; line < form.lines(); ++line) lines_.push_back(LineOf(form, line));
  }

  std::string implementation() const override { return "nnefc:depthwise"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.channels);
    const int64_t planes = form_.images * form_.blocks(),
                  parts = DepthwiseLineParts(form_.images, planes, form_.lines(), form_.columns.output,
                                             form_.threads);
    tensor::RunTasks(planes * parts, form_.threads, [&](int64_t task, int) {
      const simd::IndexRange span = simd::IndexRange{0, form_.lines()}.Part(parts, task / planes);
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
    const simd::IndexRange slices = gemm::ValidTaps(form.slices, slice),
                           rows = gemm::ValidTaps(form.rows, row);
    return {.slices = slices.count(),
            .rows = rows.count(),
            .in = gemm::InputPosition(form.slices, slice, slices.begin) * form.in_slice() +
                  gemm::InputPosition(form.rows, row, rows.begin) * form.in_row(),
            .weights = slices.begin * form.weights_slice() + rows.begin * form.weights_row()};
  }

  // Computes lines of a plane (a channel block of an image). Results that a function reads again are in L1.
  void RunLines(const gemm::ConvolutionCall& call, int64_t plane, const simd::IndexRange& lines) const {
    constexpr int64_t kFloats = 4096;
    const int64_t row_size = form_.columns.output * kBlockColumns;
    const int64_t each = steps_.has_functions() ? std::max<int64_t>(1, kFloats / row_size) : lines.count();
    for (int64_t line = lines.begin; line < lines.end; line += each)
      RunSomeLines(call, plane, {line, std::min(line + each, lines.end)});
  }

  // Vertically adjacent tiles share input pixels.
  void RunSomeLines(const gemm::ConvolutionCall& call, int64_t plane, const simd::IndexRange& lines) const {
    const kernels::WindowAxis& columns = form_.columns;
    const int64_t block = plane % form_.blocks(), row_size = columns.output * kBlockColumns;
    const int64_t offset = plane * form_.out_size() + lines.begin * row_size;
    const float* in = call.in + plane * form_.in_size();
    const float* weights = call.weights + block * form_.weights_size();
    const float* start = call.operands.ElementsOf(steps_.start(), offset);
    simd::DepthwiseArguments tile{.in = nullptr,
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
    for (const gemm::TileColumns& place : tiles_) {
      const int64_t in_column =
          gemm::InputPosition(columns, place.places.begin, place.taps.begin) * kBlockColumns;
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
        simd::RunDepthwiseMicrokernel(place.places.count(), tile);
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
  std::vector<gemm::TileColumns> tiles_;
  gemm::Epilogue steps_;
};

// Returns the blocked layout of [channels, 1, 1, .., rows, columns].
tensor::Layout FilterLayout(llvm::ArrayRef<int64_t> filter) {
  return memory::LayoutOf(memory::AxisBlockedFormat(filter, 0, memory::kChannelBlock));
}

// Requires one channel per group and one to three spatial axes.
kernels::OrReason<DepthwiseForm> DepthwiseFormOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (filter.size() < 4 || filter.size() > 6)
    return kernels::Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 3);
  if (filter[1] != 1 || filter[2] != 1)
    return kernels::Reason("groups of {} input and {} output channels", filter[2], filter[1]);
  if (filter[0] < kBlockColumns / 2)
    return kernels::Reason("{} channels, fewer than half a block", filter[0]);
  const kernels::Window window = gemm::WindowOfConvolution(request);
  return DepthwiseForm{.images = input[0],
                       .channels = filter[0],
                       .slices = window[0],
                       .rows = window[1],
                       .columns = window[2],
                       .threads = tensor::CurrentThreads()};
}

}  // namespace

kernels::Reason DepthwiseApplies(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  return DepthwiseFormOf(request).reason();
}

int64_t DepthwiseLineParts(int64_t images, int64_t planes, int64_t lines, int64_t columns, int threads) {
  constexpr int64_t kMinPixels = 512;
  if (threads == 1) return 1;
  const bool by_lines = images == 1 && lines * columns >= kMinPixels;
  const int64_t tasks = tensor::kTasksPerThread * threads;
  return std::min(lines, by_lines ? tasks : tensor::CeilDivide(tasks, planes));
}

kernels::KernelOrReason MakeDepthwise(const kernels::KernelRequest& request) {
  const kernels::OrReason<DepthwiseForm> form = DepthwiseFormOf(request);
  if (!form) return form.reason();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form->channels, FilterLayout(request.inputs[1].shape));
  prepared.kernel = std::make_shared<DepthwiseKernel>(*form, std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
