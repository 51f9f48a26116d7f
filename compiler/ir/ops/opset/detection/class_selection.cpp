// MatrixNms and MulticlassNms: selection of boxes per class.

#include "compiler/ir/ops/opset/detection/class_selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/ir/ops/opset/detection/floats.h"
#include "compiler/ir/ops/opset/detection/rows.h"
#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset::detection {

namespace {

using Corners = std::array<float, 4>;

struct OverlapRule {
  float extent;     // extent of a single coordinate: 1 for pixel coordinates
  bool must_touch;  // boxes less than a pixel apart do not overlap
};

// Returns the intersection over the union.
float Overlap(const Corners& a, const Corners& b, const OverlapRule& rule) {
  const bool touches = a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
  const auto area = [&](const Corners& box) {
    return (box[2] - box[0] + rule.extent) * (box[3] - box[1] + rule.extent);
  };
  const float a_area = area(a), b_area = area(b);
  if (a_area <= 0 || b_area <= 0 || (rule.must_touch && !touches)) return 0;
  const float width = std::max(std::min(a[2], b[2]) - std::max(a[0], b[0]) + rule.extent, 0.0F);
  const float height = std::max(std::min(a[3], b[3]) - std::max(a[1], b[1]) + rule.extent, 0.0F);
  const float intersection = width * height;
  return intersection / (a_area + b_area - intersection);
}

// The boxes of a class in an image.
struct Candidates {
  const float* boxes;
  const float* scores;
  int64_t count;

  Corners At(int64_t i) const { return {boxes[4 * i], boxes[4 * i + 1], boxes[4 * i + 2], boxes[4 * i + 3]}; }
};

struct Scored {
  int64_t index;
  float score;
};

class Selector {
 public:
  explicit Selector(const Node& node)
      : is_matrix_(node.type() == "MatrixNms"),
        is_gaussian_(is_matrix_ && node.String("decay_function") == "gaussian"),
        rule_{node.Bool("normalized") ? 0.0F : 1.0F, is_matrix_},
        most_per_class_(node.Int("nms_top_k")),
        score_threshold_(static_cast<float>(node.Double("score_threshold"))),
        threshold_(static_cast<float>(node.Double(is_matrix_ ? "post_threshold" : "iou_threshold"))),
        parameter_(static_cast<float>(node.Double(is_matrix_ ? "gaussian_sigma" : "nms_eta"))) {}

