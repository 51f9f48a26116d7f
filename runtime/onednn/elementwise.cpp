// Elementwise operations by oneDNN's eltwise and binary primitives.

#include "runtime/fast/elementwise.h"

#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/onednn/post_ops.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime::onednn {

using fast::memory::BlockedFormat;
using kernels::Reason;

namespace {

using Role = library::PrimitiveArgument::Role;
constexpr library::PrimitiveArgument kFirstOperand{Role::kSource, 0}, kSecondOperand{Role::kSource, 1};

// An elementwise function.
kernels::KernelOrReason MakeFunction(const kernels::KernelRequest& request,
                                     const fast::gemm::ChainedFunction& function) {
  const BlockedFormat data = fast::memory::FormatOf(request.inputs[0]);
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kFunction,
                       .sources = {data},
                       .function = function.kind,
                       .alpha = function.alpha,
                       .beta = function.beta});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput(kFirstOperand, 0, data);
  builder.AddOutput();
  builder.AllowInPlace(0);
  return builder.Finish();
}

// With post-ops, the binary primitives of oneDNN 2.6 write past the end of blocked channels
// (OneDnnPostOpsTest) unless each block is full and a whole number of vectors.
bool OverrunsWithPosts(const BlockedFormat& result) {
  if (result.num_blocks == 0) return false;
  const int64_t lanes =
      (fast::HasAvx512() ? 16 : 8) * (result.type == fast::memory::StorageType::kBf16 ? 2 : 1);
  return fast::memory::IsPadded(result) || result.num_blocks > 1 || result.blocks[0].size % lanes != 0;
}

constexpr Reason kOverruns("oneDNN writes past the end of blocks that are not full");

// A binary operation with a scalar operand, followed by a function.
kernels::KernelOrReason MakeLimits(const kernels::KernelRequest& request,
                                   const fast::gemm::ChainedFunction& first,
                                   const fast::gemm::ChainedFunction& second) {
  // For row-major inputs the reference kernel is just as fast.
  if (request.inputs[0].layout == nullptr)
    return Reason("the reference kernel is as fast for row-major values");
  if (second.number) return Reason("two limits");
  const BlockedFormat data = fast::memory::FormatOf(request.inputs[0]);
  if (OverrunsWithPosts(data)) return kOverruns;
  const BlockedFormat number = fast::memory::ScalarFormat(request.inputs[0].shape.size());
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kBinary,
                       .sources = {data, number},
                       .result = data,
                       .function = first.kind,
                       .posts = {{.kind = library::PrimitivePostOp::Kind::kFunction,
                                  .function = second.kind,
                                  .alpha = second.alpha,
                                  .beta = second.beta}}});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput(kFirstOperand, 0, data);
  builder.AddNumber(kSecondOperand, *first.number, number);
  builder.AddOutput(data);
  builder.AllowInPlace(0);
  return builder.Finish();
}

kernels::KernelOrReason MakeEltwise(const kernels::KernelRequest& request) {
  if (!request.posts.empty()) return fast::kHasFusedOperation;
  if (!fast::memory::IsDenseF32(request.inputs[0]) || !fast::memory::IsDenseF32(request.outputs[0]))
    return fast::kNotF32;
  fast::gemm::FunctionChain chain;
  if (!chain.Append(*request.node, 0, request.inputs.drop_front(1)))
    return Reason("oneDNN has no such function, or an operand is not one constant");
  const llvm::ArrayRef<fast::gemm::ChainedFunction> functions = chain.functions();
  if (functions.size() == 1 && !functions[0].number) return MakeFunction(request, functions[0]);
  if (functions.size() == 2 && functions[0].number) return MakeLimits(request, functions[0], functions[1]);
  return Reason("oneDNN needs several functions");
}

// --- two operands ---------------------------------------------------------------------

// Only single-input functions are fused into these.
kernels::KernelOrReason MakeBinaryOfEqualShapes(const kernels::KernelRequest& request) {
  const kernels::OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  const BlockedFormat format = fast::CommonFormatOf(request);
  if (!request.posts.empty() && OverrunsWithPosts(format)) return kOverruns;
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kBinary,
                       .sources = {format, format},
                       .result = format,
                       .function = *fast::BinaryFunction(request.node->info().function),
                       .posts = posts->OfPrimitive()});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput(kFirstOperand, 0, format);
  builder.AddInput(kSecondOperand, 1, format);
  posts->AddArguments(format, builder);
  builder.AddOutput(format);
  builder.AllowInPlace(0);
  return builder.Finish();
}

