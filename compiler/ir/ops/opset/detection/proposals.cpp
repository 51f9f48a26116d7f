// Region proposals: Proposal, GenerateProposals and the operations of Detectron.

#include "compiler/ir/ops/opset/detection/proposals.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/ops/opset/detection/floats.h"
#include "compiler/ir/ops/opset/detection/rows.h"
#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset::detection {

namespace {

// Merges an extent with axis `axis` of the input; emits kOpsetExtent if they differ.
bool Unify(OpContext& op, int32_t input, int64_t axis, Dim& extent) {
  if (!op.shape(input).rank_known()) return true;
  const std::optional<Dim> merged = Merge(extent, op.shape(input)[axis]);
  if (merged) {
    extent = *merged;
    return true;
  }
  op.Error(kOpsetExtent, "{} has the shape {}; expected {} along axis {}", op.InputName(input),
           ToString(op.shape(input)), ToString(PartialShape{extent}), axis);
  return false;
}

bool Expect(OpContext& op, int32_t input, int64_t axis, Dim extent) {
  return Unify(op, input, axis, extent);
}

// GenerateProposals-9: the number of regions, and thus the shapes, depend on the values.
void InferGenerateProposals(OpContext& op) {
  for (int32_t i = 0; i < 4; ++i) op.Value(i);
  const ElementType type = op.CommonType(0, 4), counts = op.Type("roi_num_type");
  if (op.failed()) return;
  if (counts != ElementType::kI32 && counts != ElementType::kI64) {
    op.Error(kOpsetAttributeValue, "`roi_num_type` of `GenerateProposals` is {}; expected i32 or i64",
             Name(counts));
    return;
  }
  if (op.Double("nms_eta") != 1) {  // neither OpenVINO nor GenerateProposals lowers the threshold
    op.Error(kOpsetAttributeValue, "`nms_eta` of `GenerateProposals` is {}; expected 1",
             op.Double("nms_eta"));
    return;
  }
  Dim images, height, width, anchors;
  const bool fits = Unify(op, 0, 0, images) && Unify(op, 2, 0, images) && Unify(op, 3, 0, images) &&
                    Unify(op, 1, 0, height) && Unify(op, 2, 2, height) && Unify(op, 3, 2, height) &&
                    Unify(op, 1, 1, width) && Unify(op, 2, 3, width) && Unify(op, 3, 3, width) &&
                    Unify(op, 1, 2, anchors) && Unify(op, 3, 1, anchors) && Expect(op, 1, 3, Dim(4)) &&
                    Expect(op, 0, 1, Dim(3, 4)) && Expect(op, 2, 1, MultiplyOrAny(anchors, Dim(4)));
  if (!fits) return;
  Dim count(0, images.max == Dim::kUnbounded ? images.max
                                             : SaturatingMultiply(images.max, op.Int("post_nms_count")));
  const auto value = [&](int32_t input) -> const std::optional<TensorValue>& {
    return op.input(input).value;
  };
  if (value(0) && value(1) && value(2) && value(3)) {
    const Shape scores = value(3)->shape();
    const auto found = GenerateProposals(op.node(), {.info = Floats(*value(0)),
                                                     .anchors = Floats(*value(1)),
                                                     .deltas = Floats(*value(2)),
                                                     .scores = Floats(*value(3)),
                                                     .images = scores[0],
                                                     .count = scores[1],
                                                     .cells = scores[2] * scores[3]});
    if (!found) {
      op.Error(kOpsetConstantInput,
               "{} has too many scores: each of the best regions competes with each other", op.InputName(3));
      return;
    }
    count = Dim(static_cast<int64_t>(found->regions.size()));
  }
  op.Set(0, type, PartialShape{count, Dim(4)});
  op.Set(1, type, PartialShape{count});
  op.Set(2, counts, PartialShape{images});
}

// Proposal: `post_nms_topn` regions [image, left, top, right, bottom] of each image, and their scores.
void InferProposal(OpContext& op) {
  const ElementType type = op.CommonType(0, 3);
  if (op.failed()) return;
  const auto anchors = SaturatingMultiply(static_cast<int64_t>(op.node().Doubles("ratio").size()),
                                          static_cast<int64_t>(op.node().Doubles("scale").size()));
  Dim images, height, width;
  const bool fits = Unify(op, 0, 0, images) && Unify(op, 1, 0, images) && Unify(op, 0, 2, height) &&
                    Unify(op, 1, 2, height) && Unify(op, 0, 3, width) && Unify(op, 1, 3, width) &&
                    Expect(op, 0, 1, Dim(SaturatingMultiply(2, anchors))) &&
                    Expect(op, 1, 1, Dim(SaturatingMultiply(4, anchors))) && Expect(op, 2, 0, Dim(3, 4));
  if (!fits) return;
  const Dim count = MultiplyOrAny(images, Dim(op.Int("post_nms_topn")));
  op.Set(0, type, PartialShape{count, Dim(5)});
  op.Set(1, type, PartialShape{count});
}

// ExperimentalDetectronGenerateProposalsSingleImage-6: `post_nms_count` regions of an image and their scores.
void InferSingleImage(OpContext& op) {
  const ElementType type = op.CommonType(0, 4);
  if (op.failed()) return;
  Dim height, width, count;
  const bool fits = Expect(op, 0, 0, Dim(3)) && Expect(op, 1, 1, Dim(4)) && Unify(op, 2, 1, height) &&
                    Unify(op, 3, 1, height) && Unify(op, 2, 2, width) && Unify(op, 3, 2, width) &&
                    Unify(op, 3, 0, count) && Expect(op, 2, 0, MultiplyOrAny(count, Dim(4))) &&
                    Expect(op, 1, 0, MultiplyOrAny(MultiplyOrAny(height, width), count));
  if (!fits) return;
  const Dim most(op.Int("post_nms_count"));
  op.Set(0, type, PartialShape{most, Dim(4)});
  op.Set(1, type, PartialShape{most});
}

// ExperimentalDetectronPriorGridGenerator-6: each prior box at each grid cell: [cells * priors, 4] or
// [height, width, priors, 4].
void InferPriorGrid(OpContext& op) {
  const ElementType type = op.CommonType(0, 3);
  Dim images;
  if (op.failed() || !Expect(op, 0, 1, Dim(4)) || !Unify(op, 1, 0, images) || !Unify(op, 2, 0, images))
    return;
  const auto extent = [&](std::string_view name, int64_t axis) {
    if (op.Int(name) != 0) return Dim(op.Int(name));
    return op.shape(1).rank_known() ? op.shape(1)[axis] : Dim();
  };
  const Dim height = extent("h", 2), width = extent("w", 3);
  const Dim priors = op.shape(0).rank_known() ? op.shape(0)[0] : Dim();
  if (!op.Bool("flatten")) return op.Set(type, PartialShape{height, width, priors, Dim(4)});
  op.Set(type, PartialShape{MultiplyOrAny(MultiplyOrAny(height, width), priors), Dim(4)});
}

// ExperimentalDetectronTopKROIs-6: the `max_rois` regions with the highest scores.
void InferTopKRois(OpContext& op) {
  const ElementType type = op.CommonType(0, 2);
  Dim count;
  if (op.failed() || !Expect(op, 0, 1, Dim(4)) || !Unify(op, 0, 0, count) || !Unify(op, 1, 0, count)) return;
  op.Set(type, PartialShape{Dim(op.Int("max_rois")), Dim(4)});
}

}  // namespace

