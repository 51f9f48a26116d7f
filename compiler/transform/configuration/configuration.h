#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/support/context.h"
#include "compiler/support/text/json_value.h"

namespace nnefc::transform {

// The selection method of a configuration entry.
enum class MatchKind : uint8_t {
  kPoints,   // the nodes between start and end points
  kScope,    // the nodes whose names begin with a match of a regular expression
  kGeneral,  // no selection
};
std::string_view Name(MatchKind kind);

// A port of a node; a regular expression matches the beginning of the node's name within the scope.
struct NodePort {
  std::string node;
  int32_t port = 0;
  friend auto operator<=>(const NodePort&, const NodePort&) = default;
};

// An entry of a configuration.
struct ReplacementDescription {
  std::string id;
  MatchKind kind = MatchKind::kGeneral;
  SourceRange range;  // range of the id
  // The custom attributes that can be attributes of nodes, and all of them.
  ir::AttributeMap custom_attributes = {};
  JsonValue custom_json = {};
  std::vector<std::string> scopes = {};  // one expression per instance of the scope
  std::vector<std::string> start_points = {};
  std::vector<std::string> end_points = {};
  // The tensors that enter a sub-graph, each with the inputs that read it, and the outputs that leave it.
  std::vector<std::vector<NodePort>> inputs = {};
  std::vector<NodePort> outputs = {};
  // The operation that replaces the sub-graph; "" if a transformation does the replacement.
  std::string op = {};
};

// The content of a configuration file for transformations.
struct Configuration {
  std::vector<ReplacementDescription> entries;

  // Returns the entries with an id.
  std::vector<const ReplacementDescription*> Find(std::string_view id) const;
};

// Reads a configuration, a list of objects:
//
//     [{"id": "Blocks", "match_kind": "scope", "instances": [".*/block_\\d+"],
//       "inputs": [[{"node": "conv$", "port": 0}]], "outputs": [{"node": "relu$", "port": 0}],
//       "custom_attributes": {"factor": 2}}]
//
// Returns nothing on errors, after emitting diagnostics with line and column.
[[nodiscard]] std::optional<Configuration> ReadConfiguration(FileId file, Context& context);

}  // namespace nnefc::transform