// One input has one element per channel, or a single one; the other one has a special layout (for row-major
// inputs the reference kernel is just as fast).
kernels::KernelOrReason MakeBinaryOfChannels(const kernels::KernelRequest& request) {
  const kernels::OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  if (fast::EqualShapes(request).empty()) return Reason("no broadcast operand");
  const Shape& shape = request.outputs[0].shape;
  const size_t images = request.inputs[0].shape == shape ? 0 : 1;
  if (images == 1 && !request.node->info().is_commutative)
    return Reason("the operands are in the other order");
  if (shape != request.inputs[images].shape) return Reason("both operands are broadcast");
  if (request.inputs[images].layout == nullptr)
    return Reason("the reference kernel is as fast for row-major values");
  const Shape& other = request.inputs[1 - images].shape;
  const fast::PerChannelOperand numbers =
      fast::pointwise::ClassifyPerChannelOperand(*request.node, other, shape);
  const bool scalar =
      fast::gemm::ClassifyOperand(*request.node, other, shape, 1) == fast::gemm::OperandShape::kScalar;
  if (numbers == fast::PerChannelOperand::kNone && !scalar)
    return Reason("no operand has one element per channel, or one");
  Shape extents(shape.size(), 1);
  if (numbers != fast::PerChannelOperand::kNone) extents[1] = shape[1];
  if (numbers == fast::PerChannelOperand::kPerImage) extents[0] = shape[0];
  const BlockedFormat data = fast::memory::FormatOf(request.inputs[images]);
  if (!request.posts.empty() && OverrunsWithPosts(data)) return kOverruns;
  const BlockedFormat second = fast::memory::RowMajorFormat(extents, data.type);
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kBinary,
                       .sources = {data, second},
                       .result = data,
                       .function = *fast::BinaryFunction(request.node->info().function),
                       .posts = posts->OfPrimitive()});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput(kFirstOperand, images, data);
  builder.AddReshapedInput(kSecondOperand, 1 - images, second);
  posts->AddArguments(data, builder);
  builder.AddOutput(data);
  builder.AllowInPlace(static_cast<int>(images));
  return builder.Finish();
}

Reason HasConstant(const kernels::KernelRequest& request) {
  return request.inputs[1].constant != nullptr ? Reason() : Reason("the second operand is not constant");
}

// Relative to the costs of runtime/fast/elementwise.cpp, whose kernels fuse more or need no oneDNN.
constexpr int kEltwiseCost = 20, kBinaryCost = 50;
constexpr kernels::Implementation kEltwiseRows[] = {
    {"onednn_eltwise", kernels::AlwaysApplies, kernels::FixedCost<kEltwiseCost>, MakeEltwise}};
constexpr kernels::Implementation kBinaryRows[] = {
    {"onednn_eltwise", HasConstant, kernels::FixedCost<kEltwiseCost>, MakeEltwise},
    {"onednn_binary", fast::EqualShapes, kernels::FixedCost<kBinaryCost>, MakeBinaryOfEqualShapes},
    {"onednn_per_channel", kernels::AlwaysApplies, kernels::FixedCost<kBinaryCost>, MakeBinaryOfChannels}};

}  // namespace

void AddElementwiseRows(fast::FastTables& tables) {
  const auto add = [&](std::initializer_list<std::string_view> sets, std::string_view name,
                       llvm::ArrayRef<kernels::Implementation> rows) {
    tables.Append(sets, name, {{"f32", rows}});
  };
  for (std::string_view name : {"ReLU", "Abs", "Sqrt", "Clamp"})
    tables.Add({"opset1"}, name, fast::TableOf<MakeEltwise>("onednn_eltwise"));
  for (std::string_view name : {"PReLU", "Elu", "Sigmoid", "Tanh"}) add({"opset1"}, name, kEltwiseRows);
  for (std::string_view name : {"Swish", "HSwish", "Mish"}) add({"opset4"}, name, kEltwiseRows);
  add({"opset2", "opset7"}, "Gelu", kEltwiseRows);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"})
    add({"opset1"}, name, kBinaryRows);
}

}  // namespace nnefc::runtime::onednn
