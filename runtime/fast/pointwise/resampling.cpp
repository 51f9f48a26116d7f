// Resampling of nChw16c images and of rows with a few taps per axis: Interpolate and Pad.

#include <algorithm>
#include <array>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/tiling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/pointwise/resampled_columns.h"
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
  int64_t images;
  int64_t pixel;                // adjacent floats of a pixel, resampled with the same taps
  int64_t blocks = 1;           // planes of such pixels per image
  int64_t out_blocks = 1;       // those at the end are 0
  int64_t last_floats = pixel;  // floats per pixel of the last block that are not padding
  ResampledAxes axes;
  float border = 0;
  int threads;

  int64_t in_row() const { return axes[2].input * pixel; }
  int64_t out_row() const { return axes[2].output() * pixel; }
  int64_t rows() const { return images * out_blocks * axes[0].output() * axes[1].output(); }
};

// A weighted sum of rows or pixels.
struct WeighedFloats {
  const float* from;
  float weight;
};
// Adds kTerms terms, or any number if it is 0, for the elements from `at` to count, kCount at a time; returns
// the end of those that were computed.
template <size_t kTerms, int64_t kCount>
[[gnu::always_inline]] inline int64_t SumParts(llvm::ArrayRef<WeighedFloats> terms, int64_t at, int64_t count,
                                               float* to) {
  // Local copies: `to` might be one of the terms.
  std::array<WeighedFloats, std::max<size_t>(kTerms, 1)> known;
  std::copy_n(terms.begin(), kTerms, known.begin());
  for (; at + kCount <= count; at += kCount) {
    float sums[kCount] = {};
    for (size_t term = 0; term < (kTerms != 0 ? kTerms : terms.size()); ++term) {
      const WeighedFloats& weighed = kTerms != 0 ? known[term] : terms[term];
      for (int64_t i = 0; i < kCount; ++i) sums[i] += weighed.weight * weighed.from[at + i];
    }
    std::copy_n(sums, kCount, to + at);
  }
  return at;
}
void SumOf(llvm::ArrayRef<WeighedFloats> terms, int64_t count, float* to) {
  constexpr size_t kTwoRows = 2;
  constexpr int64_t kLongPart = 4 * kBlockColumns;
  simd::Vectorized([=] {
    int64_t at = terms.size() == kTwoRows ? SumParts<kTwoRows, kLongPart>(terms, 0, count, to)
                                          : SumParts<0, kLongPart>(terms, 0, count, to);
    at = SumParts<0, kBlockColumns>(terms, at, count, to);
    SumParts<0, 1>(terms, at, count, to);
  });
}

// Returns false if each position copies one input position or the border.
bool SumsAny(const ResampledAxis& axis) {
  return llvm::any_of(axis.taps, [](const Taps& taps) {
    return taps.size() > 1 || (taps.size() == 1 && taps[0].weight != 1);
  });
}

// Adjacent columns that copy input positions at a distance of 1, 0 or -1, or are all border.
struct CopiedColumns {
  int64_t count, from, step;  // `from` is negative for the border
};
std::vector<CopiedColumns> CopiesOf(const ResampledAxis& columns) {
  std::vector<CopiedColumns> copies;
  for (const Taps& taps : columns.taps) {
    const int64_t from = taps.empty() ? -1 : taps[0].position;
    if (!copies.empty()) {
      CopiedColumns& last = copies.back();
      const int64_t step = from < 0 || last.from < 0 ? 0 : from - (last.from + (last.count - 1) * last.step);
      const bool is_border = last.from < 0;
      const bool fits = last.count == 1 ? std::abs(step) <= 1 : step == last.step;
      if ((from < 0) == is_border && fits) {
        last.step = step;
        ++last.count;
        continue;
      }
    }
    copies.push_back({.count = 1, .from = from, .step = 0});
  }
  return copies;
}

