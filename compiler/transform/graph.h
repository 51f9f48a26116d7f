#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/transform/error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

// The graph as transformations see it: nodes, their ports and the connections
// between ports. Every change keeps the graph whole: a port that is asked for
// and does not exist, a node that is gone and a port that is not connected are
// Errors that name the node.
namespace nnefc::transform {

class Connection;
class Graph;
class Node;

// A port of a node: an input, which has at most one source, or an output, which
// has any number of destinations.
class Port {
 public:
  Port(Graph& graph, ir::NodeId node, int32_t index, bool is_output)
      : graph_(&graph), node_(node), index_(index), is_output_(is_output) {}

  Node node() const;
  int32_t index() const { return index_; }
  bool is_output() const { return is_output_; }

  // The output that feeds an input; an Error if it is not connected.
  Port GetSource() const;
  // The inputs that an output feeds, in the order of nodes.
  std::vector<Port> GetDestinations() const;
  bool IsDisconnected() const;

  // Connects this port and another of the other direction. An input that was
  // connected is taken from its source.
  void Connect(const Port& other);
  // Takes an input from its source, or all destinations from an output. What
  // stays so until the end of a transformation is a fault of it.
  void Disconnect();
  Connection GetConnection() const;

  // What is known of the tensor at the port.
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

// A source with the destinations that it feeds: all of them where it was asked
// of an output, the one where it was asked of an input.
class Connection {
 public:
  Connection(Port source, std::vector<Port> destinations)
      : source_(source), destinations_(std::move(destinations)) {}

  Port GetSource() const { return source_; }
  const std::vector<Port>& GetDestinations() const { return destinations_; }
  // The only destination; an Error if there are more or none.
  Port GetDestination() const;

  // Feeds the destinations from another output.
  void SetSource(const Port& source);
  // Feeds another input in place of the destinations, which are disconnected.
  void SetDestination(const Port& destination);
  // Puts a node between: its input 0 takes the source, its output 0 feeds the
  // destinations.
  void InsertNode(const Node& node);

 private:
  Port source_;
  std::vector<Port> destinations_;
};

// A node of the graph; a handle that is cheap to copy.
class Node {
 public:
  Node(Graph& graph, ir::NodeId id) : graph_(&graph), id_(id) {}

  Graph& graph() const { return *graph_; }
  ir::NodeId id() const { return id_; }
  // False once the node was removed.
  bool exists() const;
  // The node as the IR has it; an Error if it is gone.
  const ir::Node& ir() const;

  const std::string& name() const { return ir().name(); }
  void SetName(std::string name) const;
  // "Convolution", "conv".
  const std::string& op() const { return ir().type(); }

  // Null if the node has no such attribute.
  const ir::Attribute* Find(std::string_view attribute) const { return ir().attributes().Find(attribute); }
  // An Error if the node has no such attribute.
  const ir::Attribute& Get(std::string_view attribute) const;
  void Set(std::string_view attribute, ir::Attribute value) const;
  void Erase(std::string_view attribute) const;

  int32_t num_in_ports() const { return ir().num_inputs(); }
  int32_t num_out_ports() const { return ir().num_outputs(); }
  Port in_port(int32_t index) const;
  Port out_port(int32_t index) const;
  std::vector<Port> in_ports() const;
  std::vector<Port> out_ports() const;
  // The node that feeds an input.
  Node in_node(int32_t index) const { return in_port(index).GetSource().node(); }

  friend bool operator==(const Node& a, const Node& b) { return a.id_ == b.id_; }

