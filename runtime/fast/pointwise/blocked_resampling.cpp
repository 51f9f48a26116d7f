// Resampling of nChw16c images with a few taps per axis: Interpolate, and Pad with a replicated or constant
// border.

#include <algorithm>
#include <array>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/windows/borders.h"
#include "runtime/kernels/windows/resized_axes.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::fast::pointwise {

using kernels::Reason;
using kernels::Taps;
using simd::kBlockColumns;

namespace {

// The taps of each result position along an axis; empty in a constant border.
struct ResampledAxis {
  int64_t input = 1;
  std::vector<Taps> taps = {{{0, 1.0}}};

  int64_t output() const { return static_cast<int64_t>(taps.size()); }
};
// Slices, rows, columns.
using ResampledAxes = std::array<ResampledAxis, 3>;

struct ResamplingForm {
  int64_t images, channels, out_channels;  // channels added at the end are 0
  ResampledAxes axes;
  float border = 0;
  int threads;

  int64_t blocks() const { return tensor::CeilDivide(channels, kBlockColumns); }
  int64_t out_blocks() const { return tensor::CeilDivide(out_channels, kBlockColumns); }
  int64_t in_row() const { return axes[2].input * kBlockColumns; }
  int64_t out_row() const { return axes[2].output() * kBlockColumns; }
  int64_t rows() const { return images * out_blocks() * axes[0].output() * axes[1].output(); }
};

using BlockOfFloats = std::array<float, kBlockColumns>;

// A weighted sum of rows or pixels.
struct WeighedFloats {
  const float* from;
  float weight;
};
void SumOf(llvm::ArrayRef<WeighedFloats> terms, int64_t count, float* to) {
  simd::Vectorized([=] {
    for (int64_t at = 0; at < count; at += kBlockColumns) {
      float sums[kBlockColumns] = {};
      for (const WeighedFloats& term : terms) {
        for (int64_t i = 0; i < kBlockColumns; ++i) sums[i] += term.weight * term.from[at + i];
      }
      std::copy_n(sums, kBlockColumns, to + at);
    }
  });
}

class BlockedResampling final : public kernels::Kernel {
 public:
  explicit BlockedResampling(ResamplingForm form)
      : form_(std::move(form)), sums_rows_(SumsAny(form_.axes[0]) || SumsAny(form_.axes[1])) {}

  std::string implementation() const override { return "nnefc:resampling"; }
  size_t scratch_bytes() const {
    return sums_rows_ ? static_cast<size_t>(form_.threads * form_.in_row()) * sizeof(float) : 0;
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    constexpr int64_t kFloatsOfTask = 16384;
    const tensor::ThreadScope scope(form_.threads);
    const auto* in = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    const int64_t rows = form_.rows(), parts = tensor::CeilDivide(rows * form_.out_row(), kFloatsOfTask);
    tensor::RunTasks(parts, form_.threads, [&](int64_t part, int member) {
      for (int64_t row = tensor::PartBegin(rows, parts, part); row < tensor::PartBegin(rows, parts, part + 1);
           ++row)
        RunRow(in, row, scratch + member * form_.in_row(), out + row * form_.out_row());
    });
    return Success();
  }

 private:
  // Returns false if each position copies one input position or the border.
  static bool SumsAny(const ResampledAxis& axis) {
    return llvm::any_of(axis.taps, [](const Taps& taps) {
      return taps.size() > 1 || (taps.size() == 1 && taps[0].weight != 1);
    });
  }

  void RunRow(const float* in, int64_t index, float* scratch, float* out) const {
    const auto& [slices, rows, columns] = form_.axes;
    const int64_t row = index % rows.output(), slice = index / rows.output() % slices.output();
    const int64_t out_plane = index / rows.output() / slices.output();
    const int64_t block = out_plane % form_.out_blocks();
    if (block >= form_.blocks()) {
      std::fill_n(out, form_.out_row(), 0.0F);
      return;
    }
    const int64_t plane = out_plane / form_.out_blocks() * form_.blocks() + block;
    const BlockOfFloats border = BorderOf(block);
    llvm::SmallVector<WeighedFloats, 16> seen;
    for (const kernels::Tap& of_slices : slices.taps[static_cast<size_t>(slice)]) {
      for (const kernels::Tap& of_rows : rows.taps[static_cast<size_t>(row)]) {
        const int64_t line = (plane * slices.input + of_slices.position) * rows.input + of_rows.position;
        seen.push_back({in + line * form_.in_row(), static_cast<float>(of_slices.weight * of_rows.weight)});
      }
    }
    if (seen.empty()) {
      for (int64_t at = 0; at < form_.out_row(); at += kBlockColumns)
        std::copy_n(border.data(), kBlockColumns, out + at);
      return;
    }
    const float* line = seen[0].from;
    if (seen.size() > 1 || seen[0].weight != 1) {
      SumOf(seen, form_.in_row(), scratch);
      line = scratch;
    }
    RunColumns(line, border, out);
  }

