// Shape inference of OpenVINO's Interpolate and GridSample.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Returns the extents after `pads_begin` and `pads_end`, whose missing items are zeros.
std::optional<PartialShape> PaddedShape(OpContext& op) {
  PartialShape shape = op.shape(0);
  for (std::string_view name : {"pads_begin", "pads_end"}) {
    const std::vector<int64_t> pads = op.Ints(name);
    for (size_t i = 0; i < pads.size(); ++i) {
      if (static_cast<int64_t>(i) >= shape.rank() || pads[i] < 0) {
        op.Error(kOpsetAttributeValue, "`{}` of `Interpolate` has the item {} for axis {}", name, pads[i], i);
        return std::nullopt;
      }
      shape.set(static_cast<int64_t>(i), Shift(shape[static_cast<int64_t>(i)], pads[i]));
    }
  }
  return shape;
}

// Checks that there is one item for each axis; additional items are ignored.
bool CheckItems(OpContext& op, int32_t input, size_t axes) {
  const std::optional<int64_t> items = op.shape(input).volume();
  if (!items || *items >= static_cast<int64_t>(axes)) return true;
  op.Error(kOpsetConstantInput, "{} has {} items; expected at least {}", op.InputName(input), *items, axes);
  return false;
}

// The indices of an Interpolate's inputs for sizes, scales and axes.
struct ResizeInputs {
  int32_t sizes, scales, axes;
};

// Checks that sizes are integers of 32 or 64 bits and scales floats of at most 32 bits.
bool CheckResizeType(OpContext& op, int32_t input, bool sizes) {
  const ElementType type = op.type(input);
  const bool fits = sizes ? IsInteger(type) && BitWidth(type) >= 32 : IsFloat(type) && BitWidth(type) <= 32;
  if (type == ElementType::kDynamic || fits) return true;
  op.Error(kOpsetElementType, "{} has the element type {}; expected {}", op.InputName(input), Name(type),
           sizes ? "i32, i64, u32 or u64 for sizes" : "f32, f16 or bf16 for scales");
  return false;
}

// Interpolate-4 and -11: the axes get the given sizes, or their extents times the scales.
void InferResize(OpContext& op, ResizeInputs at) {
  const bool by_sizes = op.String("shape_calculation_mode") == "sizes";
  const int32_t target = by_sizes ? at.sizes : at.scales;
  if (!CheckResizeType(op, target, by_sizes)) return;
  if (!op.shape(0).rank_known()) return op.Set(op.type(0), PartialShape());
  std::optional<PartialShape> shape = PaddedShape(op);
  if (!shape) return;
  const auto sizes = by_sizes ? op.Integers(at.sizes) : std::nullopt;
  const std::optional<TensorValue> scales = by_sizes ? std::nullopt : op.Value(at.scales);
  std::vector<int64_t> axes;
  if (op.has_input(at.axes)) {
    const auto given = op.Integers(at.axes);
    if (!given) return op.Set(op.type(0), PartialShape::OfRank(shape->rank()));
    const auto normal = op.NormalizeAxes(*given, shape->rank());
    if (!normal) return;
    axes = *normal;
  } else {
    for (int64_t i = 0; i < shape->rank(); ++i) axes.push_back(i);
  }
  if (!CheckItems(op, target, axes.size())) return;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto position = static_cast<int64_t>(i);
    Dim extent;
    if (sizes ? (*sizes)[i] < 0 : scales && !(scales->ElementAsDouble(position) > 0)) {
      op.Error(kOpsetConstantInput, "{} has an item that is not positive", op.InputName(target));
      return;
    }
    const Dim source = (*shape)[axes[i]];
    if (sizes) {
      extent = Dim((*sizes)[i]);
    } else if (scales) {
      const auto scale = static_cast<float>(scales->ElementAsDouble(position));
      const std::optional<Dim> scaled = Rescale(source, scale);
      if (!scaled) {
        op.Error(kOpsetConstantInput, "{} has the item {} for {} elements", op.InputName(target), scale,
                 ExtentText(source));
        return;
      }
      extent = *scaled;
    }
    shape->set(axes[i], extent);
  }
  op.Set(op.type(0), *shape);
}

void InferInterpolate(OpContext& op) {
  InferResize(op, {.sizes = 1, .scales = 2, .axes = 3});
}

void InferInterpolate11(OpContext& op) {
  InferResize(op, {.sizes = 1, .scales = 1, .axes = 2});
}

