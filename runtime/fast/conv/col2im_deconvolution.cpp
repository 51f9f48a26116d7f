// Transposed convolution as GEMM and col2im.

#include "runtime/fast/conv/col2im_deconvolution.h"

#include <algorithm>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/windows/transposed_window.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;
using simd::kBlockColumns;
using simd::kTileColumns;

namespace {

struct Col2imShape {
  int64_t images, terms, outputs;
  int64_t slices, rows, columns;                       // extents of the input
  int64_t window_slices, window_rows, window_columns;  // result pixels per input pixel
  int threads;

  int64_t tiles() const { return tensor::CeilDivide(outputs, kTileColumns); }
  int64_t output_blocks() const { return tensor::CeilDivide(outputs, kBlockColumns); }
  int64_t term_blocks() const { return tensor::CeilDivide(terms, kBlockColumns); }
  int64_t lines() const { return slices * rows; }
  int64_t places() const { return window_slices * window_rows * window_columns; }
  int64_t pixels() const { return lines() * columns; }
  int64_t out_columns() const { return columns * window_columns; }
  int64_t out_pixels() const { return pixels() * places(); }
  // Returns the result pixel of the first pixel of a line, at a position of its window.
  int64_t PixelOf(int64_t line, int64_t place) const {
    const int64_t column = place % window_columns, row = place / window_columns % window_rows;
    const int64_t slice = line / rows * window_slices + place / window_columns / window_rows;
    return ((slice * rows + line % rows) * window_rows + row) * out_columns() + column;
  }
};

class Col2imDeconvolution final : public kernels::Kernel {
 public:
  Col2imDeconvolution(const Col2imShape& form, gemm::Epilogue steps)
      : form_(form), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:col2im"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.outputs);
    const int64_t parts = LineParts();
    tensor::RunTasks(form_.images * parts, form_.threads, [&](int64_t task, int) {
      const int64_t part = task % parts;
      RunLines(call, task / parts, tensor::PartBegin(form_.lines(), parts, part),
               tensor::PartBegin(form_.lines(), parts, part + 1));
    });
    return Success();
  }

 private:
  // The pixels of a part fit a core's cache.
  int64_t LineParts() const {
    const int64_t parts = (form_.pixels() * form_.terms + simd::L2Floats() - 1) / simd::L2Floats();
    const int64_t wanted = form_.threads == 1 ? 1 : tensor::kTasksPerThread * form_.threads;
    return std::clamp<int64_t>(parts, std::min(wanted, form_.lines()), form_.lines());
  }

  // Adjacent results are best written together, if a cache holds all weights.
  void RunLines(const gemm::ConvolutionCall& call, int64_t image, int64_t begin, int64_t end) const {
    const int64_t matrices = form_.places() * form_.tiles();
    if (matrices * form_.terms * kTileColumns <= simd::L2Floats()) {
      for (int64_t line = begin; line < end; ++line) {
        for (int64_t i = 0; i < matrices; ++i)
          RunLine(call, {image, line, i % form_.places(), i / form_.places()});
      }
      return;
    }
    for (int64_t place = 0; place < form_.places(); ++place) {
      for (int64_t tile = 0; tile < form_.tiles(); ++tile) {
        for (int64_t line = begin; line < end; ++line) RunLine(call, {image, line, place, tile});
      }
    }
  }

  struct Where {
    int64_t image, line, place, tile;
  };

