// Elementwise functions with one and two inputs, in the layout of the input.

#include <functional>

#include "runtime/fast/factories.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using dnnl::memory;

// An elementwise function.
std::optional<PreparedKernel> MakeFunction(const KernelRequest& request, const DnnFunction& function) {
  const memory::desc data = DescOf(request.inputs[0]);
  const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, function.algorithm, data,
                                         function.alpha, function.beta);
  const dnnl::eltwise_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(),
                                                        true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
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

// A binary algorithm with a scalar operand, followed by a function.
std::optional<PreparedKernel> MakeLimits(const KernelRequest& request, const DnnFunction& first,
                                         const DnnFunction& second) {
  // For row-major inputs the reference kernel is just as fast.
  if (request.inputs[0].layout == nullptr || second.number) return std::nullopt;
  const memory::desc data = DescOf(request.inputs[0]);
  if (OverrunsWithPosts(data)) return std::nullopt;
  const memory::desc number = NumberDesc(request.inputs[0].shape.size());
  dnnl::post_ops post;
  post.append_eltwise(1.0f, second.algorithm, second.alpha, second.beta);
  dnnl::primitive_attr attributes = DnnKernelBuilder::Attributes();
  attributes.set_post_ops(post);
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(first.algorithm, data, number, data),
                                               attributes, DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, 0, data);
  builder.AddNumber(DNNL_ARG_SRC_1, *first.number, number);
  builder.AddOutput(DNNL_ARG_DST, 0, data);
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeEltwise(const KernelRequest& request) {
  if (!request.posts.empty() || !DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0]))
    return std::nullopt;
  DnnFunctions chain;
  if (!chain.Append(*request.node, 0, request.inputs.drop_front(1))) return std::nullopt;
  const llvm::ArrayRef<DnnFunction> functions = chain.functions();
  if (functions.size() == 1 && !functions[0].number) return MakeFunction(request, functions[0]);
  if (functions.size() == 2 && functions[0].number) return MakeLimits(request, functions[0], functions[1]);
  return std::nullopt;
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

// The same without oneDNN, to avoid loading it for small networks.
std::optional<PreparedKernel> MakeOfElements(const KernelRequest& request, algorithm algorithm,
                                             const memory::desc& desc) {
  if (!request.posts.empty() || TypeOf(desc) != DnnType::f32) return std::nullopt;
  PreparedKernel prepared;
  prepared.kernel = MakeElementwiseKernel(algorithm, static_cast<int64_t>(desc.get_size() / sizeof(float)));
  if (prepared.kernel == nullptr) return std::nullopt;
  prepared.inputs = {LayoutOf(desc), LayoutOf(desc)};
  prepared.outputs = {LayoutOf(desc)};
  prepared.in_place = 0;
  return prepared;
}

// Two inputs with the same shape, in the layout of the input that is not row-major.
std::optional<PreparedKernel> MakeBinaryOfEqualShapes(const KernelRequest& request, algorithm algorithm,
                                                      const DnnPostOps& posts) {
  const memory::desc desc = DescOf(request.inputs[request.inputs[0].layout != nullptr ? 0 : 1]);
  if (!request.posts.empty() && OverrunsWithPosts(desc)) return std::nullopt;
  if (auto kernel = MakeOfElements(request, algorithm, desc)) return kernel;
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm, desc, desc, desc),
                                               posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, 0, desc);
  builder.AddInput(DNNL_ARG_SRC_1, 1, desc);
  posts.AddArguments(primitive, desc, builder);
  builder.AddOutput(DNNL_ARG_DST, 0, desc);
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

