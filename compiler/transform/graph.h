#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/plan_functions.h"
#include "compiler/transform/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

// The graph interface of transformations: nodes, ports, and connections between ports. Every change preserves
// a well-formed graph: access to a missing port, a removed node or an unconnected port throws an Error that
// names the node.
namespace nnefc::transform {

class Connection;
class Graph;
class Node;

// A port of a node: an input with at most one source, or an output with any number of destinations.
class Port {
 public:
  Port(Graph& graph, ir::NodeId node, int32_t index, bool is_output)
      : graph_(&graph), node_(node), index_(index), is_output_(is_output) {}

  Node node() const;
  int32_t index() const { return index_; }
  bool is_output() const { return is_output_; }

  // Returns the output that feeds an input; throws an Error if it is not connected.
  Port GetSource() const;
  // Returns the inputs that an output feeds, in the order of nodes.
  std::vector<Port> GetDestinations() const;
  bool IsDisconnected() const;

  // Connects this port to one of the opposite direction. A connected input is first disconnected from its
  // source.
  void Connect(const Port& other);
  // Disconnects an input from its source, or an output from all destinations. An input that is still
  // disconnected at the end of a transformation is an error.
  void Disconnect();
  Connection GetConnection() const;

  // The type, shape and value of the tensor at the port, as far as known.
  const ir::Output& data() const;
  const ir::PartialShape& shape() const { return data().shape; }
  const std::optional<TensorValue>& value() const { return data().value; }

  friend bool operator==(const Port& a, const Port& b) {
    return a.node_ == b.node_ && a.index_ == b.index_ && a.is_output_ == b.is_output_;
  }

 private:
  friend class Connection;
  friend class Graph;

  Graph* graph_;
  ir::NodeId node_;
  int32_t index_;
  bool is_output_;
};

// A source with its destinations: all of them for the connection of an output, only one for that of an input.
class Connection {
 public:
  Connection(Port source, std::vector<Port> destinations)
      : source_(source), destinations_(std::move(destinations)) {}

  Port GetSource() const { return source_; }
  const std::vector<Port>& GetDestinations() const { return destinations_; }
  // Returns the only destination; throws an Error unless there is exactly one.
  Port GetDestination() const;

  // Connects the destinations to another output.
  void SetSource(const Port& source);
  // Connects another input to the source; the previous destinations are disconnected.
  void SetDestination(const Port& destination);
  // Inserts a node: its input 0 reads the source, and its output 0 feeds the destinations.
  void InsertNode(const Node& node);

 private:
  Port source_;
  std::vector<Port> destinations_;
};

// A cheap, copyable handle of a node.
class Node {
 public:
  Node(Graph& graph, ir::NodeId id) : graph_(&graph), id_(id) {}

  Graph& graph() const { return *graph_; }
  ir::NodeId id() const { return id_; }
  // Returns false after the node was removed.
  bool exists() const;
  // Returns the IR's node; throws an Error if it was removed.
  const ir::Node& ir() const;

  const std::string& name() const { return ir().name(); }
  void SetName(std::string name) const;
  // The operation: "Convolution", "conv".
  const std::string& op() const { return ir().type(); }

  // Returns null if the node has no such attribute.
  const ir::Attribute* Find(std::string_view attribute) const { return ir().attributes().Find(attribute); }
  // Throws an Error if the node has no such attribute.
  const ir::Attribute& Get(std::string_view attribute) const;
  // Sets or removes an attribute, and schedules the node for inference.
  void Set(std::string_view attribute, ir::Attribute value) const;
  void Erase(std::string_view attribute) const;

  int32_t num_in_ports() const { return ir().num_inputs(); }
  int32_t num_out_ports() const { return ir().num_outputs(); }
  Port in_port(int32_t index) const;
  Port out_port(int32_t index) const;
  std::vector<Port> in_ports() const;
  std::vector<Port> out_ports() const;
  // Returns the node that feeds an input.
  Node in_node(int32_t index) const { return in_port(index).GetSource().node(); }

  friend bool operator==(const Node& a, const Node& b) { return a.id_ == b.id_; }

 private:
  Graph* graph_;
  ir::NodeId id_;
};

// A graph under transformation. New nodes with connected inputs are inferred immediately. Nodes with changed
// inputs are marked, and the pipeline infers them after the transformation.
class Graph {
 public:
  // Creates a view of `graph`; the graph must outlive it.
  explicit Graph(ir::Graph& graph, ir::Evaluator evaluate = nullptr, const ir::PlanFunctions* plan = nullptr)
      : graph_(graph), evaluate_(std::move(evaluate)), plan_(plan) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const ir::Graph& ir() const { return graph_; }

  // Returns the functions of the plan; null outside of the target phase.
  const ir::PlanFunctions* plan() const { return plan_; }

  // Returns all nodes in order of insertion.
  std::vector<Node> GetNodes();
  // Returns the nodes at the start of the transformation so that each follows its inputs; throws an Error if
  // the graph has a cycle.
  const std::vector<ir::NodeId>& Order();
  // Returns the nodes of an operation: "Squeeze", or "opset1.Squeeze" for one set only.
  std::vector<Node> GetOpNodes(std::string_view operation);
  // Returns the first node with a name, or nothing.
  std::optional<Node> FindNode(std::string_view name);

