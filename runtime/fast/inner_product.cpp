// The product of one row with a constant matrix in place (GEMV).

#include "runtime/fast/inner_product.h"

#include <algorithm>

#include "runtime/fast/gemm/epilogue.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/gemm/gemv_microkernel.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast {

using kernels::Reason;
using simd::kBlockColumns;

namespace {

// y[o] = sum over i of x[i] * weights[o, i], with post-ops.
class Gemv final : public kernels::Kernel {
 public:
  Gemv(const gemm::InnerProduct& shape, gemm::Epilogue steps) : shape_(shape), steps_(std::move(steps)) {}
  std::string implementation() const override { return "in_place"; }

  // Column operands, and the result padded to whole blocks.
  size_t scratch_bytes() const {
    return static_cast<size_t>(steps_.column_floats(shape_.outputs) + PaddedOutputs()) * sizeof(float);
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    auto* scratch = reinterpret_cast<float*>(run.scratch);
    const Call call{.x = run.input(0).data<float>(),
                    .weights = run.input(1).data<float>(),
                    .y = scratch + steps_.column_floats(shape_.outputs),
                    .operands = steps_.OperandsOf(run, shape_.outputs, scratch)};
    const int64_t blocks = PaddedOutputs() / kBlockColumns;
    tensor::ParallelFor(blocks, kBlockColumns * shape_.inputs, [&](int64_t block) { RunBlock(call, block); });
    std::copy_n(call.y, shape_.outputs, run.output().mutable_data<float>());
    return Success();
  }

 private:
  struct Call {
    const float* x;
    const float* weights;
    float* y;
    gemm::Epilogue::Operands operands;
  };

  int64_t PaddedOutputs() const { return tensor::RoundUp(shape_.outputs, kBlockColumns); }

  void RunBlock(const Call& call, int64_t block) const {
    const int64_t first = block * kBlockColumns;
    float* y = call.y + first;
    simd::RunGemvMicrokernel({.x = call.x,
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

  gemm::InnerProduct shape_;
  gemm::Epilogue steps_;
};

}  // namespace

Reason GemvApplies(const kernels::KernelRequest& request, const gemm::InnerProduct& shape) {
  const kernels::ValueInfo& weights = request.inputs[1];
  if (!simd::HasSimd()) return kNeedsSimd;
  if (shape.rows != 1) return Reason("{} rows", shape.rows);
  if (weights.constant == nullptr) return Reason("the matrix is not constant");
  if (weights.constant->compressed() != nullptr) return Reason("the matrix is compressed");
  if (shape.inputs_first) return Reason("the rows of the matrix are inputs");
  const bool is_f32 =
      weights.type == ElementType::kF32 && memory::MatmulType(request) == memory::StorageType::kF32;
  return is_f32 ? Reason() : Reason("the matrix is not f32");
}

// Weights come from memory or an outer cache for each row, at a speed independent of their layout; in place,
// from the mapped file if any, they save the packed copy and its packing time. Smaller ones fit into a core's
// cache, where with AVX-512 oneDNN is faster; with AVX2 it is not (processors not recorded).
kernels::Cost GemvCost(const kernels::KernelRequest& request, const gemm::InnerProduct&) {
  constexpr double kFastest = 0.05;
  constexpr int64_t kMinBytes512 = int64_t{1} << 20, kMinBytes256 = int64_t{1} << 10;
  const int64_t min_bytes = simd::SimdWidth() == simd::kSimdWidth512 ? kMinBytes512 : kMinBytes256;
  const auto bytes = static_cast<int64_t>(request.inputs[1].constant->byte_size());
  if (bytes >= min_bytes) return {kFastest};
  return kernels::Cost::NotByDefault(Reason("a matrix of {} bytes, fewer than {}", bytes, min_bytes));
}

kernels::KernelOrReason MakeGemv(const kernels::KernelRequest& request, const gemm::InnerProduct& shape,
                                 int64_t channel_axis) {
  kernels::OrReason<gemm::Epilogue> steps = gemm::Epilogue::Make(request, request.posts, channel_axis);
  if (!steps) return steps.reason();
  // Per-element operands are read in whole blocks.
  if (!steps->element_inputs().empty() && shape.outputs % kBlockColumns != 0)
    return Reason("{} columns with a fused elementwise operand, not whole blocks", shape.outputs);
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.outputs.resize(request.outputs.size());
  auto kernel = std::make_shared<Gemv>(shape, std::move(*steps));
  prepared.scratch_bytes = kernel->scratch_bytes();
  prepared.kernel = std::move(kernel);
  return prepared;
}

}  // namespace nnefc::runtime::fast