 private:
  Graph* graph_;
  ir::NodeId id_;
};

// A graph that is being transformed. Nodes that it makes are inferred at once
// if their inputs are connected; nodes whose inputs change are marked, and the
// pipeline infers them when the transformation has ended.
class Graph {
 public:
  // Views `graph`, which must outlive it.
  explicit Graph(ir::Graph& graph, ir::Evaluator evaluate = nullptr)
      : graph_(graph), evaluate_(std::move(evaluate)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  const ir::Graph& ir() const { return graph_; }

  // In order of insertion.
  std::vector<Node> GetNodes();
  // Those of an operation: "Squeeze", or "opset1.Squeeze" of one set alone.
  std::vector<Node> GetOpNodes(std::string_view operation);
  // The first node of a name, or nothing.
  std::optional<Node> FindNode(std::string_view name);

  // Makes a node. `operation` is "opset4.Mish", or "Mish": the newest of that
  // name, an NNEF operation if no other has it. With fewer sources than the
  // operation has required inputs, or than `num_inputs`, the rest is to be
  // connected later. An Error if there is no such operation.
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
  Node CreateConst(TensorValue value, std::string name = {});
  Node CreateResult(const Port& source, std::string name);

  // Adds an input to a node behind those that it has. An Error if the operation
  // takes no more.
  Port AddInPort(const Node& node, const Port& source);

  // Copies the nodes of a body before the node that has it, by names that nobody has,
  // inferred. `parameters`: what stands for those of the body.
  struct InlinedBody {
    std::vector<Node> nodes;
    std::vector<Port> results;  // what the results of the body are
  };
  InlinedBody InlineBody(const Node& node, size_t body, llvm::ArrayRef<Port> parameters);

  // Removes a node; an Error if one of its outputs is used. A result or sink is
  // one no more.
  void Remove(const Node& node);
  // Gives names of nodes to others; the tensor names of the outputs go with them
  // if the new owner has as many outputs.
  void Rename(llvm::ArrayRef<std::pair<Node, std::string>> names);
  // Gives the name of a node, and its outputs' tensor names, to another; the
  // former gets the name with `/TBR` behind it, to be removed.
  void TakeName(const Node& from, const Node& to);
  // Lets an output, which computes something else from now on, have no tensor name.
  void DropTensorNames(const Port& output) { graph_.SetOutputNames({output.node_, output.index_}, {}); }
  // Puts outputs of new nodes in the place of others: who reads `from` reads `to`, which gets
  // its tensor names too. The name of a node goes to the new node of the first of its outputs.
  void TakeOutputs(llvm::ArrayRef<std::pair<Port, Port>> from_to);
  // Feeds what reads `from` from `to`, which gets its tensor names too. False, and
  // nothing is done, if a result of the model would then be a parameter, a constant or
  // the same output as another result.
  bool Bypass(const Port& from, const Port& to);
  // Says what an output is, of an operation that has no shape function.
  void SetType(const Port& output, ElementType type, ir::PartialShape shape);
  // A name that no node has: `base`, or `base_2`, ..
  std::string UniqueName(std::string_view base);
  // Removes what no result and no sink needs; parameters stay.
  void CleanUp() {
    names_.reset();
    graph_.EraseDeadNodes();
  }

  // What a node computes, if that follows from constants and is within the bound;
  // nothing where nobody can evaluate it.
  std::optional<std::vector<TensorValue>> Evaluate(const Node& node, ir::FoldBound bound) const;
  // Infers a node at once, for who wants to know what its new inputs make of it. A
  // mistake is told when the transformation has ended.
  void InferNow(const Node& node);

  // The graph itself, for who moves nodes from graph to graph: types and shapes are then
  // the caller's to set, or nodes to be marked.
  ir::Graph& Raw() {
    names_.reset();
    return graph_;
  }

  // Has a node inferred when the transformation has ended. `overrides`: its
  // outputs may become something else than they were.
  void MarkForInference(const Node& node, bool overrides = false);

  // For the pipeline: nodes to infer, in the order in which they were marked,
  // and those whose outputs may change.
  std::vector<ir::NodeId> TakeMarked();
  bool MayOverride(ir::NodeId node) const { return overridden_.count(node.index) != 0; }
  // The inputs that are not connected, as "input 1 of `x` (opset1.Add)".
  std::vector<std::string> Unconnected() const;
  // Removes what stood for sources that were missing; checked: none is.
  void Finish();

 private:
  friend class Connection;
  friend class Node;
  friend class Port;

  ir::OpId FindOperation(std::string_view operation) const;
  // The source of inputs that are not connected: a constant of its own.
  ir::OutputPort Nowhere();
  bool IsNowhere(ir::OutputPort port) const { return nowhere_.valid() && port == nowhere_; }
  void SetInput(ir::NodeId node, int32_t index, ir::OutputPort source);
  // The name alone, without those of tensors.
  static void PassName(const Node& from, const Node& to);
  void TakeTensorNames(const Port& from, const Port& to);
  void InferIfConnected(ir::NodeId node);
  // Keeps the index of names: one node more or less has this one.
  void CountName(const std::string& name, int32_t change);

  ir::Graph& graph_;
  ir::Evaluator evaluate_;
  // Made when a unique name is first asked for.
  struct NameIndex {
    llvm::StringMap<int32_t> nodes;    // how many have a name
    llvm::StringMap<int32_t> numbers;  // the last number behind a base
  };

  ir::OutputPort nowhere_;
  std::optional<NameIndex> names_;
  llvm::SetVector<int32_t> marked_;
  llvm::DenseMap<int32_t, bool> overridden_;
};

}  // namespace nnefc::transform
