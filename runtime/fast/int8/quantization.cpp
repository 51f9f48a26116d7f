// Quantization to 8 bits, and sums of quantized tensors.

#include "runtime/fast/int8/quantization.h"

#include <array>
#include <cmath>
#include <utility>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/int8/fake_quantize.h"
#include "runtime/fast/int8/store_uint8.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"
#include "runtime/fast/simd/int8/table_lookup_microkernel.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::KernelRequest;
using kernels::Reason;
using kernels::ValueInfo;
using memory::ValueQuantization;

namespace {

constexpr int64_t kLevels = ir::ops::kQuantizedValues;

// --- kernels -------------------------------------------------------------------------

constexpr int64_t kElementsOfTask = 4096;  // enough to amortize a task

// Returns the elements of a task on values that are repeated after `period` elements: whole periods, or one
// if vectors do not divide it.
int64_t ElementsOfTask(int64_t period) {
  return period % simd::kBlockColumns == 0 ? tensor::RoundUp(kElementsOfTask, period) : period;
}

class QuantizeKernel final : public kernels::Kernel {
 public:
  QuantizeKernel(const QuantizationRange& range, int64_t count) : range_(range), count_(count) {}

  std::string implementation() const override { return "nnefc:quantize"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const float* x = reinterpret_cast<const float*>(run.input(0).bytes());
    uint8_t* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const QuantizationRange range = range_;
    tensor::ParallelParts(count_, [&](int64_t begin, int64_t end) {
      if (range.formula == QuantizationRange::Formula::kFakeQuantize && simd::HasSimd())
        return simd::QuantizeRow({.low = range.low, .high = range.high}, x + begin, end - begin, out + begin);
      simd::Vectorized([=] { StoreUint8(range, begin, end, 0, out, [=](int64_t i) { return x[i]; }); });
    });
    return Success();
  }

 private:
  QuantizationRange range_;
  int64_t count_;
};

// Quantizes nChw16c images to NHWC.
class QuantizeImagesKernel final : public kernels::Kernel {
 public:
  QuantizeImagesKernel(const QuantizationRange& range, llvm::ArrayRef<int64_t> shape)
      : levels_{.low = range.low, .high = range.high},
        images_(shape[0]),
        channels_(shape[1]),
        pixels_(*Volume(shape.drop_front(2))) {}

  std::string implementation() const override { return "nnefc:quantize_images"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const float* x = reinterpret_cast<const float*>(run.input(0).bytes());
    uint8_t* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const int64_t blocks = tensor::CeilDivide(channels_, memory::kChannelBlock);
    // Partitions pixels, since the blocks of a pixel share cache lines of the result.
    const int64_t parts = tensor::CeilDivide(pixels_ * blocks, kRowsOfTask);
    const int64_t each = tensor::CeilDivide(pixels_, std::max<int64_t>(parts, 1));
    tensor::ParallelFor(images_ * parts, each * channels_, [&](int64_t task) {
      const int64_t image = task / parts, begin = std::min(task % parts * each, pixels_),
                    count = std::min(each, pixels_ - begin);
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t channel = block * memory::kChannelBlock;
        simd::QuantizeBlock(levels_, x + ((image * blocks + block) * pixels_ + begin) * memory::kChannelBlock,
                            count, std::min(memory::kChannelBlock, channels_ - channel),
                            out + (image * pixels_ + begin) * channels_ + channel, channels_);
      }
    });
    return Success();
  }

 private:
  static constexpr int64_t kRowsOfTask = 512;  // pixels of a block of channels

  simd::QuantizedLevels levels_;
  int64_t images_, channels_, pixels_;
};

// Requantizes to another range.
class RecodeKernel final : public kernels::Kernel {
 public:
  RecodeKernel(const ValueQuantization& from, const QuantizationRange& to, int64_t count) : count_(count) {
    for (int code = 0; code < kLevels; ++code)
      table_[static_cast<size_t>(code)] = to.Quantize(from.NumberOf(code));
  }

  std::string implementation() const override { return "nnefc:requantize"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    tensor::ParallelParts(count_, [=, this](int64_t begin, int64_t end) {
      if (simd::HasSimd()) return simd::LookUpUint8({table_.data(), x + begin, end - begin, out + begin});
      for (int64_t i = begin; i < end; ++i) out[i] = table_[x[i]];
    });
    return Success();
  }

