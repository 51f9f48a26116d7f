// Shape inference of NNEF operations that broadcast.

#include "compiler/ir/ops/arithmetic/broadcast.h"

namespace nnefc::ir::ops {

namespace {

bool Extend(InferContext& context, PartialShape& shape, const PartialShape& next, int32_t parameter,
            size_t item) {
  BroadcastResult result = BroadcastShapes(shape, next, Alignment::kFirst);
  if (result.mismatch) {
    context.Error(kBroadcast,
                  "{} has shape {}, which does not broadcast with {}: the extents differ along axis {}",
                  Describe(context, parameter, item), ToString(next), ToString(shape), *result.mismatch);
    return false;
  }
  shape = std::move(result.shape);
  return true;
}

}  // namespace

std::optional<PartialShape> BroadcastInputs(InferContext& context, llvm::ArrayRef<int32_t> parameters) {
  PartialShape shape = PartialShape::OfRank(0);
  for (int32_t parameter : parameters) {
    const llvm::ArrayRef<const Output*> items = context.segment(parameter);
    for (size_t i = 0; i < items.size(); ++i) {
      if (!Extend(context, shape, items[i]->shape, parameter, i)) return std::nullopt;
    }
  }
  return shape;
}

std::optional<PartialShape> BroadcastInput(InferContext& context, const PartialShape& shape,
                                           int32_t parameter) {
  const Output* input = FindInput(context, parameter);
  PartialShape result = shape;
  if (input != nullptr && !Extend(context, result, input->shape, parameter, 0)) return std::nullopt;
  return result;
}

void ProduceBroadcast(InferContext& context, ElementType type, llvm::ArrayRef<int32_t> parameters) {
  std::optional<PartialShape> shape = BroadcastInputs(context, parameters);
  if (shape) Produce(context, 0, type, std::move(*shape));
}

}  // namespace nnefc::ir::ops
