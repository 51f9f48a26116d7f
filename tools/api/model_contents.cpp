// The C++ interface's view of a model's operations and variables.

#include <mutex>
#include <type_traits>

#include "compiler/ir/ops/variables.h"
#include "fmt/core.h"
#include "tools/api/differences/graph_outline.h"
#include "tools/api/facts/document_facts.h"
#include "tools/api/internals.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

Value ToValue(const ir::Attribute& attribute);

template <typename Items>
Value ToList(const Items& items) {
  std::vector<Value> values;
  for (const auto& item : items) {
    using Item = std::decay_t<decltype(item)>;
    if constexpr (std::is_same_v<Item, ir::Attribute>)
      values.push_back(ToValue(item));
    else
      values.push_back({.value = item});
  }
  return {.value = std::move(values)};
}

Value ToValue(const ir::Attribute& attribute) {
  const auto convert = [](const auto& held) -> Value {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Held, ir::AttributeList>) {
      return ToList(held.items);
    } else if constexpr (std::is_same_v<Held, ir::Boxed<ir::Attribute::Logicals>>) {
      std::vector<Value> values;
      for (const bool item : held.get()) values.push_back({.value = item});
      return {.value = std::move(values)};
    } else if constexpr (std::is_same_v<Held, ElementType>) {
      return {.value = std::string(Name(held))};
    } else if constexpr (std::is_same_v<Held, ir::Boxed<TensorValue>>) {
      return {.value = ToTensor(held.get())};
    } else if constexpr (std::is_same_v<Held, ir::Boxed<ir::PartialShape>>) {
      std::vector<Value> extents;
      if (held.get().rank_known()) {
        for (const ir::Dim& dim : held.get().dims())
          extents.push_back({.value = dim.known() ? dim.value() : int64_t{-1}});
      }
      return {.value = std::move(extents)};
    } else if constexpr (std::is_same_v<Held, ir::Attribute::Integers> ||
                         std::is_same_v<Held, ir::Attribute::Scalars> ||
                         std::is_same_v<Held, ir::Attribute::Strings>) {
      return ToList(held);
    } else {
      return {.value = held};
    }
  };
  return std::visit(convert, attribute.value());
}

Operation ToOperation(const ir::Graph& graph, const ir::Node& node) {
  Operation operation{.type = node.type(), .inputs = {}, .outputs = {}, .attributes = {}};
  for (ir::OutputPort input : node.inputs()) {
    const ir::Node& producer = graph.node(input.node);
    const bool is_literal = producer.Is(ir::OpRole::kConstant) && producer.output().names.empty();
    operation.inputs.push_back(is_literal ? "" : OutputName(producer, input.index));
  }
  for (int32_t i = 0; i < node.num_outputs(); ++i)
    operation.outputs.push_back(ToPort(OutputName(node, i), node.output(i).type, node.output(i).shape));
  for (const auto& [name, value] : node.attributes()) operation.attributes.emplace_back(name, ToValue(value));
  return operation;
}

void AddVariable(const ir::Node& node, Contents& contents) {
  const ir::Output& output = node.output();
  const bool is_constant = node.Is(ir::OpRole::kConst);
  const std::string label = is_constant ? node.name() : node.attribute("label").AsString();
  if (is_constant && output.value) contents.constants.emplace(label, *output.value);
  contents.origins.try_emplace(label, node.origin());
  contents.variables.push_back(
      {.label = label, .port = ToPort(OutputName(node, 0), output.type, output.shape)});
}

Outcome<Tensor> NoVariable(const std::string& label) {
  return {.value = std::nullopt,
          .report = EnvironmentReport(fmt::format("the model has no variable with the label `{}`", label))};
}

}  // namespace

Contents& ContentsOf(Model::State& state) {
  if (state.contents != nullptr) return *state.contents;
  auto contents = std::make_unique<Contents>();
  driver::Compilation& compilation = state.compilation();
  const ir::Graph& graph = compilation.graph();
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::OpRole::kVariable) || node.Is(ir::OpRole::kConst))
      AddVariable(node, *contents);
    else if (!node.info().is_source && !node.Is(ir::OpRole::kResult))
      contents->operations.push_back(ToOperation(graph, node));
  }
  if (compilation.model() != nullptr)
    contents->store.emplace(*compilation.model(), graph, compilation.quantization().table,
                            state.options.random_weights, compilation.context());
  if (compilation.format() != driver::ModelFormat::kNnef) contents->outline = OutlineOf(compilation);
  state.contents = std::move(contents);
  return *state.contents;
}

GraphOutline OutlineOf(const Model& model) {
  Model::State& state = model.state();
  const std::lock_guard lock(*state.mutex);
  const Contents& contents = ContentsOf(state);
  return contents.outline ? *contents.outline : OutlineOf(state.compilation());
}

const std::vector<Operation>& Model::operations() const {
  const std::lock_guard lock(*state_->mutex);
  return ContentsOf(*state_).operations;
}

const std::vector<Variable>& Model::variables() const {
  const std::lock_guard lock(*state_->mutex);
  return ContentsOf(*state_).variables;
}

Outcome<Tensor> Model::ReadVariable(const std::string& label) const {
  return Guard([&]() -> Outcome<Tensor> {
    const std::lock_guard lock(*state_->mutex);
    Contents& contents = ContentsOf(*state_);
    if (const auto constant = contents.constants.find(label); constant != contents.constants.end())
      return {.value = ToTensor(constant->second), .report = Report()};
    for (const Variable& variable : contents.variables) {
      if (variable.label != label || !contents.store) continue;
      ir::PartialShape shape;
      if (variable.port.shape) shape = ir::PartialShape(llvm::ArrayRef<int64_t>(*variable.port.shape));
      std::optional<TensorValue> value =
          contents.store->Load(label, variable.port.type, shape, contents.origins.at(label));
      Outcome<Tensor> outcome{.value = std::nullopt, .report = TakeReport(state_->compilation())};
      if (value) outcome.value = ToTensor(std::move(*value));
      return outcome;
    }
    return NoVariable(label);
  });
}

}  // namespace nnefc::api
