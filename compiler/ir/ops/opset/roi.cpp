#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir {

namespace {

// [regions, channels, pooled_h, pooled_w].
void SetRegions(OpContext& op, const char* height, const char* width) {
  if (!op.CheckRank(0, 4, 4) || !op.CheckRank(1, 2, 2)) return;
  const int64_t h = op.Int(height);
  const int64_t w = op.Int(width);
  if (h < 1 || w < 1) {
    op.Error(kOpsetAttributeValue, "`{}` gives regions of {} x {}; expected at least 1 x 1", op.node().type(),
             h, w);
    return;
  }
  PartialShape shape = PartialShape::OfRank(4);
  if (op.shape(1).rank_known()) shape.set(0, op.shape(1)[0]);
  if (op.shape(0).rank_known()) shape.set(1, op.shape(0)[1]);
  shape.set(2, h);
  shape.set(3, w);
  op.Set(op.type(0), shape);
}

// ROIPooling-2: each row of the regions is [batch, x1, y1, x2, y2].
void InferRoiPooling(OpContext& op) {
  if (op.shape(1).rank_known() && op.shape(1).rank() == 2 && !op.shape(1)[1].Compatible(Dim(5))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected rows of 5", op.InputName(1), ToString(op.shape(1)));
    return;
  }
  op.CommonType(0, 2);
  SetRegions(op, "pooled_h", "pooled_w");
}

// ROIAlign: each row of the regions is [x1, y1, x2, y2].
void InferRoiAlign(OpContext& op) {
  if (op.shape(1).rank_known() && op.shape(1).rank() == 2 && !op.shape(1)[1].Compatible(Dim(4))) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected rows of 4", op.InputName(1), ToString(op.shape(1)));
    return;
  }
  op.CommonType(0, 2);
  if (!op.CheckRank(2, 1, 1)) return;
  SetRegions(op, "pooled_h", "pooled_w");
}

}  // namespace

std::vector<OpRow> RoiRows() {
  const AttributeInfo height{"pooled_h", AttributeKind::kInt};
  const AttributeInfo width{"pooled_w", AttributeKind::kInt};
  const AttributeInfo scale{"spatial_scale", AttributeKind::kDouble};
  return {
      MakeRow(
          {.set = "opset2",
           .name = "ROIPooling",
           .inputs = {"data", "rois"},
           .attributes = {height,
                          width,
                          scale,
                          {"method", AttributeKind::kString, "max", {"max", "bilinear"}},
                          // Newer versions say the extents twice more.
                          {"output_size", AttributeKind::kInts, Attribute(Attribute::Integers{}), {}, true},
                          {"output_roi", AttributeKind::kInts, Attribute(Attribute::Integers{}), {}, true}},
           .infer = Infer<InferRoiPooling>}),
      MakeRow({.set = "opset3",
               .name = "ROIAlign",
               .inputs = {"data", "rois", "batch_indices"},
               .attributes = {height,
                              width,
                              {"sampling_ratio", AttributeKind::kInt},
                              scale,
                              {"mode", AttributeKind::kString, std::nullopt, {"avg", "max"}}},
               .infer = Infer<InferRoiAlign>}),
      MakeRow({.set = "opset9",
               .name = "ROIAlign",
               .inputs = {"data", "rois", "batch_indices"},
               .attributes = {height,
                              width,
                              {"sampling_ratio", AttributeKind::kInt},
                              scale,
                              {"mode", AttributeKind::kString, std::nullopt, {"avg", "max"}},
                              {"aligned_mode",
                               AttributeKind::kString,
                               "asymmetric",
                               {"asymmetric", "half_pixel_for_nn", "half_pixel"}}},
               .infer = Infer<InferRoiAlign>}),
  };
}

}  // namespace nnefc::ir
