// Concat, by copies or by placement of its inputs.

#include "runtime/fast/memory/concat.h"

#include <algorithm>
#include <numeric>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::memory {

using kernels::Reason;
using kernels::ValueInfo;

namespace {

// Returns the block size of the first blocked part that fits the channels of all parts, or 0.
int64_t CommonBlock(llvm::ArrayRef<ValueInfo> parts, size_t axis) {
  for (const ValueInfo& part : parts) {
    const int64_t block = ChannelBlockOf(FormatOf(part));
    if (block == 0) continue;
    bool fits = true;
    for (const ValueInfo& other : parts) fits &= axis != 1 || other.shape[1] % block == 0;
    if (fits) return block;
  }
  return 0;
}

// Concatenation of NHWC 8-bit images.
class Int8Concat final : public kernels::Kernel {
 public:
  Int8Concat(int64_t pixels, std::vector<int64_t> channels)
      : pixels_(pixels), channels_(std::move(channels)) {}

  std::string implementation() const override { return "nnefc:int8_concat"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const int64_t all = std::accumulate(channels_.begin(), channels_.end(), int64_t{0});
    constexpr int64_t kPixels = 64;
    tensor::ParallelFor((pixels_ + kPixels - 1) / kPixels, kPixels * all, [&](int64_t task) {
      const int64_t begin = task * kPixels, end = std::min(pixels_, begin + kPixels);
      int64_t first = 0;
      for (size_t part = 0; part < channels_.size(); first += channels_[part++]) {
        const int64_t own = channels_[part];
        const auto* in = reinterpret_cast<const uint8_t*>(run.input(part).bytes());
        for (int64_t pixel = begin; pixel < end; ++pixel)
          std::copy_n(in + pixel * own, own, out + pixel * all + first);
      }
    });
    return Success();
  }

 private:
  int64_t pixels_;
  std::vector<int64_t> channels_;  // per part
};

// Requires equal quantization of all images. Row-major parts are reordered to NHWC.
kernels::KernelOrReason MakeInt8Concat(const kernels::KernelRequest& request) {
  const ValueQuantization* codes = QuantizationOf(request.inputs[0]);
  if (codes == nullptr) return Reason("the first part is not quantized");
  const Shape& output = request.outputs[0].shape;
  constexpr size_t kMinRank = 4, kMaxRank = 5;  // images that may be reordered
  const bool may_reorder = output.size() >= kMinRank && output.size() <= kMaxRank;
  kernels::PreparedKernel prepared;
  std::vector<int64_t> channels;
  for (const ValueInfo& part : request.inputs) {
    const ValueQuantization* own = QuantizationOf(part);
    if (own == nullptr || !(*own == *codes)) return Reason("the parts are not of equal quantization");
    const bool is_channels_last = IsChannelsLast(FormatInF32(part));
    if (!is_channels_last && !may_reorder) return Reason("the parts are not NHWC");
    prepared.inputs.push_back(
        is_channels_last ? part.layout
                         : QuantizedLayout(ChannelsLastFormat(part.shape, StorageType::kF32), *codes));
    channels.push_back(part.shape[1]);
  }
  prepared.outputs = {QuantizedLayout(ChannelsLastFormat(output, StorageType::kF32), *codes)};
  prepared.kernel = std::make_shared<Int8Concat>(*Volume(output) / output[1], std::move(channels));
  return prepared;
}

Reason Int8ConcatApplies(const kernels::KernelRequest& request) {
  if (const Reason reason = JoinsParts(request); !reason.empty()) return reason;
  return ConcatAxisOf(request) == 1 ? Reason() : Reason("another axis than the channels");
}
Reason ChannelConcatApplies(const kernels::KernelRequest& request) {
  if (const Reason reason = Int8ConcatApplies(request); !reason.empty()) return reason;
  return CommonConcatFormat(request.inputs, 1) ? Reason("oneDNN can join the parts in their layout")
                                               : Reason();
}
Reason ChannelGatherApplies(const kernels::KernelRequest& request) {
  const bool has_gather = request.posts.size() == 1 && request.posts[0].node->Is(ir::Rearrangement::kGather);
  return has_gather ? Reason() : Reason("no fused Gather");
}

constexpr int kFirstCost = 50, kChannelConcatCost = 100;
constexpr kernels::Implementation kConcat[] = {
    {"channel_gather", ChannelGatherApplies, kernels::FixedCost<kFirstCost>, MakeChannelGather},
    {"int8", Int8ConcatApplies, kernels::FixedCost<kFirstCost>, MakeInt8Concat},
    {"channels", ChannelConcatApplies, kernels::FixedCost<kChannelConcatCost>, MakeChannelConcat}};
const kernels::ImplementationTable kConcatTables[] = {{"f32", kernels::AlwaysApplies, kConcat}};

}  // namespace

