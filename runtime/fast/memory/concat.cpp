// Concat, and layouts that turn it into placement.

#include <algorithm>
#include <numeric>

#include "runtime/fast/factories.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/attributes.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

int64_t BlockOf(const memory::desc& desc) {
  return desc.data.format_desc.blocking.inner_blks[0];
}

// Returns the blocked format of most parts if it fits the channels of all parts, otherwise nothing.
std::optional<memory::format_tag> CommonTag(llvm::ArrayRef<ValueInfo> parts, size_t axis) {
  for (const ValueInfo& part : parts) {
    const std::optional<memory::format_tag> tag = ChannelBlockedTag(DescOf(part));
    if (!tag) continue;
    const int64_t block = BlockOf(DescOf(part));
    bool fits = true;
    for (const ValueInfo& other : parts) fits &= axis != 1 || other.shape[1] % block == 0;
    if (fits) return tag;
  }
  return std::nullopt;
}

// The common layout of parts and result: blocked or NHWC, in bf16 if any part is. Nothing if no part has such
// a layout.
struct ConcatFormat {
  std::optional<memory::format_tag> blocked;
  DnnType type = DnnType::f32;

  memory::desc DescOf(llvm::ArrayRef<int64_t> shape) const {
    return blocked ? memory::desc(DnnDims(shape), type, *blocked) : ChannelsLastDesc(shape, type);
  }
};

std::optional<ConcatFormat> CommonFormat(llvm::ArrayRef<ValueInfo> parts, size_t axis) {
  ConcatFormat format{.blocked = CommonTag(parts, axis)};
  bool is_channels_last = false;
  for (const ValueInfo& part : parts) {
    if (TypeOf(DescOf(part)) == DnnType::bf16) format.type = DnnType::bf16;
    is_channels_last |= part.layout != nullptr && IsChannelsLast(DescOf(part));
  }
  if (!format.blocked && !is_channels_last) return std::nullopt;
  // Readers of bf16 require NHWC, independent of the other parts.
  if (format.type == DnnType::bf16 && is_channels_last) format.blocked = std::nullopt;
  return format;
}

// Concatenation of NHWC 8-bit images.
class Int8Concat final : public Kernel {
 public:
  Int8Concat(int64_t pixels, std::vector<int64_t> channels)
      : pixels_(pixels), channels_(std::move(channels)) {}

