#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir {

enum class CellActivation : uint8_t { kSigmoid, kTanh, kRelu, kHardSigmoid };

// The items of the attribute `activations`, "sigmoid, tanh", in lower case.
std::vector<std::string> ActivationNames(std::string_view text);
std::optional<CellActivation> ParseCellActivation(std::string_view name);

// True for the LSTMCell of old converters: five inputs, W and R side by side
// in the fourth, [4 * hidden, inputs + hidden], and B, of shape `last`, as the fifth.
bool HasJoinedWeights(const Node& node, const PartialShape& last);

}  // namespace nnefc::ir