class Resampling final : public kernels::Kernel {
 public:
  Resampling(ResamplingForm form, std::optional<ResampledColumns> columns, std::string implementation)
      : form_(std::move(form)),
        columns_(std::move(columns)),
        implementation_(std::move(implementation)),
        sums_rows_(SumsAny(form_.axes[0]) || SumsAny(form_.axes[1])),
        border_(HasBorder(form_.axes) ? static_cast<size_t>(form_.pixel) : 0, form_.border),
        last_border_(border_) {
    if (!SumsAny(form_.axes[2])) copies_ = CopiesOf(form_.axes[2]);
    if (!border_.empty()) std::fill(last_border_.begin() + form_.last_floats, last_border_.end(), 0.0F);
  }

  std::string implementation() const override { return implementation_; }
  size_t scratch_bytes() const {
    return needs_line() ? static_cast<size_t>(form_.threads * LineFloats()) * sizeof(float) : 0;
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
        RunRow(in, row, scratch + member * LineFloats(), out + row * form_.out_row());
    });
    return Success();
  }

 private:
  // Whether rows are copied or summed before their columns are, and the floats of such a row.
  bool needs_line() const { return sums_rows_ || columns_; }
  int64_t LineFloats() const { return form_.in_row() + (columns_ ? ResampledColumns::OverRead() : 0); }

  static bool HasBorder(const ResampledAxes& axes) {
    return llvm::any_of(axes, [](const ResampledAxis& axis) {
      return llvm::any_of(axis.taps, [](const Taps& taps) { return taps.empty(); });
    });
  }

  void RunRow(const float* in, int64_t index, float* scratch, float* out) const {
    const auto& [slices, rows, columns] = form_.axes;
    const int64_t row = index % rows.output(), slice = index / rows.output() % slices.output();
    const int64_t out_plane = index / rows.output() / slices.output();
    const int64_t block = out_plane % form_.out_blocks;
    if (block >= form_.blocks) {
      std::fill_n(out, form_.out_row(), 0.0F);
      return;
    }
    const int64_t plane = out_plane / form_.out_blocks * form_.blocks + block;
    // Padding channels stay 0.
    const float* border = (block + 1 < form_.blocks ? border_ : last_border_).data();
    llvm::SmallVector<WeighedFloats, 16> seen;
    for (const kernels::Tap& of_slices : slices.taps[static_cast<size_t>(slice)]) {
      for (const kernels::Tap& of_rows : rows.taps[static_cast<size_t>(row)]) {
        const int64_t line = (plane * slices.input + of_slices.position) * rows.input + of_rows.position;
        seen.push_back({in + line * form_.in_row(), static_cast<float>(of_slices.weight * of_rows.weight)});
      }
    }
    if (seen.empty()) return CopyPixels(border, 0, columns.output(), out);
    const float* line = seen[0].from;
    if (seen.size() > 1 || seen[0].weight != 1) {
      SumOf(seen, form_.in_row(), scratch);
      line = scratch;
    }
    if (columns_) {
      if (line != scratch) std::copy_n(line, form_.in_row(), scratch);
      return columns_->Sum(scratch, out);
    }
    if (!copies_.empty()) return CopyColumns(line, border, out);
    if (form_.pixel == kBlockColumns) return SumColumns<kBlockColumns>(line, border, out);
    SumColumns<0>(line, border, out);
  }

  // Copies `count` pixels that are `step` pixels apart.
  void CopyPixels(const float* from, int64_t step, int64_t count, float* to) const {
    if (step == 1) {
      std::copy_n(from, count * form_.pixel, to);
    } else if (form_.pixel == 1 && step == 0) {
      std::fill_n(to, count, *from);
    } else if (form_.pixel == 1 && step == -1) {
      std::reverse_copy(from - (count - 1), from + 1, to);
    } else {
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(from + i * step * form_.pixel, form_.pixel, to + i * form_.pixel);
    }
  }

  void CopyColumns(const float* line, const float* border, float* out) const {
    for (const CopiedColumns& copy : copies_) {
      const float* from = copy.from < 0 ? border : line + copy.from * form_.pixel;
      CopyPixels(from, copy.count == 1 ? 1 : copy.step, copy.count, out);
      out += copy.count * form_.pixel;
    }
  }

  // kPixel: the floats of a pixel; 0 for any number.
  template <int64_t kPixel>
  void SumColumns(const float* line, const float* border, float* out) const {
    simd::Vectorized([&] {
      const int64_t pixel = kPixel != 0 ? kPixel : form_.pixel;
      float* to = out;
      for (const Taps& taps : form_.axes[2].taps) {
        int64_t at = 0;
        for (; at + kBlockColumns <= pixel; at += kBlockColumns)
          SumPixel<kBlockColumns>(taps, line + at, border + at, pixel, to + at);
        if constexpr (kPixel == 0) {
          for (; at + kSome <= pixel; at += kSome)
            SumPixel<kSome>(taps, line + at, border + at, pixel, to + at);
          for (; at + kFew <= pixel; at += kFew) SumPixel<kFew>(taps, line + at, border + at, pixel, to + at);
          for (; at < pixel; ++at) SumPixel<1>(taps, line + at, border + at, pixel, to + at);
        }
        to += pixel;
      }
    });
  }

  static constexpr int64_t kSome = 8, kFew = 4;  // floats of a pixel

  // Computes kCount floats of a pixel.
  template <int64_t kCount>
  [[gnu::always_inline]] static void SumPixel(const Taps& taps, const float* line, const float* border,
                                              int64_t pixel, float* to) {
    float sums[kCount];
    const float* only = taps.empty() ? border : line + taps[0].position * pixel;
    const float first = taps.empty() ? 1 : static_cast<float>(taps[0].weight);
    if (taps.size() == 2) {
      const float* other = line + taps[1].position * pixel;
      const auto second = static_cast<float>(taps[1].weight);
      // A local array: `to` might be `line`.
      for (int64_t i = 0; i < kCount; ++i) sums[i] = first * only[i] + second * other[i];
      for (int64_t i = 0; i < kCount; ++i) to[i] = sums[i];
      return;
    }
    if (first == 1) {
      for (int64_t i = 0; i < kCount; ++i) sums[i] = only[i];
    } else {
      for (int64_t i = 0; i < kCount; ++i) sums[i] = first * only[i];
    }
    for (size_t tap = 1; tap < taps.size(); ++tap) {
      const float* seen = line + taps[tap].position * pixel;
      const auto weight = static_cast<float>(taps[tap].weight);
      for (int64_t i = 0; i < kCount; ++i) sums[i] += weight * seen[i];
    }
    for (int64_t i = 0; i < kCount; ++i) to[i] = sums[i];
  }

  ResamplingForm form_;
  std::optional<ResampledColumns> columns_;
  std::string implementation_;
  bool sums_rows_;
  std::vector<CopiedColumns> copies_;  // empty if columns are sums
  std::vector<float> border_, last_border_;
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

