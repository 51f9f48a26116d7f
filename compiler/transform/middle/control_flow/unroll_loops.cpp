// Unrolling of loops with few iterations.

#include "compiler/transform/middle/control_flow/unroll_loops.h"

#include <algorithm>

#include "compiler/ir/ops/opset/control_flow/iterations.h"
#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// The maximum number of nodes of an unrolled loop: iterations times nodes of the body, including nested
// unrolled loops.
constexpr int64_t kMaxUnrolledNodes = 512;

template <typename Mapping>
ir::ops::opset::PartRange RangeOf(const Mapping& mapping) {
  return {mapping.start, mapping.end, mapping.stride, mapping.part_size};
}

// The unrolling of one loop.
class Unroller {
 public:
  Unroller(Graph& graph, const Node& loop, int64_t iterations, bool copies_results)
      : graph_(graph),
        loop_(loop),
        body_(loop.ir().bodies()[0]),
        iterations_(iterations),
        copies_results_(copies_results) {}

  // Replaces the loop by its iterations and returns the loops among their nodes. Does nothing if a result
  // would be a constant, a parameter or another result.
  std::vector<Node> Run() {
    parts_.resize(body_.inputs.size());
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      if (body_.inputs[i].axis) parts_[i] = PartsOf(body_.inputs[i]);
    }
    for (int64_t k = 0; k < iterations_; ++k) {
      Graph::InlinedBody made = graph_.InlineBody(loop_, 0, ParametersAt(k));
      results_.push_back(std::move(made.results));
      nodes_.insert(nodes_.end(), made.nodes.begin(), made.nodes.end());
    }
    std::vector<Port> outputs(static_cast<size_t>(loop_.num_out_ports()), loop_.out_port(0));
    for (const ir::OutputMapping& mapping : body_.outputs) {
      if (mapping.external >= 0) outputs[static_cast<size_t>(mapping.external)] = OutputOf(mapping);
    }
    if (!KeepsResults(outputs)) return {};
    for (const Port& output : loop_.out_ports())
      graph_.Bypass(output, outputs[static_cast<size_t>(output.index())]);
    if (outputs.size() == 1 && IsMade(outputs[0].node())) graph_.TakeName(loop_, outputs[0].node());
    graph_.Remove(loop_);
    llvm::erase_if(nodes_, [](const Node& node) { return !ir::ops::opset::IsLoop(node.ir()); });
    return std::move(nodes_);
  }

 private:
  Port Add(const char* op, llvm::ArrayRef<Port> sources, Graph::Spec spec = {}) {
    spec.origin = loop_.ir().origin();
    spec.name = graph_.UniqueName(loop_.name() + "/" + (op + std::string_view(op).find('.') + 1));
    return nodes_.emplace_back(graph_.CreateNode(op, sources, std::move(spec))).out_port(0);
  }
  Port Ints(llvm::ArrayRef<int64_t> values) {
    return graph_.CreateConst(TensorValue::FromInts({static_cast<int64_t>(values.size())}, values))
        .out_port(0);
  }
  Port Int(int64_t value) { return graph_.CreateConst(TensorValue::FromInts({}, {value})).out_port(0); }

  // Returns the slices of an input, by iteration.
  std::vector<Port> PartsOf(const ir::InputMapping& mapping) {
    Port whole = loop_.in_port(mapping.external).GetSource();
    const int64_t extent = whole.shape()[*mapping.axis].value();
    const auto offset = [&](int64_t k) { return ir::ops::opset::PartOffset(RangeOf(mapping), extent, k); };
    const int64_t first = std::min(offset(0), offset(iterations_ - 1));
    const int64_t last = first + iterations_ * mapping.part_size;
    if (first != 0 || last != extent)
      whole = Add("opset8.Slice", {whole, Ints({first}), Ints({last}), Ints({1}), Ints({*mapping.axis})});
    if (iterations_ == 1) return {whole};
    Graph::Spec spec{.num_outputs = static_cast<int32_t>(iterations_)};
    spec.attributes.Set("num_splits", iterations_);
    const Node split = Add("opset1.Split", {whole, Int(*mapping.axis)}, std::move(spec)).node();
    std::vector<Port> parts;
    for (int64_t k = 0; k < iterations_; ++k)
      parts.push_back(split.out_port(static_cast<int32_t>((offset(k) - first) / mapping.part_size)));
    return parts;
  }

  // Returns the values of the body's parameters in an iteration.
  std::vector<Port> ParametersAt(int64_t k) {
    std::vector<Port> parameters(body_.inputs.size(), loop_.out_port(0));
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      const ir::InputMapping& mapping = body_.inputs[i];
      Port& parameter = parameters[static_cast<size_t>(mapping.internal)];
      if (mapping.external < 0) {
        parameter = NumberOf(k, mapping.internal);
      } else {
        parameter =
            mapping.axis ? parts_[i][static_cast<size_t>(k)] : loop_.in_port(mapping.external).GetSource();
      }
    }
    if (k == 0) return parameters;
    for (const ir::BackEdge& edge : body_.back_edges)
      parameters[static_cast<size_t>(edge.parameter)] = results_.back()[static_cast<size_t>(edge.result)];
    return parameters;
  }

  // Returns the index of an iteration, with the type and rank of the body's parameter.
  Port NumberOf(int64_t k, int32_t parameter) {
    const ir::Output& wanted =
        body_.graph->node(body_.graph->parameters()[static_cast<size_t>(parameter)]).output();
    const bool is_vector = wanted.shape.rank_known() && wanted.shape.rank() == 1;
    return graph_
        .CreateConst(TensorValue::Filled(wanted.type, is_vector ? Shape{1} : Shape{}, static_cast<double>(k)))
        .out_port(0);
  }

  // Returns the value of a loop output: the last iteration's, or the concatenation of all.
  Port OutputOf(const ir::OutputMapping& mapping) {
    const auto result = static_cast<size_t>(mapping.internal);
    if (!mapping.axis) return results_.back()[result];
    std::vector<Port> parts;
    for (const std::vector<Port>& results : results_) {
      const bool is_scalar = results[result].shape().rank_known() && results[result].shape().rank() == 0;
      parts.push_back(is_scalar ? Add("opset1.Unsqueeze", {results[result], Ints({0})}) : results[result]);
    }
    if (parts.size() == 1) return parts[0];
    if (mapping.stride < 0) std::reverse(parts.begin(), parts.end());
    Graph::Spec spec;
    spec.attributes.Set("axis", *mapping.axis);
    return Add("opset1.Concat", parts, std::move(spec));
  }

  bool IsMade(const Node& node) const { return llvm::is_contained(nodes_, node); }

  // Returns true if each output that is a result of the model is a distinct output of the new nodes, or
  // becomes a copy.
  bool KeepsResults(std::vector<Port>& outputs) {
    std::vector<Port> sources;
    for (const Port& output : loop_.out_ports()) {
      const bool is_result = llvm::any_of(output.GetDestinations(), [](const Port& reader) {
        return reader.node().ir().Is(ir::OpRole::kResult);
      });
      if (!is_result) continue;
      Port& source = outputs[static_cast<size_t>(output.index())];
      const bool is_own =
          IsMade(source.node()) && source.node().num_in_ports() > 0 && !llvm::is_contained(sources, source);
      if (!is_own && !copies_results_) return false;
      if (!is_own) source = Add("opset16.Identity", {source});
      sources.push_back(source);
    }
    return true;
  }

  Graph& graph_;
  const Node loop_;
  const ir::Body& body_;
  const int64_t iterations_;
  const bool copies_results_;
  std::vector<std::vector<Port>> parts_;    // per input mapping; empty unless sliced
  std::vector<std::vector<Port>> results_;  // per iteration
  std::vector<Node> nodes_;
};

}  // namespace

