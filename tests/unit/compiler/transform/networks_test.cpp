// The configurations in the documentation of the framework, on small networks with their names.

#include "compiler/ir/algorithms/copy.h"
#include "compiler/transform/configuration/configured.h"
#include "compiler/transform/configuration/update_configuration.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/unit/compiler/expand/expansion.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

constexpr const char* kInception = R"(version 1.0;
extension KHR_enable_fragment_definitions;

fragment conv2d(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    Conv2D = box(input, size = [1,1,3,3]);
    output = relu(Conv2D);
}
fragment average(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    AvgPool = avg_pool(input, size = [1,1,3,3]);
    output = relu(AvgPool);
}
fragment branch_0(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    Conv2d_0a_1x1 = conv2d(input);
    output = relu(Conv2d_0a_1x1);
}
fragment branch_1(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    Conv2d_0a_1x1 = conv2d(input);
    Conv2d_0b_3x3 = conv2d(Conv2d_0a_1x1);
    output = relu(Conv2d_0b_3x3);
}
fragment branch_3(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    AvgPool_0a_3x3 = average(input);
    output = relu(AvgPool_0a_3x3);
}
fragment block(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    Branch_0 = branch_0(input);
    Branch_1 = branch_1(input);
    Branch_2 = branch_1(input);
    Branch_3 = branch_3(input);
    output = concat([Branch_0, Branch_1, Branch_2, Branch_3], axis = 1);
}
fragment inception_v4(input: tensor<scalar>) -> (output: tensor<scalar>)
{
    Mixed_5a = concat([input, input], axis = 1);
    Mixed_5b = block(Mixed_5a);
    Mixed_5c = block(Mixed_5b);
    Mixed_5d = block(Mixed_5c);
    output = relu(Mixed_5d);
}

graph net(image) -> (scores)
{
    image = external<scalar>(shape = [1,1,4,4]);
    InceptionV4 = inception_v4(image);
    scores = sigmoid(InceptionV4);
}
)";

constexpr const char* kInceptionTemplate = R"([
    {
        "id": "InceptionBlockTransformation",
        "match_kind": "scope",
        "instances": [".*InceptionV4/Mixed_5b", ".*InceptionV4/Mixed_5c", ".*InceptionV4/Mixed_5d"],
        "custom_attributes": {"attr2_key": 123456, "attr1_key": "attr1_value"}
    }
])";

// A whole block as one operation.
class InceptionBlockTransformation : public FrontReplacementFromConfigFileSubGraph {
 public:
  InceptionBlockTransformation() : FrontReplacementFromConfigFileSubGraph("InceptionBlockTransformation") {}

 protected:
  SubGraph GenerateSubGraph(Graph& graph, const SubgraphMatch& match) override {
    return {{"block", graph.CreateNode("test.InceptionBlock", {},
                                       {.attributes = match.custom_attributes(), .num_inputs = 1})}};
  }
  std::map<size_t, PortName> InputEdgesMatch(Graph&, const SubgraphMatch& match, const SubGraph&) override {
    EXPECT_EQ(match.inputs_count(), 1u);
    EXPECT_EQ(match.input_nodes(0).size(), 4u);
    EXPECT_EQ(match.outputs_count(), 1u);
    EXPECT_EQ(match.output_node(0).node().op(), "concat");
    EXPECT_TRUE(match.NodeByPattern("Branch_1/Conv2d_0b_3x3/Conv2D$").has_value());
    EXPECT_FALSE(match.NodeByPattern("Branch_0/Conv2d_0b_3x3/Conv2D$").has_value());
    return {{0, {"block", 0}}};
  }
  std::map<size_t, PortName> OutputEdgesMatch(Graph&, const SubgraphMatch&, const SubGraph&) override {
    return {{0, {"block", 0}}};
  }
};

