#include "runtime/fast/elementwise.h"

#include <functional>

#include "runtime/fast/factories.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// out = function(a, b) for the whole memory of a layout.
template <typename Function>
class ElementwiseKernel final : public Kernel {
 public:
  explicit ElementwiseKernel(int64_t count) : count_(count) {}
  std::string implementation() const override { return "nnefc:elementwise"; }

  FaultOr<Success> Run(const KernelRun& run) const override {
    const auto* a = reinterpret_cast<const float*>(run.input(0).bytes());
    const auto* b = reinterpret_cast<const float*>(run.input(1).bytes());
    auto* out = reinterpret_cast<float*>(run.output().mutable_bytes());
    ParallelParts(count_, [=](int64_t begin, int64_t end) {
      Vectorized([=] {
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

std::shared_ptr<const Kernel> MakeElementwiseKernel(FunctionKind function, int64_t count) {
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
KernelOrReason MakeElements(const KernelRequest& request) {
  const BlockedFormat format = CommonFormatOf(request);
  if (!request.posts.empty()) return kHasFusedOperation;
  if (format.type != StorageType::kF32) return Reason("the operands are bf16");
  PreparedKernel prepared;
  prepared.kernel = MakeElementwiseKernel(*BinaryFunction(request.node->info().function),
                                          static_cast<int64_t>(format.byte_size() / sizeof(float)));
  if (prepared.kernel == nullptr) return Reason("quotients of layout padding are NaN");
  prepared.inputs = {LayoutOf(format), LayoutOf(format)};
  prepared.outputs = {LayoutOf(format)};
  prepared.in_place = 0;
  return prepared;
}

Reason IsAdd(const KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kAdd) ? Reason() : Reason("not an addition");
}
Reason IsMultiply(const KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kMultiply) ? Reason() : Reason("not a multiplication");
}
// --- tables ---------------------------------------------------------------------------

// The order in which kernels are tried: the first ones fuse more.
constexpr int kFusedCost = 10, kPerChannelCost = 30, kElementsCost = 40;
constexpr Implementation kBinary[] = {
    {"int8_sum", IsAdd, FixedCost<kFusedCost>, MakeQuantizedSum},
    {"scaled_pointwise_convolution", IsMultiply, FixedCost<kFusedCost>, MakeScaledPointwiseConvolution},
    {"per_channel", AlwaysApplies, FixedCost<kPerChannelCost>, MakePerChannelBinary},
    {"elementwise", EqualShapes, FixedCost<kElementsCost>, MakeElements}};
constexpr Implementation kGate[] = {{"vectorised", AlwaysApplies, FixedCost<kFusedCost>, MakeVectorizedGate}};
constexpr Implementation kCurve[] = {
    {"epilogue", AlwaysApplies, FixedCost<kFusedCost>, MakeEpilogueFunction}};
// A single slope makes PReLU an elementwise function.
constexpr Implementation kPRelu[] = {
    {"vectorised", AlwaysApplies, FixedCost<kFusedCost>, MakeVectorizedPRelu},
    {"per_channel", AlwaysApplies, FixedCost<kPerChannelCost>, MakePerChannelBinary}};

Reason ServesAllF32(const KernelRequest& request) {
  return AreDenseF32(request) ? Reason() : kNotF32;
}

const ImplementationTable kBinaryTables[] = {{"f32", ServesAllF32, kBinary}};
const ImplementationTable kGateTables[] = {{"f32", AlwaysApplies, kGate}};
const ImplementationTable kCurveTables[] = {{"f32", AlwaysApplies, kCurve}};
const ImplementationTable kPReluTables[] = {{"f32", AlwaysApplies, kPRelu}};

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

BlockedFormat CommonFormatOf(const KernelRequest& request) {
  return FormatOf(request.inputs[request.inputs[0].layout != nullptr ? 0 : 1]);
}

Reason EqualShapes(const KernelRequest& request) {
  return request.inputs[0].shape == request.inputs[1].shape ? Reason() : Reason("a broadcast operand");
}

void AddFastElementwise(FastTables& tables) {
  tables.Add({"opset1"}, "PReLU", kPReluTables);
  tables.Add({"opset1"}, "Elu", kCurveTables);
  for (std::string_view name : {"Sigmoid", "Tanh"}) tables.Add({"opset1"}, name, kGateTables);
  for (std::string_view name : {"Swish", "HSwish", "Mish"}) tables.Add({"opset4"}, name, kCurveTables);
  tables.Add({"opset4"}, "SoftPlus", TableOf<MakeEpilogueFunction>("epilogue"));
  tables.Add({"opset2", "opset7"}, "Gelu", kCurveTables);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"})
    tables.Add({"opset1"}, name, kBinaryTables);
}

}  // namespace nnefc::runtime
