// The implementation tables of elementwise operations.

#include "runtime/fast/elementwise.h"

#include <functional>

#include "runtime/fast/factories.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast {

using gemm::FunctionKind;
using kernels::AlwaysApplies;
using kernels::FixedCost;
using kernels::Reason;

namespace {

// out = function(a, b) for the whole memory of a layout.
template <typename Function>
class ElementwiseKernel final : public kernels::Kernel {
 public:
  explicit ElementwiseKernel(int64_t count) : count_(count) {}
  std::string implementation() const override { return "nnefc:elementwise"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* a = reinterpret_cast<const float*>(run.input(0).bytes());
    const auto* b = reinterpret_cast<const float*>(run.input(1).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    tensor::ParallelParts(count_, [=](int64_t begin, int64_t end) {
      simd::Vectorized([=] {
        for (int64_t i = begin; i < end; ++i) out[i] = Function()(a[i], b[i]);
      });
    });
    return Success();
  }

 private:
  int64_t count_;
};

// If the first operand is NaN the result is the second one, as in the reference backend.
struct SmallerNumber {
  [[gnu::always_inline]] float operator()(float a, float b) const { return a < b ? a : b; }
};
struct LargerNumber {
  [[gnu::always_inline]] float operator()(float a, float b) const { return a > b ? a : b; }
};

std::shared_ptr<const kernels::Kernel> MakeElementwiseKernel(FunctionKind function, int64_t count) {
  switch (function) {
    case FunctionKind::kAdd:
      return std::make_shared<ElementwiseKernel<std::plus<float>>>(count);
    case FunctionKind::kSubtract:
      return std::make_shared<ElementwiseKernel<std::minus<float>>>(count);
    case FunctionKind::kMultiply:
      return std::make_shared<ElementwiseKernel<std::multiplies<float>>>(count);
    case FunctionKind::kMinimum:
      return std::make_shared<ElementwiseKernel<SmallerNumber>>(count);
    case FunctionKind::kMaximum:
      return std::make_shared<ElementwiseKernel<LargerNumber>>(count);
    default:
      return nullptr;  // quotients of layout padding are NaN
  }
}

// --- two operands ---------------------------------------------------------------------

// The whole memory of both operands, including padding.
kernels::KernelOrReason MakeElements(const kernels::KernelRequest& request) {
  const memory::BlockedFormat format = CommonFormatOf(request);
  if (!request.posts.empty()) return kHasFusedOperation;
  if (format.type != memory::StorageType::kF32) return Reason("the operands are bf16");
  kernels::PreparedKernel prepared;
  prepared.kernel = MakeElementwiseKernel(*BinaryFunction(request.node->info().function),
                                          static_cast<int64_t>(format.byte_size() / sizeof(float)));
  if (prepared.kernel == nullptr) return Reason("quotients of layout padding are NaN");
  prepared.inputs = {memory::LayoutOf(format), memory::LayoutOf(format)};
  prepared.outputs = {memory::LayoutOf(format)};
  prepared.in_place = 0;
  return prepared;
}

Reason IsAdd(const kernels::KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kAdd) ? Reason() : Reason("not an addition");
}
Reason IsMultiply(const kernels::KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kMultiply) ? Reason() : Reason("not a multiplication");
}
Reason IsSubtract(const kernels::KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kSubtract) ? Reason() : Reason("not a subtraction");
}
// --- tables ---------------------------------------------------------------------------

// The order in which kernels are tried: the first ones fuse more.
constexpr int kFusedCost = 10, kPerChannelCost = 30, kElementsCost = 40;
constexpr kernels::Implementation kBinary[] = {
    {"int8_sum", IsAdd, FixedCost<kFusedCost>, int8::MakeQuantizedSum},
    {"int8_scale", IsMultiply, FixedCost<kFusedCost>, int8::MakeQuantizedScale},
    {"scaled_images", IsMultiply, FixedCost<kFusedCost>, int8::MakeScaledImages},
    {"scaled_pointwise_convolution", IsMultiply, FixedCost<kFusedCost>, MakeScaledPointwiseConvolution},
    {"int8_zero_points", IsSubtract, FixedCost<kFusedCost>, MakeZeroPointConvolution},
    {"per_channel", AlwaysApplies, FixedCost<kPerChannelCost>, pointwise::MakePerChannelBinary},
    {"elementwise", EqualShapes, FixedCost<kElementsCost>, MakeElements}};
constexpr kernels::Implementation kGate[] = {
    {"vectorised", AlwaysApplies, FixedCost<kFusedCost>, pointwise::MakeVectorizedGate}};
constexpr kernels::Implementation kCurve[] = {
    {"epilogue", AlwaysApplies, FixedCost<kFusedCost>, pointwise::MakeEpilogueFunction}};
// A single slope makes PReLU an elementwise function.
constexpr kernels::Implementation kPRelu[] = {
    {"vectorised", AlwaysApplies, FixedCost<kFusedCost>, pointwise::MakeVectorizedPRelu},
    {"per_channel", AlwaysApplies, FixedCost<kPerChannelCost>, pointwise::MakePerChannelBinary}};

Reason ServesAllF32(const kernels::KernelRequest& request) {
  return memory::AreDenseF32(request) ? Reason() : kNotF32;
}

const kernels::ImplementationTable kBinaryTables[] = {{"f32", ServesAllF32, kBinary}};
const kernels::ImplementationTable kGateTables[] = {{"f32", AlwaysApplies, kGate}};
const kernels::ImplementationTable kCurveTables[] = {{"f32", AlwaysApplies, kCurve}};
const kernels::ImplementationTable kPReluTables[] = {{"f32", AlwaysApplies, kPRelu}};

}  // namespace

std::optional<FunctionKind> BinaryFunction(ir::ElementFunction function) {
  switch (function) {
    case ir::ElementFunction::kAdd:
      return FunctionKind::kAdd;
    case ir::ElementFunction::kSubtract:
      return FunctionKind::kSubtract;
    case ir::ElementFunction::kMultiply:
      return FunctionKind::kMultiply;
    case ir::ElementFunction::kDivide:
      return FunctionKind::kDivide;
    case ir::ElementFunction::kMinimum:
      return FunctionKind::kMinimum;
    case ir::ElementFunction::kMaximum:
      return FunctionKind::kMaximum;
    default:
      return std::nullopt;
  }
}

memory::BlockedFormat CommonFormatOf(const kernels::KernelRequest& request) {
  return memory::FormatOf(request.inputs[request.inputs[0].layout != nullptr ? 0 : 1]);
}

Reason EqualShapes(const kernels::KernelRequest& request) {
  return request.inputs[0].shape == request.inputs[1].shape ? Reason() : Reason("a broadcast operand");
}

void AddFastElementwise(FastTables& tables) {
  tables.Add({"opset1"}, "PReLU", kPReluTables);
  tables.Add({"opset1"}, "Elu", kCurveTables);
  for (std::string_view name : {"Sigmoid", "Tanh"}) tables.Add({"opset1"}, name, kGateTables);
  for (std::string_view name : {"Swish", "HSwish", "Mish"}) tables.Add({"opset4"}, name, kCurveTables);
  tables.Add({"opset4"}, "SoftPlus", TableOf<pointwise::MakeEpilogueFunction>("epilogue"));
  tables.Add({"opset2", "opset7"}, "Gelu", kCurveTables);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"})
    tables.Add({"opset1"}, name, kBinaryTables);
}

}  // namespace nnefc::runtime::fast
