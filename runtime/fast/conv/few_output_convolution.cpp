// Direct convolution with fewer output channels than a channel block.

#include "runtime/fast/conv/few_output_convolution.h"

#include <algorithm>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/conv/few_output_convolution_microkernel.h"
#include "runtime/fast/simd/pointwise/transpose_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;
using simd::kBlockColumns;
using tensor::CeilDivide;

namespace {

struct FewOutputShape {
  bool is_blocked;  // true if the images are nChw16c
  int64_t images, inputs, outputs;
  kernels::WindowAxis rows, columns;
  int threads;

  int64_t taps() const { return rows.size * columns.size; }
  int64_t in_pixels() const { return rows.input * columns.input; }
  int64_t in_image() const {
    return in_pixels() * (is_blocked ? tensor::RoundUp(inputs, kBlockColumns) : inputs);
  }
  // Outputs are summed in groups of equal size; padding outputs have zero weights.
  int64_t groups() const { return CeilDivide(outputs, simd::kMaxFewOutputs); }
  int64_t of_group() const { return CeilDivide(outputs, groups()); }
};

// The division of an image's pixels into tasks with inputs that fit a core's cache.
struct FewOutputGrid {
  int64_t row_parts, column_parts;
  int64_t rows, columns;  // maximum per task
  // The input of a task, including `left` pixels before its own for register alignment.
  int64_t seen_rows, left, seen_columns;

  static FewOutputGrid Of(const FewOutputShape& form) {
    constexpr int64_t kMinColumns = 96;
    const int64_t most = 2 * simd::L2Floats(), beside = form.rows.reach() - 1;
    const int64_t columns = form.columns.output, rows = form.rows.output;
    FewOutputGrid grid{};
    const int64_t least = form.inputs * (beside + 1) * (columns + form.columns.reach());
    grid.column_parts =
        std::clamp<int64_t>(CeilDivide(least, most), 1, std::max<int64_t>(columns / kMinColumns, 1));
    grid.columns = CeilDivide(columns, grid.column_parts);
    grid.left = tensor::RoundUp(form.columns.before, simd::SimdWidth());
    const int64_t right = std::max<int64_t>(form.columns.reach() - 1 - form.columns.before, 0);
    grid.seen_columns =
        grid.left + tensor::RoundUp(tensor::RoundUp(grid.columns, kBlockColumns) + right, simd::SimdWidth());
    const int64_t together = std::clamp<int64_t>(most / (form.inputs * grid.seen_columns) - beside, 1, rows);
    const int64_t wanted = form.threads == 1 ? 1 : tensor::kTasksPerThread * form.threads;
    grid.row_parts =
        std::clamp(std::max(CeilDivide(rows, together), CeilDivide(wanted, form.images * grid.column_parts)),
                   int64_t{1}, rows);
    grid.rows = CeilDivide(rows, grid.row_parts);
    grid.seen_rows = grid.rows + beside;
    return grid;
  }
};

class FewOutputConvolution final : public kernels::Kernel {
 public:
  FewOutputConvolution(const FewOutputShape& form, gemm::Epilogue steps)
      : form_(form), grid_(FewOutputGrid::Of(form)), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:few_outputs"; }
  size_t scratch_bytes() const {
    const int64_t floats = steps_.column_floats(form_.outputs) + form_.threads * ThreadFloats();
    return static_cast<size_t>(floats) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.outputs);
    float* scratch = reinterpret_cast<float*>(run.scratch) + steps_.column_floats(form_.outputs);
    const int64_t parts = grid_.row_parts * grid_.column_parts;
    tensor::RunTasks(form_.images * parts, form_.threads, [&](int64_t task, int member) {
      const int64_t row_part = task % parts / grid_.column_parts, column_part = task % grid_.column_parts;
      float* planes = scratch + member * ThreadFloats();
      const Part part = {task / parts, simd::IndexRange{0, form_.rows.output}.Part(grid_.row_parts, row_part),
                         simd::IndexRange{0, form_.columns.output}.Part(grid_.column_parts, column_part)};
      Gather(call, part, planes);
      for (int64_t row = part.rows.begin; row < part.rows.end; ++row)
        RunRow(call, part, row, planes, planes + form_.inputs * PlaneFloats());
    });
    return Success();
  }

 private:
  struct Part {
    int64_t image;
    simd::IndexRange rows, columns;
  };

  // An odd number of blocks, because planes at page-sized distances would conflict in caches.
  int64_t PlaneFloats() const {
    return (CeilDivide(grid_.seen_rows * grid_.seen_columns, kBlockColumns) | 1) * kBlockColumns;
  }
  int64_t LineFloats() const { return tensor::RoundUp(grid_.columns, kBlockColumns); }
  int64_t ThreadFloats() const {
    return form_.inputs * PlaneFloats() + form_.groups() * form_.of_group() * LineFloats();
  }

