#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/graph.h"
#include "compiler/raise/constants.h"
#include "compiler/raise/names.h"
#include "compiler/raise/raise.h"
#include "compiler/raise/rules.h"
#include "compiler/support/context.h"

namespace nnefc::raise {

using ir::Attribute;
using ir::OutputPort;
using Integers = std::vector<int64_t>;

// Makes an attribute map in place: `Attributes({{"axis", 1}})`.
ir::AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> entries);

// Returns NNEF's name of the data type that represents elements of a type; empty if there is none.
std::string_view DataTypeName(ElementType type);

// The only use of a convolution or matrix multiplication that becomes a part of it: an addition of a value
// for each channel, or a batch normalization (it also scales the filter).
struct AbsorbedNode {
  ir::NodeId node;
  TensorValue bias;
  std::string bias_name;
  bool is_from_half = false;
  std::vector<double> scales = {};  // per output of the filter; empty: none
};

// Returns the element type of NNEF's tensors that represents elements of a type: f32, i64, boolean, string.
ElementType NnefTypeOf(ElementType type);

// An operation of the target.
struct OperationName {
  std::string_view set;
  std::string_view name;
};

// A body of a node, and its role.
using NamedBody = std::pair<std::string, std::unique_ptr<ir::Graph>>;

class NodeRaising;

// The state of one RaiseGraph, or of a body in it.
struct RaiseState {
  RaiseState(const ir::Graph& source, llvm::ArrayRef<ir::NodeId> order, const RaiseOptions& options,
             Context& context, std::string_view name, NodeRaising* outer);

  const ir::Graph& source;
  const RaiseOptions& options;
  Context& context;
  ConstantValues constants;
  ir::Graph target;
  std::vector<std::vector<OutputPort>> ports;  // index: node of the source, output
  std::map<int32_t, AbsorbedNode> absorbed;    // key: node of the source
  std::map<std::string, TensorValue> data;     // variables; key: label
  std::vector<std::string> hints;              // index: node of the target; a name for its outputs
  std::map<std::pair<int32_t, int32_t>, std::string> wanted;  // names of ports of the target
  // Variables and constants of the target by their bytes, type and shape.
  std::map<std::tuple<const std::byte*, ElementType, std::vector<int64_t>>, OutputPort> shared;
  std::vector<TensorValue> kept;  // the tensors of these bytes
  // Conversions of ports of the target to other element types; key: node, output, type.
  std::map<std::tuple<int32_t, int32_t, ElementType>, OutputPort> converted;
  UniqueNames labels{/*ignores_case=*/true};
  std::map<std::string, OutputPort> states;  // variables by the id of their ReadValue
  std::set<std::string> assigned;            // ids of those with an `update`
  NodeRaising* outer = nullptr;      // the node with the body that is raised; null for the graph of the model
  std::vector<OutputPort> captured;  // constants of the enclosing graph, the last parameters of the body
  int64_t unrolled_steps = 0;
  bool failed = false;
  std::set<int32_t> formless;  // nodes of the source that are reported: they have no form
};

// The reason that a node has no form; thrown by NodeRaising::Decline and caught by RaiseGraph.
struct Declined {
  std::string reason;
};

// An OpenVINO node of the source graph, with the types and shapes of its inputs and outputs.
class SourceNode {
 public:
  SourceNode(const ir::Graph& source, ir::NodeId node) : source_(source), node_(source.node(node)) {}

  const ir::Graph& source() const { return source_; }
  const ir::Node& node() const { return node_; }
  int32_t num_inputs() const { return node_.num_inputs(); }
  bool has_input(int32_t index) const { return index < node_.num_inputs(); }
  // True if the output exists, and another node reads it.
  bool is_used(int32_t index) const { return index < node_.num_outputs() && !node_.uses(index).empty(); }
  ElementType input_type(int32_t index) const { return source_input(index).type; }
  nnefc::Shape input_shape(int32_t index) const { return source_input(index).shape.known_extents(); }
  int64_t input_rank(int32_t index) const { return source_input(index).shape.rank(); }
  nnefc::Shape output_shape(int32_t index = 0) const { return node_.output(index).shape.known_extents(); }
  ElementType output_type(int32_t index = 0) const { return node_.output(index).type; }
  int64_t output_rank(int32_t index = 0) const { return node_.output(index).shape.rank(); }

 protected:
  const ir::Output& source_input(int32_t index) const { return source_.output(node_.input(index)); }

  const ir::Graph& source_;
  const ir::Node& node_;
};

// The interface for raising one OpenVINO node. Types are those of NNEF, and shapes are known. Ports belong to
// the target graph.
class NodeRaising : public SourceNode {
 public:
  NodeRaising(RaiseState& state, ir::NodeId node) : SourceNode(state.source, node), state_(state) {}

  RaiseState& state() { return state_; }
  const ir::Graph& target() const { return state_.target; }

  // ---- constant inputs ----
  // Returns the value of an input that does not depend on those of the graph, or null.
  const TensorValue* Value(int32_t index) const;
  // Returns the value of such an input with one element.
  std::optional<double> ScalarValue(int32_t index) const;
  // Returns the values of such an input of integers; declines if they are unknown. The message calls the
  // input `what`.
  Integers ConstIntegers(int32_t index, std::string_view what);
  // The same for axes; returns them non-negative, sorted and unique.
  Integers ConstAxes(int32_t index, int64_t rank, std::string_view what = "axes");
  // Returns the bias that is added to the node's output, if the node absorbs it, with shape [1, channels].
  std::optional<OutputPort> AbsorbedBias();
  // Returns the scales that multiply the outputs of the node's filter; empty if there are none.
  llvm::ArrayRef<double> AbsorbedScales() const;

