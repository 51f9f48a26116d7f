// Elementwise functions with one and two inputs, in the layout of the input.

#include <functional>

#include "runtime/fast/factories.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using dnnl::memory;

// An elementwise function.
KernelOrReason MakeFunction(const KernelRequest& request, const DnnFunction& function) {
  const memory::desc data = DescOf(request.inputs[0]);
  const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, function.algorithm, data,
                                         function.alpha, function.beta);
  const dnnl::eltwise_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(),
                                                        true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::eltwise_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

// With post-ops, the binary primitives of oneDNN 2.6 write past the end of blocked channels (DnnPostOpsTest)
// unless each block is full and a whole number of vectors.
bool OverrunsWithPosts(const memory::desc& result) {
  const dnnl_blocking_desc_t& blocking = result.data.format_desc.blocking;
  if (blocking.inner_nblks == 0) return false;
  const int64_t lanes = (HasAvx512() ? 16 : 8) * (TypeOf(result) == DnnType::bf16 ? 2 : 1);
  return IsPadded(result) || blocking.inner_nblks > 1 || blocking.inner_blks[0] % lanes != 0;
}

constexpr Reason kOverruns("oneDNN writes past the end of blocks that are not full");

// A binary algorithm with a scalar operand, followed by a function.
KernelOrReason MakeLimits(const KernelRequest& request, const DnnFunction& first, const DnnFunction& second) {
  // For row-major inputs the reference kernel is just as fast.
  if (request.inputs[0].layout == nullptr)
    return Reason("the reference kernel is as fast for row-major values");
  if (second.number) return Reason("two limits");
  const memory::desc data = DescOf(request.inputs[0]);
  if (OverrunsWithPosts(data)) return kOverruns;
  const memory::desc number = NumberDesc(request.inputs[0].shape.size());
  dnnl::post_ops post;
  post.append_eltwise(1.0f, second.algorithm, second.alpha, second.beta);
  dnnl::primitive_attr attributes = DnnKernelBuilder::Attributes();
  attributes.set_post_ops(post);
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(first.algorithm, data, number, data),
                                               attributes, DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, 0, data);
  builder.AddNumber(DNNL_ARG_SRC_1, *first.number, number);
  builder.AddOutput(DNNL_ARG_DST, 0, data);
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

KernelOrReason MakeEltwise(const KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0])) return kNotF32;
  DnnFunctions chain;
  if (!chain.Append(*request.node, 0, request.inputs.drop_front(1)))
    return Reason("oneDNN has no such function, or an operand is not one constant");
  const llvm::ArrayRef<DnnFunction> functions = chain.functions();
  if (functions.size() == 1 && !functions[0].number) return MakeFunction(request, functions[0]);
  if (functions.size() == 2 && functions[0].number) return MakeLimits(request, functions[0], functions[1]);
  return Reason("oneDNN needs several functions");
}

std::optional<algorithm> BinaryAlgorithm(ir::ElementFunction function) {
  switch (function) {
    case ir::ElementFunction::kAdd:
      return algorithm::binary_add;
    case ir::ElementFunction::kSubtract:
      return algorithm::binary_sub;
    case ir::ElementFunction::kMultiply:
      return algorithm::binary_mul;
    case ir::ElementFunction::kDivide:
      return algorithm::binary_div;
    case ir::ElementFunction::kMinimum:
      return algorithm::binary_min;
    case ir::ElementFunction::kMaximum:
      return algorithm::binary_max;
    default:
      return std::nullopt;
  }
}

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

std::shared_ptr<const Kernel> MakeElementwiseKernel(algorithm algorithm, int64_t count) {
  switch (algorithm) {
    case algorithm::binary_add:
      return std::make_shared<ElementwiseKernel<std::plus<float>>>(count);
    case algorithm::binary_sub:
      return std::make_shared<ElementwiseKernel<std::minus<float>>>(count);
    case algorithm::binary_mul:
      return std::make_shared<ElementwiseKernel<std::multiplies<float>>>(count);
    case algorithm::binary_min:
      return std::make_shared<ElementwiseKernel<SmallerNumber>>(count);
    case algorithm::binary_max:
      return std::make_shared<ElementwiseKernel<LargerNumber>>(count);
    default:
      return nullptr;  // quotients of layout padding are NaN
  }
}