  // Creates a node. `operation` is "opset4.Mish", or "Mish" for the newest operation with that name (the NNEF
  // operation if no opset has one). Inputs without a source, up to `num_inputs` or the required ones, must be
  // connected later. A Parameter or Result is one of the graph, too. Throws an Error for unknown operations.
  struct Spec {
    std::string name = {};
    ir::AttributeMap attributes = {};
    std::optional<int32_t> num_inputs = {};
    int32_t num_outputs = 1;
    ir::Origin origin = {};
  };
  Node CreateNode(std::string_view operation, llvm::ArrayRef<Port> sources, Spec spec);
  Node CreateNode(std::string_view operation, llvm::ArrayRef<Port> sources) {
    return CreateNode(operation, sources, Spec());
  }
  // Creates a Const, and a Result of the graph.
  Node CreateConst(TensorValue value, std::string name = {});
  Node CreateResult(const Port& source, std::string name);

  // Appends an input to a node. Throws an Error if the operation accepts no further inputs.
  Port AddInPort(const Node& node, const Port& source);

  // Copies the nodes of a body into this graph, before the node that has the body, with unique names and
  // inferred. `parameters` replace those of the body.
  struct InlinedBody {
    std::vector<Node> nodes;
    std::vector<Port> results;  // sources of the body's results
  };
  InlinedBody InlineBody(const Node& node, size_t body, llvm::ArrayRef<Port> parameters);

  // Removes a node, also from the lists of results and sinks. Throws an Error if one of its outputs is used.
  void Remove(const Node& node);
  // Renames nodes. The tensor names of outputs move along if the new owner has as many outputs.
  void Rename(llvm::ArrayRef<std::pair<Node, std::string>> names);
  // Moves the name of a node, with its outputs' tensor names, to another node. The former node is renamed
  // with the suffix `/TBR` (to be removed).
  void TakeName(const Node& from, const Node& to);
  // Removes the tensor names of an output, because it now computes a different value.
  void DropTensorNames(const Port& output) { graph_.SetOutputNames({output.node_, output.index_}, {}); }
  // Replaces outputs by those of new nodes: the consumers of `from` read `to`, and `to` inherits the tensor
  // names. A replaced node's name moves to the new node of its first output.
  void TakeOutputs(llvm::ArrayRef<std::pair<Port, Port>> from_to);
  // Connects the consumers of `from` to `to` and moves the tensor names there. Returns false without a change
  // if a result of the model would then be a parameter, a constant or the same output as another result.
  bool Bypass(const Port& from, const Port& to);
  // Sets the type and shape of an output, for operations without a shape function.
  void SetType(const Port& output, ElementType type, ir::PartialShape shape);
  // Returns a name that no node has: `base`, or `base_2` and so on.
  std::string UniqueName(std::string_view base);
  // Connects the consumers of an output to another output, in the order of the consumers.
  void ReplaceAllUses(const Port& from, const Port& to);
  // Removes nodes that no result and no sink depends on, except parameters.
  void CleanUp() {
    names_.reset();
    graph_.EraseDeadNodes();
  }

  // Returns the values of a node with constant inputs, within the bound. Returns nothing if they are not
  // constant or there is no evaluator.
  std::optional<std::vector<TensorValue>> Evaluate(const Node& node, ir::FoldBound bound) const;
  // Returns the only output of a node for other inputs, as a tensor of this type and shape. Returns nothing
  // if there is no evaluator or it fails.
  std::optional<TensorValue> EvaluateApart(const Node& node, llvm::ArrayRef<TensorValue> inputs,
                                           ElementType type, const Shape& shape) const;
  // Infers a node immediately if all inputs are connected, for callers that need its new type and shape.
  // Errors are reported after the transformation.
  void InferNow(const Node& node);

  // Returns the underlying graph, for moving nodes between graphs. The caller must then set types and shapes,
  // or mark nodes.
  ir::Graph& Raw() {
    names_.reset();
    return graph_;
  }

  // Schedules a node for inference after the transformation. `overrides` permits different types and shapes
  // of its outputs.
  void MarkForInference(const Node& node, bool overrides = false);

  // Returns true if the node will be inferred after the transformation.
  bool IsMarked(const Node& node) const { return marked_.contains(node.id().index); }
  // For the pipeline: the nodes to infer, in marking order, and whether a node's outputs may change.
  std::vector<ir::NodeId> TakeMarked();
  bool MayOverride(ir::NodeId node) const { return overridden_.count(node.index) != 0; }
  // Returns the unconnected inputs, as "input 1 of `x` (opset1.Add)".
  std::vector<std::string> Unconnected() const;
  // Removes the placeholder of missing sources. Checks that it is unused.
  void Finish();

 private:
  friend class Connection;
  friend class Node;
  friend class Port;

  // The source of unconnected inputs: a dedicated constant.
  ir::OutputPort Nowhere();
  bool IsNowhere(ir::OutputPort port) const { return nowhere_.valid() && port == nowhere_; }
  void SetInput(ir::NodeId node, int32_t index, ir::OutputPort source);
  // Updates the index of names: `change` nodes more have this name.
  void CountName(const std::string& name, int32_t change);

  ir::Graph& graph_;
  ir::Evaluator evaluate_;
  const ir::PlanFunctions* plan_;
  ir::NodeOrder order_;  // without a plan
  // An index of names, built by the first call of UniqueName.
  struct NameIndex {
    llvm::StringMap<int32_t> nodes;    // name -> number of nodes
    llvm::StringMap<int32_t> numbers;  // base -> last number used as a suffix
  };

  ir::OutputPort nowhere_;
  std::optional<NameIndex> names_;
  llvm::SetVector<int32_t> marked_;
  llvm::DenseMap<int32_t, bool> overridden_;
};

}  // namespace nnefc::transform
