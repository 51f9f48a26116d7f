// Grouped convolution of nChw16c images.

#include "runtime/fast/conv/grouped_convolution.h"

#include <algorithm>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/conv/grouped_convolution_microkernel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::conv {

using kernels::Reason;
using simd::GroupWidth;
using simd::IndexRange;
using simd::kBlockColumns;
using simd::SimdWidth;

namespace {

struct GroupedForm {
  GroupWidth width;
  int64_t images, groups;
  int64_t inputs, outputs;  // per group
  kernels::WindowAxis rows, columns;
  int threads;

  int64_t channels() const { return groups * outputs; }
  int64_t out_blocks() const { return tensor::CeilDivide(channels(), kBlockColumns); }
  int64_t in_blocks() const { return tensor::CeilDivide(groups * inputs, kBlockColumns); }
  int64_t in_plane() const { return rows.input * columns.input * kBlockColumns; }
  int64_t out_plane() const { return rows.output * columns.output * kBlockColumns; }
  // Weights for one register of outputs.
  int64_t weights_row() const { return inputs * simd::kGroupedColumns * SimdWidth(); }
  int64_t weights_size() const { return rows.size * weights_row(); }
  bool fills_registers() const { return width == GroupWidth::kRegisters; }
};

// The pixels of a tile within a row, and a bit mask of the input pixels inside the image.
struct GroupedPositions {
  IndexRange places;
  uint32_t inside;
};

std::vector<GroupedPositions> DividePlaces(const kernels::WindowAxis& axis) {
  const int64_t count = tensor::CeilDivide(axis.output, simd::kGroupedPixels);
  std::vector<GroupedPositions> tiles;
  for (int64_t index = 0; index < count; ++index) {
    GroupedPositions tile{.places = IndexRange{0, axis.output}.Part(count, index), .inside = 0};
    const int64_t first = gemm::InputPosition(axis, tile.places.begin, 0);
    const int64_t seen = (tile.places.count() - 1) * axis.stride + axis.size;
    for (int64_t i = 0; i < seen; ++i) {
      if (first + i >= 0 && first + i < axis.input) tile.inside |= 1U << i;
    }
    tiles.push_back(tile);
  }
  return tiles;
}

class GroupedConvolution final : public kernels::Kernel {
 public:
  GroupedConvolution(const GroupedForm& form, gemm::Epilogue steps)
      : form_(form), tiles_(DividePlaces(form.columns)), steps_(std::move(steps)) {
    for (int64_t row = 0; row < form.rows.output; ++row) row_taps_.push_back(gemm::ValidTaps(form.rows, row));
  }

  std::string implementation() const override { return "nnefc:grouped"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    constexpr int64_t kMaxPanelRows = 4;
    const tensor::ThreadScope scope(form_.threads);
    const gemm::ConvolutionCall call = gemm::ConvolutionCall::Of(run, steps_, form_.channels());
    const int64_t planes = form_.images * form_.out_blocks();
    const int64_t parts = RowParts();
    tensor::RunTasks(planes * parts, form_.threads, [&](int64_t task, int) {
      const IndexRange span = IndexRange{0, form_.rows.output}.Part(parts, task / planes);
      for (int64_t row = span.begin; row < span.end; row += kMaxPanelRows)
        RunRows(call, task % planes, {row, std::min(row + kMaxPanelRows, span.end)});
    });
    return Success();
  }

 private:
  int64_t RowParts() const {
    if (form_.threads == 1) return 1;
    const int64_t planes = form_.images * form_.out_blocks();
    return std::min(form_.rows.output, tensor::CeilDivide(tensor::kTasksPerThread * form_.threads, planes));
  }

  // Computes rows of a plane, i.e. of a channel block of an image.
  void RunRows(const gemm::ConvolutionCall& call, int64_t plane, const IndexRange& rows) const {
    const int64_t column = plane % form_.out_blocks() * kBlockColumns;
    const int64_t offset = plane * form_.out_plane() + rows.begin * form_.columns.output * kBlockColumns;
    const int64_t count = rows.count() * form_.columns.output;  // pixels
    for (int64_t lane = 0; lane < kBlockColumns; lane += SimdWidth()) {
      if (column + lane < form_.channels()) {
        RunOutputs(call, {plane / form_.out_blocks(), column + lane, offset + lane}, rows);
      } else {
        for (int64_t pixel = 0; pixel < count; ++pixel)
          std::fill_n(call.out + offset + lane + pixel * kBlockColumns, SimdWidth(), 0.0f);
      }
    }
    steps_.Finish({.out = {call.out + offset, kBlockColumns, 0},
                   .offset = offset,
                   .column = column,
                   .rows = count,
                   .blocks = 1},
                  form_.channels(), call.operands);
  }

  // A register of output channels starting at `channel`, `offset` elements from the beginning of the result.
  struct Outputs {
    int64_t image, channel, offset;
  };

