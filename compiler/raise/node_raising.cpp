// The functions that raise single nodes to NNEF: operands, new nodes, results.

#include "compiler/raise/node_raising.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "compiler/ir/ops/control_flow.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::raise {

namespace {

// Constants of up to this number of elements, and those of one repeated value, are written in the document.
constexpr int64_t kMaxListed = 8;
// The same for lists of integers in a document with operations of NNEFC_opset.
constexpr int64_t kMaxListedShape = 256;

// Returns the number with the fewest decimal digits that is the same f32.
double Shortened(double value) {
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow)) return value;
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, narrow);
  double shortest = value;
  if (error == std::errc()) std::from_chars(text, end, shortest);
  return static_cast<float>(shortest) == narrow ? shortest : value;
}

bool IsFinite(const TensorValue& value) {
  if (!IsFloat(value.type())) return true;
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (!std::isfinite(value.ElementAsDouble(i))) return false;
  }
  return true;
}

bool IsRepeated(const TensorValue& value) {
  const auto width = static_cast<size_t>(BitWidth(value.type())) / 8;
  const std::byte* bytes = value.bytes();
  if (width == 0 || value.volume() == 0) return false;
  return std::equal(bytes + width, bytes + value.byte_size(), bytes);
}

// Returns the elements [0, count) as the attribute `value` of a `constant`.
Attribute ListOf(const TensorValue& value, int64_t count) {
  if (value.type() == ElementType::kBoolean) {
    Attribute::Logicals items;
    for (int64_t i = 0; i < count; ++i) items.push_back(value.ElementAsInt(i) != 0);
    return items;
  }
  if (IsInteger(value.type())) {
    Attribute::Integers items;
    for (int64_t i = 0; i < count; ++i) items.push_back(value.ElementAsInt(i));
    return items;
  }
  Attribute::Scalars items;
  for (int64_t i = 0; i < count; ++i) items.push_back(Shortened(value.ElementAsDouble(i)));
  return items;
}

// Infers an operation on scalars whose inputs are integers, as tract permits. Returns false if no input is
// one or the operation is invalid.
bool InferOnIntegers(ir::Graph& graph, ir::NodeId id) {
  std::vector<ir::Output> inputs;
  bool has_integers = false;
  for (OutputPort port : graph.node(id).inputs()) {
    const ir::Output& input = graph.output(port);
    has_integers = has_integers || input.type == ElementType::kI64;
    inputs.push_back(
        {.type = input.type == ElementType::kI64 ? ElementType::kF32 : input.type, .shape = input.shape});
  }
  if (!has_integers) return false;
  std::vector<const ir::Output*> pointers;
  pointers.reserve(inputs.size());
  for (const ir::Output& input : inputs) pointers.push_back(&input);
  Emitter quiet;
  const auto outputs = ir::InferApart(graph.node(id), pointers, quiet);
  for (size_t i = 0; outputs && i < outputs->size(); ++i) {
    const ir::Output& output = (*outputs)[i];
    graph.SetOutputType({id, static_cast<int32_t>(i)},
                        output.type == ElementType::kF32 ? ElementType::kI64 : output.type, output.shape);
  }
  return outputs.has_value();
}

// Returns a value of NNEF's type for elements of this type.
TensorValue InNnefType(const TensorValue& value) {
  return IsInteger(value.type()) && value.type() != ElementType::kI64 ? value.ConvertedTo(ElementType::kI64)
                                                                      : value;
}

}  // namespace

ir::AttributeMap Attributes(std::initializer_list<std::pair<std::string_view, Attribute>> entries) {
  ir::AttributeMap map;
  for (const auto& [name, value] : entries) map.Set(name, value);
  return map;
}

std::string_view DataTypeName(ElementType type) {
  if (type == ElementType::kF32) return "scalar";
  if (type == ElementType::kBoolean) return "logical";
  return IsInteger(type) && BitWidth(type) >= 8 && type != ElementType::kU64 ? "integer" : "";
}

ElementType NnefTypeOf(ElementType type) {
  if (IsFloat(type)) return ElementType::kF32;
  return IsInteger(type) ? ElementType::kI64 : type;
}

