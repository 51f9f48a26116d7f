#include "runtime/fast/elementwise.h"

#include "runtime/fast/gemm/operand_shape.h"
#include "runtime/onednn/post_ops.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime {

namespace {

using Role = PrimitiveArgument::Role;
constexpr PrimitiveArgument kFirstOperand{Role::kSource, 0}, kSecondOperand{Role::kSource, 1};

// An elementwise function.
KernelOrReason MakeFunction(const KernelRequest& request, const ChainedFunction& function) {
  const BlockedFormat data = FormatOf(request.inputs[0]);
  const std::shared_ptr<const Primitive> primitive = CreatePrimitive({.kind = PrimitiveKind::kFunction,
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
  const int64_t lanes = (HasAvx512() ? 16 : 8) * (result.type == StorageType::kBf16 ? 2 : 1);
  return IsPadded(result) || result.num_blocks > 1 || result.blocks[0].size % lanes != 0;
}

constexpr Reason kOverruns("oneDNN writes past the end of blocks that are not full");

// A binary operation with a scalar operand, followed by a function.
KernelOrReason MakeLimits(const KernelRequest& request, const ChainedFunction& first,
                          const ChainedFunction& second) {
  // For row-major inputs the reference kernel is just as fast.
  if (request.inputs[0].layout == nullptr)
    return Reason("the reference kernel is as fast for row-major values");
  if (second.number) return Reason("two limits");
  const BlockedFormat data = FormatOf(request.inputs[0]);
  if (OverrunsWithPosts(data)) return kOverruns;
  const BlockedFormat number = ScalarFormat(request.inputs[0].shape.size());
  const std::shared_ptr<const Primitive> primitive =
      CreatePrimitive({.kind = PrimitiveKind::kBinary,
                       .sources = {data, number},
                       .result = data,
                       .function = first.kind,
                       .posts = {{.kind = PrimitivePostOp::Kind::kFunction,
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

KernelOrReason MakeEltwise(const KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!IsDenseF32(request.inputs[0]) || !IsDenseF32(request.outputs[0])) return kNotF32;
  FunctionChain chain;
  if (!chain.Append(*request.node, 0, request.inputs.drop_front(1)))
    return Reason("oneDNN has no such function, or an operand is not one constant");
  const llvm::ArrayRef<ChainedFunction> functions = chain.functions();
  if (functions.size() == 1 && !functions[0].number) return MakeFunction(request, functions[0]);
  if (functions.size() == 2 && functions[0].number) return MakeLimits(request, functions[0], functions[1]);
  return Reason("oneDNN needs several functions");
}

// --- two operands ---------------------------------------------------------------------

// Only single-input functions are fused into these.
KernelOrReason MakeBinaryOfEqualShapes(const KernelRequest& request) {
  const OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  const BlockedFormat format = CommonFormatOf(request);
  if (!request.posts.empty() && OverrunsWithPosts(format)) return kOverruns;
  const std::shared_ptr<const Primitive> primitive =
      CreatePrimitive({.kind = PrimitiveKind::kBinary,
                       .sources = {format, format},
                       .result = format,
                       .function = *BinaryFunction(request.node->info().function),
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
KernelOrReason MakeBinaryOfChannels(const KernelRequest& request) {
  const OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  if (EqualShapes(request).empty()) return Reason("no broadcast operand");
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
  Shape extents(shape.size(), 1);
  if (numbers != PerChannelOperand::kNone) extents[1] = shape[1];
  if (numbers == PerChannelOperand::kPerImage) extents[0] = shape[0];
  const BlockedFormat data = FormatOf(request.inputs[images]);
  if (!request.posts.empty() && OverrunsWithPosts(data)) return kOverruns;
  const BlockedFormat second = RowMajorFormat(extents, data.type);
  const std::shared_ptr<const Primitive> primitive =
      CreatePrimitive({.kind = PrimitiveKind::kBinary,
                       .sources = {data, second},
                       .result = data,
                       .function = *BinaryFunction(request.node->info().function),
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

Reason HasConstant(const KernelRequest& request) {
  return request.inputs[1].constant != nullptr ? Reason() : Reason("the second operand is not constant");
}

// Relative to the costs of runtime/fast/elementwise.cpp, whose kernels fuse more or need no oneDNN.
constexpr int kEltwiseCost = 20, kBinaryCost = 50;
constexpr Implementation kEltwiseRows[] = {
    {"onednn_eltwise", AlwaysApplies, FixedCost<kEltwiseCost>, MakeEltwise}};
constexpr Implementation kBinaryRows[] = {
    {"onednn_eltwise", HasConstant, FixedCost<kEltwiseCost>, MakeEltwise},
    {"onednn_binary", EqualShapes, FixedCost<kBinaryCost>, MakeBinaryOfEqualShapes},
    {"onednn_per_channel", AlwaysApplies, FixedCost<kBinaryCost>, MakeBinaryOfChannels}};

}  // namespace

void AddElementwiseRows(FastTables& tables) {
  const auto add = [&](std::initializer_list<std::string_view> sets, std::string_view name,
                       llvm::ArrayRef<Implementation> rows) {
    tables.Append(sets, name, {{"f32", rows}});
  };
  for (std::string_view name : {"ReLU", "Abs", "Sqrt", "Clamp"})
    tables.Add({"opset1"}, name, TableOf<MakeEltwise>("onednn_eltwise"));
  for (std::string_view name : {"PReLU", "Elu", "Sigmoid", "Tanh"}) add({"opset1"}, name, kEltwiseRows);
  for (std::string_view name : {"Swish", "HSwish", "Mish"}) add({"opset4"}, name, kEltwiseRows);
  add({"opset2", "opset7"}, "Gelu", kEltwiseRows);
  for (std::string_view name : {"Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum"})
    add({"opset1"}, name, kBinaryRows);
}

}  // namespace nnefc::runtime
