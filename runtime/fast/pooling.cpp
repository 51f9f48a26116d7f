// MaxPool and AvgPool, and the equivalent ReduceMean and ReduceMax over all pixels of blocked channels.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/int8_pooling.h"
#include "runtime/fast/pointwise/bf16_pooling.h"
#include "runtime/fast/pointwise/blocked_pooling.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/window.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using dnnl::memory;

struct PoolingDims {
  memory::dims strides, kernel, before, after;
};

// Pools quantized values if `codes` is not null; its quantization must be increasing.
std::optional<PreparedKernel> MakePooling(const KernelRequest& request, algorithm algorithm,
                                          const PoolingDims& dims, const DnnQuantization* codes = nullptr) {
  using dnnl::pooling_forward;
  const memory::desc input = DescOf(request.inputs[0]);
  const memory::desc source = codes != nullptr ? QuantizedDesc(input) : input;
  const pooling_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, source,
                                   AnyDesc(request.outputs[0].shape, TypeOf(source)), dims.strides,
                                   dims.kernel, dims.before, dims.after);
  const pooling_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  if (codes != nullptr) {
    builder.AddQuantizedInput(DNNL_ARG_SRC, 0, primitive.src_desc(), *codes);
    builder.AddQuantizedOutput(DNNL_ARG_DST, 0, primitive.dst_desc(), *codes);
  } else {
    builder.AddInput(DNNL_ARG_SRC, 0, primitive.src_desc());
    builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  }
  return builder.Finish(pooling_forward(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

// Offsets of elements in a memory with at most one blocked axis, the channels.
class Places {
 public:
  static std::optional<Places> Make(const memory::desc& desc) {
    const dnnl_memory_desc_t& data = desc.data;
    if (data.format_kind != dnnl_blocked || data.offset0 != 0) return std::nullopt;
    const dnnl_blocking_desc_t& blocking = data.format_desc.blocking;
    if (blocking.inner_nblks > 1 || (blocking.inner_nblks == 1 && blocking.inner_idxs[0] != 1))
      return std::nullopt;
    Places places;
    if (blocking.inner_nblks == 1) places.block_ = blocking.inner_blks[0];
    places.batch_ = blocking.strides[0];
    places.channel_ = blocking.strides[1];
    // Spatial axes occupy the last of three entries.
    for (int i = 2; i < data.ndims; ++i)
      places.spatial_[static_cast<size_t>(i + 3 - data.ndims)] = blocking.strides[i];
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
  Window window;
  Places input, output;
  int64_t output_elements;  // including channel padding
};

template <typename Element>
class MaxPoolKernel final : public Kernel {
 public:
  MaxPoolKernel(std::shared_ptr<const Kernel> primitive, const MaxPoolShape& shape)
      : primitive_(std::move(primitive)), shape_(shape) {}

  std::string implementation() const override { return primitive_->implementation(); }
  std::unique_ptr<KernelState> NewState() const override { return primitive_->NewState(); }
  FaultOr<Success> Run(const KernelRun& run) const override {
    FaultOr<Success> done = primitive_->Run(run);
    if (!done.ok()) return done;
    const Element* input = reinterpret_cast<const Element*>(run.input(0).bytes());
    Element* output = reinterpret_cast<Element*>(run.output().mutable_bytes());
    if (!HasLowest(output)) return done;
    ParallelFor(shape_.batch * shape_.channels, Volume(), [&](int64_t plane) {
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
    ParallelParts(shape_.output_elements, [&](int64_t begin, int64_t end) {
      int32_t lowest = 0;
      Vectorized([&] {
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
      const WindowAxis& of = shape_.window[axis];
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

  std::shared_ptr<const Kernel> primitive_;
  const MaxPoolShape shape_;
};

// Returns true if a window is entirely in the border: no quantized value represents its maximum.
bool HasEmptyWindow(const Window& window) {
  return llvm::any_of(window, [](const WindowAxis& axis) {
    return axis.before >= axis.size || (axis.output - 1) * axis.stride - axis.before >= axis.input;
  });
}

// Pools bf16 images in NHWC.
std::optional<PreparedKernel> MakeBf16Pool(const KernelRequest& request, const Window& window) {
  const memory::desc input = DescOf(request.inputs[0]);
  const WindowAxis& planes = window[0];
  if (TypeOf(input) != DnnType::bf16 || !IsChannelsLast(input)) return std::nullopt;
  if (planes.input != 1 || planes.output != 1 || planes.size != 1) return std::nullopt;
  PreparedKernel prepared;
  prepared.kernel = MakeBf16MaxPool(
      {.batch = request.inputs[0].shape[0], .channels = request.inputs[0].shape[1], .window = window});
  prepared.inputs.push_back(request.inputs[0].layout);
  prepared.outputs.resize(request.outputs.size());
  prepared.outputs[0] = LayoutOf(ChannelsLastDesc(request.outputs[0].shape, DnnType::bf16));
  return prepared;
}

std::optional<PreparedKernel> MakeMaxPool(const KernelRequest& request, const PoolingDims& dims,
                                          const Window& window) {
  const DnnQuantization* codes = QuantizationOf(request.inputs[0]);
  if (codes != nullptr && !HasEmptyWindow(window)) {
    if (auto kernel = MakeInt8MaxPool(request, window, *codes)) return kernel;
    if (auto kernel = MakePooling(request, algorithm::pooling_max, dims, codes)) return kernel;
  }
  if (auto kernel = MakeBf16Pool(request, window)) return kernel;
  std::optional<PreparedKernel> prepared = MakePooling(request, algorithm::pooling_max, dims);
  if (!prepared) return std::nullopt;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const memory::desc source = DescOf(prepared->inputs[0], input);
  const memory::desc result = DescOf(prepared->outputs[0], request.outputs[0].shape);
  const std::optional<Places> source_places = Places::Make(source);
  const std::optional<Places> result_places = Places::Make(result);
  if (!source_places || !result_places) return std::nullopt;
  const bool is_half = TypeOf(result) == DnnType::bf16;
  const size_t bytes = is_half ? sizeof(Bf16) : sizeof(float);
  const MaxPoolShape shape{.batch = input[0],
                           .channels = input[1],
                           .window = window,
                           .input = *source_places,
                           .output = *result_places,
                           .output_elements = static_cast<int64_t>(result.get_size() / bytes)};
  if (is_half) {
    prepared->kernel = std::make_shared<MaxPoolKernel<Bf16>>(prepared->kernel, shape);
  } else {
    prepared->kernel = std::make_shared<MaxPoolKernel<float>>(prepared->kernel, shape);
  }
  return prepared;
}

std::optional<PreparedKernel> MakePool(const KernelRequest& request) {
  if (!request.posts.empty() || !DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0]))
    return std::nullopt;
  // Indices of maxima are only supported by the reference kernel.
  if (request.outputs.size() > 1 && !request.node->uses(1).empty()) return std::nullopt;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const llvm::ArrayRef<int64_t> output = request.outputs[0].shape;
  const bool average = request.node->info().FindAttribute("exclude-pad") != nullptr;
  // Sums of larger windows need the reference kernel's 64 bits: in 32 bits they are wrong by percents.
  constexpr int64_t kMaxItems = 4096;
  int64_t items = 1;
  for (int64_t extent : request.node->Ints("kernel")) items *= std::min(extent, kMaxItems + 1);
  if (average && items > kMaxItems) return std::nullopt;
  const bool exclude_pad = average && request.node->Bool("exclude-pad");
  const Window window =
      MakeWindow(*request.node, input.drop_front(2), output.drop_front(2), request.node->Ints("kernel"));
  const PoolingKind pooled = !average      ? PoolingKind::kMaximum
                             : exclude_pad ? PoolingKind::kAverageExcludingPadding
                                           : PoolingKind::kAverageIncludingPadding;
  if (auto kernel = MakeBlockedPooling(request, pooled, window)) return kernel;
  PoolingDims dims;
  for (size_t i = 5 - input.size(); i < 3; ++i) {
    const WindowAxis& axis = window[i];
    // Extent of the last window beyond the input: possibly less than the requested padding or, if extents are
    // rounded up, more. An average that includes padding excludes elements beyond it.
    const int64_t after = (axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before;
    if (axis.dilation != 1 || (average && !exclude_pad && after > axis.after)) return std::nullopt;
    dims.strides.push_back(axis.stride);
    dims.kernel.push_back(axis.size);
    dims.before.push_back(axis.before);
    dims.after.push_back(after);
  }
  if (!average) return MakeMaxPool(request, dims, window);
  return MakePooling(
      request, exclude_pad ? algorithm::pooling_avg_exclude_padding : algorithm::pooling_avg_include_padding,
      dims);
}

// Pools all pixels of each channel.
template <PoolingKind kPooled>
std::optional<PreparedKernel> MakePoolOfPixels(const KernelRequest& request) {
  if (!request.posts.empty() || request.inputs[1].constant == nullptr) return std::nullopt;
  const ValueInfo& input = request.inputs[0];
  if (!DnnAccepts(input) || !DnnAccepts(request.outputs[0])) return std::nullopt;
  if (input.layout == nullptr) return std::nullopt;
  const int64_t rank = static_cast<int64_t>(input.shape.size());
  if (rank < 3 || rank > 5) return std::nullopt;
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  const TensorValue& axes = *request.inputs[1].constant;
  for (int64_t i = 0; i < axes.volume(); ++i)
    reduced[static_cast<size_t>(NormalAxis(axes.ElementAsInt(i), rank))] = true;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (reduced[static_cast<size_t>(axis)] != (axis >= 2)) return std::nullopt;
  }
  constexpr bool kIsMean = kPooled == PoolingKind::kAverageExcludingPadding;
  if (const DnnQuantization* codes = QuantizationOf(input))
    return kIsMean ? MakeInt8AveragePool(request, *codes) : std::nullopt;
  Window window;
  for (size_t i = 2; i < input.shape.size(); ++i) {
    const int64_t extent = input.shape[i];
    window[3 + i - input.shape.size()] = {.input = extent, .output = 1, .size = extent};
  }
  if (auto kernel = MakeBlockedPooling(request, kPooled, window)) return kernel;
  if (!kIsMean || !request.node->Bool("keep_dims")) return std::nullopt;
  const memory::dims zeros(static_cast<size_t>(rank) - 2, 0);
  const memory::dims ones(static_cast<size_t>(rank) - 2, 1);
  const memory::dims kernel(input.shape.begin() + 2, input.shape.end());
  return MakePooling(request, algorithm::pooling_avg_exclude_padding,
                     {.strides = ones, .kernel = kernel, .before = zeros, .after = zeros});
}

template <PoolingKind kPooled>
std::optional<PreparedKernel> MakeReduction(const KernelRequest& request) {
  if (auto kernel = GuardedDnnFactory<MakePoolOfPixels<kPooled>>(request)) return kernel;
  return kPooled == PoolingKind::kMaximum ? MakeRowMaximum(request) : MakeRowMean(request);
}

}  // namespace

void RegisterDnnPooling(KernelRegistry& registry) {
  registry.Add(Backend::kFast, {"opset1", "opset8"}, "MaxPool", GuardedDnnFactory<MakePool>);
  registry.Add(Backend::kFast, {"opset1"}, "AvgPool", GuardedDnnFactory<MakePool>);
  registry.Add(Backend::kFast, {"opset1"}, "ReduceMean",
               MakeReduction<PoolingKind::kAverageExcludingPadding>);
  registry.Add(Backend::kFast, {"opset1"}, "ReduceMax", MakeReduction<PoolingKind::kMaximum>);
}

}  // namespace nnefc::runtime