float SharedArea(const std::array<float, 4>& a, const std::array<float, 4>& b, float extent) {
  if (a[0] > b[2] || a[1] > b[3] || b[0] > a[2] || b[1] > a[3]) return 0;
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]) + extent;
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]) + extent;
  const float shared = std::max(0.0F, width) * std::max(0.0F, height);
  const auto area = [&](const std::array<float, 4>& box) {
    return (box[2] - box[0] + extent) * (box[3] - box[1] + extent);
  };
  return shared / (area(a) + area(b) - shared);
}

std::optional<std::vector<ProposedRegion>> KeepBestRegions(std::vector<ProposedRegion> regions,
                                                           const RegionLimits& limits) {
  std::stable_sort(regions.begin(), regions.end(),
                   [](const ProposedRegion& a, const ProposedRegion& b) { return a.score > b.score; });
  if (static_cast<int64_t>(regions.size()) > limits.candidates)
    regions.resize(static_cast<size_t>(std::max<int64_t>(limits.candidates, 0)));
  const auto count = static_cast<double>(regions.size());
  constexpr double kMaxPairs = 1e9;
  if (count * std::min(count, static_cast<double>(limits.most)) > kMaxPairs) return std::nullopt;
  std::vector<ProposedRegion> kept;
  for (const ProposedRegion& region : regions) {
    if (static_cast<int64_t>(kept.size()) >= limits.most) break;
    const bool is_covered = std::any_of(kept.begin(), kept.end(), [&](const ProposedRegion& other) {
      return SharedArea(other.corners, region.corners, limits.extent) > limits.threshold;
    });
    if (region.is_large && !is_covered) kept.push_back(region);
  }
  return kept;
}