 private:
  std::array<uint8_t, kLevels> table_;
  int64_t count_;
};

// Adds two quantized tensors with a quantized result. Negative sums are multiplied by the slope of their
// channel, the innermost axis: no slopes, one for all elements, or one for each channel.
class SumKernel final : public kernels::Kernel {
 public:
  SumKernel(const ValueQuantization& a, const ValueQuantization& b, std::vector<float> slopes,
            const QuantizationRange& range, int64_t count)
      : a_(a), b_(b), slopes_(std::move(slopes)), range_(range), count_(count) {
    RepeatChannels(slopes_);
  }

  std::string implementation() const override { return "nnefc:int8_sum"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    const auto* y = reinterpret_cast<const uint8_t*>(run.input(1).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    if (range_.formula == QuantizationRange::Formula::kFakeQuantize && simd::HasSimd()) {
      RunInVectors(x, y, out);
      return Success();
    }
    if (!slopes_.empty()) return RunWithSlopes(x, y, out);
    const ValueQuantization a = a_, b = b_;
    const QuantizationRange range = range_;
    tensor::ParallelParts(count_, [&](int64_t begin, int64_t end) {
      simd::Vectorized([=] {
        StoreUint8(range, begin, end, 0, out, [=](int64_t i) { return a.NumberOf(x[i]) + b.NumberOf(y[i]); });
      });
    });
    return Success();
  }

 private:
  void RunInVectors(const uint8_t* x, const uint8_t* y, uint8_t* out) const {
    const int64_t period = slopes_.empty() ? kElementsOfTask : static_cast<int64_t>(slopes_.size());
    const int64_t each = ElementsOfTask(period);
    tensor::ParallelFor(tensor::CeilDivide(count_, each), each, [&](int64_t part) {
      const int64_t begin = part * each;
      simd::QuantizeSums({.a = {.values = x + begin, .zero = a_.zero, .scale = a_.scale},
                          .b = {.values = y + begin, .zero = b_.zero, .scale = b_.scale},
                          .slopes = slopes_.empty() ? nullptr : slopes_.data(),
                          .period = period,
                          .count = std::min(each, count_ - begin),
                          .levels = {.low = range_.low, .high = range_.high},
                          .out = out + begin});
    });
  }

  kernels::FaultOr<Success> RunWithSlopes(const uint8_t* x, const uint8_t* y, uint8_t* out) const {
    const ValueQuantization a = a_, b = b_;
    const QuantizationRange range = range_;
    const float* slopes = slopes_.data();
    const auto each = static_cast<int64_t>(slopes_.size());
    tensor::ParallelFor(tensor::CeilDivide(count_, each), each, [&](int64_t part) {
      const int64_t begin = part * each, end = std::min(count_, begin + each);
      simd::Vectorized([=] {
        StoreUint8(range, begin, end, 0, out, [=](int64_t i) {
          const float sum = a.NumberOf(x[i]) + b.NumberOf(y[i]);
          return sum * (sum < 0 ? slopes[i - begin] : 1.0F);
        });
      });
    });
    return Success();
  }

  ValueQuantization a_, b_;
  std::vector<float> slopes_;
  QuantizationRange range_;
  int64_t count_;
};

// Multiplies quantized images in NHWC by f32 scales of their channels, with a quantized result.
class ScaleKernel final : public kernels::Kernel {
 public:
  ScaleKernel(size_t image, const ValueQuantization& from, const QuantizationRange& to, int64_t count)
      : image_(image), from_(from), to_(to), count_(count) {}

