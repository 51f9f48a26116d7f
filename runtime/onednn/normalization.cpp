// LRN across channels, and BatchNormInference.

#include "runtime/fast/normalization.h"

#include "runtime/onednn/post_ops.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime::onednn {

namespace {

using Role = library::PrimitiveArgument::Role;

kernels::KernelOrReason MakeLrn(const kernels::KernelRequest& request) {
  const TensorValue* axes = request.inputs[1].constant;
  if (!request.posts.empty()) return fast::kHasFusedOperation;
  if (!fast::memory::IsDenseF32(request.inputs[0])) return fast::kNotF32;
  if (axes == nullptr || axes->volume() != 1 || axes->ElementAsInt(0) != 1)
    return kernels::Reason("other axes than the channels");
  // oneDNN computes nothing for tensors of higher rank.
  constexpr size_t kMaxAxes = 5;
  if (request.inputs[0].shape.size() > kMaxAxes)
    return kernels::Reason("{} axes", static_cast<int64_t>(request.inputs[0].shape.size()));
  const fast::memory::BlockedFormat data = fast::memory::FormatInF32(request.inputs[0]);
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kLrn,
                       .sources = {data},
                       .alpha = static_cast<float>(request.node->Double("alpha")),
                       .beta = static_cast<float>(request.node->Double("beta")),
                       .offset = static_cast<float>(request.node->Double("bias")),
                       .size = request.node->Int("size")});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput({Role::kSource}, 0, data);
  builder.AddOutput();
  return builder.Finish();
}

kernels::KernelOrReason MakeBatchNorm(const kernels::KernelRequest& request) {
  const kernels::OrReason<OneDnnPostOps> posts = OneDnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  const fast::memory::BlockedFormat data = fast::memory::FormatInF32(request.inputs[0]);
  const std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kBatchNorm,
                       .sources = {data},
                       .epsilon = static_cast<float>(request.node->Double("epsilon")),
                       .posts = posts->OfPrimitive()});
  // For row-major tensors oneDNN's portable code propagates NaN through relu.
  if (primitive == nullptr || primitive->implementation().find("jit") == std::string::npos)
    return kNotInOneDnn;
  const fast::memory::BlockedFormat vector = fast::memory::RowMajorFormat({request.inputs[0].shape[1]});
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput({Role::kSource}, 0, data);
  builder.AddReshapedInput({Role::kScale}, 1, vector);
  builder.AddReshapedInput({Role::kShift}, 2, vector);
  builder.AddReshapedInput({Role::kMean}, 3, vector);
  builder.AddReshapedInput({Role::kVariance}, 4, vector);
  builder.AddOutput();
  builder.AllowInPlace(0);
  return builder.Finish();
}

constexpr int kBatchNormCost = 100;
constexpr kernels::Implementation kBatchNormRows[] = {
    {"onednn", fast::BatchNormApplies, kernels::FixedCost<kBatchNormCost>, MakeBatchNorm}};

}  // namespace

void AddNormalizationRows(fast::FastTables& tables) {
  tables.Add({"opset1"}, "LRN", fast::TableOf<MakeLrn>("onednn"));
  tables.Append({"opset5"}, "BatchNormInference", {{"f32", kBatchNormRows}});
}

}  // namespace nnefc::runtime::onednn
