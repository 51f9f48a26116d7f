#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// What a shape function sees of the node it judges: inputs, attributes, and
// where to put outputs and mistakes.
class InferContext {
 public:
  InferContext(Graph& graph, NodeId node, Emitter& emitter) : graph_(graph), node_(node), emitter_(emitter) {}

  const Graph& graph() const { return graph_; }
  const Node& node() const { return graph_.node(node_); }
  const Output& input(int32_t index) const { return graph_.output(node().input(index)); }
  int32_t num_inputs() const { return node().num_inputs(); }
  // The inputs of entry `parameter` of OpInfo::inputs; empty if absent.
  std::vector<const Output*> segment(int32_t parameter) const;
  const Attribute& attribute(std::string_view name) const { return node().attribute(name); }
  const Attribute* FindAttribute(std::string_view name) const { return node().attributes().Find(name); }

  void SetOutput(int32_t index, ElementType type, PartialShape shape);
  void SetOutputValue(int32_t index, TensorValue value);

  // Operations with bodies: gives the body's parameter its type and shape, and
  // infers the body. InferNode leaves bodies to the operation's function.
  Body& body(size_t index) { return graph_.body(node_, index); }
  void SetBodyParameter(size_t body, int32_t parameter, ElementType type, PartialShape shape);
  bool InferBody(size_t index);

  // Tells a mistake at the node's place with its stack of fragments. The
  // message names the argument: "`filter` of `conv` has rank 3; expected 4".
  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    Report(rule, fmt::format(format, std::forward<Args>(args)...));
  }
  bool failed() const { return failed_; }

 private:
  void Report(const Rule& rule, std::string message);

  Graph& graph_;
  NodeId node_;
  Emitter& emitter_;
  bool failed_ = false;
};

// Infers types and shapes of one node from its inputs. Returns false and
// leaves unknown outputs if a rule is broken or an input is unknown because
// of an earlier mistake: an operation of the nnef set is not judged while the
// element type of an input is unknown. Operations without a shape function
// keep the outputs that they have.
bool InferNode(Graph& graph, NodeId node, Emitter& emitter);
// Infers all nodes in topological order, sub-graphs included; checked: the
// graph has no cycle.
bool InferGraph(Graph& graph, Emitter& emitter);

}  // namespace nnefc::ir