// Per axis of a tensor: the taps of each result position; empty for axes that are not resampled.
using AxisTaps = std::vector<std::vector<Taps>>;

ResampledAxis MakeAxis(int64_t extent, const std::vector<Taps>& taps) {
  ResampledAxis axis{.input = extent, .taps = taps};
  for (int64_t at = 0; taps.empty() && at < extent; ++at) axis.taps.push_back({{at, 1.0}});
  return axis;
}

kernels::PreparedKernel Prepared(const kernels::KernelRequest& request, ResamplingForm form,
                                 std::optional<ResampledColumns> columns, std::string implementation) {
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(1);
  auto kernel = std::make_shared<Resampling>(std::move(form), std::move(columns), std::move(implementation));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

kernels::KernelOrReason MakeBlockedResampling(const kernels::KernelRequest& request, const AxisTaps& taps,
                                              float border) {
  const kernels::ValueInfo& images = request.inputs[0];
  const Shape &shape = images.shape, &output = request.outputs[0].shape;
  // The padding of blocks is 0, as are the channels that a Pad adds at the end.
  const bool has_more_channels = !taps[1].empty() && border == 0 && IsExtendedAtEnd(taps[1], shape[1]);
  if (!taps[0].empty() || (!taps[1].empty() && !has_more_channels))
    return Reason("other axes than those of the pixels");
  if (Volume(output) == 0) return Reason("an empty result");
  const int64_t blocks = tensor::CeilDivide(shape[1], kBlockColumns);
  ResamplingForm form{.images = shape[0],
                      .pixel = kBlockColumns,
                      .blocks = blocks,
                      .out_blocks = tensor::CeilDivide(output[1], kBlockColumns),
                      .last_floats = shape[1] - (blocks - 1) * kBlockColumns,
                      .axes = {},
                      .border = border,
                      .threads = tensor::CurrentThreads()};
  for (size_t i = 2; i < shape.size(); ++i) form.axes[3 + i - shape.size()] = MakeAxis(shape[i], taps[i]);
  kernels::PreparedKernel prepared = Prepared(request, std::move(form), std::nullopt, "nnefc:resampling");
  prepared.inputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(shape));
  prepared.outputs[0] = memory::LayoutOf(memory::ChannelBlockedFormat(output));
  return prepared;
}

