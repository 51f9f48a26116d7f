// Sizes, operands and masks of attention.

#include "runtime/fast/attention/attention_operands.h"

#include <cmath>
#include <limits>

#include "compiler/support/tensor/element_visitor.h"
#include "runtime/kernels/arithmetic/broadcast.h"

namespace nnefc::runtime::fast::attention {

namespace {

template <typename Number>
BatchedMatrix<Number> MatrixOf(const tensor::TensorView& view, llvm::ArrayRef<int64_t> batch, Number* data) {
  return {.data = data,
          .strides = kernels::BatchStrides(view, batch),
          .row_stride = view.strides()[view.strides().size() - 2]};
}

}  // namespace

AttentionMasks::AttentionMasks(const kernels::KernelRun& run, llvm::ArrayRef<int64_t> batch,
                               const AttentionSizes& sizes)
    : is_causal_(sizes.causal) {
  const bool is_given = run.inputs.size() > 3 && run.input(3).rank() > 0;
  if (is_causal_ || !is_given) return;
  view_ = &run.input(3);
  Shape scores(batch.begin(), batch.end());
  scores.append({sizes.queries, sizes.keys});
  strides_ = kernels::BroadcastStrides(*view_, scores);
}

AttentionMask AttentionMasks::At(llvm::ArrayRef<int64_t> batch, int64_t index) const {
  AttentionMask mask;
  mask.is_causal_ = is_causal_;
  if (view_ == nullptr) return mask;
  const size_t rank = strides_.size();
  const int64_t offset = kernels::BatchOffset(llvm::ArrayRef<int64_t>(strides_).drop_back(2), batch, index);
  mask.is_boolean_ = view_->type() == ElementType::kBoolean;
  mask.data_ = view_->bytes() + offset * static_cast<int64_t>(view_->element_bytes());
  mask.row_stride_ = strides_[rank - 2];
  mask.stride_ = strides_[rank - 1];
  if (!mask.is_boolean_ && mask.stride_ == 1) mask.floats_ = reinterpret_cast<const float*>(mask.data_);
  return mask;
}

void AttentionMask::Apply(int64_t query, float* scores, int64_t keys) const {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  if (is_causal_) {
    for (int64_t s = query + 1; s < keys; ++s) scores[s] += kNever;
  }
  if (data_ == nullptr) return;
  if (is_boolean_) {
    const Boolean* mask = reinterpret_cast<const Boolean*>(data_) + query * row_stride_;
    for (int64_t s = 0; s < keys; ++s) scores[s] += mask[s * stride_] ? 0.0f : kNever;
  } else {
    const float* mask = reinterpret_cast<const float*>(data_) + query * row_stride_;
    for (int64_t s = 0; s < keys; ++s) scores[s] += mask[s * stride_];
  }
}

kernels::FaultOr<AttentionCall> AttentionCall::Of(const kernels::KernelRun& run,
                                                  const AttentionSizes& sizes) {
  const bool is_scaled = run.inputs.size() > 4;
  if (is_scaled && run.input(4).volume() != 1)
    return kernels::KernelFault("{} scales; expected 1", run.input(4).volume());
  const llvm::ArrayRef<int64_t> batch = llvm::ArrayRef<int64_t>(run.output().shape()).drop_back(2);
  const double scale = is_scaled ? static_cast<double>(run.input(4).data<float>()[0])
                                 : 1 / std::sqrt(static_cast<double>(sizes.width));
  const auto operand = [&](size_t input) {
    return MatrixOf(run.input(input), batch, run.input(input).data<float>());
  };
  return AttentionCall{.q = operand(0),
                       .k = operand(1),
                       .v = operand(2),
                       .masks = AttentionMasks(run, batch, sizes),
                       .batch = batch,
                       .scale = static_cast<float>(scale),
                       .out = MatrixOf(run.output(), batch, run.output().mutable_data<float>())};
}

}  // namespace nnefc::runtime::fast::attention
