// FakeQuantize with f32 results.

#include "runtime/fast/int8/fake_quantize.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using gemm::AxisLimits;
using kernels::KernelRequest;
using kernels::OrReason;
using kernels::Reason;
using kernels::ValueInfo;

namespace {

class RoundKernel final : public kernels::Kernel {
 public:
  explicit RoundKernel(const simd::FakeQuantizeLevels& levels) : levels_(levels) {}

  std::string implementation() const override { return "nnefc:round"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    tensor::ParallelParts(run.input(0).volume(), [&](int64_t begin, int64_t end) {
      simd::FakeQuantizeRow(levels_, x + begin, end - begin, out + begin);
    });
    return Success();
  }

 private:
  simd::FakeQuantizeLevels levels_;
};

// Arrays of limits, `block` of them for each of the `groups` of an axis, whose last one may be partial. Rows
// of a group are consecutive in memory.
class RoundColumnsKernel final : public kernels::Kernel {
 public:
  struct Sizes {
    int64_t images, groups, rows, block;  // [images, groups, rows, block] in memory
  };

  RoundColumnsKernel(const AxisLimits& limits, int64_t extent, const Sizes& sizes)
      : sizes_(sizes), steps_(limits.steps) {
    for (int64_t index = 0; index < sizes.groups * sizes.block; ++index) {
      // Zeros of padding stay zeros.
      const simd::FakeQuantizeLevels levels = index < extent ? limits.LevelsOf(static_cast<size_t>(index))
                                                             : simd::FakeQuantizeLevels{0, 1, 0, 1, 1};
      low_.push_back(levels.low);
      high_.push_back(levels.high);
      first_.push_back(levels.first);
      last_.push_back(levels.last);
    }
  }

  std::string implementation() const override { return "nnefc:round_channels"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    const int64_t each = RowsOfTask();
    const int64_t parts = tensor::CeilDivide(sizes_.rows, each);
    tensor::ParallelFor(sizes_.images * sizes_.groups * parts, each * sizes_.block, [&](int64_t task) {
      const int64_t panel = task / parts, group = panel % sizes_.groups;
      const int64_t begin = task % parts * each, count = std::min(each, sizes_.rows - begin);
      const int64_t offset = (panel * sizes_.rows + begin) * sizes_.block;
      const auto index = static_cast<size_t>(group * sizes_.block);
      if (sizes_.block == 1) {
        simd::FakeQuantizeRow({low_[index], high_[index], first_[index], last_[index], steps_}, x + offset,
                              count, out + offset);
        return;
      }
      simd::FakeQuantizeColumns(
          {low_.data() + index, high_.data() + index, first_.data() + index, last_.data() + index, steps_},
          x + offset, count, sizes_.block, out + offset);
    });
    return Success();
  }

 private:
  // Returns a number of rows whose elements fit into L1.
  int64_t RowsOfTask() const {
    constexpr int64_t kElements = 4096;
    return std::max<int64_t>(1, kElements / sizes_.block);
  }

  Sizes sizes_;
  std::vector<float> low_, high_, first_, last_;
  float steps_;
};

// Returns the kernel for limits of an axis in the given layout, or in row-major order, and that layout.
std::pair<std::shared_ptr<kernels::Kernel>, tensor::Layout> MakeRoundColumns(
    const AxisLimits& limits, llvm::ArrayRef<int64_t> shape, const memory::BlockedFormat& format) {
  using Sizes = RoundColumnsKernel::Sizes;
  const auto axis = static_cast<size_t>(limits.axis);
  const int64_t extent = shape[axis];
  const int64_t before = *Volume(shape.take_front(axis)), after = *Volume(shape.drop_front(axis + 1));
  const auto make = [&](const Sizes& sizes) {
    return std::make_shared<RoundColumnsKernel>(limits, extent, sizes);
  };
  if (const int64_t block = memory::ChannelBlockOf(format); block != 0 && axis == 1)
    return {make({before, tensor::CeilDivide(extent, block), after, block}), memory::LayoutOf(format)};
  if (memory::IsChannelsLast(format) && axis == 1)
    return {make({1, 1, before * after, extent}), memory::LayoutOf(format)};
  if (after == 1) return {make({1, 1, before, extent}), nullptr};
  return {make({before, extent, after, 1}), nullptr};
}

}  // namespace

kernels::KernelOrReason MakeFakeQuantize(const KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!request.posts.empty()) return kHasFusedOperation;
  const ValueInfo& input = request.inputs[0];
  if (!memory::IsDenseF32(input)) return kNotF32;
  if (input.shape != request.outputs[0].shape) return Reason("the input is broadcast");
  OrReason<AxisLimits> limits =
      gemm::AxisLimitsOf(*request.node, request.inputs.drop_front(1), request.outputs[0].shape);
  if (!limits) return limits.reason();
  const memory::BlockedFormat format = memory::FormatInF32(input);
  kernels::PreparedKernel prepared;
  tensor::Layout layout = nullptr;
  // Padding channels stay zeros, so that they have other limits.
  const bool has_padding_channels = memory::IsPadded(format) && memory::ChannelBlockOf(format) != 0;
  if (has_padding_channels && limits->has_one_range()) limits->axis = 1;
  if (limits->has_one_range() && !has_padding_channels) {
    // Without padding a layout's memory contains exactly its elements.
    layout = memory::IsPadded(format) ? nullptr : memory::LayoutOf(format);
    prepared.kernel = std::make_shared<RoundKernel>(limits->LevelsOf(0));
  } else {
    std::tie(prepared.kernel, layout) = MakeRoundColumns(*limits, input.shape, format);
  }
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = layout;
  prepared.outputs.push_back(layout);
  prepared.in_place = 0;
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