  // ---- operands ----
  // Returns input `index` in NNEF's type. A constant becomes a variable, or a `constant` if it is small.
  OutputPort input(int32_t index);
  // Returns input `index` with the element type of the source, for operations of NNEFC_opset.
  OutputPort ExactInput(int32_t index);
  // Returns `port` with another element type.
  OutputPort Converted(OutputPort port, ElementType type);
  // Returns input `index` aligned by NumPy's rule with a result of rank `rank`, for NNEF's rule: an operand
  // of lower rank gets leading extents of 1. A constant of one element becomes a literal, and others lose
  // trailing extents of 1, if `may_shrink`: another operand has rank `rank`.
  OutputPort Aligned(int32_t index, int64_t rank, bool may_shrink = true);
  // The same for two operands.
  std::pair<OutputPort, OutputPort> AlignedPair(int32_t first, int32_t second, int64_t rank);
  // True if input `index` has rank `rank` once it is aligned, and is no literal.
  bool IsFullOperand(int32_t index, int64_t rank) const;
  // Returns input `index` with other extents of the same volume: a constant, or a `reshape`.
  OutputPort WithShape(int32_t index, llvm::ArrayRef<int64_t> shape);
  // Returns a variable or a `constant`. `role` completes its name if `name` is empty.
  OutputPort Constant(const TensorValue& value, std::string_view role, std::string_view name = {},
                      bool from_half = false);
  // Returns `value` as a constant with the name of the node that input `index` reads.
  OutputPort ConstantInput(int32_t index, const TensorValue& value, bool from_half = false);
  // Returns an f32 constant.
  OutputPort Floats(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape, std::string_view role);
  // Return a `constant` of shape [], printed as a literal.
  OutputPort Literal(double value);
  OutputPort Literal(bool value);

  // ---- building ----
  // Adds an NNEF operation with one output and infers it. `suffix` completes its name.
  OutputPort Add(std::string_view operation, llvm::ArrayRef<OutputPort> inputs,
                 ir::AttributeMap attributes = {}, std::string_view suffix = {});
  // The same with several outputs; the operation may be one of NNEFC_opset.
  ir::NodeId AddNode(OperationName operation, llvm::ArrayRef<OutputPort> inputs, ir::AttributeMap attributes,
                     int32_t num_outputs, std::string_view suffix = {}, llvm::ArrayRef<int32_t> segments = {},
                     std::vector<NamedBody> bodies = {});
  // Returns the extents of a tensor.
  nnefc::Shape Shape(OutputPort port) const;
  OutputPort Reshape(OutputPort port, llvm::ArrayRef<int64_t> shape, std::string_view suffix = {});
  // Transposes: axis i of the result is axis order[i] of `port`.
  OutputPort Transpose(OutputPort port, const Integers& order, std::string_view suffix = {});
  // Removes and inserts extents of 1; returns `port` for no axes.
  OutputPort Squeeze(OutputPort port, const Integers& axes, std::string_view suffix = {});
  OutputPort Unsqueeze(OutputPort port, const Integers& axes, std::string_view suffix = {});
  OutputPort Cast(OutputPort port, ElementType type, std::string_view suffix = {});
  OutputPort Binary(std::string_view operation, OutputPort x, OutputPort y, std::string_view suffix = {}) {
    return Add(operation, {x, y}, {}, suffix);
  }
  OutputPort Unary(std::string_view operation, OutputPort x, std::string_view suffix = {}) {
    return Add(operation, {x}, {}, suffix);
  }

  // ---- results ----
  // Makes `port` the output `index`, and compares its type and shape with the source. A shape determined
  // by values is that of the source, since the target does not know it. Does nothing if
  // the node omits the output.
  void SetOutput(int32_t index, OutputPort port);
  void SetOutput(OutputPort port) { SetOutput(0, port); }
  // Stops with the reason that the node has no NNEF form: the end of "`TYPE` has no form ..: ".
  template <typename... Args>
  [[noreturn]] void Decline(fmt::format_string<Args...> format, Args&&... args) {
    throw Declined{fmt::format(format, std::forward<Args>(args)...)};
  }
  // Declines unless input `index` has the type f32.
  void RequireScalars(int32_t index = 0);
  // Replaces outputs that were not set because of an error by placeholders.
  void Finish();

 private:
  std::string BaseName() const;
  OutputPort Captured(const TensorValue& value, std::string_view role, std::string_view name, bool from_half);
  OutputPort ExactConstant(int32_t index, const TensorValue& value);
  OutputPort AddConstant(const TensorValue& value);

  RaiseState& state_;
};

// True if the document is for tract: it reads some operations in another way, or not at all.
inline bool IsForTract(NodeRaising& n) {
  return n.state().options.target == Target::kTract;
}

// Returns the number of an axis of a tensor of `rank` axes, counted from the first; a negative `axis` counts
// from the end.
inline int64_t AxisFromFront(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

}  // namespace nnefc::raise
