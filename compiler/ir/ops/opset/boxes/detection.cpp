// DetectionOutput: detections from the offsets and scores of boxes.

#include "compiler/ir/ops/opset/op_context.h"
#include "fmt/format.h"

namespace nnefc::ir::ops::opset {

namespace {

// Divides the last extent of a DetectionOutput's input by its number of items per box. Returns nothing if the
// extent is unknown or not a multiple.
std::optional<int64_t> CountIn(OpContext& op, int32_t input, std::optional<int64_t> items,
                               std::string_view of_items) {
  if (!items || !op.has_input(input) || !op.shape(input).rank_known()) return std::nullopt;
  const Dim extent = op.shape(input)[op.shape(input).rank() - 1];
  if (!extent.known()) return std::nullopt;
  if (*items > 0 && extent.value() > 0 && extent.value() % *items == 0) return extent.value() / *items;
  op.Error(kOpsetExtent, "{} has the shape {}; expected a positive multiple of {}, {}, along the last axis",
           op.InputName(input), ToString(op.shape(input)), *items, of_items);
  return std::nullopt;
}

struct BoxCounts {
  std::optional<int64_t> boxes;    // prior boxes
  std::optional<int64_t> classes;  // number of classes in the scores
};

// Returns the numbers of boxes and classes that follow from `num_classes`, missing in DetectionOutput-8, and
// from the known extents.
BoxCounts CountBoxes(OpContext& op) {
  const bool shared = op.Bool("share_location");
  const int64_t prior_size = op.Bool("normalized") ? 4 : 5;
  BoxCounts counts;
  if (op.node().info().FindAttribute("num_classes") != nullptr) counts.classes = op.Int("num_classes");
  counts.boxes = CountIn(op, 2, prior_size, "the numbers of a prior box");
  const auto by = [&](int32_t input, std::optional<int64_t> items, std::string_view of_items) {
    if (!counts.boxes && !op.failed()) counts.boxes = CountIn(op, input, items, of_items);
  };
  std::optional<int64_t> offsets;
  if (shared) {
    offsets = 4;
  } else if (counts.classes) {
    offsets = SaturatingMultiply(*counts.classes, 4);
  }
  by(0, offsets, "the offsets of a box");
  by(1, counts.classes, "the classes");
  by(3, 2, "the scores of a box");
  if (counts.boxes && !counts.classes && !op.failed()) {
    counts.classes = CountIn(op, 1, counts.boxes, "the number of boxes");
    if (!counts.classes && !shared && !op.failed())
      counts.classes = CountIn(op, 0, SaturatingMultiply(*counts.boxes, 4), "the offsets of the boxes");
  }
  return counts;
}

// Emits kOpsetExtent unless the input may have that extent along the axis.
bool CheckExtent(OpContext& op, int32_t input, int64_t axis, Dim expected, std::string_view what) {
  if (!op.has_input(input) || !op.shape(input).rank_known()) return true;
  if (op.shape(input)[axis].Compatible(expected)) return true;
  op.Error(kOpsetExtent, "{} has the shape {}; expected {} along axis {}: {}", op.InputName(input),
           ToString(op.shape(input)), ToString(PartialShape{expected}), axis, what);
  return false;
}

// Returns the number of images. The first extents of offsets and scores must agree.
std::optional<Dim> NumImages(OpContext& op) {
  Dim images;
  for (int32_t input : {0, 1, 3, 4}) {
    if (!op.has_input(input) || !op.shape(input).rank_known()) continue;
    if (!CheckExtent(op, input, 0, images, "the images")) return std::nullopt;
    images = *Merge(images, op.shape(input)[0]);
  }
  const PartialShape& priors = op.shape(2);
  if (priors.rank_known() && !priors[0].Compatible(Dim(1)) &&
      !CheckExtent(op, 2, 0, images, "one set of prior boxes, or one for each image"))
    return std::nullopt;
  return images;
}

bool CheckCounts(OpContext& op, const BoxCounts& counts) {
  const bool encoded = op.Bool("variance_encoded_in_target");
  if (!CheckExtent(op, 2, 1, Dim(encoded ? 1 : 2),
                   encoded ? "the boxes" : "the boxes, then their variances")) {
    return false;
  }
  if (!counts.boxes) return true;
  const auto products = [&](int64_t items) { return Dim(SaturatingMultiply(*counts.boxes, items)); };
  if (!CheckExtent(op, 2, 2, products(op.Bool("normalized") ? 4 : 5), "the numbers of all prior boxes") ||
      !CheckExtent(op, 3, 1, products(2), "two scores for each box")) {
    return false;
  }
  if (!counts.classes) return true;
  const int64_t places = op.Bool("share_location") ? 4 : SaturatingMultiply(*counts.classes, 4);
  return CheckExtent(op, 0, 1, products(places), "four offsets for each box") &&
         CheckExtent(op, 1, 1, products(*counts.classes), "the classes of each box") &&
         CheckExtent(op, 4, 1, products(places), "four offsets for each box");
}

// DetectionOutput: [1, 1, rows, 7] with rows [image, class, score, x1, y1, x2, y2].
void InferDetectionOutput(OpContext& op) {
  const ElementType type = op.CommonType(0, op.num_inputs());
  if (op.failed()) return;
  if (op.num_inputs() == 4) {
    op.Error(kOpsetArity, "`DetectionOutput` has 4 inputs; expected 3 or 5");
    return;
  }
  const std::vector<int64_t> kept = op.Ints("keep_top_k");
  if (kept.empty() || kept.front() < -1 || op.Int("top_k") < -1) {
    op.Error(
        kOpsetAttributeValue,
        "`keep_top_k` of `DetectionOutput` is [{}] and `top_k` {}; expected numbers of boxes, or -1 for all",
        fmt::join(kept, ","), op.Int("top_k"));
    return;
  }
  const std::optional<Dim> images = NumImages(op);
  if (!images) return;
  const BoxCounts counts = CountBoxes(op);
  if (op.failed() || !CheckCounts(op, counts)) return;
  const auto or_any = [](std::optional<int64_t> count) { return count ? Dim(*count) : Dim(); };
  std::optional<Dim> rows;
  if (kept.front() > 0) {
    rows = Multiply(*images, Dim(kept.front()));
  } else {
    const bool by_top = kept.front() == -1 && op.Int("top_k") > 0;
    rows = Multiply(*images, by_top ? Dim(op.Int("top_k")) : or_any(counts.boxes));
    if (rows) rows = Multiply(*rows, or_any(counts.classes));
  }
  if (!rows) {
    op.Error(kOpsetExtent, "the rows of `DetectionOutput` are more than fit an extent; expected a lower `{}`",
             kept.front() > 0 ? "keep_top_k" : "top_k");
    return;
  }
  op.Set(type, PartialShape{Dim(1), Dim(1), *rows, Dim(7)});
}

OpInfo DetectionOutputRow(std::string_view set, std::vector<AttributeInfo> attributes) {
  const AttributeInfo more[] = {
      {"background_label_id", AttributeKind::kInt, 0},
      {"top_k", AttributeKind::kInt, -1},
      {"variance_encoded_in_target", AttributeKind::kBool, false},
      {"keep_top_k", AttributeKind::kInts},
      {"code_type",
       AttributeKind::kString,
       "caffe.PriorBoxParameter.CORNER",
       {"caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"}},
      {"share_location", AttributeKind::kBool, true},
      {"nms_threshold", AttributeKind::kDouble},
      {"confidence_threshold", AttributeKind::kDouble, 0.0},
      {"clip_after_nms", AttributeKind::kBool, false},
      {"clip_before_nms", AttributeKind::kBool, false},
      {"decrease_label_id", AttributeKind::kBool, false},
      {"normalized", AttributeKind::kBool, false},
      Positive({"input_height", AttributeKind::kInt, 1}),
      Positive({"input_width", AttributeKind::kInt, 1}),
      NonNegative({"objectness_score", AttributeKind::kDouble, 0.0}),
  };
  attributes.insert(attributes.end(), std::begin(more), std::end(more));
  return MakeRow(
      {.set = set,
       .name = "DetectionOutput",
       .inputs = {"box_logits: float 2", "class_predictions: float 2", "proposals: float 3",
                  "additional_class_predictions?: float 2", "additional_box_predictions?: float 2"},
       .attributes = std::move(attributes),
       .infer = Infer<InferDetectionOutput>});
}

}  // namespace

std::vector<OpInfo> DetectionRows() {
  return {
      DetectionOutputRow("opset1", {Positive({"num_classes", AttributeKind::kInt})}),
      DetectionOutputRow("opset8", {}),
  };
}

}  // namespace nnefc::ir::ops::opset
