#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops::opset {

enum class CellActivation : uint8_t { kSigmoid, kTanh, kRelu, kHardSigmoid };

// Splits the attribute `activations`, "sigmoid, tanh", into names in lower case.
std::vector<std::string> ActivationNames(std::string_view text);
std::optional<CellActivation> ParseCellActivation(std::string_view name);

// An activation function of a cell, with parameters that only some functions use.
struct ParametrizedActivation {
  CellActivation function = CellActivation::kTanh;
  double alpha = 0.2;
  double beta = 0.5;
};
// Returns the `count` functions of the cell in one direction of a checked node. `activations` lists the
// functions of one direction, shared by both, or those of the forward direction before those of the reverse
// direction. `activations_alpha` and `activations_beta` have one item per function; in a shorter list, as in
// ONNX, only functions that have the parameter consume the next item.
std::vector<ParametrizedActivation> ActivationsOfDirection(const Node& node, size_t count, int64_t direction);

// True for the LSTMCell of old converters: it has five inputs, with W and R concatenated in the fourth, [4 *
// hidden, inputs + hidden], and B, of shape `last`, as the fifth.
bool HasJoinedWeights(const Node& node, const PartialShape& last);

}  // namespace nnefc::ir::ops::opset
