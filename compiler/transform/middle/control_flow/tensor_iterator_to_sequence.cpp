// Conversion of loops over a recurrent cell to sequences.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// A cell and its sequence, with the number of states.
struct CellKind {
  std::string_view set, cell, sequence;
  int32_t states;
};
constexpr CellKind kCells[] = {{"opset4", "LSTMCell", "opset5.LSTMSequence", 2},
                               {"opset3", "GRUCell", "opset5.GRUSequence", 1},
                               {"opset1", "RNNCell", "opset5.RNNSequence", 1}};

const CellKind* KindOf(const ir::Graph& graph, const ir::Node& node) {
  const CellKind* kind = llvm::find_if(
      kCells, [&](const CellKind& each) { return node.op() == graph.registry().Find(each.set, each.cell); });
  return kind == std::end(kCells) ? nullptr : kind;
}

// The direction of a range that traverses a whole axis in single steps.
enum class Direction : uint8_t { kNeither, kForward, kBackward };
template <typename Mapping>
Direction DirectionOf(const Mapping& mapping) {
  if (mapping.part_size != 1) return Direction::kNeither;
  if (mapping.start == 0 && mapping.end == -1 && mapping.stride == 1) return Direction::kForward;
  if (mapping.start == -1 && mapping.end == 0 && mapping.stride == -1) return Direction::kBackward;
  return Direction::kNeither;
}

// Returns true if `node` is a view of its first input, and `wide` is `narrow` plus the axis `axis` of extent
// 1.
bool IsViewAlong(const ir::Node& node, int64_t axis, const ir::PartialShape& wide,
                 const ir::PartialShape& narrow) {
  if (!node.Is(ir::OpRole::kView) || !wide.rank_known() || !narrow.rank_known()) return false;
  if (wide.rank() != narrow.rank() + 1 || axis < 0 || axis >= wide.rank()) return false;
  if (!wide.known() || !narrow.known()) return false;
  Shape extents = *wide.extents();
  if (extents[static_cast<size_t>(axis)] != 1) return false;
  extents.erase(extents.begin() + axis);
  return extents == narrow.extents();
}

// The parts of a loop body that is exactly one cell.
class CellBody {
 public:
  // Returns nothing for any other body.
  static std::optional<CellBody> Match(const ir::Node& loop) {
    if (loop.bodies().size() != 1) return std::nullopt;
    CellBody found(loop.bodies()[0]);
    if (!found.FindCell() || !found.MatchInput() || !found.MatchStates() || !found.MatchOutputs())
      return std::nullopt;
    return found;
  }

  const CellKind& kind() const { return *kind_; }
  const ir::Node& cell() const { return body_->graph->node(cell_); }
  Direction direction() const { return direction_; }
  const ir::InputMapping& data() const { return *data_; }
  // Returns the loop input with the initial value of a state.
  int32_t initial(int32_t state) const { return initial_[static_cast<size_t>(state)]; }
  const ir::Body& body() const { return *body_; }

  // The source of a cell's input: a constant of the body, or a loop input shared by all iterations.
  const TensorValue* ConstantOf(int32_t input) const {
    const ir::Node& node = body_->graph->node(cell().input(input).node);
    return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
  }
  std::optional<int32_t> SharedInput(int32_t input) const {
    const ir::InputMapping* mapping = MappingOf(cell().input(input).node);
    if (mapping == nullptr || mapping->axis || EndsBackEdge(mapping->internal)) return std::nullopt;
    return mapping->external;
  }

 private:
  explicit CellBody(const ir::Body& body) : body_(&body) {}

  bool FindCell() {
    const ir::Graph& graph = *body_->graph;
    for (ir::NodeId id : graph.nodes()) {
      const ir::Node& node = graph.node(id);
      if (const CellKind* kind = KindOf(graph, node)) {
        if (kind_ != nullptr) return false;
        kind_ = kind;
        cell_ = id;
      } else if (node.info().is_sink || node.Is(ir::OpRole::kReadValue)) {
        return false;
      }
    }
    return kind_ != nullptr;
  }

  // Matches the cell's data: a slice without the sliced axis.
  bool MatchInput() {
    const ir::Graph& graph = *body_->graph;
    const ir::Node& view = graph.node(cell().input(0).node);
    if (view.num_inputs() == 0) return false;
    data_ = MappingOf(view.input(0).node);
    if (data_ == nullptr || !data_->axis || *data_->axis > 1) return false;
    direction_ = DirectionOf(*data_);
    return direction_ != Direction::kNeither &&
           IsViewAlong(view, *data_->axis, graph.output(view.input(0)).shape, view.output().shape);
  }