std::vector<ProposedRegion> MoveAnchors(const MovedAnchors& moved) {
  // The maximum growth of widths and heights, as a logarithm like the deltas.
  const auto largest_growth = static_cast<float>(std::log(1000.0 / 16.0));
  std::vector<ProposedRegion> regions;
  for (int64_t cell = 0; cell < moved.cells; ++cell) {
    for (int64_t anchor = 0; anchor < moved.count; ++anchor) {
      const float* box = moved.anchors.data() + (cell * moved.count + anchor) * 4;
      const auto delta = [&](int64_t i) {
        return moved.deltas[static_cast<size_t>((anchor * 4 + i) * moved.cells + cell)];
      };
      ProposedRegion region{.corners = {},
                            .score = moved.scores[static_cast<size_t>(anchor * moved.cells + cell)]};
      for (size_t i = 0; i < 2; ++i) {  // along the width, then the height
        const float size = box[i + 2] - box[i] + moved.extent;
        const float center = box[i] + 0.5F * size + delta(static_cast<int64_t>(i)) * size;
        const float half =
            0.5F * std::exp(std::min(delta(static_cast<int64_t>(i) + 2), largest_growth)) * size;
        const float last = moved.image[1 - i] - moved.extent;
        const auto inside = [&](float x) { return std::max(0.0F, std::min(x, last)); };
        region.corners[i] = inside(center - half);
        region.corners[i + 2] = inside(center + half - moved.extent);
        if (region.corners[i + 2] - region.corners[i] + moved.extent < moved.smallest[1 - i])
          region.is_large = false;
      }
      regions.push_back(region);
    }
  }
  return regions;
}

std::optional<Proposals> GenerateProposals(const Node& node, const ProposalInputs& given) {
  const float extent = node.Bool("normalized") ? 0.0F : 1.0F;
  const auto smallest = static_cast<float>(node.Double("min_size"));
  const RegionLimits limits{.candidates = node.Int("pre_nms_count"),
                            .most = node.Int("post_nms_count"),
                            .threshold = static_cast<float>(node.Double("nms_threshold")),
                            .extent = extent};
  Proposals proposals;
  const llvm::ArrayRef<float> deltas(given.deltas), scores(given.scores);
  const auto size = static_cast<size_t>(given.count * given.cells);
  const size_t columns = given.images == 0 ? 3 : given.info.size() / static_cast<size_t>(given.images);
  for (size_t image = 0; image < static_cast<size_t>(given.images); ++image) {
    const float* info = given.info.data() + image * columns;
    const auto regions =
        KeepBestRegions(MoveAnchors({.anchors = given.anchors,
                                     .deltas = deltas.slice(image * size * 4, size * 4),
                                     .scores = scores.slice(image * size, size),
                                     .count = given.count,
                                     .cells = given.cells,
                                     .image = {info[0], info[1]},
                                     .smallest = {smallest * info[2], smallest * info[columns - 1]},
                                     .extent = extent}),
                        limits);
    if (!regions) return std::nullopt;
    proposals.per_image.push_back(static_cast<int64_t>(regions->size()));
    proposals.regions.insert(proposals.regions.end(), regions->begin(), regions->end());
  }
  return proposals;
}

