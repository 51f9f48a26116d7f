// The search for biases and batch normalizations that become a part of the preceding convolution or matrix
// multiplication.

#include "compiler/raise/absorb.h"

#include "compiler/raise/arithmetic/batch_norm.h"

namespace nnefc::raise {

namespace {

// True for a convolution, and for the product of a matrix and a constant matrix (it becomes `linear`).
bool TakesBias(const RaiseState& state, const ir::Node& node) {
  if (node.Is(ir::Contraction::kNone)) return false;
  const auto is_matrix = [&](int32_t index) {
    const ir::PartialShape& shape = state.source.output(node.input(index)).shape;
    return shape.rank_known() && shape.rank() == 2;
  };
  return !node.Is(ir::Contraction::kMatMul) || (!node.Bool("transpose_a") && is_matrix(0) && is_matrix(1) &&
                                                state.constants.Find(node.input(1)) != nullptr);
}

// True if `value` has one element for each channel of `shape`, its axis 1, by NumPy's alignment.
bool IsPerChannel(const TensorValue& value, const nnefc::Shape& shape) {
  if (value.type() != ElementType::kF32 || value.rank() > static_cast<int64_t>(shape.size())) return false;
  if (value.volume() != shape[1]) return false;
  const size_t channels = shape.size() - 2;  // counted from the last axis
  return channels < value.shape().size() &&
         value.shape()[value.shape().size() - 1 - channels] == value.volume();
}

}  // namespace

namespace {

// True if the output of `producer` has one use, with the same known shape.
bool HasOneUse(const ir::Node& producer, const ir::Node& user) {
  const ir::PartialShape& shape = producer.output().shape;
  return producer.uses().size() == 1 && shape.known() && shape == user.output().shape;
}

void AbsorbAddition(RaiseState& state, const ir::Node& add) {
  for (int32_t i = 0; i < 2; ++i) {
    const ir::Node& producer = state.source.node(add.input(i).node);
    const OutputPort bias = add.input(1 - i);
    const TensorValue* value = state.constants.Find(bias);
    if (value == nullptr || !TakesBias(state, producer) || !HasOneUse(producer, add)) continue;
    if (!IsPerChannel(*value, producer.output().shape.known_extents())) continue;
    state.absorbed[producer.id().index] = {.node = add.id(),
                                           .bias = *value,
                                           .bias_name = state.source.node(bias.node).name(),
                                           .is_from_half = state.constants.IsFromHalf(bias)};
    return;
  }
}

// The outputs of the filter of a convolution, but not of a transposed one, are its leading axes.
void AbsorbBatchNorm(RaiseState& state, const ir::Node& norm) {
  const ir::Node& producer = state.source.node(norm.input(InputNamed(norm, "data")).node);
  const bool is_convolution =
      producer.Is(ir::Contraction::kConvolution) || producer.Is(ir::Contraction::kGroupConvolution);
  if (!is_convolution || !HasOneUse(producer, norm)) return;
  const TensorValue* filter = state.constants.Find(producer.input(1));
  const auto transform = ChannelTransformOf(state, norm);
  if (filter == nullptr || filter->type() != ElementType::kF32 || !transform) return;
  const std::vector<float> shift(transform->shift.begin(), transform->shift.end());
  state.absorbed[producer.id().index] = {
      .node = norm.id(),
      .bias = TensorValue::FromFloats({static_cast<int64_t>(shift.size())}, shift),
      .bias_name = "",
      .scales = transform->scale};
}

}  // namespace

void FindAbsorbed(RaiseState& state, llvm::ArrayRef<ir::NodeId> order, const std::vector<bool>& live) {
  for (ir::NodeId id : order) {
    const ir::Node& node = state.source.node(id);
    if (!live[static_cast<size_t>(id.index)]) continue;
    if (node.Is(ir::ElementFunction::kAdd)) AbsorbAddition(state, node);
    const bool is_folded = state.options.folds_batch_normalization && node.info().is_batch_normalization;
    if (is_folded) AbsorbBatchNorm(state, node);
  }
}

}  // namespace nnefc::raise