// Resamples up to three adjacent axes of a row-major tensor. Axes after them are a pixel.
kernels::KernelOrReason MakeRowResampling(const kernels::KernelRequest& request, const AxisTaps& taps,
                                          float border) {
  const Shape& shape = request.inputs[0].shape;
  if (Volume(request.outputs[0].shape) == 0) return Reason("an empty result");
  const auto is_resampled = [](const std::vector<Taps>& axis) { return !axis.empty(); };
  const auto first = static_cast<size_t>(llvm::find_if(taps, is_resampled) - taps.begin());
  if (first == taps.size()) return Reason("no axis is resampled");
  size_t end = taps.size();
  while (!is_resampled(taps[end - 1])) --end;
  constexpr size_t kMaxAxes = 3;
  if (end - first > kMaxAxes) return Reason("{} axes", static_cast<int64_t>(end - first));
  ResamplingForm form{.images = *Volume(llvm::ArrayRef<int64_t>(shape).take_front(first)),
                      .pixel = *Volume(llvm::ArrayRef<int64_t>(shape).drop_front(end)),
                      .axes = {},
                      .border = border,
                      .threads = tensor::CurrentThreads()};
  for (size_t i = first; i < end; ++i) form.axes[kMaxAxes + i - end] = MakeAxis(shape[i], taps[i]);
  // The reference kernel is as fast for fewer floats at a time.
  constexpr int64_t kMinFloats = 4;
  const ResampledAxis& columns = form.axes[2];
  const int64_t parts = SumsAny(columns) ? columns.output() : static_cast<int64_t>(CopiesOf(columns).size());
  // Columns of single floats are summed in groups, if possible.
  std::optional<ResampledColumns> groups;
  if (form.pixel == 1 && SumsAny(columns)) groups = ResampledColumns::Make(columns.taps);
  if (!groups && columns.output() * form.pixel < kMinFloats * parts)
    return Reason("pixels of {} floats", form.pixel);
  return Prepared(request, std::move(form), std::move(groups), "nnefc:rows");
}

// bf16 images are converted to f32 in any case.
bool AreBf16Images(const kernels::ValueInfo& value) {
  return value.layout != nullptr && value.shape.size() >= 3 && value.shape.size() <= 5 &&
         memory::FormatOf(value) == memory::ChannelsLastFormat(value.shape, memory::StorageType::kBf16);
}

Reason RowResamplingApplies(const kernels::KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!memory::IsDenseF32(request.inputs[0]) || !memory::IsDenseF32(request.outputs[0])) return kNotF32;
  if (Volume(request.inputs[0].shape) == 0) return Reason("an empty image");
  for (const kernels::ValueInfo& input : request.inputs.drop_front()) {
    if (input.constant == nullptr) return Reason("an operand is not constant");
  }
  return Reason();
}

Reason BlockedResamplingApplies(const kernels::KernelRequest& request) {
  const kernels::ValueInfo& images = request.inputs[0];
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!memory::IsImageMemory(images) && !AreBf16Images(images)) return kNotBlocked;
  return RowResamplingApplies(request);
}

// Returns a reason if channels leave too much of their blocks to padding.
Reason FillsBlocks(int64_t channels) {
  if (4 * channels >= 3 * tensor::RoundUp(channels, kBlockColumns)) return Reason();
  return Reason("{} channels fill less than 3/4 of their blocks", channels);
}