  std::string implementation() const override { return "nnefc:int8_scale"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* x = reinterpret_cast<const uint8_t*>(run.input(image_).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const float* given = run.input(1 - image_).data<float>();
    std::vector<float> repeated(given, given + run.input(1 - image_).volume());
    RepeatChannels(repeated);
    const float* scales = repeated.data();
    const auto period = std::max<int64_t>(static_cast<int64_t>(repeated.size()), 1);
    const ValueQuantization from = from_;
    const QuantizationRange to = to_;
    const bool in_vectors = to.formula == QuantizationRange::Formula::kFakeQuantize && simd::HasSimd();
    const int64_t each = in_vectors ? ElementsOfTask(period) : period;
    tensor::ParallelFor(tensor::CeilDivide(count_, each), each, [&](int64_t part) {
      const int64_t begin = part * each, end = std::min(count_, begin + each);
      if (in_vectors)
        return simd::QuantizeProducts({.from = {.values = x + begin, .zero = from.zero, .scale = from.scale},
                                       .scales = scales,
                                       .period = period,
                                       .count = end - begin,
                                       .levels = {.low = to.low, .high = to.high},
                                       .out = out + begin});
      simd::Vectorized([=] {
        StoreUint8(to, begin, end, 0, out,
                   [=](int64_t i) { return from.NumberOf(x[i]) * scales[i - begin]; });
      });
    });
    return Success();
  }

 private:
  size_t image_;
  ValueQuantization from_;
  QuantizationRange to_;
  int64_t count_;
};

// Returns the slopes of negative sums of images in NHWC, or of other values; nothing if the function after
// the sum is another one.
std::optional<std::vector<float>> SlopesAfterSum(const KernelRequest& request,
                                                 const memory::BlockedFormat& format) {
  std::vector<float> slopes_after;
  if (request.posts.empty()) return slopes_after;
  const kernels::PostOperation& post = request.posts[0];
  if (post.node->Is(ir::ElementFunction::kRelu)) return std::vector<float>{0.0F};
  if (!post.node->Is(ir::ElementFunction::kPRelu) || post.chained_input != 0) return std::nullopt;
  const ValueInfo& slopes = request.inputs[static_cast<size_t>(post.first_operand)];
  if (slopes.constant == nullptr || slopes.type != ElementType::kF32) return std::nullopt;
  const gemm::OperandShape shape =
      gemm::ClassifyOperand(*post.node, slopes.shape, request.outputs[0].shape, 1);
  const bool is_by_channel = shape == gemm::OperandShape::kPerChannel && memory::IsChannelsLast(format);
  if (!is_by_channel && shape != gemm::OperandShape::kScalar) return std::nullopt;
  for (int64_t i = 0; i < slopes.constant->volume(); ++i)
    slopes_after.push_back(static_cast<float>(slopes.constant->ElementAsDouble(i)));
  return slopes_after;
}

// --- factories -----------------------------------------------------------------------

kernels::KernelOrReason MakeQuantize(const KernelRequest& request) {
  if (!request.as_codes) return Reason("a reader needs f32 values");
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!memory::IsDenseF32(request.inputs[0])) return kNotF32;
  const std::optional<QuantizationRange> range =
      QuantizationRangeOf(*request.node, request.inputs.drop_front(1));
  if (!range) return Reason("not 256 levels with one scale");
  const ValueInfo& input = request.inputs[0];
  memory::BlockedFormat format = memory::FormatInF32(input);
  const ValueQuantization* codes = memory::QuantizationOf(input);
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  if (codes == nullptr && memory::ChannelBlockOf(format) == memory::kChannelBlock && simd::HasSimd() &&
      range->formula == QuantizationRange::Formula::kFakeQuantize) {
    prepared.inputs[0] = memory::LayoutOf(format);
    prepared.outputs.push_back(memory::QuantizedLayout(
        memory::ChannelsLastFormat(input.shape, memory::StorageType::kF32), range->codes));
    prepared.kernel = std::make_shared<QuantizeImagesKernel>(*range, input.shape);
    return prepared;
  }
  if (memory::IsPadded(format)) format = memory::RowMajorFormat(input.shape);
  const int64_t count = Volume(input.shape).value_or(0);
  prepared.outputs.push_back(memory::QuantizedLayout(format, range->codes));
  if (codes != nullptr && !memory::IsPadded(memory::FormatInF32(input))) {
    prepared.inputs[0] = input.layout;
    prepared.kernel = std::make_shared<RecodeKernel>(*codes, *range, count);
    prepared.in_place = 0;
  } else {
    prepared.inputs[0] = memory::LayoutOf(format);
    prepared.kernel = std::make_shared<QuantizeKernel>(*range, count);
  }
  return prepared;
}

constexpr kernels::Implementation kFakeQuantize[] = {
    {"quantize", kernels::AlwaysApplies, kernels::FixedCost<10>, MakeQuantize},
    {"round", kernels::AlwaysApplies, kernels::FixedCost<20>, MakeFakeQuantize}};
const kernels::ImplementationTable kFakeQuantizeTables[] = {{"f32", kernels::AlwaysApplies, kFakeQuantize}};

}  // namespace

