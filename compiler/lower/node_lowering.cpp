// The functions that lowerings of single nodes use: operands, new nodes, results.

#include "compiler/lower/node_lowering.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/wording.h"

#include <algorithm>

#include "llvm/ADT/StringRef.h"

namespace nnefc::lower {

ir::AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> entries) {
  ir::AttributeMap map;
  for (const auto& [name, value] : entries) map.Set(name, value);
  return map;
}

LowerState::LowerState(const ir::Graph& source_graph, const LowerOptions& lower_options, Context& run_context)
    : source(source_graph),
      options(lower_options),
      context(run_context),
      target(&source_graph.registry(), source_graph.name()),
      ports(source_graph.node_bound()),
      non_negative(source_graph.node_bound(), false) {}

NodeLowering::NodeLowering(LowerState& state, ir::NodeId node)
    : SourceNode(state.source, node),
      state_(state),
      first_new_(static_cast<int32_t>(state.target.node_bound())) {
  auto& ports = state_.ports[static_cast<size_t>(node.index)];
  if (ports.empty()) ports.resize(static_cast<size_t>(node_.num_outputs()));
}

// ---- the NNEF node ----

ElementType SourceNode::DataType() const {
  const std::string dtype = String("dtype");
  if (dtype == "integer") return ElementType::kI64;
  return dtype == "logical" ? ElementType::kBoolean : ElementType::kF32;
}

OutputPort NodeLowering::input(int32_t index) const {
  for (const auto& [replaced, port] : replaced_) {
    if (replaced == index) return port;
  }
  return LoweredPort(node_.input(index));
}

OutputPort NodeLowering::LoweredPort(OutputPort source) const {
  return state_.ports[static_cast<size_t>(source.node.index)][static_cast<size_t>(source.index)];
}

const QuantizedType* NodeLowering::FindQuantized(OutputPort source) const {
  const auto found = state_.quantized.find({source.node.index, source.index});
  return found == state_.quantized.end() ? nullptr : &found->second;
}

bool NodeLowering::IsNonNegative(int32_t index) const {
  return state_.non_negative[static_cast<size_t>(node_.input(index).node.index)];
}

// ---- building ----

std::string NodeLowering::HelperName(std::string_view suffix) const {
  return fmt::format("{}/{}", node_.name(), llvm::StringRef(suffix).lower());
}

ir::NodeId NodeLowering::AddNode(std::string_view set, std::string_view type,
                                 llvm::ArrayRef<OutputPort> inputs, ir::AttributeMap attributes,
                                 int32_t num_outputs, std::string_view suffix) {
  if (!state_.target.registry().Find(set, type).valid())
    throw std::runtime_error(fmt::format("there is no operation `{}.{}`", set, type));
  const ir::InferredNode added = ir::AddInferred(state_.target, set, type,
                                                 {.name = HelperName(suffix.empty() ? type : suffix),
                                                  .inputs = inputs,
                                                  .attributes = std::move(attributes),
                                                  .num_outputs = num_outputs,
                                                  .origin = node_.origin()},
                                                 state_.context.emitter);
  if (!added.inferred) state_.failed = true;
  return added.id;
}

OutputPort NodeLowering::Add(std::string_view set, std::string_view type, llvm::ArrayRef<OutputPort> inputs,
                             ir::AttributeMap attributes, std::string_view suffix) {
  return {AddNode(set, type, inputs, std::move(attributes), 1, suffix), 0};
}

OutputPort NodeLowering::Constant(TensorValue value, std::string_view suffix) {
  return {ir::AddConst(state_.target, std::move(value), HelperName(suffix), node_.origin()), 0};
}

OutputPort NodeLowering::ConstInts(llvm::ArrayRef<int64_t> values, std::string_view suffix) {
  return Constant(TensorValue::FromInts({static_cast<int64_t>(values.size())}, values), suffix);
}