// One input has one element per channel, or a single one; the other one has a special layout (for row-major
// inputs the reference kernel is just as fast).
std::optional<PreparedKernel> MakeBinaryOfChannels(const KernelRequest& request, algorithm algorithm,
                                                   const DnnPostOps& posts) {
  const Shape& shape = request.outputs[0].shape;
  const size_t images = request.inputs[0].shape == shape ? 0 : 1;
  if (images == 1 && !request.node->info().is_commutative) return std::nullopt;
  if (request.inputs[images].layout == nullptr || shape != request.inputs[images].shape) return std::nullopt;
  const Shape& other = request.inputs[1 - images].shape;
  const PerChannelOperand numbers = ClassifyPerChannelOperand(*request.node, other, shape);
  const bool scalar = ClassifyOperand(*request.node, other, shape, 1) == OperandShape::kScalar;
  if (numbers == PerChannelOperand::kNone && !scalar) return std::nullopt;
  memory::dims dims(shape.size(), 1);
  if (numbers != PerChannelOperand::kNone) dims[1] = shape[1];
  if (numbers == PerChannelOperand::kPerImage) dims[0] = shape[0];
  const memory::desc data = DescOf(request.inputs[images]);
  if (!request.posts.empty() && OverrunsWithPosts(data)) return std::nullopt;
  const memory::desc second = PlainDesc(dims, TypeOf(data));
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm, data, second, data),
                                               posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, images, data);
  builder.AddReshapedInput(DNNL_ARG_SRC_1, 1 - images, second);
  posts.AddArguments(primitive, data, builder);
  builder.AddOutput(DNNL_ARG_DST, 0, data);
  builder.AllowInPlace(static_cast<int>(images));
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeBinary(const KernelRequest& request) {
  const std::optional<algorithm> algorithm = BinaryAlgorithm(request.node->info().function);
  if (!algorithm || !DnnAcceptsAll(request)) return std::nullopt;
  if (*algorithm == algorithm::binary_add) {
    if (std::optional<PreparedKernel> kernel = MakeQuantizedSum(request)) return kernel;
  }
  if (*algorithm == algorithm::binary_mul) {
    if (std::optional<PreparedKernel> kernel = MakeScaledPointwiseConvolution(request)) return kernel;
  }
  if (request.inputs[1].constant != nullptr) {
    if (std::optional<PreparedKernel> kernel = MakeEltwise(request)) return kernel;
  }
  if (std::optional<PreparedKernel> kernel = MakePerChannelBinary(request)) return kernel;
  // Only single-input functions are fused into these.
  const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, -1);
  if (!posts) return std::nullopt;
  if (request.inputs[0].shape == request.inputs[1].shape) {
    return MakeBinaryOfEqualShapes(request, *algorithm, *posts);
  }
  return MakeBinaryOfChannels(request, *algorithm, *posts);
}

std::optional<PreparedKernel> MakeGate(const KernelRequest& request) {
  if (auto kernel = MakeVectorizedGate(request)) return kernel;
  return MakeEltwise(request);
}

std::optional<PreparedKernel> MakeCurve(const KernelRequest& request) {
  if (auto kernel = MakeEpilogueFunction(request)) return kernel;
  return MakeEltwise(request);
}

// A single slope makes this an elementwise function.
std::optional<PreparedKernel> MakePRelu(const KernelRequest& request) {
  if (auto kernel = MakeVectorizedPRelu(request)) return kernel;
  if (auto kernel = MakeEltwise(request)) return kernel;
  return DnnAcceptsAll(request) ? MakePerChannelBinary(request) : std::nullopt;
}

}  // namespace

void RegisterDnnElementwise(KernelRegistry& registry) {
  for (std::string_view name : {"ReLU", "Abs", "Sqrt", "Clamp"}) {
    registry.Add(Backend::kFast, {"opset1"}, name, GuardedDnnFactory<MakeEltwise>);
  }
  registry.Add(Backend::kFast, {"opset1"}, "PReLU", GuardedDnnFactory<MakePRelu>);
  registry.Add(Backend::kFast, {"opset1"}, "Elu", GuardedDnnFactory<MakeCurve>);
  for (std::string_view name : {"Sigmoid", "Tanh"})
    registry.Add(Backend::kFast, {"opset1"}, name, GuardedDnnFactory<MakeGate>);
  for (std::string_view name : {"Swish", "HSwish", "Mish"})
    registry.Add(Backend::kFast, {"opset4"}, name, GuardedDnnFactory<MakeCurve>);
  // oneDNN's soft_relu is not accurate enough (post_ops.cpp).
  registry.Add(Backend::kFast, {"opset4"}, "SoftPlus", GuardedDnnFactory<MakeEpilogueFunction>);
  registry.Add(Backend::kFast, {"opset2", "opset7"}, "Gelu", GuardedDnnFactory<MakeCurve>);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"}) {
    registry.Add(Backend::kFast, {"opset1"}, name, GuardedDnnFactory<MakeBinary>);
  }
}

}  // namespace nnefc::runtime