kernels::KernelOrReason MakeQuantizedSum(const KernelRequest& request) {
  const Int8Request coded(request);
  if (!coded.range) return Reason("the result is not quantized");
  if (coded.request.posts.size() > 1) return kHasFusedOperation;
  const ValueQuantization* a = memory::QuantizationOf(request.inputs[0]);
  const ValueQuantization* b = memory::QuantizationOf(request.inputs[1]);
  if (a == nullptr || b == nullptr) return Reason("an operand is not quantized");
  if (request.inputs[0].shape != request.inputs[1].shape) return Reason("a broadcast operand");
  const memory::BlockedFormat format = memory::FormatInF32(request.inputs[0]);
  if (memory::IsPadded(format)) return Reason("the layout has padding channels");
  std::optional<std::vector<float>> slopes = SlopesAfterSum(coded.request, format);
  if (!slopes) return kHasFusedOperation;
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<SumKernel>(*a, *b, std::move(*slopes), *coded.range,
                                                Volume(request.inputs[0].shape).value_or(0));
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = memory::QuantizedLayout(format, *a);
  prepared.inputs[1] = memory::QuantizedLayout(format, *b);
  prepared.outputs.push_back(memory::QuantizedLayout(format, coded.range->codes));
  return prepared;
}

kernels::KernelOrReason MakeQuantizedScale(const KernelRequest& request) {
  const Int8Request coded(request);
  if (!coded.range) return Reason("the result is not quantized");
  if (!coded.request.posts.empty()) return kHasFusedOperation;
  const size_t image = memory::QuantizationOf(request.inputs[0]) != nullptr ? 0 : 1;
  const ValueInfo &codes = request.inputs[image], &scales = request.inputs[1 - image];
  const ValueQuantization* from = memory::QuantizationOf(codes);
  if (from == nullptr) return Reason("no operand is quantized");
  const memory::BlockedFormat format = memory::FormatInF32(codes);
  if (codes.shape.size() < 3 || !memory::IsChannelsLast(format) || memory::IsPadded(format))
    return Reason("the images are not NHWC");
  if (codes.shape != request.outputs[0].shape || !memory::IsDenseF32(scales) ||
      gemm::ClassifyOperand(*request.node, scales.shape, codes.shape, 1) != gemm::OperandShape::kPerChannel)
    return Reason("the other operand is not of channels");
  kernels::PreparedKernel prepared;
  prepared.kernel =
      std::make_shared<ScaleKernel>(image, *from, *coded.range, Volume(codes.shape).value_or(0));
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[image] = memory::QuantizedLayout(format, *from);
  prepared.inputs[1 - image] = memory::LayoutOf(memory::RowMajorFormat(scales.shape));
  prepared.outputs.push_back(memory::QuantizedLayout(format, coded.range->codes));
  prepared.in_place = static_cast<int>(image);
  return prepared;
}

void RepeatChannels(std::vector<float>& numbers) {
  constexpr size_t kLoop = 512;
  const std::vector<float> channels = numbers;
  while (!channels.empty() && numbers.size() < kLoop)
    numbers.insert(numbers.end(), channels.begin(), channels.end());
}

uint8_t QuantizationRange::Quantize(float x) const {
  uint8_t code = 0;
  StoreUint8(*this, 0, 1, 0, &code, [=](int64_t) { return x; });
  return code;
}

namespace {

std::optional<QuantizationRange> RangeOf(const kernels::PostOperation& post, const KernelRequest& request) {
  if (post.chained_input != 0) return std::nullopt;
  const auto limits = static_cast<size_t>(post.node->num_inputs()) - 1;
  return QuantizationRangeOf(*post.node,
                             request.inputs.slice(static_cast<size_t>(post.first_operand), limits));
}

}  // namespace

Int8Request::Int8Request(const KernelRequest& given) : request(given) {
  if (!given.as_codes || given.posts.empty()) return;
  range = RangeOf(given.posts.back(), given);
  if (!range) return;
  request.posts = given.posts.drop_back();
  FindSum();
}

