#include "runtime/fast/post_ops.h"

#include "llvm/ADT/STLExtras.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/broadcast.h"

namespace nnefc::runtime {

using dnnl::algorithm;
using dnnl::memory;

bool DnnPostOps::Add(const KernelRequest& request, const PostOperation& post, const ResultView& result,
                     int64_t channel_axis) {
  const size_t operands = static_cast<size_t>(post.node->num_inputs()) - 1;
  const size_t first = static_cast<size_t>(post.first_operand);
  const size_t before = functions_.functions().size();
  if (functions_.Append(*post.node, post.chained_input, request.inputs.slice(first, operands))) {
    // oneDNN's soft_relu rounds 1 + e^x before the logarithm: it returns -2e-6 for x = -20 instead of 2e-9.
    if (functions_.functions().back().algorithm == algorithm::eltwise_soft_relu) return false;
    for (size_t i = before; i < functions_.functions().size(); ++i)
      posts_.push_back({.kind = Post::Kind::kFunction, .function = i});
    return true;
  }
  const bool add = post.node->Is(ir::ElementFunction::kAdd);
  if (operands != 1 || (!add && !post.node->Is(ir::ElementFunction::kMultiply))) return false;
  const ValueInfo& operand = request.inputs[first];
  const int index = post.first_operand;
  const algorithm algorithm = add ? algorithm::binary_add : algorithm::binary_mul;
  const auto push = [&](const memory::desc& desc) {
    posts_.push_back(
        {.kind = Post::Kind::kBinary, .operand = index, .algorithm = algorithm, .operand_desc = desc});
  };
  switch (ClassifyOperand(*post.node, operand.shape, request.outputs[0].shape, channel_axis)) {
    case OperandShape::kPerChannel:
      if (add && bias_ < 0 && posts_.empty() && takes_bias_) {
        bias_ = index;
      } else {
        push(result.channels);
      }
      return true;
    case OperandShape::kFull:
      if (add && !has_sum_ && operand.overwritable && takes_sum_) {
        has_sum_ = true;
        posts_.push_back({.kind = Post::Kind::kSum, .operand = index});
      } else {
        push(result.whole);
      }
      return true;
    case OperandShape::kScalar:
    case OperandShape::kOther:
      return false;
  }
  return false;
}

bool DnnPostOps::AddAll(const KernelRequest& request, int64_t channel_axis, DnnType type) {
  const Shape& output = request.outputs[0].shape;
  memory::dims dims(output.size(), 1);
  if (channel_axis >= 0) dims[static_cast<size_t>(channel_axis)] = output[static_cast<size_t>(channel_axis)];
  const ResultView result{.channels = PlainDesc(dims), .whole = AnyDesc(output, type)};
  number_desc_ = NumberDesc(output.size());
  return llvm::all_of(request.posts,
                      [&](const PostOperation& post) { return Add(request, post, result, channel_axis); });
}

OrReason<DnnPostOps> DnnPostOps::Make(const KernelRequest& request, int64_t channel_axis, DnnType type,
                                      bool takes_sum) {
  DnnPostOps posts;
  posts.takes_sum_ = takes_sum;
  if (!posts.AddAll(request, channel_axis, type)) return kNotFusedByDnn;
  return posts;
}

OrReason<DnnPostOps> DnnPostOps::MakeForQuantized(const KernelRequest& request, int64_t channel_axis,
                                                  DnnType type, const std::optional<QuantizationRange>& range,
                                                  bool takes_sum) {
  DnnPostOps posts;
  posts.takes_bias_ = false;
  posts.takes_sum_ = takes_sum && !range;
  if (!posts.AddAll(request, channel_axis, type)) return kNotFusedByDnn;
  if (range && !posts.AddQuantization(*range)) return kNotFusedByDnn;
  return posts;
}

DnnPostOps DnnPostOps::MakeForRequantization(const FoldedRequantization& codes, size_t rank) {
  DnnPostOps posts;
  posts.number_desc_ = NumberDesc(rank);
  std::optional<std::pair<float, float>> limits = codes.limits;
  // Stores saturate; intermediate results before an addition do not.
  if (codes.sum)
    limits = limits ? std::pair(std::max(limits->first, 0.0f), std::min(limits->second, 255.0f))
                    : std::pair(0.0f, 255.0f);
  if (limits) {
    posts.functions_.AppendLimits(limits->first, limits->second);
    posts.AddLastFunction();
  }
  if (!codes.sum) return posts;
  posts.functions_.AppendRound();
  posts.AddLastFunction();
  posts.functions_.AppendLinear(codes.sum->factor, codes.sum->offset);
  posts.AddLastFunction();
  posts.posts_.push_back(
      {.kind = Post::Kind::kSum, .operand = static_cast<int>(codes.sum->operand), .of_codes = codes.sum});
  return posts;
}

void DnnPostOps::AddLastFunction() {
  posts_.push_back({.kind = Post::Kind::kFunction, .function = functions_.functions().size() - 1});
}

bool DnnPostOps::AddQuantization(const QuantizationRange& range) {
  const QuantizationMap map(range);
  posts_.push_back({.kind = Post::Kind::kFunction, .function = functions_.functions().size()});
  return functions_.AppendLinear(map.factor, map.offset);
}

bool DnnPostOps::AddAllOfRows(const KernelRequest& request, int64_t rows, int64_t columns) {
  const ResultView result{.channels = PlainDesc({1, columns}), .whole = PlainDesc({rows, columns})};
  number_desc_ = NumberDesc(2);
  const int64_t channel_axis = static_cast<int64_t>(request.outputs[0].shape.size()) - 1;
  return llvm::all_of(request.posts,
                      [&](const PostOperation& post) { return Add(request, post, result, channel_axis); });
}

OrReason<DnnPostOps> DnnPostOps::MakeForRows(const KernelRequest& request, int64_t rows, int64_t columns) {
  DnnPostOps posts;
  if (!posts.AddAllOfRows(request, rows, columns)) return kNotFusedByDnn;
  return posts;
}

OrReason<DnnPostOps> DnnPostOps::MakeForQuantizedRows(const KernelRequest& request, int64_t rows,
                                                      int64_t columns,
                                                      const std::optional<QuantizationRange>& range) {
  DnnPostOps posts;
  posts.takes_bias_ = false;
  posts.takes_sum_ = !range;
  if (!posts.AddAllOfRows(request, rows, columns)) return kNotFusedByDnn;
  if (range && !posts.AddQuantization(*range)) return kNotFusedByDnn;
  return posts;
}

DnnPostOps DnnPostOps::AfterSum() const {
  DnnPostOps posts = *this;
  posts.posts_.insert(posts.posts_.begin(), {.kind = Post::Kind::kSum});
  return posts;
}

dnnl::primitive_attr DnnPostOps::Attributes() const {
  dnnl::post_ops ops;
  for (const Post& post : posts_) {
    switch (post.kind) {
      case Post::Kind::kFunction: {
        const DnnFunction& function = functions_.functions()[post.function];
        if (function.number) {
          ops.append_binary(function.algorithm, number_desc_);
        } else {
          ops.append_eltwise(1.0f, function.algorithm, function.alpha, function.beta);
        }
        break;
      }
      case Post::Kind::kSum:
        if (post.of_codes) {
          ops.append_sum(post.of_codes->other_factor, post.of_codes->others.zero);
        } else {
          ops.append_sum(1.0f);
        }
        break;
      case Post::Kind::kBinary:
        ops.append_binary(post.algorithm, post.operand_desc);
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
    const int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1;
    if (post.kind == Post::Kind::kFunction) {
      const std::optional<float> number = functions_.functions()[post.function].number;
      if (number) builder.AddNumber(id, *number, number_desc_);
      continue;
    }
    if (post.kind == Post::Kind::kSum && post.operand < 0) continue;
    if (post.kind == Post::Kind::kSum) {
      builder.RequireInPlace(post.operand, output, post.of_codes ? &post.of_codes->others : nullptr);
      continue;
    }
    memory::desc desc = post.operand_desc;
    if (desc.data.format_kind == dnnl_format_kind_any)
      desc = primitive.query_md(dnnl::query::exec_arg_md, id);
    builder.AddPostOperand(id, static_cast<size_t>(post.operand), desc);
  }
}

}  // namespace nnefc::runtime
