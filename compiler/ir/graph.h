#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_registry.h"
#include "compiler/ir/origin.h"
#include "compiler/ir/shape.h"
#include "compiler/support/ids.h"
#include "compiler/support/rare.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::ir {

struct NodeTag;
// The index of a node in its graph. Ids are not reused.
using NodeId = TypedId<NodeTag>;
class Graph;

// An output of a node. Inputs are connected to outputs.
struct OutputPort {
  NodeId node;
  int32_t index = 0;

  bool valid() const { return node.valid(); }
  friend bool operator==(OutputPort, OutputPort) = default;
};

// An input of a node: one use of an output.
struct InputPort {
  NodeId node;
  int32_t index = 0;
  friend bool operator==(InputPort, InputPort) = default;
};

// The type, shape, names and value of an output, as far as they are known.
struct Output {
  ElementType type = ElementType::kDynamic;
  PartialShape shape;
  std::vector<std::string> names;  // tensor names
  Rare<TensorValue> value;         // if known at compile time
};

// A connection from an input of an If, Loop or TensorIterator to a body, as in OpenVINO's port maps. If
// `axis` is set, each iteration reads the next `part_size` elements along it, from `start` to `end`, backward
// if `stride` is negative (ops/opset/iterations.h).
struct InputMapping {
  int32_t external = 0;         // input of the node
  int32_t internal = 0;         // parameter of the body
  std::optional<int64_t> axis;  // the sliced axis
  int64_t start = 0, end = -1, stride = 1, part_size = 1;
};
// A connection from a result of a body to an output of the node. The parts are concatenated along `axis`.
struct OutputMapping {
  int32_t external = 0;         // output of the node
  int32_t internal = 0;         // result of the body
  std::optional<int64_t> axis;  // the concatenation axis; none: the last iteration's value
  int64_t start = 0, end = -1, stride = 1, part_size = 1;
};
// A value that a loop passes from one iteration to the next.
struct BackEdge {
  int32_t result = 0;     // index of a result of the body
  int32_t parameter = 0;  // index of the parameter that it feeds in the next iteration
};
// A graph that a node executes, and its connections.
struct Body {
  std::string role;  // "then_body", "else_body", "body"
  std::unique_ptr<Graph> graph;
  std::vector<InputMapping> inputs;
  std::vector<OutputMapping> outputs;
  std::vector<BackEdge> back_edges;
};

// A read-only view of a node; only Graph changes nodes.
class Node {
 public:
  NodeId id() const { return id_; }
  OpId op() const { return op_; }
  const OpInfo& info() const { return *info_; }
  const std::string& set() const { return info_->set; }
  const std::string& type() const { return info_->name; }
  // True if the node is `set.name`.
  bool Is(std::string_view set, std::string_view name) const {
    return info_->set == set && info_->name == name;
  }
  bool Is(OpRole role) const { return info_->role == role; }
  bool Is(ElementFunction function) const { return info_->function == function; }
  bool Is(Contraction contraction) const { return info_->contraction == contraction; }
  bool Is(Pooling pooling) const { return info_->pooling == pooling; }
  bool Is(Rearrangement rearrangement) const { return info_->rearrangement == rearrangement; }
  bool Is(Quantizer quantizer) const { return info_->quantizer == quantizer; }
  // The identifier in the NNEF document, or the layer name. It need not be unique within a graph.
  const std::string& name() const { return name_; }
  llvm::ArrayRef<OutputPort> inputs() const { return inputs_; }
  OutputPort input(int32_t index) const {
    NNEFC_CHECK(index >= 0 && static_cast<size_t>(index) < inputs_.size());
    return inputs_[static_cast<size_t>(index)];
  }
  int32_t num_inputs() const { return static_cast<int32_t>(inputs_.size()); }
  // The number of inputs of each entry of info().inputs, for operations with variadic or optional inputs. If
  // empty, each entry has one input and a variadic last entry has the remaining ones.
  llvm::ArrayRef<int32_t> segments() const {
    return extras_ == nullptr ? llvm::ArrayRef<int32_t>() : llvm::ArrayRef<int32_t>(extras_->segments);
  }
  // Returns the inputs that belong to entry `parameter` of info().inputs.
  llvm::ArrayRef<OutputPort> segment(int32_t parameter) const;
  llvm::ArrayRef<Output> outputs() const { return outputs_; }
  const Output& output(int32_t index = 0) const {
    NNEFC_CHECK(index >= 0 && static_cast<size_t>(index) < outputs_.size());
    return outputs_[static_cast<size_t>(index)];
  }
  int32_t num_outputs() const { return static_cast<int32_t>(outputs_.size()); }
  OutputPort port(int32_t index = 0) const { return {id_, index}; }
  const AttributeMap& attributes() const { return attributes_; }
  // Returns the implied value of the row, else the node's attribute, else the row's default; checked.
  const Attribute& attribute(std::string_view name) const;
  // The same as a value of that type; checked. Shape inference validates the types.
  bool Bool(std::string_view name) const { return attribute(name).AsBool(); }
  int64_t Int(std::string_view name) const { return attribute(name).AsInt(); }
  double Double(std::string_view name) const { return attribute(name).AsDouble(); }
  const std::string& String(std::string_view name) const { return attribute(name).AsString(); }
  std::vector<int64_t> Ints(std::string_view name) const { return attribute(name).AsInts(); }
  std::vector<double> Doubles(std::string_view name) const { return attribute(name).AsDoubles(); }
  // Returns a list with one item per axis. An empty list is replaced by `axes` copies of the row's
  // `each_axis`, if it has one.
  std::vector<int64_t> Ints(std::string_view name, size_t axes) const;
  const Origin& origin() const { return origin_; }
  llvm::ArrayRef<Body> bodies() const {
    return extras_ == nullptr ? llvm::ArrayRef<Body>() : llvm::ArrayRef<Body>(extras_->bodies);
  }
  const AttributeMap& rt_info() const;
  // The inputs that read an output, in no particular order.
  llvm::ArrayRef<InputPort> uses(int32_t output = 0) const;