  // Computes the pixels of a row of a slice, at one position of their windows.
  void RunLine(const gemm::ConvolutionCall& call, const Where& at) const {
    const gemm::TilePanels panels(form_.columns);
    const int64_t block = at.tile * 2, blocks = std::min<int64_t>(2, form_.output_blocks() - block);
    const int64_t first_pixel = form_.PixelOf(at.line, at.place);
    for (int64_t panel = 0; panel < panels.count(); ++panel) {
      const int64_t column = panels.Begin(panel), count = panels.RowsOf(panel);
      const int64_t left_pixel = at.line * form_.columns + column;
      const int64_t offset = ((at.image * form_.output_blocks() + block) * form_.out_pixels() + first_pixel +
                              column * form_.window_columns) *
                             kBlockColumns;
      const simd::BlockedMatrix<float> out = {call.out + offset, form_.window_columns * kBlockColumns,
                                              form_.out_pixels() * kBlockColumns};
      simd::RunTile(
          count, blocks,
          {.left = call.in + (at.image * form_.term_blocks() * form_.pixels() + left_pixel) * kBlockColumns,
           .left_stride = form_.pixels() * kBlockColumns,
           .terms = form_.terms,
           .weights = call.weights + (at.place * form_.tiles() + at.tile) * form_.terms * kTileColumns,
           .bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns),
           .start = call.operands.ElementsOf(steps_.start(), offset),
           .out = out,
           .limits = steps_.limits()});
      steps_.Finish(
          {.out = out, .offset = offset, .column = block * kBlockColumns, .rows = count, .blocks = blocks},
          form_.outputs, call.operands);
    }
  }

  Col2imShape form_;
  gemm::Epilogue steps_;
};

// A variant for few outputs, with the outputs of all window positions as columns of one tile; results are
// row-major.
class FewOutputDeconvolution final : public kernels::Kernel {
 public:
  explicit FewOutputDeconvolution(const Col2imShape& form) : form_(form) {}

  std::string implementation() const override { return "nnefc:few_output_col2im"; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(WeightFloats() + form_.threads * kPixels * kTileColumns) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    auto* weights = reinterpret_cast<float*>(run.scratch);
    LayOut(reinterpret_cast<const float*>(run.input(1).bytes()), weights);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    constexpr int64_t kLines = 4;  // lines per task
    const int64_t parts = tensor::CeilDivide(form_.lines(), kLines);
    tensor::RunTasks(form_.images * parts, form_.threads, [&](int64_t task, int member) {
      float* sums = weights + WeightFloats() + member * kPixels * kTileColumns;
      const int64_t begin = task % parts * kLines;
      for (int64_t line = begin; line < std::min(begin + kLines, form_.lines()); ++line) {
        for (int64_t column = 0; column < form_.columns; column += kPixels)
          RunPixels({in, weights, sums, out}, task / parts, line, column);
      }
    });
    return Success();
  }

 private:
  static constexpr int64_t kPixels = 48;  // pixels with sums that fit L1

  struct Call {
    const float *in, *weights;
    float *sums, *out;
  };

  int64_t columns() const { return form_.places() * form_.outputs; }
  int64_t WeightFloats() const { return form_.terms * kTileColumns; }

  // Packs [terms, outputs, places], with a tile row per term.
  void LayOut(const float* filter, float* weights) const {
    std::fill_n(weights, WeightFloats(), 0.0f);
    for (int64_t term = 0; term < form_.terms; ++term) {
      for (int64_t output = 0; output < form_.outputs; ++output) {
        for (int64_t place = 0; place < form_.places(); ++place)
          weights[term * kTileColumns + place * form_.outputs + output] = *filter++;
      }
    }
  }

  // Computes a range of pixels of a line and stores their results.
  void RunPixels(const Call& call, int64_t image, int64_t line, int64_t first) const {
    const int64_t pixels = std::min(kPixels, form_.columns - first),
                  blocks = columns() > kBlockColumns ? 2 : 1;
    const int64_t left_pixel = image * form_.term_blocks() * form_.pixels() + line * form_.columns + first;
    const gemm::TilePanels panels(pixels);
    panels.ForEqualPanels([&](int64_t panel, int64_t count) {
      simd::RunTile(panels.RowsOf(panel), blocks,
                    {.left = call.in + (left_pixel + panels.Begin(panel)) * kBlockColumns,
                     .left_stride = form_.pixels() * kBlockColumns,
                     .terms = form_.terms,
                     .weights = call.weights,
                     .out = {call.sums + panels.Begin(panel) * kTileColumns, kTileColumns, kBlockColumns},
                     .tiles = count});
    });
    for (int64_t output = 0; output < form_.outputs; ++output) {
      float* plane = call.out + (image * form_.outputs + output) * form_.out_pixels();
      for (int64_t place = 0; place < form_.places(); ++place) {
        const float* from = call.sums + place * form_.outputs + output;
        float* to = plane + form_.PixelOf(line, place) + first * form_.window_columns;
        for (int64_t pixel = 0; pixel < pixels; ++pixel)
          to[pixel * form_.window_columns] = from[pixel * kTileColumns];
      }
    }
  }

