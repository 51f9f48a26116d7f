// Regions of interest: pooling over them, and the selection of boxes.

#include <algorithm>
#include <limits>

#include "compiler/ir/ops/opset/boxes/box_selection.h"
#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// Sets the output to [regions, channels, height, width].
void SetRegions(OpContext& op, Dim channels, int64_t height, int64_t width) {
  PartialShape shape = PartialShape::OfRank(4);
  if (op.shape(1).rank_known()) shape.set(0, op.shape(1)[0]);
  shape.set(1, channels);
  shape.set(2, height);
  shape.set(3, width);
  op.Set(op.type(0), shape);
}

void SetPooledRegions(OpContext& op) {
  const Dim channels = op.shape(0).rank_known() ? op.shape(0)[1] : Dim();
  SetRegions(op, channels, op.Int("pooled_h"), op.Int("pooled_w"));
}

// True if the regions are rows of `count` items; emits kOpsetExtent otherwise.
bool CheckRows(OpContext& op, int64_t count) {
  if (!op.shape(1).rank_known() || op.shape(1)[1].Compatible(Dim(count))) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected rows of {}", op.InputName(1), ToString(op.shape(1)),
           count);
  return false;
}

// ROIPooling-2: each row of the regions is [batch, x1, y1, x2, y2].
void InferRoiPooling(OpContext& op) {
  if (!CheckRows(op, 5)) return;
  op.CommonType(0, 2);
  SetPooledRegions(op);
}

// PSROIPooling-1: rows as in ROIPooling. Each output channel uses separate data channels: one for each pooled
// cell, or for each bin of a cell.
void InferPsRoiPooling(OpContext& op) {
  const int64_t channels = op.Int("output_dim");
  const int64_t places = op.Int("group_size");
  int64_t count = SaturatingMultiply(places, places);
  if (op.String("mode") == "bilinear") {
    for (const char* name : {"spatial_bins_x", "spatial_bins_y"}) {
      if (op.Int(name) >= 1) continue;
      op.Error(kOpsetAttributeValue, "`{}` of `PSROIPooling` is {}; expected at least 1", name, op.Int(name));
      return;
    }
    count = SaturatingMultiply(op.Int("spatial_bins_x"), op.Int("spatial_bins_y"));
  }
  const int64_t expected = SaturatingMultiply(channels, count);
  if (op.shape(0).rank_known() && !op.shape(0)[1].Compatible(Dim(expected))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected {} channels, {} for each of `output_dim`",
             op.InputName(0), ToString(op.shape(0)), expected, count);
    return;
  }
  if (CheckRows(op, 5)) SetRegions(op, Dim(channels), places, places);
}

// ROIAlign: each row of the regions is [x1, y1, x2, y2], of the batch item in the third input.
void InferRoiAlign(OpContext& op) {
  const PartialShape& batches = op.shape(2);
  if (op.shape(1).rank_known() && batches.rank_known() && !op.shape(1)[0].Compatible(batches[0])) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected an item for each of the regions {}",
             op.InputName(2), ToString(batches), ToString(op.shape(1)));
    return;
  }
  if (!CheckRows(op, 4)) return;
  op.CommonType(0, 2);
  SetPooledRegions(op);
}

std::vector<double> Doubles(const TensorValue& value) {
  std::vector<double> elements;
  for (int64_t i = 0; i < value.volume(); ++i) elements.push_back(value.ElementAsDouble(i));
  return elements;
}

