#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/support/context.h"

namespace nnefc::transform {

// How an entry of a configuration names the sub-graphs that it is about.
enum class MatchKind : uint8_t {
  kPoints,   // what lies between nodes
  kScope,    // the nodes whose names begin as a regular expression says
  kGeneral,  // not at all
};
std::string_view Name(MatchKind kind);

// A node, by a regular expression for the beginning of its name within the
// scope, and one of its ports.
struct NodePort {
  std::string node;
  int32_t port = 0;
  friend auto operator<=>(const NodePort&, const NodePort&) = default;
};

// An entry of a configuration.
struct ReplacementDescription {
  std::string id;
  MatchKind kind = MatchKind::kGeneral;
  SourceRange range;  // of the id
  ir::AttributeMap custom_attributes = {};
  std::vector<std::string> scopes = {};  // instances of a scope
  std::vector<std::string> start_points = {};
  std::vector<std::string> end_points = {};
  // The tensors that enter a sub-graph, each with the inputs that read it, and
  // the outputs that leave it.
  std::vector<std::vector<NodePort>> inputs = {};
  std::vector<NodePort> outputs = {};
  // The operation that takes the place of the sub-graph; "": a transformation
  // does what is to be done.
  std::string op = {};
};

// What a file says about transformations that are driven by it.
struct Configuration {
  std::vector<ReplacementDescription> entries;

  // The entries of an id.
  std::vector<const ReplacementDescription*> Find(std::string_view id) const;
};

// Reads a configuration, a list of objects:
//
//     [{"id": "Blocks", "match_kind": "scope", "instances": [".*/block_\\d+"],
//       "inputs": [[{"node": "conv$", "port": 0}]], "outputs": [{"node": "relu$", "port": 0}],
//       "custom_attributes": {"factor": 2}}]
//
// Nothing, and diagnostics at line and column, after mistakes.
[[nodiscard]] std::optional<Configuration> ReadConfiguration(FileId file, Context& context);

}  // namespace nnefc::transform
