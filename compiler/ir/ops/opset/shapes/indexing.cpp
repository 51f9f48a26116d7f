// Shape inference of OpenVINO's Gather, GatherElements, ScatterElementsUpdate, Range and Broadcast.

#include <algorithm>
#include <cmath>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Gather: the extents of the indices, after the shared `batch_dims`, replace the axis.
void InferGather(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const PartialShape& indices = op.shape(1);
  const std::optional<std::vector<int64_t>> given = op.Integers(2);
  if (!data.rank_known() || !indices.rank_known() || !given) {
    return op.Set(op.type(0), PartialShape());
  }
  const std::optional<int64_t> axis = op.NormalizeAxis(given->front(), data.rank());
  if (!axis) return;
  int64_t batch = op.Int("batch_dims");
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch > *axis) {
    op.Error(kOpsetAttributeValue, "`batch_dims` of `Gather` is {}; indices have rank {}, the axis is {}",
             batch, indices.rank(), *axis);
    return;
  }
  llvm::SmallVector<Dim, 4> dims;
  for (int64_t i = 0; i < *axis; ++i) {
    const std::optional<Dim> dim = i < batch ? Merge(data[i], indices[i]) : data[i];
    if (!dim) {
      op.Error(kOpsetExtent, "{} has the shape {}; batch extents are those of {}", op.InputName(1),
               ToString(indices), ToString(data));
      return;
    }
    dims.push_back(*dim);
  }
  for (int64_t i = batch; i < indices.rank(); ++i) dims.push_back(indices[i]);
  for (int64_t i = *axis + 1; i < data.rank(); ++i) dims.push_back(data[i]);
  op.Set(op.type(0), PartialShape(dims));
}

// GatherElements-6: the shape of the indices.
void InferGatherElements(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const PartialShape& indices = op.shape(1);
  if (data.rank_known() && !op.NormalizeAxis(op.Int("axis"), data.rank())) return;
  if (data.rank_known() && indices.rank_known()) {
    if (!op.CheckRank(1, data.rank(), data.rank())) return;
    const int64_t axis = *op.NormalizeAxis(op.Int("axis"), data.rank());
    for (int64_t i = 0; i < data.rank(); ++i) {
      if (i == axis || data[i].Compatible(indices[i])) continue;
      op.Error(kOpsetExtent, "{} has the shape {}; expected that of the data, {}, but for axis {}",
               op.InputName(1), ToString(indices), ToString(data), axis);
      return;
    }
  }
  op.Set(op.type(0), indices);
}

// ScatterElementsUpdate: the shape of the data.
void InferScatterElementsUpdate(OpContext& op) {
  const PartialShape& data = op.shape(0);
  if (op.type(0) != ElementType::kDynamic && op.type(2) != ElementType::kDynamic &&
      op.type(0) != op.type(2)) {
    op.Error(kOpsetElementType, "{} has the element type {}; expected {}", op.InputName(2), Name(op.type(2)),
             Name(op.type(0)));
    return;
  }
  const std::optional<std::vector<int64_t>> axis = op.Integers(3);
  if (data.rank_known() && axis && !op.NormalizeAxis(axis->front(), data.rank())) return;
  if (data.rank_known() && !op.CheckRank(1, data.rank(), data.rank())) return;
  if (!Merge(op.shape(1), op.shape(2))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected that of the indices, {}", op.InputName(2),
             ToString(op.shape(2)), ToString(op.shape(1)));
    return;
  }
  op.Set(op.type(0), data);
}

// Range: ceil((stop - start) / step) elements; for integer results the operands are truncated first.
void InferRange(OpContext& op) {
  const ElementType type = op.node().set() == "opset1" ? op.CommonType(0, 3) : op.Type("output_type");
  if (type != ElementType::kDynamic && !IsFloat(type) && !IsInteger(type)) {
    op.Error(kOpsetElementType, "`output_type` of `Range` is {}; expected a number", Name(type));
    return;
  }
  Dim count;
  const auto& start = op.Value(0);
  const auto& stop = op.Value(1);
  const auto& step = op.Value(2);
  if (start && stop && step) {
    const auto read = [&](const TensorValue& value) {
      const double number = value.ElementAsDouble(0);
      return IsInteger(type) ? std::trunc(number) : number;
    };
    const double width = read(*step);
    const double length = read(*stop) - read(*start);
    // A step below 1 is 0 in integers.
    const double number = width == 0 ? 0 : std::ceil(length / width);
    if (step->ElementAsDouble(0) == 0 || !std::isfinite(number) || number > 9e15) {
      op.Error(kOpsetConstantInput, "`Range` from {} to {} by {} has no last element",
               start->ElementAsDouble(0), stop->ElementAsDouble(0), step->ElementAsDouble(0));
      return;
    }
    count = Dim(std::max<int64_t>(static_cast<int64_t>(number), 0));
  }
  op.Set(type, PartialShape(llvm::ArrayRef<Dim>(count)));
}

