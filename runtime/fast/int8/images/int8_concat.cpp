// Concatenation of the channels of int8 images with different quantizations, a linear function of each
// channel and the quantization of the result, as in DenseNet.

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/fast/factories.h"
#include "runtime/fast/int8/store_uint8.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::int8 {

using kernels::KernelRequest;
using kernels::Reason;

namespace {

// A function of the channels of an image: factor * x + offset.
struct ChannelFunctions {
  std::vector<float> factors, offsets;
};

// The channels of one image. Functions are repeated for as many pixels as are quantized at a time.
struct JoinedPart {
  memory::ValueQuantization codes;
  int64_t channels, first;
  ChannelFunctions functions;

  int64_t pixels() const { return static_cast<int64_t>(functions.factors.size()) / channels; }
};

class Int8LinearConcat final : public kernels::Kernel {
 public:
  Int8LinearConcat(std::vector<JoinedPart> parts, const QuantizationRange& range, bool has_relu,
                   int64_t pixels, int64_t channels)
      : parts_(std::move(parts)),
        range_(range),
        least_(has_relu ? range.Quantize(0) : 0),
        pixels_(pixels),
        channels_(channels) {}

  std::string implementation() const override { return "nnefc:int8_linear_concat"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    auto* out = reinterpret_cast<uint8_t*>(run.output().mutable_bytes());
    constexpr int64_t kPixels = 256;
    tensor::ParallelFor(tensor::CeilDivide(pixels_, kPixels), kPixels * channels_, [&](int64_t task) {
      const int64_t begin = task * kPixels, end = std::min(pixels_, begin + kPixels);
      std::vector<uint8_t> codes;
      for (size_t i = 0; i < parts_.size(); ++i) {
        const JoinedPart& part = parts_[i];
        const auto* in = reinterpret_cast<const uint8_t*>(run.input(i).bytes());
        codes.resize(part.functions.factors.size());
        for (int64_t pixel = begin; pixel < end; pixel += part.pixels()) {
          const int64_t count = std::min(part.pixels(), end - pixel);
          Quantize(part, in + pixel * part.channels, count, codes.data());
          for (int64_t row = 0; row < count; ++row)
            std::copy_n(codes.data() + row * part.channels, part.channels,
                        out + (pixel + row) * channels_ + part.first);
        }
      }
    });
    return Success();
  }

 private:
  void Quantize(const JoinedPart& part, const uint8_t* x, int64_t pixels, uint8_t* out) const {
    const memory::ValueQuantization from = part.codes;
    const QuantizationRange range = range_;
    const float *factors = part.functions.factors.data(), *offsets = part.functions.offsets.data();
    const int64_t count = pixels * part.channels;
    const int least = least_;
    simd::Vectorized([=] {
      StoreUint8(range, 0, count, least, out,
                 [=](int64_t i) { return from.NumberOf(x[i]) * factors[i] + offsets[i]; });
    });
  }

  std::vector<JoinedPart> parts_;
  QuantizationRange range_;
  int least_;
  int64_t pixels_, channels_;
};

// Returns the functions of channels [first, first + count), repeated for a loop that is long enough.
ChannelFunctions FunctionsOf(const ChannelFunctions& all, int64_t first, int64_t count) {
  const auto part = [&](const std::vector<float>& numbers) {
    std::vector<float> own(numbers.begin() + first, numbers.begin() + first + count);
    RepeatChannels(own);
    return own;
  };
  return {.factors = part(all.factors), .offsets = part(all.offsets)};
}

Reason LinearConcatApplies(const KernelRequest& request) {
  if (request.posts.empty()) return Reason("no fused operation");
  const auto rank = static_cast<int64_t>(request.outputs[0].shape.size());
  const bool is_of_channels = kernels::NormalAxis(request.node->Int("axis"), rank) == 1;
  return is_of_channels ? Reason() : Reason("another axis than the channels");
}

kernels::KernelOrReason MakeLinearConcat(const KernelRequest& given) {
  const Int8Request coded(given);
  if (!coded.range || coded.sum) return Reason("the result is not quantized");
  llvm::ArrayRef<kernels::PostOperation> posts = coded.request.posts;
  const Shape& output = given.outputs[0].shape;
  ChannelFunctions all{std::vector<float>(static_cast<size_t>(output[1]), 1.0F),
                       std::vector<float>(static_cast<size_t>(output[1]), 0.0F)};
  const auto take = [&](ir::ElementFunction function, std::vector<float>& numbers) {
    if (posts.empty()) return;
    if (auto found = ChannelNumbers(posts.front(), coded.request, 1, function)) {
      numbers = std::move(*found);
      posts = posts.drop_front();
    }
  };
  take(ir::ElementFunction::kMultiply, all.factors);
  take(ir::ElementFunction::kAdd, all.offsets);
  const bool has_relu = !posts.empty() && posts.front().node->Is(ir::ElementFunction::kRelu);
  if (posts.size() != (has_relu ? 1U : 0U)) return Reason("a fused operation");
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(given.inputs.size());
  std::vector<JoinedPart> parts;
  int64_t first = 0;
  for (size_t i = 0; i < static_cast<size_t>(given.node->num_inputs()); ++i) {
    const kernels::ValueInfo& part = given.inputs[i];
    const memory::ValueQuantization* codes = memory::QuantizationOf(part);
    if (codes == nullptr) return Reason("a part is not quantized");
    if (part.shape[1] == 0) return Reason("a part without channels");
    prepared.inputs[i] =
        memory::QuantizedLayout(memory::ChannelsLastFormat(part.shape, memory::StorageType::kF32), *codes);
    parts.push_back({.codes = *codes,
                     .channels = part.shape[1],
                     .first = first,
                     .functions = FunctionsOf(all, first, part.shape[1])});
    first += part.shape[1];
  }
  prepared.outputs = {memory::QuantizedLayout(memory::ChannelsLastFormat(output, memory::StorageType::kF32),
                                              coded.range->codes)};
  prepared.kernel = std::make_shared<Int8LinearConcat>(std::move(parts), *coded.range, has_relu,
                                                       *Volume(output) / output[1], output[1]);
  return prepared;
}

constexpr int kLinearConcatCost = 40;
constexpr kernels::Implementation kLinearConcat[] = {
    {"int8_linear", LinearConcatApplies, kernels::FixedCost<kLinearConcatCost>, MakeLinearConcat}};

}  // namespace

void AddLinearConcat(FastTables& tables) {
  tables.Append({"opset1"}, "Concat", {{"f32", kLinearConcat}});
}

}  // namespace nnefc::runtime::fast::int8
