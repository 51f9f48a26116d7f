// MaxPool, AvgPool and means over images by oneDNN's pooling primitive.

#include "runtime/fast/pooling.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/fast/simd/loop_math.h"
#include "runtime/onednn/kernel_builder.h"
#include "runtime/onednn/rows.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::onednn {

using kernels::KernelRequest;
using kernels::Reason;

namespace {

using Role = library::PrimitiveArgument::Role;

// Pools quantized values if `codes` is not null; its quantization must be increasing.
kernels::KernelOrReason MakePooling(const KernelRequest& request, library::PrimitiveAlgorithm algorithm,
                                    const fast::PoolingDims& dims,
                                    const fast::memory::ValueQuantization* codes = nullptr) {
  const fast::memory::BlockedFormat input = fast::memory::FormatOf(request.inputs[0]);
  const fast::memory::BlockedFormat source = codes != nullptr ? fast::memory::QuantizedFormat(input) : input;
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kPooling,
                       .algorithm = algorithm,
                       .sources = {source},
                       .result = fast::memory::AnyFormat(request.outputs[0].shape, source.type),
                       .strides = dims.strides,
                       .before = dims.before,
                       .after = dims.after,
                       .window = dims.kernel});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  if (codes != nullptr) {
    builder.AddQuantizedInput(Role::kSource, 0, *codes);
    builder.AddQuantizedOutput(*codes);
  } else {
    builder.AddInput(Role::kSource, 0);
    builder.AddOutput();
  }
  return builder.Finish();
}

// Offsets of elements in a memory with at most one blocked axis, the channels.
class Places {
 public:
  static std::optional<Places> Make(const fast::memory::BlockedFormat& format) {
    if (!format.is_blocked()) return std::nullopt;
    if (format.num_blocks > 1 || (format.num_blocks == 1 && format.blocks[0].axis != 1)) return std::nullopt;
    Places places;
    if (format.num_blocks == 1) places.block_ = format.blocks[0].size;
    places.batch_ = format.strides[0];
    places.channel_ = format.strides[1];
    // Spatial axes occupy the last of three entries.
    const size_t rank = format.shape().size();
    for (size_t i = 2; i < rank; ++i) places.spatial_[i + 3 - rank] = format.strides[i];
    return places;
  }

  int64_t Channel(int64_t n, int64_t c) const { return n * batch_ + c / block_ * channel_ + c % block_; }
  int64_t Pixel(int64_t z, int64_t y, int64_t x) const {
    return z * spatial_[0] + y * spatial_[1] + x * spatial_[2];
  }

 private:
  int64_t batch_ = 0, channel_ = 0, block_ = 1;
  std::array<int64_t, 3> spatial_ = {0, 0, 0};
};

// The upper half of the bits of an f32.
struct Bf16 {
  static constexpr uint16_t kLowest = 0xff7f;

  uint16_t bits;

  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static Bf16 Truncated(float x) { return {.bits = static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16)}; }
};

bool IsLowest(float x) {
  return x == std::numeric_limits<float>::lowest();
}
bool IsLowest(Bf16 x) {
  return x.bits == Bf16::kLowest;
}
void Store(float x, float& to) {
  to = x;
}
// Stores an element of the input, or an infinity.
void Store(float x, Bf16& to) {
  to = Bf16::Truncated(x);
}

// oneDNN's maximum starts from the lowest finite number: if that is the result, the window may contain only
// NaN, negative infinities and padding, with a maximum of negative infinity. These rare elements are computed
// again.
struct MaxPoolShape {
  int64_t batch, channels;
  kernels::Window window;
  Places input, output;
  int64_t output_elements;  // including channel padding
};

template <typename Element>
class MaxPoolKernel final : public kernels::Kernel {
 public:
  MaxPoolKernel(std::shared_ptr<const kernels::Kernel> primitive, const MaxPoolShape& shape)
      : primitive_(std::move(primitive)), shape_(shape) {}

  std::string implementation() const override { return primitive_->implementation(); }
  std::unique_ptr<kernels::KernelState> NewState() const override { return primitive_->NewState(); }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    kernels::FaultOr<Success> done = primitive_->Run(run);
    if (!done.ok()) return done;
    const Element* input = reinterpret_cast<const Element*>(run.input(0).bytes());
    Element* output = reinterpret_cast<Element*>(run.output().mutable_bytes());
    if (!HasLowest(output)) return done;
    tensor::ParallelFor(shape_.batch * shape_.channels, Volume(), [&](int64_t plane) {
      const int64_t n = plane / shape_.channels;
      const int64_t c = plane % shape_.channels;
      Repair(input + shape_.input.Channel(n, c), output + shape_.output.Channel(n, c));
    });
    return done;
  }

 private:
  int64_t Volume() const {
    return shape_.window[0].output * shape_.window[1].output * shape_.window[2].output;
  }

  bool HasLowest(const Element* output) const {
    std::atomic<bool> found = false;
    tensor::ParallelParts(shape_.output_elements, [&](int64_t begin, int64_t end) {
      int32_t lowest = 0;
      fast::simd::Vectorized([&] {
        for (int64_t i = begin; i < end; ++i) lowest |= static_cast<int32_t>(IsLowest(output[i]));
      });
      if (lowest != 0) found.store(true, std::memory_order_relaxed);
    });
    return found;
  }

  void Repair(const Element* input, Element* output) const {
    const auto& [wz, wy, wx] = shape_.window;
    for (int64_t z = 0; z < wz.output; ++z) {
      for (int64_t y = 0; y < wy.output; ++y) {
        for (int64_t x = 0; x < wx.output; ++x) {
          Element& out = output[shape_.output.Pixel(z, y, x)];
          if (IsLowest(out)) Store(Maximum(input, {z, y, x}), out);
        }
      }
    }
  }

  float Maximum(const Element* input, const std::array<int64_t, 3>& at) const {
    const auto taps = [&](size_t axis) {
      const kernels::WindowAxis& of = shape_.window[axis];
      const int64_t first = at[axis] * of.stride - of.before;
      return std::pair(std::max<int64_t>(first, 0), std::min(first + of.size, of.input));
    };
    float largest = -std::numeric_limits<float>::infinity();
    for (auto [z, end_z] = taps(0); z < end_z; ++z) {
      for (auto [y, end_y] = taps(1); y < end_y; ++y) {
        for (auto [x, end_x] = taps(2); x < end_x; ++x) {
          const float value = input[shape_.input.Pixel(z, y, x)];
          largest = value > largest ? value : largest;
        }
      }
    }
    return largest;
  }

  std::shared_ptr<const kernels::Kernel> primitive_;
  const MaxPoolShape shape_;
};

