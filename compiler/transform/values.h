#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform {

// Compile-time values of the tensor at a port; nothing if unknown.

// Returns the integers of the tensor.
std::optional<std::vector<int64_t>> KnownInts(const Port& port);
// Returns the number that all elements equal.
std::optional<double> KnownNumber(const Port& port);

// Returns the order of the axes of a Transpose without negative numbers; nothing if it is unknown. An empty
// order reverses the axes.
std::optional<std::vector<int64_t>> KnownOrder(const Node& transpose);
// Returns a permutation of axes with the last two swapped.
std::vector<int64_t> WithLastAxesSwapped(std::vector<int64_t> order);
// Returns whether a permutation of axes is the identity.
bool KeepsAxes(const std::vector<int64_t>& order);

// Returns whether a node has exactly this operation, such as `opset1` `Power`.
bool IsOperation(const Node& node, std::string_view set, std::string_view name);
// Returns whether a node of the graph or of a body has exactly this operation.
bool HasOperation(const ir::Graph& graph, std::string_view set, std::string_view name);

// Returns the input of a binary node other than `one`, a node whose output is the first; nothing if neither
// or both are.
std::optional<Port> OtherInput(const Node& node, const Node& one);
// Returns the only input that an output feeds; nothing if there are more or none.
std::optional<Port> OnlyDestination(const Port& output);

// Creates a node for a part of the value of `whole`, named by `whole` and `part`, and returns its output.
Port MakePart(Graph& graph, const Node& whole, std::string_view part, std::string_view operation,
              llvm::ArrayRef<Port> inputs, ir::AttributeMap attributes = {});
// Creates a constant list of integers with such a name.
Port MakeInts(Graph& graph, const Node& whole, std::string_view part, llvm::ArrayRef<int64_t> numbers);

// Replaces the last node of a sub-graph by a new one, both with one output: the consumers read the new node,
// and it inherits the name.
void TakePlace(Graph& graph, const Node& last, const Node& made);

}  // namespace nnefc::transform
