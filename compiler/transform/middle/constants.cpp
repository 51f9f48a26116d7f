// Constant folding.

#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/inline_body.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// The bound on folded values, chosen so that weights stay in a narrower type or unbroadcast: larger values
// must not exceed the size of their inputs.
constexpr ir::FoldBound kFoldBound = {.bytes = size_t{16} << 10, .times_inputs = 1};

bool IsResult(const Port& port) {
  return port.node().ir().Is(ir::OpRole::kResult);
}

// Returns true if the shape functions of an output's consumers accept the value. Otherwise a run reports the
// error, if it needs the consumer at all.
bool FitsReaders(const Port& output, const TensorValue& value) {
  for (const Port& reader : output.GetDestinations()) {
    const ir::Node& node = reader.node().ir();
    if (node.info().infer == nullptr || node.info().is_sink || !node.bodies().empty()) continue;
    ir::Output known = output.data();
    known.value = value;
    std::vector<const ir::Output*> inputs;
    for (const Port& input : reader.node().in_ports())
      inputs.push_back(input.GetSource() == output ? &known : &input.data());
    Emitter unheard;
    if (!ir::InferApart(node, inputs, unheard)) return false;
  }
  return true;
}

// Returns the values of all outputs of a node, if they are known or can be computed.
std::optional<std::vector<TensorValue>> ValuesOf(Graph& graph, const Node& node) {
  std::vector<TensorValue> values;
  for (const Port& output : node.out_ports()) {
    if (output.value()) values.push_back(*output.value());
  }
  if (values.size() == static_cast<size_t>(node.num_out_ports())) return values;
  std::optional<std::vector<TensorValue>> computed = graph.Evaluate(node, kFoldBound);
  if (!computed) return std::nullopt;
  for (const Port& output : node.out_ports()) {
    if (!FitsReaders(output, (*computed)[static_cast<size_t>(output.index())])) return std::nullopt;
  }
  return computed;
}

// Nodes with an input whose value or shape became known after their inference.
using BetterKnown = llvm::DenseSet<ir::NodeId>;

void Fold(Graph& graph, const Node& node, BetterKnown& readers) {
  // A FakeQuantize of a constant declares its quantized range.
  if (!ir::IsFoldable(node.ir()) || node.ir().Is(ir::Quantizer::kFakeQuantize)) return;
  const std::vector<Port> outputs = node.out_ports();
  // A result has the name of the node that computes it.
  if (llvm::all_of(outputs, [](const Port& output) { return output.IsDisconnected(); }) ||
      llvm::any_of(outputs,
                   [](const Port& output) { return llvm::any_of(output.GetDestinations(), IsResult); }))
    return;
  const std::optional<std::vector<TensorValue>> values = ValuesOf(graph, node);
  if (!values) return;
  for (const Port& output : outputs) {
    if (output.IsDisconnected()) continue;
    const bool is_only = outputs.size() == 1;
    const std::string name = is_only ? "" : fmt::format("{}.{}", node.name(), output.index());
    const Node constant = graph.CreateConst((*values)[static_cast<size_t>(output.index())],
                                            is_only ? "" : graph.UniqueName(name));
    for (const Port& reader : output.GetDestinations()) readers.insert(reader.node().id());
    graph.Bypass(output, constant.out_port(0));
    if (is_only) graph.TakeName(node, constant);
  }
  graph.Remove(node);
}

// Infers a node again and records the consumers of outputs that became better known. A run reports errors
// when it executes the node.
void InferAgain(Graph& graph, const Node& node, BetterKnown& readers) {
  if (node.ir().info().infer == nullptr) return;
  const std::vector<ir::Output> before(node.ir().outputs().begin(), node.ir().outputs().end());
  if (node.ir().bodies().empty()) {
    std::vector<const ir::Output*> inputs;
    for (const Port& input : node.in_ports()) inputs.push_back(&input.GetSource().data());
    Emitter unheard;
    if (!ir::InferApart(node.ir(), inputs, unheard)) return;
  }
  graph.InferNow(node);
  for (const Port& output : node.out_ports()) {
    const ir::Output& old = before[static_cast<size_t>(output.index())];
    if (old.type == output.data().type && old.shape == output.shape() && !output.value()) continue;
    for (const Port& reader : output.GetDestinations()) readers.insert(reader.node().id());
  }
}

void FoldAll(Graph& graph) {
  const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(graph.ir());
  if (!order) throw Error("the graph contains a cycle");
  BetterKnown readers;
  for (ir::NodeId id : *order) {
    if (readers.contains(id)) InferAgain(graph, Node(graph, id), readers);
    Fold(graph, Node(graph, id), readers);
  }
}

// Returns true if a parameter has the same value in all iterations: an unsliced external input.
bool IsInvariant(const ir::Body& body, const ir::InputMapping& mapping) {
  return !mapping.axis && mapping.external >= 0 &&
         llvm::none_of(body.back_edges,
                       [&](const ir::BackEdge& edge) { return edge.parameter == mapping.internal; });
}

