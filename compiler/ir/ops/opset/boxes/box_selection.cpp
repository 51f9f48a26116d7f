// The algorithm of NonMaxSuppression.

#include "compiler/ir/ops/opset/boxes/box_selection.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace nnefc::ir::ops::opset {

namespace {

struct Box {
  float top, left, bottom, right;

  float area() const { return (bottom - top) * (right - left); }
};

Box BoxAt(const BoxSelection& selection, int64_t batch, int64_t index) {
  const double* at = selection.boxes.data() + (batch * selection.count + index) * 4;
  const auto value = [&](int i) { return static_cast<float>(at[i]); };
  if (selection.is_center) {
    const float x = value(0), y = value(1), width = value(2), height = value(3);
    return {y - height / 2, x - width / 2, y + height / 2, x + width / 2};
  }
  return {std::min(value(0), value(2)), std::min(value(1), value(3)), std::max(value(0), value(2)),
          std::max(value(1), value(3))};
}

// Returns the intersection over the union, or 0 if a box has no area.
float Overlap(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float height = std::max(std::min(a.bottom, b.bottom) - std::max(a.top, b.top), 0.0F);
  const float width = std::max(std::min(a.right, b.right) - std::max(a.left, b.left), 0.0F);
  const float intersection = height * width;
  return intersection / (a.area() + b.area() - intersection);
}

struct Candidate {
  Box box;
  int64_t index;
  float score;
  size_t checked = 0;  // the number of selected boxes that already lowered the score

  // Orders by score, then by lower index.
  bool operator<(const Candidate& other) const {
    return score < other.score || (score == other.score && index > other.index);
  }
};

// Selects boxes greedily: the best candidate is selected unless a selected box overlaps it too much. With a
// sigma, all boxes that overlap it lower its score, and it competes again.
void SelectOfClass(const BoxSelection& selection, int64_t batch, int64_t category,
                   std::vector<SelectedBox>& selected) {
  const double* scores = selection.scores.data() + (batch * selection.classes + category) * selection.count;
  const auto threshold = static_cast<float>(selection.score_threshold);
  const auto iou_threshold = static_cast<float>(selection.iou_threshold);
  std::priority_queue<Candidate> candidates;
  for (int64_t i = 0; i < selection.count; ++i) {
    const auto score = static_cast<float>(scores[i]);
    if (score > threshold) candidates.push({BoxAt(selection, batch, i), i, score});
  }
  const float scale = selection.sigma > 0 ? -0.5F / static_cast<float>(selection.sigma) : 0.0F;
  std::vector<Candidate> kept;
  while (!candidates.empty() && static_cast<int64_t>(kept.size()) < selection.most_per_class) {
    Candidate next = candidates.top();
    candidates.pop();
    const float before = next.score;
    bool suppressed = false;
    for (size_t i = kept.size(); i > next.checked && !suppressed && next.score > threshold; --i) {
      const float overlap = Overlap(next.box, kept[i - 1].box);
      suppressed = overlap > iou_threshold;
      if (!suppressed) next.score *= std::exp(scale * overlap * overlap);
    }
    next.checked = kept.size();
    if (suppressed) continue;
    if (next.score == before) {
      kept.push_back(next);
      selected.push_back({batch, category, next.index, next.score});
    } else if (next.score > threshold) {
      candidates.push(next);
    }
  }
}

constexpr double kMaxPairs = 1e9;

double NumPairs(const BoxSelection& selection) {
  double pairs = 0;
  for (int64_t row = 0; row < selection.batches * selection.classes; ++row) {
    const double* scores = selection.scores.data() + row * selection.count;
    const auto candidates = static_cast<double>(std::count_if(
        scores, scores + selection.count, [&](double score) { return score > selection.score_threshold; }));
    pairs += candidates * std::min(candidates, static_cast<double>(selection.most_per_class));
  }
  return pairs;
}

}  // namespace

std::optional<std::vector<SelectedBox>> SelectBoxes(const BoxSelection& selection) {
  if (NumPairs(selection) > kMaxPairs) return std::nullopt;
  std::vector<SelectedBox> selected;
  for (int64_t batch = 0; batch < selection.batches; ++batch) {
    for (int64_t category = 0; category < selection.classes; ++category) {
      SelectOfClass(selection, batch, category, selected);
    }
  }
  if (!selection.sorted) return selected;
  std::stable_sort(selected.begin(), selected.end(),
                   [](const SelectedBox& a, const SelectedBox& b) { return a.score > b.score; });
  return selected;
}

}  // namespace nnefc::ir::ops::opset
