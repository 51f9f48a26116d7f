// Names of transformations in the options of a pipeline, and ports of nodes.

#include "compiler/transform/pipeline/pipeline.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class PipelineOptionsTest : public TransformTest {};

// Anchors are points in the order. They do not run, even by name.
TEST_F(PipelineOptionsTest, AnchorsDoNotRun) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("First", [](Graph&) {});
  for (const std::string& anchor : {std::string("FrontStart"), std::string("FrontFinish")}) {
    Emitter emitter;
    int runs = 0;
    PipelineOptions options{.only = {anchor}};
    options.before = [&](const Transformation&, const ir::Graph&) { ++runs; };
    std::optional<Pipeline> pipeline = Pipeline::Make(list, options, emitter);
    if (!pipeline) continue;  // not a name of a transformation
    const auto graph = Parse(kMish);
    EXPECT_TRUE(pipeline->Run(Side::kBeforeLowering, *graph, emitter));
    EXPECT_TRUE(pipeline->reports().empty()) << anchor;
    EXPECT_EQ(runs, 0) << anchor;
  }
}

// A graph is verified after each transformation on request only.
TEST_F(PipelineOptionsTest, VerificationOnRequest) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("BREAKS", [](Graph& graph) {
    graph.SetType(graph.FindNode("s")->out_port(0), ElementType::kF32, {7});
  });
  for (const bool is_verified : {false, true}) {
    const auto graph = Parse(kMish);
    Emitter emitter;
    PipelineOptions options;
    if (is_verified) options.verify = true;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, options, emitter);
    ASSERT_TRUE(pipeline.has_value());
    EXPECT_EQ(pipeline->Run(Side::kAfterLowering, *graph, emitter), !is_verified);
    EXPECT_EQ(emitter.has_errors(), is_verified);
  }
}

TEST_F(PipelineOptionsTest, PortsOfANode) {
  const auto ir = Parse(R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [2]} : f32[2]
  %1 = opset1.Add "a" (%0, %0) : f32[2]
  opset1.Result "y" (%1)
)");
  Graph graph(*ir);
  const Node add = *graph.FindNode("a");
  EXPECT_NO_THROW((void)add.in_port(0));
  EXPECT_NO_THROW((void)add.in_port(1));
  EXPECT_NO_THROW((void)add.out_port(0));
  for (const int port : {-1, 2}) EXPECT_THROW((void)add.in_port(port), Error) << port;
  for (const int port : {-1, 1}) EXPECT_THROW((void)add.out_port(port), Error) << port;
}

// An operation whose outputs are those of one other.
class TwinToSplit : public FrontReplacementOp {
 public:
  TwinToSplit() : FrontReplacementOp("Twin") {}

 protected:
  std::vector<Node> ReplaceOp(Graph& graph, const Node& node) override {
    const Node axis = graph.CreateConst(TensorValue::FromInts({}, {0}), "axis");
    Graph::Spec spec{.num_outputs = node.num_out_ports()};
    spec.attributes.Set("num_splits", static_cast<int64_t>(node.num_out_ports()));
    return {graph.CreateNode("Split", {node.in_port(0).GetSource(), axis.out_port(0)}, std::move(spec))};
  }
};

TEST_F(PipelineOptionsTest, OneReplacementOfAllOutputs) {
  for (const int outputs : {1, 2, 3}) {
    ir::OpRegistry registry(&ir::StandardOps());
    ir::OpInfo row{.set = "test", .name = "Twin", .inputs = {{.name = "data"}}};
    for (int i = 0; i < outputs; ++i) row.outputs.push_back("output" + std::to_string(i));
    registry.Add(std::move(row));
    ir::Graph graph(&registry);
    const ir::OutputPort x = {ir::AddParameter(graph, "x", ElementType::kF32, {6}), 0};
    const ir::NodeId twin =
        ir::AddNode(graph, "test", "Twin", {.name = "twin", .inputs = x, .num_outputs = outputs});
    for (int i = 0; i < outputs; ++i) {
      graph.SetOutputType({twin, i}, ElementType::kF32, {6 / outputs});
      ir::AddResult(graph, "y" + std::to_string(i), {twin, i});
    }
    TransformationList list;
    RegisterAnchors(list);
    list.Add<TwinToSplit>();
    EXPECT_EQ(Run(list, graph, Side::kBeforeLowering), "");
    for (int i = 0; i < outputs; ++i) {
      const ir::OutputPort source = graph.node(graph.results()[static_cast<size_t>(i)]).input(0);
      EXPECT_EQ(graph.node(source.node).type(), "Split") << outputs;
      EXPECT_EQ(source.index, i) << outputs;
    }
  }
}

TEST_F(PipelineOptionsTest, UnknownNamesAreErrors) {
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Calls>("First", [](Graph&) {});
  const auto is_made = [&](PipelineOptions options) {
    Emitter emitter;
    const bool made = Pipeline::Make(list, std::move(options), emitter).has_value();
    EXPECT_EQ(emitter.has_errors(), !made);
    return made;
  };
  EXPECT_TRUE(is_made({}));
  EXPECT_TRUE(is_made({.only = {"First"}}));
  EXPECT_TRUE(is_made({.stop_after = "First"}));
  EXPECT_FALSE(is_made({.only = {"Second"}}));
  EXPECT_FALSE(is_made({.only = {"First", "Second"}}));
  EXPECT_FALSE(is_made({.stop_after = "Second"}));
}

}  // namespace
}  // namespace nnefc::transform
