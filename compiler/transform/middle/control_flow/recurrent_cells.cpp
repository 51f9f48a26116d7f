// Fusion of recurrent cells from the operations of their gates.

#include "compiler/transform/middle/control_flow/recurrent_cells.h"

#include <map>
#include <string>

#include "compiler/transform/middle/fusions/linear_form.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

using ir::ElementFunction;

// A state at the start of a run or an iteration, and its next value.
struct State {
  Port now;
  Port next;
};
using States = std::vector<State>;

// Returns the states of a loop body: parameters with back edges.
States StatesOfBody(Graph& graph, const ir::Body& body) {
  States states;
  for (const ir::BackEdge& edge : body.back_edges) {
    const Node result(graph, body.graph->results()[static_cast<size_t>(edge.result)]);
    const Node parameter(graph, body.graph->parameters()[static_cast<size_t>(edge.parameter)]);
    states.push_back({parameter.out_port(0), result.in_port(0).GetSource()});
  }
  return states;
}

// Returns the states of a model: variables that are read and assigned.
States StatesOfModel(Graph& graph) {
  std::map<std::string, Port> next;
  for (const Node& node : graph.GetNodes()) {
    if (node.ir().Is(ir::OpRole::kAssign))
      next.try_emplace(node.ir().String("variable_id"), node.in_port(0).GetSource());
  }
  States states;
  for (const Node& node : graph.GetNodes()) {
    if (!node.ir().Is(ir::OpRole::kReadValue)) continue;
    const auto found = next.find(node.ir().String("variable_id"));
    if (found != next.end()) states.push_back({node.out_port(0), found->second});
  }
  return states;
}

bool IsState(const States& states, const Port& now, const Port& next) {
  return llvm::any_of(states, [&](const State& state) { return state.now == now && state.next == next; });
}

// Returns the two inputs of a node with this function, optionally swapped; nothing for other nodes.
std::optional<std::pair<Port, Port>> Operands(const Port& output, ElementFunction function, bool swapped) {
  const Node node = output.node();
  if (!node.ir().Is(function)) return std::nullopt;
  const Port a = node.in_port(swapped ? 1 : 0).GetSource(), b = node.in_port(swapped ? 0 : 1).GetSource();
  if (!(a.shape() == output.shape()) || !(b.shape() == output.shape())) return std::nullopt;
  return std::pair(a, b);
}

// Returns the argument of a unary function.
std::optional<Port> Under(const Port& output, ElementFunction function) {
  const Node node = output.node();
  if (!node.ir().Is(function)) return std::nullopt;
  return node.in_port(0).GetSource();
}

// A matched cell, with its gates in the order of OpenVINO's weights.
struct Cell {
  const char* operation;
  ir::AttributeMap attributes;
  std::vector<LinearForm> gates;
  Port x, h;
  std::optional<Port> c;          // LSTM only
  std::vector<float> extra_bias;  // GRU with linear_before_reset only
  std::vector<Port> outputs;      // the values that its outputs replace
};

class CellFinder {
 public:
  explicit CellFinder(const States& states) : states_(states) {}

  // Returns the cell whose next hidden state is `output`.
  std::optional<Cell> Find(const Port& output) {
    const ir::PartialShape& shape = output.shape();
    if (output.data().type != ElementType::kF32 || !shape.rank_known() || shape.rank() != 2 || !shape.known())
      return std::nullopt;
    for (const auto find : {&CellFinder::FindLstm, &CellFinder::FindGru, &CellFinder::FindRnn}) {
      std::optional<Cell> cell = (this->*find)(output);
      if (cell && IsWhole(*cell)) return cell;
    }
    return std::nullopt;
  }

