// Transpose of f32 tensors. Images between nChw16c and NHWC, as a Transpose of [N, C, spatial..] to [N,
// spatial.., C] or back, where the tensor with channels first is nChw16c, and as a reorder of one tensor:
// both copy 16 channels at a time. Other orders are those of row-major tensors (plain_reorder.h).

#include <algorithm>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/memory/plain_reorder.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/fast/simd/pointwise/transpose_microkernel.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::memory {

namespace {

// The direction: kChannelsLast16 reads nChw16c and writes NHWC, kToBlocks is the reverse.
enum class ChannelsGo : uint8_t { kChannelsLast16, kToBlocks };

struct TransposedImages {
  int64_t images, channels, pixels;

  int64_t blocks() const { return (channels + kChannelBlock - 1) / kChannelBlock; }
};

class ImageTranspose final : public kernels::Kernel {
 public:
  ImageTranspose(const TransposedImages& sizes, ChannelsGo way) : sizes_(sizes), way_(way) {}

  std::string implementation() const override { return "nnefc:channels"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* from = reinterpret_cast<const float*>(run.input(0).bytes());
    auto* to = reinterpret_cast<float*>(run.output().mutable_bytes());
    constexpr int64_t kPixels = 64;
    const int64_t parts = (sizes_.pixels + kPixels - 1) / kPixels;
    tensor::ParallelFor(sizes_.images * parts, kPixels * sizes_.channels, [&](int64_t part) {
      const int64_t image = part / parts, first = part % parts * kPixels;
      const int64_t end = std::min(first + kPixels, sizes_.pixels);
      for (int64_t block = 0; block < sizes_.blocks(); ++block) CopyBlock(image, block, first, end, from, to);
    });
    return Success();
  }

 private:
  // Copies a channel block of the pixels [first, end). Pads an incomplete block of nChw16c with zeros.
  void CopyBlock(int64_t image, int64_t block, int64_t first, int64_t end, const float* from,
                 float* to) const {
    const int64_t channels = sizes_.channels, channel = block * kChannelBlock;
    const int64_t width = std::min(kChannelBlock, channels - channel);
    const int64_t blocked = (image * sizes_.blocks() + block) * sizes_.pixels * kChannelBlock;
    const int64_t channels_last = image * sizes_.pixels * channels + channel;
    const float* in = from + (way_ == ChannelsGo::kChannelsLast16 ? blocked + first * kChannelBlock
                                                                  : channels_last + first * channels);
    float* out = to + (way_ == ChannelsGo::kChannelsLast16 ? channels_last + first * channels
                                                           : blocked + first * kChannelBlock);
    if (width < kChannelBlock)
      return way_ == ChannelsGo::kChannelsLast16
                 ? simd::EmptyPartialBlock(in, width, end - first, out, channels)
                 : simd::FillPartialBlock(in, channels, width, end - first, out);
    const int64_t in_step = way_ == ChannelsGo::kChannelsLast16 ? kChannelBlock : channels,
                  out_step = way_ == ChannelsGo::kChannelsLast16 ? channels : kChannelBlock;
    simd::Vectorized([=] {
      const float* x = in;
      float* y = out;
      for (int64_t pixel = first; pixel < end; ++pixel, x += in_step, y += out_step)
        std::copy_n(x, kChannelBlock, y);
    });
  }

  TransposedImages sizes_;
  ChannelsGo way_;
};

// Returns true if the layout of the value is nChw16c.
bool IsInBlocks(const kernels::ValueInfo& value) {
  return value.layout != nullptr && QuantizationOf(value) == nullptr &&
         FormatOf(value) == ChannelBlockedFormat(value.shape);
}

// Returns the direction of [N, C, ..] to [N, .., C] or back.
std::optional<ChannelsGo> WayOf(llvm::ArrayRef<int64_t> order) {
  const auto rank = static_cast<int64_t>(order.size());
  const auto is = [&](const auto& wanted) {
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (order[static_cast<size_t>(axis)] != wanted(axis)) return false;
    }
    return true;
  };
  if (is([&](int64_t axis) { return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1; }))
    return ChannelsGo::kChannelsLast16;
  if (is([&](int64_t axis) { return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1; }))
    return ChannelsGo::kToBlocks;
  return std::nullopt;
}

TransposedImages SizesOf(llvm::ArrayRef<int64_t> images) {
  return {.images = images[0], .channels = images[1], .pixels = *Volume(images.drop_front(2))};
}