// Returns the selection parameters if all inputs are known.
std::optional<BoxSelection> KnownSelection(OpContext& op) {
  for (int32_t i = 0; i < op.num_inputs(); ++i) {
    const std::optional<TensorValue>& value = op.input(i).value;
    if (!value || BitWidth(value->type()) == 0 || (i > 1 && value->volume() != 1)) return std::nullopt;
  }
  const auto scalar = [&](int32_t i) { return op.has_input(i) ? op.input(i).value->ElementAsDouble(0) : 0; };
  const Shape scores = op.input(1).value->shape();
  return BoxSelection{.boxes = Doubles(*op.input(0).value),
                      .scores = Doubles(*op.input(1).value),
                      .batches = scores[0],
                      .classes = scores[1],
                      .count = scores[2],
                      .most_per_class = op.has_input(2) ? op.input(2).value->ElementAsInt(0) : 0,
                      .iou_threshold = scalar(3),
                      .score_threshold = scalar(4),
                      .sigma = scalar(5),
                      .is_center = op.String("box_encoding") == "center",
                      .sorted = op.Bool("sort_result_descending")};
}

// NonMaxSuppression: one row for each selected box; the shape depends on the values.
void InferNonMaxSuppression(OpContext& op) {
  const ElementType index = op.Type("output_type");
  if (index != ElementType::kI32 && index != ElementType::kI64) {
    op.Error(kOpsetAttributeValue, "`output_type` of `NonMaxSuppression` is {}; expected i32 or i64",
             Name(index));
    return;
  }
  for (int32_t i = 0; i < op.num_inputs(); ++i) {
    if (i == 2 || op.type(i) == ElementType::kDynamic || BitWidth(op.type(i)) <= 32) continue;
    op.Error(kOpsetElementType, "{} has the element type {}; expected f32, f16 or bf16", op.InputName(i),
             Name(op.type(i)));
    return;
  }
  PartialShape boxes = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(3);
  PartialShape scores = op.shape(1).rank_known() ? op.shape(1) : PartialShape::OfRank(3);
  if (!boxes[0].Compatible(scores[0]) || !boxes[1].Compatible(scores[2]) || !boxes[2].Compatible(Dim(4))) {
    op.Error(kOpsetExtent, "boxes of {} do not fit scores of {}; expected [n,k,4] and [n,c,k]",
             ToString(boxes), ToString(scores));
    return;
  }
  Dim count;
  const std::optional<BoxSelection> selection = KnownSelection(op);
  const auto selected = selection ? SelectBoxes(*selection) : std::nullopt;
  if (selected) {
    count = Dim(static_cast<int64_t>(selected->size()));
  } else {
    const auto most = op.has_input(2) ? op.Integers(2) : std::vector<int64_t>{0};
    if (most && most->size() == 1 && boxes[1].known()) {
      scores.set(2, std::clamp<int64_t>(most->front(), 0, boxes[1].value()));
      count = Dim(0, scores.volume().value_or(Dim::kUnbounded));
    }
  }
  op.Set(0, index, PartialShape{count, Dim(3)});
  op.Set(1, ElementType::kF32, PartialShape{count, Dim(3)});
  op.Set(2, index, PartialShape{Dim(1)});
}

OpInfo NonMaxSuppressionRow(std::string_view set) {
  return MakeRow(
      {.set = set,
       .name = "NonMaxSuppression",
       .inputs = {"boxes: float 3", "scores: float 3", "max_output_boxes_per_class?: integer 0..1 one",
                  "iou_threshold?: float 0..1 one", "score_threshold?: float 0..1 one",
                  "soft_nms_sigma?: float 0..1 one"},
       .attributes = {{"box_encoding", AttributeKind::kString, "corner", {"corner", "center"}},
                      {"sort_result_descending", AttributeKind::kBool, true},
                      {"output_type", AttributeKind::kType, ElementType::kI64}},
       .infer = Infer<InferNonMaxSuppression>,
       .outputs = {"selected_indices", "selected_scores", "valid_outputs"}});
}