  std::string implementation() const override { return "nnefc:int8_concat"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const int64_t all = std::accumulate(channels_.begin(), channels_.end(), int64_t{0});
    constexpr int64_t kPixels = 64;
    ParallelFor((pixels_ + kPixels - 1) / kPixels, kPixels * all, [&](int64_t task) {
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

// Requires equal quantization of all images.
KernelOrReason MakeInt8Concat(const KernelRequest& request) {
  const DnnQuantization* codes = QuantizationOf(request.inputs[0]);
  if (codes == nullptr) return Reason("the first part is not quantized");
  const Shape& output = request.outputs[0].shape;
  PreparedKernel prepared;
  std::vector<int64_t> channels;
  for (const ValueInfo& part : request.inputs) {
    const DnnQuantization* own = QuantizationOf(part);
    if (own == nullptr || !(*own == *codes) || !IsChannelsLast(DescInF32(part)))
      return Reason("the parts are not NHWC with equal quantization");
    prepared.inputs.push_back(part.layout);
    channels.push_back(part.shape[1]);
  }
  prepared.outputs = {QuantizedLayout(ChannelsLastDesc(output, DnnType::f32), *codes)};
  prepared.kernel = std::make_shared<Int8Concat>(*Volume(output) / output[1], std::move(channels));
  return prepared;
}

size_t AxisOf(const KernelRequest& request) {
  const auto rank = static_cast<int64_t>(request.outputs[0].shape.size());
  return static_cast<size_t>(NormalAxis(request.node->Int("axis"), rank));
}

Reason JoinsParts(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused Gather");
  return DnnAcceptsAll(request) ? Reason() : kNotF32;
}
Reason Int8ConcatApplies(const KernelRequest& request) {
  if (const Reason reason = JoinsParts(request); !reason.empty()) return reason;
  return AxisOf(request) == 1 ? Reason() : Reason("another axis than the channels");
}
Reason ChannelConcatApplies(const KernelRequest& request) {
  if (const Reason reason = Int8ConcatApplies(request); !reason.empty()) return reason;
  return CommonFormat(request.inputs, 1) ? Reason("oneDNN can join the parts in their layout") : Reason();
}
Reason DnnConcatApplies(const KernelRequest& request) {
  if (const Reason reason = JoinsParts(request); !reason.empty()) return reason;
  return CommonFormat(request.inputs, AxisOf(request))
             ? Reason()
             : Reason("no common layout; the reference kernel is as fast for row-major parts");
}
Reason ChannelGatherApplies(const KernelRequest& request) {
  return request.posts.empty() ? Reason("no fused Gather") : Reason();
}

KernelOrReason MakeDnnConcat(const KernelRequest& request) {
  const Shape& output = request.outputs[0].shape;
  const size_t axis = AxisOf(request);
  const std::optional<ConcatFormat> format = CommonFormat(request.inputs, axis);
  std::vector<memory::desc> parts;
  for (const ValueInfo& part : request.inputs) parts.push_back(format->DescOf(part.shape));
  const memory::desc whole = format->DescOf(output);
  const dnnl::concat::primitive_desc primitive(whole, static_cast<int>(axis), parts, DnnEngine(),
                                               DnnKernelBuilder::Attributes());
  DnnKernelBuilder builder(request);
  for (size_t i = 0; i < parts.size(); ++i) {
    builder.AddInput(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), i, parts[i]);
  }
  builder.AddOutput(DNNL_ARG_DST, 0, whole);
  return builder.Finish(dnnl::concat(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

constexpr int kOwnConcatCost = 50, kDnnConcatCost = 100;
constexpr Implementation kConcat[] = {
    {"channel_gather", ChannelGatherApplies, FixedCost<kOwnConcatCost>, MakeChannelGather},
    {"int8", Int8ConcatApplies, FixedCost<kOwnConcatCost>, MakeInt8Concat},
    {"channels", ChannelConcatApplies, FixedCost<kDnnConcatCost>, MakeChannelConcat},
    {"onednn", DnnConcatApplies, FixedCost<kDnnConcatCost>, MakeDnnConcat}};
const ImplementationTable kConcatTables[] = {{"f32", AlwaysApplies, kConcat}};

}  // namespace

std::optional<Layout> JoinDnnLayouts(llvm::ArrayRef<ValueInfo> parts, const ValueInfo& whole, int64_t axis) {
  if (axis > 1 || (axis == 1 && whole.shape[0] != 1)) return std::nullopt;
  std::optional<memory::format_tag> common;
  const DnnType type = parts.empty() ? DnnType::f32 : TypeOf(DescOf(parts.front()));
  for (const ValueInfo& part : parts) {
    if (!DnnAccepts(part)) return std::nullopt;
    const memory::desc desc = DescOf(part);
    const std::optional<memory::format_tag> tag = ChannelBlockedTag(desc);
    if (!tag || (common && *common != *tag) || TypeOf(desc) != type) return std::nullopt;
    if (part.shape[1] % BlockOf(desc) != 0) return std::nullopt;
    common = tag;
  }
  if (!common) return std::nullopt;
  return LayoutOf(memory::desc(DnnDims(whole.shape), type, *common));
}

// Returns channel blocks of a single image as a part. The padding of a last block belongs to it.
std::optional<LayoutPart> PartOfDnnLayout(const ValueInfo& whole, const ElementsView& part) {
  if (!DnnAccepts(whole) || whole.shape.size() < 3 || whole.shape[0] != 1) return std::nullopt;
  const memory::desc desc = DescOf(whole);
  const std::optional<memory::format_tag> tag = ChannelBlockedTag(desc);
  if (!tag || part.strides != DenseStrides(whole.shape)) return std::nullopt;
  for (size_t axis = 0; axis < whole.shape.size(); ++axis) {
    if (axis != 1 && part.shape[axis] != whole.shape[axis]) return std::nullopt;
  }
  const int64_t pixels = part.strides[1], block = BlockOf(desc);
  const int64_t first = part.offset / pixels, end = first + part.shape[1];
  if (part.offset % pixels != 0 || first % block != 0) return std::nullopt;
  if (end % block != 0 && end != whole.shape[1]) return std::nullopt;
  const DnnType type = TypeOf(desc);
  const size_t bytes = type == DnnType::bf16 ? sizeof(uint16_t) : sizeof(float);
  return LayoutPart{LayoutOf(memory::desc(DnnDims(part.shape), type, *tag)),
                    static_cast<size_t>(first * pixels) * bytes};
}

void RegisterDnnConcat(KernelRegistry& registry) {
  AddDnnTables(registry, {"opset1"}, "Concat", kConcatTables);
}

}  // namespace nnefc::runtime
