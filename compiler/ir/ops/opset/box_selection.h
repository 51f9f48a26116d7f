#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nnefc::ir {

// NonMaxSuppression-5 and -9: boxes of [batches, count, 4], scores of
// [batches, classes, count].
struct BoxSelection {
  std::vector<double> boxes;
  std::vector<double> scores;
  int64_t batches = 0;
  int64_t classes = 0;
  int64_t count = 0;
  int64_t most_per_class = 0;
  double iou_threshold = 0;
  double score_threshold = 0;
  double sigma = 0;        // of soft suppression; 0 suppresses wholly
  bool is_center = false;  // x, y, width, height instead of two corners y, x
  bool sorted = true;      // by score across batches and classes
};

struct SelectedBox {
  int64_t batch;
  int64_t category;
  int64_t box;
  float score;  // after soft suppression
};

// The boxes that remain, in the order of the results; nothing if more than a
// thousand million pairs of boxes may have to be compared.
std::optional<std::vector<SelectedBox>> SelectBoxes(const BoxSelection& selection);

}  // namespace nnefc::ir
