// Translation of post-ops to oneDNN.

#include "runtime/onednn/post_ops.h"

#include "llvm/ADT/STLExtras.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime::onednn {

using kernels::KernelRequest;

bool OneDnnPostOps::Add(const KernelRequest& request, const kernels::PostOperation& post,
                        const ResultView& result, int64_t channel_axis) {
  const auto first = static_cast<size_t>(post.first_operand);
  const int index = post.first_operand;
  const size_t before = functions_.functions().size();
  const fast::gemm::PostOpKind kind = fast::gemm::ClassifyPostOp(request, post, channel_axis, functions_);
  const bool adds = post.node->Is(ir::ElementFunction::kAdd);
  const auto push = [&](const fast::memory::BlockedFormat& format) {
    posts_.push_back(
        {.kind = Post::Kind::kBinary,
         .operand = index,
         .operation = adds ? fast::gemm::FunctionKind::kAdd : fast::gemm::FunctionKind::kMultiply,
         .format = format});
  };
  switch (kind) {
    case fast::gemm::PostOpKind::kFunction:
      for (size_t i = before; i < functions_.functions().size(); ++i)
        posts_.push_back({.kind = Post::Kind::kFunction, .function = i});
      return true;
    case fast::gemm::PostOpKind::kPerChannel:
      if (adds && bias_ < 0 && posts_.empty() && takes_bias_) {
        bias_ = index;
      } else {
        push(result.channels);
      }
      return true;
    case fast::gemm::PostOpKind::kFull:
      if (adds && !has_sum_ && request.inputs[first].overwritable && takes_sum_) {
        has_sum_ = true;
        posts_.push_back({.kind = Post::Kind::kSum, .operand = index});
      } else {
        push(result.whole);
      }
      return true;
    case fast::gemm::PostOpKind::kOther:
      break;
  }
  return false;
}

bool OneDnnPostOps::AddAll(const KernelRequest& request, int64_t channel_axis,
                           fast::memory::StorageType type) {
  const Shape& output = request.outputs[0].shape;
  Shape dims(output.size(), 1);
  if (channel_axis >= 0) dims[static_cast<size_t>(channel_axis)] = output[static_cast<size_t>(channel_axis)];
  const ResultView result{.channels = fast::memory::RowMajorFormat(dims),
                          .whole = fast::memory::AnyFormat(output, type)};
  number_format_ = fast::memory::ScalarFormat(output.size());
  return llvm::all_of(request.posts, [&](const kernels::PostOperation& post) {
    return Add(request, post, result, channel_axis);
  });
}

kernels::OrReason<OneDnnPostOps> OneDnnPostOps::Make(const KernelRequest& request, int64_t channel_axis,
                                                     fast::memory::StorageType type, bool takes_sum) {
  OneDnnPostOps posts;
  posts.takes_sum_ = takes_sum;
  if (!posts.AddAll(request, channel_axis, type)) return fast::kNotFusedByOneDnn;
  return posts;
}

kernels::OrReason<OneDnnPostOps> OneDnnPostOps::MakeForQuantized(
    const KernelRequest& request, int64_t channel_axis, fast::memory::StorageType type,
    const std::optional<fast::int8::QuantizationRange>& range, bool takes_sum) {
  OneDnnPostOps posts;
  posts.takes_bias_ = false;
  posts.takes_sum_ = takes_sum && !range;
  if (!posts.AddAll(request, channel_axis, type)) return fast::kNotFusedByOneDnn;
  if (range && !posts.AddQuantization(*range)) return fast::kNotFusedByOneDnn;
  return posts;
}

