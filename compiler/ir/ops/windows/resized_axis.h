// Coordinates of Interpolate along one axis, by OpenVINO's definitions of its modes.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops {

// An axis of Interpolate. An axis that does not change has equal extents and the scale 1.
struct ResizedAxis {
  int64_t input = 0, output = 0;  // extents, at least 1
  double scale = 1;               // output per input

  bool changes() const { return input != output; }
};

// The modes of an Interpolate of any version.
struct InterpolationModes {
  std::string mode, coordinates, nearest;
  bool antialias = false;
  double cube_coefficient = -0.75;
};

// Returns the modes of an Interpolate; those of version 1 in terms of the later ones, as OpenVINO converts
// them.
InterpolationModes ReadInterpolationModes(const Node& node);

// Returns whether an Interpolate pads its input at either end of an axis.
bool HasPads(const Node& node);

// Returns the input coordinate of position `x` of the output. `coordinates` is a value of
// `coordinate_transformation_mode`. The result is f32, as in OpenVINO, since its floor matters.
float OriginalCoordinate(const std::string& coordinates, int64_t x, const ResizedAxis& axis);

// Returns the integer for a coordinate by `nearest`, a value of `nearest_mode`. The result may be outside of
// the input by one.
int64_t NearestPosition(const std::string& nearest, float coordinate, double scale);

}  // namespace nnefc::ir::ops