OutputPort NodeLowering::ConstInt(int64_t value, std::string_view suffix) {
  return Constant(TensorValue::FromInts({}, value), suffix);
}

OutputPort NodeLowering::ConstFloat(double value, std::string_view suffix) {
  return Constant(TensorValue::Scalar(static_cast<float>(value)), suffix);
}

OutputPort NodeLowering::ConstWithoutValue(ElementType type, PartialShape shape, std::string_view suffix) {
  return Add("opset1", "Const", {}, Attributes({{"element_type", type}, {"shape", std::move(shape)}}),
             suffix);
}

OutputPort NodeLowering::Unary(std::string_view type, OutputPort x, std::string_view suffix) {
  return Add("opset1", type, x, {}, suffix);
}

OutputPort NodeLowering::Binary(std::string_view type, OutputPort x, OutputPort y, std::string_view suffix) {
  const PartialShape& a = target().output(x).shape;
  const PartialShape& b = target().output(y).shape;
  if (a.rank_known() && b.rank_known()) {
    const int64_t rank = std::max(a.rank(), b.rank());
    x = Align(x, rank);
    y = Align(y, rank);
  }
  return Add("opset1", type, {x, y}, Attributes({{"auto_broadcast", "numpy"}}), suffix);
}

OutputPort NodeLowering::Reshape(OutputPort x, llvm::ArrayRef<int64_t> extents, std::string_view suffix) {
  const std::string_view name = suffix.empty() ? "reshape" : suffix;
  return Add("opset1", "Reshape", {x, ConstInts(extents, fmt::format("{}_shape", name))},
             Attributes({{"special_zero", true}}), name);
}

const TensorValue* NodeLowering::Value(OutputPort port) const {
  const ir::Node& producer = target().node(port.node);
  if (!producer.Is(ir::OpRole::kConst) || !producer.output().value) return nullptr;
  return &*producer.output().value;
}

std::optional<double> NodeLowering::ScalarValue(OutputPort port) const {
  const TensorValue* value = Value(port);
  if (value == nullptr || value->volume() != 1) return std::nullopt;
  return value->ElementAsDouble(0);
}

PartialShape NodeLowering::Shape(OutputPort port, int64_t rank) const {
  const PartialShape& shape = target().output(port).shape;
  return shape.rank_known() && shape.rank() == rank ? shape : PartialShape::OfRank(rank);
}

OutputPort NodeLowering::WithShape(OutputPort port, llvm::ArrayRef<int64_t> extents,
                                   std::string_view suffix) {
  const ir::Output& output = target().output(port);
  const nnefc::Shape shape(extents.begin(), extents.end());
  const std::optional<int64_t> volume = Volume(shape);
  if (const TensorValue* value = Value(port); value != nullptr && volume == value->volume()) {
    return Constant(value->Reshaped(shape), suffix);
  }
  if (target().node(port.node).Is(ir::OpRole::kConst) && volume && volume == output.shape.volume()) {
    return ConstWithoutValue(output.type, PartialShape(extents), suffix);
  }
  return Add("opset1", "Reshape", {port, ConstInts(extents, fmt::format("{}_shape", suffix))},
             Attributes({{"special_zero", false}}), suffix);
}

OutputPort NodeLowering::Align(OutputPort port, int64_t rank) {
  const PartialShape shape = target().output(port).shape;
  if (!shape.rank_known() || shape.rank() == 0 || shape.rank() >= rank) return port;
  if (target().node(port.node).Is(ir::OpRole::kConst) && shape.known()) {
    nnefc::Shape extents = shape.known_extents();
    extents.resize(static_cast<size_t>(rank), 1);
    return WithShape(port, extents, "aligned");
  }
  std::vector<int64_t> axes;
  for (int64_t axis = shape.rank(); axis < rank; ++axis) axes.push_back(axis);
  return Add("opset1", "Unsqueeze", {port, ConstInts(axes, "aligned_axes")}, {}, "aligned");
}

// ---- results ----