void Int8Request::FindSum() {
  llvm::ArrayRef<kernels::PostOperation> posts = request.posts;
  const bool has_relu = !posts.empty() && posts.back().node->Is(ir::ElementFunction::kRelu);
  if (has_relu) posts = posts.drop_back();
  if (posts.size() < 2 || !posts.back().node->Is(ir::ElementFunction::kAdd)) return;
  const std::optional<QuantizationRange> first = RangeOf(posts.drop_back().back(), request);
  const auto operand = static_cast<size_t>(posts.back().first_operand);
  if (!first || memory::QuantizationOf(request.inputs[operand]) == nullptr) return;
  sum = QuantizedSum{.operand = operand, .has_relu = has_relu, .range = *range};
  range = first;
  request.posts = posts.drop_back(2);
}

// --- epilogue of dot products ---------------------------------------------------------

std::optional<std::vector<float>> ChannelNumbers(const kernels::PostOperation& post,
                                                 const KernelRequest& request, int64_t channel_axis,
                                                 ir::ElementFunction function) {
  if (!post.node->Is(function)) return std::nullopt;
  const ValueInfo& operand = request.inputs[static_cast<size_t>(post.first_operand)];
  if (operand.constant == nullptr || operand.type != ElementType::kF32) return std::nullopt;
  const Shape& result = request.outputs[0].shape;
  const gemm::OperandShape shape = gemm::ClassifyOperand(*post.node, operand.shape, result, channel_axis);
  if (shape != gemm::OperandShape::kPerChannel && shape != gemm::OperandShape::kScalar) return std::nullopt;
  const int64_t channels = result[static_cast<size_t>(channel_axis)];
  std::vector<float> numbers;
  for (int64_t i = 0; i < channels; ++i) {
    const int64_t at = shape == gemm::OperandShape::kScalar ? 0 : i;
    numbers.push_back(static_cast<float>(operand.constant->ElementAsDouble(at)));
  }
  return numbers;
}

namespace {

// Returns the limits of a clamping function.
std::optional<std::pair<double, double>> LimitsOf(const ir::Node& node) {
  if (node.Is(ir::ElementFunction::kRelu)) return std::pair(0.0, HUGE_VAL);
  if (node.Is(ir::ElementFunction::kClamp)) return std::pair(node.Double("min"), node.Double("max"));
  return std::nullopt;
}

// Returns limits as quantized values, by factors per channel; nothing if they differ by channel within the
// 8-bit range.
std::optional<std::pair<float, float>> QuantizedLimits(const std::pair<double, double>& limits,
                                                       const QuantizationMap& map,
                                                       llvm::ArrayRef<float> factors) {
  constexpr float kFirst = 0.5F, kLast = 254.5F;  // limits outside of these are not noticeable
  const auto at = [&](double limit, float factor) { return static_cast<float>(limit * factor + map.offset); };
  std::optional<std::pair<float, float>> common;
  for (float factor : factors) {
    std::pair<float, float> own(at(limits.first, factor), at(limits.second, factor));
    if (!(own.first <= own.second)) return std::nullopt;
    if (common && own.first != common->first && std::max(own.first, common->first) >= kFirst)
      return std::nullopt;
    if (common && own.second != common->second && std::min(own.second, common->second) <= kLast)
      return std::nullopt;
    if (!common) common = own;
  }
  return common;
}

}  // namespace

QuantizationMap::QuantizationMap(const QuantizationRange& range) : factor(255.0f / (range.high - range.low)) {
  // One ulp of the largest quantized values rounds halves up.
  const float lift = range.formula == QuantizationRange::Formula::kFakeQuantize ? 0 : 0x1p-16f;
  offset = -range.low * factor + lift;
}

ChannelQuantization::ChannelQuantization(const QuantizationRange& range, int64_t channels) {
  const QuantizationMap map(range);
  factors.assign(static_cast<size_t>(channels), map.factor);
  offsets.assign(static_cast<size_t>(channels), map.offset);
}

std::vector<float> AccumulatorScales(const ValueQuantization& source, llvm::ArrayRef<float> filter_scales) {
  std::vector<float> scales;
  for (float scale : filter_scales) scales.push_back(scale * source.scale);
  return scales;
}

