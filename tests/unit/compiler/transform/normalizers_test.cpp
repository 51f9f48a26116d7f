// Conversion of the Model Optimizer's operations to those of OpenVINO.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// The weights and attributes of a Normalize of `x`, and its data.
struct Normalize {
  std::string shape = "1,2,3,3";
  std::string weights = "%w = opset1.Const \"w\" : f32[2] = dense<f32[2]: 20.0, 30.0>";
  std::string across_spatial = "false";
  std::string channel_shared = "false";
  std::string eps = "0.001";
};

class NormalizersTest : public TransformTest {
 protected:
  // Returns the graph after one transformation. The result reads the node `n`.
  std::string After(const std::string& name, const std::string& body) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(body + "  opset1.Result \"y\" (%n)\n"), list.Find(name)->ExampleOperations());
    if (graph_ == nullptr) return "no graph";
    log_.clear();
    const std::string message =
        Run(list, *graph_, Side::kAfterLowering,
            {.only = {name}, .log = [&](const Transformation&, const std::string& text) { log_ = text; }});
    return message.empty() ? Brief(*graph_) : message;
  }
  std::string After(const Normalize& normalize) {
    return After(
        "back.NormalizeToNormalizeL2",
        fmt::format("  %x = opset1.Parameter \"x\" {{element_type = f32, shape = shape[{0}]}} : f32[{0}]\n"
                    "  {1}\n"
                    "  %n = extension.Normalize \"n\" (%x, %w) {{across_spatial = {2}, "
                    "channel_shared = {3}, eps = {4}}} : f32[{0}]\n",
                    normalize.shape, normalize.weights, normalize.across_spatial, normalize.channel_shared,
                    normalize.eps));
  }
  // Returns "[1,2]: 20 30": the shape and the elements of a constant.
  std::string ValueOf(const std::string& name) const {
    const ir::Node* node = Find(name);
    if (node == nullptr || !node->output().value) return "none";
    const TensorValue& value = *node->output().value;
    std::string text = ToString(value.shape()) + ":";
    for (int64_t i = 0; i < value.volume(); ++i) text += fmt::format(" {}", value.ElementAsDouble(i));
    return text;
  }
  const ir::Node* Find(const std::string& name) const {
    for (ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).name() == name) return &graph_->node(id);
    }
    return nullptr;
  }

  std::unique_ptr<ir::Graph> graph_;
  std::string log_;
};

constexpr const char* kScaled =
    "Parameter(x) Const(n/normalizel2/axes) NormalizeL2(n/normalizel2: x, n/normalizel2/axes) "
    "Const(n/weights) "
    "Multiply(n: n/normalizel2, n/weights) Result(y: n)";

TEST_F(NormalizersTest, NormalizeOverChannels) {
  EXPECT_EQ(After(Normalize()), kScaled);
  for (ir::NodeId id : graph_->nodes()) EXPECT_NE(graph_->node(id).type(), "Normalize");
  EXPECT_EQ(ValueOf("n/normalizel2/axes"), "[1]: 1");
  EXPECT_EQ(ValueOf("n/weights"), "[1,2,1,1]: 20 30");
  EXPECT_EQ(Find("n/normalizel2")->Double("eps"), 0.001);
  EXPECT_EQ(Find("n/normalizel2")->String("eps_mode"), "add");
  EXPECT_EQ(Find("n")->output().shape, (ir::PartialShape{1, 2, 3, 3}));
}

TEST_F(NormalizersTest, NormalizeOverChannelsAndSpace) {
  EXPECT_EQ(After({.across_spatial = "true"}), kScaled);
  EXPECT_EQ(ValueOf("n/normalizel2/axes"), "[3]: 1 2 3");
  // The fewest axes.
  EXPECT_EQ(After({.shape = "4,2", .across_spatial = "true"}), kScaled);
  EXPECT_EQ(ValueOf("n/normalizel2/axes"), "[1]: 1");
  EXPECT_EQ(ValueOf("n/weights"), "[1,2]: 20 30");
}

TEST_F(NormalizersTest, TruthValuesAsNumbersAreZeroOrOne) {
  EXPECT_EQ(After({.eps = "true"}), kScaled);
  EXPECT_EQ(Find("n/normalizel2")->Double("eps"), 1);
  EXPECT_EQ(After({.eps = "false"}), kScaled);
  EXPECT_EQ(Find("n/normalizel2")->Double("eps"), 0);
}

TEST_F(NormalizersTest, NormalizeWithOneWeight) {
  EXPECT_EQ(After({.channel_shared = "true"}), kScaled);
  EXPECT_EQ(ValueOf("n/weights"), "[1,1,1,1]: 20");
  EXPECT_EQ(After({.weights = "%w = opset1.Const \"w\" : f32[1] = dense<f32[1]: 20.0>"}), kScaled);
  EXPECT_EQ(ValueOf("n/weights"), "[1,1,1,1]: 20");
}