// Replaces parameters of a body that constants feed by those constants. Restores them if a shape function
// rejects one.
void BindConstants(ir::Graph& graph, ir::NodeId id, size_t index) {
  ir::Body& body = graph.body(id, index);
  std::vector<std::pair<ir::OutputPort, ir::OutputPort>> bound;
  for (const ir::InputMapping& mapping : body.inputs) {
    if (!IsInvariant(body, mapping)) continue;
    const ir::Node& source = graph.node(graph.node(id).input(mapping.external).node);
    const ir::NodeId parameter = body.graph->parameters()[static_cast<size_t>(mapping.internal)];
    if (!source.Is(ir::OpRole::kConst) || !source.output().value ||
        body.graph->node(parameter).uses().empty())
      continue;
    const std::string name = body.graph->node(parameter).name() + "/constant";
    const ir::OutputPort constant = {ir::AddConst(*body.graph, *source.output().value, name, source.origin()),
                                     0};
    body.graph->ReplaceAllUses({parameter, 0}, constant);
    bound.emplace_back(ir::OutputPort{parameter, 0}, constant);
  }
  Emitter unheard;
  if (bound.empty() || (ir::InferGraph(*body.graph, unheard) && !unheard.has_errors())) return;
  for (const auto& [parameter, constant] : bound) body.graph->ReplaceAllUses(constant, parameter);
  for (const auto& [parameter, constant] : bound) body.graph->Erase(constant.node);
  (void)ir::InferGraph(*body.graph, unheard);  // restores the previous types and shapes
}

}  // namespace

class BindConstantsInBodies : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Constants that feed an If, or every iteration of a TensorIterator "
           "or Loop, are constants of its "
           "bodies, which are then folded and fused like any other.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "c" {element_type = boolean, shape = shape[]} : boolean[]
%1 = opset1.Const "k" : f32[2] = dense<f32[2]: 1.0, 2.0>
%2 = opset8.If "i" (%0, %1) : f32[2] bodies {
  "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
    %0 = opset1.Parameter "a" {element_type = f32, shape = shape[2]} : f32[2]
    %1 = opset1.ReLU "r" (%0) : f32[2]
    opset1.Result "o" (%1)
  }
  "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
    %0 = opset1.Parameter "b" {element_type = f32, shape = shape[2]} : f32[2]
    %1 = opset1.Tanh "h" (%0) : f32[2]
    opset1.Result "o" (%1)
  }
}
opset1.Result "y" (%2)
)";
  }
  Names RunBefore() const override { return {"middle.FoldConstants", "MiddleStart"}; }
  Names RunAfter() const override { return {"middle.CheckForCycle", "PreMiddleStart"}; }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      for (size_t i = 0; i < node.ir().bodies().size(); ++i) BindConstants(graph.Raw(), node.id(), i);
    }
  }
};

class FoldConstants : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "What is known without a run becomes a constant: values that shape "
           "functions know, and what the "
           "reference kernels compute from constants. A value of more than 16 "
           "KiB must not take more than "
           "what it is computed from. FakeQuantize stays, and so does what a "
           "result is.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset3.ShapeOf "s" (%0) {output_type = i64} : i64[2]
%2 = opset1.Const "v" : f32[] = dense<f32[]: 1.0>
%3 = opset3.Broadcast "b" (%2, %1) {mode = "numpy"} : f32[2,3]
%4 = opset1.Multiply "m" (%0, %3) : f32[2,3]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"MiddleStart"}; }
  Names RunAfter() const override { return {"PreMiddleStart", "middle.CheckForCycle"}; }
  void FindAndReplacePattern(Graph& graph) override { FoldAll(graph); }
};

// Folds again: transformations after FoldConstants compute with constants too, for example when a loop
// becomes a sequence. A second compilation of the written graph then changes nothing.
class FoldNewConstants : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Operations on constants that other transformations made become constants, by the rules of "
           "FoldConstants.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2]} : f32[1,2]
%1 = opset1.Const "c" : f32[2] = dense<f32[2]: 1.0, 2.0>
%2 = opset1.Const "axis" : i64[1] = dense<i64[1]: 0>
%3 = opset1.Unsqueeze "u" (%1, %2) : f32[1,2]
%4 = opset1.Add "a" (%0, %3) : f32[1,2]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"middle.RemoveUnneeded", "PostMiddleStart"}; }
  Names RunAfter() const override {
    return {"middle.FuseConstantSequence", "middle.FuseScaleIntoFollowing", "MiddleFinish"};
  }
  void FindAndReplacePattern(Graph& graph) override { FoldAll(graph); }
};