OneDnnPostOps OneDnnPostOps::MakeForRequantization(const fast::int8::FoldedRequantization& codes,
                                                   size_t rank) {
  OneDnnPostOps posts;
  posts.number_format_ = fast::memory::ScalarFormat(rank);
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

void OneDnnPostOps::AddLastFunction() {
  posts_.push_back({.kind = Post::Kind::kFunction, .function = functions_.functions().size() - 1});
}

bool OneDnnPostOps::AddQuantization(const fast::int8::QuantizationRange& range) {
  const fast::int8::QuantizationMap map(range);
  posts_.push_back({.kind = Post::Kind::kFunction, .function = functions_.functions().size()});
  return functions_.AppendLinear(map.factor, map.offset);
}

bool OneDnnPostOps::AddAllOfRows(const KernelRequest& request, int64_t rows, int64_t columns) {
  const ResultView result{.channels = fast::memory::RowMajorFormat({1, columns}),
                          .whole = fast::memory::RowMajorFormat({rows, columns})};
  number_format_ = fast::memory::ScalarFormat(2);
  const int64_t channel_axis = static_cast<int64_t>(request.outputs[0].shape.size()) - 1;
  return llvm::all_of(request.posts, [&](const kernels::PostOperation& post) {
    return Add(request, post, result, channel_axis);
  });
}

kernels::OrReason<OneDnnPostOps> OneDnnPostOps::MakeForRows(const KernelRequest& request, int64_t rows,
                                                            int64_t columns) {
  OneDnnPostOps posts;
  if (!posts.AddAllOfRows(request, rows, columns)) return fast::kNotFusedByOneDnn;
  return posts;
}

kernels::OrReason<OneDnnPostOps> OneDnnPostOps::MakeForQuantizedRows(
    const KernelRequest& request, int64_t rows, int64_t columns,
    const std::optional<fast::int8::QuantizationRange>& range) {
  OneDnnPostOps posts;
  posts.takes_bias_ = false;
  posts.takes_sum_ = !range;
  if (!posts.AddAllOfRows(request, rows, columns)) return fast::kNotFusedByOneDnn;
  if (range && !posts.AddQuantization(*range)) return fast::kNotFusedByOneDnn;
  return posts;
}

OneDnnPostOps OneDnnPostOps::AfterSum() const {
  OneDnnPostOps posts = *this;
  posts.posts_.insert(posts.posts_.begin(), {.kind = Post::Kind::kSum});
  return posts;
}

std::vector<library::PrimitivePostOp> OneDnnPostOps::OfPrimitive() const {
  using Kind = library::PrimitivePostOp::Kind;
  std::vector<library::PrimitivePostOp> posts;
  for (const Post& post : posts_) {
    switch (post.kind) {
      case Post::Kind::kFunction: {
        const fast::gemm::ChainedFunction& function = functions_.functions()[post.function];
        if (function.number) {
          posts.push_back({.kind = Kind::kBinary, .function = function.kind, .operand = number_format_});
        } else {
          posts.push_back({.kind = Kind::kFunction,
                           .function = function.kind,
                           .alpha = function.alpha,
                           .beta = function.beta});
        }
        break;
      }
      case Post::Kind::kSum:
        posts.push_back({.kind = Kind::kSum});
        if (post.of_codes) {
          posts.back().scale = post.of_codes->other_factor;
          posts.back().zero = post.of_codes->others.zero;
        }
        break;
      case Post::Kind::kBinary:
        posts.push_back({.kind = Kind::kBinary, .function = post.operation, .operand = post.format});
        break;
    }
  }
  return posts;
}

void OneDnnPostOps::AddArguments(const fast::memory::BlockedFormat& output,
                                 OneDnnKernelBuilder& builder) const {
  for (size_t i = 0; i < posts_.size(); ++i) {
    const Post& post = posts_[i];
    const library::PrimitiveArgument argument{library::PrimitiveArgument::Role::kPostOperand,
                                              static_cast<int>(i)};
    if (post.kind == Post::Kind::kFunction) {
      const std::optional<float> number = functions_.functions()[post.function].number;
      if (number) builder.AddNumber(argument, *number, number_format_);
      continue;
    }
    if (post.kind == Post::Kind::kSum && post.operand < 0) continue;
    if (post.kind == Post::Kind::kSum) {
      builder.RequireInPlace(post.operand, output, post.of_codes ? &post.of_codes->others : nullptr);
      continue;
    }
    // An operand must be row-major if it has fewer axes than the primitive.
    const fast::memory::BlockedFormat format =
        post.format.is_any ? builder.primitive().format(argument) : post.format;
    builder.AddInput(argument, static_cast<size_t>(post.operand), format);
  }
}

}  // namespace nnefc::runtime::onednn
