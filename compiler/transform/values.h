#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/transform/graph.h"

namespace nnefc::transform {

// What is known at compile time of the tensor at a port; nothing if it is not.

// Its integers.
std::optional<std::vector<int64_t>> KnownInts(const Port& port);
// The number that all of its elements are.
std::optional<double> KnownNumber(const Port& port);

// An order of axes with the last two the other way round.
std::vector<int64_t> WithLastAxesSwapped(std::vector<int64_t> order);
// Whether an order leaves the axes where they are.
bool KeepsAxes(const std::vector<int64_t>& order);

// Whether a node is of exactly that operation: `opset1`, `Power`.
bool IsOperation(const Node& node, std::string_view set, std::string_view name);

// The input of a node of two that is not `one`, which is a node's output;
// nothing if neither or both are.
std::optional<Port> OtherInput(const Node& node, const Node& one);
// The only input that an output feeds, nothing if it feeds more or none.
std::optional<Port> OnlyDestination(const Port& output);

// The output of a new node that takes part in what `whole` computed, named `whole` and `part`.
Port MakePart(Graph& graph, const Node& whole, std::string_view part, std::string_view operation,
              llvm::ArrayRef<Port> inputs, ir::AttributeMap attributes = {});
// A constant list of integers of such a name.
Port MakeInts(Graph& graph, const Node& whole, std::string_view part, llvm::ArrayRef<int64_t> numbers);

// Puts a node in the place of the last one of a sub-graph, both of one output:
// what read that one reads this, which gets its name.
void TakePlace(Graph& graph, const Node& last, const Node& made);

}  // namespace nnefc::transform
