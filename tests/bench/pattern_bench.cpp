// Times a pattern in a graph of 100,000 nodes: finding 10,000 matches, and finding and replacing them with
// all work of the pipeline.

#include <benchmark/benchmark.h>

#include "compiler/transform/pipeline/pipeline.h"

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

}  // namespace
}  // namespace nnefc::transform

BENCHMARK_MAIN();