// Checks that mode `explicit` maps the axes of the data to axes of the target in ascending order.
bool CheckAxesMapping(OpContext& op, const std::optional<std::vector<int64_t>>& target) {
  const PartialShape& data = op.shape(0);
  if (!op.CheckRank(2, 1, 1)) return false;
  if (!data.rank_known()) return true;
  if (op.shape(2).rank_known() && !op.shape(2)[0].Compatible(Dim(data.rank()))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected [{}], an axis for each of {}", op.InputName(2),
             ToString(op.shape(2)), data.rank(), ToString(data));
    return false;
  }
  const std::optional<std::vector<int64_t>> axes = op.Integers(2);
  if (!axes || !target) return true;
  int64_t previous = -1;
  for (int64_t i = 0; i < data.rank(); ++i) {
    const int64_t axis = (*axes)[static_cast<size_t>(i)];
    if (axis <= previous || axis >= static_cast<int64_t>(target->size())) {
      op.Error(kOpsetAxis, "{} has the item {} after {}; expected ascending axes of {} extents",
               op.InputName(2), axis, previous, target->size());
      return false;
    }
    const int64_t extent = (*target)[static_cast<size_t>(axis)];
    if (!data[i].Compatible(Dim(extent)) && !data[i].Compatible(Dim(1))) {
      op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast to {} along axis {}",
               op.InputName(0), ToString(data), extent, axis);
      return false;
    }
    previous = axis;
  }
  return true;
}

// Broadcast-1 and -3: the shape in the second input. Broadcast-1 accepts axes in any mode, and mode
// `explicit` without them is `numpy`.
void InferBroadcast(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::optional<std::vector<int64_t>> target = op.Integers(1);
  const std::string mode = op.String("mode");
  const bool is_explicit = mode == "explicit" && op.has_input(2);
  if (op.node().set() == "opset3" && op.has_input(2) != (mode == "explicit")) {
    op.Error(kOpsetArity, "`Broadcast` of mode `{}` has {} inputs; expected {}", mode, op.num_inputs(),
             mode == "explicit" ? 3 : 2);
    return;
  }
  if (is_explicit && !CheckAxesMapping(op, target)) return;
  if (!target) {
    const PartialShape& length = op.shape(1);
    const bool rank_known =
        mode != "bidirectional" && length.rank_known() && length[0].known() && length[0].value() <= 1024;
    return op.Set(op.type(0), rank_known ? PartialShape::OfRank(length[0].value()) : PartialShape());
  }
  if (std::any_of(target->begin(), target->end(), [](int64_t extent) { return extent < 0; })) {
    op.Error(kOpsetConstantInput, "{} has a negative item", op.InputName(1));
    return;
  }
  const PartialShape wanted{llvm::ArrayRef<int64_t>(*target)};
  if (is_explicit) return op.Set(op.type(0), wanted);
  const std::optional<PartialShape> shape = BroadcastNumpy(wanted, data);
  if (!shape || (mode != "bidirectional" && shape->rank_known() && *shape != wanted)) {
    op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast to {}", op.InputName(0),
             ToString(data), ToString(wanted));
    return;
  }
  op.Set(op.type(0), mode == "bidirectional" ? *shape : wanted);
}

}  // namespace

std::vector<OpInfo> IndexingRows() {
  const AttributeInfo axis{"axis", AttributeKind::kInt};
  const AttributeInfo batch_dims{"batch_dims", AttributeKind::kInt, 0};
  const std::vector<AttributeInfo> scatter{
      {"reduction", AttributeKind::kString, "none", {"none", "sum", "prod", "min", "max", "mean"}},
      {"use_init_val", AttributeKind::kBool, true}};
  std::vector<OpInfo> rows{
      MakeRow({.set = "opset1",
               .name = "Gather",
               .inputs = {"data: 1..", "indices: integer", "axis: integer 0..1 one"},
               .implied = {batch_dims},
               .infer = Infer<InferGather>,
               .rearrangement = Rearrangement::kGather}),
      MakeRow({.set = "opset7",
               .name = "Gather",
               .inputs = {"data: 1..", "indices: integer", "axis: integer 0..1 one"},
               .attributes = {batch_dims},
               .infer = Infer<InferGather>,
               .rearrangement = Rearrangement::kGather}),
      MakeRow({.set = "opset8",
               .name = "Gather",
               .inputs = {"data: 1..", "indices: integer", "axis: integer 0..1 one"},
               .attributes = {batch_dims},
               .infer = Infer<InferGather>,
               .rearrangement = Rearrangement::kGather}),
      MakeRow({.set = "opset6",
               .name = "GatherElements",
               .inputs = {"data: 1..", "indices: index 1.."},
               .attributes = {axis},
               .infer = Infer<InferGatherElements>}),
      MakeRow({.set = "opset3",
               .name = "ScatterElementsUpdate",
               .inputs = {"data: 1..", "indices: integer", "updates", "axis: integer 0..1 one"},
               .implied = scatter,
               .infer = Infer<InferScatterElementsUpdate>}),
      MakeRow({.set = "opset12",
               .name = "ScatterElementsUpdate",
               .inputs = {"data: 1..", "indices: integer", "updates", "axis: integer 0..1 one"},
               .attributes = scatter,
               .infer = Infer<InferScatterElementsUpdate>}),
      MakeRow({.set = "opset1",
               .name = "Range",
               .inputs = {"start: number 0", "stop: number 0", "step: number 0"},
               .infer = Infer<InferRange>}),
      MakeRow({.set = "opset4",
               .name = "Range",
               .inputs = {"start: number 0", "stop: number 0", "step: number 0"},
               .attributes = {{"output_type", AttributeKind::kType}},
               .infer = Infer<InferRange>}),
  };
  for (std::string_view set : {"opset1", "opset3"}) {
    std::vector<std::string_view> modes{"numpy", "explicit"};
    if (set == "opset3") modes.push_back("bidirectional");
    rows.push_back(MakeRow({.set = set,
                            .name = "Broadcast",
                            .inputs = {"data", "target_shape: integer 1", "axes_mapping?: integer 0..1"},
                            .attributes = {{"mode", AttributeKind::kString, "numpy", modes}},
                            .infer = Infer<InferBroadcast>,
                            .rearrangement = Rearrangement::kBroadcast}));
  }
  return rows;
}

}  // namespace nnefc::ir::ops::opset
