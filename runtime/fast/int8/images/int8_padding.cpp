// Additional channels of int8 images in NHWC layout.

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/fast/factories.h"
#include "runtime/fast/int8/images/image_requests.h"
#include "runtime/kernels/windows/borders.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;

namespace {

class Int8ChannelPad final : public kernels::Kernel {
 public:
  Int8ChannelPad(int64_t pixels, int64_t channels, int64_t out_channels, int zero)
      : pixels_(pixels), channels_(channels), out_channels_(out_channels) {
    zeros_.fill(static_cast<uint8_t>(zero));
  }

  std::string implementation() const override { return "nnefc:int8_pad"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    tensor::RunRanges(pixels_, out_channels_, [&](int64_t begin, int64_t end) {
      // Blocks of a whole size are copied in registers. The last ones may exceed the pixel, but not the
      // range; the next pixels overwrite the excess.
      const int64_t exact =
          std::max(begin, end - tensor::CeilDivide(kBlock, std::min(channels_, out_channels_)) - 1);
      for (int64_t pixel = begin; pixel < end; ++pixel)
        pixel < exact ? CopyBlocks(in, pixel, out) : CopyExactly(in, pixel, out);
    });
    return Success();
  }

 private:
  static constexpr int64_t kBlock = 16;

  void CopyBlocks(const uint8_t* in, int64_t pixel, uint8_t* out) const {
    const uint8_t* from = in + pixel * channels_;
    uint8_t* to = out + pixel * out_channels_;
    for (int64_t i = 0; i < channels_; i += kBlock) std::memcpy(to + i, from + i, kBlock);
    for (int64_t i = channels_; i < out_channels_; i += kBlock) std::memcpy(to + i, zeros_.data(), kBlock);
  }
  void CopyExactly(const uint8_t* in, int64_t pixel, uint8_t* out) const {
    uint8_t* to = std::copy_n(in + pixel * channels_, channels_, out + pixel * out_channels_);
    std::fill_n(to, out_channels_ - channels_, zeros_[0]);
  }

  int64_t pixels_, channels_, out_channels_;
  std::array<uint8_t, kBlock> zeros_;
};

// Returns whether all elements of a constant are 0, except for one axis if it is not negative.
bool IsZero(const TensorValue& constant, int64_t except = -1) {
  for (int64_t i = 0; i < constant.volume(); ++i) {
    const double number = constant.ElementAsDouble(i);
    if (i == except ? number < 0 : number != 0) return false;
  }
  return true;
}

Reason ChannelPadApplies(const kernels::KernelRequest& request) {
  constexpr int64_t kChannels = 1;
  if (const Reason reason = CopiesImages(request); !reason.empty()) return reason;
  const bool is_zero = request.inputs.size() < 4 || IsZero(*request.inputs[3].constant);
  if (kernels::SourceOfBorder(*request.node) != nullptr || !is_zero || !IsZero(*request.inputs[1].constant) ||
      !IsZero(*request.inputs[2].constant, kChannels))
    return Reason("a border other than channels of zeros at the end");
  return Reason();
}

kernels::KernelOrReason MakeChannelPad(const kernels::KernelRequest& request) {
  const Shape &input = request.inputs[0].shape, &output = request.outputs[0].shape;
  const memory::ValueQuantization& codes = *memory::QuantizationOf(request.inputs[0]);
  return PrepareImages(
      request, codes,
      std::make_shared<Int8ChannelPad>(*Volume(input) / input[1], input[1], output[1], codes.zero));
}

constexpr int kPadCost = 50;
constexpr kernels::Implementation kChannelPad[] = {
    {"int8", ChannelPadApplies, kernels::FixedCost<kPadCost>, MakeChannelPad}};

}  // namespace

void AddChannelPadding(FastTables& tables) {
  tables.Append({"opset1", "opset12"}, "Pad", {{"f32", kChannelPad}});
}

}  // namespace nnefc::runtime::fast::int8