 private:
  // Matches c' = sigmoid(f) * c + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(c').
  std::optional<Cell> FindLstm(const Port& output) {
    for (int order = 0; order < 16; ++order) {
      const auto hidden = Operands(output, ElementFunction::kMultiply, (order & 1) != 0);
      if (!hidden) return std::nullopt;
      const auto o = Under(hidden->first, ElementFunction::kSigmoid);
      const auto next = Under(hidden->second, ElementFunction::kTanh);
      if (!o || !next) continue;
      const auto sum = Operands(*next, ElementFunction::kAdd, (order & 2) != 0);
      if (!sum) return std::nullopt;
      const auto kept = Operands(sum->first, ElementFunction::kMultiply, (order & 4) != 0);
      const auto added = Operands(sum->second, ElementFunction::kMultiply, (order & 8) != 0);
      if (!kept || !added) continue;
      const auto f = Under(kept->first, ElementFunction::kSigmoid);
      const auto i = Under(added->first, ElementFunction::kSigmoid);
      const auto g = Under(added->second, ElementFunction::kTanh);
      if (!f || !i || !g) continue;
      Cell cell{.operation = "opset4.LSTMCell",
                .gates = {},
                .x = output,
                .h = output,
                .c = kept->second,
                .outputs = {output, *next}};
      matched_ = {output.node(),      hidden->first.node(), hidden->second.node(),
                  next->node(),       sum->first.node(),    sum->second.node(),
                  kept->first.node(), added->first.node(),  added->second.node()};
      if (AddGates(cell, {*f, *i, *g, *o}) && ChooseSources(cell, output)) return cell;
    }
    return std::nullopt;
  }

  // Matches h' = z * h + (1 - z) * tanh(n), in any equivalent form.
  std::optional<Cell> FindGru(const Port& output) {
    for (int order = 0; order < 8; ++order) {
      matched_ = {output.node()};
      const auto mix = FindMix(output, order);
      if (!mix) continue;
      const auto z = Under(mix->gate, ElementFunction::kSigmoid);
      // Either value may be the state; for the second one the gate is 1 - z.
      for (const bool is_kept : {true, false}) {
        const Port h = is_kept ? mix->first : mix->second;
        const auto n = Under(is_kept ? mix->second : mix->first, ElementFunction::kTanh);
        if (!z || !n) continue;
        Cell cell{.operation = "opset3.GRUCell", .gates = {}, .x = output, .h = h, .outputs = {output}};
        const std::vector<Node> matched = matched_;
        matched_.push_back(mix->gate.node());
        matched_.push_back((is_kept ? mix->second : mix->first).node());
        if (AddGruGates(cell, *z, *n, !is_kept)) return cell;
        matched_ = matched;
      }
    }
    return std::nullopt;
  }

  // A value gate * first + (1 - gate) * second.
  struct Mix {
    Port gate, first, second;
  };
  std::optional<Mix> FindMix(const Port& output, int order) {
    const auto sum = Operands(output, ElementFunction::kAdd, (order & 1) != 0);
    if (!sum) return std::nullopt;
    const auto left = Operands(sum->first, ElementFunction::kMultiply, (order & 2) != 0);
    if (!left) return std::nullopt;
    // The form second + gate * (first - second).
    if (const auto difference = Operands(left->second, ElementFunction::kSubtract, false);
        difference && difference->second == sum->second) {
      matched_.insert(matched_.end(), {sum->first.node(), left->second.node()});
      return Mix{left->first, difference->first, sum->second};
    }
    const auto right = Operands(sum->second, ElementFunction::kMultiply, (order & 4) != 0);
    if (!right) return std::nullopt;
    const Node rest = right->first.node();
    if (!rest.ir().Is(ElementFunction::kSubtract) || KnownNumber(rest.in_port(0)) != 1 ||
        !(rest.in_port(1).GetSource() == left->first))
      return std::nullopt;
    matched_.insert(matched_.end(), {sum->first.node(), sum->second.node(), rest});
    return Mix{left->first, left->second, right->second};
  }