void NodeLowering::SetOutput(int32_t index, OutputPort port) {
  if (captured_ != nullptr) {
    (*captured_)[static_cast<size_t>(index)] = port;
    return;
  }
  OutputPort& slot = state_.ports[static_cast<size_t>(node_.id().index)][static_cast<size_t>(index)];
  NNEFC_CHECK(!slot.valid());
  slot = port;
  const ir::Output& output = node_.output(index);
  std::vector<std::string> names = target().output(port).names;
  const bool first = names.empty() && port.node.index >= first_new_;
  for (const std::string& name : output.names) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  state_.target.SetOutputNames(port, names);
  if (first && port.index == 0) {
    state_.target.SetName(port.node, output.names.empty() ? node_.name() : output.names.front());
  }
  CheckShape(index, port);
}

std::vector<OutputPort> NodeLowering::Capture(LowerFunction lower) {
  std::vector<OutputPort> captured(static_cast<size_t>(node_.num_outputs()));
  captured_ = &captured;
  lower(*this);
  captured_ = nullptr;
  return captured;
}

void NodeLowering::SetQuantized(int32_t index, QuantizedType type) {
  state_.quantized[{node_.id().index, index}] = std::move(type);
}

// Checks that the shapes of target and source are compatible, and sets extents that only the source knows.
void NodeLowering::CheckShape(int32_t index, OutputPort port) {
  if (state_.failed) return;
  const ir::Output& expected = node_.output(index);
  const ir::Output& actual = target().output(port);
  const bool same_rank = !actual.shape.rank_known() || actual.shape.rank() == expected.shape.rank();
  bool compatible = same_rank && (actual.type == expected.type || actual.type == ElementType::kDynamic);
  for (int64_t i = 0; compatible && actual.shape.rank_known() && i < actual.shape.rank(); ++i) {
    compatible = actual.shape[i].Compatible(expected.shape[i]);
  }
  if (!compatible) {
    Error(kShapeChanged, "`{}` has the type {}{} but was lowered to {}{}", node_.name(), Name(expected.type),
          ir::ToString(expected.shape), Name(actual.type), ir::ToString(actual.shape));
  } else if (!actual.shape.known() && expected.shape.known()) {
    state_.target.SetOutputType(port, expected.type, expected.shape);
  }
}

ir::NodeId NodeLowering::Keep() {
  std::vector<OutputPort> inputs;
  inputs.reserve(static_cast<size_t>(num_inputs()));
  for (int32_t i = 0; i < num_inputs(); ++i) inputs.push_back(input(i));
  const ir::NodeId id = ir::CopyNode(state_.target, node_, inputs, ir::Bodies::kLeave);
  for (int32_t i = 0; i < node_.num_outputs(); ++i) SetOutput(i, {id, i});
  if (node_.set() != ir::kNnefSet) state_.target.SetName(id, node_.name());
  return id;
}

void NodeLowering::Finish() {
  for (int32_t i = 0; i < node_.num_outputs(); ++i) {
    OutputPort& slot = state_.ports[static_cast<size_t>(node_.id().index)][static_cast<size_t>(i)];
    if (slot.valid()) continue;
    NNEFC_CHECK(state_.failed);
    slot = ConstWithoutValue(node_.output(i).type, node_.output(i).shape, "unknown");
  }
}

void NodeLowering::Report(const Rule& rule, std::string message) {
  state_.context.emitter.Emit(rule, node_.origin().range, "{}", message)
      .Notes(ir::StackNotes(node_.origin().frame));
  if (rule.severity == Severity::kError) state_.failed = true;
}

void NodeLowering::UnknownExtent(std::string_view what, int64_t axis) {
  Error(kUnknownExtent, "lowering `{}` needs the extent of {} along axis {}, which is unknown{}",
        ir::OperationName(node_), what, axis,
        ir::IsProvisional(node_) ? "; `--input-shape` gives what externals leave open" : "");
}

}  // namespace nnefc::lower