TEST_F(NormalizersTest, NormalizeWithoutAnEffectOfWeights) {
  EXPECT_EQ(After({.weights = "%w = opset1.Const \"w\" : f32[2] = dense<f32[2]: 1.0, 1.0>"}),
            "Parameter(x) Const(n/normalizel2/axes) NormalizeL2(n: x, n/normalizel2/axes) Result(y: n)");
  EXPECT_EQ(After({.weights = "%w = opset1.Const \"w\" : f32[2] = dense<f32[2]: 1.0, 1.5>"}), kScaled);
}

// An unknown number of channels is that of the weights.
TEST_F(NormalizersTest, ChannelsOfUnknownExtent) {
  const auto after = [&](const std::string& shape) {
    return After(
        "back.NormalizeToNormalizeL2",
        fmt::format("  %x = opset1.Parameter \"x\" {{element_type = f32, shape = {0}}} : f32{0}\n"
                    "  %w = opset1.Const \"w\" : f32[2] = dense<f32[2]: 20.0, 30.0>\n"
                    "  %n = extension.Normalize \"n\" (%x, %w) {{across_spatial = false, channel_shared = "
                    "false, eps = 0.001}} : f32{0}\n",
                    shape));
  };
  EXPECT_EQ(after("[1,?,3,3]"), kScaled);
  EXPECT_EQ(after("[?,2,?,?]"), kScaled);
  EXPECT_NE(after("[1,3,3,3]"), kScaled);
}

// IR has the attributes of operations without a row as texts.
TEST_F(NormalizersTest, NormalizeWithTexts) {
  for (const char* truth : {"\"1\"", "\"true\"", "\"True\"", "1"}) {
    EXPECT_EQ(After({.across_spatial = truth, .channel_shared = truth, .eps = "\"1e-10\""}), kScaled)
        << truth;
    EXPECT_EQ(ValueOf("n/normalizel2/axes"), "[3]: 1 2 3");
    EXPECT_EQ(ValueOf("n/weights"), "[1,1,1,1]: 20");
    EXPECT_EQ(Find("n/normalizel2")->Double("eps"), 1e-10);
  }
  for (const char* untruth : {"\"0\"", "\"false\"", "\"False\"", "0"}) {
    EXPECT_EQ(After({.across_spatial = untruth, .channel_shared = untruth}), kScaled) << untruth;
    EXPECT_EQ(ValueOf("n/normalizel2/axes"), "[1]: 1");
    EXPECT_EQ(ValueOf("n/weights"), "[1,2,1,1]: 20 30");
  }
}

TEST_F(NormalizersTest, OtherNormalizeNodesRemain) {
  const std::string remains = "Parameter(x) Const(w) Normalize(n: x, w) Result(y: n)";
  const auto expect = [&](const Normalize& normalize, const std::string& reason, const std::string& graph) {
    EXPECT_EQ(After(normalize), graph);
    EXPECT_EQ(log_, "`n` remains: " + reason);
  };
  const char* numbers = "one of `across_spatial`, `channel_shared` and `eps` is not a number";
  expect({.across_spatial = "\"yes\""}, numbers, remains);
  expect({.channel_shared = "[1]"}, numbers, remains);
  expect({.eps = "\"\""}, numbers, remains);
  expect({.eps = "\"1e-10 \""}, numbers, remains);
  expect({.shape = "2"}, "its input has no axis of channels", remains);
  expect({.shape = "..."}, "its input has no axis of channels", remains);
  expect({.weights = "%w = opset1.Const \"w\" : f32[3] = dense<f32[3]: 1.0, 2.0, 3.0>"},
         "it has 3 weights of f32 for an input of f32 with the shape [1,2,3,3]", remains);
  expect({.weights = "%w = opset1.Const \"w\" : f16[2] = dense<f16[2]: 1.0, 2.0>"},
         "it has 2 weights of f16 for an input of f32 with the shape [1,2,3,3]", remains);
  expect({.weights = "%w = opset1.Const \"w\" : f32[0] = dense<f32[0]: >"},
         "it has 0 weights of f32 for an input of f32 with the shape [1,2,3,3]", remains);
  expect({.weights = "%w = opset1.Const \"w\" : f32[0] = dense<f32[0]: >", .channel_shared = "true"},
         "it has 0 weights of f32 for an input of f32 with the shape [1,2,3,3]", remains);
  expect({.weights = "%w = opset1.Parameter \"w\" {element_type = f32, shape = shape[2]} : f32[2]"},
         "its weights are not constant", "Parameter(x) Parameter(w) Normalize(n: x, w) Result(y: n)");
  // Without weights, or without an attribute.
  const std::string x = "  %x = opset1.Parameter \"x\" {element_type = f32, shape = shape[1,2]} : f32[1,2]\n";
  EXPECT_EQ(After("back.NormalizeToNormalizeL2", x + "  %n = extension.Normalize \"n\" (%x) {} : f32[1,2]\n"),
            "Parameter(x) Normalize(n: x) Result(y: n)");
  EXPECT_EQ(log_, "`n` remains: it has 1 inputs and 1 outputs; expected 2 and 1");
  EXPECT_EQ(
      After("back.NormalizeToNormalizeL2",
            x + "  %n = extension.Normalize \"n\" (%x, %x) {across_spatial = true, eps = 1.0} : f32[1,2]\n"),
      "Parameter(x) Normalize(n: x, x) Result(y: n)");
  // An operation of another set.
  registry_.Add({.set = "acme",
                 .name = "Normalize",
                 .section = {},
                 .inputs = {{.name = "x"}, {.name = "w"}},
                 .outputs = {"y"}});
  EXPECT_EQ(After("back.NormalizeToNormalizeL2",
                  x + "  %w = opset1.Const \"w\" : f32[2] = dense<f32[2]: 20.0, 30.0>\n"
                      "  %n = acme.Normalize \"n\" (%x, %w) {across_spatial = true, channel_shared = true, "
                      "eps = 1.0} : f32[1,2]\n"),
            "Parameter(x) Const(w) Normalize(n: x, w) Result(y: n)");
}