  void RunColumns(const float* line, const BlockOfFloats& border, float* out) const {
    const std::vector<Taps>& columns = form_.axes[2].taps;
    simd::Vectorized([&] {
      float* to = out;
      for (const Taps& taps : columns) {
        float sums[kBlockColumns];
        const float* only = taps.empty() ? border.data() : line + taps[0].position * kBlockColumns;
        const float first = taps.empty() ? 1 : static_cast<float>(taps[0].weight);
        if (first == 1) {
          for (int64_t i = 0; i < kBlockColumns; ++i) sums[i] = only[i];
        } else {
          for (int64_t i = 0; i < kBlockColumns; ++i) sums[i] = first * only[i];
        }
        for (size_t tap = 1; tap < taps.size(); ++tap) {
          const float* pixel = line + taps[tap].position * kBlockColumns;
          const auto weight = static_cast<float>(taps[tap].weight);
          for (int64_t i = 0; i < kBlockColumns; ++i) sums[i] += weight * pixel[i];
        }
        for (int64_t i = 0; i < kBlockColumns; ++i) to[i] = sums[i];
        to += kBlockColumns;
      }
    });
  }

  // Padding channels stay 0.
  BlockOfFloats BorderOf(int64_t block) const {
    BlockOfFloats border = {};
    const int64_t channels = form_.channels - block * kBlockColumns;
    std::fill_n(border.begin(), std::min(kBlockColumns, channels), form_.border);
    return border;
  }

  ResamplingForm form_;
  bool sums_rows_;
};

// Returns whether an axis keeps all positions, and others follow at the end.
bool IsExtendedAtEnd(const std::vector<Taps>& taps, int64_t extent) {
  if (static_cast<int64_t>(taps.size()) < extent) return false;
  for (size_t at = 0; at < taps.size(); ++at) {
    const bool is_kept =
        taps[at].size() == 1 && taps[at][0].weight == 1 && taps[at][0].position == static_cast<int64_t>(at);
    if (static_cast<int64_t>(at) < extent ? !is_kept : !taps[at].empty()) return false;
  }
  return true;
}

// `taps`: one list of pixel taps per axis; empty for axes that are not resampled.
kernels::KernelOrReason MakeBlockedResampling(const kernels::KernelRequest& request,
                                              const std::vector<std::vector<Taps>>& taps, float border) {
  const kernels::ValueInfo& images = request.inputs[0];
  const Shape& shape = images.shape;
  // The padding of blocks is 0, as are the channels that a Pad adds at the end.
  const bool has_more_channels = !taps[1].empty() && border == 0 && IsExtendedAtEnd(taps[1], shape[1]);
  if (!taps[0].empty() || (!taps[1].empty() && !has_more_channels))
    return Reason("other axes than those of the pixels");
  if (Volume(request.outputs[0].shape) == 0) return Reason("an empty result");
  ResamplingForm form{.images = shape[0],
                      .channels = shape[1],
                      .out_channels = request.outputs[0].shape[1],
                      .axes = {},
                      .border = border,
                      .threads = tensor::CurrentThreads()};
  for (size_t i = 2; i < shape.size(); ++i) {
    ResampledAxis& axis = form.axes[3 + i - shape.size()];
    axis = {.input = shape[i], .taps = taps[i]};
    for (int64_t at = 0; taps[i].empty() && at < shape[i]; ++at) axis.taps.push_back({{at, 1.0}});
  }
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(shape));
  prepared.outputs.push_back(memory::LayoutOf(memory::ChannelBlockedFormat(request.outputs[0].shape)));
  auto kernel = std::make_shared<BlockedResampling>(std::move(form));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

// bf16 images are converted to f32 in any case.
bool AreBf16Images(const kernels::ValueInfo& value) {
  return value.layout != nullptr && value.shape.size() >= 3 && value.shape.size() <= 5 &&
         memory::FormatOf(value) == memory::ChannelsLastFormat(value.shape, memory::StorageType::kBf16);
}

Reason ResamplingApplies(const kernels::KernelRequest& request) {
  const kernels::ValueInfo& images = request.inputs[0];
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!memory::IsImageMemory(images) && !AreBf16Images(images)) return kNotBlocked;
  if (Volume(images.shape) == 0) return Reason("an empty image");
  for (const kernels::ValueInfo& input : request.inputs.drop_front()) {
    if (input.constant == nullptr) return Reason("an operand is not constant");
  }
  return Reason();
}

