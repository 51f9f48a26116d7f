// Transposed convolution of f32 images with bf16 multiplication.

#include "runtime/fast/conv/bf16_deconvolution.h"

#include <algorithm>
#include <array>

#include "llvm/ADT/SmallVector.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/panel_gemm.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/windows/transposed_window.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;
using memory::StorageType;
using simd::kBlockColumns;

namespace {

constexpr int64_t kPanelsOfGroup = 3;

// The window is that of the convolution with data and result exchanged: its `input` is the result.
struct TransposedForm {
  int64_t images, inputs, outputs;
  kernels::WindowAxis rows, columns;
  int threads;

  int64_t input_blocks() const { return tensor::CeilDivide(inputs, kBlockColumns); }
  int64_t output_blocks() const { return tensor::CeilDivide(outputs, kBlockColumns); }
  int64_t terms() const { return input_blocks() * kBlockColumns; }
  int64_t data_pixels() const { return rows.output * columns.output; }
  int64_t result_pixels() const { return rows.input * columns.input; }
  int64_t panel_bytes() const {
    return terms() * gemm::kPanelWidth * static_cast<int64_t>(BytesOf(StorageType::kBf16));
  }
  // Returns the offset of a tap's panels, in bytes.
  int64_t TapBytes(int64_t row_tap, int64_t column_tap) const {
    return (row_tap * columns.size + column_tap) * output_blocks() * panel_bytes();
  }
};

class Bf16Deconvolution final : public kernels::Kernel {
 public:
  Bf16Deconvolution(const TransposedForm& form, gemm::Epilogue steps)
      : form_(form), steps_(std::move(steps)) {}

  std::string implementation() const override { return "nnefc:bf16_transposed"; }

  size_t scratch_bytes() const {
    return static_cast<size_t>(steps_.column_floats(form_.outputs)) * sizeof(float) +
           static_cast<size_t>(form_.images * form_.data_pixels() * form_.terms()) *
               BytesOf(StorageType::kBf16);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.outputs);
    auto* data = reinterpret_cast<uint16_t*>(
        run.scratch + static_cast<size_t>(steps_.column_floats(form_.outputs)) * sizeof(float));
    tensor::RunTasks(form_.images * form_.rows.output, form_.threads,
                     [&](int64_t line, int) { RoundLine(call.in, line, data); });
    const int64_t parts =
        form_.threads == 1 ? 1 : std::min(form_.rows.input, tensor::kTasksPerThread * form_.threads);
    tensor::RunTasks(form_.images * parts, form_.threads, [&](int64_t task, int) {
      const simd::IndexRange rows = simd::IndexRange{0, form_.rows.input}.Part(parts, task % parts);
      RunRows(call, task / parts, rows, data);
    });
    return Success();
  }

 private:
  // Rounds a row of the data of an image to [pixels, channels].
  void RoundLine(const float* in, int64_t line, uint16_t* data) const {
    const int64_t image = line / form_.rows.output, row = line % form_.rows.output;
    uint16_t* const to = data + line * form_.columns.output * form_.terms();
    for (int64_t block = 0; block < form_.input_blocks(); ++block) {
      const int64_t pixel =
          (image * form_.input_blocks() + block) * form_.data_pixels() + row * form_.columns.output;
      gemm::RoundBlocksToBf16(in + pixel * kBlockColumns, kBlockColumns, form_.columns.output,
                              to + block * kBlockColumns, form_.terms());
    }
  }

  // Computes rows of the result. The cache holds a group of panels for all of them.
  void RunRows(const gemm::ConvolutionCall& call, int64_t image, const simd::IndexRange& rows,
               const uint16_t* data) const {
    for (int64_t first = 0; first < form_.output_blocks(); first += kPanelsOfGroup) {
      const simd::IndexRange blocks{first, std::min(first + kPanelsOfGroup, form_.output_blocks())};
      for (int64_t row = rows.begin; row < rows.end; ++row) RunRow(call, image, row, blocks, data);
    }
  }

  void RunRow(const gemm::ConvolutionCall& call, int64_t image, int64_t row, const simd::IndexRange& blocks,
              const uint16_t* data) const {
    const kernels::WindowAxis& axis = form_.rows;
    const int64_t offset = OffsetOf(image, row, blocks.begin);
    const simd::BlockedMatrix<float> out{call.out + offset, kBlockColumns,
                                         form_.result_pixels() * kBlockColumns};
    Start(call, out, blocks);
    for (int64_t tap = 0; tap < axis.size; ++tap) {
      const int64_t position = row + axis.before - tap * axis.dilation;
      const int64_t data_row = position / axis.stride;
      if (position < 0 || position % axis.stride != 0 || data_row >= axis.output) continue;
      AddTaps(call, tap, data + (image * axis.output + data_row) * form_.columns.output * form_.terms(), out,
              blocks);
    }
    Limit(out, blocks.count());
    steps_.Finish({.out = out,
                   .offset = offset,
                   .column = blocks.begin * kBlockColumns,
                   .rows = form_.columns.input,
                   .blocks = blocks.count()},
                  form_.outputs, call.operands);
  }

  int64_t OffsetOf(int64_t image, int64_t row, int64_t block) const {
    return ((image * form_.output_blocks() + block) * form_.result_pixels() + row * form_.columns.input) *
           kBlockColumns;
  }