  // Copies the input pixels of a part, zero-padded at the border of the image.
  void Gather(const gemm::ConvolutionCall& call, const Part& part, float* planes) const {
    const kernels::WindowAxis &rows = form_.rows, &columns = form_.columns;
    const int64_t first_row = gemm::InputPosition(rows, part.rows.begin, 0);
    const int64_t first = part.columns.begin - grid_.left;
    const int64_t begin = std::clamp<int64_t>(-first, 0, grid_.seen_columns);
    const int64_t end = std::clamp(columns.input - first, begin, grid_.seen_columns);
    for (int64_t row = 0; row < part.rows.count() + rows.reach() - 1; ++row) {
      float* to = planes + row * grid_.seen_columns;
      const bool is_seen = first_row + row >= 0 && first_row + row < rows.input;
      for (int64_t channel = 0; channel < form_.inputs; ++channel) {
        float* line = to + channel * PlaneFloats();
        std::fill(line, line + (is_seen ? begin : grid_.seen_columns), 0.0f);
        if (is_seen) std::fill(line + end, line + grid_.seen_columns, 0.0f);
      }
      if (is_seen && begin < end)
        CopyPixels(call.in + part.image * form_.in_image(), (first_row + row) * columns.input + first + begin,
                   end - begin, to + begin);
    }
  }

  // Copies pixels of all channels.
  void CopyPixels(const float* image, int64_t pixel, int64_t count, float* to) const {
    const int64_t together = form_.is_blocked ? kBlockColumns : 1;
    for (int64_t channel = 0; channel < form_.inputs; channel += together) {
      const float* from = image + channel * form_.in_pixels() + pixel * together;
      float* line = to + channel * PlaneFloats();
      if (!form_.is_blocked) {
        std::copy_n(from, count, line);
        continue;
      }
      simd::TransposeMatrix({.from = from,
                             .from_stride = kBlockColumns,
                             .to = line,
                             .to_stride = PlaneFloats(),
                             .rows = count,
                             .columns = std::min(kBlockColumns, form_.inputs - channel)});
    }
  }

  void RunRow(const gemm::ConvolutionCall& call, const Part& part, int64_t row, const float* planes,
              float* lines) const {
    const int64_t of_group = form_.of_group(), pixels = tensor::RoundUp(part.columns.count(), kBlockColumns);
    const int64_t seen = (row - part.rows.begin) * grid_.seen_columns + grid_.left - form_.columns.before;
    const auto offset = [&](int64_t output) {
      return ((part.image * form_.outputs + output) * form_.rows.output + row) * form_.columns.output +
             part.columns.begin;
    };
    for (int64_t output = 0; output < form_.groups() * of_group; ++output) {
      float* line = lines + output * LineFloats();
      const bool is_made = output < form_.outputs;
      const float* bias = is_made ? call.operands.ColumnsOf(steps_.bias(), output) : nullptr;
      std::fill_n(line, pixels, bias == nullptr ? 0.0f : *bias);
      const float* start = is_made ? call.operands.ElementsOf(steps_.start(), offset(output)) : nullptr;
      for (int64_t i = 0; start != nullptr && i < part.columns.count(); ++i) line[i] += start[i];
    }
    for (int64_t group = 0; group < form_.groups(); ++group)
      simd::RunFewOutputMicrokernel(of_group,
                                    {.in = planes + seen,
                                     .channels = form_.inputs,
                                     .in_channel = PlaneFloats(),
                                     .rows = form_.rows.size,
                                     .columns = form_.columns.size,
                                     .in_row = form_.rows.dilation * grid_.seen_columns,
                                     .in_column = form_.columns.dilation,
                                     .weights = call.weights + group * form_.inputs * form_.taps() * of_group,
                                     .out = lines + group * of_group * LineFloats(),
                                     .out_plane = LineFloats(),
                                     .pixels = pixels,
                                     .limits = steps_.limits()});
    for (int64_t output = 0; output < form_.outputs; ++output) {
      float* line = lines + output * LineFloats();
      // Pixels in place of channels, with no padding at the end.
      steps_.Finish({.out = {line, kBlockColumns, 0},
                     .offset = 0,
                     .column = 0,
                     .rows = pixels / kBlockColumns,
                     .blocks = 1},
                    kBlockColumns, call.operands);
      std::copy_n(line, part.columns.count(), call.out + offset(output));
    }
  }

  FewOutputShape form_;
  FewOutputGrid grid_;
  gemm::Epilogue steps_;
};

