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

// Concatenation of images: contiguous bytes of each part in turn.
class ByteConcat final : public kernels::Kernel {
 public:
  // `rows`: how often the parts take turns; `lengths`: the bytes of each part in a row.
  ByteConcat(std::string_view name, int64_t rows, const std::vector<int64_t>& lengths)
      : name_(name), rows_(rows), row_bytes_(std::accumulate(lengths.begin(), lengths.end(), int64_t{0})) {
    int64_t place = 0;
    for (size_t part = 0; part < lengths.size(); ++part) {
      for (int64_t begin = 0; begin < lengths[part]; begin += kTaskBytes)
        pieces_.push_back({.part = part,
                           .length = lengths[part],
                           .begin = begin,
                           .end = std::min(lengths[part], begin + kTaskBytes),
                           .place = place});
      place += lengths[part];
    }
  }

  std::string implementation() const override { return std::string(name_); }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    if (row_bytes_ > kTaskBytes) {
      const auto pieces = static_cast<int64_t>(pieces_.size());
      tensor::ParallelFor(rows_ * pieces, row_bytes_ / pieces, [&](int64_t task) {
        Copy(run, pieces_[static_cast<size_t>(task % pieces)], task / pieces, task / pieces + 1);
      });
      return Success();
    }
    const int64_t together = kTaskBytes / std::max<int64_t>(row_bytes_, 1);
    tensor::ParallelFor((rows_ + together - 1) / together, together * row_bytes_, [&](int64_t task) {
      const int64_t begin = task * together, end = std::min(rows_, begin + together);
      for (const Piece& piece : pieces_) Copy(run, piece, begin, end);
    });
    return Success();
  }

 private:
  static constexpr int64_t kTaskBytes = 65536;
  // Bytes of a part in a row, from `begin` to `end`; `place` is that of the part in the row.
  struct Piece {
    size_t part;
    int64_t length, begin, end, place;
  };

  void Copy(const kernels::KernelRun& run, const Piece& piece, int64_t begin, int64_t end) const {
    const std::byte* in = run.input(piece.part).bytes() + piece.begin;
    std::byte* out = run.output().mutable_bytes() + piece.place + piece.begin;
    for (int64_t row = begin; row < end; ++row)
      std::copy_n(in + row * piece.length, piece.end - piece.begin, out + row * row_bytes_);
  }

  std::string_view name_;  // a literal
  int64_t rows_, row_bytes_;
  std::vector<Piece> pieces_;
};

// The extents of an image in its layout before an axis, and from it on, multiplied.
struct LayoutRows {
  int64_t count = 1, length = 1;

  static LayoutRows Of(const ConcatFormat& format, llvm::ArrayRef<int64_t> shape, size_t axis) {
    const int64_t block = format.block == 0 ? shape[1] : format.block;
    Shape order = {shape[0], (shape[1] + block - 1) / block};
    order.append(shape.begin() + 2, shape.end());
    order.push_back(block);
    const size_t place = axis == 1 && format.block == 0 ? shape.size() : axis;
    LayoutRows rows;
    for (size_t i = 0; i < order.size(); ++i) (i < place ? rows.count : rows.length) *= order[i];
    return rows;
  }
};

// Joins f32 or bf16 images in their common layout.
kernels::KernelOrReason MakeImageConcat(const kernels::KernelRequest& request) {
  const size_t axis = ConcatAxisOf(request);
  const std::optional<ConcatFormat> format = CommonConcatFormat(request.inputs, axis);
  kernels::PreparedKernel prepared;
  std::vector<int64_t> lengths;
  for (const ValueInfo& part : request.inputs) {
    prepared.inputs.push_back(LayoutOf(format->Of(part.shape)));
    lengths.push_back(LayoutRows::Of(*format, part.shape, axis).length *
                      static_cast<int64_t>(BytesOf(format->type)));
  }
  const Shape& output = request.outputs[0].shape;
  prepared.outputs = {LayoutOf(format->Of(output))};
  prepared.kernel =
      std::make_shared<ByteConcat>("nnefc:concat", LayoutRows::Of(*format, output, axis).count, lengths);
  return prepared;
}

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
  prepared.kernel = std::make_shared<ByteConcat>("nnefc:int8_concat", *Volume(output) / output[1], channels);
  return prepared;
}

Reason Int8ConcatApplies(const kernels::KernelRequest& request) {
  if (const Reason reason = JoinsParts(request); !reason.empty()) return reason;
  return ConcatAxisOf(request) == 1 ? Reason() : Reason("another axis than the channels");
}
Reason ChannelConcatApplies(const kernels::KernelRequest& request) {
  if (const Reason reason = Int8ConcatApplies(request); !reason.empty()) return reason;
  return CommonConcatFormat(request.inputs, 1) ? Reason("the parts have a common layout") : Reason();
}
Reason ImageConcatApplies(const kernels::KernelRequest& request) {
  if (const Reason reason = JoinsParts(request); !reason.empty()) return reason;
  return CommonConcatFormat(request.inputs, ConcatAxisOf(request))
             ? Reason()
             : Reason("no common layout; the reference kernel is as fast for row-major parts");
}
Reason ChannelGatherApplies(const kernels::KernelRequest& request) {
  const bool has_gather = request.posts.size() == 1 && request.posts[0].node->Is(ir::Rearrangement::kGather);
  return has_gather ? Reason() : Reason("no fused Gather");
}

constexpr int kFirstCost = 50, kImageCost = 90, kChannelConcatCost = 100;
constexpr kernels::Implementation kConcat[] = {
    {"channel_gather", ChannelGatherApplies, kernels::FixedCost<kFirstCost>, MakeChannelGather},
    {"int8", Int8ConcatApplies, kernels::FixedCost<kFirstCost>, MakeInt8Concat},
    {"images", ImageConcatApplies, kernels::FixedCost<kImageCost>, MakeImageConcat},
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
