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
  bool is_large = true;  // at least of the minimum extents
};

// Returns the intersection over the union; `extent` is that of a single coordinate.
float SharedArea(const std::array<float, 4>& a, const std::array<float, 4>& b, float extent);

// Selects at most `most` regions among the `candidates` best ones, by descending score. A region is skipped
// if a selected one overlaps it by more than the threshold. Returns nothing if more than 10^9 pairs may
// compete.
struct RegionLimits {
  int64_t candidates;
  int64_t most;
  float threshold;
  float extent;
};
std::optional<std::vector<ProposedRegion>> KeepBestRegions(std::vector<ProposedRegion> regions,
                                                           const RegionLimits& limits);

// Anchors of one image with their deltas: anchors [height, width, count, 4], deltas [count * 4, height,
// width], scores [count, height, width].
struct MovedAnchors {
  llvm::ArrayRef<float> anchors, deltas, scores;
  int64_t count, cells;           // anchors per cell, and number of cells
  std::array<float, 2> image;     // height, width
  std::array<float, 2> smallest;  // minimum height and width of regions
  float extent;                   // extent of a single coordinate
};
std::vector<ProposedRegion> MoveAnchors(const MovedAnchors& moved);

// GenerateProposals-9: the regions of all images, and their number for each image; nothing as above. Rows of
// `info` have 3 or 4 items: height, width and scales.
struct Proposals {
  std::vector<ProposedRegion> regions;
  std::vector<int64_t> per_image;
};
struct ProposalInputs {
  std::vector<float> info, anchors, deltas, scores;
  int64_t images, count, cells;
};
std::optional<Proposals> GenerateProposals(const Node& node, const ProposalInputs& given);

}  // namespace nnefc::ir::ops::opset::detection