class TakeSelected : public MiddleReplacementPattern {
 public:
  TakeSelected() { force_clean_up = true; }
  std::string_view Description() const override {
    return "Select whose condition is known, and everywhere the same, becomes "
           "what it selects, broadcast to "
           "the extents of its result.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
%1 = opset1.ReLU "r" (%0) : f32[2]
%2 = opset1.Tanh "h" (%0) : f32[2]
%3 = opset1.Const "c" : boolean[2] = dense<boolean[2]: 1, 1>
%4 = opset1.Select "s" (%3, %1, %2) : f32[2]
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"MiddleStart"}; }
  Names RunAfter() const override { return {"middle.FoldConstants", "PreMiddleStart"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (!node.ir().Is(ir::ElementFunction::kSelect)) continue;
      const std::optional<double> condition = KnownNumber(node.in_port(0));
      const ir::PartialShape& shape = node.ir().output().shape;
      if (!condition || !shape.known()) continue;
      Port selected = node.in_port(*condition != 0 ? 1 : 2).GetSource();
      if (!(selected.shape() == shape)) {
        if (node.ir().String("auto_broadcast") != "numpy") continue;
        const Shape extents = *shape.extents();
        const TensorValue target = TensorValue::FromInts({shape.rank()}, extents);
        const Node constant = graph.CreateConst(target, graph.UniqueName(node.name() + "/shape"));
        selected = graph
                       .CreateNode("opset3.Broadcast", {selected, constant.out_port(0)},
                                   {.name = graph.UniqueName(node.name() + "/broadcast"),
                                    .origin = node.ir().origin()})
                       .out_port(0);
      }
      if (graph.Bypass(node.out_port(0), selected)) graph.Remove(node);
    }
  }
};

class InlineTakenBranch : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "An If of a constant condition becomes the branch that is taken, "
           "and what follows from constants "
           "then is folded. It stays where a result would be a constant, a "
           "parameter or another result.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
%1 = opset1.Const "c" : boolean[] = dense<boolean[]: 1>
%2 = opset8.If "i" (%1, %0) : f32[2] bodies {
  "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
    %0 = opset1.Parameter "a" {element_type = f32, shape = shape[2]} : f32[2]
    %1 = opset1.ReLU "r" (%0) : f32[2]
    opset1.Result "o" (%1)
  }
  "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
    %0 = opset1.Parameter "b" {element_type = f32, shape = shape[2]} : f32[2]
    %1 = opset1.Tanh "h" (%0) : f32[2]
    opset1.Result "o" (%1)
  }
}
opset1.Result "y" (%2)
)";
  }
  Names RunBefore() const override { return {"MiddleStart"}; }
  Names RunAfter() const override { return {"middle.FoldConstants", "PreMiddleStart"}; }

  void FindAndReplacePattern(Graph& graph) override {
    // Inlining exposes nested branches; the number of rounds is limited by the nesting of bodies.
    while (InlineAll(graph)) FoldAll(graph);
  }

 private:
  static bool InlineAll(Graph& graph) {
    bool inlined = false;
    for (const Node& node : graph.GetNodes()) {
      if (!node.ir().Is(ir::OpRole::kIf)) continue;
      const std::optional<TensorValue>& condition = node.in_port(0).value();
      if (condition && condition->volume() == 1)
        inlined |= Inline(graph, node, condition->ElementAsInt(0) != 0 ? 0 : 1);
    }
    return inlined;
  }

  static bool Inline(Graph& graph, const Node& node, size_t taken) {
    const ir::Body& body = node.ir().bodies()[taken];
    if (!KeepsResults(node, body)) return false;
    std::vector<Port> parameters;
    for (ir::OutputPort source : ir::ParametersOfBranch(graph.ir(), node.id(), taken))
      parameters.push_back(Node(graph, source.node).out_port(source.index));
    const Graph::InlinedBody made = graph.InlineBody(node, taken, parameters);
    for (const ir::OutputMapping& mapping : body.outputs)
      graph.Bypass(node.out_port(mapping.external), made.results[static_cast<size_t>(mapping.internal)]);
    // The node that computes the only output inherits the name.
    if (body.outputs.size() == 1) {
      const Node last = made.results[static_cast<size_t>(body.outputs.front().internal)].node();
      if (llvm::is_contained(made.nodes, last)) graph.TakeName(node, last);
    }
    graph.Remove(node);
    return true;
  }

  // Returns the source of a result of the body.
  static ir::OutputPort SourceOf(const ir::Body& body, int32_t result) {
    const ir::Graph& inner = *body.graph;
    return inner.node(inner.results()[static_cast<size_t>(result)]).input(0);
  }
  // Returns true if a node of the body computes each output that is a result of the model.
  static bool KeepsResults(const Node& node, const ir::Body& body) {
    std::vector<ir::OutputPort> sources;
    for (const ir::OutputMapping& mapping : body.outputs) {
      const Port output = node.out_port(mapping.external);
      if (!llvm::any_of(output.GetDestinations(), IsResult)) continue;
      const ir::OutputPort source = SourceOf(body, mapping.internal);
      if (body.graph->node(source.node).num_inputs() == 0 || llvm::is_contained(sources, source))
        return false;
      sources.push_back(source);
    }
    return true;
  }
};

void RegisterConstants(TransformationList& list) {
  list.Add<BindConstantsInBodies>();
  list.Add<FoldConstants>();
  list.Add<FoldNewConstants>();
  list.Add<middle::TakeSelected>();
  list.Add<InlineTakenBranch>();
}

}  // namespace nnefc::transform::middle
