#include "runtime/fast/inner_product.h"

#include <algorithm>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/gemv_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime {

using dnnl::memory;

namespace {

// Adds the arguments common to both primitives; `swapped` if the rows of the constant are the columns of the
// primitive's weights.
template <typename Primitive, typename PrimitiveDesc>
PreparedKernel Finish(const KernelRequest& request, const DnnPostOps& posts, const PrimitiveDesc& primitive,
                      bool swapped) {
  DnnKernelBuilder builder(request);
  builder.AddReshapedInput(DNNL_ARG_SRC, 0, primitive.src_desc());
  if (swapped) {
    builder.AddOrderedInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc(), SwappedOrder(2, 0, 1));
  } else {
    builder.AddInput(DNNL_ARG_WEIGHTS, 1, primitive.weights_desc());
  }
  if (posts.bias() >= 0)
    builder.AddReshapedInput(DNNL_ARG_BIAS, static_cast<size_t>(posts.bias()), primitive.bias_desc());
  posts.AddArguments(primitive, primitive.dst_desc(), builder);
  builder.AddReshapedOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  return builder.Finish(Primitive(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

// y[o] = sum over i of x[i] * weights[o, i], with post-ops.
class Gemv final : public Kernel {
 public:
  Gemv(const InnerProduct& shape, Epilogue steps) : shape_(shape), steps_(std::move(steps)) {}
  std::string implementation() const override { return "in_place"; }

  // Column operands, and the result padded to whole blocks.
  size_t scratch_bytes() const {
    return static_cast<size_t>(steps_.column_floats(shape_.outputs) + PaddedOutputs()) * sizeof(float);
  }

  FaultOr<Success> Run(const KernelRun& run) const override {
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    const Call call{.x = run.input(0).data<float>(),
                    .weights = run.input(1).data<float>(),
                    .y = scratch + steps_.column_floats(shape_.outputs),
                    .operands = steps_.OperandsOf(run, shape_.outputs, scratch)};
    const int64_t blocks = PaddedOutputs() / kBlockColumns;
    ParallelFor(blocks, kBlockColumns * shape_.inputs, [&](int64_t block) { RunBlock(call, block); });
    std::copy_n(call.y, shape_.outputs, run.output().mutable_data<float>());
    return Success();
  }

 private:
  struct Call {
    const float* x;
    const float* weights;
    float* y;
    Epilogue::Operands operands;
  };

  int64_t PaddedOutputs() const { return RoundUp(shape_.outputs, kBlockColumns); }

  void RunBlock(const Call& call, int64_t block) const {
    const int64_t first = block * kBlockColumns;
    float* y = call.y + first;
    RunGemvMicrokernel({.x = call.x,
                        .rows = call.weights,
                        .inputs = shape_.inputs,
                        .first = first,
                        .last = shape_.outputs - 1,
                        .sums = y});
    const float* bias = call.operands.ColumnsOf(steps_.bias(), first);
    const float* start = call.operands.ElementsOf(steps_.start(), first);
    for (int64_t i = 0; i < kBlockColumns; ++i) {
      if (bias != nullptr) y[i] += bias[i];
      if (start != nullptr) y[i] += start[i];
      y[i] = steps_.limits().Of(y[i]);
    }
    steps_.Finish({.out = {y, PaddedOutputs(), kBlockColumns},
                   .offset = first,
                   .column = first,
                   .rows = 1,
                   .blocks = 1},
                  shape_.outputs, call.operands);
  }

  InnerProduct shape_;
  Epilogue steps_;
};

}  // namespace

Reason GemvApplies(const KernelRequest& request, const InnerProduct& shape) {
  const ValueInfo& weights = request.inputs[1];
  if (!HasSimd()) return kNeedsSimd;
  if (shape.rows != 1) return Reason("{} rows", shape.rows);
  if (weights.constant == nullptr) return Reason("the matrix is not constant");
  if (weights.constant->compressed() != nullptr) return Reason("the matrix is compressed");
  if (shape.inputs_first) return Reason("the rows of the matrix are inputs");
  const bool is_f32 = weights.type == ElementType::kF32 && MatmulType(request) == DnnType::f32;
  return is_f32 ? Reason() : Reason("the matrix is not f32");
}

// Weights come from memory or an outer cache for each row, at a speed independent of their layout; in place,
// from the mapped file if any, they save the packed copy and its packing time. Smaller ones fit into a core's
// cache, where with AVX-512 oneDNN is faster; with AVX2 it is not (processors not recorded).
Cost GemvCost(const KernelRequest& request, const InnerProduct&) {
  constexpr double kFastest = 0.05;
  constexpr int64_t kMinBytes512 = int64_t{1} << 20, kMinBytes256 = int64_t{1} << 10;
  const int64_t min_bytes = SimdWidth() == kSimdWidth512 ? kMinBytes512 : kMinBytes256;
  const auto bytes = static_cast<int64_t>(request.inputs[1].constant->byte_size());
  if (bytes >= min_bytes) return {kFastest};
  return Cost::NotByDefault(Reason("a matrix of {} bytes, fewer than {}", bytes, min_bytes));
}

KernelOrReason MakeGemv(const KernelRequest& request, const InnerProduct& shape, int64_t channel_axis) {
  OrReason<Epilogue> steps = Epilogue::Make(request, request.posts, channel_axis);
  if (!steps) return steps.reason();
  // Per-element operands are read in whole blocks.
  if (!steps->element_inputs().empty() && shape.outputs % kBlockColumns != 0)
    return Reason("{} columns with a fused elementwise operand, not whole blocks", shape.outputs);
  PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  auto kernel = std::make_shared<Gemv>(shape, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

// oneDNN 2.6's matmul with packed weights takes 0.85 of the time of its inner product on transformer layers,
// especially with weights from memory; with fewer rows it is slower (processor not recorded).
Cost DnnMatmulCost(const KernelRequest&, const InnerProduct& shape) {
  constexpr double kFast = 0.15;
  constexpr int64_t kMinRows = 8;
  if (shape.rows >= kMinRows) return {kFast};
  return Cost::NotByDefault(Reason("{} rows, fewer than {}", shape.rows, kMinRows));
}

KernelOrReason MakeDnnMatmul(const KernelRequest& request, const DnnPostOps& posts,
                             const InnerProduct& shape) {
  const DnnType type = MatmulType(request);
  const memory::desc source = PlainDesc({shape.rows, shape.inputs}, type);
  const memory::desc weights = AnyDesc({shape.inputs, shape.outputs}, type);
  const memory::desc bias = PlainDesc({1, shape.outputs});
  const memory::desc result = PlainDesc({shape.rows, shape.outputs});
  const dnnl::matmul::desc desc = posts.bias() >= 0 ? dnnl::matmul::desc(source, weights, bias, result)
                                                    : dnnl::matmul::desc(source, weights, result);
  const dnnl::matmul::primitive_desc primitive(desc, posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  if (IsDnnGemm(primitive.impl_info_str())) return Reason("oneDNN does not pack the matrix");
  return Finish<dnnl::matmul>(request, posts, primitive, !shape.inputs_first);
}

Cost DnnInnerProductCost(const KernelRequest&, const InnerProduct&) {
  constexpr double kFast = 0.2;
  return {kFast};
}

KernelOrReason MakeDnnInnerProduct(const KernelRequest& request, const DnnPostOps& posts,
                                   const InnerProduct& shape) {
  using dnnl::inner_product_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const DnnType type = MatmulType(request);
  const memory::desc source = PlainDesc({shape.rows, shape.inputs}, type);
  const memory::desc weights = AnyDesc({shape.outputs, shape.inputs}, type);
  const memory::desc bias = PlainDesc({shape.outputs});
  const memory::desc result = PlainDesc({shape.rows, shape.outputs});
  const inner_product_forward::desc desc =
      posts.bias() >= 0 ? inner_product_forward::desc(kind, source, weights, bias, result)
                        : inner_product_forward::desc(kind, source, weights, result);
  const inner_product_forward::primitive_desc primitive(desc, posts.Attributes(), DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  return Finish<inner_product_forward>(request, posts, primitive, shape.inputs_first);
}

OrReason<Int8Step> Int8MatmulStepOf(const KernelRequest& given) {
  Int8Step step(given, static_cast<int64_t>(given.outputs[0].shape.size()) - 1);
  if (step.coded.sum) return Reason("a fused sum");
  return step;
}

KernelOrReason MakeDnnInt8Matmul(const KernelRequest& given, const Int8Step& step,
                                 const InnerProduct& shape) {
  const Int8Request& coded = step.coded;
  const std::optional<FoldedRequantization>& folded = step.folded;
  const OrReason<DnnPostOps> posts =
      folded ? DnnPostOps::MakeForRequantization(*folded, 2)
             : DnnPostOps::MakeForQuantizedRows(coded.request, shape.rows, shape.outputs, coded.range);
  if (!posts) return posts.reason();
  dnnl::primitive_attr attributes = posts->Attributes();
  SetInt8Scales(attributes, *step.source, folded ? folded->scales : step.scales);
  const DnnType type = coded.range ? DnnType::u8 : DnnType::f32;
  const memory::desc left = PlainDesc({shape.rows, shape.inputs}, DnnType::u8);
  const memory::desc weights = AnyDesc({shape.inputs, shape.outputs}, DnnType::s8);
  const memory::desc bias = PlainDesc({1, shape.outputs});
  const memory::desc result = PlainDesc({shape.rows, shape.outputs}, type);
  const bool has_bias = folded && !folded->bias.empty();
  const dnnl::matmul::desc desc =
      has_bias ? dnnl::matmul::desc(left, weights, bias, result) : dnnl::matmul::desc(left, weights, result);
  const dnnl::matmul::primitive_desc primitive(desc, attributes, DnnEngine(), true);
  if (!primitive || IsDnnReference(primitive.impl_info_str())) return kNotInDnn;
  if (IsDnnGemm(primitive.impl_info_str())) return Reason("oneDNN does not pack the matrix");
  DnnKernelBuilder builder(given);
  builder.AddReshapedQuantizedInput(DNNL_ARG_SRC, 0, primitive.src_desc(), *step.source);
  constexpr int kColumns = 1 << 1;
  builder.AddInputIn(
      DNNL_ARG_WEIGHTS, 1, primitive.weights_desc(),
      {.order = shape.inputs_first ? AxisOrder() : SwappedOrder(2, 0, 1),
       .filter_codes = DnnFilterQuantization{.scales = given.filter_scales.vec(), .mask = kColumns}});
  if (has_bias) builder.AddNumbers(DNNL_ARG_BIAS, folded->bias, bias);
  posts->AddArguments(primitive, primitive.dst_desc(), builder);
  if (coded.range) {
    builder.AddReshapedQuantizedOutput(DNNL_ARG_DST, 0, primitive.dst_desc(), coded.range->codes);
  } else {
    builder.AddReshapedOutput(DNNL_ARG_DST, 0, primitive.dst_desc());
  }
  return builder.Finish(dnnl::matmul(primitive), primitive.scratchpad_desc(), primitive.impl_info_str());
}

}  // namespace nnefc::runtime
