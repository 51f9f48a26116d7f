// Inference of types and shapes of nodes and graphs, and its diagnostics.

#include "compiler/ir/algorithms/infer.h"

#include <algorithm>
#include <exception>
#include <new>

#include "compiler/ir/ops/rules.h"
#include "compiler/ir/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::ir {

llvm::ArrayRef<const Output*> InferContext::segment(int32_t parameter) const {
  const llvm::ArrayRef<OutputPort> ports = node().segment(parameter);
  if (ports.empty()) return {};
  return inputs_.slice(static_cast<size_t>(ports.data() - node().inputs().data()), ports.size());
}

const Node* InferContext::producer(int32_t index) const {
  return graph_ == nullptr ? nullptr : &graph_->node(node().input(index).node);
}

const std::optional<TensorValue>& InferContext::value(int32_t index) {
  const std::optional<TensorValue>& value = input(index).value;
  if (!value && !llvm::is_contained(unknown_values_, index)) unknown_values_.push_back(index);
  return value;
}

void InferContext::SetOutput(int32_t index, ElementType type, PartialShape shape) {
  Output& output = outputs_[static_cast<size_t>(index)];
  output.type = type;
  output.shape = std::move(shape);
}

void InferContext::SetOutputValue(int32_t index, TensorValue value) {
  outputs_[static_cast<size_t>(index)].value = std::move(value);
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

void InferContext::Report(const Rule& rule, const Argument* argument, std::string message,
                          std::string_view right) {
  const Origin& origin = node().origin();
  SourceRange range;
  if (argument != nullptr && places_ != nullptr) range = places_->Find(argument->name, argument->place);
  DiagnosticBuilder builder = emitter_.Emit(rule, range.valid() ? range : origin.range, "{}", message);
  if (!right.empty() && range.valid() && places_->IsLiteral(argument->name, argument->place))
    builder.Fix(range, std::string(right));
  builder.Notes(StackNotes(origin.frame));
  if (rule.severity == Severity::kError) failed_ = true;
}

namespace {

void ForgetOutputs(llvm::MutableArrayRef<Output> outputs) {
  for (Output& output : outputs) {
    output.type = ElementType::kDynamic;
    output.shape = PartialShape();
    output.value.reset();
  }
}

// Returns true if an input of an NNEF operation has no element type, as after an error: its shape function
// needs them.
bool HasUnknownInput(const Node& node, llvm::ArrayRef<const Output*> inputs) {
  return node.set() == kNnefSet &&
         llvm::any_of(inputs, [](const Output* input) { return input->type == ElementType::kDynamic; });
}

// Calls the shape function of the node. Those of plug-ins may throw.
void CallShapeFunction(InferContext& context) {
  const Node& node = context.node();
  static constexpr char kMessage[] = "the shape function of `{}`, which a plug-in brings, failed: {}";
  try {
    if (node.info().check != nullptr) node.info().check(context);
    if (!context.failed()) node.info().infer(context);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    context.Error(kShapeFunctionFailed, kMessage, node.type(), error.what());
  } catch (...) {
    context.Error(kShapeFunctionFailed, kMessage, node.type(),
                  "it threw something other than a std::exception");
  }
}

// Infers `outputs`, possibly those of the node in its graph.
bool InferInto(Graph* graph, const Node& node, llvm::ArrayRef<const Output*> inputs,
               llvm::MutableArrayRef<Output> outputs, Emitter& emitter, const ArgumentPlaces* places,
               llvm::SmallVectorImpl<int32_t>* unknown_values) {
  if (HasUnknownInput(node, inputs)) {
    ForgetOutputs(outputs);
    return false;
  }
  if (!node.info().is_source) {
    for (Output& output : outputs) output.value.reset();
  }
  InferContext context(graph, node, inputs, outputs, emitter, places);
  CallShapeFunction(context);
  if (unknown_values != nullptr)
    unknown_values->assign(context.unknown_values().begin(), context.unknown_values().end());
  if (context.failed()) ForgetOutputs(outputs);
  return !context.failed();
}

llvm::SmallVector<const Output*, 4> InputsOf(const Graph& graph, const Node& node) {
  llvm::SmallVector<const Output*, 4> inputs;
  for (OutputPort port : node.inputs()) inputs.push_back(&graph.output(port));
  return inputs;
}

}  // namespace

bool InferNode(Graph& graph, NodeId id, Emitter& emitter, const ArgumentPlaces* places,
               llvm::SmallVectorImpl<int32_t>* unknown_values) {
  const Node& node = graph.node(id);
  if (node.info().infer == nullptr) {
    bool inferred = true;  // the nodes in bodies of an unknown operation
    for (size_t i = 0; i < node.bodies().size(); ++i)
      inferred &= InferGraph(*graph.body(id, i).graph, emitter);
    return inferred;
  }
  return InferInto(&graph, node, InputsOf(graph, node), graph.InferredOutputs(id), emitter, places,
                   unknown_values);
}

std::optional<std::vector<Output>> InferApart(const Node& node, llvm::ArrayRef<const Output*> inputs,
                                              Emitter& emitter) {
  NNEFC_CHECK(node.info().infer != nullptr && node.bodies().empty() && inputs.size() == node.inputs().size());
  std::vector<Output> outputs(node.outputs().size());
  if (!InferInto(nullptr, node, inputs, outputs, emitter, nullptr, nullptr)) return std::nullopt;
  return outputs;
}

InferredNode AddInferred(Graph& graph, std::string_view set, std::string_view name, NodeSpec spec,
                         Emitter& emitter) {
  const NodeId id = AddNode(graph, set, name, std::move(spec));
  return {id, InferNode(graph, id, emitter)};
}

bool InferGraph(Graph& graph, Emitter& emitter) {
  const std::optional<std::vector<NodeId>> order = TopologicalOrder(graph);
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
      ForgetOutputs(graph.InferredOutputs(id));
    } else if (InferNode(graph, id, emitter)) {
      continue;
    } else if (HasUnknownInput(node, InputsOf(graph, node))) {
      emitter.Emit(ops::kInputType, node.origin().range,
                   "an input of `{}` has no element type; expected one for an operation of NNEF",
                   node.type());
    }
    failed[static_cast<size_t>(id.index)] = true;
    all_inferred = false;
  }
  return all_inferred;
}

}  // namespace nnefc::ir
