#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir {

// A box that MatrixNms or MulticlassNms keeps.
struct ClassifiedBox {
  int64_t image;
  int64_t category;
  int64_t index;  // among the boxes of all images
  float score;
  std::array<float, 4> corners;  // left, top, right, bottom
};

// Their inputs: boxes of [images, count, 4] and scores of [images, classes, count]; or, of MulticlassNms,
// boxes of [classes, count, 4], scores of [classes, count] and how many of the boxes belong to each image.
struct ClassifiedBoxes {
  std::vector<float> boxes;
  std::vector<float> scores;
  int64_t classes = 0;
  int64_t count = 0;
  std::optional<std::vector<int64_t>> boxes_per_image = std::nullopt;
  int64_t images = 0;
};

// The boxes that remain by the attributes of the node, in the order of the results, and how many of each
// image; nothing if more than a thousand million pairs of boxes may have to be compared, or boxes of images
// are not there.
struct ClassSelection {
  std::vector<ClassifiedBox> boxes;
  std::vector<int64_t> per_image;
};
std::optional<ClassSelection> SelectByClass(const Node& node, const ClassifiedBoxes& given);

}  // namespace nnefc::ir
