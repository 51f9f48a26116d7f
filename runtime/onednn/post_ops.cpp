#include "runtime/onednn/post_ops.h"

#include <limits>

#include "llvm/ADT/StringSwitch.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime {

namespace {

using dnnl::algorithm;
using dnnl::memory;

// The one element of a constant, or nothing.
std::optional<float> ScalarConstant(const ValueInfo& value) {
  if (value.constant == nullptr || value.constant->volume() != 1) return std::nullopt;
  return static_cast<float>(value.constant->ElementAsDouble(0));
}

std::optional<DnnEltwise> MatchSimple(std::string_view type) {
  using Match = std::optional<DnnEltwise>;
  return llvm::StringSwitch<Match>(llvm::StringRef(type.data(), type.size()))
      .Case("ReLU", DnnEltwise{algorithm::eltwise_relu})
      .Case("Sigmoid", DnnEltwise{algorithm::eltwise_logistic})
      .Case("Tanh", DnnEltwise{algorithm::eltwise_tanh})
      .Case("Abs", DnnEltwise{algorithm::eltwise_abs})
      .Case("Sqrt", DnnEltwise{algorithm::eltwise_sqrt})
      .Case("Exp", DnnEltwise{algorithm::eltwise_exp})
      .Case("HSwish", DnnEltwise{algorithm::eltwise_hardswish})
      .Case("Mish", DnnEltwise{algorithm::eltwise_mish})
      .Case("SoftPlus", DnnEltwise{algorithm::eltwise_soft_relu})
      .Default(std::nullopt);
}

// An operation of x and a scalar s as a linear function of x or a limit to it;
// x is the first operand where the order matters.
std::optional<DnnEltwise> MatchScalar(std::string_view type, float s) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (type == "Add") return DnnEltwise{algorithm::eltwise_linear, 1, s};
  if (type == "Subtract") return DnnEltwise{algorithm::eltwise_linear, 1, -s};
  if (type == "Multiply") return DnnEltwise{algorithm::eltwise_linear, s, 0};
  if (type == "Minimum") return DnnEltwise{algorithm::eltwise_clip, -kInfinity, s};
  if (type == "Maximum") return DnnEltwise{algorithm::eltwise_clip, s, kInfinity};
  return std::nullopt;
}

}  // namespace

OperandShape ClassifyOperand(llvm::ArrayRef<int64_t> operand, llvm::ArrayRef<int64_t> result,
                             int64_t channel_axis) {
  if (operand.size() > result.size()) return OperandShape::kOther;
  const size_t missing = result.size() - operand.size();
  bool scalar = true;
  bool per_channel = true;
  for (size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] == 1) continue;
    scalar = false;
    per_channel &= static_cast<int64_t>(i + missing) == channel_axis && operand[i] == result[i + missing];
  }
  if (scalar) return OperandShape::kScalar;
  if (per_channel) return OperandShape::kPerChannel;
  return operand == result ? OperandShape::kFull : OperandShape::kOther;
}

std::optional<DnnEltwise> MatchEltwise(const ir::Node& node, llvm::ArrayRef<ValueInfo> rest) {
  const std::string& type = node.type();
  if (rest.empty()) {
    if (type == "Clamp") {
      return DnnEltwise{algorithm::eltwise_clip, static_cast<float>(DoubleOr(node, "min", 0)),
                        static_cast<float>(DoubleOr(node, "max", 0))};
    }
    if (type == "Elu")
      return DnnEltwise{algorithm::eltwise_elu, static_cast<float>(DoubleOr(node, "alpha", 1))};
    if (type == "Swish") return DnnEltwise{algorithm::eltwise_swish, 1};
    if (type == "Gelu") {
      const std::string mode = StringOr(node, "approximation_mode", "ERF");
      const bool by_tanh = mode == "TANH" || mode == "tanh";
      return DnnEltwise{by_tanh ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf};
    }
    return MatchSimple(type);
  }
  if (rest.size() != 1) return std::nullopt;
  const std::optional<float> scalar = ScalarConstant(rest[0]);
  if (!scalar) return std::nullopt;
  if (type == "Swish") return DnnEltwise{algorithm::eltwise_swish, *scalar};
  if (type == "PReLU") return DnnEltwise{algorithm::eltwise_relu, *scalar};
  return MatchScalar(type, *scalar);
}

