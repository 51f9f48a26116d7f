#pragma once

#include <optional>
#include <vector>

#include "compiler/raise/node_raising.h"

namespace nnefc::raise {

// Returns the index of the input `name`; it differs between the versions of an operation.
int32_t InputNamed(const ir::Node& node, std::string_view name);

// A batch normalization with constant parameters: x * scale[c] + shift[c].
struct ChannelTransform {
  std::vector<double> scale, shift;
};
// Returns nothing if a parameter depends on data.
std::optional<ChannelTransform> ChannelTransformOf(const RaiseState& state, const ir::Node& node);

}  // namespace nnefc::raise
