// Conversion of loops over recurrent cells in the form of exported scans: matrices have a leading axis of one
// step, and the input projections of the gates are computed before the loop.

#include <array>
#include <map>

#include "compiler/transform/middle/control_flow/recurrent_cells.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

constexpr int64_t kStepAxis = 0;

// Returns whether a shape is [1, rows, columns] with known extents.
bool IsOneStep(const ir::PartialShape& shape) {
  return shape.known() && shape.rank() == 3 && shape[kStepAxis].value() == 1;
}

// Returns a constant without its leading extents before the last two axes; nothing unless these are 1.
std::optional<TensorValue> AsMatrix(const TensorValue& value) {
  const size_t surplus = value.shape().size() > 2 ? value.shape().size() - 2 : 0;
  if (llvm::any_of(llvm::ArrayRef<int64_t>(value.shape()).take_front(surplus),
                   [](int64_t extent) { return extent != 1; }))
    return std::nullopt;
  return value.Reshaped(Shape(value.shape().begin() + static_cast<int64_t>(surplus), value.shape().end()));
}

// A constant matrix times x, plus a constant row, computed independently for each step.
struct MatrixProduct {
  Port x;
  TensorValue matrix;
  bool is_transposed;
  std::optional<TensorValue> bias;
};

std::optional<MatrixProduct> ReadProduct(const Port& output) {
  const Node node = output.node();
  if (node.ir().Is(ir::ElementFunction::kAdd)) {
    for (int32_t i : {0, 1}) {
      const std::optional<TensorValue>& bias = node.in_port(1 - i).value();
      if (!bias || bias->type() != ElementType::kF32 || bias->rank() > 3) continue;
      std::optional<MatrixProduct> product = ReadProduct(node.in_port(i).GetSource());
      if (!product || product->bias || !(product->x.shape().rank() == output.shape().rank())) continue;
      product->bias = AsMatrix(*bias);
      if (product->bias && (product->bias->rank() < 2 || product->bias->shape()[0] == 1)) return product;
    }
    return std::nullopt;
  }
  if (!IsOperation(node, "opset1", "MatMul") || node.ir().Bool("transpose_a")) return std::nullopt;
  const std::optional<TensorValue>& value = node.in_port(1).value();
  const Port x = node.in_port(0).GetSource();
  if (!value || value->type() != ElementType::kF32 || value->rank() < 2 || !x.shape().rank_known() ||
      x.shape().rank() != 3)
    return std::nullopt;
  std::optional<TensorValue> matrix = AsMatrix(*value);
  if (!matrix) return std::nullopt;
  return MatrixProduct{x, std::move(*matrix), node.ir().Bool("transpose_b"), std::nullopt};
}

// A reconstruction of a loop body from matrices.
class Rewriter {
 public:
  Rewriter(Graph& graph, const Node& loop)
      : graph_(graph),
        loop_(loop),
        old_(loop.ir().bodies()[0]),
        new_{.role = old_.role,
             .graph = std::make_unique<ir::Graph>(&graph.Raw().registry(), old_.graph->name()),
             .inputs = {},
             .outputs = {},
             .back_edges = {}},
        made_(*new_.graph) {}

  // Replaces the loop if the new body is exactly one cell; returns whether it did.
  bool Run() {
    if (!AddParameters() || !AddNodes() || !AddResults() || FuseCellsOfBody(made_, new_) != 1) return false;
    ReplaceLoop();
    return true;
  }

 private:
  ir::OutputPort ParameterOf(int32_t index) const {
    return {old_.graph->parameters()[static_cast<size_t>(index)], 0};
  }
  bool IsState(int32_t parameter) const {
    return llvm::any_of(old_.back_edges,
                        [&](const ir::BackEdge& edge) { return edge.parameter == parameter; });
  }
  Port Axis() {
    if (!axis_) axis_ = made_.CreateConst(TensorValue::FromInts({1}, {kStepAxis})).out_port(0);
    return *axis_;
  }
  Port Create(std::string_view operation, llvm::ArrayRef<Port> sources, ir::AttributeMap attributes = {}) {
    return made_.CreateNode(operation, sources, {.attributes = std::move(attributes)}).out_port(0);
  }
  Port AddParameter(const std::string& name, const Shape& shape) {
    ir::AttributeMap attributes;
    attributes.Set("element_type", ElementType::kF32);
    attributes.Set("shape", ir::PartialShape(shape));
    return made_.CreateNode("opset1.Parameter", {}, {.name = name, .attributes = std::move(attributes)})
        .out_port(0);
  }
  int32_t NewParameter() const { return static_cast<int32_t>(new_.graph->parameters().size()) - 1; }