 private:
  friend class Graph;
  // Members that most nodes do not need.
  struct Extras {
    llvm::SmallVector<int32_t, 2> segments;
    std::vector<Body> bodies;
    AttributeMap rt_info;
  };
  Extras& MakeExtras();

  NodeId id_;
  OpId op_;
  const OpInfo* info_ = nullptr;
  std::string name_;
  llvm::SmallVector<OutputPort, 3> inputs_;
  // The index of each input in the use list of its producer.
  llvm::SmallVector<int32_t, 3> use_slots_;
  llvm::SmallVector<Output, 1> outputs_;
  llvm::SmallVector<llvm::SmallVector<InputPort, 2>, 1> uses_;
  AttributeMap attributes_;
  Origin origin_;
  std::unique_ptr<Extras> extras_;  // null: none of these
};
static_assert(sizeof(Node) <= 376, "a network has a hundred thousand of them");

// The nodes of a graph, indexed by NodeId and allocated in slabs.
class NodeList {
 public:
  NodeList() = default;
  NodeList(NodeList&& other) noexcept { Swap(other); }
  NodeList& operator=(NodeList&& other) noexcept {
    NodeList taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~NodeList();

  Node& Add();
  // Destroys the node. The entry becomes null, and the memory is reused by a later Add.
  void Erase(size_t index);

  size_t size() const { return nodes_.size(); }
  Node* operator[](size_t index) const { return nodes_[index]; }
  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }

 private:
  void Swap(NodeList& other) noexcept;

  std::vector<Node*> nodes_;
  std::vector<Node*> slabs_;
  std::vector<Node*> free_;
  size_t slab_left_ = 0, slab_size_ = 0;  // nodes of the last slab
};

// The properties of a new node.
struct NodeSpec {
  OpId op = {};
  std::string name = {};
  llvm::ArrayRef<OutputPort> inputs = {};
  llvm::ArrayRef<int32_t> segments = {};
  AttributeMap attributes = {};
  int32_t num_outputs = 1;
  Origin origin = {};
};

// A graph of operations. Parameters are nodes without inputs (nnef.external or Parameter). Results are nodes
// of opset1.Result, named after the results of the graph. Sinks are nodes with side effects; they are live
// without uses. `nodes()` returns insertion order; use TopologicalOrder for execution. The member functions
// keep inputs, use lists and the lists of parameters, results and sinks consistent. Functions
// that need only these are free functions below.
class Graph {
 public:
  explicit Graph(const OpRegistry* registry, std::string name = {});

