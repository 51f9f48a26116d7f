#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/infer.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/rules.h"
#include "compiler/support/context.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::lower {

using ir::Attribute;
using ir::OutputPort;
using ir::PartialShape;

// Attributes written down in place: `Attributes({{"axis", 1}})`.
ir::AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> entries);

// A variable that is updated.
struct VariableState {
  std::string id;    // the label, as the first update's variable spells it
  OutputPort value;  // its ReadValue, once it is there
};
// The state of one LowerGraph: the graph that grows and what of the source is
// already in it.
struct LowerState {
  LowerState(const ir::Graph& source, const LowerOptions& options, Context& context);

  const ir::Graph& source;
  const LowerOptions& options;
  Context& context;
  ir::Graph target;
  std::vector<std::vector<OutputPort>> ports;                      // by source node and output
  std::vector<bool> non_negative;                                  // by source node: facts.h
  llvm::StringMap<VariableState> states;                           // by VariableKey
  std::map<std::pair<int32_t, int32_t>, QuantizedType> quantized;  // by source node and output
  int depth = 0;                                                   // how many bodies the graph is in
  bool in_loop = false;                                            // one of them is that of a tensor_iterator
  bool failed = false;
};

// What the lowering of one NNEF node sees and does. Nodes that it adds have the
// node's origin and the name "NODE/SUFFIX"; the one that becomes an output
// takes the output's NNEF identifier. Ports are those of the target graph.
//
// The ranks of the source's inputs and outputs are known. The shape of a port
// in the target is unknown after a mistake (which was told); then the rest of
// the lowering goes on without effect.
class NodeLowering {
 public:
  NodeLowering(LowerState& state, ir::NodeId node);

  const ir::Node& node() const { return node_; }
  LowerState& state() { return state_; }
  const LowerState& state() const { return state_; }
  const ir::Graph& target() const { return state_.target; }

  // ---- the NNEF node ----
  int32_t num_inputs() const { return node_.num_inputs(); }
  OutputPort input(int32_t index) const;
  // What a port of the source was lowered to.
  OutputPort LoweredPort(OutputPort source) const;
  // From here on `input` has another port.
  void ReplaceInput(int32_t index, OutputPort port) { replaced_.emplace_back(index, port); }
  // The quantized type of a port of the source; null if it holds numbers.
  const QuantizedType* FindQuantized(OutputPort source) const;
  // What the source knows of input `index`.
  const ir::Output& source_input(int32_t index) const;
  const PartialShape& input_shape(int32_t index) const { return source_input(index).shape; }
  int64_t input_rank(int32_t index) const { return input_shape(index).rank(); }
  const PartialShape& output_shape(int32_t index = 0) const { return node_.output(index).shape; }
  bool Bool(std::string_view name) const { return node_.attribute(name).AsBool(); }
  int64_t Int(std::string_view name) const { return node_.attribute(name).AsInt(); }
  double Double(std::string_view name) const { return node_.attribute(name).AsDouble(); }
  std::string String(std::string_view name) const { return node_.attribute(name).AsString(); }
  std::vector<int64_t> Ints(std::string_view name) const { return node_.attribute(name).AsInts(); }
  // f32, i64 or boolean by the attribute "dtype".
  ElementType DataType() const;
  // True if no element of the input is below zero, as far as the graph tells.
  bool IsNonNegative(int32_t index) const;

  // ---- building ----
  // Adds an operation with one output. The suffix is the operation's name in
  // lower case where none is given.
  OutputPort Add(std::string_view set, std::string_view type, llvm::ArrayRef<OutputPort> inputs,
                 ir::AttributeMap attributes = {}, std::string_view suffix = {});
  // The same with several outputs.
  ir::NodeId AddNode(std::string_view set, std::string_view type, llvm::ArrayRef<OutputPort> inputs,
                     ir::AttributeMap attributes, int32_t num_outputs, std::string_view suffix = {});
  OutputPort Constant(TensorValue value, std::string_view suffix);
  OutputPort ConstInts(llvm::ArrayRef<int64_t> values, std::string_view suffix);  // i64 [n]
  OutputPort ConstInt(int64_t value, std::string_view suffix);                    // i64 []
  OutputPort ConstFloat(double value, std::string_view suffix);                   // f32 []
  // A Const whose value is not known in this run.
  OutputPort ConstWithoutValue(ElementType type, PartialShape shape, std::string_view suffix);

  // Short forms of frequent operations of opset1.
  OutputPort Unary(std::string_view type, OutputPort x, std::string_view suffix = {});
  // Broadcasts by NNEF's rule: the operand of lower rank gets trailing ones.
  OutputPort Binary(std::string_view type, OutputPort x, OutputPort y, std::string_view suffix = {});
  OutputPort Reshape(OutputPort x, llvm::ArrayRef<int64_t> target, std::string_view suffix = {});

  // The value of a Const, or null.
  const TensorValue* Value(OutputPort port) const;
  // The value of a Const of one element.
  std::optional<double> ScalarValue(OutputPort port) const;
  // The shape in the target, or one of `rank` unknown extents after a mistake.
  PartialShape Shape(OutputPort port, int64_t rank) const;
  // The tensor seen with other extents of the same volume: a Const is seen
  // anew (its bytes are shared), anything else goes through Reshape.
  OutputPort WithShape(OutputPort port, llvm::ArrayRef<int64_t> extents, std::string_view suffix = "reshape");
  // Appends trailing extents of 1 up to `rank`. Rank 0 stays: it broadcasts.
  OutputPort Align(OutputPort port, int64_t rank);

  // ---- results ----
  // Makes `port` the output `index`: names, and a check against the source's
  // shape. Each output is set once.
  void SetOutput(int32_t index, OutputPort port);
  void SetOutput(OutputPort port) { SetOutput(0, port); }
  // The outputs that a lowering would set; those after a mistake are invalid.
  std::vector<OutputPort> Capture(LowerFunction lower);
  void SetQuantized(int32_t index, QuantizedType type);
  // Leaves the node as it is, an operation of the set nnef.
  ir::NodeId Keep();
  // Gives outputs that were not set after a mistake a stand-in.
  void Finish();

  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    Report(rule, fmt::format(format, std::forward<Args>(args)...));
  }
  // Tells that lowering needs the extent of `what` along `axis`.
  void UnknownExtent(std::string_view what, int64_t axis);

 private:
  void Report(const Rule& rule, std::string message);
  std::string HelperName(std::string_view suffix) const;
  void CheckShape(int32_t index, OutputPort port);

  LowerState& state_;
  const ir::Node& node_;
  int32_t first_new_;  // nodes of the target from here on were added for this one
  std::vector<std::pair<int32_t, OutputPort>> replaced_;
  std::vector<OutputPort>* captured_ = nullptr;
};

}  // namespace nnefc::lower