// If padding dominates, row-major resampling is faster (processor not recorded).
kernels::Cost ResamplingCost(const kernels::KernelRequest& request) {
  const int64_t channels = request.inputs[0].shape[1];
  if (4 * channels >= 3 * tensor::RoundUp(channels, kBlockColumns)) return {1};
  return kernels::Cost::NotByDefault(Reason("{} channels fill less than 3/4 of their blocks", channels));
}

llvm::SmallVector<double, 8> NumbersOf(const kernels::ValueInfo& constant) {
  llvm::SmallVector<double, 8> numbers;
  for (int64_t i = 0; i < constant.constant->volume(); ++i)
    numbers.push_back(constant.constant->ElementAsDouble(i));
  return numbers;
}

kernels::KernelOrReason MakeInterpolate(const kernels::KernelRequest& request) {
  for (const char* name : {"pads_begin", "pads_end"}) {
    for (int64_t width : request.node->Ints(name)) {
      if (width != 0) return Reason("padding of {} pixels", width);
    }
  }
  const auto taps =
      kernels::TapsOfInterpolation({*request.node, request.inputs[0].shape, request.outputs[0].shape,
                                    [&](size_t input) { return NumbersOf(request.inputs[input]); }});
  if (!taps) return Reason("another mode");
  return MakeBlockedResampling(request, *taps, 0);
}

kernels::KernelOrReason MakePad(const kernels::KernelRequest& request) {
  const llvm::SmallVector<double, 8> before = NumbersOf(request.inputs[1]);
  const Shape &input = request.inputs[0].shape, &output = request.outputs[0].shape;
  if (before.size() != input.size()) return Reason("widths of {} axes", static_cast<int64_t>(before.size()));
  const kernels::BorderSource source = kernels::SourceOfBorder(*request.node);
  std::vector<std::vector<Taps>> taps(input.size());
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const auto begin = static_cast<int64_t>(before[axis]);
    if (begin == 0 && input[axis] == output[axis]) continue;
    for (int64_t at = -begin; at < output[axis] - begin; ++at) {
      Taps& seen = taps[axis].emplace_back();
      const int64_t from = source != nullptr ? source(at, input[axis]) : at;
      if (from >= 0 && from < input[axis]) seen.push_back({from, 1.0});
    }
  }
  const bool has_border = request.inputs.size() > 3 && request.inputs[3].constant->volume() > 0;
  const double border = has_border ? request.inputs[3].constant->ElementAsDouble(0) : 0;
  return MakeBlockedResampling(request, taps, static_cast<float>(border));
}

constexpr kernels::Implementation kInterpolate[] = {
    {"blocked", ResamplingApplies, ResamplingCost, MakeInterpolate}};
constexpr kernels::Implementation kPad[] = {{"blocked", ResamplingApplies, ResamplingCost, MakePad}};
const kernels::ImplementationTable kInterpolateTables[] = {{"f32", kernels::AlwaysApplies, kInterpolate}};
const kernels::ImplementationTable kPadTables[] = {{"f32", kernels::AlwaysApplies, kPad}};

}  // namespace

void AddImageResampling(FastTables& tables) {
  tables.Add({"opset1", "opset4", "opset11"}, "Interpolate", kInterpolateTables);
  tables.Add({"opset1", "opset12"}, "Pad", kPadTables);
}

}  // namespace nnefc::runtime::fast::pointwise
