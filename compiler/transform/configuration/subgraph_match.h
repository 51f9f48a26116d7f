#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/transform/configuration/configuration.h"
#include "compiler/transform/graph.h"
#include "compiler/transform/scoped_names.h"

namespace nnefc::transform {

// A sub-graph that a configuration entry selects: its nodes, the inputs where tensors enter and the outputs
// where they leave.
class SubgraphMatch {
 public:
  struct Parts {
    std::string scope;  // regular expression; empty for points
    std::vector<Node> nodes;
    std::vector<std::string> names;  // node names within scopes
    std::vector<std::vector<Port>> inputs;
    std::vector<Port> outputs;
  };
  SubgraphMatch(const ReplacementDescription& description, Parts parts)
      : description_(&description), parts_(std::move(parts)) {}

  size_t inputs_count() const { return parts_.inputs.size(); }
  size_t outputs_count() const { return parts_.outputs.size(); }
  // Returns the inputs of nodes that read an external tensor, by its index.
  const std::vector<Port>& input_nodes(size_t number) const;
  // Returns the only such input; throws an Error unless there is exactly one.
  Port single_input_node(size_t number) const;
  // Returns the source of the external tensor.
  Port source(size_t number) const;
  Port output_node(size_t number) const;
  // Returns the matched node whose name within the scope begins with a match of the expression; nothing
  // without a match, an Error for several.
  std::optional<Node> NodeByPattern(std::string_view pattern) const;
  const std::vector<Node>& nodes() const { return parts_.nodes; }
  const std::vector<std::string>& matched_nodes_names() const { return parts_.names; }
  const std::string& scope() const { return parts_.scope; }
  const ReplacementDescription& description() const { return *description_; }
  const ir::AttributeMap& custom_attributes() const { return description_->custom_attributes; }
  // Returns true while all matched nodes exist.
  bool exists() const;

 private:
  const ReplacementDescription* description_;
  Parts parts_;
};

// Returns the nodes whose names begin with a match of a regular expression.
std::vector<ir::NodeId> NodesOfScope(const ScopedNames& names, const std::string& scope);

// Returns the instances of an entry in a graph, for a scope in the order of the entry. Passes the reason for
// each missing one to `log`. Throws a Mismatch if the graph contradicts the entry.
std::vector<SubgraphMatch> FindInstances(Graph& graph, const ScopedNames& names,
                                         const ReplacementDescription& description,
                                         const std::function<void(const std::string&)>& log);

}  // namespace nnefc::transform