// Interpolate-1: the axes are an attribute.
void InferInterpolate1(OpContext& op) {
  if (!op.shape(0).rank_known()) return op.Set(op.type(0), PartialShape());
  std::optional<PartialShape> padded = PaddedShape(op);
  if (!padded) return;
  PartialShape& shape = *padded;
  auto axes = op.NormalizeAxes(op.Ints("axes"), shape.rank());
  if (!axes) return;
  // The axes are a set: the sizes belong to the axes in ascending order.
  std::sort(axes->begin(), axes->end());
  const auto sizes = op.Integers(1);
  if (!CheckItems(op, 1, axes->size())) return;
  for (size_t i = 0; i < axes->size(); ++i) {
    if (sizes && (*sizes)[i] < 0) {
      op.Error(kOpsetConstantInput, "{} has the item {}", op.InputName(1), (*sizes)[i]);
      return;
    }
    shape.set((*axes)[i], sizes ? Dim((*sizes)[i]) : Dim());
  }
  op.Set(op.type(0), shape);
}

// GridSample-9: [batch, channels] of the data, extents of the grid.
void InferGridSample(OpContext& op) {
  PartialShape shape = PartialShape::OfRank(4);
  if (op.shape(0).rank_known()) {
    shape.set(0, op.shape(0)[0]);
    shape.set(1, op.shape(0)[1]);
  }
  const PartialShape& grid = op.shape(1);
  if (grid.rank_known()) {
    const std::optional<Dim> batch = Merge(shape[0], grid[0]);
    if (!batch || !grid[3].Compatible(Dim(2))) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected [batch,height,width,2]", op.InputName(1),
               ToString(grid));
      return;
    }
    shape.set(0, *batch);
    shape.set(2, grid[1]);
    shape.set(3, grid[2]);
  }
  op.Set(op.type(0), shape);
}

}  // namespace

std::vector<OpInfo> ResamplingRows() {
  const AttributeInfo antialias{"antialias", AttributeKind::kBool, false};
  const AttributeInfo pads_begin = OnEachAxis("pads_begin", 0);
  const AttributeInfo pads_end = OnEachAxis("pads_end", 0);
  const std::vector<AttributeInfo> resize{
      {"mode", AttributeKind::kString, std::nullopt, {"nearest", "linear", "linear_onnx", "cubic"}},
      {"shape_calculation_mode", AttributeKind::kString, std::nullopt, {"sizes", "scales"}},
      {"coordinate_transformation_mode",
       AttributeKind::kString,
       "half_pixel",
       {"half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"}},
      {"nearest_mode",
       AttributeKind::kString,
       "round_prefer_floor",
       {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}},
      antialias,
      pads_begin,
      pads_end,
      {"cube_coeff", AttributeKind::kDouble, -0.75}};
  std::vector<AttributeInfo> resize11 = resize;
  for (std::string_view mode : {"bilinear_pillow", "bicubic_pillow"}) resize11[0].choices.push_back(mode);
  return {
      MakeRow({.set = "opset1",
               .name = "Interpolate",
               .inputs = {"image: number 1..", "output_shape: integer 1"},
               .attributes =
                   {{"axes", AttributeKind::kInts},
                    {"mode", AttributeKind::kString, std::nullopt, {"nearest", "linear", "cubic", "area"}},
                    {"align_corners", AttributeKind::kBool, true},
                    antialias,
                    pads_begin,
                    pads_end},
               .implied = {{"shape_calculation_mode", AttributeKind::kString, "sizes"}},
               .infer = Infer<InferInterpolate1>,
               .work = Work::kHeavy}),
      MakeRow({.set = "opset4",
               .name = "Interpolate",
               .inputs = {"data: number 1..", "sizes: integer 1", "scales: float 1", "axes?: integer 1"},
               .attributes = resize,
               .infer = Infer<InferInterpolate>,
               .work = Work::kHeavy}),
      MakeRow({.set = "opset11",
               .name = "Interpolate",
               .inputs = {"image: number 1..", "scales_or_sizes: number 1", "axes?: integer 1"},
               .attributes = resize11,
               .infer = Infer<InferInterpolate11>,
               .work = Work::kHeavy}),
      MakeRow({.set = "opset9",
               .name = "GridSample",
               .inputs = {"data: number 4", "grid: float 4"},
               .attributes =
                   {{"align_corners", AttributeKind::kBool, false},
                    {"mode", AttributeKind::kString, "bilinear", {"bilinear", "bicubic", "nearest"}},
                    {"padding_mode", AttributeKind::kString, "zeros", {"zeros", "border", "reflection"}}},
               .infer = Infer<InferGridSample>}),
  };
}

}  // namespace nnefc::ir::ops::opset
