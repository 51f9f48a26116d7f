#include <cmath>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

namespace {

// The extents after `pads_begin` and `pads_end`, whose missing items are zeros.
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

int64_t Scaled(int64_t extent, double scale) {
  const double scaled = std::floor(static_cast<double>(extent) * scale);
  return scaled >= 9e18 ? Dim::kUnbounded : static_cast<int64_t>(scaled);
}

// Interpolate-4: the axes take the given sizes, or the extents times the scales.
void InferInterpolate(OpContext& op) {
  if (!op.shape(0).rank_known()) return op.Set(op.type(0), PartialShape());
  std::optional<PartialShape> shape = PaddedShape(op);
  if (!shape) return;
  std::vector<int64_t> axes;
  if (op.has_input(3)) {
    const auto given = op.Integers(3);
    if (!given) return op.Set(op.type(0), PartialShape::OfRank(shape->rank()));
    const auto normal = op.NormalizeAxes(*given, shape->rank());
    if (!normal) return;
    axes = *normal;
  } else {
    for (int64_t i = 0; i < shape->rank(); ++i) axes.push_back(i);
  }
  const bool by_sizes = op.String("shape_calculation_mode") == "sizes";
  const auto sizes = op.Integers(1);
  const std::optional<TensorValue>& scales = op.input(2).value;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto position = static_cast<int64_t>(i);
    Dim extent;
    if (by_sizes ? sizes && i < sizes->size() && (*sizes)[i] < 0
                 : scales && position < scales->volume() && !(scales->ElementAsDouble(position) > 0)) {
      op.Error(kOpsetConstantInput, "{} has an item that is not positive", op.InputName(by_sizes ? 1 : 2));
      return;
    }
    const Dim source = (*shape)[axes[i]];
    if (by_sizes && sizes && i < sizes->size()) {
      extent = Dim((*sizes)[i]);
    } else if (!by_sizes && scales && position < scales->volume()) {
      const double scale = scales->ElementAsDouble(position);
      extent = Dim(Scaled(source.min, scale),
                   source.max == Dim::kUnbounded ? source.max : Scaled(source.max, scale));
    }
    shape->set(axes[i], extent);
  }
  op.Set(op.type(0), *shape);
}

}  // namespace

std::vector<OpRow> ResamplingRows() {
  const Attribute none = Attribute::Integers{};
  return {MakeRow(
      {.set = "opset4",
       .name = "Interpolate",
       .inputs = {"data", "sizes", "scales", "axes?"},
       .attributes =
           {{"mode", AttributeKind::kString, std::nullopt, {"nearest", "linear", "linear_onnx", "cubic"}},
            {"shape_calculation_mode", AttributeKind::kString, std::nullopt, {"sizes", "scales"}},
            {"coordinate_transformation_mode",
             AttributeKind::kString,
             "half_pixel",
             {"half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"}},
            {"nearest_mode",
             AttributeKind::kString,
             "round_prefer_floor",
             {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"}},
            {"antialias", AttributeKind::kBool, false},
            {"pads_begin", AttributeKind::kInts, none},
            {"pads_end", AttributeKind::kInts, none},
            {"cube_coeff", AttributeKind::kDouble, -0.75}},
       .infer = Infer<InferInterpolate>})};
}

}  // namespace nnefc::ir
