// Channels of several images, picked from their blocks into those of another.

#include <algorithm>
#include <array>

#include "runtime/fast/dnnl_layout.h"
#include "runtime/fast/dots.h"
#include "runtime/fast/families.h"
#include "runtime/fast/lane_math.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// What a block takes from one of an image: `lanes[i]` of it, where bit i of `taken` is set.
struct PickedBlock {
  size_t input;
  int64_t block;
  std::array<int32_t, kChannelBlock> lanes = {};
  uint16_t taken = 0;
};
using PickedBlocks = std::vector<PickedBlock>;

// Blocks that a loop over the pixels takes from: their lanes stay in registers.
constexpr size_t kAtOnce = 6;

// Picks from the first `kCount` of `picked`, adding to what `out` holds or from nothing.
template <size_t kCount>
void PickPixels(llvm::ArrayRef<PickedBlock> picked, const float* const* from, int64_t size, bool adds,
                float* out) {
  if constexpr (kCount > 1) {
    if (picked.size() < kCount) return PickPixels<kCount - 1>(picked, from, size, adds, out);
  }
  RunInLanes([&]() NNEFC_IN_LANES {
    std::array<PickedLanes, kCount> lanes;
    std::array<const float*, kCount> block;
#pragma GCC unroll 8
    for (size_t i = 0; i < kCount; ++i) {
      lanes[i] = {picked[i].taken, *reinterpret_cast<const LaneIndices*>(picked[i].lanes.data())};
      block[i] = from[i];
    }
    for (int64_t at = 0; at < size; at += kChannelBlock) {
      LaneSums sum = {};
      if (adds) sum = *reinterpret_cast<const Lanes*>(out + at);
#pragma GCC unroll 8
      for (size_t i = 0; i < kCount; ++i) PickLanes(sum, lanes[i], block[i] + at);
      *reinterpret_cast<Lanes*>(out + at) = sum;
    }
  });
}

int64_t BlocksOf(int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock;
}

class ChannelGather final : public Kernel {
 public:
  // By image, its channels; by block of the result, what it takes.
  ChannelGather(int64_t images, int64_t pixels, std::vector<int64_t> channels,
                std::vector<PickedBlocks> blocks)
      : images_(images), pixels_(pixels), channels_(std::move(channels)), blocks_(std::move(blocks)) {}

  std::string implementation() const override { return "nnefc:channels"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const int64_t size = pixels_ * kChannelBlock;
    const auto blocks = static_cast<int64_t>(blocks_.size());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    ParallelFor(images_ * blocks, size, [&](int64_t i) {
      Pick(run, i / blocks, blocks_[static_cast<size_t>(i % blocks)], out + i * size);
    });
    return Success();
  }

 private:
  void Pick(const KernelRun& run, int64_t image, const PickedBlocks& picked, float* out) const {
    llvm::SmallVector<const float*, 8> from;
    for (const PickedBlock& block : picked) {
      const int64_t index = image * BlocksOf(channels_[block.input]) + block.block;
      from.push_back(reinterpret_cast<const float*>(run.input(block.input).bytes()) +
                     index * pixels_ * kChannelBlock);
    }
    for (size_t i = 0; i < picked.size(); i += kAtOnce)
      PickPixels<kAtOnce>(llvm::ArrayRef(picked).drop_front(i), from.data() + i, pixels_ * kChannelBlock,
                          i > 0, out);
  }

  int64_t images_, pixels_;
  std::vector<int64_t> channels_;
  std::vector<PickedBlocks> blocks_;
};

// Where the channels of a concatenation lie that `indices` are of, by block of the result.
std::vector<PickedBlocks> PickBlocks(llvm::ArrayRef<int64_t> channels, const TensorValue& indices,
                                     int64_t whole) {
  std::vector<PickedBlocks> blocks(static_cast<size_t>(BlocksOf(indices.volume())));
  for (int64_t i = 0; i < indices.volume(); ++i) {
    int64_t channel = indices.ElementAsInt(i);
    if (channel < 0) channel += whole;
    size_t input = 0;
    for (; channel >= channels[input]; ++input) channel -= channels[input];
    PickedBlocks& picked = blocks[static_cast<size_t>(i / kChannelBlock)];
    const int64_t block = channel / kChannelBlock;
    auto found = std::find_if(picked.begin(), picked.end(), [&](const PickedBlock& other) {
      return other.input == input && other.block == block;
    });
    if (found == picked.end()) found = picked.insert(found, {.input = input, .block = block});
    found->lanes[static_cast<size_t>(i % kChannelBlock)] = static_cast<int32_t>(channel % kChannelBlock);
    found->taken |= static_cast<uint16_t>(1U << (i % kChannelBlock));
  }
  return blocks;
}

}  // namespace

std::optional<PreparedKernel> MakeChannelGather(const KernelRequest& request) {
  if (!HasLanes() || request.precision == Precision::kBf16) return std::nullopt;
  const auto images = static_cast<size_t>(request.node->num_inputs());
  const TensorValue* indices = request.inputs[images].constant;
  const Shape& out = request.outputs[0].shape;
  PreparedKernel prepared;
  std::vector<int64_t> channels;
  int64_t whole = 0;
  for (const ValueInfo& image : request.inputs.take_front(images)) {
    if (!DnnAccepts(image)) return std::nullopt;
    channels.push_back(image.shape[1]);
    whole += image.shape[1];
    prepared.inputs.push_back(LayoutOf(ChannelBlockedDesc(image.shape)));
  }
  for (int64_t i = 0; i < indices->volume(); ++i) {
    const int64_t index = indices->ElementAsInt(i);
    if (index < -whole || index >= whole) return std::nullopt;  // which the reference kernel tells
  }
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.push_back(LayoutOf(ChannelBlockedDesc(out)));
  const int64_t pixels = *Volume(llvm::ArrayRef<int64_t>(out).drop_front(2));
  std::vector<PickedBlocks> blocks = PickBlocks(channels, *indices, whole);
  prepared.kernel = std::make_shared<ChannelGather>(out[0], pixels, std::move(channels), std::move(blocks));
  return prepared;
}

}  // namespace nnefc::runtime