  // Adds parameters for slices, without the sliced axis, and for states; fails on other parameters. Slices
  // that no node reads are left out if others determine the number of iterations.
  bool AddParameters() {
    bool has_unread_slice = false;
    for (const ir::InputMapping& mapping : old_.inputs) {
      const ir::OutputPort parameter = ParameterOf(mapping.internal);
      const ir::Output& output = old_.graph->output(parameter);
      if (old_.graph->node(parameter.node).uses().empty() && !IsState(mapping.internal)) {
        has_unread_slice |= mapping.axis.has_value();
        continue;
      }
      if (mapping.external < 0 || output.type != ElementType::kF32 || !IsOneStep(output.shape)) return false;
      if (mapping.axis ? !AddSlice(mapping, output) : !AddState(mapping, output)) return false;
    }
    return !new_.inputs.empty() && (!has_unread_slice || !slices_.empty());
  }

  bool AddSlice(const ir::InputMapping& mapping, const ir::Output& output) {
    if (*mapping.axis != kStepAxis || mapping.part_size != 1) return false;
    const Port given = loop_.in_port(mapping.external).GetSource();
    const std::optional<MatrixProduct> product = ReadProduct(given);
    const ir::PartialShape& source = product ? product->x.shape() : given.shape();
    if (!source.rank_known() || source.rank() != 3 || !source[1].known() || !source[2].known()) return false;
    const Port row = product ? RowOf(mapping, product->x) : RowOf(mapping, given);
    ports_.emplace(ParameterOf(mapping.internal), product ? Multiply(row, *product) : row);
    const ir::PartialShape& shape = ports_.at(ParameterOf(mapping.internal)).shape();
    return shape.known() && shape.rank() == 2 && shape[0] == output.shape[1] && shape[1] == output.shape[2];
  }
  static std::array<int64_t, 3> RangeOf(const ir::InputMapping& mapping) {
    return {mapping.start, mapping.end, mapping.stride};
  }
  // Returns the rows of one step of a source, sharing the parameter between equal slices.
  Port RowOf(const ir::InputMapping& mapping, const Port& source) {
    for (size_t i = 0; i < slices_.size(); ++i) {
      if (slices_[i].source == source && slices_[i].range == RangeOf(mapping)) return slices_[i].row;
    }
    const Shape shape = {1, source.shape()[1].value(), source.shape()[2].value()};
    const Port part = AddParameter(made_.UniqueName(source.node().name() + "/step"), shape);
    ir::InputMapping made = mapping;
    made.external = Feed(source, false);
    made.internal = NewParameter();
    new_.inputs.push_back(made);
    slices_.push_back({source, RangeOf(mapping), Create("opset1.Squeeze", {part, Axis()})});
    return slices_.back().row;
  }
  Port Multiply(const Port& row, const MatrixProduct& product) {
    ir::AttributeMap attributes;
    attributes.Set("transpose_a", false);
    attributes.Set("transpose_b", product.is_transposed);
    const Port matrix = made_.CreateConst(product.matrix).out_port(0);
    const Port result = Create("opset1.MatMul", {row, matrix}, std::move(attributes));
    if (!product.bias) return result;
    return Create("opset1.Add", {result, made_.CreateConst(*product.bias).out_port(0)}, Numpy());
  }
  static ir::AttributeMap Numpy() {
    ir::AttributeMap attributes;
    attributes.Set("auto_broadcast", "numpy");
    return attributes;
  }