BlockedFormat ConcatFormat::Of(llvm::ArrayRef<int64_t> shape) const {
  return block != 0 ? AxisBlockedFormat(shape, 1, block, type) : ChannelsLastFormat(shape, type);
}

std::optional<ConcatFormat> CommonConcatFormat(llvm::ArrayRef<ValueInfo> parts, size_t axis) {
  ConcatFormat format{.block = CommonBlock(parts, axis)};
  bool is_channels_last = false;
  for (const ValueInfo& part : parts) {
    if (FormatOf(part).type == StorageType::kBf16) format.type = StorageType::kBf16;
    is_channels_last |= part.layout != nullptr && IsChannelsLast(FormatOf(part));
  }
  if (format.block == 0 && !is_channels_last) return std::nullopt;
  // Readers of bf16 require NHWC, independent of the other parts.
  if (format.type == StorageType::kBf16 && is_channels_last) format.block = 0;
  return format;
}

size_t ConcatAxisOf(const kernels::KernelRequest& request) {
  const auto rank = static_cast<int64_t>(request.outputs[0].shape.size());
  return static_cast<size_t>(kernels::NormalAxis(request.node->Int("axis"), rank));
}

Reason JoinsParts(const kernels::KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  return AreDenseF32(request) ? Reason() : kNotF32;
}

std::optional<tensor::Layout> JoinBlockedLayouts(llvm::ArrayRef<ValueInfo> parts, const ValueInfo& whole,
                                                 int64_t axis) {
  if (axis > 1 || (axis == 1 && whole.shape[0] != 1)) return std::nullopt;
  int64_t common = 0;
  const StorageType type = parts.empty() ? StorageType::kF32 : FormatOf(parts.front()).type;
  for (const ValueInfo& part : parts) {
    if (!IsDenseF32(part) || QuantizationOf(part) != nullptr) return std::nullopt;
    const BlockedFormat format = FormatOf(part);
    const int64_t block = ChannelBlockOf(format);
    if (block == 0 || (common != 0 && common != block) || format.type != type) return std::nullopt;
    if (part.shape[1] % block != 0) return std::nullopt;
    common = block;
  }
  if (common == 0) return std::nullopt;
  return LayoutOf(AxisBlockedFormat(whole.shape, 1, common, type));
}

// Returns channel blocks of a single image as a part. The padding of a last block belongs to it.
std::optional<kernels::LayoutPart> PartOfBlockedLayout(const ValueInfo& whole,
                                                       const tensor::ElementsView& part) {
  if (!IsDenseF32(whole) || QuantizationOf(whole) != nullptr || whole.shape.size() < 3 || whole.shape[0] != 1)
    return std::nullopt;
  const BlockedFormat format = FormatOf(whole);
  const int64_t block = ChannelBlockOf(format);
  if (block == 0 || part.strides != tensor::DenseStrides(whole.shape)) return std::nullopt;
  for (size_t axis = 0; axis < whole.shape.size(); ++axis) {
    if (axis != 1 && part.shape[axis] != whole.shape[axis]) return std::nullopt;
  }
  const int64_t pixels = part.strides[1];
  const int64_t first = part.offset / pixels, end = first + part.shape[1];
  if (part.offset % pixels != 0 || first % block != 0) return std::nullopt;
  if (end % block != 0 && end != whole.shape[1]) return std::nullopt;
  return kernels::LayoutPart{LayoutOf(AxisBlockedFormat(part.shape, 1, block, format.type)),
                             static_cast<size_t>(first * pixels) * BytesOf(format.type)};
}

void AddFastConcat(FastTables& tables) {
  tables.Add({"opset1"}, "Concat", kConcatTables);
}

}  // namespace nnefc::runtime::fast::memory