// [outputs, inputs, taps..] in groups of outputs, contiguous per tap.
tensor::Layout FewOutputFilterLayout(llvm::ArrayRef<int64_t> filter, const FewOutputShape& form) {
  return std::make_shared<memory::BlockedLayout>(memory::AxisBlockedFormat(filter, 0, form.of_group()));
}

kernels::OrReason<FewOutputShape> FewOutputShapeOf(const kernels::KernelRequest& request) {
  constexpr int64_t kMaxPixels = int64_t{1} << 24, kMaxInputs = int64_t{1} << 20;
  // All rows between the taps of a window are gathered, and pixels to the left of each row.
  constexpr int64_t kMaxRows = 33, kMaxBeside = 1024;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (filter.size() > 5) return Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 2);
  if (filter[1] > kMaxInputs) return Reason("{} input channels, more than {}", filter[1], kMaxInputs);
  if (request.inputs[1].constant == nullptr) return kNeedsConstantFilter;
  const kernels::Window window = gemm::WindowOfConvolution(request);
  FewOutputShape form{.is_blocked = memory::IsChannelBlocked(request.inputs[0]),
                      .images = request.inputs[0].shape[0],
                      .inputs = filter[1],
                      .outputs = filter[0],
                      .rows = window[1],
                      .columns = window[2],
                      .threads = tensor::CurrentThreads()};
  const kernels::WindowAxis& slices = window[0];
  if (gemm::IsIdentityWindow(slices) && gemm::IsIdentityWindow(form.rows) &&
      gemm::IsIdentityWindow(form.columns)) {
    form.columns.input = form.columns.output = slices.input * form.in_pixels();
    form.rows = kernels::WindowAxis{};
  } else if (filter.size() == 5) {
    return Reason("windows of three axes");
  }
  if (form.rows.stride != 1 || form.columns.stride != 1)
    return Reason("strides {}x{}", form.rows.stride, form.columns.stride);
  if (form.columns.output > kMaxPixels)
    return Reason("rows of {} pixels, more than {}", form.columns.output, kMaxPixels);
  if (form.rows.reach() > kMaxRows)
    return Reason("windows over {} rows, more than {}", form.rows.reach(), kMaxRows);
  const int64_t beside = std::max(form.columns.reach(), form.columns.before);
  if (beside > kMaxBeside)
    return Reason("windows or borders of {} columns, more than {}", beside, kMaxBeside);
  return form;
}

}  // namespace

Reason FewOutputsApply(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  return FewOutputShapeOf(request).reason();
}

// Shorter rows do not fill a vector. More outputs fill enough of a channel block of direct convolution,
// unless padding enlarges the images so that they may not fit in the second-level cache (Emerald Rapids).
kernels::Cost FewOutputsCost(const kernels::KernelRequest& request) {
  constexpr int64_t kMinPixels = 6, kMaxOutputs = 7, kMaxOutputsOfLarge = 12, kMaxPixels = 16'384;
  constexpr double kFasterThanDirect = 0.9;
  const kernels::OrReason<FewOutputShape> form = FewOutputShapeOf(request);
  const int64_t pixels = Volume(llvm::ArrayRef<int64_t>(request.outputs[0].shape).drop_front(2)).value_or(0);
  const bool is_large = pixels > kMaxPixels || simd::SimdWidth() == simd::kSimdWidth256;
  const int64_t most = is_large ? kMaxOutputsOfLarge : kMaxOutputs;
  if (form->outputs > most)
    return kernels::Cost::NotByDefault(Reason("{} output channels, more than {}", form->outputs, most));
  if (form->columns.output < kMinPixels)
    return kernels::Cost::NotByDefault(
        Reason("rows of {} pixels, fewer than {}", form->columns.output, kMinPixels));
  return {kFasterThanDirect};
}

kernels::KernelOrReason MakeFewOutputConvolution(const kernels::KernelRequest& request) {
  const kernels::OrReason<FewOutputShape> form = FewOutputShapeOf(request);
  if (!form) return form.reason();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  if (steps->takes_operands()) return Reason("a fused operation with an operand after the bias");
  kernels::PreparedKernel prepared = gemm::PrepareConvolution(
      request, *steps, form->outputs, FewOutputFilterLayout(request.inputs[1].shape, *form));
  if (!form->is_blocked) prepared.inputs[0] = nullptr;
  prepared.outputs[0] = nullptr;
  for (int input : steps->element_inputs()) prepared.inputs[static_cast<size_t>(input)] = nullptr;
  auto kernel = std::make_shared<FewOutputConvolution>(*form, std::move(*steps));
  constexpr size_t kMaxScratch = size_t{1} << 24;
  if (kernel->scratch_bytes() > kMaxScratch * static_cast<size_t>(form->threads))
    return Reason("{} bytes of scratch memory are too much", static_cast<int64_t>(kernel->scratch_bytes()));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
