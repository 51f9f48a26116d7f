// Split of NHWC 8-bit images along the channels.

#include <algorithm>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::memory {

using kernels::Reason;

namespace {

class Int8Split final : public kernels::Kernel {
 public:
  Int8Split(int64_t pixels, int64_t channels, std::vector<int64_t> parts)
      : pixels_(pixels), channels_(channels), parts_(std::move(parts)) {}

  std::string implementation() const override { return "nnefc:int8_split"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* in = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    constexpr int64_t kPixels = 64;
    tensor::ParallelFor((pixels_ + kPixels - 1) / kPixels, kPixels * channels_, [&](int64_t task) {
      const int64_t begin = task * kPixels, end = std::min(pixels_, begin + kPixels);
      int64_t first = 0;
      for (size_t part = 0; part < parts_.size(); first += parts_[part++]) {
        const int64_t own = parts_[part];
        auto* out = reinterpret_cast<uint8_t*>(run.output(part).mutable_bytes());
        for (int64_t pixel = begin; pixel < end; ++pixel)
          std::copy_n(in + pixel * channels_ + first, own, out + pixel * own);
      }
    });
    return Success();
  }

 private:
  int64_t pixels_, channels_;
  std::vector<int64_t> parts_;  // channels of each part
};

kernels::KernelOrReason MakeInt8Split(const kernels::KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  const kernels::ValueInfo& input = request.inputs[0];
  const ValueQuantization* codes = QuantizationOf(input);
  if (codes == nullptr || !IsChannelsLast(FormatInF32(input))) return Reason("the input is not 8-bit NHWC");
  const TensorValue* axis = request.inputs[1].constant;
  if (axis == nullptr || axis->volume() != 1 ||
      kernels::NormalAxis(axis->ElementAsInt(0), static_cast<int64_t>(input.shape.size())) != 1)
    return Reason("another axis than the channels");
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = input.layout;
  std::vector<int64_t> channels;
  for (const kernels::ValueInfo& part : request.outputs) {
    if (!IsDenseF32(part)) return kNotF32;
    prepared.outputs.push_back(QuantizedLayout(ChannelsLastFormat(part.shape, StorageType::kF32), *codes));
    channels.push_back(part.shape[1]);
  }
  const int64_t all = input.shape[1];
  prepared.kernel = std::make_shared<Int8Split>(*Volume(input.shape) / all, all, std::move(channels));
  return prepared;
}

}  // namespace

void AddFastSplit(FastTables& tables) {
  for (std::string_view name : {"Split", "VariadicSplit"})
    tables.Add({"opset1"}, name, TableOf<MakeInt8Split>("int8"));
}

}  // namespace nnefc::runtime::fast::memory
