// Gathers channels of several nChw16c images into another.

#include <algorithm>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/pointwise/channel_gather_microkernel.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::memory {

namespace {

// The channels that a result block selects from one source block.
struct SourceBlock {
  size_t input;
  int64_t block;
  simd::ChannelSelection picked = {};
};
using SourceBlocks = std::vector<SourceBlock>;

int64_t BlocksOf(int64_t channels) {
  return (channels + kChannelBlock - 1) / kChannelBlock;
}

class ChannelGather final : public kernels::Kernel {
 public:
  // `channels`: per input image; `blocks`: the selections of each result block.
  ChannelGather(int64_t images, int64_t pixels, std::vector<int64_t> channels,
                std::vector<SourceBlocks> blocks)
      : images_(images), pixels_(pixels), channels_(std::move(channels)), blocks_(std::move(blocks)) {}

  std::string implementation() const override { return "nnefc:channels"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const int64_t size = pixels_ * kChannelBlock;
    const auto blocks = static_cast<int64_t>(blocks_.size());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    tensor::ParallelFor(images_ * blocks, size, [&](int64_t i) {
      Pick(run, i / blocks, blocks_[static_cast<size_t>(i % blocks)], out + i * size);
    });
    return Success();
  }

 private:
  void Pick(const kernels::KernelRun& run, int64_t image, const SourceBlocks& picked, float* out) const {
    for (size_t first = 0; first < picked.size(); first += simd::kMaxGatheredBlocks) {
      simd::ChannelGatherTile pixels{.count = 0, .pixels = pixels_, .adds = first > 0, .out = out};
      for (; pixels.count < simd::kMaxGatheredBlocks; ++pixels.count) {
        const size_t i = first + static_cast<size_t>(pixels.count);
        if (i >= picked.size()) break;
        const SourceBlock& block = picked[i];
        const int64_t index = image * BlocksOf(channels_[block.input]) + block.block;
        pixels.picked[pixels.count] = &block.picked;
        pixels.from[pixels.count] =
            reinterpret_cast<const float*>(run.input(block.input).bytes()) + index * pixels_ * kChannelBlock;
      }
      simd::GatherChannels(pixels);
    }
  }

  int64_t images_, pixels_;
  std::vector<int64_t> channels_;
  std::vector<SourceBlocks> blocks_;
};

// Returns the selections for each block of the result, for channel indices into a concatenation.
std::vector<SourceBlocks> PickBlocks(llvm::ArrayRef<int64_t> channels, llvm::ArrayRef<int64_t> indices) {
  const auto count = static_cast<int64_t>(indices.size());
  std::vector<SourceBlocks> blocks(static_cast<size_t>(BlocksOf(count)));
  for (int64_t i = 0; i < count; ++i) {
    int64_t channel = indices[static_cast<size_t>(i)];
    size_t input = 0;
    for (; channel >= channels[input]; ++input) channel -= channels[input];
    SourceBlocks& picked = blocks[static_cast<size_t>(i / kChannelBlock)];
    const int64_t block = channel / kChannelBlock;
    auto found = std::find_if(picked.begin(), picked.end(), [&](const SourceBlock& other) {
      return other.input == input && other.block == block;
    });
    if (found == picked.end()) found = picked.insert(found, {.input = input, .block = block});
    found->picked.lanes[i % kChannelBlock] = static_cast<int32_t>(channel % kChannelBlock);
    found->picked.taken |= static_cast<uint16_t>(1U << (i % kChannelBlock));
  }
  return blocks;
}

// Prepares a selection of channels from the node's inputs.
kernels::KernelOrReason MakePick(const kernels::KernelRequest& request, llvm::ArrayRef<int64_t> picked) {
  const Shape& out = request.outputs[0].shape;
  kernels::PreparedKernel prepared;
  std::vector<int64_t> channels;
  for (const kernels::ValueInfo& image :
       request.inputs.take_front(static_cast<size_t>(request.node->num_inputs()))) {
    if (!IsDenseF32(image)) return kNotF32;
    channels.push_back(image.shape[1]);
    prepared.inputs.push_back(LayoutOf(ChannelBlockedFormat(image.shape)));
  }
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.push_back(LayoutOf(ChannelBlockedFormat(out)));
  const int64_t pixels = *Volume(llvm::ArrayRef<int64_t>(out).drop_front(2));
  std::vector<SourceBlocks> blocks = PickBlocks(channels, picked);
  prepared.kernel = std::make_shared<ChannelGather>(out[0], pixels, std::move(channels), std::move(blocks));
  return prepared;
}

}  // namespace

kernels::KernelOrReason MakeChannelGather(const kernels::KernelRequest& request) {
  if (!simd::HasSimd()) return kNeedsSimd;
  if (request.precision == kernels::Precision::kBf16) return kernels::Reason("precision bf16");
  const auto images = static_cast<size_t>(request.node->num_inputs());
  const TensorValue* indices = request.inputs[images].constant;
  int64_t whole = 0;
  for (const kernels::ValueInfo& image : request.inputs.take_front(images)) whole += image.shape[1];
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < indices->volume(); ++i) {
    const int64_t index = indices->ElementAsInt(i);
    if (index < -whole || index >= whole) return kernels::Reason("index {} of {} channels", index, whole);
    picked.push_back(index < 0 ? index + whole : index);
  }
  return MakePick(request, picked);
}

kernels::KernelOrReason MakeChannelConcat(const kernels::KernelRequest& request) {
  const Shape& out = request.outputs[0].shape;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (request.precision == kernels::Precision::kBf16) return kernels::Reason("precision bf16");
  if (out.size() < 3 || out.size() > 5)
    return kernels::Reason("{} spatial axes", static_cast<int64_t>(out.size()) - 2);
  const auto blocked = llvm::count_if(request.inputs, IsChannelBlocked);
  const auto count = static_cast<int64_t>(request.inputs.size());
  if (2 * blocked < count) return kernels::Reason("{} of {} images are nChw16c", blocked, count);
  std::vector<int64_t> all(static_cast<size_t>(out[1]));
  std::iota(all.begin(), all.end(), 0);
  return MakePick(request, all);
}

}  // namespace nnefc::runtime::fast::memory
