#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/transform/configuration.h"
#include "compiler/transform/graph.h"
#include "compiler/transform/scoped_names.h"

namespace nnefc::transform {

// A sub-graph that an entry of a configuration names: its nodes, the inputs by
// which tensors enter it and the outputs by which they leave.
class SubgraphMatch {
 public:
  struct Parts {
    std::string scope;  // the regular expression; empty for points
    std::vector<Node> nodes;
    std::vector<std::string> names;  // of the nodes, within scopes
    std::vector<std::vector<Port>> inputs;
    std::vector<Port> outputs;
  };
  SubgraphMatch(const ReplacementDescription& description, Parts parts)
      : description_(&description), parts_(std::move(parts)) {}

  size_t inputs_count() const { return parts_.inputs.size(); }
  size_t outputs_count() const { return parts_.outputs.size(); }
  // The inputs of nodes that read a tensor from outside, by its number.
  const std::vector<Port>& input_nodes(size_t number) const;
  // The only one; an Error if there are more or none.
  Port single_input_node(size_t number) const;
  // The tensor from outside itself.
  Port source(size_t number) const;
  Port output_node(size_t number) const;
  // The matched node whose name within the scope begins as the expression says;
  // an Error if there are several, nothing if there is none.
  std::optional<Node> NodeByPattern(std::string_view pattern) const;
  const std::vector<Node>& nodes() const { return parts_.nodes; }
  const std::vector<std::string>& matched_nodes_names() const { return parts_.names; }
  const std::string& scope() const { return parts_.scope; }
  const ReplacementDescription& description() const { return *description_; }
  const ir::AttributeMap& custom_attributes() const { return description_->custom_attributes; }
  // True while no matched node was removed.
  bool exists() const;

 private:
  const ReplacementDescription* description_;
  Parts parts_;
};

// The nodes whose names begin as a regular expression says.
std::vector<ir::NodeId> NodesOfScope(const ScopedNames& names, const std::string& scope);

// The instances of an entry in a graph, those of a scope in the order of the
// entry. `log` is told why one is not there. A Mismatch where the graph
// contradicts the entry.
std::vector<SubgraphMatch> FindInstances(Graph& graph, const ScopedNames& names,
                                         const ReplacementDescription& description,
                                         const std::function<void(const std::string&)>& log);

}  // namespace nnefc::transform
