// The implementation tables of pooling operations.

#include "runtime/fast/pooling.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/images/int8_pooling.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/pointwise/bf16_pooling.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::fast {

using kernels::KernelRequest;
using kernels::Reason;
using pointwise::PoolingKind;

namespace {

// Returns true if a window is entirely in the border: no quantized value represents its maximum.
bool HasEmptyWindow(const kernels::Window& window) {
  return llvm::any_of(window, [](const kernels::WindowAxis& axis) {
    return axis.before >= axis.size || (axis.output - 1) * axis.stride - axis.before >= axis.input;
  });
}

bool IsAverage(const KernelRequest& request) {
  return request.node->info().FindAttribute("exclude-pad") != nullptr;
}

// --- implementations ------------------------------------------------------------------

Reason BlockedWindowsApply(const KernelRequest& request) {
  return pointwise::BlockedPoolingApplies(request, PoolingKindOf(request), PoolingWindowOf(request));
}
kernels::KernelOrReason MakeBlocked(const KernelRequest& request) {
  return pointwise::MakeBlockedPooling(request, PoolingKindOf(request), PoolingWindowOf(request));
}

// Pools bf16 images in NHWC.
Reason Bf16MaxApplies(const KernelRequest& request) {
  const memory::BlockedFormat input = memory::FormatOf(request.inputs[0]);
  if (input.type != memory::StorageType::kBf16 || !memory::IsChannelsLast(input))
    return Reason("the input is not bf16 NHWC");
  const kernels::Window window = PoolingWindowOf(request);
  const kernels::WindowAxis& planes = window[0];
  if (planes.input != 1 || planes.output != 1 || planes.size != 1) return Reason("windows of three axes");
  return PoolingDimsOf(request).reason();
}
kernels::KernelOrReason MakeBf16Max(const KernelRequest& request) {
  kernels::PreparedKernel prepared;
  prepared.kernel = pointwise::MakeBf16MaxPool({.batch = request.inputs[0].shape[0],
                                                .channels = request.inputs[0].shape[1],
                                                .window = PoolingWindowOf(request)});
  prepared.inputs.push_back(request.inputs[0].layout);
  prepared.outputs.resize(request.outputs.size());
  prepared.outputs[0] =
      memory::LayoutOf(memory::ChannelsLastFormat(request.outputs[0].shape, memory::StorageType::kBf16));
  return prepared;
}

kernels::KernelOrReason MakeInt8Max(const KernelRequest& request) {
  return int8::MakeInt8MaxPool(request, PoolingWindowOf(request), *memory::QuantizationOf(request.inputs[0]));
}
// --- reductions over all pixels -------------------------------------------------------

kernels::Window WindowOfPixels(const Shape& input) {
  kernels::Window window;
  for (size_t i = 2; i < input.size(); ++i)
    window[3 + i - input.size()] = {.input = input[i], .output = 1, .size = input[i]};
  return window;
}

template <PoolingKind kPooled>
Reason BlockedReductionApplies(const KernelRequest& request) {
  if (const Reason reason = ReducesPixels(request); !reason.empty()) return reason;
  if (memory::QuantizationOf(request.inputs[0]) != nullptr) return Reason("the input is quantized");
  return pointwise::BlockedPoolingApplies(request, kPooled, WindowOfPixels(request.inputs[0].shape));
}
template <PoolingKind kPooled>
kernels::KernelOrReason MakeBlockedReduction(const KernelRequest& request) {
  return pointwise::MakeBlockedPooling(request, kPooled, WindowOfPixels(request.inputs[0].shape));
}

Reason Int8ReductionApplies(const KernelRequest& request) {
  if (memory::QuantizationOf(request.inputs[0]) == nullptr) return Reason("the input is not quantized");
  return ReducesPixels(request);
}
kernels::KernelOrReason MakeInt8Mean(const KernelRequest& request) {
  return int8::MakeInt8AveragePool(request, *memory::QuantizationOf(request.inputs[0]));
}
kernels::KernelOrReason MakeInt8Maximum(const KernelRequest& request) {
  return int8::MakeInt8GlobalMaxPool(request, *memory::QuantizationOf(request.inputs[0]));
}

// --- tables ---------------------------------------------------------------------------

constexpr int kInt8Cost = 100, kBf16Cost = 150, kRowReductionCost = 300;
constexpr kernels::Implementation kBlockedRow{"blocked", BlockedWindowsApply, pointwise::BlockedPoolingCost,
                                              MakeBlocked};
constexpr kernels::Implementation kMaxPool[] = {
    kBlockedRow,
    {"int8", Int8MaxApplies, kernels::FixedCost<kInt8Cost>, MakeInt8Max},
    {"bf16", Bf16MaxApplies, kernels::FixedCost<kBf16Cost>, MakeBf16Max}};
constexpr kernels::Implementation kAveragePool[] = {kBlockedRow};
constexpr kernels::Implementation kReduceMean[] = {
    {"int8", Int8ReductionApplies, kernels::FixedCost<kInt8Cost>, MakeInt8Mean},
    {"blocked", BlockedReductionApplies<PoolingKind::kAverageExcludingPadding>, pointwise::BlockedPoolingCost,
     MakeBlockedReduction<PoolingKind::kAverageExcludingPadding>},
    {"rows", kernels::AlwaysApplies, kernels::FixedCost<kRowReductionCost>, pointwise::MakeRowMean}};
constexpr kernels::Implementation kReduceMax[] = {
    {"int8", Int8ReductionApplies, kernels::FixedCost<kInt8Cost>, MakeInt8Maximum},
    {"blocked", BlockedReductionApplies<PoolingKind::kMaximum>, pointwise::BlockedPoolingCost,
     MakeBlockedReduction<PoolingKind::kMaximum>},
    {"rows", kernels::AlwaysApplies, kernels::FixedCost<kRowReductionCost>, pointwise::MakeRowMaximum}};

Reason PoolingServes(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  if (!memory::IsDenseF32(request.inputs[0]) || !memory::IsDenseF32(request.outputs[0])) return kNotF32;
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

const kernels::ImplementationTable kMaxPoolTables[] = {{"f32", PoolingServes, kMaxPool}};
const kernels::ImplementationTable kAveragePoolTables[] = {{"f32", PoolingServes, kAveragePool}};
const kernels::ImplementationTable kReduceMeanTables[] = {{"f32", kernels::AlwaysApplies, kReduceMean}};
const kernels::ImplementationTable kReduceMaxTables[] = {{"f32", kernels::AlwaysApplies, kReduceMax}};

}  // namespace

PoolingKind PoolingKindOf(const KernelRequest& request) {
  if (!IsAverage(request)) return PoolingKind::kMaximum;
  return request.node->Bool("exclude-pad") ? PoolingKind::kAverageExcludingPadding
                                           : PoolingKind::kAverageIncludingPadding;
}

kernels::Window PoolingWindowOf(const KernelRequest& request) {
  const llvm::ArrayRef<int64_t> input = request.inputs[0].shape, output = request.outputs[0].shape;
  return kernels::MakeWindow(*request.node, input.drop_front(2), output.drop_front(2),
                             request.node->Ints("kernel"));
}

kernels::OrReason<PoolingDims> PoolingDimsOf(const KernelRequest& request) {
  const kernels::Window window = PoolingWindowOf(request);
  PoolingDims dims;
  for (size_t i = 5 - request.inputs[0].shape.size(); i < 3; ++i) {
    const kernels::WindowAxis& axis = window[i];
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

Reason Int8MaxApplies(const KernelRequest& request) {
  if (memory::QuantizationOf(request.inputs[0]) == nullptr) return Reason("the input is not quantized");
  if (HasEmptyWindow(PoolingWindowOf(request)))
    return Reason("a window in the border has no quantized maximum");
  return PoolingDimsOf(request).reason();
}

Reason ReducesPixels(const KernelRequest& request) {
  if (!request.posts.empty()) return Reason("a fused operation");
  if (request.inputs[1].constant == nullptr) return Reason("the axes are not constant");
  const kernels::ValueInfo& input = request.inputs[0];
  if (!memory::IsDenseF32(input) || !memory::IsDenseF32(request.outputs[0])) return kNotF32;
  if (input.layout == nullptr) return Reason("the input is row-major");
  const int64_t rank = static_cast<int64_t>(input.shape.size());
  if (rank < 3 || rank > 5) return Reason("{} spatial axes", rank - 2);
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  const TensorValue& axes = *request.inputs[1].constant;
  for (int64_t i = 0; i < axes.volume(); ++i)
    reduced[static_cast<size_t>(kernels::NormalAxis(axes.ElementAsInt(i), rank))] = true;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (reduced[static_cast<size_t>(axis)] != (axis >= 2))
      return Reason("other axes than those of the pixels");
  }
  return Reason();
}

void AddFastPooling(FastTables& tables) {
  tables.Add({"opset1", "opset8", "opset14"}, "MaxPool", kMaxPoolTables);
  tables.Add({"opset1", "opset14", "opset16"}, "AvgPool", kAveragePoolTables);
  tables.Add({"opset1"}, "ReduceMean", kReduceMeanTables);
  tables.Add({"opset1"}, "ReduceMax", kReduceMaxTables);
}

}  // namespace nnefc::runtime::fast