class ConfiguredNetworksTest : public TransformTest {
 protected:
  // Adds an operation with any inputs and without a shape function.
  static void AddOperation(expand::Expansion& model, std::string set, std::string name) {
    model.registry.Add({.set = std::move(set),
                        .name = std::move(name),
                        .inputs = {{.name = "inputs", .variadic = true}},
                        .outputs = {"outputs[]"}});
  }
  std::string RunConfigured(TransformationList& list, const std::string& json, ir::Graph& graph) {
    Context context;
    auto read = ReadConfiguration(context.sources.AddText("c.json", json), context);
    EXPECT_TRUE(read.has_value());
    EXPECT_TRUE(list.Configure(std::make_shared<const Configuration>(std::move(*read)), context.emitter));
    if (!context.emitter.diagnostics().empty()) return context.emitter.diagnostics().front().message;
    return Run(list, graph, Side::kBeforeLowering);
  }
};

TEST_F(ConfiguredNetworksTest, InceptionBlocksBecomeOperations) {
  expand::Expansion model(kInception);
  ASSERT_NE(model.graph, nullptr) << model.Diagnostics();
  const std::unique_ptr<ir::Graph> copy = ir::Clone(*model.graph);
  AddOperation(model, "test", "InceptionBlock");
  Context context;
  const std::optional<std::string> updated =
      UpdateConfiguration(*copy, context.sources.AddText("c.json", kInceptionTemplate), context);
  ASSERT_TRUE(updated.has_value()) << context.emitter.diagnostics().front().message;
  const auto read = ReadConfiguration(context.sources.AddText("d.json", *updated), context);
  ASSERT_TRUE(read.has_value());
  // The readers in the documentation, sorted.
  const std::vector<NodePort> readers = {{"Branch_0/Conv2d_0a_1x1/Conv2D$", 0},
                                         {"Branch_1/Conv2d_0a_1x1/Conv2D$", 0},
                                         {"Branch_2/Conv2d_0a_1x1/Conv2D$", 0},
                                         {"Branch_3/AvgPool_0a_3x3/AvgPool$", 0}};
  EXPECT_EQ(read->entries[0].inputs, (std::vector<std::vector<NodePort>>{readers}));
  EXPECT_EQ(read->entries[0].outputs, (std::vector<NodePort>{{"concat$", 0}}));

  TransformationList list;
  RegisterAnchors(list);
  list.Add<InceptionBlockTransformation>();
  EXPECT_EQ(RunConfigured(list, *updated, *copy), "");
  EXPECT_EQ(Brief(*copy),
            "external(image) concat(InceptionV4_Mixed_5a: image, image) "
            "InceptionBlock(InceptionV4_Mixed_5b: InceptionV4_Mixed_5a) "
            "InceptionBlock(InceptionV4_Mixed_5c: InceptionV4_Mixed_5b) "
            "InceptionBlock(InceptionV4_Mixed_5d: InceptionV4_Mixed_5c) "
            "relu(InceptionV4: InceptionV4_Mixed_5d) sigmoid(scores: InceptionV4) Result(scores: scores)");
  Graph graph(*copy);
  for (const Node& node : graph.GetOpNodes("InceptionBlock")) {
    EXPECT_EQ(node.Get("attr1_key"), ir::Attribute("attr1_value"));
    EXPECT_EQ(node.Get("attr2_key"), ir::Attribute(123456));
  }
}

constexpr const char* kSsd = R"(version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;

fragment postprocessor(a: tensor<scalar>, b: tensor<scalar>, c: tensor<scalar>, d: tensor<scalar>,
                       e: tensor<scalar>) -> (results: tensor<scalar>)
{
    Shape = abs(a);
    scale_logits = sigmoid(b);
    Tile = tile(c, repeats = [1,2]);
    Reshape_1 = reshape(d, shape = [1,4]);
    Cast_1 = floor(e);
    sum = add(Shape, scale_logits);
    decoded = mul(sum, Reshape_1);
    boxes = clamp(decoded, 0.0, 1.0);
    scores = add(Tile, Cast_1);
    count = sum_reduce(scores, axes = [1]);
    results = concat([boxes, scores, count], axis = 1);
}