std::optional<FoldedRequantization> FoldRequantization(const KernelRequest& request,
                                                       const QuantizationRange& range,
                                                       llvm::ArrayRef<float> scales_of_products,
                                                       int64_t channel_axis) {
  const QuantizationMap map(range);
  llvm::ArrayRef<kernels::PostOperation> posts = request.posts;
  std::vector<float> added;
  if (!posts.empty()) {
    if (auto numbers = ChannelNumbers(posts.front(), request, channel_axis, ir::ElementFunction::kAdd)) {
      added = std::move(*numbers);
      posts = posts.drop_front();
    }
  }
  FoldedRequantization folded;
  std::vector<float> factors(scales_of_products.size(), map.factor);
  if (!posts.empty()) {
    const std::optional<std::vector<float>> scales =
        ChannelNumbers(posts.back(), request, channel_axis, ir::ElementFunction::kMultiply);
    if (scales) {
      if (!llvm::all_of(*scales, [](float scale) { return scale > 0; })) return std::nullopt;
      for (size_t i = 0; i < factors.size(); ++i) factors[i] *= (*scales)[i];
      posts = posts.drop_back();
    }
  }
  if (!posts.empty()) {
    const auto numbers = LimitsOf(*posts.front().node);
    if (!numbers || posts.size() > 1) return std::nullopt;
    const auto limits = QuantizedLimits(*numbers, map, factors);
    if (!limits) return std::nullopt;
    if (limits->first > 0 || limits->second < 255) folded.limits = limits;
  }
  bool any = false;
  for (size_t i = 0; i < scales_of_products.size(); ++i) {
    const float scale = scales_of_products[i] * factors[i];
    const double offset = map.offset + (added.empty() ? 0.0 : double{added[i]} * factors[i]);
    const auto bias = static_cast<float>(offset / scale);
    if (!std::isnormal(scale) || !std::isfinite(bias)) return std::nullopt;
    folded.scales.push_back(scale);
    folded.bias.push_back(bias);
    any |= bias != 0;
  }
  if (!any) folded.bias.clear();
  return folded;
}

std::optional<FoldedRequantization::Sum> FoldSum(const KernelRequest& given, const QuantizationRange& range,
                                                 const QuantizedSum& sum) {
  const ValueInfo& others = given.inputs[sum.operand];
  const ValueQuantization* codes = memory::QuantizationOf(others);
  if (codes == nullptr || !others.overwritable || others.shape != given.outputs[0].shape) return std::nullopt;
  if (sum.has_relu && sum.range.codes.zero != 0) return std::nullopt;
  const QuantizationMap map(sum.range);
  const float factor = range.codes.scale * map.factor;
  return FoldedRequantization::Sum{.operand = sum.operand,
                                   .factor = factor,
                                   .offset = map.offset - factor * static_cast<float>(range.codes.zero),
                                   .other_factor = codes->scale * map.factor,
                                   .others = *codes};
}

// --- ranges and scales ---------------------------------------------------------------

namespace {

std::optional<QuantizationRange> RangeOf(const std::optional<ir::ops::LinearQuantization>& quantization) {
  if (!quantization) return std::nullopt;
  return QuantizationRange{.formula = quantization->formula,
                           .low = quantization->low,
                           .high = quantization->high,
                           .codes = {.scale = quantization->scale, .zero = quantization->zero}};
}

}  // namespace

std::optional<QuantizationRange> QuantizationRangeOf(const ir::Node& node, llvm::ArrayRef<ValueInfo> limits) {
  llvm::SmallVector<const TensorValue*, 4> constants;
  for (const ValueInfo& limit : limits) constants.push_back(limit.constant);
  return RangeOf(ir::ops::LinearQuantizationOf(node, constants));
}

std::optional<tensor::Layout> ReshapeQuantized(const tensor::Layout& layout, llvm::ArrayRef<int64_t> from,
                                               llvm::ArrayRef<int64_t> to) {
  const kernels::ValueInfo value{
      .type = ElementType::kF32, .shape = Shape(from.begin(), from.end()), .layout = layout};
  const memory::ValueQuantization* codes = memory::QuantizationOf(value);
  if (codes == nullptr || memory::FormatInF32(value) != memory::RowMajorFormat(from) || to.size() > 12)
    return std::nullopt;
  return memory::QuantizedLayout(memory::RowMajorFormat(to), *codes);
}

void AddFastQuantization(FastTables& tables) {
  tables.Add({"opset1"}, "FakeQuantize", kFakeQuantizeTables);
  tables.Add({"opset1"}, "Convert", TableOf<MakeLookupTable>("lookup_table", "int8"));
  for (std::string_view name : {"min_max_linear_quantize", "zero_point_linear_quantize"})
    tables.Add({"nnef"}, name, TableOf<MakeQuantize>("quantize"));
}

}  // namespace nnefc::runtime::fast::int8
