// Shape inference of OpenVINO's pooling operations.

#include <algorithm>

#include "compiler/ir/ops/opset/windows/window.h"

namespace nnefc::ir::ops::opset {

namespace {

// Checks that each window contains an input element, since the average excludes the padding. Emits
// kOpsetAttributeValue if pads are as large as the window.
bool CheckPads(OpContext& op, const WindowAttributes& window) {
  if (op.node().info().FindAttribute("exclude-pad") == nullptr || !op.Bool("exclude-pad")) return true;
  for (const WindowAxis& axis : window.axes) {
    const auto [begin, end] = *axis.padding;
    if (std::max(begin, end) < Reach(axis)) continue;
    op.Error(kOpsetAttributeValue,
             "a window of `AvgPool` over {} elements lies in the padding ({},{}), which "
             "`exclude-pad` leaves out",
             Reach(axis), begin, end);
    return false;
  }
  return true;
}

// Returns the output shape of any pooling.
std::optional<PartialShape> PooledShape(OpContext& op) {
  const std::vector<int64_t> kernel = op.Ints("kernel");
  const PartialShape& data = op.shape(0);
  const auto spatial = static_cast<int64_t>(kernel.size());
  if (spatial < 1 || spatial > 3 || (data.rank_known() && data.rank() != spatial + 2)) {
    op.Error(kOpsetAttributeValue, "`kernel` of `{}` has {} items; expected {}", op.node().type(), spatial,
             data.rank_known() ? fmt::format("{}", data.rank() - 2) : "1 to 3");
    return std::nullopt;
  }
  const auto window = ReadWindow(op, kernel, spatial);
  if (!window) return std::nullopt;
  if (!data.rank_known()) return PartialShape::OfRank(spatial + 2);
  if (!CheckPads(op, *window)) return std::nullopt;
  PartialShape shape = data;
  for (int64_t i = 0; i < spatial; ++i) {
    std::optional<Dim> dim = WindowOutput(op, *window, i, data[i + 2]);
    if (!dim) return std::nullopt;
    shape.set(i + 2, *dim);
  }
  return shape;
}

void InferPool(OpContext& op) {
  const std::optional<PartialShape> shape = PooledShape(op);
  if (shape) op.Set(op.type(0), *shape);
}

// MaxPool-8: the second output is the position of each maximum.
void InferMaxPoolWithIndices(OpContext& op) {
  const std::optional<PartialShape> shape = PooledShape(op);
  if (!shape) return;
  const ElementType index_type = op.Type("index_element_type");
  if (index_type != ElementType::kI32 && index_type != ElementType::kI64) {
    op.Error(kOpsetElementType, "`index_element_type` of `MaxPool` is {}; expected i32 or i64",
             Name(index_type));
    return;
  }
  if (shape->rank_known() && !op.NormalizeAxis(op.Int("axis"), shape->rank())) return;
  op.Set(0, op.type(0), *shape);
  op.Set(1, index_type, *shape);
}

// AdaptiveAvgPool-8 and AdaptiveMaxPool-8: the spatial extents of the second input.
template <bool kIndexed>
void InferAdaptivePool(OpContext& op) {
  if (kIndexed && op.Type("index_element_type") != ElementType::kI32 &&
      op.Type("index_element_type") != ElementType::kI64) {
    op.Error(kOpsetElementType, "`index_element_type` of `AdaptiveMaxPool` is {}; expected i32 or i64",
             Name(op.Type("index_element_type")));
    return;
  }
  PartialShape shape = op.shape(0);
  const std::optional<std::vector<int64_t>> extents = op.Integers(1);
  if (shape.rank_known()) {
    if (extents && static_cast<int64_t>(extents->size()) != shape.rank() - 2) {
      op.Error(kOpsetConstantInput, "{} has {} items; expected {}", op.InputName(1), extents->size(),
               shape.rank() - 2);
      return;
    }
    for (int64_t i = 2; i < shape.rank(); ++i) {
      const int64_t extent = extents ? (*extents)[static_cast<size_t>(i) - 2] : 0;
      if (extent < 0) {
        op.Error(kOpsetConstantInput, "{} has the item {}", op.InputName(1), extent);
        return;
      }
      shape.set(i, extents ? Dim(extent) : Dim());
    }
  }
  op.Set(0, op.type(0), shape);
  if (kIndexed) op.Set(1, op.Type("index_element_type"), shape);
}

}  // namespace

std::vector<OpInfo> PoolingRows() {
  const AttributeInfo kernel = Positive({"kernel", AttributeKind::kInts});
  const AttributeInfo rounding{"rounding_type", AttributeKind::kString, "floor", {"floor", "ceil"}};
  const AttributeInfo strides{"strides", AttributeKind::kInts, Attribute::Integers{}};
  std::vector<AttributeInfo> plain = WindowAttributeInfos({strides});
  plain.push_back(kernel);
  plain.push_back(rounding);
  std::vector<AttributeInfo> average = plain;
  average.push_back({"exclude-pad", AttributeKind::kBool});
  std::vector<AttributeInfo> indexed = WindowAttributeInfos({strides, OnEachAxis("dilations", 1)});
  indexed.push_back(kernel);
  indexed.push_back(rounding);
  indexed.push_back({"index_element_type", AttributeKind::kType, ElementType::kI64});
  indexed.push_back({"axis", AttributeKind::kInt, 0});
  const AttributeInfo torch_rounding{
      "rounding_type", AttributeKind::kString, "floor", {"floor", "ceil", "ceil_torch"}};
  const auto with_torch_rounding = [&](std::vector<AttributeInfo> infos) {
    for (AttributeInfo& info : infos) {
      if (info.name == "rounding_type") info = torch_rounding;
    }
    return infos;
  };
  std::vector<AttributeInfo> dilated = with_torch_rounding(average);
  dilated.push_back(OnEachAxis("dilations", 1));
  const std::vector<AttributeInfo> implied{OnEachAxis("dilations", 1)};
  return {
      MakeRow({.set = "opset1",
               .name = "MaxPool",
               .inputs = {"data: number 3..5"},
               .attributes = plain,
               .implied = implied,
               .infer = Infer<InferPool>,
               .pooling = Pooling::kMax}),
      MakeRow({.set = "opset1",
               .name = "AvgPool",
               .inputs = {"data: number 3..5"},
               .attributes = average,
               .implied = implied,
               .infer = Infer<InferPool>,
               .pooling = Pooling::kAverage}),
      MakeRow({.set = "opset8",
               .name = "MaxPool",
               .inputs = {"data: number 3..5"},
               .attributes = indexed,
               .infer = Infer<InferMaxPoolWithIndices>,
               .outputs = {"output", "indices"},
               .pooling = Pooling::kMax}),
      MakeRow({.set = "opset14",
               .name = "MaxPool",
               .inputs = {"data: number 3..5"},
               .attributes = with_torch_rounding(indexed),
               .infer = Infer<InferMaxPoolWithIndices>,
               .outputs = {"output", "indices"},
               .pooling = Pooling::kMax}),
      MakeRow({.set = "opset14",
               .name = "AvgPool",
               .inputs = {"data: number 3..5"},
               .attributes = with_torch_rounding(average),
               .implied = implied,
               .infer = Infer<InferPool>,
               .pooling = Pooling::kAverage}),
      MakeRow({.set = "opset16",
               .name = "AvgPool",
               .inputs = {"data: number 3..5"},
               .attributes = dilated,
               .infer = Infer<InferPool>,
               .pooling = Pooling::kAverage}),
      MakeRow({.set = "opset8",
               .name = "AdaptiveAvgPool",
               .inputs = {"data: number 3..5", "output_shape: integer 1"},
               .infer = Infer<InferAdaptivePool<false>>}),
      MakeRow({.set = "opset8",
               .name = "AdaptiveMaxPool",
               .inputs = {"data: number 3..5", "output_shape: integer 1"},
               .attributes = {{"index_element_type", AttributeKind::kType, ElementType::kI64}},
               .infer = Infer<InferAdaptivePool<true>>,
               .outputs = {"output", "indices"}}),
  };
}

}  // namespace nnefc::ir::ops::opset