  void RunOutputs(const gemm::ConvolutionCall& call, const Outputs& at, const IndexRange& rows) const {
    const kernels::WindowAxis& columns = form_.columns;
    const float* in = call.in + at.image * form_.in_blocks() * form_.in_plane();
    const float* weights = call.weights + at.channel / SimdWidth() * form_.weights_size();
    int64_t offset = at.offset;
    simd::GroupedArguments tile{
        .in = nullptr,
        .in_block = form_.in_plane(),
        .in_row = form_.rows.dilation * columns.input * kBlockColumns,
        .inside = 0,
        .first = form_.fills_registers() ? at.channel / form_.outputs * form_.inputs : at.channel,
        .terms = form_.inputs,
        .rows = 0,
        .weights = nullptr,
        .bias = call.operands.ColumnsOf(steps_.bias(), at.channel),
        .out = nullptr,
        .limits = steps_.limits()};
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const IndexRange& taps = row_taps_[static_cast<size_t>(row)];
      const int64_t in_row = gemm::InputPosition(form_.rows, row, taps.begin);
      tile.rows = taps.count();
      tile.weights = weights + taps.begin * form_.weights_row();
      for (const GroupedPositions& each : tiles_) {
        const int64_t in_column = gemm::InputPosition(columns, each.places.begin, 0);
        tile.in = in + (in_row * columns.input + in_column) * kBlockColumns;
        tile.inside = each.inside;
        tile.start = call.operands.ElementsOf(steps_.start(), offset);
        tile.out = call.out + offset;
        simd::RunGroupedMicrokernel(form_.width, each.places.count(), columns.stride, tile);
        offset += each.places.count() * kBlockColumns;
      }
    }
  }

  GroupedForm form_;
  std::vector<IndexRange> row_taps_;     // per row
  std::vector<GroupedPositions> tiles_;  // per row of pixels
  gemm::Epilogue steps_;
};

// [groups, outputs, inputs, rows, columns] packed by registers of outputs, from one group or several:
// [register][rows][inputs][columns].
tensor::Layout GroupedFilterLayout(llvm::ArrayRef<int64_t> filter, bool fills_registers) {
  const int64_t lanes = SimdWidth(), outputs = filter[1], inputs = filter[2];
  const int64_t size = *Volume(filter.drop_front(2)) * lanes;
  memory::BlockedFormat format = memory::RowMajorFormat(filter);
  const size_t last = filter.size() - 1;
  format.strides[0] = size * (fills_registers ? outputs / lanes : 1);
  format.strides[1] = size;
  format.strides[2] = simd::kGroupedColumns * lanes;
  format.strides[last] = lanes;
  if (last == 4) format.strides[3] = inputs * simd::kGroupedColumns * lanes;
  if (fills_registers) {
    format.num_blocks = 1;
    format.blocks[0] = {1, lanes};
  } else {
    const int64_t groups = lanes / outputs;
    format.padded_extents[0] = tensor::RoundUp(filter[0], groups);
    format.num_blocks = 2;
    format.blocks[0] = {0, groups};
    format.blocks[1] = {1, outputs};
  }
  return memory::LayoutOf(format);
}

// Returns nullopt for groups that neither fill registers nor pack evenly into one.
std::optional<GroupWidth> GroupWidthOf(int64_t inputs, int64_t outputs) {
  if (inputs % SimdWidth() == 0 && outputs % SimdWidth() == 0) return GroupWidth::kRegisters;
  if (inputs != outputs) return std::nullopt;
  if (inputs == 4) return GroupWidth::kFour;
  if (inputs == 8) return GroupWidth::kEight;
  return std::nullopt;
}

kernels::OrReason<GroupedForm> GroupedFormOf(const kernels::KernelRequest& request) {
  const llvm::ArrayRef<int64_t> filter = request.inputs[1].shape;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  if (filter.size() != 4 && filter.size() != 5)
    return Reason("{} spatial axes", static_cast<int64_t>(filter.size()) - 3);
  const std::optional<GroupWidth> width = GroupWidthOf(filter[2], filter[1]);
  if (!width) return Reason("groups of {} input and {} output channels", filter[2], filter[1]);
  const int64_t channels = std::min(input[1], filter[0] * filter[1]);
  if (channels < kBlockColumns) return Reason("{} channels, fewer than a block", channels);
  const kernels::Window window = gemm::WindowOfConvolution(request);
  const kernels::WindowAxis& columns = window[2];
  if (columns.size != simd::kGroupedColumns) return Reason("windows of {} columns", columns.size);
  if (columns.dilation != 1) return Reason("dilation {}", columns.dilation);
  if (columns.stride > 2) return Reason("stride {}", columns.stride);
  return GroupedForm{.width = *width,
                     .images = input[0],
                     .groups = filter[0],
                     .inputs = filter[2],
                     .outputs = filter[1],
                     .rows = window[1],
                     .columns = columns,
                     .threads = tensor::CurrentThreads()};
}

}  // namespace

Reason GroupedApplies(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  return GroupedFormOf(request).reason();
}

// With outputs for two or more 512-bit vectors, direct convolution processes two at a time and is faster
// (processor not recorded).
kernels::Cost GroupedCost(const kernels::KernelRequest& request) {
  constexpr double kFasterThanDirect = 0.9;
  const kernels::OrReason<GroupedForm> form = GroupedFormOf(request);
  if (SimdWidth() == simd::kSimdWidth512 && form->fills_registers() && form->outputs > simd::kSimdWidth512)
    return kernels::Cost::NotByDefault(
        Reason("direct convolution is faster for groups of {} outputs", form->outputs));
  return {kFasterThanDirect};
}

kernels::KernelOrReason MakeGroupedConvolution(const kernels::KernelRequest& request) {
  const kernels::OrReason<GroupedForm> form = GroupedFormOf(request);
  if (!form) return form.reason();
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, 1);
  if (!steps) return steps.reason();
  kernels::PreparedKernel prepared =
      gemm::PrepareConvolution(request, *steps, form->channels(),
                               GroupedFilterLayout(request.inputs[1].shape, form->fills_registers()));
  prepared.kernel = std::make_shared<GroupedConvolution>(*form, std::move(*steps));
  return prepared;
}

}  // namespace nnefc::runtime::fast::conv
