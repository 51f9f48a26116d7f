#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/api/differences/graph_outline.h"
#include "tools/api/differences/match_graphs.h"

namespace nnefc::api {

// An item of two lists; nothing if a model has no counterpart.
struct ItemPair {
  std::optional<size_t> before;
  std::optional<size_t> after;
};

// A variable with another type or shape, with other data, or of one model only.
struct VariableDifference {
  std::string label;
  std::optional<Port> before;
  std::optional<Port> after;
  // If the types and shapes are equal and both models have data: the largest absolute difference of two
  // elements, infinite if only one of them is finite, and the number of elements that differ.
  std::optional<double> largest = std::nullopt;
  int64_t num_different = 0;
};

struct BodyDifference;

// The differences between two graphs.
struct ModelDifference {
  // Other names, types, shapes or producers: indices of GraphOutline::inputs and outputs.
  std::vector<ItemPair> inputs;
  std::vector<ItemPair> outputs;
  // Operations that were added, removed, or that have other attributes, bodies or inputs, as nodes of the
  // outlines: in the order of the new graph, removed ones before their successors in the old graph. Mere
  // consequences of an earlier change are not included, nor are names.
  std::vector<ItemPair> operations;
  std::vector<VariableDifference> variables;
  // Results of matched operations with another type or shape: a node and the index of its output.
  std::vector<std::pair<ItemPair, int32_t>> tensors;
  // Matched operations with other names. These are not differences.
  std::vector<ItemPair> renamed;
  // Labels of variables whose data one model lacks, so that they are not compared.
  std::vector<std::string> without_data;
  // The bodies of `operations` that differ.
  std::vector<BodyDifference> bodies;
  GraphMatching matching;

  bool empty() const {
    return inputs.empty() && outputs.empty() && operations.empty() && variables.empty() && tensors.empty();
  }
};

// The difference between the graphs that a matched operation executes. Names of inputs, outputs and data do
// not count there: inputs and outputs are matched by their index.
struct BodyDifference {
  size_t old_node = 0;  // nodes of the outlines
  size_t new_node = 0;
  size_t index = 0;  // among the bodies of both operations
  ModelDifference difference;
};

// One of two compared graphs.
struct ComparedGraph {
  std::string name;
  GraphOutline outline;
  // Reads the data of a variable that are not part of the outline; null to compare no such data.
  std::function<std::optional<TensorValue>(const std::string& label)> read = nullptr;
};

// Compares two graphs. `compares_data` also compares the data of variables.
ModelDifference CompareGraphs(const ComparedGraph& before, const ComparedGraph& after, bool compares_data);

// Returns a graph to compare: the lowered one, or the graph of the document or file. `random_weights` is the
// seed for variables without data. The compilation must outlive the result, and receives errors of tensor
// files.
ComparedGraph GraphOf(driver::Compilation& compilation, bool is_lowered,
                      std::optional<uint64_t> random_weights);
// Returns the graph of a model as it was opened. Variables whose data cannot be read have none.
ComparedGraph GraphOf(const Model& model);

// Returns one line for each old item ("- ..") and each new one ("+ .."); empty if there is no difference.
std::string DifferenceText(const ModelDifference& difference, const ComparedGraph& before,
                           const ComparedGraph& after);
// Returns the same as an object, with the changed attributes and inputs of operations:
//
//   {"old": name, "new": name, "equal": false, "inputs": [{"old": PORT, "new": PORT}..], "outputs": ..,
//    "operations": [{"change": "added", "removed" or "changed", "old": {"name", "operation", "text"},
//                    "new": .., "attributes": [{"name", "old", "new"}..],
//                    "inputs": [{"index", "old", "new"}..], "bodies": [BODY..]}..],
//    "variables": [{"label", "old": PORT, "new": PORT, "largest", "elements"}..],
//    "tensors": [{"old": PORT, "new": PORT}..], "renamed": [{"old": name, "new": name}..],
//    "without_data": [label..]}
//
// A missing item is null. A difference that is not finite is the text "inf". A BODY has a "role" such as
// "then_body", the texts "connections": {"old", "new"} if they differ, and if both operations have the body
// all of the above from "inputs" on.
nlohmann::ordered_json DifferenceJson(const ModelDifference& difference, const ComparedGraph& before,
                                      const ComparedGraph& after);

// The changed attributes, inputs and bodies of a matched operation.
struct OperationDetails {
  struct Change {
    std::string name;  // an attribute, the index of an input, or a role for the connections of a body
    std::string before;
    std::string after;
  };
  struct Body {
    std::string role;
    const BodyDifference* difference;  // null if one operation has no such body
  };
  std::vector<Change> attributes;
  std::vector<Change> inputs;
  std::vector<Change> connections;
  std::vector<Body> bodies;
};
OperationDetails DetailsOf(const ModelDifference& difference, const GraphOutline& before,
                           const GraphOutline& after, size_t old_node, size_t new_node);

}  // namespace nnefc::api