  bool AddGruGates(Cell& cell, const Port& z, const Port& n, bool negated) {
    if (!AddGates(cell, {z})) return false;
    if (negated) cell.gates[0].Negate();
    std::optional<LinearForm> candidate = Read(n);
    if (!candidate) return false;
    std::optional<LinearForm> before;  // form of h only, multiplied by the reset gate
    std::optional<Port> reset;
    if (candidate->others.size() == 1 && candidate->terms.size() == 1) {
      // The form tanh(x W + r * (h R + b)).
      for (const bool swapped : {false, true}) {
        if (reset) break;  // the first order matches
        const auto product = Operands(candidate->others[0], ElementFunction::kMultiply, swapped);
        if (!product) continue;
        reset = Under(product->first, ElementFunction::kSigmoid);
        before = reset ? LinearForm::Of(product->second) : std::nullopt;
        if (!before || before->terms.size() != 1 || !before->others.empty() ||
            !(before->terms[0].source == cell.h)) {
          reset.reset();
          continue;
        }
        matched_.insert(matched_.end(), {candidate->others[0].node(), product->first.node()});
        matched_.insert(matched_.end(), before->nodes.begin(), before->nodes.end());
        cell.x = candidate->terms[0].source;
        cell.extra_bias = before->bias;
        candidate->terms.push_back({cell.h, std::move(before->terms[0].weights)});
        candidate->others.clear();
        cell.attributes.Set("linear_before_reset", true);
      }
    } else if (candidate->others.empty() && candidate->terms.size() == 2) {
      // The form tanh(x W + (r * h) R + b).
      for (LinearForm::Term& term : candidate->terms) {
        for (const bool swapped : {false, true}) {
          const auto product = Operands(term.source, ElementFunction::kMultiply, swapped);
          if (!product || reset || !(product->second == cell.h)) continue;
          reset = Under(product->first, ElementFunction::kSigmoid);
          if (!reset) continue;
          matched_.insert(matched_.end(), {term.source.node(), product->first.node()});
          cell.x = candidate->terms[&term == &candidate->terms[0] ? 1 : 0].source;
          term.source = cell.h;
        }
      }
    }
    if (!reset || !AddGates(cell, {*reset})) return false;
    cell.gates.push_back(std::move(*candidate));
    // The candidate alone may read the state twice: as it is and after the reset.
    if (cell.x == cell.h) return false;
    return llvm::all_of(cell.gates, [&](const LinearForm& gate) {
      return gate.terms.size() == 2 && gate.TermOf(cell.x) != nullptr && gate.TermOf(cell.h) != nullptr;
    });
  }

  // Matches h' = f(x W + h R + b) for known states only: any sum of two layers has this form.
  std::optional<Cell> FindRnn(const Port& output) {
    if (llvm::none_of(states_, [&](const State& state) { return state.next == output; })) return std::nullopt;
    constexpr std::pair<ElementFunction, const char*> kActivations[] = {
        {ElementFunction::kTanh, "tanh"},
        {ElementFunction::kSigmoid, "sigmoid"},
        {ElementFunction::kRelu, "relu"}};
    for (const auto& [function, name] : kActivations) {
      const auto gate = Under(output, function);
      if (!gate) continue;
      Cell cell{.operation = "opset1.RNNCell", .gates = {}, .x = output, .h = output, .outputs = {output}};
      matched_ = {output.node()};
      cell.attributes.Set("activations", name);
      if (!AddGates(cell, {*gate}) || !ChooseSources(cell, output)) return std::nullopt;
      if (IsState(states_, cell.h, output)) return cell;
    }
    return std::nullopt;
  }

  std::optional<LinearForm> Read(const Port& port) {
    std::optional<LinearForm> form = LinearForm::Of(port);
    if (form) matched_.insert(matched_.end(), form->nodes.begin(), form->nodes.end());
    return form;
  }

  // Adds gates with two sources.
  bool AddGates(Cell& cell, llvm::ArrayRef<Port> ports) {
    for (const Port& port : ports) {
      std::optional<LinearForm> form = Read(port);
      if (!form || !form->others.empty() || form->terms.size() != 2) return false;
      cell.gates.push_back(std::move(*form));
    }
    return true;
  }