  void Start(const gemm::ConvolutionCall& call, const simd::BlockedMatrix<float>& out,
             const simd::IndexRange& blocks) const {
    for (int64_t block = 0; block < blocks.count(); ++block) {
      const float* bias = call.operands.ColumnsOf(steps_.bias(), (blocks.begin + block) * kBlockColumns);
      float* const to = out.At(0, block);
      if (bias == nullptr) {
        std::fill_n(to, form_.columns.input * kBlockColumns, 0.0f);
        continue;
      }
      for (int64_t pixel = 0; pixel < form_.columns.input; ++pixel)
        std::copy_n(bias, kBlockColumns, to + pixel * kBlockColumns);
    }
  }

  // Adds the products of a row of the data by a row of taps.
  void AddTaps(const gemm::ConvolutionCall& call, int64_t row_tap, const uint16_t* data,
               const simd::BlockedMatrix<float>& out, const simd::IndexRange& blocks) const {
    const kernels::WindowAxis& axis = form_.columns;
    const int64_t stride = axis.stride * kBlockColumns;
    for (int64_t tap = 0; tap < axis.size; ++tap) {
      const simd::IndexRange valid = gemm::ValidOutputs(axis, tap);
      const std::byte* panels =
          reinterpret_cast<const std::byte*>(call.weights) + form_.TapBytes(row_tap, tap);
      for (int64_t pixel = valid.begin; pixel < valid.end; pixel += gemm::kMaxPanelRows) {
        const int64_t rows = std::min(gemm::kMaxPanelRows, valid.end - pixel);
        std::array<const std::byte*, gemm::kMaxPanelRows> left;
        for (int64_t i = 0; i < rows; ++i)
          left[static_cast<size_t>(i)] =
              reinterpret_cast<const std::byte*>(data + (pixel + i) * form_.terms());
        llvm::SmallVector<gemm::PanelSums, kPanelsOfGroup> sums;
        for (int64_t block = 0; block < blocks.count(); ++block) {
          float* const to = out.At(gemm::InputPosition(axis, pixel, tap), block);
          sums.push_back({.panel = panels + (blocks.begin + block) * form_.panel_bytes(),
                          .start = to,
                          .start_stride = stride,
                          .out = to,
                          .out_stride = stride});
        }
        gemm::MultiplyByPanels({left.data(), static_cast<size_t>(rows)}, StorageType::kBf16, form_.terms(),
                               sums);
      }
    }
  }

  void Limit(const simd::BlockedMatrix<float>& out, int64_t blocks) const {
    const simd::Limits limits = steps_.limits();
    if (!limits.has_max && !limits.has_min) return;
    for (int64_t block = 0; block < blocks; ++block) {
      float* const numbers = out.At(0, block);
      simd::Vectorized([&] {
        for (int64_t i = 0; i < form_.columns.input * kBlockColumns; ++i) numbers[i] = limits.Of(numbers[i]);
      });
    }
  }

  TransposedForm form_;
  gemm::Epilogue steps_;
};

// Returns the layout of a filter [inputs, outputs, rows, columns]: for each tap a matrix in panels of
// outputs, with pairs of input channels.
tensor::Layout TapPanelLayout(llvm::ArrayRef<int64_t> filter) {
  constexpr int64_t kPairOfInputs = 2;
  memory::BlockedFormat format = memory::RowMajorFormat(filter, StorageType::kBf16);
  format.padded_extents[0] = tensor::RoundUp(filter[0], kBlockColumns);
  format.padded_extents[1] = tensor::RoundUp(filter[1], gemm::kPanelWidth);
  format.num_blocks = 3;
  format.blocks[0] = {0, kBlockColumns / kPairOfInputs};
  format.blocks[1] = {1, gemm::kPanelWidth};
  format.blocks[2] = {0, kPairOfInputs};
  format.strides[0] = kBlockColumns * gemm::kPanelWidth;
  format.strides[1] = format.padded_extents[0] * gemm::kPanelWidth;
  format.strides[3] = format.padded_extents[0] * format.padded_extents[1];
  format.strides[2] = format.strides[3] * filter[3];
  return std::make_shared<memory::BlockedLayout>(std::move(format));
}

}  // namespace

Reason Bf16DeconvolutionApplies(const kernels::KernelRequest& request) {
  if (!HasBf16()) return Reason("needs AVX-512 with bf16");
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (filter.size() != 4) return Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 2);
  return request.inputs[1].constant == nullptr ? kNeedsConstantFilter : Reason();
}

// Relative to col2im in f32 (Zen 5). The results of each tap are read and written again.
kernels::Cost Bf16DeconvolutionCost(const kernels::KernelRequest& request) {
  constexpr int64_t kMinInputs = 64;
  constexpr double kTime = 0.3;
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  if (filter[0] < kMinInputs)
    return kernels::Cost::NotByDefault(Reason("{} input channels, fewer than {}", filter[0], kMinInputs));
  if (filter[1] < kBlockColumns)
    return kernels::Cost::NotByDefault(Reason("{} output channels, fewer than a block", filter[1]));
  return {kTime};
}

kernels::KernelOrReason MakeBf16Deconvolution(const kernels::KernelRequest& request) {
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  if (steps->start() >= 0) return Reason("a fused sum of images");
  const llvm::ArrayRef<int64_t> data = request.inputs[0].shape, filter = request.inputs[1].shape;
  const kernels::Window window = kernels::MakeTransposedWindow(
      *request.node, llvm::ArrayRef<int64_t>(request.outputs[0].shape).drop_front(2), data.drop_front(2),
      filter.drop_front(2));
  const TransposedForm form{.images = data[0],
                            .inputs = filter[0],
                            .outputs = filter[1],
                            .rows = window[1],
                            .columns = window[2],
                            .threads = tensor::CurrentThreads()};
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form.outputs, TapPanelLayout(filter));
  auto kernel = std::make_shared<Bf16Deconvolution>(form, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