kernels::KernelOrReason MakeInt8Max(const KernelRequest& request) {
  return MakePooling(request, library::PrimitiveAlgorithm::kMaximum, *fast::PoolingDimsOf(request),
                     fast::memory::QuantizationOf(request.inputs[0]));
}

Reason PoolingApplies(const KernelRequest& request) {
  return fast::PoolingDimsOf(request).reason();
}
kernels::KernelOrReason MakeMax(const KernelRequest& request) {
  kernels::KernelOrReason prepared =
      MakePooling(request, library::PrimitiveAlgorithm::kMaximum, *fast::PoolingDimsOf(request));
  if (!prepared) return prepared;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const fast::memory::BlockedFormat source = fast::memory::FormatOf(prepared->inputs[0], input);
  const fast::memory::BlockedFormat result =
      fast::memory::FormatOf(prepared->outputs[0], request.outputs[0].shape);
  const std::optional<Places> source_places = Places::Make(source);
  const std::optional<Places> result_places = Places::Make(result);
  if (!source_places || !result_places) return Reason("oneDNN needs a layout with several blocked axes");
  const bool is_half = result.type == fast::memory::StorageType::kBf16;
  const size_t bytes = is_half ? sizeof(Bf16) : sizeof(float);
  const MaxPoolShape shape{.batch = input[0],
                           .channels = input[1],
                           .window = fast::PoolingWindowOf(request),
                           .input = *source_places,
                           .output = *result_places,
                           .output_elements = static_cast<int64_t>(result.byte_size() / bytes)};
  if (is_half) {
    prepared->kernel = std::make_shared<MaxPoolKernel<Bf16>>(prepared->kernel, shape);
  } else {
    prepared->kernel = std::make_shared<MaxPoolKernel<float>>(prepared->kernel, shape);
  }
  return prepared;
}
kernels::KernelOrReason MakeAverage(const KernelRequest& request) {
  const bool excludes =
      fast::PoolingKindOf(request) == fast::pointwise::PoolingKind::kAverageExcludingPadding;
  return MakePooling(request,
                     excludes ? library::PrimitiveAlgorithm::kAverageExcludingPadding
                              : library::PrimitiveAlgorithm::kAverageIncludingPadding,
                     *fast::PoolingDimsOf(request));
}

// --- reductions over all pixels -------------------------------------------------------

Reason MeanApplies(const KernelRequest& request) {
  if (const Reason reason = fast::ReducesPixels(request); !reason.empty()) return reason;
  if (fast::memory::QuantizationOf(request.inputs[0]) != nullptr) return Reason("the input is quantized");
  return request.node->Bool("keep_dims") ? Reason() : Reason("the result has fewer axes");
}
kernels::KernelOrReason MakeMean(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  const std::vector<int64_t> zeros(input.size() - 2, 0), ones(input.size() - 2, 1);
  const std::vector<int64_t> kernel(input.begin() + 2, input.end());
  return MakePooling(request, library::PrimitiveAlgorithm::kAverageExcludingPadding,
                     {.strides = ones, .kernel = kernel, .before = zeros, .after = zeros});
}

constexpr int kInt8PoolingCost = 150, kPoolingCost = 200;
constexpr kernels::Implementation kMaxPoolRows[] = {
    {"onednn_int8", fast::Int8MaxApplies, kernels::FixedCost<kInt8PoolingCost>, MakeInt8Max},
    {"onednn", PoolingApplies, kernels::FixedCost<kPoolingCost>, MakeMax}};
constexpr kernels::Implementation kAveragePoolRows[] = {
    {"onednn", PoolingApplies, kernels::FixedCost<kPoolingCost>, MakeAverage}};
constexpr kernels::Implementation kReduceMeanRows[] = {
    {"onednn", MeanApplies, kernels::FixedCost<kPoolingCost>, MakeMean}};

}  // namespace

void AddPoolingRows(fast::FastTables& tables) {
  tables.Append({"opset1", "opset8", "opset14"}, "MaxPool", {{"f32", kMaxPoolRows}});
  tables.Append({"opset1", "opset14", "opset16"}, "AvgPool", {{"f32", kAveragePoolRows}});
  tables.Append({"opset1"}, "ReduceMean", {{"f32", kReduceMeanRows}});
}

}  // namespace nnefc::runtime::onednn
