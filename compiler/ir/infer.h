#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/diagnostics.h"

namespace nnefc::ir {

// An argument of a node, as messages name it: "`filter` of `conv`",
// "`values[2]` of `concat`".
struct Argument {
  std::string_view name;  // an entry of OpInfo::inputs, or an attribute
  std::string_view operation;
  int64_t item = -1;   // -1: the text names none
  int64_t place = -1;  // the item that a mistake is about; -1: the whole

  // The same argument, with a mistake that is about one of its items.
  Argument At(size_t index) const { return {name, operation, item, static_cast<int64_t>(index)}; }
};
std::string ToString(const Argument& argument);

// In place of an argument's name: what the results are assigned to.
inline constexpr std::string_view kResultsPlace = "->";

// Where the arguments of a node are written, for whoever makes the node.
class ArgumentPlaces {
 public:
  virtual ~ArgumentPlaces() = default;
  // The place of an argument, or of an item of it if that is not negative; an
  // invalid range if it is not written out.
  virtual SourceRange Find(std::string_view argument, int64_t item) const = 0;
  // Whether what stands there is a literal, or an array or tuple of literals:
  // other text may replace it.
  virtual bool IsLiteral(std::string_view argument, int64_t item) const = 0;
};

// What a shape function sees of the node it judges: inputs, attributes, and
// where to put outputs and mistakes.
class InferContext {
 public:
  // Of a node in its graph, or, where `graph` is null, on other inputs with
  // outputs of its own.
  InferContext(Graph* graph, const Node& node, llvm::ArrayRef<const Output*> inputs,
               llvm::MutableArrayRef<Output> outputs, Emitter& emitter, const ArgumentPlaces* places)
      : graph_(graph), node_(node), inputs_(inputs), outputs_(outputs), emitter_(emitter), places_(places) {}

  const Node& node() const { return node_; }
  const Output& input(int32_t index) const { return *inputs_[static_cast<size_t>(index)]; }
  // The value of an input by which the node is judged, if it is known. Ask for
  // all of them before the first return: a run judges the node again on those
  // that were asked for in vain.
  const std::optional<TensorValue>& value(int32_t index);
  llvm::ArrayRef<int32_t> unknown_values() const { return unknown_values_; }
  int32_t num_inputs() const { return static_cast<int32_t>(inputs_.size()); }
  // The inputs of entry `parameter` of OpInfo::inputs; empty if absent.
  llvm::ArrayRef<const Output*> segment(int32_t parameter) const;
  // The node that makes an input, or null where the node is in no graph.
  const Node* producer(int32_t index) const;
  const Attribute& attribute(std::string_view name) const { return node().attribute(name); }
  const Attribute* FindAttribute(std::string_view name) const { return node().attributes().Find(name); }

  void SetOutput(int32_t index, ElementType type, PartialShape shape);
  void SetOutputValue(int32_t index, TensorValue value);

  // Operations with bodies: gives the body's parameter its type and shape, and
  // infers the body. InferNode leaves bodies to the operation's function.
  Body& body(size_t index) { return graph_->body(node_.id(), index); }
  void SetBodyParameter(size_t body, int32_t parameter, ElementType type, PartialShape shape);
  [[nodiscard]] bool InferBody(size_t index);

  // Tells a mistake with the node's stack of fragments, at the place of the
  // first Argument that the message names ("`filter` of `conv` has rank 3;
  // expected 4"), or at the node's.
  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    const Argument* named = nullptr;
    (TakeArgument(named, args), ...);
    Report(rule, named, fmt::format(format, std::forward<Args>(args)...));
  }
  // The same, with what the argument must be where that is certain: a fix-it if
  // a literal stands there, nothing if `right` is empty.
  template <typename... Args>
  void ErrorWithFix(std::string_view right, const Rule& rule, fmt::format_string<Args...> format,
                    Args&&... args) {
    const Argument* named = nullptr;
    (TakeArgument(named, args), ...);
    Report(rule, named, fmt::format(format, std::forward<Args>(args)...), right);
  }
  // The same as Error at the place of an argument that the message does not name first.
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

// Infers types and shapes of one node from its inputs. Returns false and
// leaves unknown outputs if a rule is broken or an input is unknown because
// of an earlier mistake: an operation of the nnef set is not judged while the
// element type of an input is unknown. Operations without a shape function
// keep the outputs that they have. Mistakes are told at the arguments' places
// if these are known, otherwise at the node's. `unknown_values` is told the inputs
// whose values the shape function asked for in vain: axes, orders and sizes that a
// run computes.
[[nodiscard]] bool InferNode(Graph& graph, NodeId node, Emitter& emitter,
                             const ArgumentPlaces* places = nullptr,
                             llvm::SmallVectorImpl<int32_t>* unknown_values = nullptr);
// What the outputs of a node would be on other inputs, in no graph: nothing
// after a mistake, of which the emitter has the first. Only for an operation
// with a shape function, without bodies, that looks at nothing but its inputs.
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
// Infers all nodes in topological order, sub-graphs included; checked: the
// graph has no cycle.
[[nodiscard]] bool InferGraph(Graph& graph, Emitter& emitter);

}  // namespace nnefc::ir

template <>
struct fmt::formatter<nnefc::ir::Argument> : fmt::formatter<std::string> {
  template <typename FormatContext>
  auto format(const nnefc::ir::Argument& argument, FormatContext& context) const {
    return fmt::formatter<std::string>::format(ToString(argument), context);
  }
};