  bool AddState(const ir::InputMapping& mapping, const ir::Output& output) {
    if (!IsState(mapping.internal)) return false;
    const Shape shape = {output.shape[1].value(), output.shape[2].value()};
    const std::string& name = old_.graph->node(ParameterOf(mapping.internal).node).name();
    ports_.emplace(ParameterOf(mapping.internal), AddParameter(name, shape));
    ir::InputMapping made = mapping;
    made.external = Feed(loop_.in_port(mapping.external).GetSource(), true);
    made.internal = NewParameter();
    states_[mapping.internal] = made.internal;
    new_.inputs.push_back(made);
    return true;
  }
  Port OuterAxis() { return graph_.CreateConst(TensorValue::FromInts({1}, {kStepAxis})).out_port(0); }
  int32_t Feed(const Port& source, bool is_state) {
    sources_.push_back({source, is_state});
    return static_cast<int32_t>(sources_.size()) - 1;
  }

  // Copies elementwise functions and products with constants; they apply equally to matrices.
  bool AddNodes() {
    const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(*old_.graph);
    if (!order) return false;
    for (ir::NodeId id : *order) {
      const ir::Node& node = old_.graph->node(id);
      if (node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kResult)) continue;
      if (!AddNode(node)) return false;
    }
    return true;
  }
  bool AddNode(const ir::Node& node) {
    if (node.Is(ir::OpRole::kConst)) {
      const std::optional<TensorValue> matrix =
          node.output().value ? AsMatrix(*node.output().value) : std::nullopt;
      if (matrix) ports_.emplace(node.port(), made_.CreateConst(*matrix, node.name()).out_port(0));
      return matrix.has_value();
    }
    const bool is_product = node.op() == new_.graph->registry().Find("opset1", "MatMul");
    const bool is_of_elements = node.info().function != ir::ElementFunction::kOther;
    if (!(is_of_elements || is_product) || node.outputs().size() != 1) return false;
    std::vector<Port> sources;
    for (ir::OutputPort input : node.inputs()) {
      const auto found = ports_.find(input);
      if (found == ports_.end()) return false;
      sources.push_back(found->second);
    }
    const bool keeps = node.Is(ir::ElementFunction::kConvert) && sources[0].data().type == node.output().type;
    if (keeps) {
      ports_.emplace(node.port(), sources[0]);
      return true;
    }
    const Node made = made_.CreateNode(node.set() + "." + node.type(), sources,
                                       {.name = node.name(), .attributes = node.attributes()});
    ports_.emplace(node.port(), made.out_port(0));
    const ir::PartialShape& shape = made.out_port(0).shape();
    return shape.known() && shape.rank() <= 2;
  }

  bool AddResults() {
    for (const ir::BackEdge& edge : old_.back_edges) {
      const auto state = states_.find(edge.parameter);
      if (state == states_.end()) return false;
      const int32_t result = AddResult(SourceOf(edge.result), edge.result);
      new_.back_edges.push_back({.result = result, .parameter = state->second});
    }
    for (const ir::OutputMapping& mapping : old_.outputs) {
      const Port source = SourceOf(mapping.internal);
      if (mapping.axis && (*mapping.axis != kStepAxis || mapping.part_size != 1)) return false;
      ir::OutputMapping made = mapping;
      made.internal =
          AddResult(mapping.axis ? Create("opset1.Unsqueeze", {source, Axis()}) : source, mapping.internal);
      new_.outputs.push_back(made);
    }
    return true;
  }
  Port SourceOf(int32_t result) const {
    return ports_.at(old_.graph->node(old_.graph->results()[static_cast<size_t>(result)]).input(0));
  }
  int32_t AddResult(const Port& source, int32_t old) {
    const ir::NodeId result = old_.graph->results()[static_cast<size_t>(old)];
    made_.CreateResult(source, made_.UniqueName(old_.graph->node(result).name()));
    return static_cast<int32_t>(new_.graph->results().size()) - 1;
  }

  void ReplaceLoop() {
    made_.CleanUp();
    llvm::SmallVector<ir::OutputPort, 8> inputs;
    for (const auto& [source, is_state] : sources_) {
      const Port input =
          is_state ? graph_.CreateNode("opset1.Squeeze", {source, OuterAxis()}).out_port(0) : source;
      inputs.push_back({input.node().id(), input.index()});
    }
    ir::Graph& raw = graph_.Raw();
    const ir::Node& old = loop_.ir();
    const ir::NodeId id = raw.AddNode({.op = old.op(),
                                       .name = graph_.UniqueName(loop_.name() + "/steps"),
                                       .inputs = inputs,
                                       .attributes = old.attributes(),
                                       .num_outputs = static_cast<int32_t>(old.outputs().size()),
                                       .origin = old.origin()});
    std::vector<std::pair<Port, Port>> places;
    const std::vector<ir::OutputMapping> outputs = new_.outputs;
    raw.AddBody(id, std::move(new_));
    const Node made(graph_, id);
    graph_.InferNow(made);
    for (const ir::OutputMapping& mapping : outputs) {
      Port output = made.out_port(mapping.external);
      if (!mapping.axis) output = graph_.CreateNode("opset1.Unsqueeze", {output, OuterAxis()}).out_port(0);
      places.emplace_back(loop_.out_port(mapping.external), output);
    }
    graph_.TakeOutputs(places);
  }

  struct Slice {
    Port source;
    std::array<int64_t, 3> range;
    Port row;
  };
  struct PortLess {
    bool operator()(const ir::OutputPort& a, const ir::OutputPort& b) const {
      return std::pair(a.node.index, a.index) < std::pair(b.node.index, b.index);
    }
  };

  Graph& graph_;
  Node loop_;
  const ir::Body& old_;
  ir::Body new_;
  Graph made_;                                      // views the body's graph
  std::map<ir::OutputPort, Port, PortLess> ports_;  // values for those of the old body
  std::map<int32_t, int32_t> states_;               // parameters, by those of the old body
  std::vector<std::pair<Port, bool>> sources_;      // inputs of the new loop, and whether they are states
  std::vector<Slice> slices_;
  std::optional<Port> axis_;
};

}  // namespace

