#include "compiler/ir/ops/windows/resized_axis.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir::ops {

InterpolationModes ReadInterpolationModes(const Node& node) {
  if (node.set() == "opset1") {
    const std::string& mode = node.String("mode");
    return {mode == "linear" ? "linear_onnx" : mode,
            node.Bool("align_corners") ? "align_corners" : "asymmetric", "simple", node.Bool("antialias")};
  }
  return {node.String("mode"), node.String("coordinate_transformation_mode"), node.String("nearest_mode"),
          node.Bool("antialias"), node.Double("cube_coeff")};
}

bool HasPads(const Node& node) {
  const auto pads = [&](std::string_view name) {
    return llvm::any_of(node.Ints(name), [](int64_t width) { return width != 0; });
  };
  return pads("pads_begin") || pads("pads_end");
}

float OriginalCoordinate(const std::string& coordinates, int64_t x, const ResizedAxis& axis) {
  const auto position = static_cast<float>(x);
  const auto scale = static_cast<float>(axis.scale);
  if (coordinates == "asymmetric") return position / scale;
  if (coordinates == "tf_half_pixel_for_nn") return (position + 0.5f) / scale;
  if (coordinates == "align_corners") {
    if (axis.output == 1) return 0;
    return position * static_cast<float>(axis.input - 1) / static_cast<float>(axis.output - 1);
  }
  if (coordinates == "pytorch_half_pixel" && axis.output == 1) return 0;
  return (position + 0.5f) / scale - 0.5f;
}

int64_t NearestPosition(const std::string& nearest, float coordinate, double scale) {
  if (nearest == "floor") return static_cast<int64_t>(std::floor(coordinate));
  if (nearest == "ceil") return static_cast<int64_t>(std::ceil(coordinate));
  if (nearest == "round_prefer_ceil") {
    // A sum with 0.5 could round up to the next integer.
    const float below = std::floor(coordinate);
    return static_cast<int64_t>(below) + (coordinate - below >= 0.5f ? 1 : 0);
  }
  if (nearest == "simple")
    return static_cast<int64_t>(scale < 1 ? std::ceil(coordinate) : std::trunc(coordinate));
  return static_cast<int64_t>(std::ceil(coordinate - 0.5f));  // round_prefer_floor
}

}  // namespace nnefc::ir::ops
