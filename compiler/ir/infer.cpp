#include "compiler/ir/infer.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir {

std::vector<const Output*> InferContext::segment(int32_t parameter) const {
  std::vector<const Output*> outputs;
  for (OutputPort port : node().segment(parameter)) outputs.push_back(&graph_.output(port));
  return outputs;
}

const std::optional<TensorValue>& InferContext::value(int32_t index) {
  const std::optional<TensorValue>& value = input(index).value;
  if (!value && !llvm::is_contained(unknown_values_, index)) unknown_values_.push_back(index);
  return value;
}

void InferContext::SetOutput(int32_t index, ElementType type, PartialShape shape) {
  graph_.SetOutputType({node_, index}, type, std::move(shape));
}

void InferContext::SetOutputValue(int32_t index, TensorValue value) {
  graph_.SetOutputValue({node_, index}, std::move(value));
}

void InferContext::SetBodyParameter(size_t index, int32_t parameter, ElementType type, PartialShape shape) {
  Graph& inner = *body(index).graph;
  NNEFC_CHECK(parameter >= 0 && static_cast<size_t>(parameter) < inner.parameters().size());
  const NodeId id = inner.parameters()[static_cast<size_t>(parameter)];
  inner.SetAttribute(id, "element_type", type);
  inner.SetAttribute(id, "shape", shape);
  inner.SetOutputType({id, 0}, type, std::move(shape));
}

bool InferContext::InferBody(size_t index) {
  const bool inferred = InferGraph(*body(index).graph, emitter_);
  failed_ |= !inferred;
  return inferred;
}

std::string ToString(const Argument& argument) {
  const std::string item = argument.item < 0 ? "" : fmt::format("[{}]", argument.item);
  return fmt::format("`{}{}` of `{}`", argument.name, item, argument.operation);
}

void InferContext::Report(const Rule& rule, const Argument* argument, std::string message) {
  const Origin& origin = node().origin();
  SourceRange range;
  if (argument != nullptr && places_ != nullptr) range = places_->Find(argument->name, argument->place);
  emitter_.Emit(rule, range.valid() ? range : origin.range, "{}", message).Notes(StackNotes(origin.frame));
  if (rule.severity == Severity::kError) failed_ = true;
}

namespace {

void ForgetOutputs(Graph& graph, const Node& node) {
  for (int32_t i = 0; i < node.num_outputs(); ++i) {
    graph.SetOutputType(node.port(i), ElementType::kDynamic, PartialShape());
    graph.SetOutputValue(node.port(i), std::nullopt);
  }
}

bool HasUnknownInput(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(),
                     [&](OutputPort port) { return graph.output(port).type == ElementType::kDynamic; });
}

}  // namespace

bool InferNode(Graph& graph, NodeId id, Emitter& emitter, const ArgumentPlaces* places,
               llvm::SmallVectorImpl<int32_t>* unknown_values) {
  const Node& node = graph.node(id);
  if (node.info().infer == nullptr) return true;
  if (node.set() == kNnefSet && HasUnknownInput(graph, node)) {
    ForgetOutputs(graph, node);
    return false;
  }
  if (!node.info().is_source) {
    for (int32_t i = 0; i < node.num_outputs(); ++i) graph.SetOutputValue(node.port(i), std::nullopt);
  }
  InferContext context(graph, id, emitter, places);
  node.info().infer(context);
  if (unknown_values != nullptr)
    unknown_values->assign(context.unknown_values().begin(), context.unknown_values().end());
  if (context.failed()) ForgetOutputs(graph, node);
  return !context.failed();
}

bool InferGraph(Graph& graph, Emitter& emitter) {
  const std::optional<std::vector<NodeId>> order = graph.TopologicalOrder();
  NNEFC_CHECK(order.has_value());
  std::vector<bool> failed(graph.node_bound(), false);
  bool all_inferred = true;
  for (NodeId id : *order) {
    if (emitter.exhausted()) return false;
    const Node& node = graph.node(id);
    const bool poisoned = std::any_of(node.inputs().begin(), node.inputs().end(), [&](OutputPort input) {
      return failed[static_cast<size_t>(input.node.index)];
    });
    if (poisoned && node.info().infer != nullptr) {
      ForgetOutputs(graph, node);
    } else if (InferNode(graph, id, emitter)) {
      continue;
    }
    failed[static_cast<size_t>(id.index)] = true;
    all_inferred = false;
  }
  return all_inferred;
}

}  // namespace nnefc::ir