  // Determines the source that is the hidden state, since both are multiplied in the same way.
  bool ChooseSources(Cell& cell, const Port& output) const {
    const Port first = cell.gates[0].terms[0].source, second = cell.gates[0].terms[1].source;
    const int64_t hidden = output.shape()[1].value();
    const bool is_first = IsState(states_, first, output) ||
                          (!IsState(states_, second, output) && second.shape()[1].value() != hidden);
    cell.x = is_first ? second : first;
    cell.h = is_first ? first : second;
    return llvm::all_of(cell.gates, [&](const LinearForm& gate) {
      return gate.TermOf(cell.x) != nullptr && gate.TermOf(cell.h) != nullptr;
    });
  }

  // Returns true if the states have the extents of a cell and no other node reads its inner values.
  bool IsWhole(const Cell& cell) const {
    const ir::PartialShape& shape = cell.outputs[0].shape();
    if (!(cell.h.shape() == shape) || (cell.c && !(cell.c->shape() == shape))) return false;
    if (!(cell.x.shape()[0] == shape[0])) return false;
    return llvm::all_of(matched_, [&](const Node& node) {
      return llvm::all_of(node.out_ports(), [&](const Port& port) {
        return llvm::is_contained(cell.outputs, port) ||
               llvm::all_of(port.GetDestinations(),
                            [&](const Port& reader) { return llvm::is_contained(matched_, reader.node()); });
      });
    });
  }

  const States& states_;
  std::vector<Node> matched_;  // the nodes of the current match
};

void Replace(Graph& graph, const Cell& cell) {
  const Node last = cell.outputs[0].node();
  const int64_t hidden = cell.outputs[0].shape()[1].value();
  const auto constant = [&](const char* name, Shape shape, const std::vector<float>& values) {
    return graph.CreateConst(TensorValue::FromFloats(shape, values), graph.UniqueName(last.name() + name))
        .out_port(0);
  };
  std::vector<float> w, r, b;
  for (const LinearForm& gate : cell.gates) {
    for (const auto& [all, source] : {std::pair(&w, cell.x), std::pair(&r, cell.h)})
      all->insert(all->end(), gate.TermOf(source)->begin(), gate.TermOf(source)->end());
    b.insert(b.end(), gate.bias.begin(), gate.bias.end());
  }
  b.insert(b.end(), cell.extra_bias.begin(), cell.extra_bias.end());
  std::vector<Port> sources = {cell.x, cell.h};
  if (cell.c) sources.push_back(*cell.c);
  const auto rows = static_cast<int64_t>(cell.gates.size()) * hidden;
  sources.push_back(constant("/w", {rows, cell.x.shape()[1].value()}, w));
  sources.push_back(constant("/r", {rows, hidden}, r));
  sources.push_back(constant("/b", {static_cast<int64_t>(b.size())}, b));
  Graph::Spec spec{.attributes = cell.attributes,
                   .num_outputs = static_cast<int32_t>(cell.outputs.size()),
                   .origin = last.ir().origin()};
  spec.attributes.Set("hidden_size", hidden);
  const Node made = graph.CreateNode(cell.operation, sources, std::move(spec));
  for (size_t i = cell.outputs.size(); i-- > 1;)
    graph.Bypass(cell.outputs[i], made.out_port(static_cast<int32_t>(i)));
  TakePlace(graph, last, made);
}

// Replaces all cells found and returns their number.
int64_t FuseAll(Graph& graph, const States& states) {
  int64_t count = 0;
  for (const Node& node : graph.GetNodes()) {
    if (!node.exists() || node.num_out_ports() != 1) continue;
    const auto cell = CellFinder(states).Find(node.out_port(0));
    if (!cell) continue;
    Replace(graph, *cell);
    ++count;
  }
  return count;
}

}  // namespace

int64_t FuseCellsOfBody(Graph& graph, const ir::Body& body) {
  return FuseAll(graph, StatesOfBody(graph, body));
}