  const OpRegistry& registry() const { return *registry_; }
  const std::string& name() const { return name_; }
  // Metadata of the file that the graph was read from.
  const AttributeMap& rt_info() const { return rt_info_; }
  void SetRtInfo(std::string_view name, Attribute value) { rt_info_.Set(name, std::move(value)); }

  // Adds a node. Checked: the inputs exist, and the segments, if any, add up to the number of inputs.
  NodeId AddNode(NodeSpec spec);
  void AddToParameters(NodeId node);  // an nnef.external or Parameter
  void AddToResults(NodeId node);     // a Result
  // Adds a sink. AddNode does so for operations that are always sinks.
  void AddToSinks(NodeId node);
  // Moves the given nodes to the front of the sinks, in that order. Nodes that are not sinks become sinks.
  void OrderSinks(llvm::ArrayRef<NodeId> first);

  const Node& node(NodeId id) const;
  // Returns true if the node exists and was not erased.
  bool Contains(NodeId id) const;
  // Returns the nodes that were not erased, in insertion order.
  std::vector<NodeId> nodes() const;
  size_t num_nodes() const { return num_nodes_; }
  // One more than the largest NodeId index: the size of a side table.
  size_t node_bound() const { return nodes_.size(); }
  llvm::ArrayRef<NodeId> parameters() const { return parameters_; }
  llvm::ArrayRef<NodeId> results() const { return results_; }
  llvm::ArrayRef<NodeId> sinks() const { return sinks_; }
  const Output& output(OutputPort port) const { return node(port.node).output(port.index); }

  // Connects an existing input to another output.
  void SetInput(NodeId node, int32_t index, OutputPort value);
  // Appends an input; checked: the node has no segments.
  void AddInput(NodeId node, OutputPort value);
  // Connects all inputs that read `from` to `to`.
  void ReplaceAllUses(OutputPort from, OutputPort to);
  // Removes a node whose outputs have no uses; checked.
  void Erase(NodeId node);
  // Erases the nodes that reach no result and no sink; parameters remain.
  void EraseDeadNodes();
  // Change properties of a node or an output. Types and shapes are not inferred again; see InferNode.
  void SetAttribute(NodeId node, std::string_view name, Attribute value);
  void EraseAttribute(NodeId node, std::string_view name);
  void SetRtInfo(NodeId node, std::string_view name, Attribute value);
  void EraseRtInfo(NodeId node, std::string_view name);
  void SetName(NodeId node, std::string name);
  void SetOutputType(OutputPort port, ElementType type, PartialShape shape);
  void SetOutputValue(OutputPort port, std::optional<TensorValue> value);
  void SetOutputNames(OutputPort port, std::vector<std::string> names);
  // Access for shape inference to types, shapes and values.
  llvm::MutableArrayRef<Output> InferredOutputs(NodeId node) { return mutable_node(node).outputs_; }
  // Appends a body to a node, and returns it.
  Body& AddBody(NodeId node, Body body);
  Body& body(NodeId node, size_t index);

 private:
  Node& mutable_node(NodeId id);
  Output& mutable_output(OutputPort port);
  void AddUse(Node& user, int32_t input);
  void RemoveUse(const Node& user, int32_t input);
  void Release(NodeId id);

  const OpRegistry* registry_;
  std::string name_;
  AttributeMap rt_info_;
  NodeList nodes_;
  size_t num_nodes_ = 0;
  std::vector<NodeId> parameters_;
  std::vector<NodeId> results_;
  std::vector<NodeId> sinks_;
};

// Adds a node `set.name`; checked: it is registered.
NodeId AddNode(Graph& graph, std::string_view set, std::string_view name, NodeSpec spec);
// Adds a Const node (opset1) with its output set.
NodeId AddConst(Graph& graph, TensorValue value, std::string name, Origin origin = {});
// Adds a Parameter (opset1) and appends it to parameters().
NodeId AddParameter(Graph& graph, std::string name, ElementType type, PartialShape shape, Origin origin = {});
// Appends a Result node.
NodeId AddResult(Graph& graph, std::string name, OutputPort value, Origin origin = {});

// Returns the nodes so that each follows its inputs: a depth-first post-order over nodes in insertion
// order. Nothing if the graph has a cycle.
std::optional<std::vector<NodeId>> TopologicalOrder(const Graph& graph);

}  // namespace nnefc::ir
