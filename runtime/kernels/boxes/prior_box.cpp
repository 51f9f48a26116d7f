// PriorBox and PriorBoxClustered.

#include "compiler/ir/ops/opset/boxes/prior_box.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels {

namespace {

struct Extents {
  double height, width;
};

// A box at each cell, with its centre relative to that of the cell, in pixels.
struct PlacedBox {
  double x = 0, y = 0;
  double half_width, half_height;
  bool is_fixed = false;
};

// The step between cells and their offset.
struct Steps {
  double y, x;
  double offset;
};

void FillVariance(const ReferenceRun& run) {
  std::vector<double> variance = run.node.Doubles("variance");
  if (variance.empty()) variance.push_back(0.1);
  const auto count = static_cast<size_t>(run.output().extent(1));
  float* out = run.output().mutable_data<float>() + count;
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(variance[i % variance.size()]);
}

// out[0] = the corners of each box at each cell, divided by the image size; out[1] = variances.
FaultOr<Success> FillBoxes(const ReferenceRun& run, const std::vector<PlacedBox>& boxes, Extents grid,
                           Extents image, Steps steps) {
  const auto expected = grid.height * grid.width * static_cast<double>(boxes.size()) * 4;
  if (static_cast<double>(run.output().extent(1)) != expected)
    return KernelFault("`{}` makes {} numbers; expected {}", run.node.type(), expected,
                       run.output().extent(1));
  const bool clip = run.node.Bool("clip");
  float* out = run.output().mutable_data<float>();
  const auto store = [&](double value) {
    *out++ = static_cast<float>(clip ? std::clamp(value, 0.0, 1.0) : value);
  };
  for (double row = 0; row < grid.height; ++row) {
    for (double column = 0; column < grid.width; ++column) {
      for (const PlacedBox& box : boxes) {
        const double x = (column + steps.offset) * steps.x + box.x;
        const double y = (row + steps.offset) * steps.y + box.y;
        const double left = (x - box.half_width) / image.width, right = (x + box.half_width) / image.width;
        const double top = (y - box.half_height) / image.height,
                     bottom = (y + box.half_height) / image.height;
        // Boxes of fixed sizes are clipped to the image, as in OpenVINO.
        store(box.is_fixed ? std::max(left, 0.0) : left);
        store(box.is_fixed ? std::max(top, 0.0) : top);
        store(box.is_fixed ? std::min(right, 1.0) : right);
        store(box.is_fixed ? std::min(bottom, 1.0) : bottom);
      }
    }
  }
  FillVariance(run);
  return Success();
}

// Reads a height and width from an input.
FaultOr<Extents> ReadExtents(const ReferenceRun& run, size_t input) {
  const FaultOr<std::vector<int64_t>> items = IndexElements(run.input(input));
  if (!items) return items.error();
  if (items->size() != 2)
    return KernelFault("input {} of `{}` has {} items; expected 2", input, run.node.type(), items->size());
  return Extents{static_cast<double>(items->front()), static_cast<double>(items->back())};
}

// Adds boxes for `fixed_size`: a density x density grid for each size and ratio.
void AddFixedBoxes(const ir::Node& node, std::vector<PlacedBox>& boxes) {
  const std::vector<double> sizes = node.Doubles("fixed_size"), densities = node.Doubles("density");
  const std::vector<double> fixed_ratios = node.Doubles("fixed_ratio");
  const std::vector<float> aspects = ir::ops::opset::AspectRatios(node);
  const std::vector<double> ratios =
      fixed_ratios.empty() ? std::vector<double>(aspects.begin(), aspects.end()) : fixed_ratios;
  for (size_t s = 0; s < sizes.size(); ++s) {
    const double whole = std::floor(sizes[s]);
    const double density = std::floor(densities[s]);
    const double shift = std::floor(sizes[s] / density);
    const double first = shift / 2 - std::floor(whole / 2);
    for (double ratio : ratios) {
      // Squares not from `fixed_ratio` have integer extents, as in OpenVINO.
      const bool is_square = fixed_ratios.empty() && ratio == 1;
      const double size = is_square ? whole : sizes[s];
      for (double y = 0; y < density; ++y) {
        for (double x = 0; x < density; ++x) {
          boxes.push_back({.x = first + x * shift,
                           .y = first + y * shift,
                           .half_width = size / 2 * std::sqrt(ratio),
                           .half_height = size / 2 / std::sqrt(ratio),
                           .is_fixed = true});
        }
      }
    }
  }
}

// Adds boxes for each `min_size`: a square, a square between it and the one of `max_size`, and the other
// ratios. If `scale_all_sizes` is false, the ratios apply to the first size only.
void AddSizedBoxes(const ir::Node& node, double scale, std::vector<PlacedBox>& boxes) {
  const std::vector<double> least = node.Doubles("min_size"), largest = node.Doubles("max_size");
  const std::vector<float> ratios = ir::ops::opset::AspectRatios(node);
  const bool scale_all = node.Bool("scale_all_sizes");
  const auto add = [&](double size, double ratio) {
    boxes.push_back({.half_width = size / 2 * std::sqrt(ratio), .half_height = size / 2 / std::sqrt(ratio)});
  };
  for (size_t s = 0; s < least.size(); ++s) {
    const auto add_largest = [&] {
      if (scale_all && s < largest.size()) add(std::sqrt(least[s] * scale * largest[s]), 1);
    };
    add(least[s] * scale, 1);
    const bool largest_first = node.Bool("min_max_aspect_ratios_order");
    if (largest_first) add_largest();
    if (scale_all || s + 1 == least.size()) {
      for (size_t r = 1; r < ratios.size(); ++r) add(least[scale_all ? s : 0] * scale, ratios[r]);
    }
    if (!largest_first) add_largest();
  }
}

FaultOr<Success> PriorBox(const ReferenceRun& run) {
  if (run.output().volume() == 0) return Success();
  const FaultOr<Extents> grid = ReadExtents(run, 0), image = ReadExtents(run, 1);
  if (!grid) return grid.error();
  if (!image) return image.error();
  const bool scale_all = run.node.Bool("scale_all_sizes");
  double step = run.node.Double("step");
  if (!scale_all) step = step == -1 ? image->height / grid->height : step * image->height;
  Steps steps{step, step, run.node.Double("offset")};
  if (step == 0) steps = {image->height / grid->height, image->width / grid->width, 0.5};
  std::vector<PlacedBox> boxes;
  AddFixedBoxes(run.node, boxes);
  AddSizedBoxes(run.node, scale_all ? 1 : image->height, boxes);
  return FillBoxes(run, boxes, *grid, *image, steps);
}

FaultOr<Success> PriorBoxClustered(const ReferenceRun& run) {
  if (run.output().volume() == 0) return Success();
  const FaultOr<Extents> grid = ReadExtents(run, 0), image = ReadExtents(run, 1);
  if (!grid) return grid.error();
  if (!image) return image.error();
  const auto either = [&](double first, double second) { return first == 0 ? second : first; };
  const double step = run.node.Double("step");
  Steps steps{either(run.node.Double("step_h"), step), either(run.node.Double("step_w"), step),
              run.node.Double("offset")};
  if (steps.y == 0 && steps.x == 0) {
    steps.y = image->height / grid->height;
    steps.x = image->width / grid->width;
  }
  const std::vector<double> widths = run.node.Doubles("width"), heights = run.node.Doubles("height");
  std::vector<PlacedBox> boxes;
  for (size_t s = 0; s < widths.size(); ++s)
    boxes.push_back({.half_width = widths[s] / 2, .half_height = heights[s] / 2});
  return FillBoxes(run, boxes, *grid, *image, steps);
}

}  // namespace

void RegisterPriorBox(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset8"}, "PriorBox", PriorBox);
  registry.AddReference({"opset1"}, "PriorBoxClustered", PriorBoxClustered);
}

}  // namespace nnefc::runtime::kernels