graph ssd(image) -> (detection_boxes, detection_scores, num_detections)
{
    image = external<scalar>(shape = [1,4]);
    a = relu(image);
    b = tanh(image);
    c = slice(image, axes = [1], begin = [0], end = [2]);
    d = exp(image);
    e = neg(image);
    Postprocessor = postprocessor(a, b, c, d, e);
    detection_boxes = slice(Postprocessor, axes = [1], begin = [0], end = [4]);
    detection_scores = slice(Postprocessor, axes = [1], begin = [4], end = [8]);
    num_detections = slice(Postprocessor, axes = [1], begin = [8], end = [9]);
}
)";

constexpr const char* kSsdConfiguration = R"([
    {
        "id": "ObjectDetectionAPISSDPostprocessorReplacement",
        "match_kind": "points",
        "instances": {
            "start_points": ["Postprocessor/Cast_1", "Postprocessor/Shape", "Postprocessor/scale_logits",
                             "Postprocessor/Tile", "Postprocessor/Reshape_1"],
            "end_points": ["detection_boxes", "detection_scores", "num_detections"]
        },
        "include_outputs_to_sub_graph": true,
        "include_inputs_to_sub_graph": true,
        "custom_attributes": {
            "clip_after_nms": true,
            "clip_before_nms": false,
            "resize_mode": "caffe.ResizeParameter.WARP",
            "pad_mode": "caffe.ResizeParameter.CONSTANT",
            "code_type": "caffe.PriorBoxParameter.CENTER_SIZE"
        }
    }
])";

class ObjectDetectionAPISSDPostprocessorReplacement : public FrontReplacementFromConfigFileSubGraph {
 public:
  ObjectDetectionAPISSDPostprocessorReplacement()
      : FrontReplacementFromConfigFileSubGraph("ObjectDetectionAPISSDPostprocessorReplacement") {}

 protected:
  void ReplaceSubGraph(Graph& graph, const SubgraphMatch& match) override {
    std::vector<Port> sources;
    for (size_t i = 0; i < match.inputs_count(); ++i)
      sources.push_back(match.single_input_node(i).GetSource());
    const Node made =
        graph.CreateNode("test.DetectionOutput", sources,
                         {.name = "detections", .attributes = match.custom_attributes(), .num_outputs = 3});
    for (size_t i = 0; i < match.outputs_count(); ++i)
      match.output_node(i).GetConnection().SetSource(made.out_port(static_cast<int32_t>(i)));
    RemoveNodes(graph, match.nodes());
  }
};

TEST_F(ConfiguredNetworksTest, SsdPostprocessingBecomesOneOperation) {
  expand::Expansion model(kSsd);
  ASSERT_NE(model.graph, nullptr) << model.Diagnostics();
  const std::unique_ptr<ir::Graph> copy = ir::Clone(*model.graph);
  AddOperation(model, "test", "DetectionOutput");
  TransformationList list;
  RegisterAnchors(list);
  list.Add<ObjectDetectionAPISSDPostprocessorReplacement>();
  EXPECT_EQ(RunConfigured(list, kSsdConfiguration, *copy), "");
  EXPECT_EQ(Brief(*copy),
            "external(image) relu(a: image) tanh(b: image) slice(c: image) exp(d: image) neg(e: image) "
            "DetectionOutput(detections: e, a, b, c, d) Result(detection_boxes: detections) "
            "Result(detection_scores: detections.1) Result(num_detections: detections.2)");
  Graph graph(*copy);
  EXPECT_EQ(graph.FindNode("detections")->Get("clip_after_nms"), ir::Attribute(true));
}

constexpr const char* kYoloConfiguration = R"([
    {
        "id": "TFYOLO",
        "match_kind": "general",
        "custom_attributes": {"classes": 20, "coords": 4, "num": 2, "do_softmax": 0, "mask": [0, 1]}
    }
])";

