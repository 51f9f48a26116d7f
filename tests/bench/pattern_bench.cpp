// Times a pattern in a graph of 100,000 nodes: finding 10,000 matches, and finding and replacing them with
// all work of the pipeline. Times the built-in transformations on graphs of 10,000 nodes.

#include <benchmark/benchmark.h>

#include "compiler/transform/pipeline/pipeline.h"
#include "compiler/transform/pipeline/standard.h"

namespace nnefc::transform {
namespace {

constexpr int kMatches = 10'000;
constexpr size_t kNodes = 100'002;

// Ten operations in a row, repeated; each with another name.
ir::Graph MakeGraph() {
  static const char* const kOps[] = {"ReLU",     "Abs",  "Exp",   "Sin",  "Cos",
                                     "Negative", "Sign", "Floor", "Tanh", "Sigmoid"};
  ir::Graph graph(&ir::StandardOps());
  ir::OutputPort last{ir::AddParameter(graph, "x", ElementType::kF32, {2}), 0};
  for (int i = 0; i < kMatches; ++i) {
    for (const char* op : kOps) {
      const ir::NodeId id =
          ir::AddNode(graph, "opset1", op, {.name = fmt::format("{}{}", op, i), .inputs = last});
      graph.SetOutputType({id, 0}, ElementType::kF32, {2});
      last = {id, 0};
    }
  }
  ir::AddResult(graph, "y", last);
  return graph;
}

Pattern ThreeInARow() {
  return {.nodes = {Op("a", "ReLU"), Op("b", "Abs"), Op("c", "Exp")}, .edges = {{"a", "b"}, {"b", "c"}}};
}

class Fuse : public MiddleReplacementPattern {
 protected:
  Pattern GetPattern() const override { return ThreeInARow(); }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node made = graph.CreateNode("opset4.Mish", {match["a"].in_port(0).GetSource()});
    match["c"].out_port(0).GetConnection().SetSource(made.out_port(0));
    graph.TakeName(match["c"], made);
    RemoveNodes(graph, {match["a"], match["b"], match["c"]});
  }
};

void Find(benchmark::State& state) {
  ir::Graph ir = MakeGraph();
  Graph graph(ir);
  for (auto _ : state) {
    if (FindMatches(graph, ThreeInARow()).size() != kMatches)
      state.SkipWithError("other matches than there are");
  }
}
BENCHMARK(Find)->Unit(benchmark::kMillisecond);

void FindAndReplace(benchmark::State& state) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Fuse>();
  for (auto _ : state) {
    state.PauseTiming();
    ir::Graph graph = MakeGraph();
    Emitter emitter;
    state.ResumeTiming();
    std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
    if (!pipeline || !pipeline->Run(Side::kAfterLowering, graph, emitter) ||
        graph.num_nodes() != kNodes - 2 * kMatches)
      state.SkipWithError("the graph is not what it should be");
  }
}
BENCHMARK(FindAndReplace)->Unit(benchmark::kMillisecond);

// Convolutions with a bias and a ReLU in a row, of NNEF or OpenVINO: about 10,000 nodes.
ir::Graph MakeNet(Side side) {
  constexpr int kLayers = 2'000;
  ir::Graph graph(&ir::StandardOps());
  const auto add = [&](std::string_view set, std::string_view name,
                       std::initializer_list<ir::OutputPort> inputs, ir::AttributeMap attributes,
                       ir::PartialShape shape) {
    const ir::NodeId id = ir::AddNode(graph, set, name,
                                      {.name = fmt::format("{}{}", name, graph.num_nodes()),
                                       .inputs = inputs,
                                       .attributes = std::move(attributes)});
    graph.SetOutputType({id, 0}, ElementType::kF32, std::move(shape));
    return ir::OutputPort{id, 0};
  };
  const auto attributes = [](std::initializer_list<std::pair<std::string_view, ir::Attribute>> given) {
    ir::AttributeMap map;
    for (const auto& [name, value] : given) map.Set(name, value);
    return map;
  };
  const ir::PartialShape image{1, 1, 8, 8};
  const ir::Attribute ones(ir::Attribute::Integers{1, 1}), zeros(ir::Attribute::Integers{0, 0});
  ir::OutputPort last{ir::AddParameter(graph, "x", ElementType::kF32, image), 0};
  for (int i = 0; i < kLayers; ++i) {
    const auto number = static_cast<float>(i + 2);
    const ir::OutputPort filter{ir::AddConst(graph, TensorValue::FromFloats({1, 1, 1, 1}, {number}), ""), 0};
    if (side == Side::kBeforeLowering) {
      const ir::OutputPort bias{ir::AddConst(graph, TensorValue::FromFloats({1, 1}, {number}), ""), 0};
      const ir::OutputPort sum = add(ir::kNnefSet, "conv", {last, filter, bias}, {}, image);
      last = add(ir::kNnefSet, "relu", {add(ir::kNnefSet, "sigmoid", {sum}, {}, image)}, {}, image);
      continue;
    }
    const ir::OutputPort bias{ir::AddConst(graph, TensorValue::FromFloats({1, 1, 1, 1}, {number}), ""), 0};
    const ir::OutputPort sum =
        add("opset1", "Convolution", {last, filter},
            attributes({{"strides", ones}, {"dilations", ones}, {"pads_begin", zeros}, {"pads_end", zeros}}),
            image);
    last = add("opset1", "ReLU", {add("opset1", "Add", {sum, bias}, {}, image)}, {}, image);
  }
  ir::AddResult(graph, "y", last);
  return graph;
}

// All built-in transformations before lowering (0) or after it (1).
void BuiltIn(benchmark::State& state) {
  const Side side = state.range(0) == 0 ? Side::kBeforeLowering : Side::kAfterLowering;
  for (auto _ : state) {
    state.PauseTiming();
    auto graph = std::make_unique<ir::Graph>(MakeNet(side));
    state.ResumeTiming();
    const TransformationList list = StandardTransformations();
    Emitter emitter;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
    if (!pipeline || !pipeline->Run(side, *graph, emitter))
      state.SkipWithError(emitter.diagnostics().front().message.c_str());
    state.PauseTiming();
    graph.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(BuiltIn)->ArgName("lowered")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nnefc::transform

BENCHMARK_MAIN();