  Col2imShape form_;
};

// [terms, outputs, window..] packed as one matrix per window position, in tiles of outputs with consecutive
// terms.
tensor::Layout SpreadWeights(llvm::ArrayRef<int64_t> filter, const Col2imShape& form) {
  memory::BlockedFormat format = memory::RowMajorFormat(filter);
  memory::SetBlock(format, 1, kTileColumns);
  format.strides[0] = kTileColumns;
  format.strides[1] = form.terms * kTileColumns;
  int64_t stride = form.terms * form.tiles() * kTileColumns;
  for (size_t axis = filter.size(); axis-- > 2; stride *= filter[axis]) format.strides[axis] = stride;
  return std::make_shared<memory::BlockedLayout>(format);
}

bool IsWithoutOverlap(const kernels::WindowAxis& axis) {
  return axis.size == axis.stride && (axis.dilation == 1 || axis.size == 1) && axis.before == 0 &&
         axis.input == axis.output * axis.size;
}

kernels::OrReason<Col2imShape> Col2imShapeOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  if (filter[0] < kBlockColumns) return Reason("{} input channels, fewer than a block", filter[0]);
  // The window of the corresponding convolution, with input and result exchanged.
  const kernels::Window window = kernels::MakeTransposedWindow(
      *request.node, llvm::ArrayRef<int64_t>(request.outputs[0].shape).drop_front(2), input.drop_front(2),
      filter.drop_front(2));
  if (!llvm::all_of(window, IsWithoutOverlap)) return Reason("windows that overlap, or a border");
  return Col2imShape{.images = input[0],
                     .terms = filter[0],
                     .outputs = filter[1],
                     .slices = window[0].output,
                     .rows = window[1].output,
                     .columns = window[2].output,
                     .window_slices = window[0].size,
                     .window_rows = window[1].size,
                     .window_columns = window[2].size,
                     .threads = tensor::CurrentThreads()};
}

}  // namespace

Reason FewOutputCol2imApplies(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  const kernels::OrReason<Col2imShape> form = Col2imShapeOf(request);
  if (!form) return form.reason();
  if (form->outputs >= kBlockColumns) return Reason("{} output channels fill a block", form->outputs);
  const int64_t columns = form->places() * form->outputs;
  return columns > kTileColumns ? Reason("{} columns, more than {}", columns, kTileColumns) : Reason();
}

kernels::KernelOrReason MakeFewOutputCol2im(const kernels::KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  kernels::PreparedKernel prepared;
  prepared.inputs = {memory::LayoutOf(memory::ChannelBlockedFormat(request.inputs[0].shape)), nullptr};
  prepared.outputs.resize(1);
  auto kernel = std::make_shared<FewOutputDeconvolution>(*Col2imShapeOf(request));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

Reason Col2imApplies(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  const kernels::OrReason<Col2imShape> form = Col2imShapeOf(request);
  if (!form) return form.reason();
  return form->outputs < kBlockColumns ? Reason("{} output channels, fewer than a block", form->outputs)
                                       : Reason();
}

kernels::KernelOrReason MakeCol2imDeconvolution(const kernels::KernelRequest& request) {
  const kernels::OrReason<Col2imShape> form = Col2imShapeOf(request);
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form->outputs, SpreadWeights(request.inputs[1].shape, *form));
  prepared.kernel = std::make_shared<Col2imDeconvolution>(*form, std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