// Row-major resampling is faster where padding dominates (processor not recorded).
kernels::Cost BlockedResamplingCost(const kernels::KernelRequest& request) {
  const Reason reason = FillsBlocks(request.inputs[0].shape[1]);
  return reason.empty() ? kernels::Cost{1} : kernels::Cost::NotByDefault(reason);
}

// Row-major images that are enlarged, with sums of pixels: converted to blocks before.
Reason EnlargingApplies(const kernels::KernelRequest& request) {
  const kernels::ValueInfo& images = request.inputs[0];
  constexpr size_t kMinRank = 4, kMaxRank = 5;
  constexpr int64_t kMinGrowth = 2;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (images.shape.size() < kMinRank || images.shape.size() > kMaxRank || images.layout != nullptr)
    return Reason("not row-major images");
  if (request.node->String("mode") == "nearest") return Reason("pixels are copied");
  if (const Reason reason = FillsBlocks(images.shape[1]); !reason.empty()) return reason;
  const auto volume = [](const Shape& shape) { return Volume(shape).value_or(0); };
  if (volume(request.outputs[0].shape) < kMinGrowth * volume(images.shape))
    return Reason("the images are not twice as large afterwards");
  return RowResamplingApplies(request);
}

using MakeResampling = kernels::KernelOrReason(const kernels::KernelRequest& request, const AxisTaps& taps,
                                               float border);

template <MakeResampling kMake>
kernels::KernelOrReason MakeInterpolate(const kernels::KernelRequest& request) {
  for (const char* name : {"pads_begin", "pads_end"}) {
    for (int64_t width : request.node->Ints(name)) {
      if (width != 0) return Reason("padding of {} pixels", width);
    }
  }
  const auto taps = kernels::TapsOfInterpolation(
      {*request.node, request.inputs[0].shape, request.outputs[0].shape,
       [&](size_t input) { return kernels::NumbersOf(*request.inputs[input].constant); }});
  if (!taps) return Reason("another mode");
  return kMake(request, *taps, 0);
}

template <MakeResampling kMake>
kernels::KernelOrReason MakePad(const kernels::KernelRequest& request) {
  const llvm::SmallVector<double, 8> before = kernels::NumbersOf(*request.inputs[1].constant);
  const Shape &input = request.inputs[0].shape, &output = request.outputs[0].shape;
  if (before.size() != input.size()) return Reason("widths of {} axes", static_cast<int64_t>(before.size()));
  const kernels::BorderSource source = kernels::SourceOfBorder(*request.node);
  AxisTaps taps(input.size());
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
  return kMake(request, taps, static_cast<float>(border));
}

constexpr int kEnlargingCost = 100, kRowCost = 200;
constexpr kernels::Implementation kInterpolate[] = {
    {"blocked", BlockedResamplingApplies, BlockedResamplingCost, MakeInterpolate<MakeBlockedResampling>},
    {"enlarged", EnlargingApplies, kernels::FixedCost<kEnlargingCost>,
     MakeInterpolate<MakeBlockedResampling>},
    {"rows", RowResamplingApplies, kernels::FixedCost<kRowCost>, MakeInterpolate<MakeRowResampling>}};
constexpr kernels::Implementation kPad[] = {
    {"blocked", BlockedResamplingApplies, BlockedResamplingCost, MakePad<MakeBlockedResampling>},
    {"rows", RowResamplingApplies, kernels::FixedCost<kRowCost>, MakePad<MakeRowResampling>}};
const kernels::ImplementationTable kInterpolateTables[] = {{"f32", kernels::AlwaysApplies, kInterpolate}};
const kernels::ImplementationTable kPadTables[] = {{"f32", kernels::AlwaysApplies, kPad}};

}  // namespace

void AddImageResampling(FastTables& tables) {
  tables.Add({"opset1", "opset4", "opset11"}, "Interpolate", kInterpolateTables);
  tables.Add({"opset1", "opset12"}, "Pad", kPadTables);
}

}  // namespace nnefc::runtime::fast::pointwise