class RecurrentCellFusion : public MiddleReplacementPattern {
 public:
  RecurrentCellFusion() { force_clean_up = true; }
  std::string_view Description() const override {
    return "In the body of a TensorIterator, a step of an LSTM or GRU layer that is written gate by gate "
           "becomes "
           "LSTMCell or GRUCell: gates that are sums of products with constant matrices, of any order of "
           "rows, "
           "together or one by one. tanh, sigmoid or relu of such a sum becomes RNNCell where one of its "
           "values "
           "is the state that it computes.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,3]} : f32[1,3]
%1 = opset1.Parameter "h" {element_type = f32, shape = shape[1,1]} : f32[1,1]
%2 = opset1.TensorIterator "loop" (%0, %1) : f32[1,1] bodies {
  "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 back 0 -> 1 graph "step" {
    %0 = opset1.Parameter "part" {element_type = f32, shape = shape[1,1]} : f32[1,1]
    %1 = opset1.Parameter "state" {element_type = f32, shape = shape[1,1]} : f32[1,1]
    %2 = opset1.Const "w" : f32[1,1] = dense<f32[1,1]: 2.0>
    %3 = opset1.MatMul "p" (%0, %2) {transpose_a = false, transpose_b = true} : f32[1,1]
    %4 = opset1.Const "r" : f32[1,1] = dense<f32[1,1]: 0.5>
    %5 = opset1.MatMul "q" (%1, %4) {transpose_a = false, transpose_b = true} : f32[1,1]
    %6 = opset1.Add "sum" (%3, %5) : f32[1,1]
    %7 = opset1.Tanh "next" (%6) : f32[1,1]
    opset1.Result "last" (%7)
  }
}
opset1.Result "y" (%2)
)";
  }
  Names RunBefore() const override { return {"middle.TensorIteratorToSequence", "MiddleFinish"}; }
  Names RunAfter() const override { return {"MiddleStart"}; }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetNodes()) {
      if (!node.ir().Is(ir::OpRole::kTensorIterator)) continue;
      ir::Body& body = graph.Raw().body(node.id(), 0);
      Graph inner(*body.graph);
      FuseCellsOfBody(inner, body);
    }
  }
};

class RecurrentStepFusion : public MiddleReplacementPattern {
 public:
  RecurrentStepFusion() {
    force_clean_up = true;
    run_not_recursively = true;
    // Matrix multiplications with weights packed once are faster than a cell.
    enabled = false;
  }
  std::string_view Description() const override {
    return "The same as RecurrentCellFusion in a model that makes one step a run, whose states are "
           "variables. Not "
           "enabled by itself: the engine is as fast, and for a batch faster, without.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2]} : f32[1,2]
%1 = opset1.Const "zero" : f32[1,1] = dense<f32[1,1]: 0.0>
%2 = opset6.ReadValue "h" (%1) {variable_id = "h", variable_type = f32, variable_shape = shape[1,1]} : f32[1,1]
%3 = opset1.Const "w" : f32[2,1] = dense<f32[2,1]: 1.0, 2.0>
%4 = opset1.MatMul "p" (%0, %3) {transpose_a = false, transpose_b = false} : f32[1,1]
%5 = opset1.Const "r" : f32[1,1] = dense<f32[1,1]: 0.5>
%6 = opset1.MatMul "q" (%2, %5) {transpose_a = false, transpose_b = false} : f32[1,1]
%7 = opset1.Add "sum" (%4, %6) : f32[1,1]
%8 = opset1.Tanh "next" (%7) : f32[1,1]
opset6.Assign "assign" (%8) {variable_id = "h"}
opset1.Result "y" (%8)
)";
  }
  Names RunBefore() const override { return {"middle.TensorIteratorToSequence", "MiddleFinish"}; }
  Names RunAfter() const override { return {"middle.RecurrentCellFusion"}; }

  void FindAndReplacePattern(Graph& graph) override { FuseAll(graph, StatesOfModel(graph)); }
};

void RegisterRecurrentCells(TransformationList& list) {
  list.Add<middle::RecurrentCellFusion>();
  list.Add<middle::RecurrentStepFusion>();
}

}  // namespace nnefc::transform::middle