// --- two operands ---------------------------------------------------------------------

// The layout of two inputs with the same shape: that of the input that is not row-major.
memory::desc CommonDesc(const KernelRequest& request) {
  return DescOf(request.inputs[request.inputs[0].layout != nullptr ? 0 : 1]);
}

Reason EqualShapes(const KernelRequest& request) {
  return request.inputs[0].shape == request.inputs[1].shape ? Reason() : Reason("a broadcast operand");
}

// Without oneDNN, to avoid loading it for small networks.
KernelOrReason MakeElements(const KernelRequest& request) {
  const memory::desc desc = CommonDesc(request);
  if (!request.posts.empty()) return kHasFusedOperation;
  if (TypeOf(desc) != DnnType::f32) return Reason("the operands are bf16");
  PreparedKernel prepared;
  prepared.kernel = MakeElementwiseKernel(*BinaryAlgorithm(request.node->info().function),
                                          static_cast<int64_t>(desc.get_size() / sizeof(float)));
  if (prepared.kernel == nullptr) return Reason("quotients of layout padding are NaN");
  prepared.inputs = {LayoutOf(desc), LayoutOf(desc)};
  prepared.outputs = {LayoutOf(desc)};
  prepared.in_place = 0;
  return prepared;
}

// Only single-input functions are fused into these.
KernelOrReason MakeBinaryOfEqualShapes(const KernelRequest& request) {
  const OrReason<DnnPostOps> posts = DnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  const algorithm algorithm = *BinaryAlgorithm(request.node->info().function);
  const memory::desc desc = CommonDesc(request);
  if (!request.posts.empty() && OverrunsWithPosts(desc)) return kOverruns;
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm, desc, desc, desc),
                                               posts->Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, 0, desc);
  builder.AddInput(DNNL_ARG_SRC_1, 1, desc);
  posts->AddArguments(primitive, desc, builder);
  builder.AddOutput(DNNL_ARG_DST, 0, desc);
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

// One input has one element per channel, or a single one; the other one has a special layout (for row-major
// inputs the reference kernel is just as fast).
KernelOrReason MakeBinaryOfChannels(const KernelRequest& request) {
  const OrReason<DnnPostOps> posts = DnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  if (EqualShapes(request).empty()) return Reason("no broadcast operand");
  const algorithm algorithm = *BinaryAlgorithm(request.node->info().function);
  const Shape& shape = request.outputs[0].shape;
  const size_t images = request.inputs[0].shape == shape ? 0 : 1;
  if (images == 1 && !request.node->info().is_commutative)
    return Reason("the operands are in the other order");
  if (shape != request.inputs[images].shape) return Reason("both operands are broadcast");
  if (request.inputs[images].layout == nullptr)
    return Reason("the reference kernel is as fast for row-major values");
  const Shape& other = request.inputs[1 - images].shape;
  const PerChannelOperand numbers = ClassifyPerChannelOperand(*request.node, other, shape);
  const bool scalar = ClassifyOperand(*request.node, other, shape, 1) == OperandShape::kScalar;
  if (numbers == PerChannelOperand::kNone && !scalar)
    return Reason("no operand has one element per channel, or one");
  memory::dims dims(shape.size(), 1);
  if (numbers != PerChannelOperand::kNone) dims[1] = shape[1];
  if (numbers == PerChannelOperand::kPerImage) dims[0] = shape[0];
  const memory::desc data = DescOf(request.inputs[images]);
  if (!request.posts.empty() && OverrunsWithPosts(data)) return kOverruns;
  const memory::desc second = PlainDesc(dims, TypeOf(data));
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm, data, second, data),
                                               posts->Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, images, data);
  builder.AddReshapedInput(DNNL_ARG_SRC_1, 1 - images, second);
  posts->AddArguments(primitive, data, builder);
  builder.AddOutput(DNNL_ARG_DST, 0, data);
  builder.AllowInPlace(static_cast<int>(images));
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

