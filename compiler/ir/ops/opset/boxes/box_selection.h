#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nnefc::ir::ops::opset {

// Inputs of NonMaxSuppression-5 and -9: boxes [batches, count, 4], scores [batches, classes, count].
struct BoxSelection {
  std::vector<double> boxes;
  std::vector<double> scores;
  int64_t batches = 0;
  int64_t classes = 0;
  int64_t count = 0;
  int64_t most_per_class = 0;
  double iou_threshold = 0;
  double score_threshold = 0;
  double sigma = 0;        // soft suppression; 0: hard suppression
  bool is_center = false;  // x, y, width, height instead of two corners y, x
  bool sorted = true;      // sorted by score across batches and classes
};

struct SelectedBox {
  int64_t batch;
  int64_t category;
  int64_t box;
  float score;  // after soft suppression
};

// Returns the selected boxes in output order, or nothing if more than 10^9 pairs of boxes may compete.
std::optional<std::vector<SelectedBox>> SelectBoxes(const BoxSelection& selection);

}  // namespace nnefc::ir::ops::opset
