// Pooling over regions that are rotated, deformed or of several scales: ROIAlignRotated,
// DeformablePSROIPooling, ExperimentalDetectronROIFeatureExtractor. Also
// ExperimentalDetectronDetectionOutput.

#include <algorithm>

#include "compiler/ir/ops/opset/detection/rows.h"
#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset::detection {

namespace {

// Returns the extent of axis `axis` of an input.
Dim ExtentOf(OpContext& op, int32_t input, int64_t axis) {
  return op.shape(input).rank_known() ? op.shape(input)[axis] : Dim();
}

// True if axis `axis` may have that extent; emits kOpsetExtent otherwise.
bool HasExtent(OpContext& op, int32_t input, int64_t axis, Dim expected) {
  if (!op.has_input(input) || ExtentOf(op, input, axis).Compatible(expected)) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected {} along axis {}", op.InputName(input),
           ToString(op.shape(input)), ToString(PartialShape{expected}), axis);
  return false;
}

// ROIAlignRotated-15: each row of the regions is [center x, center y, width, height, angle].
void InferRoiAlignRotated(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  const Dim regions = ExtentOf(op, 1, 0);
  if (op.failed() || !HasExtent(op, 1, 1, Dim(5)) || !HasExtent(op, 2, 0, regions)) return;
  const Dim count = Merge(regions, ExtentOf(op, 2, 0)).value_or(regions);
  op.Set(type, PartialShape{count, ExtentOf(op, 0, 1), Dim(op.Int("pooled_h")), Dim(op.Int("pooled_w"))});
}

// DeformablePSROIPooling-1: rows [batch, left, top, right, bottom]; the last input shifts each region's bins.
void InferDeformablePsRoiPooling(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  const int64_t outputs = op.Int("output_dim"), bins = op.Int("group_size"), parts = op.Int("part_size");
  const Dim regions = ExtentOf(op, 1, 0);
  const Dim channels(SaturatingMultiply(outputs, SaturatingMultiply(bins, bins)));
  if (op.failed() || !HasExtent(op, 1, 1, Dim(5)) || !HasExtent(op, 0, 1, channels) ||
      !HasExtent(op, 2, 0, regions))
    return;
  if (!HasExtent(op, 2, 2, Dim(parts)) || !HasExtent(op, 2, 3, Dim(parts))) return;
  if (op.has_input(2) && ExtentOf(op, 2, 1).known()) {
    const int64_t pairs = ExtentOf(op, 2, 1).value();
    if (pairs < 2 || pairs % 2 != 0 || outputs % (pairs / 2) != 0) {
      op.Error(kOpsetExtent,
               "{} has the shape {}; expected two offsets for each class, which divide {} channels",
               op.InputName(2), ToString(op.shape(2)), outputs);
      return;
    }
  }
  op.Set(type, PartialShape{regions, Dim(outputs), Dim(bins), Dim(bins)});
}

// ExperimentalDetectronROIFeatureExtractor-6: pooled regions of multi-scale feature maps, and the regions.
void InferFeatureExtractor(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  const auto levels = static_cast<int64_t>(op.Ints("pyramid_scales").size());
  if (op.failed() || !HasExtent(op, 0, 1, Dim(4))) return;
  if (levels != op.num_inputs() - 1) {
    op.Error(kOpsetAttributeValue,
             "`pyramid_scales` of `{}` has {} items; expected {}, one for each feature map", op.node().type(),
             levels, op.num_inputs() - 1);
    return;
  }
  Dim channels;
  for (int32_t i = 1; i < op.num_inputs(); ++i) {
    if (!HasExtent(op, i, 0, Dim(1)) || !HasExtent(op, i, 1, channels)) return;
    channels = Merge(channels, ExtentOf(op, i, 1)).value_or(channels);
  }
  const Dim size(op.Int("output_size")), regions = ExtentOf(op, 0, 0);
  op.Set(0, type, PartialShape{regions, channels, size, size});
  op.Set(1, type, PartialShape{regions, Dim(4)});
}

