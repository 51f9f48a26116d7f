// LRN across channels, SoftMax, and BatchNormInference.

#include "runtime/fast/normalization.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/attributes.h"
#include "runtime/onednn/post_ops.h"
#include "runtime/onednn/rows.h"
#include "runtime/tensor/parallel.h"

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

// oneDNN's softmax returns 0 for NaN and infinities: inputs with any of these run in the row kernel.
class SoftmaxKernel final : public kernels::Kernel {
 public:
  SoftmaxKernel(std::shared_ptr<const kernels::Kernel> primitive, std::shared_ptr<const kernels::Kernel> rows)
      : primitive_(std::move(primitive)), rows_(std::move(rows)) {}

  std::string implementation() const override { return primitive_->implementation(); }
  std::unique_ptr<kernels::KernelState> NewState() const override { return primitive_->NewState(); }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    return AllFinite(run.input(0).data<float>(), run.input(0).volume()) ? primitive_->Run(run)
                                                                        : rows_->Run(run);
  }

 private:
  static bool AllFinite(const float* x, int64_t count) {
    std::atomic<bool> finite = true;
    tensor::ParallelParts(count, [&](int64_t begin, int64_t end) {
      int32_t beyond = 0;
      fast::simd::Vectorized([&] {
        for (int64_t i = begin; i < end; ++i) beyond |= static_cast<int32_t>(!(std::abs(x[i]) <= kMax));
      });
      if (beyond != 0) finite.store(false, std::memory_order_relaxed);
    });
    return finite;
  }

  static constexpr float kMax = std::numeric_limits<float>::max();
  std::shared_ptr<const kernels::Kernel> primitive_, rows_;
};

// For small inputs, such as a classifier's result, creating the oneDNN primitive takes longer than a thousand
// runs save (processor not recorded).
kernels::Cost SoftmaxCost(const kernels::KernelRequest& request) {
  constexpr int64_t kMinElements = (1 << 14) + 1;
  const int64_t elements = Volume(request.inputs[0].shape).value_or(0);
  if (elements >= kMinElements) return {0.5};
  return kernels::Cost::NotByDefault(kernels::Reason("{} elements, fewer than {}", elements, kMinElements));
}

kernels::KernelOrReason MakeSoftmax(const kernels::KernelRequest& request) {
  const int64_t rank = static_cast<int64_t>(request.inputs[0].shape.size());
  const int64_t axis = kernels::NormalAxis(request.node->Int("axis"), rank);
  const kernels::KernelOrReason rows = fast::pointwise::MakeVectorizedSoftmax(request);
  if (!rows) return rows.reason();
  const fast::memory::BlockedFormat data = fast::memory::RowMajorFormat(request.inputs[0].shape);
  const std::shared_ptr<const library::Primitive> primitive = CreatePrimitive(
      {.kind = library::PrimitiveKind::kSoftmax, .sources = {data}, .axis = static_cast<int>(axis)});
  if (primitive == nullptr) return kNotInOneDnn;
  OneDnnKernelBuilder builder(request, primitive);
  builder.AddInput({Role::kSource}, 0, data);
  builder.AddOutput(data);
  kernels::PreparedKernel prepared = builder.Finish();
  prepared.kernel = std::make_shared<SoftmaxKernel>(prepared.kernel, rows->kernel);
  return prepared;
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
constexpr kernels::Implementation kSoftmaxRows[] = {
    {"onednn", fast::SoftmaxApplies, SoftmaxCost, MakeSoftmax}};
constexpr kernels::Implementation kBatchNormRows[] = {
    {"onednn", fast::BatchNormApplies, kernels::FixedCost<kBatchNormCost>, MakeBatchNorm}};

}  // namespace

void AddNormalizationRows(fast::FastTables& tables) {
  tables.Add({"opset1"}, "LRN", fast::TableOf<MakeLrn>("onednn"));
  tables.Append({"opset1", "opset8"}, "SoftMax", {{"f32", kSoftmaxRows}});
  tables.Append({"opset5"}, "BatchNormInference", {{"f32", kBatchNormRows}});
}

}  // namespace nnefc::runtime::onednn
