#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/rules.h"
#include "compiler/support/context.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::lower {

using ir::Attribute;
using ir::OutputPort;
using ir::PartialShape;

// The maximum volume of a materialized constant of one repeated value. Larger ones are broadcast at run time.
inline constexpr int64_t kLargestFilledVolume = int64_t{1} << 20;

// Makes an attribute map in place: `Attributes({{"axis", 1}})`.
ir::AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> entries);

// The state of an updated variable.
struct VariableState {
  std::string id;    // the label, as spelled by the first update's variable
  OutputPort value;  // its ReadValue, once it exists
};
// The state of one LowerGraph: the target graph so far, and the nodes of the source that it covers.
struct LowerState {
  LowerState(const ir::Graph& source, const LowerOptions& options, Context& context);

  const ir::Graph& source;
  const LowerOptions& options;
  Context& context;
  ir::Graph target;
  std::vector<std::vector<OutputPort>> ports;                      // index: source node, output
  std::vector<bool> non_negative;                                  // index: source node (facts.h)
  llvm::StringMap<VariableState> states;                           // key: VariableKey
  std::map<std::pair<int32_t, int32_t>, QuantizedType> quantized;  // key: source node, output
  int depth = 0;                                                   // number of surrounding bodies
  bool in_loop = false;                                            // true inside a tensor_iterator
  bool failed = false;
};

// An NNEF node of the source graph, with its inputs, outputs and attributes.
class SourceNode {
 public:
  SourceNode(const ir::Graph& source, ir::NodeId node) : source_(source), node_(source.node(node)) {}

  const ir::Node& node() const { return node_; }
  int32_t num_inputs() const { return node_.num_inputs(); }
  // Returns the source's type, shape and value of input `index`.
  const ir::Output& source_input(int32_t index) const { return source_.output(node_.input(index)); }
  const PartialShape& input_shape(int32_t index) const { return source_input(index).shape; }
  int64_t input_rank(int32_t index) const { return input_shape(index).rank(); }
  const PartialShape& output_shape(int32_t index = 0) const { return node_.output(index).shape; }
  // Return an attribute of the node, which must have it with that type.
  bool Bool(std::string_view name) const { return node_.attribute(name).AsBool(); }
  int64_t Int(std::string_view name) const { return node_.attribute(name).AsInt(); }
  double Double(std::string_view name) const { return node_.attribute(name).AsDouble(); }
  std::string String(std::string_view name) const { return node_.attribute(name).AsString(); }
  std::vector<int64_t> Ints(std::string_view name) const { return node_.attribute(name).AsInts(); }
  // Returns f32, i64 or boolean, according to the attribute "dtype".
  ElementType DataType() const;

 protected:
  const ir::Graph& source_;
  const ir::Node& node_;
};

// The interface for the lowering of one NNEF node. Added nodes have the node's origin and the name
// "NODE/SUFFIX"; a node that computes an output is named after the output's NNEF identifier. Ports belong to
// the target graph.
//
// The ranks of the source's inputs and outputs are known. After a reported error, ports in the target have
// unknown shapes, and the rest of the lowering has no effect.
class NodeLowering : public SourceNode {
 public:
  NodeLowering(LowerState& state, ir::NodeId node);

  LowerState& state() { return state_; }
  const LowerState& state() const { return state_; }
  const ir::Graph& target() const { return state_.target; }

  // ---- the lowered inputs ----
  OutputPort input(int32_t index) const;
  // Returns the lowered form of a port of the source.
  OutputPort LoweredPort(OutputPort source) const;
  // Replaces input `index` by another port for the rest of the lowering.
  void ReplaceInput(int32_t index, OutputPort port) { replaced_.emplace_back(index, port); }
  // Returns the quantized type of a port of the source; null if it has real values.
  const QuantizedType* FindQuantized(OutputPort source) const;
  // True if the graph implies that no element of the input is negative.
  bool IsNonNegative(int32_t index) const;

  // ---- building ----
  // Adds an operation with one output. The default suffix is the operation's name in lower case.
  OutputPort Add(std::string_view set, std::string_view type, llvm::ArrayRef<OutputPort> inputs,
                 ir::AttributeMap attributes = {}, std::string_view suffix = {});
  // The same with several outputs.
  ir::NodeId AddNode(std::string_view set, std::string_view type, llvm::ArrayRef<OutputPort> inputs,
                     ir::AttributeMap attributes, int32_t num_outputs, std::string_view suffix = {});
  // Add a Const.
  OutputPort Constant(TensorValue value, std::string_view suffix);
  OutputPort ConstInts(llvm::ArrayRef<int64_t> values, std::string_view suffix);  // i64 [n]
  OutputPort ConstInt(int64_t value, std::string_view suffix);                    // i64 []
  OutputPort ConstFloat(double value, std::string_view suffix);                   // f32 []
  // Adds a Const whose value is unknown in this run.
  OutputPort ConstWithoutValue(ElementType type, PartialShape shape, std::string_view suffix);

  // Shorthands for frequent operations of opset1.
  OutputPort Unary(std::string_view type, OutputPort x, std::string_view suffix = {});
  // Broadcasts by NNEF's rule: the operand of lower rank is extended by trailing ones.
  OutputPort Binary(std::string_view type, OutputPort x, OutputPort y, std::string_view suffix = {});
  // Adds a Reshape to the extents `target`: 0 copies the extent of `x`, and -1 is inferred.
  OutputPort Reshape(OutputPort x, llvm::ArrayRef<int64_t> target, std::string_view suffix = {});

  // Returns the value of a Const, or null.
  const TensorValue* Value(OutputPort port) const;
  // Returns the value of a Const of one element.
  std::optional<double> ScalarValue(OutputPort port) const;
  // Returns the shape in the target, or one of `rank` unknown extents after an error.
  PartialShape Shape(OutputPort port, int64_t rank) const;
  // Returns the tensor with other extents of the same volume: a Const with shared bytes, or a Reshape.
  OutputPort WithShape(OutputPort port, llvm::ArrayRef<int64_t> extents, std::string_view suffix = "reshape");
  // Appends trailing extents of 1 up to `rank`. Rank 0 is unchanged because it broadcasts.
  OutputPort Align(OutputPort port, int64_t rank);

  // ---- results ----
  // Makes `port` the output `index`: sets names and compares shapes with the source. Each output is set once.
  void SetOutput(int32_t index, OutputPort port);
  void SetOutput(OutputPort port) { SetOutput(0, port); }
  // Returns the outputs that a lowering would set; after an error they are invalid.
  std::vector<OutputPort> Capture(LowerFunction lower);
  // Records the quantized type of output `index`; the output itself is lowered to real values.
  void SetQuantized(int32_t index, QuantizedType type);
  // Copies the node unchanged, as an operation of the set nnef.
  ir::NodeId Keep();
  // Replaces outputs that were not set because of an error by placeholders.
  void Finish();

  // Reports an error at the node; the lowering of the graph then fails.
  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    Report(rule, fmt::format(format, std::forward<Args>(args)...));
  }
  // Reports that lowering needs a tensor's extent along `axis`.
  void UnknownExtent(std::string_view what, int64_t axis);

 private:
  void Report(const Rule& rule, std::string message);
  std::string HelperName(std::string_view suffix) const;
  void CheckShape(int32_t index, OutputPort port);

  LowerState& state_;
  int32_t first_new_;  // the first node of the target that was added for this node
  std::vector<std::pair<int32_t, OutputPort>> replaced_;
  std::vector<OutputPort>* captured_ = nullptr;
};

}  // namespace nnefc::lower
