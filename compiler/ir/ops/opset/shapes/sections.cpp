// Shape inference of OpenVINO's Concat, Split, VariadicSplit, Pad and Tile.

#include <algorithm>

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Concat-1: the other extents are equal.
void InferConcat(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  if (op.failed()) return;
  if (op.num_inputs() == 0) {
    op.Error(kOpsetArity, "`Concat` has no inputs");
    return;
  }
  PartialShape result;
  Dim sum(0);
  std::optional<int64_t> axis;
  bool sum_known = true;
  for (int32_t i = 0; i < op.num_inputs(); ++i) {
    PartialShape shape = op.shape(i);
    if (!shape.rank_known()) {
      sum_known = false;
      continue;
    }
    if (!axis) axis = op.NormalizeAxis(op.Int("axis"), shape.rank());
    if (!axis) return;
    if (result.rank_known() && result.rank() != shape.rank()) {
      op.Error(kOpsetRank, "{} has rank {}; expected {}", op.InputName(i), shape.rank(), result.rank());
      return;
    }
    sum = AddOrAny(sum, shape[*axis]);
    shape.set(*axis, Dim());
    const std::optional<PartialShape> merged = Merge(result, shape);
    if (!merged) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected {} but for axis {}", op.InputName(i),
               ToString(op.shape(i)), ToString(result), *axis);
      return;
    }
    result = *merged;
  }
  if (axis && sum_known) result.set(*axis, sum);
  op.Set(type, result);
}

// Returns the axis of a Split from its second input, or nothing if it is unknown or invalid.
std::optional<int64_t> SplitAxis(OpContext& op) {
  if (!op.shape(0).rank_known()) return std::nullopt;
  const std::optional<std::vector<int64_t>> axis = op.Integers(1);
  if (!axis) return std::nullopt;
  return op.NormalizeAxis(axis->front(), op.shape(0).rank());
}

void SetUnknownParts(OpContext& op) {
  const PartialShape shape =
      op.shape(0).rank_known() ? PartialShape::OfRank(op.shape(0).rank()) : PartialShape();
  for (int32_t i = 0; i < op.node().num_outputs(); ++i) op.Set(i, op.type(0), shape);
}

// Split-1: equal parts.
void InferSplit(OpContext& op) {
  const int64_t parts = op.Int("num_splits");
  if (parts != op.node().num_outputs()) {
    op.Error(kOpsetAttributeValue, "`num_splits` of `Split` is {}; it has {} outputs", parts,
             op.node().num_outputs());
    return;
  }
  const std::optional<int64_t> axis = SplitAxis(op);
  if (op.failed()) return;
  if (!axis) return SetUnknownParts(op);
  PartialShape shape = op.shape(0);
  const Dim extent = shape[*axis];
  if (extent.known() && extent.value() % parts != 0) {
    op.Error(kOpsetExtent, "`Split` divides the extent {} into {} parts", extent.value(), parts);
    return;
  }
  shape.set(*axis, Dim(extent.min / parts, extent.max == Dim::kUnbounded ? extent.max : extent.max / parts));
  for (int32_t i = 0; i < op.node().num_outputs(); ++i) op.Set(i, op.type(0), shape);
}

// VariadicSplit-1: parts of the lengths in the third input. One of them may be -1, the remainder.
void InferVariadicSplit(OpContext& op) {
  const std::optional<int64_t> axis = SplitAxis(op);
  if (op.failed()) return;
  const std::optional<std::vector<int64_t>> lengths = op.Integers(2);
  if (!axis || !lengths) return SetUnknownParts(op);
  if (static_cast<int64_t>(lengths->size()) != op.node().num_outputs()) {
    op.Error(kOpsetConstantInput, "{} has {} items; the node has {} outputs", op.InputName(2),
             lengths->size(), op.node().num_outputs());
    return;
  }
  int64_t sum = 0;
  int64_t open = 0;
  for (int64_t length : *lengths) {
    if (length < -1) {
      op.Error(kOpsetConstantInput, "{} has the item {}", op.InputName(2), length);
      return;
    }
    length == -1 ? ++open : sum = SaturatingAdd(sum, length);
  }
  PartialShape shape = op.shape(0);
  const Dim extent = shape[*axis];
  const bool fits = open == 0 ? extent.Compatible(Dim(sum)) : open == 1 && extent.max >= sum;
  if (!fits) {
    op.Error(kOpsetExtent, "`VariadicSplit` divides the extent {} into parts of {} elements",
             extent.known() ? extent.value() : extent.max, sum);
    return;
  }
  for (size_t i = 0; i < lengths->size(); ++i) {
    shape.set(*axis, (*lengths)[i] == -1 ? Shift(extent, -sum) : Dim((*lengths)[i]));
    op.Set(static_cast<int32_t>(i), op.type(0), shape);
  }
}

// Checks the value of constant padding: one element of the data's type.
bool CheckPadValue(OpContext& op) {
  if (!op.CheckRank(3, 0, 0)) return false;
  const ElementType given = op.type(3);
  if (given == ElementType::kDynamic || op.type(0) == ElementType::kDynamic || given == op.type(0))
    return true;
  op.Error(kOpsetElementType, "{} has the element type {}; expected {}", op.InputName(3), Name(given),
           Name(op.type(0)));
  return false;
}