  // Matches the states: each is carried from the previous iteration. Weights must be the same in all
  // iterations.
  bool MatchStates() {
    for (int32_t state = 0; state < kind_->states; ++state) {
      const ir::InputMapping* mapping = MappingOf(cell().input(1 + state).node);
      if (mapping == nullptr || mapping->axis) return false;
      const auto is_carried = [&](const ir::BackEdge& edge) {
        return edge.parameter == mapping->internal && SourceOf(edge.result) == cell().port(state);
      };
      if (llvm::none_of(body_->back_edges, is_carried)) return false;
      initial_.push_back(mapping->external);
    }
    for (int32_t input = 1 + kind_->states; input < cell().num_inputs(); ++input) {
      if (ConstantOf(input) == nullptr && !SharedInput(input)) return false;
    }
    return cell().num_inputs() == kind_->states + 4;
  }

  // Matches the results: final states, or all hidden states concatenated along an axis.
  bool MatchOutputs() const {
    const ir::Graph& graph = *body_->graph;
    return llvm::all_of(body_->outputs, [&](const ir::OutputMapping& mapping) {
      const ir::OutputPort source = SourceOf(mapping.internal);
      if (!mapping.axis) return source.node == cell_;
      const ir::Node& view = graph.node(source.node);
      return *mapping.axis <= 1 && DirectionOf(mapping) == direction_ && view.num_inputs() > 0 &&
             view.input(0) == cell().port() &&
             IsViewAlong(view, *mapping.axis, view.output().shape, cell().output().shape);
    });
  }

  const ir::InputMapping* MappingOf(ir::NodeId parameter) const {
    for (const ir::InputMapping& mapping : body_->inputs) {
      if (body_->graph->parameters()[static_cast<size_t>(mapping.internal)] == parameter &&
          mapping.external >= 0)
        return &mapping;
    }
    return nullptr;
  }
  bool EndsBackEdge(int32_t parameter) const {
    return llvm::any_of(body_->back_edges,
                        [&](const ir::BackEdge& edge) { return edge.parameter == parameter; });
  }
  ir::OutputPort SourceOf(int32_t result) const {
    return body_->graph->node(body_->graph->results()[static_cast<size_t>(result)]).input(0);
  }

  const ir::Body* body_;
  const CellKind* kind_ = nullptr;
  ir::NodeId cell_ = {};
  const ir::InputMapping* data_ = nullptr;
  Direction direction_ = Direction::kNeither;
  std::vector<int32_t> initial_;
};

}  // namespace