bool DnnPostOps::Add(const KernelRequest& request, const PostOperation& post, const ResultView& result,
                     int64_t channel_axis) {
  const size_t operands = static_cast<size_t>(post.node->num_inputs()) - 1;
  const size_t first = static_cast<size_t>(post.first_operand);
  if (std::optional<DnnEltwise> eltwise = MatchEltwise(*post.node, request.inputs.slice(first, operands))) {
    posts_.push_back({.kind = Post::Kind::kEltwise, .eltwise = *eltwise});
    return true;
  }
  const bool add = post.node->type() == "Add";
  if (operands != 1 || (!add && post.node->type() != "Multiply")) return false;
  const ValueInfo& operand = request.inputs[first];
  const int index = post.first_operand;
  const Post::Kind kind = add ? Post::Kind::kAdd : Post::Kind::kMultiply;
  switch (ClassifyOperand(operand.shape, request.outputs[0].shape, channel_axis)) {
    case OperandShape::kPerChannel:
      if (add && bias_ < 0 && posts_.empty()) {
        bias_ = index;
      } else {
        posts_.push_back({.kind = kind, .operand = index, .operand_desc = result.channels});
      }
      return true;
    case OperandShape::kFull:
      if (add && !has_sum_ && operand.overwritable) {
        has_sum_ = true;
        posts_.push_back({.kind = Post::Kind::kSum, .operand = index});
      } else {
        posts_.push_back({.kind = kind, .operand = index, .operand_desc = result.whole});
      }
      return true;
    case OperandShape::kScalar:
    case OperandShape::kOther:
      return false;
  }
  return false;
}

std::optional<DnnPostOps> DnnPostOps::Make(const KernelRequest& request, int64_t channel_axis) {
  const Shape& output = request.outputs[0].shape;
  memory::dims dims(output.size(), 1);
  if (channel_axis >= 0) dims[static_cast<size_t>(channel_axis)] = output[static_cast<size_t>(channel_axis)];
  const ResultView result{.channels = PlainDesc(dims), .whole = AnyDesc(output)};
  DnnPostOps posts;
  for (const PostOperation& post : request.posts) {
    if (!posts.Add(request, post, result, channel_axis)) return std::nullopt;
  }
  return posts;
}

std::optional<DnnPostOps> DnnPostOps::MakeForRows(const KernelRequest& request, int64_t rows,
                                                  int64_t columns) {
  const ResultView result{.channels = PlainDesc({1, columns}), .whole = PlainDesc({rows, columns})};
  DnnPostOps posts;
  for (const PostOperation& post : request.posts) {
    if (!posts.Add(request, post, result, static_cast<int64_t>(request.outputs[0].shape.size()) - 1))
      return std::nullopt;
  }
  return posts;
}

dnnl::primitive_attr DnnPostOps::Attributes() const {
  dnnl::post_ops ops;
  for (const Post& post : posts_) {
    switch (post.kind) {
      case Post::Kind::kEltwise:
        ops.append_eltwise(1.0f, post.eltwise.algorithm, post.eltwise.alpha, post.eltwise.beta);
        break;
      case Post::Kind::kSum:
        ops.append_sum(1.0f);
        break;
      case Post::Kind::kAdd:
        ops.append_binary(algorithm::binary_add, post.operand_desc);
        break;
      case Post::Kind::kMultiply:
        ops.append_binary(algorithm::binary_mul, post.operand_desc);
        break;
    }
  }
  dnnl::primitive_attr attributes = DnnKernelBuilder::Attributes();
  attributes.set_post_ops(ops);
  return attributes;
}

void DnnPostOps::AddArguments(const dnnl::primitive_desc_base& primitive, const memory::desc& output,
                              DnnKernelBuilder& builder) const {
  for (size_t i = 0; i < posts_.size(); ++i) {
    const Post& post = posts_[i];
    const size_t operand = static_cast<size_t>(post.operand);
    if (post.kind == Post::Kind::kEltwise) continue;
    if (post.kind == Post::Kind::kSum) {
      builder.RequireInPlace(post.operand, output);
      continue;
    }
    const int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    memory::desc desc = post.operand_desc;
    if (desc.data.format_kind == dnnl_format_kind_any)
      desc = primitive.query_md(dnnl::query::exec_arg_md, id);
    builder.AddPostOperand(id, operand, desc);
  }
}

}  // namespace nnefc::runtime
