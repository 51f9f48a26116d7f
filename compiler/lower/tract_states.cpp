// Lowerings of tract's operations with a state to ReadValue and Assign.

#include <limits>

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lower {

namespace {

// Returns the element type of a stored state: OpenVINO's CPU plug-in has no states of 64-bit integers.
ElementType StoredType(const NodeLowering& n, ElementType type) {
  const bool is_narrow = type == ElementType::kI64 && !n.state().options.keeps_exact_operations;
  return is_narrow ? ElementType::kI32 : type;
}

OutputPort Converted(NodeLowering& n, OutputPort value, ElementType from, ElementType to,
                     std::string_view suffix) {
  if (from == to) return value;
  return n.Add("opset1", "Convert", value, Attributes({{"destination_type", to}}), suffix);
}

OutputPort ReadState(NodeLowering& n, OutputPort initial, std::string_view id, ElementType type,
                     const PartialShape& shape) {
  return n.Add(
      "opset6", "ReadValue", initial,
      Attributes({{"variable_id", std::string(id)}, {"variable_type", type}, {"variable_shape", shape}}),
      "state");
}

void StoreState(NodeLowering& n, OutputPort value, std::string_view id) {
  n.Add("opset6", "Assign", value, Attributes({{"variable_id", std::string(id)}}), "stored");
}

// Returns a name that is the label of no updated variable, whose state has the label as its name.
std::string StateId(const NodeLowering& n, std::string name) {
  const auto is_label = [&] {
    return llvm::any_of(n.state().states, [&](const auto& entry) { return entry.second.id == name; });
  };
  while (is_label()) name += ":state";
  return name;
}

OutputPort Zeros(NodeLowering& n, ElementType type, const nnefc::Shape& shape) {
  if (Volume(shape).value_or(INT64_MAX) <= kLargestFilledVolume)
    return n.Constant(TensorValue::Filled(type, shape, 0), "initial");
  return n.Add("opset3", "Broadcast",
               {n.Constant(TensorValue::Filled(type, {}, 0), "zero"), n.ConstInts(shape, "shape")},
               Attributes({{"mode", "numpy"}}), "initial");
}

// A state of a node: the value that the run before stored.
class NodeState {
 public:
  // Adds a state with zeros of the shape and of the element type of input 0. The state grows along
  // `open_axis` from the extent in `shape`; -1 if there is none.
  NodeState(NodeLowering& n, nnefc::Shape shape, int64_t open_axis = -1)
      : n_(n),
        id_(StateId(n, n.node().output().names.empty() ? n.node().name() : n.node().output().names.front())),
        type_(n.source_input(0).type) {
    stored_type_ = StoredType(n, type_);
    PartialShape declared{llvm::ArrayRef<int64_t>(shape)};
    if (open_axis >= 0) declared.set(open_axis, ir::Dim());
    value_ = ReadState(n, Zeros(n, stored_type_, shape), id_, stored_type_, declared);
  }

  // Returns the value that the run before stored.
  OutputPort Read() { return Converted(n_, value_, stored_type_, type_, "read"); }
  void Store(OutputPort value) { StoreState(n_, Converted(n_, value, type_, stored_type_, "narrow"), id_); }

 private:
  NodeLowering& n_;
  std::string id_;
  ElementType type_;
  ElementType stored_type_ = ElementType::kDynamic;
  OutputPort value_;
};

// Reports a node in a body, whose state would pass from iteration to iteration.
bool CheckOutsideBodies(NodeLowering& n) {
  if (n.state().depth == 0) return true;
  n.Error(kStateInBody, "`{}` is in the body of a loop or branch, where it cannot keep a state",
          n.node().type());
  return false;
}

// Returns the extents of input 0, with `extent` along `axis` unless that is -1. Reports an unknown extent, or
// a node in a body.
std::optional<nnefc::Shape> StateShape(NodeLowering& n, int64_t axis, int64_t extent) {
  if (!CheckOutsideBodies(n)) return std::nullopt;
  nnefc::Shape shape;
  for (int64_t i = 0; i < n.input_rank(0); ++i) {
    const ir::Dim dim = i == axis ? ir::Dim(extent) : n.input_shape(0)[i];
    if (!dim.known()) {
      n.UnknownExtent(fmt::format("`input` of `{}`", n.node().type()), i);
      return std::nullopt;
    }
    shape.push_back(dim.value());
  }
  return shape;
}

OutputPort Join(NodeLowering& n, OutputPort state, int64_t axis) {
  return n.Add("opset1", "Concat", {state, n.input(0)}, Attributes({{"axis", axis}}));
}

// Returns the last `count` elements along an axis, or all if there are fewer.
OutputPort LastPart(NodeLowering& n, OutputPort tensor, int64_t axis, int64_t count) {
  constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
  return n.Add("opset8", "Slice",
               {tensor, n.ConstInts({-count}, "begin"), n.ConstInts({kEnd}, "end"), n.ConstInts({1}, "step"),
                n.ConstInts({axis}, "axis")});
}

void LowerHistory(NodeLowering& n) {
  const int64_t axis = n.Int("axis"), length = n.Int("length");
  const std::optional<nnefc::Shape> shape = StateShape(n, axis, length);
  if (!shape) return;
  NodeState state(n, *shape);
  const OutputPort joined = Join(n, state.Read(), axis);
  state.Store(LastPart(n, joined, axis, length));
  n.SetOutput(joined);
}

void LowerLatch(NodeLowering& n) {
  const std::optional<nnefc::Shape> shape = StateShape(n, -1, 0);
  if (!shape) return;
  NodeState state(n, *shape);
  const OutputPort latched =
      n.Add("opset1", "Select", {n.Align(n.input(1), n.input_rank(0)), n.input(0), state.Read()});
  state.Store(latched);
  n.SetOutput(latched);
}

void LowerTotal(NodeLowering& n) {
  const std::optional<nnefc::Shape> shape = StateShape(n, -1, 0);
  if (!shape) return;
  NodeState state(n, *shape);
  const OutputPort total = state.Read();
  state.Store(n.Binary("Add", total, n.input(0)));
  n.SetOutput(total);
}

void LowerJoined(NodeLowering& n) {
  const int64_t axis = n.Int("axis"), window = n.Int("window");
  const std::optional<nnefc::Shape> shape = StateShape(n, axis, 0);
  if (!shape) return;
  NodeState state(n, *shape, axis);
  const OutputPort joined = Join(n, state.Read(), axis);
  const OutputPort kept = window == 0 ? joined : LastPart(n, joined, axis, window);
  state.Store(kept);
  n.SetOutput(kept);
}

void LowerResume(NodeLowering& n) {
  if (!CheckOutsideBodies(n)) return;
  const ElementType type = n.source_input(0).type, stored = StoredType(n, type);
  const OutputPort initial = Converted(n, n.input(0), type, stored, "initial");
  const OutputPort value = ReadState(n, initial, StateId(n, n.String("name")), stored, n.input_shape(0));
  n.SetOutput(Converted(n, value, stored, type, "read"));
}

void LowerKeep(NodeLowering& n) {
  if (!CheckOutsideBodies(n)) return;
  const ElementType type = n.source_input(0).type;
  StoreState(n, Converted(n, n.input(0), type, StoredType(n, type), "narrow"), StateId(n, n.String("name")));
  n.SetOutput(n.input(0));
}

}  // namespace

void RegisterTractStates(LoweringTable& table) {
  table["tract_pulse_history"] = LowerHistory;
  table["tract_pulse_keep"] = LowerKeep;
  table["tract_pulse_latch"] = LowerLatch;
  table["tract_pulse_resume"] = LowerResume;
  table["tract_pulse_total"] = LowerTotal;
  table["tract_transformers_joined"] = LowerJoined;
}

}  // namespace nnefc::lower