class TensorIteratorToSequence : public MiddleReplacementPattern {
 public:
  TensorIteratorToSequence() { force_clean_up = true; }
  std::string_view Description() const override {
    return "A TensorIterator whose body is one LSTMCell, GRUCell or RNNCell over slices of its data becomes "
           "LSTMSequence, GRUSequence or RNNSequence.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,3,2]} : f32[1,3,2]
%1 = opset1.Parameter "h" {element_type = f32, shape = shape[1,1]} : f32[1,1]
%2 = opset1.TensorIterator "loop" (%0, %1) : f32[1,3,1] bodies {
  "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) back 1 -> 1 graph "step" {
    %0 = opset1.Parameter "part" {element_type = f32, shape = shape[1,1,2]} : f32[1,1,2]
    %1 = opset1.Parameter "state" {element_type = f32, shape = shape[1,1]} : f32[1,1]
    %2 = opset1.Const "axis" : i64[1] = dense<i64[1]: 1>
    %3 = opset1.Squeeze "row" (%0, %2) : f32[1,2]
    %4 = opset1.Const "w" : f32[1,2] = dense<f32[1,2]: 1.0, 2.0>
    %5 = opset1.Const "r" : f32[1,1] = dense<f32[1,1]: 0.5>
    %6 = opset1.Const "b" : f32[1] = dense<f32[1]: 0.0>
    %7 = opset1.RNNCell "cell" (%3, %1, %4, %5, %6) {hidden_size = 1} : f32[1,1]
    %8 = opset1.Unsqueeze "column" (%7, %2) : f32[1,1,1]
    opset1.Result "all" (%8)
    opset1.Result "last" (%7)
  }
}
opset1.Result "y" (%2)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& loop : graph.GetOpNodes("opset1.TensorIterator")) {
      if (const std::optional<CellBody> body = CellBody::Match(loop.ir())) Replace(graph, loop, *body);
    }
  }

 private:
  static void Replace(Graph& graph, const Node& loop, const CellBody& body) {
    const ir::Origin origin = loop.ir().origin();
    const auto add = [&](const char* op, llvm::ArrayRef<Port> sources) {
      return graph.CreateNode(op, sources, {.origin = origin}).out_port(0);
    };
    const auto ints = [&](std::vector<int64_t> values) {
      return graph.CreateConst(TensorValue::FromInts({static_cast<int64_t>(values.size())}, values))
          .out_port(0);
    };
    // Sequences have the batch axis first.
    const auto turned = [&](const Port& port) { return add("opset1.Transpose", {port, ints({1, 0, 2})}); };
    const auto input = [&](int32_t index) { return loop.in_port(index).GetSource(); };
    const Port given = input(body.data().external);
    const Port x = *body.data().axis == 0 ? turned(given) : given;
    std::vector<Port> sources = {x};
    for (int32_t state = 0; state < body.kind().states; ++state)
      sources.push_back(add("opset1.Unsqueeze", {input(body.initial(state)), ints({1})}));
    sources.push_back(Lengths(graph, x));
    for (int32_t i = 1 + body.kind().states; i < body.cell().num_inputs(); ++i) {
      const TensorValue* constant = body.ConstantOf(i);
      if (constant == nullptr) {
        sources.push_back(add("opset1.Unsqueeze", {input(*body.SharedInput(i)), ints({0})}));
        continue;
      }
      Shape shape = constant->shape();
      shape.insert(shape.begin(), 1);
      sources.push_back(graph.CreateConst(constant->Reshaped(shape)).out_port(0));
    }
    Graph::Spec spec{.name = graph.UniqueName(loop.name() + "/sequence"),
                     .attributes = body.cell().attributes(),
                     .num_outputs = body.kind().states + 1,
                     .origin = origin};
    spec.attributes.Set("direction", body.direction() == Direction::kForward ? "forward" : "reverse");
    const Node sequence = graph.CreateNode(body.kind().sequence, sources, std::move(spec));
    for (const ir::OutputMapping& mapping : body.body().outputs) {
      const ir::OutputPort state = StateOf(body, mapping);
      const int32_t output = mapping.axis ? 0 : 1 + state.index;
      Port made = add("opset1.Squeeze", {sequence.out_port(output), ints({1})});
      if (mapping.axis && *mapping.axis == 0) made = turned(made);
      graph.Bypass(loop.out_port(mapping.external), made);
    }
  }

  // Returns the state that a result without a view returns.
  static ir::OutputPort StateOf(const CellBody& body, const ir::OutputMapping& mapping) {
    const ir::Graph& graph = *body.body().graph;
    return graph.node(graph.results()[static_cast<size_t>(mapping.internal)]).input(0);
  }

  // Returns the sequence lengths: the number of steps of x [batch, steps, ..] for each batch element.
  static Port Lengths(Graph& graph, const Port& x) {
    const ir::PartialShape& shape = x.shape();
    constexpr int64_t kMaxWritten = 4096;
    if (shape[0].known() && shape[1].known() && shape[0].value() <= kMaxWritten) {
      const std::vector<int64_t> lengths(static_cast<size_t>(shape[0].value()), shape[1].value());
      return graph.CreateConst(TensorValue::FromInts({shape[0].value()}, lengths)).out_port(0);
    }
    const Port extents = graph.CreateNode("opset3.ShapeOf", {x}).out_port(0);
    const auto extent = [&](int64_t axis) {
      const Port index = graph.CreateConst(TensorValue::FromInts({1}, {axis})).out_port(0);
      const Port along = graph.CreateConst(TensorValue::FromInts({}, {0})).out_port(0);
      return graph.CreateNode("opset8.Gather", {extents, index, along}).out_port(0);
    };
    return graph.CreateNode("opset3.Broadcast", {extent(1), extent(0)}).out_port(0);
  }
};

void RegisterTensorIteratorToSequence(TransformationList& list) {
  list.Add<middle::TensorIteratorToSequence>();
}

}  // namespace nnefc::transform::middle