  // Returns the selected boxes, or nothing if too many pairs compete.
  std::optional<std::vector<Scored>> Select(const Candidates& candidates) {
    std::vector<Scored> best;
    for (int64_t i = 0; i < candidates.count; ++i) {
      const float score = candidates.scores[i];
      if (is_matrix_ ? score > score_threshold_ : score >= score_threshold_) best.push_back({i, score});
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
    if (most_per_class_ >= 0 && static_cast<int64_t>(best.size()) > most_per_class_)
      best.resize(static_cast<size_t>(most_per_class_));
    pairs_ += static_cast<double>(best.size()) * static_cast<double>(best.size());
    constexpr double kMaxPairs = 1e9;
    if (pairs_ > kMaxPairs) return std::nullopt;
    return is_matrix_ ? Decay(candidates, best) : Suppress(candidates, best);
  }

 private:
  // MatrixNms: multiplies each score by the minimum decay over all better boxes. The decay depends on the
  // overlap with that box, and on that box's maximum overlap with boxes better than itself.
  std::vector<Scored> Decay(const Candidates& candidates, llvm::ArrayRef<Scored> best) const {
    std::vector<float> largest(best.size());
    std::vector<Scored> kept;
    for (size_t i = 0; i < best.size(); ++i) {
      float decay = 1;
      for (size_t j = 0; j < i; ++j) {
        const float overlap = Overlap(candidates.At(best[i].index), candidates.At(best[j].index), rule_);
        largest[i] = std::max(largest[i], overlap);
        const float asked = is_gaussian_
                                ? std::exp((largest[j] * largest[j] - overlap * overlap) * parameter_)
                                : (1 - overlap) / (1 - largest[j] + 1e-10F);
        decay = std::min(decay, asked);
      }
      const float score = decay * best[i].score;
      if (score > threshold_) kept.push_back({best[i].index, score});
    }
    return kept;
  }

  // MulticlassNms: selects by descending score and skips boxes that a selected one overlaps too much. The
  // threshold may decrease with each selection.
  std::vector<Scored> Suppress(const Candidates& candidates, llvm::ArrayRef<Scored> best) const {
    std::vector<Scored> kept;
    float threshold = threshold_;
    for (const Scored& next : best) {
      const bool is_suppressed = std::any_of(kept.begin(), kept.end(), [&](const Scored& other) {
        return Overlap(candidates.At(next.index), candidates.At(other.index), rule_) >= threshold;
      });
      if (is_suppressed) continue;
      kept.push_back(next);
      if (parameter_ < 1 && threshold > 0.5F) threshold *= parameter_;
    }
    return kept;
  }

  const bool is_matrix_, is_gaussian_;
  const OverlapRule rule_;
  const int64_t most_per_class_;
  const float score_threshold_, threshold_, parameter_;
  double pairs_ = 0;
};

void Sort(std::vector<ClassifiedBox>& boxes, bool by_class, bool by_image) {
  std::stable_sort(boxes.begin(), boxes.end(), [&](const ClassifiedBox& a, const ClassifiedBox& b) {
    if (by_class && a.category != b.category) return a.category < b.category;
    if (by_image && by_class && a.image != b.image) return a.image < b.image;
    if (a.score != b.score) return a.score > b.score;
    if (a.image != b.image) return a.image < b.image;
    if (a.category != b.category) return a.category < b.category;
    return a.index < b.index;
  });
}

// Returns the values of the inputs if they are known.
std::optional<ClassifiedBoxes> KnownBoxes(OpContext& op) {
  ClassifiedBoxes given;
  for (int32_t i = 0; i < op.num_inputs(); ++i) {
    const std::optional<TensorValue>& value = op.input(i).value;
    if (!value || BitWidth(value->type()) == 0) return std::nullopt;
    if (i == 0) given.boxes = Floats(*value);
    if (i == 1) given.scores = Floats(*value);
    if (i < 2) continue;
    given.boxes_per_image.emplace();
    for (int64_t k = 0; k < value->volume(); ++k) given.boxes_per_image->push_back(value->ElementAsInt(k));
  }
  const Shape scores = op.input(1).value->shape();
  given.images = given.boxes_per_image ? static_cast<int64_t>(given.boxes_per_image->size()) : scores[0];
  given.classes = scores[scores.size() - 2];
  given.count = scores.back();
  return given;
}

bool CheckBoxes(OpContext& op) {
  const bool has_images = op.has_input(2);
  const PartialShape boxes = op.shape(0).rank_known() ? op.shape(0) : PartialShape::OfRank(3);
  const PartialShape scores =
      op.shape(1).rank_known() ? op.shape(1) : PartialShape::OfRank(has_images ? 2 : 3);
  const int64_t rank = has_images ? 2 : 3;
  const bool fits = scores.rank() == rank && boxes[0].Compatible(scores[0]) &&
                    boxes[1].Compatible(scores[rank - 1]) && boxes[2].Compatible(Dim(4));
  if (fits) return true;
  op.Error(kOpsetExtent, "boxes of {} do not fit scores of {}; expected {}", ToString(boxes),
           ToString(scores), has_images ? "[c,k,4] and [c,k]" : "[n,k,4] and [n,c,k]");
  return false;
}

// MatrixNms-8 and MulticlassNms: rows [class, score, left, top, right, bottom], box indices, and the number
// of rows of each image.
void InferClassSelection(OpContext& op) {
  const ElementType index = op.Type("output_type");
  if (index != ElementType::kI32 && index != ElementType::kI64) {
    op.Error(kOpsetAttributeValue, "`output_type` of `{}` is {}; expected i32 or i64", op.node().type(),
             Name(index));
    return;
  }
  for (int32_t i = 0; i < op.num_inputs(); ++i) op.Value(i);
  for (std::string_view name : {"nms_top_k", "keep_top_k", "background_class"}) {
    if (op.Int(name) >= -1) continue;
    op.Error(kOpsetAttributeValue, "`{}` of `{}` is {}; expected at least -1", name, op.node().type(),
             op.Int(name));
    return;
  }
  if (op.node().type() == "MulticlassNms" && !(op.Double("nms_eta") >= 0 && op.Double("nms_eta") <= 1)) {
    op.Error(kOpsetAttributeValue, "`nms_eta` of `MulticlassNms` is {}; expected 0 to 1",
             op.Double("nms_eta"));
    return;
  }
  const ElementType type = op.CommonType(0, 2);
  if (op.failed() || !CheckBoxes(op)) return;
  const bool has_images = op.has_input(2);
  const PartialShape scores =
      op.shape(1).rank_known() ? op.shape(1) : PartialShape::OfRank(has_images ? 2 : 3);
  Dim images = op.shape(0).rank_known() ? op.shape(0)[0] : Dim();
  if (has_images) images = op.shape(2).rank_known() ? op.shape(2)[0] : Dim();
  PartialShape most = scores;
  if (op.Int("nms_top_k") >= 0 && most[most.rank() - 1].known())
    most.set(most.rank() - 1, Dim(std::min(most[most.rank() - 1].value(), op.Int("nms_top_k"))));
  Dim count(0, most.volume().value_or(Dim::kUnbounded));
  if (const std::optional<ClassifiedBoxes> given = KnownBoxes(op)) {
    const std::optional<ClassSelection> selection = SelectByClass(op.node(), *given);
    if (!selection) {
      op.Error(kOpsetConstantInput, "{} has too many boxes that compete, or fewer than {} says",
               op.InputName(0), has_images ? op.InputName(2) : op.InputName(1));
      return;
    }
    count = Dim(static_cast<int64_t>(selection->boxes.size()));
  }
  op.Set(0, type, PartialShape{count, Dim(6)});
  op.Set(1, index, PartialShape{count, Dim(1)});
  op.Set(2, index, PartialShape{images});
}

OpInfo ClassSelectionRow(std::string_view set, std::string_view name, std::vector<AttributeInfo> more) {
  std::vector<AttributeInfo> attributes = {
      {"sort_result_type", AttributeKind::kString, "none", {"none", "score", "classid"}},
      {"output_type", AttributeKind::kType, ElementType::kI64},
      {"nms_top_k", AttributeKind::kInt, -1},
      {"keep_top_k", AttributeKind::kInt, -1},
      {"sort_result_across_batch", AttributeKind::kBool, false},
      {"score_threshold", AttributeKind::kDouble, 0.0},
      {"background_class", AttributeKind::kInt, -1},
      {"normalized", AttributeKind::kBool, true}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  std::vector<std::string_view> inputs = {"boxes: float 3", "scores: float 2..3"};
  if (set == "opset9") inputs.push_back("roisnum?: index 1");
  return MakeRow({.set = set,
                  .name = name,
                  .inputs = inputs,
                  .attributes = attributes,
                  .infer = Infer<InferClassSelection>,
                  .outputs = {"selected_outputs", "selected_indices", "selected_num"},
                  .work = Work::kHeavy});
}

}  // namespace

std::optional<ClassSelection> SelectByClass(const Node& node, const ClassifiedBoxes& given) {
  Selector selector(node);
  const bool by_class = node.String("sort_result_type") == "classid";
  const int64_t background = node.Int("background_class"), most = node.Int("keep_top_k");
  ClassSelection selection;
  int64_t first = 0;  // box of an image
  for (int64_t image = 0; image < given.images; ++image) {
    const bool is_shared = !given.boxes_per_image;
    const int64_t count = is_shared ? given.count : (*given.boxes_per_image)[static_cast<size_t>(image)];
    if (count < 0 || (!is_shared && count > given.count - first)) return std::nullopt;
    std::vector<ClassifiedBox> kept;
    for (int64_t category = 0; category < given.classes; ++category) {
      if (category == background) continue;
      const int64_t row = is_shared ? image * given.classes + category : category;
      const int64_t box = is_shared ? image * given.count : category * given.count + first;
      const Candidates candidates{.boxes = given.boxes.data() + 4 * box,
                                  .scores = given.scores.data() + row * given.count + first,
                                  .count = count};
      const std::optional<std::vector<Scored>> selected = selector.Select(candidates);
      if (!selected) return std::nullopt;
      for (const Scored& scored : *selected) {
        // Boxes per class are indexed box by box.
        const int64_t index =
            is_shared ? box + scored.index : (first + scored.index) * given.classes + category;
        kept.push_back({image, category, index, scored.score, candidates.At(scored.index)});
      }
    }
    Sort(kept, false, false);
    if (most >= 0 && static_cast<int64_t>(kept.size()) > most) kept.resize(static_cast<size_t>(most));
    if (by_class && node.type() == "MulticlassNms") Sort(kept, true, false);
    selection.per_image.push_back(static_cast<int64_t>(kept.size()));
    selection.boxes.insert(selection.boxes.end(), kept.begin(), kept.end());
    if (!is_shared) first += count;
  }
  const bool is_sorted = node.Bool("sort_result_across_batch") && node.String("sort_result_type") != "none";
  if (is_sorted) Sort(selection.boxes, by_class, true);
  return selection;
}

std::vector<OpInfo> ClassSelectionRows() {
  const std::vector<AttributeInfo> decay{
      {"decay_function", AttributeKind::kString, "linear", {"linear", "gaussian"}},
      {"gaussian_sigma", AttributeKind::kDouble, 2.0},
      {"post_threshold", AttributeKind::kDouble, 0.0}};
  const std::vector<AttributeInfo> overlap{{"iou_threshold", AttributeKind::kDouble, 0.0},
                                           {"nms_eta", AttributeKind::kDouble, 1.0}};
  return {ClassSelectionRow("opset8", "MatrixNms", decay),
          ClassSelectionRow("opset8", "MulticlassNms", overlap),
          ClassSelectionRow("opset9", "MulticlassNms", overlap)};
}

}  // namespace nnefc::ir::ops::opset::detection