TEST_F(NormalizersTest, NormalizeNodesOfTwoOutputsRemain) {
  registry_.Add({.set = "extension",
                 .name = "Normalize",
                 .section = {},
                 .inputs = {{.name = "data"}, {.name = "weights"}},
                 .outputs = {"output", "norm"}});
  EXPECT_EQ(
      After("back.NormalizeToNormalizeL2",
            "  %x = opset1.Parameter \"x\" {element_type = f32, shape = shape[1,2]} : f32[1,2]\n"
            "  %w = opset1.Const \"w\" : f32[2] = dense<f32[2]: 20.0, 30.0>\n"
            "  %n:2 = extension.Normalize \"n\" (%x, %w) {across_spatial = true, channel_shared = true, "
            "eps = 1.0} : f32[1,2], f32[1,2]\n"
            "  opset1.Result \"z\" (%n.1)\n"),
      "Parameter(x) Const(w) Normalize(n: x, w) Result(z: n.1) Result(y: n)");
  EXPECT_EQ(log_, "`n` remains: it has 2 inputs and 2 outputs; expected 2 and 1");
}

TEST_F(NormalizersTest, EndTokensOfOneElementBecomeScalars) {
  const auto tree = [&](const std::string& operation, const std::string& token,
                        const std::string& end = ", %e") {
    return After("back.GatherNormalizer",
                 "  %i = opset1.Parameter \"i\" {element_type = i32, shape = shape[4,2,3]} : i32[4,2,3]\n"
                 "  %l = opset1.Parameter \"l\" {element_type = i32, shape = shape[2]} : i32[2]\n" +
                     fmt::format("  %e = opset1.Parameter \"e\" {{element_type = i32, shape = shape[{0}]}} : "
                                 "i32[{0}]\n",
                                 token) +
                     "  %d = opset1.Abs \"dead\" (%l) : i32[2]\n  %n = " + operation + " \"n\" (%i, %i, %l" +
                     end + ") : i32[4,2,3]\n");
  };
  const std::string sources = "Parameter(i) Parameter(l) Parameter(e) ";
  EXPECT_EQ(tree("extension.GatherTree", "1"),
            sources +
                "Const(n/Squeeze/axes) Squeeze(n/Squeeze: e, n/Squeeze/axes) "
                "GatherTree(n: i, i, l, n/Squeeze) Result(y: n)");
  EXPECT_EQ(ValueOf("n/Squeeze/axes"), "[1]: 0");
  EXPECT_EQ(Find("n/Squeeze")->output().shape, ir::PartialShape::OfRank(0));
  // A scalar, more elements, more axes, another number of inputs, another operation.
  for (const char* token : {"", "2", "1,1", "0", "?"}) {
    EXPECT_EQ(tree("extension.GatherTree", token), sources + "GatherTree(n: i, i, l, e) Result(y: n)")
        << token;
  }
  EXPECT_EQ(tree("extension.GatherTree", "1", ""), sources + "GatherTree(n: i, i, l) Result(y: n)");
  // Only a graph with the operation is cleaned up.
  EXPECT_EQ(tree("opset1.GatherTree", ""), sources + "Abs(dead: l) GatherTree(n: i, i, l, e) Result(y: n)");
}

}  // namespace
}  // namespace nnefc::transform