// Checks that there is one pad before and one after each axis, even if a run computes the pads.
bool CheckPadCounts(OpContext& op, int64_t rank) {
  for (int32_t input : {1, 2}) {
    const std::optional<int64_t> count = op.shape(input).volume();
    if (!count || *count == rank) continue;
    op.Error(kOpsetConstantInput, "{} has {} items; expected {}, the rank of {}", op.InputName(input), *count,
             rank, op.InputName(0));
    return false;
  }
  return true;
}

// Pad: negative pads crop, in Pad-12 only.
void InferPad(OpContext& op) {
  const PartialShape& data = op.shape(0);
  const std::string mode = op.String("pad_mode");
  if (op.has_input(3) && mode == "constant" && !CheckPadValue(op)) return;
  if (!data.rank_known()) return op.Set(op.type(0), PartialShape());
  if (!CheckPadCounts(op, data.rank())) return;
  const std::optional<std::vector<int64_t>> begin = op.Integers(1);
  const std::optional<std::vector<int64_t>> end = op.Integers(2);
  if (!begin || !end) return op.Set(op.type(0), PartialShape::OfRank(data.rank()));
  PartialShape shape = data;
  for (int64_t i = 0; i < data.rank(); ++i) {
    const int64_t p = (*begin)[static_cast<size_t>(i)];
    const int64_t q = (*end)[static_cast<size_t>(i)];
    if (op.node().set() == "opset1" && (p < 0 || q < 0)) {
      op.Error(kOpsetConstantInput, "`Pad` of opset1 has the negative pads ({},{})", p, q);
      return;
    }
    // reflect: mirrored elements are within the data, without the edge.
    const int64_t room =
        data[i].max == Dim::kUnbounded ? INT64_MAX : data[i].max - (mode == "reflect" ? 1 : 0);
    if ((mode == "reflect" || mode == "symmetric") && std::max(p, q) > std::max<int64_t>(room, 0)) {
      op.Error(kOpsetExtent, "padding ({},{}) by mode `{}` reaches beyond the extent {} of axis {}", p, q,
               mode, data[i].max, i);
      return;
    }
    const int64_t change = SaturatingAdd(p, q);
    if (data[i].max != Dim::kUnbounded && SaturatingAdd(data[i].max, change) < 0) {
      op.Error(kOpsetExtent, "padding ({},{}) leaves less than nothing of the extent {} of axis {}", p, q,
               data[i].max, i);
      return;
    }
    shape.set(i, Shift(data[i], change));
  }
  op.Set(op.type(0), shape);
}

// Tile-1: ones are prepended to the shorter of shape and repeats.
void InferTile(OpContext& op) {
  const PartialShape& data = op.shape(0);
  std::optional<std::vector<int64_t>> repeats = op.Integers(1);
  if (!data.rank_known() || !repeats) {
    const std::optional<int64_t> length = op.shape(1).volume();
    const bool rank_known = data.rank_known() && length && *length <= 1024;
    return op.Set(op.type(0),
                  rank_known ? PartialShape::OfRank(std::max(data.rank(), *length)) : PartialShape());
  }
  const int64_t rank = std::max<int64_t>(data.rank(), static_cast<int64_t>(repeats->size()));
  repeats->insert(repeats->begin(), static_cast<size_t>(rank) - repeats->size(), 1);
  PartialShape shape = PartialShape::OfRank(rank);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t source = i - (rank - data.rank());
    const int64_t times = std::max<int64_t>((*repeats)[static_cast<size_t>(i)], 0);
    shape.set(i, MultiplyOrAny(source < 0 ? Dim(1) : data[source], Dim(times)));
  }
  op.Set(op.type(0), shape);
}

}  // namespace

std::vector<OpInfo> SectionRows() {
  const AttributeInfo pad_mode{
      "pad_mode", AttributeKind::kString, std::nullopt, {"constant", "edge", "reflect", "symmetric"}};
  const std::vector<std::string_view> pad_inputs{"data", "pads_begin: integer 1", "pads_end: integer 1",
                                                 "pad_value?"};
  return {
      MakeRow({.set = "opset1",
               .name = "Concat",
               .inputs = {"data[]: 1.."},
               .attributes = {{"axis", AttributeKind::kInt}},
               .infer = Infer<InferConcat>,
               .rearrangement = Rearrangement::kConcat}),
      MakeRow({.set = "opset1",
               .name = "Split",
               .inputs = {"data: 1..", "axis: integer 0"},
               .attributes = {Positive({"num_splits", AttributeKind::kInt})},
               .infer = Infer<InferSplit>,
               .outputs = {"parts[]"},
               .rearrangement = Rearrangement::kSplit}),
      MakeRow({.set = "opset1",
               .name = "VariadicSplit",
               .inputs = {"data: 1..", "axis: integer 0..1 one", "split_lengths: integer 1"},
               .infer = Infer<InferVariadicSplit>,
               .outputs = {"parts[]"},
               .rearrangement = Rearrangement::kSplit}),
      MakeRow({.set = "opset1",
               .name = "Pad",
               .inputs = pad_inputs,
               .attributes = {pad_mode},
               .infer = Infer<InferPad>,
               .rearrangement = Rearrangement::kPad}),
      MakeRow({.set = "opset12",
               .name = "Pad",
               .inputs = pad_inputs,
               .attributes = {pad_mode},
               .infer = Infer<InferPad>,
               .rearrangement = Rearrangement::kPad}),
      MakeRow({.set = "opset1",
               .name = "Tile",
               .inputs = {"data", "repeats: integer 1"},
               .infer = Infer<InferTile>,
               .rearrangement = Rearrangement::kTile}),
  };
}

}  // namespace nnefc::ir::ops::opset
