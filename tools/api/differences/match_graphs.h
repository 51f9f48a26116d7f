#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/api/differences/graph_outline.h"

namespace nnefc::api {

// A matching of the nodes of two graphs. Unmatched nodes have no value.
struct GraphMatching {
  std::vector<std::optional<size_t>> new_of_old;
  std::vector<std::optional<size_t>> old_of_new;
  // For each node a number that is equal in both graphs for equal computations: the same operations with the
  // same attributes, applied to matched inputs and variables.
  std::vector<size_t> old_computations;
  std::vector<size_t> new_computations;

  // Returns true if an input of an old node reads the same value as an input of a new one.
  bool ReadSame(std::pair<size_t, int32_t> before, std::pair<size_t, int32_t> after) const {
    return before.second == after.second && (old_of_new[after.first] == before.first ||
                                             old_computations[before.first] == new_computations[after.first]);
  }
};

// Rules to match inputs: by name and the others by their index, or all by their index, as those of bodies.
enum class InputPairing : uint8_t { kByName, kByIndex };

// Matches inputs, and variables by name, then variables with equal data. Operations of equal type are matched
// if they compute the same of the same, then if the same is computed of them; names decide between several.
// The others are matched by the names of their results, then by their surroundings, refined in a fixed number
// of rounds, and at last by their order. The time is proportional to the edges, apart from sorting and from
// the bounded last step.
GraphMatching MatchGraphs(const GraphOutline& old_graph, const GraphOutline& new_graph,
                          InputPairing pairing = InputPairing::kByName);

// Returns true if both nodes are the same operation with equal attributes. Bodies do not count.
bool IsSameOperation(const OutlineNode& before, const OutlineNode& after);
// Returns true if both bodies have the same role and connections and compute the same. Names do not count.
bool IsSameBody(const OutlineBody& before, const OutlineBody& after);
// Returns the attributes of a node with the defaults of those that it does not set, by name.
std::vector<std::pair<std::string, std::string>> AllAttributes(const OutlineNode& node);

}  // namespace nnefc::api