Reason IsAdd(const KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kAdd) ? Reason() : Reason("not an addition");
}
Reason IsMultiply(const KernelRequest& request) {
  return request.node->Is(ir::ElementFunction::kMultiply) ? Reason() : Reason("not a multiplication");
}
Reason HasConstant(const KernelRequest& request) {
  return request.inputs[1].constant != nullptr ? Reason() : Reason("the second operand is not constant");
}

// --- tables ---------------------------------------------------------------------------

// The order in which kernels are tried: the first ones fuse more, or need no oneDNN.
constexpr int kFusedCost = 10, kEltwiseCost = 20, kPerChannelCost = 30, kElementsCost = 40,
              kDnnBinaryCost = 50;
constexpr Implementation kEltwiseRow{"onednn_eltwise", AlwaysApplies, FixedCost<kEltwiseCost>, MakeEltwise};
constexpr Implementation kBinary[] = {
    {"int8_sum", IsAdd, FixedCost<kFusedCost>, MakeQuantizedSum},
    {"scaled_pointwise_convolution", IsMultiply, FixedCost<kFusedCost>, MakeScaledPointwiseConvolution},
    {"onednn_eltwise", HasConstant, FixedCost<kEltwiseCost>, MakeEltwise},
    {"per_channel", AlwaysApplies, FixedCost<kPerChannelCost>, MakePerChannelBinary},
    {"elementwise", EqualShapes, FixedCost<kElementsCost>, MakeElements},
    {"onednn_binary", EqualShapes, FixedCost<kDnnBinaryCost>, MakeBinaryOfEqualShapes},
    {"onednn_per_channel", AlwaysApplies, FixedCost<kDnnBinaryCost>, MakeBinaryOfChannels}};
constexpr Implementation kGate[] = {{"vectorised", AlwaysApplies, FixedCost<kFusedCost>, MakeVectorizedGate},
                                    kEltwiseRow};
constexpr Implementation kCurve[] = {{"epilogue", AlwaysApplies, FixedCost<kFusedCost>, MakeEpilogueFunction},
                                     kEltwiseRow};
// A single slope makes PReLU an elementwise function.
constexpr Implementation kPRelu[] = {
    {"vectorised", AlwaysApplies, FixedCost<kFusedCost>, MakeVectorizedPRelu},
    kEltwiseRow,
    {"per_channel", AlwaysApplies, FixedCost<kPerChannelCost>, MakePerChannelBinary}};

Reason ServesAllF32(const KernelRequest& request) {
  return DnnAcceptsAll(request) ? Reason() : kNotF32;
}

const ImplementationTable kBinaryTables[] = {{"f32", ServesAllF32, kBinary}};
const ImplementationTable kGateTables[] = {{"f32", AlwaysApplies, kGate}};
const ImplementationTable kCurveTables[] = {{"f32", AlwaysApplies, kCurve}};
const ImplementationTable kPReluTables[] = {{"f32", AlwaysApplies, kPRelu}};

}  // namespace

void RegisterDnnElementwise(KernelRegistry& registry) {
  for (std::string_view name : {"ReLU", "Abs", "Sqrt", "Clamp"})
    AddDnnTables(registry, {"opset1"}, name, TableOf<MakeEltwise>("onednn_eltwise"));
  AddDnnTables(registry, {"opset1"}, "PReLU", kPReluTables);
  AddDnnTables(registry, {"opset1"}, "Elu", kCurveTables);
  for (std::string_view name : {"Sigmoid", "Tanh"}) AddDnnTables(registry, {"opset1"}, name, kGateTables);
  for (std::string_view name : {"Swish", "HSwish", "Mish"})
    AddDnnTables(registry, {"opset4"}, name, kCurveTables);
  // oneDNN's soft_relu is not accurate enough (post_ops.cpp).
  AddDnnTables(registry, {"opset4"}, "SoftPlus", TableOf<MakeEpilogueFunction>("epilogue"));
  AddDnnTables(registry, {"opset2", "opset7"}, "Gelu", kCurveTables);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"})
    AddDnnTables(registry, {"opset1"}, name, kBinaryTables);
}

}  // namespace nnefc::runtime