kernels::Reason TransposeApplies(const kernels::KernelRequest& request) {
  const TensorValue* order = request.inputs[1].constant;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!IsDenseF32(request.inputs[0])) return kNotF32;
  if (order == nullptr || order->volume() != static_cast<int64_t>(request.inputs[0].shape.size()))
    return kernels::Reason("the order is not constant");
  return kernels::Reason();
}

kernels::KernelOrReason MakeTranspose(const kernels::KernelRequest& request) {
  const kernels::ValueInfo& given = request.inputs[0];
  const TensorValue* order = request.inputs[1].constant;
  const size_t rank = given.shape.size();
  if (rank < 3 || rank > 5) return kernels::Reason("{} spatial axes", static_cast<int64_t>(rank) - 2);
  llvm::SmallVector<int64_t, 8> axes;
  for (int64_t i = 0; i < order->volume(); ++i) axes.push_back(order->ElementAsInt(i));
  const std::optional<ChannelsGo> way = WayOf(axes);
  if (!way) return kernels::Reason("not between nChw16c and NHWC");
  const bool is_from_blocks = *way == ChannelsGo::kChannelsLast16;
  if (is_from_blocks && !IsInBlocks(given)) return kNotBlocked;
  const Shape& images = is_from_blocks ? given.shape : request.outputs[0].shape;
  if (images[1] < kChannelBlock) return kernels::Reason("{} channels, fewer than a block", images[1]);
  const tensor::Layout in_blocks = LayoutOf(ChannelBlockedFormat(images));
  kernels::PreparedKernel prepared;
  prepared.kernel = std::make_shared<ImageTranspose>(SizesOf(images), *way);
  prepared.inputs.resize(2);
  prepared.outputs.resize(1);
  (is_from_blocks ? prepared.inputs[0] : prepared.outputs[0]) = in_blocks;
  return prepared;
}

// A Transpose between row-major tensors.
kernels::KernelOrReason MakePlainTranspose(const kernels::KernelRequest& request) {
  const Shape &given = request.inputs[0].shape, &result = request.outputs[0].shape;
  const TensorValue* order = request.inputs[1].constant;
  const BlockedFormat from = RowMajorFormat(given), to = RowMajorFormat(result);
  llvm::SmallVector<ReorderLoop, 4> axes;
  for (size_t axis = 0; axis < result.size(); ++axis) {
    const int64_t number = order->ElementAsInt(static_cast<int64_t>(axis));
    const auto of_given =
        static_cast<size_t>(kernels::NormalAxis(number, static_cast<int64_t>(given.size())));
    axes.push_back({result[axis], from.strides[of_given], to.strides[axis]});
  }
  kernels::PreparedKernel prepared;
  prepared.kernel = MakePlainReorder(axes);
  if (prepared.kernel == nullptr) return kernels::Reason("the axes stay in the same order");
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(1);
  return prepared;
}

constexpr kernels::Implementation kTranspose[] = {
    {"channels", TransposeApplies, kernels::FixedCost<10>, MakeTranspose},
    {"plain", TransposeApplies, kernels::FixedCost<20>, MakePlainTranspose}};
const kernels::ImplementationTable kTransposeTables[] = {{"f32", kernels::AlwaysApplies, kTranspose}};

}  // namespace

std::shared_ptr<const kernels::Kernel> MakeChannelsLastReorder(const BlockedFormat& from,
                                                               const BlockedFormat& to) {
  const llvm::ArrayRef<int64_t> shape = from.shape();
  if (shape.size() < 3 || shape.size() > 5 || to.shape() != shape || !simd::HasSimd()) return nullptr;
  const BlockedFormat blocks = ChannelBlockedFormat(shape),
                      channels_last = ChannelsLastFormat(shape, StorageType::kF32);
  if (from == blocks && to == channels_last)
    return std::make_shared<ImageTranspose>(SizesOf(shape), ChannelsGo::kChannelsLast16);
  if (from == channels_last && to == blocks)
    return std::make_shared<ImageTranspose>(SizesOf(shape), ChannelsGo::kToBlocks);
  return nullptr;
}

std::optional<tensor::Layout> TransposeToChannelsLast(llvm::ArrayRef<int64_t> shape,
                                                      llvm::ArrayRef<int64_t> order) {
  constexpr size_t kLeastRank = 3, kMaxRank = 5;
  if (shape.size() < kLeastRank || shape.size() > kMaxRank || WayOf(order) != ChannelsGo::kToBlocks)
    return std::nullopt;
  return LayoutOf(ChannelsLastFormat(shape, StorageType::kF32));
}

void AddImageTransposes(FastTables& tables) {
  tables.Add({"opset1"}, "Transpose", kTransposeTables);
}

}  // namespace nnefc::runtime::fast::memory
