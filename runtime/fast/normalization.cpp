// LRN across channels, SoftMax, and BatchNormInference if not folded into the preceding filter.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "runtime/fast/factories.h"
#include "runtime/fast/pointwise/blocked_normalization.h"
#include "runtime/fast/post_ops.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/kernels/attributes.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

using dnnl::memory;

KernelOrReason MakeLrn(const KernelRequest& request) {
  const TensorValue* axes = request.inputs[1].constant;
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!DnnAccepts(request.inputs[0])) return kNotF32;
  if (axes == nullptr || axes->volume() != 1 || axes->ElementAsInt(0) != 1)
    return Reason("other axes than the channels");
  // oneDNN computes nothing for tensors of higher rank.
  constexpr size_t kMaxAxes = 5;
  if (request.inputs[0].shape.size() > kMaxAxes)
    return Reason("{} axes", static_cast<int64_t>(request.inputs[0].shape.size()));
  const memory::desc data = DescInF32(request.inputs[0]);
  const dnnl::lrn_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels, data,
      request.node->Int("size"), static_cast<float>(request.node->Double("alpha")),
      static_cast<float>(request.node->Double("beta")), static_cast<float>(request.node->Double("bias")));
  const dnnl::lrn_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(dnnl::lrn_forward(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

// oneDNN's softmax returns 0 for NaN and infinities: inputs with any of these run in the row kernel.
class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(std::shared_ptr<const Kernel> primitive, std::shared_ptr<const Kernel> rows)
      : primitive_(std::move(primitive)), rows_(std::move(rows)) {}

  std::string implementation() const override { return primitive_->implementation(); }
  std::unique_ptr<KernelState> NewState() const override { return primitive_->NewState(); }
  FaultOr<Success> Run(const KernelRun& run) const override {
    return AllFinite(run.input(0).data<float>(), run.input(0).volume()) ? primitive_->Run(run)
                                                                        : rows_->Run(run);
  }

 private:
  static bool AllFinite(const float* x, int64_t count) {
    std::atomic<bool> finite = true;
    ParallelParts(count, [&](int64_t begin, int64_t end) {
      int32_t beyond = 0;
      Vectorized([&] {
        for (int64_t i = begin; i < end; ++i) beyond |= static_cast<int32_t>(!(std::abs(x[i]) <= kMax));
      });
      if (beyond != 0) finite.store(false, std::memory_order_relaxed);
    });
    return finite;
  }

  static constexpr float kMax = std::numeric_limits<float>::max();
  std::shared_ptr<const Kernel> primitive_, rows_;
};

Reason SoftmaxApplies(const KernelRequest& request) {
  if (!request.posts.empty()) return kHasFusedOperation;
  if (!DnnAcceptsAll(request)) return kNotF32;
  return request.inputs[0].shape.empty() ? Reason("a scalar") : Reason();
}

// For small inputs, such as a classifier's result, creating the oneDNN primitive takes longer than a thousand
// runs save (processor not recorded).
Cost DnnSoftmaxCost(const KernelRequest& request) {
  constexpr int64_t kMinElements = (1 << 14) + 1;
  const int64_t elements = Volume(request.inputs[0].shape).value_or(0);
  if (elements >= kMinElements) return {0.5};
  return Cost::NotByDefault(Reason("{} elements, fewer than {}", elements, kMinElements));
}

KernelOrReason MakeDnnSoftmax(const KernelRequest& request) {
  const int64_t rank = static_cast<int64_t>(request.inputs[0].shape.size());
  const int64_t axis = NormalAxis(request.node->Int("axis"), rank);
  const KernelOrReason rows = MakeVectorizedSoftmax(request);
  if (!rows) return rows.reason();
  const memory::desc data = PlainDesc(request.inputs[0].shape);
  const dnnl::softmax_forward::desc desc(dnnl::prop_kind::forward_inference, data, static_cast<int>(axis));
  const dnnl::softmax_forward::primitive_desc primitive(desc, DnnKernelBuilder::Attributes(), DnnEngine(),
                                                        true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddOutput(DNNL_ARG_DST, 0, data);
  PreparedKernel prepared = builder.Finish(dnnl::softmax_forward(primitive), primitive.scratchpad_desc(),
                                           primitive.impl_info_str());
  prepared.kernel = std::make_shared<SoftmaxKernel>(prepared.kernel, rows->kernel);
  return prepared;
}

// Returns true if all parameters are finite: otherwise the order of operations in oneDNN's generated code
// matters. Row kernels keep to the order of the formula.
bool HasFiniteParameters(const KernelRequest& request) {
  const double epsilon = request.node->Double("epsilon");
  for (size_t input = 1; input < 5; ++input) {
    const TensorValue* value = request.inputs[input].constant;
    if (value == nullptr) return false;
    for (int64_t i = 0; i < value->volume(); ++i) {
      const double x = value->ElementAsDouble(i);
      if (!std::isfinite(x) || (input == 4 && !(x + epsilon > 0))) return false;
    }
  }
  return true;
}

// Row kernels keep to the order of the formula; the others need finite parameters.
Reason BatchNormApplies(const KernelRequest& request) {
  if (!DnnAcceptsAll(request)) return kNotF32;
  if (request.inputs[0].shape.size() < 3) return Reason("no pixels");
  return HasFiniteParameters(request) ? Reason() : Reason("a parameter is not a finite constant");
}
Reason RowBatchNormApplies(const KernelRequest& request) {
  if (!DnnAcceptsAll(request)) return kNotF32;
  return request.inputs[0].shape.size() < 3 ? Reason("no pixels") : Reason();
}

KernelOrReason MakeDnnBatchNorm(const KernelRequest& request) {
  const OrReason<DnnPostOps> posts = DnnPostOps::Make(request, -1);
  if (!posts) return posts.reason();
  using Flags = dnnl::normalization_flags;
  const memory::desc data = DescInF32(request.inputs[0]);
  const dnnl::batch_normalization_forward::desc desc(
      dnnl::prop_kind::forward_inference, data, static_cast<float>(request.node->Double("epsilon")),
      Flags::use_global_stats | Flags::use_scale | Flags::use_shift);
  const dnnl::batch_normalization_forward::primitive_desc primitive(desc, posts->Attributes(), DnnEngine(),
                                                                    true);
  // For row-major tensors oneDNN's portable code propagates NaN through relu.
  if (!primitive || std::string_view(primitive.impl_info_str()).find("jit") == std::string_view::npos)
    return kNotInDnn;
  const memory::desc vector = PlainDesc({request.inputs[0].shape[1]});
  DnnKernelBuilder builder(request);
  builder.AddInput(DNNL_ARG_SRC, 0, data);
  builder.AddReshapedInput(DNNL_ARG_SCALE, 1, vector);
  builder.AddReshapedInput(DNNL_ARG_SHIFT, 2, vector);
  builder.AddReshapedInput(DNNL_ARG_MEAN, 3, vector);
  builder.AddReshapedInput(DNNL_ARG_VARIANCE, 4, vector);
  builder.AddOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  builder.AllowInPlace(0);
  return builder.Finish(dnnl::batch_normalization_forward(primitive), primitive.scratchpad_desc(),
                        primitive.impl_info_str());
}

constexpr int kBlockedBatchNormCost = 50, kUsualCost = 100, kRowBatchNormCost = 200;
constexpr Implementation kSoftmax[] = {{"rows", SoftmaxApplies, FixedCost<kUsualCost>, MakeVectorizedSoftmax},
                                       {"onednn", SoftmaxApplies, DnnSoftmaxCost, MakeDnnSoftmax}};
constexpr Implementation kBatchNorm[] = {
    {"blocked", BatchNormApplies, FixedCost<kBlockedBatchNormCost>, MakeBlockedBatchNorm},
    {"onednn", BatchNormApplies, FixedCost<kUsualCost>, MakeDnnBatchNorm},
    {"rows", RowBatchNormApplies, FixedCost<kRowBatchNormCost>, MakeRowBatchNorm}};
const ImplementationTable kSoftmaxTables[] = {{"f32", AlwaysApplies, kSoftmax}};
const ImplementationTable kBatchNormTables[] = {{"f32", AlwaysApplies, kBatchNorm}};

}  // namespace

void RegisterDnnNormalization(KernelRegistry& registry) {
  AddDnnTables(registry, {"opset1"}, "LRN", TableOf<MakeLrn>("onednn"));
  AddDnnTables(registry, {"opset1", "opset8"}, "SoftMax", kSoftmaxTables);
  AddDnnTables(registry, {"opset5"}, "BatchNormInference", kBatchNormTables);
}

}  // namespace nnefc::runtime
