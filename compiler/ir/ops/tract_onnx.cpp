// Primitives of tract's registry tract_onnx. Standard operations cannot express them.

#include "compiler/ir/ops/arguments.h"
#include "compiler/ir/ops/register.h"
#include "compiler/ir/ops/rows.h"

namespace nnefc::ir::ops {

namespace {

// Infers a column of coordinates for each element that is not zero.
void InferNonZero(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  const Dim rank = shape.rank_known() ? Dim(shape.rank()) : Dim();
  const llvm::SmallVector<Dim, 2> dims = {rank, Dim()};
  Produce(context, 0, ElementType::kI64, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_boxes.shape: boxes [n,k,4] and scores [n,c,k].
void InferNonMaxSuppression(InferContext& context) {
  const PartialShape &boxes = context.input(0).shape, &scores = context.input(1).shape;
  const int64_t center = context.attribute("center_point_box").AsInt();
  if (center != 0 && center != 1) {
    context.Error(kTractBoxes, "{} is {}; expected 0 or 1", Describe(context, "center_point_box"), center);
    return;
  }
  if (boxes.rank_known() && scores.rank_known()) {
    const bool fits = boxes.rank() == 3 && scores.rank() == 3 && boxes[2].Compatible(Dim(4)) &&
                      boxes[0].Compatible(scores[0]) && boxes[1].Compatible(scores[2]);
    if (!fits) {
      context.Error(kTractBoxes, "{} has shape {} and {} has shape {}; expected [n,k,4] and [n,c,k]",
                    Describe(context, 0), ToString(boxes), Describe(context, 1), ToString(scores));
      return;
    }
  }
  const llvm::SmallVector<Dim, 2> dims = {Dim(), Dim(3)};
  Produce(context, 0, ElementType::kI64, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_random.settings: positive extents.
void InferUniform(InferContext& context) {
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t extent : context.attribute("shape").AsInts()) {
    if (extent < 1) {
      context.Error(kTractRandom, "an extent of {} is {}; expected at least 1", Describe(context, "shape"),
                    extent);
      return;
    }
    dims.push_back(Dim(extent));
  }
  Produce(context, 0, ElementType::kF32, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_random.settings: a matrix of probabilities, at least one sample, and ONNX's number of i32 or i64.
void InferMultinomial(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  const int64_t dtype = context.attribute("dtype").AsInt(), count = context.attribute("sample_size").AsInt();
  if (dtype != 6 && dtype != 7) {
    context.Error(kTractRandom, "{} is {}; expected 6 or 7", Describe(context, "dtype"), dtype);
    return;
  }
  if (count < 1) {
    context.Error(kTractRandom, "{} is {}; expected at least 1", Describe(context, "sample_size"), count);
    return;
  }
  if (shape.rank_known() && shape.rank() != 2) {
    context.Error(kTractRandom, "{} has rank {}; expected 2", Describe(context, 0), shape.rank());
    return;
  }
  const llvm::SmallVector<Dim, 2> dims = {shape.rank_known() ? shape[0] : Dim(), Dim(count)};
  Produce(context, 0, ElementType::kI64, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

}  // namespace

void RegisterTractOnnx(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "tract_onnx_non_zero", .infer = ops::InferNonZero});
  ops::AddRow(registry, {.name = "tract_onnx_non_max_suppression", .infer = ops::InferNonMaxSuppression});
  ops::AddRow(registry, {.name = "tract_onnx_uniform", .infer = ops::InferUniform});
  ops::AddRow(registry, {.name = "tract_onnx_multinomial", .infer = ops::InferMultinomial});
}

}  // namespace nnefc::ir::ops