RaiseState::RaiseState(const ir::Graph& source_graph, llvm::ArrayRef<ir::NodeId> order,
                       const RaiseOptions& raise_options, Context& run_context, std::string_view name,
                       NodeRaising* outer_raising)
    : source(source_graph),
      options(raise_options),
      context(run_context),
      constants(source_graph, order, raise_options),
      target(&source_graph.registry(), Identifier(std::string(name))),
      ports(source_graph.node_bound()),
      outer(outer_raising) {}

// ---- the OpenVINO node ----

const TensorValue* NodeRaising::Value(int32_t index) const {
  return index < node_.num_inputs() ? state_.constants.Find(node_.input(index)) : nullptr;
}

std::optional<double> NodeRaising::ScalarValue(int32_t index) const {
  const TensorValue* value = Value(index);
  if (value == nullptr || value->volume() != 1) return std::nullopt;
  return value->ElementAsDouble(0);
}

Integers NodeRaising::ConstIntegers(int32_t index, std::string_view what) {
  const TensorValue* value = Value(index);
  if (value == nullptr) Decline("its `{}` depend on data", what);
  Integers items;
  for (int64_t i = 0; i < value->volume(); ++i) items.push_back(value->ElementAsInt(i));
  return items;
}

Integers NodeRaising::ConstAxes(int32_t index, int64_t rank, std::string_view what) {
  Integers axes = ConstIntegers(index, what);
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

std::optional<OutputPort> NodeRaising::AbsorbedBias() {
  const auto found = state_.absorbed.find(node_.id().index);
  if (found == state_.absorbed.end()) return std::nullopt;
  const AbsorbedNode& absorbed = found->second;
  return Constant(absorbed.bias.Reshaped({1, absorbed.bias.volume()}), "bias", absorbed.bias_name,
                  absorbed.is_from_half);
}

llvm::ArrayRef<double> NodeRaising::AbsorbedScales() const {
  const auto found = state_.absorbed.find(node_.id().index);
  return found == state_.absorbed.end() ? llvm::ArrayRef<double>()
                                        : llvm::ArrayRef<double>(found->second.scales);
}

void NodeRaising::RequireScalars(int32_t index) {
  if (input_type(index) != ElementType::kF32)
    Decline("its input {} has the type {}, and NNEF computes with scalars only", index,
            Name(input_type(index)));
}

// ---- operands ----

OutputPort NodeRaising::input(int32_t index) {
  if (const TensorValue* value = Value(index)) return ConstantInput(index, *value);
  const OutputPort source = node_.input(index);
  const OutputPort port =
      state_.ports[static_cast<size_t>(source.node.index)][static_cast<size_t>(source.index)];
  return Converted(port, NnefTypeOf(target().output(port).type));
}

OutputPort NodeRaising::ExactInput(int32_t index) {
  if (const TensorValue* value = Value(index)) return ExactConstant(index, *value);
  const OutputPort source = node_.input(index);
  return Converted(state_.ports[static_cast<size_t>(source.node.index)][static_cast<size_t>(source.index)],
                   input_type(index));
}

namespace {

// Returns f32 tensors whose sum in f64 is an f64 tensor; none if an element is out of their range.
std::vector<TensorValue> PartsOf(const TensorValue& value) {
  constexpr size_t kParts = 3;  // of 24 bits each, for 53 bits
  std::array<std::vector<float>, kParts> parts;
  for (int64_t i = 0; i < value.volume(); ++i) {
    const double element = value.ElementAsDouble(i);
    double rest = element, sum = -0.0;
    for (std::vector<float>& part : parts) {
      // A negative zero remains one if nothing but negative zeros is added.
      const auto own = static_cast<float>(std::isfinite(sum) ? rest : -0.0);
      part.push_back(own);
      sum += static_cast<double>(own);
      rest = rest == static_cast<double>(own) ? -0.0 : rest - static_cast<double>(own);
    }
    const bool is_same = sum == element || (std::isnan(sum) && std::isnan(element));
    if (!is_same) return {};
  }
  std::vector<TensorValue> tensors;
  for (const std::vector<float>& part : parts) {
    const bool is_zero = llvm::all_of(part, [](float each) { return each == 0 && std::signbit(each); });
    if (!is_zero) tensors.push_back(TensorValue::FromFloats(value.shape(), part));
  }
  return tensors;
}

}  // namespace

OutputPort NodeRaising::ExactConstant(int32_t index, const TensorValue& value) {
  if (value.volume() == 0) {
    const std::vector<int64_t> extents(value.shape().begin(), value.shape().end());
    return {AddNode({"opset1", "Const"}, {},
                    Attributes({{"element_type", value.type()},
                                {"shape", ir::PartialShape(llvm::ArrayRef<int64_t>(extents))}}),
                    1),
            0};
  }
  if (!DataTypeName(value.type()).empty()) return Converted(ConstantInput(index, value), value.type());
  const Integers shape(value.shape().begin(), value.shape().end());
  OutputPort& shared = state_.shared[{value.bytes(), value.type(), shape}];
  if (shared.valid()) return shared;
  const ElementType type = NnefTypeOf(value.type());
  const TensorValue stored = value.ConvertedTo(type);
  const bool is_exact = stored.ConvertedTo(value.type()) == value;
  const std::vector<TensorValue> parts =
      is_exact || value.type() != ElementType::kF64 ? std::vector<TensorValue>() : PartsOf(value);
  for (const TensorValue& part : parts) {
    const OutputPort next = Converted(ConstantInput(index, part), ElementType::kF64);
    state_.kept.push_back(part);
    shared = shared.valid() ? OutputPort{AddNode({"opset1", "Add"}, {shared, next}, {}, 1), 0} : next;
  }
  if (!parts.empty()) {
    state_.kept.push_back(value);
    return shared;
  }
  if (!is_exact)
    Decline("its input {} is a constant of the type {}, and not all of its elements are {}{}s", index,
            Name(value.type()), value.type() == ElementType::kF64 ? "sums of " : "", DataTypeName(type));
  state_.kept.push_back(value);
  shared = Converted(ConstantInput(index, stored, value.type() == ElementType::kF16), value.type());
  return shared;
}

OutputPort NodeRaising::Converted(OutputPort port, ElementType type) {
  if (target().output(port).type == type) return port;
  OutputPort& converted = state_.converted[{port.node.index, port.index, type}];
  if (!converted.valid()) {
    converted = {AddNode({"opset1", "Convert"}, port, Attributes({{"destination_type", type}}), 1,
                         fmt::format("as_{}", Name(type))),
                 0};
    state_.hints[static_cast<size_t>(converted.node.index)] =
        fmt::format("{}_as_{}", state_.hints[static_cast<size_t>(port.node.index)], Name(type));
  }
  return converted;
}

OutputPort NodeRaising::ConstantInput(int32_t index, const TensorValue& value, bool from_half) {
  const OutputPort port = node_.input(index);
  const auto& inputs = node_.info().inputs;
  const std::string role =
      static_cast<size_t>(index) < inputs.size() && !inputs[static_cast<size_t>(index)].variadic
          ? inputs[static_cast<size_t>(index)].name
          : fmt::format("value_{}", index);
  return Constant(value, role, state_.source.node(port.node).name(),
                  from_half || state_.constants.IsFromHalf(port));
}

bool NodeRaising::IsFullOperand(int32_t index, int64_t rank) const {
  return (Value(index) == nullptr && (input_rank(index) > 0 || rank == 0)) ||
         (Value(index) != nullptr && !IsFinite(*Value(index)));
}

OutputPort NodeRaising::Aligned(int32_t index, int64_t rank, bool may_shrink) {
  if (const TensorValue* value = Value(index)) {
    const bool is_literal =
        may_shrink && value->volume() == 1 && !IsInteger(value->type()) && IsFinite(*value);
    if (is_literal) {
      return value->type() == ElementType::kBoolean ? Literal(value->ElementAsInt(0) != 0)
                                                    : Literal(value->ElementAsDouble(0));
    }
    nnefc::Shape shape = value->shape();
    while (static_cast<int64_t>(shape.size()) > rank && shape.front() == 1) shape.erase(shape.begin());
    if (static_cast<int64_t>(shape.size()) > rank)
      Decline("its operand {} has a higher rank than its result", index);
    shape.insert(shape.begin(), static_cast<size_t>(rank) - shape.size(), 1);
    while (may_shrink && IsFinite(*value) && shape.size() > 1 && shape.back() == 1) shape.pop_back();
    return ConstantInput(index, value->Reshaped(shape));
  }
  const int64_t missing = rank - input_rank(index);
  if (missing < 0) Decline("its operand {} has a higher rank than its result", index);
  if (missing == 0 || (input_rank(index) == 0 && may_shrink)) return input(index);
  Integers axes;
  for (int64_t i = 0; i < missing; ++i) axes.push_back(i);
  return Unsqueeze(input(index), axes, fmt::format("aligned_{}", index));
}

std::pair<OutputPort, OutputPort> NodeRaising::AlignedPair(int32_t first, int32_t second, int64_t rank) {
  const OutputPort x = Aligned(first, rank, IsFullOperand(second, rank));
  return {x, Aligned(second, rank, IsFullOperand(first, rank))};
}

OutputPort NodeRaising::WithShape(int32_t index, llvm::ArrayRef<int64_t> shape) {
  if (const TensorValue* value = Value(index))
    return ConstantInput(index, value->Reshaped(nnefc::Shape(shape.begin(), shape.end())));
  if (llvm::ArrayRef<int64_t>(input_shape(index)) == shape) return input(index);
  return Reshape(input(index), shape, fmt::format("shaped_{}", index));
}

OutputPort NodeRaising::AddConstant(const TensorValue& value) {
  const int64_t count = IsRepeated(value) ? 1 : value.volume();
  return Add("constant", {},
             Attributes({{"shape", Attribute::Integers(value.shape().begin(), value.shape().end())},
                         {"value", ListOf(value, count)},
                         {"dtype", DataTypeName(value.type())}}));
}

OutputPort NodeRaising::Constant(const TensorValue& given, std::string_view role, std::string_view name,
                                 bool from_half) {
  if (DataTypeName(given.type()).empty())
    Decline("its constant `{}` has the type {}", role, Name(given.type()));
  if (llvm::is_contained(given.shape(), 0)) Decline("its constant `{}` has no elements", role);
  const Integers shape(given.shape().begin(), given.shape().end());
  OutputPort& shared = state_.shared[{given.bytes(), given.type(), shape}];
  if (shared.valid()) return shared;
  state_.kept.push_back(given);
  const TensorValue value = InNnefType(given);
  std::string hint = IsNumberedName(name) ? fmt::format("{}/{}", BaseName(), role) : std::string(name);
  // OpenVINO's operations need the values of axes and shapes to infer their results.
  const bool is_shape =
      state_.options.target == Target::kNnefc && IsInteger(value.type()) && value.rank() <= 1;
  const int64_t max_listed = is_shape ? kMaxListedShape : kMaxListed;
  // tract reads literals, and has no `constant`.
  const bool may_list = !IsForTract(*this) || (value.rank() == 0 && !IsInteger(value.type()));
  if (may_list && IsFinite(value) && (value.volume() <= max_listed || IsRepeated(value))) {
    shared = AddConstant(value);
  } else if (state_.outer != nullptr) {
    shared = Captured(given, role, hint, from_half);
  } else {
    const std::string label = state_.labels.Take(Label(hint));
    shared = Add("variable", {},
                 Attributes({{"shape", shape}, {"label", label}, {"dtype", DataTypeName(value.type())}}));
    hint = label;
    TensorValue stored = value;
    // tract does not convert operands to one type.
    if (from_half && !IsForTract(*this) && value.type() == ElementType::kF32) {
      TensorValue half = value.ConvertedTo(ElementType::kF16);
      if (half.ConvertedTo(ElementType::kF32) == value) stored = std::move(half);
    }
    state_.data.emplace(label, std::move(stored));
  }
  state_.hints[static_cast<size_t>(shared.node.index)] = hint;
  return shared;
}

// A body has no variables of its own: a parameter has the value.
OutputPort NodeRaising::Captured(const TensorValue& value, std::string_view role, std::string_view name,
                                 bool from_half) {
  const OutputPort outer = state_.outer->Constant(value, role, name, from_half);
  const ir::Output& output = state_.outer->target().output(outer);
  const ir::NodeId id = ir::AddParameter(state_.target, std::string(name), output.type, output.shape);
  state_.hints.resize(state_.target.node_bound());
  state_.wanted[{id.index, 0}] = name;
  state_.captured.push_back(outer);
  return {id, 0};
}

OutputPort NodeRaising::Floats(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape,
                               std::string_view role) {
  const std::vector<float> floats(values.begin(), values.end());
  return Constant(TensorValue::FromFloats(nnefc::Shape(shape.begin(), shape.end()), floats), role);
}

OutputPort NodeRaising::Literal(double value) {
  const OutputPort port = Add("constant", {},
                              Attributes({{"shape", Attribute::Integers{}},
                                          {"value", Attribute::Scalars{Shortened(value)}},
                                          {"dtype", "scalar"}}));
  state_.hints[static_cast<size_t>(port.node.index)].clear();
  return port;
}

OutputPort NodeRaising::Literal(bool value) {
  const OutputPort port = Add(
      "constant", {},
      Attributes(
          {{"shape", Attribute::Integers{}}, {"value", Attribute::Logicals{value}}, {"dtype", "logical"}}));
  state_.hints[static_cast<size_t>(port.node.index)].clear();
  return port;
}

// ---- building ----

std::string NodeRaising::BaseName() const {
  const auto found = state_.absorbed.find(node_.id().index);
  const ir::Node& named = found == state_.absorbed.end() ? node_ : state_.source.node(found->second.node);
  const auto& names = named.num_outputs() > 0 ? named.output().names : std::vector<std::string>();
  const bool use_tensor_name = !names.empty() && !IsNumberedName(names.front());
  return use_tensor_name ? names.front() : named.name();
}

ir::NodeId NodeRaising::AddNode(OperationName operation, llvm::ArrayRef<OutputPort> inputs,
                                ir::AttributeMap attributes, int32_t num_outputs, std::string_view suffix,
                                llvm::ArrayRef<int32_t> segments, std::vector<NamedBody> bodies) {
  // All attributes are present after expansion, too.
  const ir::OpRegistry& registry = state_.target.registry();
  for (const ir::AttributeInfo& each :
       registry.Info(registry.Find(operation.set, operation.name)).attributes) {
    const Attribute* given = attributes.Find(each.name);
    if (given == nullptr && each.fallback && operation.set == ir::kNnefSet)
      attributes.Set(each.name, *each.fallback);
    const double* number = given == nullptr ? nullptr : given->get<double>();
    if (number != nullptr) attributes.Set(each.name, Shortened(*number));
  }
  Emitter quiet;
  const ir::NodeId added = ir::AddNode(state_.target, operation.set, operation.name,
                                       {.inputs = inputs,
                                        .segments = segments,
                                        .attributes = std::move(attributes),
                                        .num_outputs = num_outputs,
                                        .origin = node_.origin()});
  for (NamedBody& body : bodies) {
    state_.target.AddBody(added,
                          ir::ops::MakeBody(state_.target.node(added), body.first, std::move(body.second)));
  }
  const bool is_inferred = ir::InferNode(state_.target, added, quiet) ||
                           (IsForTract(*this) && InferOnIntegers(state_.target, added));
  state_.hints.resize(state_.target.node_bound());
  state_.hints[static_cast<size_t>(added.index)] =
      fmt::format("{}_{}", BaseName(), suffix.empty() ? operation.name : suffix);
  if (!is_inferred) {
    Decline("{}", quiet.diagnostics().empty() ? "its form is invalid" : quiet.diagnostics().front().message);
  }
  return added;
}

OutputPort NodeRaising::Add(std::string_view operation, llvm::ArrayRef<OutputPort> inputs,
                            ir::AttributeMap attributes, std::string_view suffix) {
  return {AddNode({ir::kNnefSet, operation}, inputs, std::move(attributes), 1, suffix), 0};
}

nnefc::Shape NodeRaising::Shape(OutputPort port) const {
  return state_.target.output(port).shape.known_extents();
}

OutputPort NodeRaising::Reshape(OutputPort port, llvm::ArrayRef<int64_t> shape, std::string_view suffix) {
  const nnefc::Shape from = Shape(port);
  if (llvm::ArrayRef<int64_t>(from) == shape) return port;
  if (llvm::is_contained(shape, 0)) Decline("its result has no elements");
  // Leading extents that do not change are copied, and a single one that is left is computed, so that the
  // document does not depend on the batch size.
  Integers items(shape.begin(), shape.end());
  size_t copied = 0;
  while (copied < items.size() && copied < from.size() && items[copied] == from[copied]) items[copied++] = 0;
  if (copied + 1 == items.size()) items.back() = -1;
  return Add("reshape", {port},
             Attributes({{"shape", items}, {"dtype", DataTypeName(target().output(port).type)}}), suffix);
}

OutputPort NodeRaising::Transpose(OutputPort port, const Integers& order, std::string_view suffix) {
  if (std::is_sorted(order.begin(), order.end())) return port;
  return Add("transpose", {port},
             Attributes({{"axes", order}, {"dtype", DataTypeName(target().output(port).type)}}), suffix);
}

OutputPort NodeRaising::Squeeze(OutputPort port, const Integers& axes, std::string_view suffix) {
  if (axes.empty()) return port;
  return Add("squeeze", {port},
             Attributes({{"axes", axes}, {"dtype", DataTypeName(target().output(port).type)}}), suffix);
}

OutputPort NodeRaising::Unsqueeze(OutputPort port, const Integers& axes, std::string_view suffix) {
  if (axes.empty()) return port;
  return Add("unsqueeze", {port},
             Attributes({{"axes", axes}, {"dtype", DataTypeName(target().output(port).type)}}), suffix);
}

OutputPort NodeRaising::Cast(OutputPort port, ElementType type, std::string_view suffix) {
  const std::string_view wanted = DataTypeName(type);
  if (DataTypeName(target().output(port).type) == wanted) return port;
  return Add("cast", {port}, Attributes({{"dtype", wanted}}), suffix);
}

// ---- results ----

namespace {

// True if the output has the type and, as far as the target permits open extents, the shape of the source.
bool IsSameOutput(const ir::Output& actual, const ir::Output& wanted, Target target) {
  if (NnefTypeOf(actual.type) != NnefTypeOf(wanted.type)) return false;
  if (actual.shape == wanted.shape) return true;
  if (target != Target::kNnefc) return false;
  if (!actual.shape.rank_known() || !wanted.shape.rank_known()) return true;
  return actual.shape.rank() == wanted.shape.rank() &&
         llvm::all_of(llvm::zip(actual.shape.dims(), wanted.shape.dims()),
                      [](const auto& each) { return std::get<0>(each).Compatible(std::get<1>(each)); });
}

}  // namespace

void NodeRaising::SetOutput(int32_t index, OutputPort port) {
  if (index >= node_.num_outputs()) return;
  const auto absorbed = state_.absorbed.find(node_.id().index);
  const ir::Node& computed =
      absorbed == state_.absorbed.end() ? node_ : state_.source.node(absorbed->second.node);
  const ir::Output& wanted = computed.output(index);
  const ir::Output& actual = state_.target.output(port);
  if (!IsSameOutput(actual, wanted, state_.options.target)) {
    state_.context.emitter.Emit(
        kShapeChanged, node_.origin().range,
        "a fault of nnefc, not of the model: `{}` of the layer `{}` has the shape {}, and "
        "its form in NNEF has {}",
        node_.type(), node_.name(), ir::ToString(wanted.shape), ir::ToString(actual.shape));
    state_.failed = true;
  } else if (wanted.shape.known() && !actual.shape.known()) {
    state_.target.SetOutputType(port, actual.type, wanted.shape);
  }
  const auto set = [&](const ir::Node& node) {
    auto& ports = state_.ports[static_cast<size_t>(node.id().index)];
    ports.resize(static_cast<size_t>(node.num_outputs()));
    ports[static_cast<size_t>(index)] = port;
  };
  set(node_);
  if (absorbed != state_.absorbed.end()) set(computed);
  const bool use_tensor_name = !wanted.names.empty() && !IsNumberedName(wanted.names.front());
  const std::string numbered = index == 0 ? computed.name() : fmt::format("{}_{}", computed.name(), index);
  state_.wanted.try_emplace({port.node.index, port.index}, use_tensor_name ? wanted.names.front() : numbered);
}

void NodeRaising::Finish() {
  auto& ports = state_.ports[static_cast<size_t>(node_.id().index)];
  ports.resize(static_cast<size_t>(node_.num_outputs()));
  for (int32_t i = 0; i < node_.num_outputs(); ++i) {
    OutputPort& port = ports[static_cast<size_t>(i)];
    if (port.valid()) continue;
    const ElementType wanted = output_type(i);
    const ElementType type =
        wanted == ElementType::kBoolean ? wanted : NnefTypeOf(IsInteger(wanted) ? wanted : ElementType::kF32);
    const ir::PartialShape& shape = node_.output(i).shape;
    ir::AttributeMap attributes = Attributes({{"shape", shape}, {"dtype", DataTypeName(type)}});
    port = {ir::AddNode(state_.target, ir::kNnefSet, "external", {.attributes = std::move(attributes)}), 0};
    state_.hints.resize(state_.target.node_bound());
    state_.target.SetOutputType(port, type, shape);
  }
}

}  // namespace nnefc::raise
