#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir::ops::opset::detection {

// A region by its corners: left, top, right, bottom.
struct ProposedRegion {
  std::array<float, 4> corners;
  float score;
  bool is_large = true;  // not smaller than the minimum extents
};

// Returns the intersection over union (IoU) of two regions. A region from coordinate a to b has the extent
// b - a + `extent`: 1 for coordinates of whole pixels, which are included, otherwise 0.
float SharedArea(const std::array<float, 4>& a, const std::array<float, 4>& b, float extent);

// The parameters of a non-maximum suppression.
struct RegionLimits {
  int64_t candidates;  // number of regions with the highest scores that are considered
  int64_t most;        // maximum number of selected regions
  float threshold;     // of the IoU with a selected region
  float extent;        // see SharedArea
};
// Selects regions by descending score. A region is skipped if a selected one overlaps it by more than the
// threshold. Returns nothing if more than 10^9 pairs may compete.
std::optional<std::vector<ProposedRegion>> KeepBestRegions(std::vector<ProposedRegion> regions,
                                                           const RegionLimits& limits);

// Anchors of one image with their deltas: anchors [height, width, count, 4], deltas [count * 4, height,
// width], scores [count, height, width].
struct MovedAnchors {
  llvm::ArrayRef<float> anchors, deltas, scores;
  int64_t count, cells;           // anchors per cell, and number of cells
  std::array<float, 2> image;     // height, width
  std::array<float, 2> smallest;  // minimum height and width of regions
  float extent;                   // see SharedArea
};
// Returns a region for each anchor: the anchor shifted and scaled by its deltas and clipped to the image,
// with its score.
std::vector<ProposedRegion> MoveAnchors(const MovedAnchors& moved);

// The results of GenerateProposals-9.
struct Proposals {
  std::vector<ProposedRegion> regions;  // of all images, one after the other
  std::vector<int64_t> per_image;       // number of regions
};
// The inputs of GenerateProposals-9. Rows of `info` have 3 or 4 items: height, width and scales of an image.
struct ProposalInputs {
  std::vector<float> info, anchors, deltas, scores;
  int64_t images, count, cells;  // number of images, anchors per cell, and cells
};
// Computes GenerateProposals-9 of a checked node. Returns nothing if more than 10^9 pairs may compete.
std::optional<Proposals> GenerateProposals(const Node& node, const ProposalInputs& given);

}  // namespace nnefc::ir::ops::opset::detection
