#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/expand/build/build_settings.h"
#include "compiler/expand/build/externals.h"
#include "compiler/expand/build/names.h"
#include "compiler/expand/build/reporter.h"
#include "compiler/ir/ops/control_flow.h"
#include "compiler/ir/ops/variables.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::expand::build {

// A graph under construction: the document's, or a body of a node in another graph. Values of different
// graphs must not be mixed.
struct GraphScope {
  GraphScope(ir::Graph& graph_of_scope, const SymbolTable& symbols) : graph(graph_of_scope), names(symbols) {}

  ir::Graph& graph;
  Names names;
  std::map<std::pair<semantics::TypeKind, std::string>, ir::OutputPort> literals;
  std::unique_ptr<ir::Graph> body;  // owns `graph`; null for the document's graph
};

// Creates the nodes of ratified operations in the graph under construction. `arguments` are in the order of
// the plan's parameters.
class NodeFactory {
 public:
  NodeFactory(ir::Graph& graph, const BuildSettings& settings, Externals& externals, Reporter& reporter);

  // Creates a node and infers its shapes. Returns its result: a tensor, an array, or a tuple; poison after an
  // error.
  Value Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site);
  // Creates the `constant` of shape [] for a literal, with a node of its own.
  ir::NodeId AddLiteral(const Value& value, const Site& site);
  // Sets the axis whose padding in provisional nodes is computed from an unknown extent of an external, if
  // there is one; see ir::ops::OpenPadding.
  void SetOpenPadding(std::optional<int64_t> axis) { open_padding_ = axis; }

  // ---- body_nodes.cpp: nodes with bodies ----
  // Creates a node without its bodies; an invalid id after an error.
  ir::NodeId MakeWithBodies(const OpPlan& plan, llvm::ArrayRef<Value> arguments, int64_t num_outputs,
                            const Site& site);
  // Switches to a new graph for a body and stores its parameters in `parameters`. Returns false if a limit
  // was reached; the expansion then ends. `order` has the fragment's parameter index for each entry of `fed`,
  // or an index beyond them for a parameter without a name there; empty: the same order.
  bool EnterBody(const semantics::Signature& fragment, llvm::ArrayRef<ir::ops::BodyParameter> fed,
                 llvm::ArrayRef<size_t> order, const Site& site, std::vector<Value>& parameters);
  // Names the nodes of the body and returns to the enclosing graph.
  std::unique_ptr<ir::Graph> LeaveBody();
  // Attaches the bodies to the node. Returns its outputs as an array, or poison after an error.
  Value FinishBodies(ir::NodeId node, std::vector<ir::Body> bodies, const SitePlaces& places);

  // Returns the graph that receives new nodes, and its names.
  ir::Graph& graph() { return scopes_.back()->graph; }
  const ir::Graph& graph() const { return scopes_.back()->graph; }
  Names& names() { return scopes_.back()->names; }
  // Returns true while nodes are added to the body of a node.
  bool is_in_body() const { return scopes_.size() > 1; }
  // Returns the location of a variable's label or an update's target; an invalid one for other nodes.
  ir::ops::VariablePlace VariablePlace(ir::NodeId node) const { return variable_places_.lookup(node.index); }

 private:
  // Arguments in the form of a node.
  struct NodeParts {
    llvm::SmallVector<ir::OutputPort, 8> inputs;
    llvm::SmallVector<int32_t, 4> segments;
    ir::AttributeMap attributes;
  };
  bool GatherArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, semantics::TypeKind generic,
                       const Site& site, NodeParts& parts);
  bool ToOpenVino(const OpPlan& plan, const Site& site, NodeParts& parts);
  bool AddInputs(const OpPlan::Parameter& parameter, const Value& value, const OpPlan& plan, const Site& site,
                 llvm::SmallVectorImpl<ir::OutputPort>& inputs);
  ir::OutputPort Literal(const Value& value, const Site& site);
  semantics::TypeKind TypeOfFile(const Value& label, const Site& site, semantics::TypeKind generic) const;
  bool CountOutputs(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site, int64_t& count);
  bool CountOperation(int64_t outputs, const Site& site);
  // Adds to the number of operations in fragments; returns false beyond the limit.
  bool CountOperations(int64_t count, const Site& site);
  bool Infer(ir::NodeId node, const SitePlaces& places, const Site& site);
  void TypeCustomOutputs(const OpPlan& plan, ir::NodeId node, semantics::TypeKind generic);
  Value ResultOf(ir::NodeId node);

  const BuildSettings& settings_;
  Context& context_;
  Externals& externals_;
  Reporter& reporter_;
  std::vector<std::unique_ptr<GraphScope>> scopes_;                  // the innermost last
  llvm::DenseMap<int32_t, ir::ops::VariablePlace> variable_places_;  // keyed by node
  std::optional<int64_t> open_padding_;
  int64_t operations_ = 0;
};

}  // namespace nnefc::expand::build
