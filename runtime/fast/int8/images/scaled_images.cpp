// Quantization of f32 images in nChw16c after multiplication by a number of each channel.

#include <algorithm>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/quantized_results_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::KernelRequest;
using kernels::Reason;
using simd::kBlockColumns;

namespace {

class ScaledImages final : public kernels::Kernel {
 public:
  ScaledImages(llvm::ArrayRef<int64_t> shape, size_t image, std::vector<float> factors,
               const memory::ValueQuantization& codes)
      : images_(shape[0]),
        channels_(shape[1]),
        pixels_(*Volume(shape.drop_front(2))),
        image_(image),
        factors_(std::move(factors)),
        offsets_(kBlockColumns, static_cast<float>(codes.zero)) {
    factors_.resize(static_cast<size_t>(tensor::RoundUp(channels_, kBlockColumns)));
    for (float& factor : factors_) factor /= codes.scale;
  }

  std::string implementation() const override { return "nnefc:int8_scaled_images"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    constexpr int64_t kPixels = 256;
    const auto* x = reinterpret_cast<const float*>(run.input(image_).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    const int64_t blocks = tensor::CeilDivide(channels_, kBlockColumns),
                  parts = tensor::CeilDivide(pixels_, kPixels);
    // In NHWC blocks share cache lines, so that a task has all blocks of its pixels.
    tensor::ParallelFor(images_ * parts, kPixels * channels_, [&](int64_t task) {
      const int64_t image = task / parts, first = task % parts * kPixels;
      for (int64_t block = 0; block < blocks; ++block) {
        const int64_t channel = block * kBlockColumns;
        simd::StoreQuantizedBlock(x + ((image * blocks + block) * pixels_ + first) * kBlockColumns,
                                  {.pixels = std::min(kPixels, pixels_ - first),
                                   .channels = std::min(kBlockColumns, channels_ - channel),
                                   .factors = factors_.data() + channel,
                                   .offsets = offsets_.data(),
                                   .out = out + (image * pixels_ + first) * channels_ + channel,
                                   .stride = channels_});
      }
    });
    return Success();
  }

 private:
  int64_t images_, channels_, pixels_;
  size_t image_;
  std::vector<float> factors_, offsets_;
};

}  // namespace

kernels::KernelOrReason MakeScaledImages(const KernelRequest& request) {
  const Int8Request coded(request);
  if (!simd::HasSimd()) return kNeedsSimd;
  if (!coded.range || coded.range->formula != QuantizationRange::Formula::kFakeQuantize)
    return Reason("the result is not quantized");
  if (!coded.request.posts.empty()) return kHasFusedOperation;
  const size_t image = memory::IsChannelBlocked(request.inputs[0]) ? 0 : 1;
  const kernels::ValueInfo &images = request.inputs[image], &scales = request.inputs[1 - image];
  if (!memory::IsChannelBlocked(images)) return kNotBlocked;
  const bool is_by_channel =
      images.shape == request.outputs[0].shape && scales.constant != nullptr &&
      scales.type == ElementType::kF32 &&
      gemm::ClassifyOperand(*request.node, scales.shape, images.shape, 1) == gemm::OperandShape::kPerChannel;
  if (!is_by_channel) return Reason("the other operand is not a constant of channels");
  std::vector<float> factors;
  factors.reserve(static_cast<size_t>(scales.constant->volume()));
  for (int64_t i = 0; i < scales.constant->volume(); ++i)
    factors.push_back(static_cast<float>(scales.constant->ElementAsDouble(i)));
  kernels::PreparedKernel prepared;
  prepared.kernel =
      std::make_shared<ScaledImages>(images.shape, image, std::move(factors), coded.range->codes);
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[image] = images.layout;
  prepared.outputs.push_back(memory::QuantizedLayout(
      memory::ChannelsLastFormat(images.shape, memory::StorageType::kF32), coded.range->codes));
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
