#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir::ops::opset::detection {

// A box selected by MatrixNms or MulticlassNms.
struct ClassifiedBox {
  int64_t image;
  int64_t category;
  int64_t index;  // among the boxes of all images
  float score;
  std::array<float, 4> corners;  // left, top, right, bottom
};

// Inputs of MatrixNms and MulticlassNms: boxes [images, count, 4] and scores [images, classes, count].
// MulticlassNms also accepts boxes [classes, count, 4], scores [classes, count] and the number of boxes per
// image.
struct ClassifiedBoxes {
  std::vector<float> boxes;
  std::vector<float> scores;
  int64_t classes = 0;
  int64_t count = 0;
  std::optional<std::vector<int64_t>> boxes_per_image = std::nullopt;
  int64_t images = 0;
};

// The boxes selected by the attributes of the node, in output order, and their number for each image. Nothing
// if more than 10^9 pairs of boxes may have to be compared, or if `boxes_per_image` is invalid.
struct ClassSelection {
  std::vector<ClassifiedBox> boxes;
  std::vector<int64_t> per_image;
};
std::optional<ClassSelection> SelectByClass(const Node& node, const ClassifiedBoxes& given);

}  // namespace nnefc::ir::ops::opset::detection
