#include "runtime/fast/attention_operands.h"

#include <cmath>
#include <limits>

#include "runtime/kernels/broadcast.h"

namespace nnefc::runtime {

Operand::Operand(const TensorView& view, llvm::ArrayRef<int64_t> batch) : data(view.data<float>()) {
  Shape whole(batch.begin(), batch.end());
  whole.append({view.extent(view.rank() - 2), view.extent(view.rank() - 1)});
  const Strides all = BroadcastStrides(view, whole);
  strides.assign(all.begin(), all.end() - 2);
}

int64_t Operand::BatchOffset(llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> batch, int64_t index) {
  int64_t offset = 0;
  for (size_t axis = batch.size(); axis-- > 0;) {
    offset += index % batch[axis] * strides[axis];
    index /= batch[axis];
  }
  return offset;
}

AttentionMask::AttentionMask(const KernelRun& run, llvm::ArrayRef<int64_t> batch, const AttentionSizes& sizes)
    : is_causal_(sizes.causal) {
  const bool is_given = run.inputs.size() > 3 && run.input(3).rank() > 0 && run.input(3).volume() > 0;
  if (is_causal_ || !is_given) return;
  view_ = &run.input(3);
  Shape scores(batch.begin(), batch.end());
  scores.append({sizes.queries, sizes.keys});
  strides_ = BroadcastStrides(*view_, scores);
}

void AttentionMask::Apply(llvm::ArrayRef<int64_t> batch, int64_t index, int64_t query, float* scores,
                          int64_t keys) const {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  if (is_causal_) {
    for (int64_t s = query + 1; s < keys; ++s) scores[s] += kNever;
  }
  if (view_ == nullptr) return;
  const size_t rank = strides_.size();
  const int64_t offset = Operand::BatchOffset(llvm::ArrayRef<int64_t>(strides_).drop_back(2), batch, index) +
                         query * strides_[rank - 2];
  const int64_t stride = strides_[rank - 1];
  if (view_->type() == ElementType::kBoolean) {
    const Boolean* mask = view_->data<Boolean>() + offset;
    for (int64_t s = 0; s < keys; ++s) scores[s] += mask[s * stride] ? 0.0f : kNever;
  } else {
    const float* mask = view_->data<float>() + offset;
    for (int64_t s = 0; s < keys; ++s) scores[s] += mask[s * stride];
  }
}

FaultOr<AttentionCall> AttentionCall::Of(const KernelRun& run, const AttentionSizes& sizes) {
  const bool is_scaled = run.inputs.size() > 4;
  if (is_scaled && run.input(4).volume() != 1)
    return KernelFault("{} scales; expected 1", run.input(4).volume());
  const llvm::ArrayRef<int64_t> batch = llvm::ArrayRef<int64_t>(run.output().shape()).drop_back(2);
  const double scale = is_scaled ? static_cast<double>(run.input(4).data<float>()[0])
                                 : 1 / std::sqrt(static_cast<double>(sizes.width));
  return AttentionCall{.q = Operand(run.input(0), batch),
                       .k = Operand(run.input(1), batch),
                       .v = Operand(run.input(2), batch),
                       .mask = AttentionMask(run, batch, sizes),
                       .batch = batch,
                       .scale = static_cast<float>(scale),
                       .out = run.output().mutable_data<float>()};
}

}  // namespace nnefc::runtime
