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
#include "runtime/fast/reasons.h"
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
KernelOrReason MakePooling(const KernelRequest& request, algorithm algorithm, const PoolingDims& dims,
                           const DnnQuantization* codes = nullptr) {
  using dnnl::pooling_forward;
  const memory::desc input = DescOf(request.inputs[0]);
  const memory::desc source = codes != nullptr ? QuantizedDesc(input) : input;
  const pooling_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, source,
                                   AnyDesc(request.outputs[0].shape, TypeOf(source)), dims.strides,
                                   dims.kernel, dims.before, dims.after);
  const pooling_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
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

// --- windows --------------------------------------------------------------------------

bool IsAverage(const KernelRequest& request) {
  return request.node->info().FindAttribute("exclude-pad") != nullptr;
}

PoolingKind PoolingKindOf(const KernelRequest& request) {
  if (!IsAverage(request)) return PoolingKind::kMaximum;
  return request.node->Bool("exclude-pad") ? PoolingKind::kAverageExcludingPadding
                                           : PoolingKind::kAverageIncludingPadding;
}

Window PoolingWindowOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape, output = request.outputs[0].shape;
  return MakeWindow(*request.node, input.drop_front(2), output.drop_front(2), request.node->Ints("kernel"));
}

OrReason<PoolingDims> PoolingDimsOf(const KernelRequest& request) {
  const Window window = PoolingWindowOf(request);
  PoolingDims dims;
  for (size_t i = 5 - request.inputs[0].shape.size(); i < 3; ++i) {
    const WindowAxis& axis = window[i];
    // Extent of the last window beyond the input: possibly less than the requested padding or, if extents are
    // rounded up, more. An average that includes padding excludes elements beyond it.
    const int64_t after = (axis.output - 1) * axis.stride + axis.reach() - axis.input - axis.before;
    if (axis.dilation != 1) return Reason("dilation {}", axis.dilation);
    if (PoolingKindOf(request) == PoolingKind::kAverageIncludingPadding && after > axis.after)
      return Reason("a window that ends after the padding");
    dims.strides.push_back(axis.stride);
    dims.kernel.push_back(axis.size);
    dims.before.push_back(axis.before);
    dims.after.push_back(after);
  }
  return dims;
}

// --- implementations ------------------------------------------------------------------

Reason BlockedWindowsApply(const KernelRequest& request) {
  return BlockedPoolingApplies(request, PoolingKindOf(request), PoolingWindowOf(request));
}
KernelOrReason MakeBlocked(const KernelRequest& request) {
  return MakeBlockedPooling(request, PoolingKindOf(request), PoolingWindowOf(request));
}

// Pools bf16 images in NHWC.
Reason Bf16MaxApplies(const KernelRequest& request) {
  const memory::desc input = DescOf(request.inputs[0]);
  if (TypeOf(input) != DnnType::bf16 || !IsChannelsLast(input)) return Reason("the input is not bf16 NHWC");
  const Window window = PoolingWindowOf(request);
  const WindowAxis& planes = window[0];
  if (planes.input != 1 || planes.output != 1 || planes.size != 1) return Reason("windows of three axes");
  return PoolingDimsOf(request).reason();
}
KernelOrReason MakeBf16Max(const KernelRequest& request) {
  PreparedKernel prepared;
  prepared.kernel = MakeBf16MaxPool({.batch = request.inputs[0].shape[0],
                                     .channels = request.inputs[0].shape[1],
                                     .window = PoolingWindowOf(request)});
  prepared.inputs.push_back(request.inputs[0].layout);
  prepared.outputs.resize(request.outputs.size());
  prepared.outputs[0] = LayoutOf(ChannelsLastDesc(request.outputs[0].shape, DnnType::bf16));
  return prepared;
}

Reason Int8MaxApplies(const KernelRequest& request) {
  if (QuantizationOf(request.inputs[0]) == nullptr) return Reason("the input is not quantized");
  if (HasEmptyWindow(PoolingWindowOf(request)))
    return Reason("a window in the border has no quantized maximum");
  return PoolingDimsOf(request).reason();
}
KernelOrReason MakeInt8Max(const KernelRequest& request) {
  return MakeInt8MaxPool(request, PoolingWindowOf(request), *QuantizationOf(request.inputs[0]));
}
KernelOrReason MakeDnnInt8Max(const KernelRequest& request) {
  return MakePooling(request, algorithm::pooling_max, *PoolingDimsOf(request),
                     QuantizationOf(request.inputs[0]));
}