// Returns the row of a version before 5, with the first result only.
OpInfo OldNonMaxSuppressionRow(std::string_view set) {
  const AttributeInfo type{"output_type", AttributeKind::kType, ElementType::kI64};
  std::vector<AttributeInfo> attributes = {
      {"box_encoding", AttributeKind::kString, "corner", {"corner", "center"}},
      {"sort_result_descending", AttributeKind::kBool, true}};
  std::vector<AttributeInfo> implied;
  std::vector<std::string_view> inputs = {"boxes: float 3", "scores: float 3"};
  if (set == "opset1") {
    implied.push_back(type);
    inputs.insert(inputs.end(), {"max_output_boxes_per_class?: integer 0..1 one",
                                 "iou_threshold?: float 0..1 one", "score_threshold?: float 0..1 one"});
  } else {
    attributes.push_back(type);
    inputs.insert(inputs.end(), {"max_output_boxes_per_class?: integer 0", "iou_threshold?: float 0",
                                 "score_threshold?: float 0"});
  }
  return MakeRow({.set = set,
                  .name = "NonMaxSuppression",
                  .inputs = inputs,
                  .attributes = attributes,
                  .implied = implied,
                  .infer = Infer<InferNonMaxSuppression>,
                  .outputs = {"selected_indices"}});
}

OpInfo RoiAlignRow(std::string_view set, std::vector<AttributeInfo> more,
                   std::vector<AttributeInfo> implied) {
  std::vector<AttributeInfo> attributes = {Positive({"pooled_h", AttributeKind::kInt}),
                                           Positive({"pooled_w", AttributeKind::kInt}),
                                           NonNegative({"sampling_ratio", AttributeKind::kInt}),
                                           Positive({"spatial_scale", AttributeKind::kDouble}),
                                           {"mode", AttributeKind::kString, std::nullopt, {"avg", "max"}}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return MakeRow({.set = set,
                  .name = "ROIAlign",
                  .inputs = {"data: float 4", "rois: float 2", "batch_indices: integer 1"},
                  .attributes = std::move(attributes),
                  .implied = std::move(implied),
                  .infer = Infer<InferRoiAlign>});
}

}  // namespace

std::vector<OpInfo> RoiRows() {
  const AttributeInfo aligned_mode{"aligned_mode",
                                   AttributeKind::kString,
                                   "asymmetric",
                                   {"asymmetric", "half_pixel_for_nn", "half_pixel"}};
  const AttributeInfo height = Positive({"pooled_h", AttributeKind::kInt});
  const AttributeInfo width = Positive({"pooled_w", AttributeKind::kInt});
  const AttributeInfo scale = Positive({"spatial_scale", AttributeKind::kDouble});
  return {
      MakeRow(
          {.set = "opset2",
           .name = "ROIPooling",
           .inputs = {"data: float 4", "rois: float 2"},
           .attributes = {height,
                          width,
                          scale,
                          {"method", AttributeKind::kString, "max", {"max", "bilinear"}},
                          // Newer versions repeat the extents twice.
                          {"output_size", AttributeKind::kInts, Attribute(Attribute::Integers{}), {}, true},
                          {"output_roi", AttributeKind::kInts, Attribute(Attribute::Integers{}), {}, true}},
           .infer = Infer<InferRoiPooling>}),
      MakeRow({.set = "opset1",
               .name = "PSROIPooling",
               .inputs = {"data: float 4", "rois: float 2"},
               .attributes = {Positive({"output_dim", AttributeKind::kInt}),
                              Positive({"group_size", AttributeKind::kInt, 1}),
                              scale,
                              {"mode", AttributeKind::kString, "average", {"average", "bilinear"}},
                              {"spatial_bins_x", AttributeKind::kInt, 1},
                              {"spatial_bins_y", AttributeKind::kInt, 1}},
               .infer = Infer<InferPsRoiPooling>}),
      RoiAlignRow("opset3", {}, {aligned_mode}),
      RoiAlignRow("opset9", {aligned_mode}, {}),
      OldNonMaxSuppressionRow("opset1"),
      OldNonMaxSuppressionRow("opset3"),
      OldNonMaxSuppressionRow("opset4"),
      NonMaxSuppressionRow("opset5"),
      NonMaxSuppressionRow("opset9"),
  };
}

}  // namespace nnefc::ir::ops::opset
