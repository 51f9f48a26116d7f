#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::ir {

// An argument of a node, as messages name it: "`filter` of `conv`", "`values[2]` of `concat`".
struct Argument {
  std::string_view name;  // an entry of OpInfo::inputs, or an attribute
  std::string_view operation;
  int64_t item = -1;   // the item that the message names; -1: none
  int64_t place = -1;  // the item whose source range is reported; -1: the whole argument

  // Returns the same argument with a source range of one of its items.
  Argument At(size_t index) const { return {name, operation, item, static_cast<int64_t>(index)}; }
};
std::string ToString(const Argument& argument);

// An argument name for the results on the left-hand side of an assignment.
inline constexpr std::string_view kResultsPlace = "->";

// Source ranges of the arguments of a node, implemented by the stage that creates the node.
class ArgumentPlaces {
 public:
  virtual ~ArgumentPlaces() = default;
  // Returns the source range of an argument, or of one of its items if `item` is not negative. The range is
  // invalid if the argument is not written out.
  virtual SourceRange Find(std::string_view argument, int64_t item) const = 0;
  // True if the argument or item is a literal, or an array or tuple of literals, that a fix-it may replace.
  virtual bool IsLiteral(std::string_view argument, int64_t item) const = 0;
};

// The interface between a node and its shape function: inputs, attributes, outputs and diagnostics.
class InferContext {
 public:
  // Infers a node in its graph or, if `graph` is null, separately with other inputs and its own outputs.
  InferContext(Graph* graph, const Node& node, llvm::ArrayRef<const Output*> inputs,
               llvm::MutableArrayRef<Output> outputs, Emitter& emitter, const ArgumentPlaces* places)
      : graph_(graph), node_(node), inputs_(inputs), outputs_(outputs), emitter_(emitter), places_(places) {}

  const Node& node() const { return node_; }
  const Output& input(int32_t index) const { return *inputs_[static_cast<size_t>(index)]; }
  // Returns the value of an input, if it is known, and records it in unknown_values() if not. Query all
  // values before the first return: when a run has computed the recorded ones, the node is inferred again.
  const std::optional<TensorValue>& value(int32_t index);
  llvm::ArrayRef<int32_t> unknown_values() const { return unknown_values_; }
  int32_t num_inputs() const { return static_cast<int32_t>(inputs_.size()); }
  // Returns the inputs of entry `parameter` of OpInfo::inputs; empty if absent.
  llvm::ArrayRef<const Output*> segment(int32_t parameter) const;
  // Returns the node that computes an input, or null if the inferred node is in no graph.
  const Node* producer(int32_t index) const;
  const Attribute& attribute(std::string_view name) const { return node().attribute(name); }
  const Attribute* FindAttribute(std::string_view name) const { return node().attributes().Find(name); }

  // Set the type and shape of an output, and its value if that is known at compile time.
  void SetOutput(int32_t index, ElementType type, PartialShape shape);
  void SetOutputValue(int32_t index, TensorValue value);

  // Sets the type and shape of a body's parameter, or infers a body. InferNode infers the bodies of
  // unknown operations only; the shape functions of others infer theirs.
  Body& body(size_t index) { return graph_->body(node_.id(), index); }
  void SetBodyParameter(size_t body, int32_t parameter, ElementType type, PartialShape shape);
  [[nodiscard]] bool InferBody(size_t index);

  // Emits a diagnostic with the node's fragment stack. Its range is that of the first Argument in the message
  // ("`filter` of `conv` has rank 3; expected 4"), else the node's.
  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    const Argument* named = nullptr;
    (TakeArgument(named, args), ...);
    Report(rule, named, fmt::format(format, std::forward<Args>(args)...));
  }
  // The same with the only valid value of the argument. Adds a fix-it if the argument is a literal; no fix-it
  // if `right` is empty.
  template <typename... Args>
  void ErrorWithFix(std::string_view right, const Rule& rule, fmt::format_string<Args...> format,
                    Args&&... args) {
    const Argument* named = nullptr;
    (TakeArgument(named, args), ...);
    Report(rule, named, fmt::format(format, std::forward<Args>(args)...), right);
  }
  // The same as Error, with the source range of an argument that is not the first in the message.
  template <typename... Args>
  void ErrorAt(const Argument& argument, const Rule& rule, fmt::format_string<Args...> format,
               Args&&... args) {
    Report(rule, &argument, fmt::format(format, std::forward<Args>(args)...));
  }
  bool failed() const { return failed_; }

 private:
  static void TakeArgument(const Argument*& named, const Argument& argument) {
    if (named == nullptr) named = &argument;
  }
  template <typename T>
  static void TakeArgument(const Argument*&, const T&) {}
  void Report(const Rule& rule, const Argument* argument, std::string message, std::string_view right = "");

  Graph* graph_;
  const Node& node_;
  llvm::ArrayRef<const Output*> inputs_;
  llvm::MutableArrayRef<Output> outputs_;
  Emitter& emitter_;
  const ArgumentPlaces* places_;
  llvm::SmallVector<int32_t, 4> unknown_values_;  // inputs
  bool failed_ = false;
};

// Infers types and shapes of one node from its inputs. Returns false and makes the outputs unknown if a rule
// is violated, or if an input of an nnef operation has an unknown type because of an earlier error.
// Operations without a shape function retain their outputs. Diagnostics refer to the arguments' source ranges
// if these are known, otherwise to the node's. `unknown_values` receives the inputs whose values the shape
// function queried but that are unknown: axes, orders and sizes that a run computes.
[[nodiscard]] bool InferNode(Graph& graph, NodeId node, Emitter& emitter,
                             const ArgumentPlaces* places = nullptr,
                             llvm::SmallVectorImpl<int32_t>* unknown_values = nullptr);
// Infers the outputs that a node would have with other inputs, without a graph. Returns nothing after an
// error; the emitter has the first one. The operation must have a shape function that depends only on inputs
// and attributes, and no bodies.
[[nodiscard]] std::optional<std::vector<Output>> InferApart(const Node& node,
                                                            llvm::ArrayRef<const Output*> inputs,
                                                            Emitter& emitter);
// Adds a node `set.name` and infers it.
struct [[nodiscard]] InferredNode {
  NodeId id;
  bool inferred;
};
InferredNode AddInferred(Graph& graph, std::string_view set, std::string_view name, NodeSpec spec,
                         Emitter& emitter);
// Infers all nodes in topological order, bodies included; checked: the graph has no cycle.
[[nodiscard]] bool InferGraph(Graph& graph, Emitter& emitter);

}  // namespace nnefc::ir

template <>
struct fmt::formatter<nnefc::ir::Argument> {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const nnefc::ir::Argument& argument, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "{}", nnefc::ir::ToString(argument));
  }
};