void UnrollKnownLoops(Graph& graph, UnrollOptions options) {
  std::vector<Node> loops = graph.GetNodes();
  llvm::erase_if(loops, [](const Node& node) { return !ir::ops::opset::IsLoop(node.ir()); });
  while (!loops.empty()) {
    const Node loop = loops.back();
    loops.pop_back();
    const int64_t max_nodes = std::min(options.max_of_loop, options.max_in_all);
    if (!ir::ops::opset::UnrolledSize(graph.ir(), loop.ir(), max_nodes)) continue;
    const int64_t iterations = *ir::ops::opset::KnownIterations(graph.ir(), loop.ir());
    const auto nodes = static_cast<int64_t>(loop.ir().bodies()[0].graph->num_nodes());
    const std::vector<Node> made = Unroller(graph, loop, iterations, options.copies_results).Run();
    loops.insert(loops.end(), made.begin(), made.end());
    if (!loop.exists()) options.max_in_all -= iterations * nodes;
  }
}

class UnrollLoops : public MiddleReplacementPattern {
 public:
  UnrollLoops() {
    force_clean_up = true;
    // Loops of more than a few iterations run faster than their unrolled nodes.
    enabled = false;
  }
  std::string_view Description() const override {
    return "A TensorIterator, or a Loop of a known number of iterations, becomes its iterations where they "
           "are 512 nodes at most: loops within it count by theirs. It stays where its body has state, or "
           "where a result would be a constant, a parameter or another result. Not enabled by itself: from "
           "about eight iterations on, the engine runs a loop faster than what it becomes.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2]} : f32[1,2]
%1 = opset1.Parameter "h" {element_type = f32, shape = shape[1,1]} : f32[1,1]
%2 = opset1.TensorIterator "loop" (%0, %1) : f32[1,1] bodies {
  "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1 output 0 -> 0 back 0 -> 1 graph "step" {
    %0 = opset1.Parameter "part" {element_type = f32, shape = shape[1,1]} : f32[1,1]
    %1 = opset1.Parameter "state" {element_type = f32, shape = shape[1,1]} : f32[1,1]
    %2 = opset1.Maximum "larger" (%0, %1) : f32[1,1]
    opset1.Result "last" (%2)
  }
}
opset1.Result "y" (%2)
)";
  }
  Names RunBefore() const override { return {"middle.RemoveIdentity", "MiddleFinish"}; }
  Names RunAfter() const override { return {"middle.TensorIteratorToSequence", "MiddleStart"}; }

  void FindAndReplacePattern(Graph& graph) override {
    UnrollKnownLoops(graph, {.max_of_loop = kMaxUnrolledNodes});
  }
};

void RegisterUnrollLoops(TransformationList& list) {
  list.Add<middle::UnrollLoops>();
}

}  // namespace nnefc::transform::middle
