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

constexpr std::string_view kResizeInterpolators[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kResizeCoordinates[] = {"half_pixel",         "half_pixel_symmetric",
                                                   "pytorch_half_pixel", "align_corners",
                                                   "asymmetric",         "tf_crop_and_resize"};
constexpr std::string_view kResizeNearest[] = {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};

// tract_sampling.choice: supported sampling modes, a scale for each axis, and for a region its begin and end.
void InferResample(InferContext& context) {
  if (!CheckChoice(context, kTractSampling, "interpolator", kResizeInterpolators)) return;
  if (!CheckChoice(context, kTractSampling, "coord_transformer", kResizeCoordinates)) return;
  if (!CheckChoice(context, kTractSampling, "nearest_mode", kResizeNearest)) return;
  const PartialShape& shape = context.input(0).shape;
  if (!shape.rank_known()) return Produce(context, 0, ElementType::kF32, PartialShape());
  const std::vector<double> scales = context.attribute("scales").AsDoubles();
  const std::vector<double> region = context.attribute("roi").AsDoubles();
  const auto rank = static_cast<size_t>(shape.rank());
  const bool has_region = context.attribute("coord_transformer").AsString() == "tf_crop_and_resize";
  if (scales.size() != rank || (has_region && region.size() != 2 * rank)) {
    context.Error(kTractSampling, "{} has {} items and {} has {}; expected {} and {} for {} of rank {}",
                  Describe(context, "scales"), scales.size(), Describe(context, "roi"), region.size(), rank,
                  has_region ? fmt::to_string(2 * rank) : "any number", Describe(context, 0), rank);
    return;
  }
  llvm::SmallVector<Dim, 4> dims;
  for (size_t i = 0; i < rank; ++i) {
    const Dim dim = shape[static_cast<int64_t>(i)];
    const float extent = static_cast<float>(dim.known() ? dim.value() : 0) * static_cast<float>(scales[i]);
    if (dim.known() && !(extent >= 1 && extent < 1e9F)) {
      context.Error(kTractSampling, "{} is {} for an extent of {}; expected a scale that leads to an extent",
                    Describe(context, "scales", i), scales[i], dim.value());
      return;
    }
    dims.push_back(scales[i] == 1 ? dim : dim.known() ? Dim(static_cast<int64_t>(extent)) : Dim());
  }
  Produce(context, 0, ElementType::kF32, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

// tract_trees.data: a row of features, or several, with those that the trees use, and at least one class.
void InferTrees(InferContext& context) {
  const PartialShape& shape = context.input(0).shape;
  const int64_t classes = context.attribute("n_classes").AsInt();
  const int64_t last_feature = context.attribute("max_used_feature").AsInt();
  constexpr std::string_view kAggregates[] = {"SUM", "AVERAGE", "MAX", "MIN"};
  if (!CheckChoice(context, kTractTrees, "aggregate_fn", kAggregates)) return;
  if (classes < 1 || last_feature < 0) {
    context.Error(kTractTrees, "{} is {} and {} is {}; expected at least 1 and 0",
                  Describe(context, "n_classes"), classes, Describe(context, "max_used_feature"),
                  last_feature);
    return;
  }
  if (!shape.rank_known()) return Produce(context, 0, ElementType::kF32, PartialShape());
  const bool fits = shape.rank() == 1 || shape.rank() == 2;
  const Dim features = fits ? shape[shape.rank() - 1] : Dim();
  if (!fits || (features.known() && features.value() <= last_feature)) {
    context.Error(kTractTrees, "{} has shape {}; expected one or two axes, the last of at least {} features",
                  Describe(context, 0), ToString(shape), last_feature + 1);
    return;
  }
  llvm::SmallVector<Dim, 2> dims = {Dim(classes)};
  if (shape.rank() == 2) dims.insert(dims.begin(), shape[0]);
  Produce(context, 0, ElementType::kF32, PartialShape(llvm::ArrayRef<Dim>(dims)));
}

}  // namespace

void RegisterTractOnnx(OpRegistry& registry) {
  ops::AddRow(registry, {.name = "tract_onnx_non_zero", .infer = ops::InferNonZero});
  ops::AddRow(registry, {.name = "tract_onnx_non_max_suppression", .infer = ops::InferNonMaxSuppression});
  ops::AddRow(registry, {.name = "tract_onnx_uniform", .infer = ops::InferUniform});
  ops::AddRow(registry, {.name = "tract_onnx_multinomial", .infer = ops::InferMultinomial});
  ops::AddRow(registry, {.name = "tract_onnx_resample", .infer = ops::InferResample});
  ops::AddRow(registry, {.name = "tract_onnx_trees", .infer = ops::InferTrees});
}

}  // namespace nnefc::ir::ops
