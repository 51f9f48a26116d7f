#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ir {

// A region by its corners: left, top, right, bottom.
struct ProposedRegion {
  std::array<float, 4> corners;
  float score;
  bool is_large = true;  // at least of the smallest extents that are wanted
};

// The area that the two share by the area that they cover; `extent` is that of a single coordinate.
float SharedArea(const std::array<float, 4>& a, const std::array<float, 4>& b, float extent);

// Keeps the best regions, at most `most`: of the `candidates` best ones each, by falling scores, that no kept
// one overlaps by more than the threshold. Nothing if more than a thousand million pairs may have to be
// compared.
struct RegionLimits {
  int64_t candidates;
  int64_t most;
  float threshold;
  float extent;
};
std::optional<std::vector<ProposedRegion>> KeepBestRegions(std::vector<ProposedRegion> regions,
                                                           const RegionLimits& limits);

// Anchors of one image, and what moves them: anchors [height, width, count, 4], deltas [count * 4, height,
// width], scores [count, height, width].
struct MovedAnchors {
  llvm::ArrayRef<float> anchors, deltas, scores;
  int64_t count, cells;           // anchors of each cell
  std::array<float, 2> image;     // height, width
  std::array<float, 2> smallest;  // the same of regions
  float extent;                   // of a single coordinate
};
std::vector<ProposedRegion> MoveAnchors(const MovedAnchors& moved);

// GenerateProposals-9: the regions of all images, and how many of each; nothing as above. `info` are rows of
// 3 or 4 numbers: height, width and scales.
struct Proposals {
  std::vector<ProposedRegion> regions;
  std::vector<int64_t> per_image;
};
struct ProposalInputs {
  std::vector<float> info, anchors, deltas, scores;
  int64_t images, count, cells;
};
std::optional<Proposals> GenerateProposals(const Node& node, const ProposalInputs& given);

}  // namespace nnefc::ir