// ExperimentalDetectronDetectionOutput-6: `max_detections_per_image` boxes, their classes and scores.
void InferDetectronOutput(OpContext& op) {
  const ElementType type = op.CommonType(0, 4);
  const int64_t classes = op.Int("num_classes");
  const Dim regions = ExtentOf(op, 0, 0);
  if (op.failed() || !HasExtent(op, 0, 1, Dim(4)) || !HasExtent(op, 1, 0, regions) ||
      !HasExtent(op, 2, 0, regions) || !HasExtent(op, 1, 1, Dim(SaturatingMultiply(4, classes))) ||
      !HasExtent(op, 2, 1, Dim(classes)) || !HasExtent(op, 3, 0, Dim(1)) || !HasExtent(op, 3, 1, Dim(3)))
    return;
  if (op.node().Doubles("deltas_weights").size() != 4) {
    op.Error(kOpsetAttributeValue, "`deltas_weights` of `{}` has {} items; expected 4", op.node().type(),
             op.node().Doubles("deltas_weights").size());
    return;
  }
  const Dim count(op.Int("max_detections_per_image"));
  op.Set(0, type, PartialShape{count, Dim(4)});
  op.Set(1, ElementType::kI32, PartialShape{count});
  op.Set(2, type, PartialShape{count});
}

}  // namespace

std::vector<OpInfo> PooledRegionRows() {
  const AttributeInfo scale = Positive({"spatial_scale", AttributeKind::kDouble});
  return {
      MakeRow({.set = "opset15",
               .name = "ROIAlignRotated",
               .inputs = {"data: float 4", "rois: float 2", "batch_indices: integer 1"},
               .attributes = {Positive({"pooled_h", AttributeKind::kInt}),
                              Positive({"pooled_w", AttributeKind::kInt}),
                              NonNegative({"sampling_ratio", AttributeKind::kInt}),
                              scale,
                              {"clockwise_mode", AttributeKind::kBool}},
               .infer = Infer<InferRoiAlignRotated>}),
      MakeRow(
          {.set = "opset1",
           .name = "DeformablePSROIPooling",
           .inputs = {"data: float 4", "rois: float 2", "offsets?: float 4"},
           .attributes = {Positive({"output_dim", AttributeKind::kInt}),
                          scale,
                          Positive({"group_size", AttributeKind::kInt, 1}),
                          {"mode", AttributeKind::kString, "bilinear_deformable", {"bilinear_deformable"}},
                          Positive({"spatial_bins_x", AttributeKind::kInt, 1}),
                          Positive({"spatial_bins_y", AttributeKind::kInt, 1}),
                          {"trans_std", AttributeKind::kDouble, 1.0},
                          Positive({"part_size", AttributeKind::kInt, 1})},
           .infer = Infer<InferDeformablePsRoiPooling>}),
      MakeRow({.set = "opset6",
               .name = "ExperimentalDetectronROIFeatureExtractor",
               .inputs = {"rois: float 2", "features[]: float 4"},
               .attributes = {Positive({"output_size", AttributeKind::kInt}),
                              NonNegative({"sampling_ratio", AttributeKind::kInt}),
                              Positive({"pyramid_scales", AttributeKind::kInts}),
                              {"aligned", AttributeKind::kBool, false}},
               .infer = Infer<InferFeatureExtractor>,
               .outputs = {"roi_features", "rois"}}),
      MakeRow({.set = "opset6",
               .name = "ExperimentalDetectronDetectionOutput",
               .inputs = {"rois: float 2", "deltas: float 2", "scores: float 2", "im_info: float 2"},
               .attributes = {{"score_threshold", AttributeKind::kDouble},
                              {"nms_threshold", AttributeKind::kDouble},
                              {"max_delta_log_wh", AttributeKind::kDouble},
                              Positive({"num_classes", AttributeKind::kInt}),
                              NonNegative({"post_nms_count", AttributeKind::kInt}),
                              Positive({"max_detections_per_image", AttributeKind::kInt}),
                              {"class_agnostic_box_regression", AttributeKind::kBool, false},
                              {"deltas_weights", AttributeKind::kDoubles}},
               .infer = Infer<InferDetectronOutput>,
               .outputs = {"boxes", "classes", "scores"},
               .work = Work::kHeavy}),
  };
}

}  // namespace nnefc::ir::ops::opset::detection