Reason DnnPoolingApplies(const KernelRequest& request) {
  return PoolingDimsOf(request).reason();
}
KernelOrReason MakeDnnMax(const KernelRequest& request) {
  KernelOrReason prepared = MakePooling(request, algorithm::pooling_max, *PoolingDimsOf(request));
  if (!prepared) return prepared;
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape;
  const memory::desc source = DescOf(prepared->inputs[0], input);
  const memory::desc result = DescOf(prepared->outputs[0], request.outputs[0].shape);
  const std::optional<Places> source_places = Places::Make(source);
  const std::optional<Places> result_places = Places::Make(result);
  if (!source_places || !result_places) return Reason("oneDNN needs a layout with several blocked axes");
  const bool is_half = TypeOf(result) == DnnType::bf16;
  const size_t bytes = is_half ? sizeof(Bf16) : sizeof(float);
  const MaxPoolShape shape{.batch = input[0],
                           .channels = input[1],
                           .window = PoolingWindowOf(request),
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
KernelOrReason MakeDnnAverage(const KernelRequest& request) {
  const bool excludes = PoolingKindOf(request) == PoolingKind::kAverageExcludingPadding;
  return MakePooling(
      request, excludes ? algorithm::pooling_avg_exclude_padding : algorithm::pooling_avg_include_padding,
      *PoolingDimsOf(request));
}

// --- reductions over all pixels -------------------------------------------------------

// Returns the reason if a reduction does not have all pixels of each channel.
Reason ReducesPixels(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  if (request.inputs[1].constant == nullptr) return Reason("the axes are not constant");
  const ValueInfo& input = request.inputs[0];
  if (!DnnAccepts(input) || !DnnAccepts(request.outputs[0])) return kNotF32;
  if (input.layout == nullptr) return Reason("the input is row-major");
  const int64_t rank = static_cast<int64_t>(input.shape.size());
  if (rank < 3 || rank > 5) return Reason("{} spatial axes", rank - 2);
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  const TensorValue& axes = *request.inputs[1].constant;
  for (int64_t i = 0; i < axes.volume(); ++i)
    reduced[static_cast<size_t>(NormalAxis(axes.ElementAsInt(i), rank))] = true;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (reduced[static_cast<size_t>(axis)] != (axis >= 2))
      return Reason("other axes than those of the pixels");
  }
  return Reason();
}

Window WindowOfPixels(const Shape& input) {
  Window window;
  for (size_t i = 2; i < input.size(); ++i)
    window[3 + i - input.size()] = {.input = input[i], .output = 1, .size = input[i]};
  return window;
}

template <PoolingKind kPooled>
Reason BlockedReductionApplies(const KernelRequest& request) {
  if (const Reason reason = ReducesPixels(request); !reason.empty()) return reason;
  if (QuantizationOf(request.inputs[0]) != nullptr) return Reason("the input is quantized");
  return BlockedPoolingApplies(request, kPooled, WindowOfPixels(request.inputs[0].shape));
}
template <PoolingKind kPooled>
KernelOrReason MakeBlockedReduction(const KernelRequest& request) {
  return MakeBlockedPooling(request, kPooled, WindowOfPixels(request.inputs[0].shape));
}

Reason Int8MeanApplies(const KernelRequest& request) {
  if (QuantizationOf(request.inputs[0]) == nullptr) return Reason("the input is not quantized");
  return ReducesPixels(request);
}
KernelOrReason MakeInt8Mean(const KernelRequest& request) {
  return MakeInt8AveragePool(request, *QuantizationOf(request.inputs[0]));
}

Reason DnnMeanApplies(const KernelRequest& request) {
  if (const Reason reason = ReducesPixels(request); !reason.empty()) return reason;
  if (QuantizationOf(request.inputs[0]) != nullptr) return Reason("the input is quantized");
  return request.node->Bool("keep_dims") ? Reason() : Reason("the result has fewer axes");
}
KernelOrReason MakeDnnMean(const KernelRequest& request) {
  const Shape& input = request.inputs[0].shape;
  const memory::dims zeros(input.size() - 2, 0), ones(input.size() - 2, 1);
  const memory::dims kernel(input.begin() + 2, input.end());
  try {
    return MakePooling(request, algorithm::pooling_avg_exclude_padding,
                       {.strides = ones, .kernel = kernel, .before = zeros, .after = zeros});
  } catch (const dnnl::error&) {
    return kNotInDnn;
  }
}

// --- tables ---------------------------------------------------------------------------

constexpr int kInt8Cost = 100, kDnnInt8PoolingCost = 150, kDnnPoolingCost = 200, kRowReductionCost = 300;
constexpr Implementation kBlockedRow{"blocked", BlockedWindowsApply, BlockedPoolingCost, MakeBlocked};
constexpr Implementation kMaxPool[] = {
    kBlockedRow,
    {"int8", Int8MaxApplies, FixedCost<kInt8Cost>, MakeInt8Max},
    {"onednn_int8", Int8MaxApplies, FixedCost<kDnnInt8PoolingCost>, MakeDnnInt8Max},
    {"bf16", Bf16MaxApplies, FixedCost<kDnnInt8PoolingCost>, MakeBf16Max},
    {"onednn", DnnPoolingApplies, FixedCost<kDnnPoolingCost>, MakeDnnMax}};
constexpr Implementation kAveragePool[] = {
    kBlockedRow, {"onednn", DnnPoolingApplies, FixedCost<kDnnPoolingCost>, MakeDnnAverage}};
constexpr Implementation kReduceMean[] = {
    {"int8", Int8MeanApplies, FixedCost<kInt8Cost>, MakeInt8Mean},
    {"blocked", BlockedReductionApplies<PoolingKind::kAverageExcludingPadding>, BlockedPoolingCost,
     MakeBlockedReduction<PoolingKind::kAverageExcludingPadding>},
    {"onednn", DnnMeanApplies, FixedCost<kDnnPoolingCost>, MakeDnnMean},
    {"rows", AlwaysApplies, FixedCost<kRowReductionCost>, MakeRowMean}};
constexpr Implementation kReduceMax[] = {
    {"blocked", BlockedReductionApplies<PoolingKind::kMaximum>, BlockedPoolingCost,
     MakeBlockedReduction<PoolingKind::kMaximum>},
    {"rows", AlwaysApplies, FixedCost<kRowReductionCost>, MakeRowMaximum}};

Reason PoolingServes(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  if (!DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0])) return kNotF32;
  // Indices of maxima are only supported by the reference kernel.
  if (request.outputs.size() > 1 && !request.node->uses(1).empty())
    return Reason("the indices of the maxima are read");
  // Sums of larger windows need the reference kernel's 64 bits: in 32 bits they are wrong by percents.
  constexpr int64_t kMaxItems = 4096;
  int64_t items = 1;
  for (int64_t extent : request.node->Ints("kernel")) items *= std::min(extent, kMaxItems + 1);
  if (IsAverage(request) && items > kMaxItems)
    return Reason("an average of {} elements, more than {}", items, kMaxItems);
  return Reason();
}

const ImplementationTable kMaxPoolTables[] = {{"f32", PoolingServes, kMaxPool}};
const ImplementationTable kAveragePoolTables[] = {{"f32", PoolingServes, kAveragePool}};
const ImplementationTable kReduceMeanTables[] = {{"f32", AlwaysApplies, kReduceMean}};
const ImplementationTable kReduceMaxTables[] = {{"f32", AlwaysApplies, kReduceMax}};

}  // namespace

void RegisterDnnPooling(KernelRegistry& registry) {
  AddDnnTables(registry, {"opset1", "opset8"}, "MaxPool", kMaxPoolTables);
  AddDnnTables(registry, {"opset1"}, "AvgPool", kAveragePoolTables);
  AddDnnTables(registry, {"opset1"}, "ReduceMean", kReduceMeanTables);
  AddDnnTables(registry, {"opset1"}, "ReduceMax", kReduceMaxTables);
}

}  // namespace nnefc::runtime
