// Depthwise convolution of nChw16c images in whole rows, for small square windows.

#include "runtime/fast/conv/depthwise_rows.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/fast/conv/depthwise_convolution.h"
#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/simd/conv/depthwise_rows_microkernel.h"
#include "runtime/fast/simd/index_range.h"
#include "runtime/kernels/windows/window.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using kernels::KernelRequest;
using kernels::Reason;
using simd::IndexRange;
using simd::kBlockColumns;

namespace {

struct DepthwiseImages {
  int64_t images, channels;
  kernels::WindowAxis rows, columns;
  int threads;

  int64_t blocks() const { return tensor::CeilDivide(channels, kBlockColumns); }
  int64_t planes() const { return images * blocks(); }
  int64_t in_row() const { return columns.input * kBlockColumns; }
  int64_t out_row() const { return columns.output * kBlockColumns; }
};

class DepthwiseRowsKernel final : public kernels::Kernel {
 public:
  DepthwiseRowsKernel(const DepthwiseImages& form, gemm::Epilogue steps)
      : form_(form), steps_(std::move(steps)), border_(static_cast<size_t>(form.in_row())) {}

  std::string implementation() const override { return "nnefc:depthwise_rows"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.channels);
    const int64_t planes = form_.planes(), parts = DepthwiseLineParts(form_.images, planes, form_.rows.output,
                                                                      form_.columns.output, form_.threads);
    tensor::RunTasks(planes * parts, form_.threads, [&](int64_t task, int) {
      RunPlane(call, task % planes, IndexRange{0, form_.rows.output}.Part(parts, task / planes));
    });
    return Success();
  }

 private:
  // Computes rows of a plane (a channel block of an image).
  void RunPlane(const gemm::ConvolutionCall& call, int64_t plane, const IndexRange& rows) const {
    const kernels::WindowAxis& columns = form_.columns;
    const int64_t block = plane % form_.blocks(), together = simd::DepthwiseRowsTogether(columns.size);
    const float* image = call.in + plane * form_.rows.input * form_.in_row();
    std::array<const float*, simd::kMaxDepthwiseInputRows> in;
    simd::DepthwiseRows<float, float> part{
        .count = 0,
        .size = columns.size,
        .stride = columns.stride,
        .in = in.data(),
        .in_columns = columns.input,
        .in_pixel = kBlockColumns,
        .before = columns.before,
        .columns = columns.output,
        .channels = kBlockColumns,
        .weights = call.weights + block * form_.rows.size * columns.size * kBlockColumns,
        .bias = call.operands.ColumnsOf(steps_.bias(), block * kBlockColumns),
        .limits = steps_.limits(),
        .out = nullptr,
        .out_row = form_.out_row(),
        .out_pixel = kBlockColumns};
    for (int64_t row = rows.begin; row < rows.end; row += part.count) {
      part.count = std::min(together, rows.end - row);
      for (int64_t i = 0; i < (part.count - 1) * part.stride + part.size; ++i) {
        const int64_t from = gemm::InputPosition(form_.rows, row, 0) + i;
        in[static_cast<size_t>(i)] =
            from < 0 || from >= form_.rows.input ? border_.data() : image + from * form_.in_row();
      }
      const int64_t offset = (plane * form_.rows.output + row) * form_.out_row();
      part.out = call.out + offset;
      simd::RunDepthwiseRows(part);
      // Results that a function reads again are in L1.
      steps_.Finish({.out = {part.out, kBlockColumns, 0},
                     .offset = offset,
                     .column = block * kBlockColumns,
                     .rows = part.count * columns.output,
                     .blocks = 1},
                    form_.channels, call.operands);
    }
  }

  DepthwiseImages form_;
  gemm::Epilogue steps_;
  std::vector<float> border_;  // an input row of zeros
};

}  // namespace

Reason HasRowsMicrokernel(const kernels::WindowAxis& rows, const kernels::WindowAxis& columns) {
  if (rows.dilation != 1 || columns.dilation != 1)
    return Reason("a dilation of {} x {}", rows.dilation, columns.dilation);
  const bool is_square = rows.size == columns.size && rows.stride == columns.stride;
  return is_square && simd::HasDepthwiseRows(columns.size, columns.stride)
             ? Reason()
             : Reason("a window of {} x {} or its strides", rows.size, columns.size);
}

Reason DepthwiseRowsApply(const KernelRequest& request) {
  const Reason reason = DepthwiseApplies(request);
  if (!reason.empty()) return reason;
  constexpr size_t kImageRank = 4;
  if (request.inputs[0].shape.size() != kImageRank)
    return Reason("{} spatial axes", static_cast<int64_t>(request.inputs[0].shape.size()) - 2);
  const kernels::Window window = gemm::WindowOfConvolution(request);
  return HasRowsMicrokernel(window[1], window[2]);
}

bool HasLargeBorder(const KernelRequest& request) {
  const kernels::WindowAxis rows = gemm::WindowOfConvolution(request)[1];
  int64_t taps = 0;
  for (int64_t row = 0; row < rows.output; ++row) taps += gemm::ValidTaps(rows, row).count();
  const int64_t all = rows.output * rows.size;
  constexpr int64_t kQuarters = 4;
  return kQuarters * (all - taps) >= all;
}

kernels::KernelOrReason MakeDepthwiseRows(const KernelRequest& request) {
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  if (steps->start() >= 0) return Reason("sums that begin with elements");
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const int64_t channels = request.inputs[1].shape[0];
  kernels::PreparedKernel prepared = gemm::PrepareConvolution(
      request, *steps, channels,
      memory::LayoutOf(memory::AxisBlockedFormat(request.inputs[1].shape, 0, memory::kChannelBlock)));
  prepared.kernel =
      std::make_shared<DepthwiseRowsKernel>(DepthwiseImages{.images = request.inputs[0].shape[0],
                                                            .channels = channels,
                                                            .rows = window[1],
                                                            .columns = window[2],
                                                            .threads = tensor::CurrentThreads()},
                                            std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