// Inserts a RegionYolo before every result, as in the documentation.
class YoloRegionAddon : public FrontReplacementFromConfigFileGeneral {
 public:
  YoloRegionAddon() : FrontReplacementFromConfigFileGeneral("TFYOLO") {}
  Names RunAfter() const override { return {"front.NoOpEraser", "front.StandaloneConstEraser"}; }

 protected:
  void TransformGraph(Graph& graph, const ir::AttributeMap& descriptions) override {
    for (const Node& result : graph.GetOpNodes("Result")) {
      const Port last = result.in_port(0).GetSource();
      Graph::Spec spec{.name = last.node().name() + "/YoloRegion"};
      spec.attributes.Set("axis", 1);
      spec.attributes.Set("end_axis", -1);
      for (const auto& [name, value] : descriptions) spec.attributes.Set(name, value);
      const Node region = graph.CreateNode("opset1.RegionYolo", {last}, spec);
      const std::string name = result.name();
      graph.Remove(result);
      graph.CreateResult(region.out_port(0), name);
    }
  }
};

constexpr const char* kConvolutions = R"(version 1.0;
extension KHR_enable_fragment_definitions;

fragment block(x: tensor<scalar>, f: tensor<scalar>) -> (y: tensor<scalar>)
{
    c = conv(x, f);
    y = relu(c);
}
graph net(image) -> (out)
{
    image = external(shape = [1,2,6,6]);
    f = variable(shape = [2,2,3,3], label = 'f');
    a = block(image, f);
    b = block(a, f);
    out = tanh(b);
}
)";

// The bias that both convolutions lack is one literal, which is neither an input nor an output of a block.
TEST_F(ConfiguredNetworksTest, LiteralsThatBlocksShareAreOfNone) {
  expand::Expansion model(kConvolutions);
  ASSERT_NE(model.graph, nullptr) << model.Diagnostics();
  const std::unique_ptr<ir::Graph> copy = ir::Clone(*model.graph);
  AddOperation(model, "test", "Block");
  Context context;
  const FileId file = context.sources.AddText(
      "c.json", R"([{"id": "Block", "match_kind": "scope", "instances": ["a", "b"], "op": "test.Block"}])");
  const std::optional<std::string> updated = UpdateConfiguration(*copy, file, context);
  ASSERT_TRUE(updated.has_value()) << context.emitter.diagnostics().front().message;
  const auto read = ReadConfiguration(context.sources.AddText("d.json", *updated), context);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->entries[0].inputs, (std::vector<std::vector<NodePort>>{{{"c$", 0}}, {{"c$", 1}}}));
  EXPECT_EQ(read->entries[0].outputs, (std::vector<NodePort>{{"relu$", 0}}));
  TransformationList list;
  RegisterAnchors(list);
  EXPECT_EQ(RunConfigured(list, *updated, *copy), "");
  copy->EraseDeadNodes();
  EXPECT_EQ(Brief(*copy),
            "external(image) variable(f) Block(a: image, f) Block(b: a, f) tanh(out: b) Result(out: out)");
}

TEST_F(ConfiguredNetworksTest, YoloRegionsStandBeforeResults) {
  expand::Expansion model(
      "version 1.0; graph net(x) -> (y) { x = external(shape = [1, 50, 2, 2]); z = relu(x); y = sigmoid(z); "
      "}");
  ASSERT_NE(model.graph, nullptr) << model.Diagnostics();
  const std::unique_ptr<ir::Graph> copy = ir::Clone(*model.graph);
  TransformationList list;
  RegisterAnchors(list);
  list.Add<YoloRegionAddon>();
  EXPECT_EQ(RunConfigured(list, kYoloConfiguration, *copy), "");
  EXPECT_EQ(Brief(*copy),
            "external(x) relu(z: x) sigmoid(y: z) RegionYolo(y/YoloRegion: y) Result(y: y/YoloRegion)");
  Graph graph(*copy);
  EXPECT_EQ(graph.FindNode("y/YoloRegion")->Get("num"), ir::Attribute(2));
}

}  // namespace
}  // namespace nnefc::transform