class RecurrentLoopForm : public MiddleReplacementPattern {
 public:
  RecurrentLoopForm() { force_clean_up = true; }
  std::string_view Description() const override {
    return "A TensorIterator over a step of an LSTM, GRU or RNN layer as exporters of scans write it, whose "
           "matrices have an axis of extent 1 before them and whose inputs of gates were multiplied before "
           "the loop, becomes one over matrices that multiplies them itself: LSTMCell, GRUCell or RNNCell. "
           "Others stay as they are.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[3,1,2]} : f32[3,1,2]
%1 = opset1.Const "w" : f32[1,2] = dense<f32[1,2]: 1.0, 2.0>
%2 = opset1.MatMul "xw" (%0, %1) {transpose_a = false, transpose_b = true} : f32[3,1,1]
%3 = opset1.Parameter "h" {element_type = f32, shape = shape[1,1,1]} : f32[1,1,1]
%4 = opset1.TensorIterator "loop" (%2, %3) : f32[3,1,1] bodies {
  "body" input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) back 0 -> 1 graph "step" {
    %0 = opset1.Parameter "part" {element_type = f32, shape = shape[1,1,1]} : f32[1,1,1]
    %1 = opset1.Parameter "state" {element_type = f32, shape = shape[1,1,1]} : f32[1,1,1]
    %2 = opset1.Const "r" : f32[1,1] = dense<f32[1,1]: 0.5>
    %3 = opset1.MatMul "q" (%1, %2) {transpose_a = false, transpose_b = true} : f32[1,1,1]
    %4 = opset1.Add "sum" (%0, %3) : f32[1,1,1]
    %5 = opset1.Tanh "next" (%4) : f32[1,1,1]
    opset1.Result "all" (%5)
  }
}
opset1.Result "y" (%4)
)";
  }
  Names RunBefore() const override { return {"middle.RecurrentCellFusion", "MiddleFinish"}; }
  Names RunAfter() const override { return {"MiddleStart"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& loop : graph.GetOpNodes("opset1.TensorIterator")) {
      if (loop.ir().bodies().size() == 1) Rewriter(graph, loop).Run();
    }
  }
};

void RegisterRecurrentLoops(TransformationList& list) {
  list.Add<middle::RecurrentLoopForm>();
}

}  // namespace nnefc::transform::middle
