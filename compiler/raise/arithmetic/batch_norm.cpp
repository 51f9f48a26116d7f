// Batch normalizations with constant parameters, in any version of the operation.

#include "compiler/raise/arithmetic/batch_norm.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

int32_t InputNamed(const ir::Node& node, std::string_view name) {
  const auto& inputs = node.info().inputs;
  const auto found = llvm::find_if(inputs, [&](const ir::InputInfo& each) { return each.name == name; });
  NNEFC_CHECK(found != inputs.end());
  return static_cast<int32_t>(found - inputs.begin());
}

std::optional<ChannelTransform> ChannelTransformOf(const RaiseState& state, const ir::Node& node) {
  const auto find = [&](std::string_view name) {
    return state.constants.Find(node.input(InputNamed(node, name)));
  };
  const TensorValue *gamma = find("gamma"), *beta = find("beta"), *mean = find("mean"),
                    *variance = find("variance");
  if (gamma == nullptr || beta == nullptr || mean == nullptr || variance == nullptr) return std::nullopt;
  ChannelTransform transform;
  for (int64_t c = 0; c < gamma->volume(); ++c) {
    const double scale =
        gamma->ElementAsDouble(c) / std::sqrt(variance->ElementAsDouble(c) + node.Double("epsilon"));
    transform.scale.push_back(scale);
    transform.shift.push_back(beta->ElementAsDouble(c) - mean->ElementAsDouble(c) * scale);
  }
  return transform;
}

}  // namespace nnefc::raise
