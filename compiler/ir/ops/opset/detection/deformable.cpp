// DeformableConvolution: convolution with sampling positions as data.

#include <algorithm>

#include "compiler/ir/ops/opset/detection/rows.h"
#include "compiler/ir/ops/opset/op_context.h"
#include "compiler/ir/ops/opset/windows/window.h"

namespace nnefc::ir::ops::opset::detection {

namespace {

// True if axis `axis` of the input has that extent; emits kOpsetExtent otherwise.
bool CheckExtent(OpContext& op, int32_t input, int64_t axis, Dim expected) {
  if (!op.has_input(input) || !op.shape(input).rank_known() || op.shape(input)[axis].Compatible(expected))
    return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected {} along axis {}", op.InputName(input),
           ToString(op.shape(input)), ToString(PartialShape{expected}), axis);
  return false;
}

// DeformableConvolution-1 and -8 with two spatial axes: data [n, channels, ..], offsets [n, deformable groups
// * 2 * kernel, ..], filters [outputs, channels / groups, ..] and, in version 8,
// a mask [n, deformable groups * kernel, ..].
void InferDeformableConvolution(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  if (op.failed()) return;
  const int64_t groups = op.Int("group"), deformable = op.Int("deformable_group");
  const PartialShape data = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(4);
  const PartialShape filters = op.shape(2).rank_known() ? op.shape(2) : PartialShape::OfRank(4);
  if (!CheckExtent(op, 0, 1, MultiplyOrAny(filters[1], Dim(groups)))) return;
  for (const auto& [extent, input, divisor] :
       {std::tuple(filters[0], 2, groups), std::tuple(data[1], 0, groups),
        std::tuple(data[1], 0, deformable)}) {
    if (!extent.known() || extent.value() % divisor == 0) continue;
    op.Error(kOpsetExtent, "{} has the shape {}; expected channels in {} groups", op.InputName(input),
             ToString(op.shape(input)), divisor);
    return;
  }
  std::vector<int64_t> kernel;
  for (int64_t axis = 2; axis < 4 && filters[axis].known(); ++axis) kernel.push_back(filters[axis].value());
  const std::optional<WindowAttributes> window = ReadWindow(op, kernel, 2);
  if (!window) return;
  PartialShape shape{data[0], filters[0], Dim(), Dim()};
  for (int32_t input : {1, 3}) {
    if (!op.has_input(input) || !op.shape(input).rank_known()) continue;
    if (const std::optional<Dim> batch = Merge(shape[0], op.shape(input)[0])) shape.set(0, *batch);
  }
  if (kernel.size() == 2) {
    for (int64_t axis = 0; axis < 2; ++axis) {
      const std::optional<Dim> extent = WindowOutput(op, *window, axis, data[axis + 2]);
      if (!extent) return;
      shape.set(axis + 2, *extent);
    }
    const Dim places(SaturatingMultiply(SaturatingMultiply(kernel[0], kernel[1]), deformable));
    if (!CheckExtent(op, 1, 1, MultiplyOrAny(places, Dim(2))) || !CheckExtent(op, 3, 1, places)) return;
  }
  for (int32_t input : {1, 3}) {
    for (int64_t axis : {0, 2, 3}) {
      if (!CheckExtent(op, input, axis, shape[axis])) return;
    }
  }
  op.Set(type, shape);
}

// Counts multiply-adds: each output is a dot product with the filter of its channel.
double CountProducts(const Node&, llvm::ArrayRef<Shape> inputs, llvm::ArrayRef<Shape> outputs) {
  return Elements(outputs[0]) * Elements(llvm::ArrayRef<int64_t>(inputs[2]).drop_front());
}

}  // namespace

std::vector<OpInfo> DeformableRows() {
  std::vector<AttributeInfo> attributes =
      WindowAttributeInfos({OnEachAxis("strides", 1), OnEachAxis("dilations", 1)});
  attributes.push_back(Positive({"group", AttributeKind::kInt, 1}));
  attributes.push_back(Positive({"deformable_group", AttributeKind::kInt, 1}));
  const AttributeInfo pads{"bilinear_interpolation_pad", AttributeKind::kBool, false};
  const AttributeInfo rounding{"rounding_type", AttributeKind::kString, "floor"};
  std::vector<AttributeInfo> later = attributes;
  later.push_back(pads);
  return {
      MakeRow({.set = "opset1",
               .name = "DeformableConvolution",
               .inputs = {"data: float 4", "offsets: float 4", "filters: float 4"},
               .attributes = attributes,
               .implied = {pads, rounding},
               .infer = Infer<InferDeformableConvolution>,
               .products = CountProducts}),
      MakeRow({.set = "opset8",
               .name = "DeformableConvolution",
               .inputs = {"data: float 4", "offsets: float 4", "filters: float 4", "mask?: float 4"},
               .attributes = later,
               .implied = {rounding},
               .infer = Infer<InferDeformableConvolution>,
               .products = CountProducts}),
  };
}

}  // namespace nnefc::ir::ops::opset::detection
