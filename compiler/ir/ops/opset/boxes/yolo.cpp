// The last layers of YOLO networks: RegionYolo and ReorgYolo.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

// RegionYolo without softmax: the regions of `mask`, unchanged.
void InferMaskedRegions(OpContext& op) {
  PartialShape shape = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(4);
  const auto regions = static_cast<int64_t>(op.Ints("mask").size());
  if (regions == 0) {
    op.Error(kOpsetAttributeValue,
             "`mask` of `RegionYolo` is empty; expected the regions, as in [0,1,2], where `do_softmax` is "
             "false");
    return;
  }
  const int64_t items = SaturatingAdd(SaturatingAdd(op.Int("coords"), op.Int("classes")), 1);
  const int64_t channels = SaturatingMultiply(items, regions);
  if (!shape[1].Compatible(Dim(channels))) {
    op.Error(kOpsetExtent,
             "{} has the shape {}; expected {} channels: `coords` + `classes` + 1 for each region of `mask`",
             op.InputName(0), ToString(shape), channels);
    return;
  }
  shape.set(1, channels);
  op.Set(op.type(0), shape);
}

// RegionYolo with softmax: `num` regions; the axes from `axis` to `end_axis` are merged into one.
void InferFlatRegions(OpContext& op) {
  const PartialShape data = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(4);
  const int64_t items = SaturatingAdd(SaturatingAdd(op.Int("coords"), op.Int("classes")), 1);
  const int64_t channels = SaturatingMultiply(items, op.Int("num"));
  if (!data[1].Compatible(Dim(channels))) {
    op.Error(kOpsetExtent,
             "{} has the shape {}; expected {} channels: `coords` + `classes` + 1 for each of `num` regions",
             op.InputName(0), ToString(data), channels);
    return;
  }
  const std::optional<int64_t> first = op.NormalizeAxis(op.Int("axis"), 4);
  const std::optional<int64_t> last = op.NormalizeAxis(op.Int("end_axis"), 4);
  if (!first || !last) return;
  if (*first > *last) {
    op.Error(kOpsetAttributeValue, "`axis` of `RegionYolo` is {}; expected an axis up to `end_axis`, {}",
             op.Int("axis"), op.Int("end_axis"));
    return;
  }
  std::vector<Dim> dims;
  for (int64_t axis = 0; axis < 4; ++axis) {
    if (axis > *first && axis <= *last) {
      dims.back() = MultiplyOrAny(dims.back(), data[axis]);
    } else {
      dims.push_back(data[axis]);
    }
  }
  op.Set(op.type(0), PartialShape(dims));
}

// RegionYolo-1: a region has `coords` values (the first two are its centre), its objectness and class scores.
void InferRegionYolo(OpContext& op) {
  if (op.Int("coords") < 2) {
    op.Error(kOpsetAttributeValue,
             "`coords` of `RegionYolo` is {}; expected at least 2: x and y of the centre come first",
             op.Int("coords"));
    return;
  }
  op.Bool("do_softmax") ? InferFlatRegions(op) : InferMaskedRegions(op);
}

// ReorgYolo-1: [n, c * stride^2, h / stride, w / stride].
void InferReorgYolo(OpContext& op) {
  if (!op.shape(0).rank_known()) return op.Set(op.type(0), PartialShape::OfRank(4));
  PartialShape shape = op.shape(0);
  const int64_t stride = op.Int("stride");
  const int64_t area = SaturatingMultiply(stride, stride);
  if (!DivideExactly(shape[1], area) || shape[1].max < area) {
    op.Error(kOpsetExtent, "{} has the shape {}; expected a multiple of {} channels, `stride` squared",
             op.InputName(0), ToString(shape), area);
    return;
  }
  for (int64_t axis : {2, 3}) {
    const std::optional<Dim> extent = DivideExactly(shape[axis], stride);
    if (!extent) {
      op.Error(kOpsetExtent, "{} has the shape {}; expected a multiple of `stride`, {}, along axis {}",
               op.InputName(0), ToString(op.shape(0)), stride, axis);
      return;
    }
    shape.set(axis, *extent);
  }
  shape.set(1, MultiplyOrAny(shape[1], Dim(area)));
  op.Set(op.type(0), shape);
}

}  // namespace

std::vector<OpInfo> YoloRows() {
  return {
      MakeRow({.set = "opset1",
               .name = "RegionYolo",
               .inputs = {"data: float 4"},
               .attributes = {{"anchors", AttributeKind::kDoubles, Attribute::Scalars{}},
                              {"axis", AttributeKind::kInt},
                              {"coords", AttributeKind::kInt},
                              NonNegative({"classes", AttributeKind::kInt}),
                              {"end_axis", AttributeKind::kInt},
                              Positive({"num", AttributeKind::kInt}),
                              {"do_softmax", AttributeKind::kBool, true},
                              {"mask", AttributeKind::kInts, Attribute::Integers{}}},
               .infer = Infer<InferRegionYolo>}),
      MakeRow({.set = "opset2",
               .name = "ReorgYolo",
               .inputs = {"data: 4"},
               .attributes = {Positive({"stride", AttributeKind::kInt})},
               .infer = Infer<InferReorgYolo>}),
  };
}

}  // namespace nnefc::ir::ops::opset