std::vector<OpInfo> ProposalRows() {
  const AttributeInfo smallest = NonNegative({"min_size", AttributeKind::kDouble});
  const AttributeInfo threshold{"nms_threshold", AttributeKind::kDouble};
  const AttributeInfo before = NonNegative({"pre_nms_count", AttributeKind::kInt});
  const AttributeInfo after = NonNegative({"post_nms_count", AttributeKind::kInt});
  const std::vector<AttributeInfo> proposal = {
      Positive({"base_size", AttributeKind::kInt}),
      NonNegative({"pre_nms_topn", AttributeKind::kInt}),
      NonNegative({"post_nms_topn", AttributeKind::kInt}),
      {"nms_thresh", AttributeKind::kDouble},
      Positive({"feat_stride", AttributeKind::kInt}),
      NonNegative({"min_size", AttributeKind::kInt}),
      Positive({"ratio", AttributeKind::kDoubles}),
      Positive({"scale", AttributeKind::kDoubles}),
      {"clip_before_nms", AttributeKind::kBool, true},
      {"clip_after_nms", AttributeKind::kBool, false},
      {"normalize", AttributeKind::kBool, false},
      Positive({"box_size_scale", AttributeKind::kDouble, 1.0}),
      Positive({"box_coordinate_scale", AttributeKind::kDouble, 1.0}),
      {"framework", AttributeKind::kString, "", {"", "tensorflow"}}};
  const auto proposal_row = [&](std::string_view set, std::vector<std::string_view> outputs) {
    return MakeRow({.set = set,
                    .name = "Proposal",
                    .inputs = {"class_probs: float 4", "bbox_deltas: float 4", "image_shape: float 1"},
                    .attributes = proposal,
                    .infer = Infer<InferProposal>,
                    .outputs = std::move(outputs),
                    .work = Work::kHeavy});
  };
  return {
      proposal_row("opset1", {"output"}),
      proposal_row("opset4", {"rois", "scores"}),
      MakeRow({.set = "opset9",
               .name = "GenerateProposals",
               .inputs = {"im_info: float 2", "anchors: float 4", "deltas: float 4", "scores: float 4"},
               .attributes = {smallest,
                              threshold,
                              Positive({"post_nms_count", AttributeKind::kInt}),
                              before,
                              {"normalized", AttributeKind::kBool, true},
                              {"nms_eta", AttributeKind::kDouble, 1.0},
                              {"roi_num_type", AttributeKind::kType, ElementType::kI64}},
               .infer = Infer<InferGenerateProposals>,
               .outputs = {"rois", "scores", "roi_num"},
               .work = Work::kHeavy}),
      MakeRow({.set = "opset6",
               .name = "ExperimentalDetectronGenerateProposalsSingleImage",
               .inputs = {"im_info: float 1", "anchors: float 2", "deltas: float 3", "scores: float 3"},
               .attributes = {smallest, threshold, after, before},
               .infer = Infer<InferSingleImage>,
               .outputs = {"rois", "scores"},
               .work = Work::kHeavy}),
      MakeRow({.set = "opset6",
               .name = "ExperimentalDetectronPriorGridGenerator",
               .inputs = {"priors: float 2", "feature_map: float 4", "im_data: float 4"},
               .attributes = {{"flatten", AttributeKind::kBool, true},
                              NonNegative({"h", AttributeKind::kInt, 0}),
                              NonNegative({"w", AttributeKind::kInt, 0}),
                              NonNegative({"stride_x", AttributeKind::kDouble, 0.0}),
                              NonNegative({"stride_y", AttributeKind::kDouble, 0.0})},
               .infer = Infer<InferPriorGrid>}),
      MakeRow({.set = "opset6",
               .name = "ExperimentalDetectronTopKROIs",
               .inputs = {"input_rois: float 2", "rois_probs: float 1"},
               .attributes = {NonNegative({"max_rois", AttributeKind::kInt, 0})},
               .infer = Infer<InferTopKRois>}),
  };
}

}  // namespace nnefc::ir::ops::opset::detection
