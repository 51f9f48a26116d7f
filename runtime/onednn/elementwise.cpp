// Elementwise functions of one and two inputs, in whatever layout the input
// has.

#include "llvm/ADT/StringSwitch.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/families.h"
#include "runtime/onednn/post_ops.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using dnnl::memory;

std::optional<PreparedKernel> MakeEltwise(const KernelRequest& request) {
  if (!request.posts.empty() || !DnnAccepts(request.inputs[0]) || !DnnAccepts(request.outputs[0]))
    return std::nullopt;
  const std::optional<DnnEltwise> function = MatchEltwise(*request.node, request.inputs.drop_front(1));
  if (!function) return std::nullopt;
  const memory::desc data = DescOf(request.inputs[0]);
  const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference, function->algorithm, data,
                                         function->alpha, function->beta);
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

std::optional<algorithm> BinaryAlgorithm(llvm::StringRef type) {
  return llvm::StringSwitch<std::optional<algorithm>>(type)
      .Case("Add", algorithm::binary_add)
      .Case("Subtract", algorithm::binary_sub)
      .Case("Multiply", algorithm::binary_mul)
      .Case("Divide", algorithm::binary_div)
      .Case("Minimum", algorithm::binary_min)
      .Case("Maximum", algorithm::binary_max)
      .Default(std::nullopt);
}

// Two inputs of one shape, in the layout of the first that is not row-major.
std::optional<PreparedKernel> MakeBinaryOfEqualShapes(const KernelRequest& request, algorithm algorithm,
                                                      const dnnl::primitive_attr& attributes) {
  const memory::desc desc = DescOf(request.inputs[request.inputs[0].layout != nullptr ? 0 : 1]);
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm, desc, desc, desc), attributes,
                                               DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, 0, desc);
  builder.AddInput(DNNL_ARG_SRC_1, 1, desc);
  builder.AddOutput(DNNL_ARG_DST, 0, desc);
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

// The second input has one element for each channel, or one; the first is in a
// layout of its own (row-major inputs run in the reference kernel as fast).
std::optional<PreparedKernel> MakeBinaryOfChannels(const KernelRequest& request, algorithm algorithm,
                                                   const dnnl::primitive_attr& attributes) {
  const Shape& shape = request.inputs[0].shape;
  const OperandShape operand = ClassifyOperand(request.inputs[1].shape, shape, 1);
  if (request.inputs[0].layout == nullptr || shape != request.outputs[0].shape) return std::nullopt;
  if (operand != OperandShape::kPerChannel && operand != OperandShape::kScalar) return std::nullopt;
  memory::dims dims(shape.size(), 1);
  if (operand == OperandShape::kPerChannel) dims[1] = shape[1];
  const memory::desc data = DescOf(request.inputs[0]);
  const memory::desc second = PlainDesc(dims);
  const dnnl::binary::primitive_desc primitive(dnnl::binary::desc(algorithm, data, second, data), attributes,
                                               DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return std::nullopt;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC_0, 0, data);
  builder.AddReshapedInput(DNNL_ARG_SRC_1, 1, second);
  builder.AddOutput(DNNL_ARG_DST, 0, data);
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::binary(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

std::optional<PreparedKernel> MakeBinary(const KernelRequest& request) {
  const std::optional<algorithm> algorithm = BinaryAlgorithm(request.node->type());
  if (!algorithm || !DnnAcceptsAll(request)) return std::nullopt;
  if (request.inputs[1].constant != nullptr) {
    if (std::optional<PreparedKernel> kernel = MakeEltwise(request)) return kernel;
  }
  // Only functions of one input are fused to these.
  const std::optional<DnnPostOps> posts = DnnPostOps::Make(request, -1);
  if (!posts) return std::nullopt;
  const dnnl::primitive_attr attributes = posts->Attributes();
  if (request.inputs[0].shape == request.inputs[1].shape) {
    return MakeBinaryOfEqualShapes(request, *algorithm, attributes);
  }
  return MakeBinaryOfChannels(request, *algorithm, attributes);
}

}  // namespace

void RegisterDnnElementwise(KernelRegistry& registry) {
  for (std::string_view name : {"ReLU", "Sigmoid", "Tanh", "Abs", "Sqrt", "Exp", "Clamp", "Elu", "PReLU"}) {
    registry.Add(Backend::kOneDnn, {"opset1"}, name, GuardedDnnFactory<MakeEltwise>);
  }
  for (std::string_view name : {"Swish", "HSwish", "Mish", "SoftPlus"}) {
    registry.Add(Backend::kOneDnn, {"opset4"}, name, GuardedDnnFactory<MakeEltwise>);
  }
  registry.Add(Backend::kOneDnn, {"opset2", "opset7"}, "Gelu", GuardedDnnFactory<MakeEltwise>);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"}) {
    registry.Add(Backend::kOneDnn, {"opset1"}, name, GuardedDnnFactory<MakeBinary>);
  }
}

}  // namespace nnefc::runtime
