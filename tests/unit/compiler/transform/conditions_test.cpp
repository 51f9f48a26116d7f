// Transformations of the middle phase, and graphs that violate one of their conditions.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class ConditionsTest : public BuiltInTest {
 protected:
  // Returns whether a transformation changes the nodes of a graph.
  bool Changes(const std::string& name, const std::string& text) {
    return After(name, Numbered(text)) != After("middle.RemoveUnneeded", Numbered(text));
  }
};

std::string DataOf(const std::string& name, const std::string& shape) {
  return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = f32, shape = {}}} : f32{}\n", name,
                     name, shape, shape);
}
std::string ItemsOf(const std::string& name, const std::string& type, const std::string& items) {
  return fmt::format("  %{} = opset1.Const \"{}\" : {} = dense<{}: {}>\n", name, name, type, type, items);
}
std::string NodeOf(const std::string& name, const std::string& operation, const std::string& inputs,
                   const std::string& attributes = "") {
  return fmt::format("  %{} = opset1.{} \"{}\" ({}) {{{}}} : f32[...]\n", name, operation, name, inputs,
                     attributes);
}
std::string ResultOf(const std::string& value) {
  return fmt::format("  opset1.Result \"{}_result\" (%{})\n", value, value);
}

// x * max(sum(x^2), eps)^-0.5 has these exponents.
TEST_F(ConditionsTest, ExponentsOfNorms) {
  const auto is_fused = [&](const char* square, const char* root) {
    return Changes(
        "middle.L2NormToNorm",
        DataOf("x", "[2,3]") + ItemsOf("two", "f32[]", square) + ItemsOf("eps", "f32[]", "0.5") +
            ItemsOf("half", "f32[]", root) + ItemsOf("k", "i64[1]", "1") + NodeOf("q", "Power", "%x, %two") +
            NodeOf("s", "ReduceSum", "%q, %k", "keep_dims = true") + NodeOf("m", "Maximum", "%s, %eps") +
            NodeOf("r", "Power", "%m, %half") + NodeOf("y", "Multiply", "%x, %r") + ResultOf("y"));
  };
  EXPECT_TRUE(is_fused("2.0", "-0.5"));
  for (const char* square : {"3.0", "1.0", "-2.0"}) EXPECT_FALSE(is_fused(square, "-0.5")) << square;
  for (const char* root : {"0.5", "-1.0", "-0.25"}) EXPECT_FALSE(is_fused("2.0", root)) << root;
}

// x / max(norm(x), eps): the axes of the norm are known.
TEST_F(ConditionsTest, AxesOfNorms) {
  const auto is_fused = [&](const std::string& axes) {
    return Changes("middle.DivisionByLargerNorm",
                   DataOf("x", "[2,3]") + axes + ItemsOf("eps", "f32[]", "0.5") +
                       "  %n = opset4.ReduceL2 \"n\" (%x, %k) {keep_dims = true} : f32[...]\n" +
                       NodeOf("m", "Maximum", "%n, %eps") + NodeOf("y", "Divide", "%x, %m") + ResultOf("y"));
  };
  EXPECT_TRUE(is_fused(ItemsOf("k", "i64[1]", "1")));
  EXPECT_FALSE(is_fused("  %k = opset1.Parameter \"k\" {element_type = i64, shape = [1]} : i64[1]\n"));
}

// x * max(sum(x^2), eps)^-0.5: the axes of the sum are known and not empty.
TEST_F(ConditionsTest, AxesOfSums) {
  const auto is_fused = [&](const std::string& axes) {
    return Changes("middle.L2NormToNorm",
                   DataOf("x", "[2,3]") + ItemsOf("two", "f32[]", "2.0") + ItemsOf("eps", "f32[]", "0.5") +
                       ItemsOf("half", "f32[]", "-0.5") + axes + NodeOf("q", "Power", "%x, %two") +
                       NodeOf("s", "ReduceSum", "%q, %k", "keep_dims = true") +
                       NodeOf("m", "Maximum", "%s, %eps") + NodeOf("r", "Power", "%m, %half") +
                       NodeOf("y", "Multiply", "%x, %r") + ResultOf("y"));
  };
  EXPECT_TRUE(is_fused(ItemsOf("k", "i64[1]", "1")));
  EXPECT_FALSE(is_fused("  %k = opset1.Const \"k\" : i64[0] = dense<i64[0]:>\n"));
  EXPECT_FALSE(is_fused("  %k = opset1.Parameter \"k\" {element_type = i64, shape = [1]} : i64[1]\n"));
}

// d * (mean(d^2) + eps)^-0.5, times at most one further factor.
TEST_F(ConditionsTest, FactorsOfNormalizedValues) {
  const auto is_fused = [&](const std::string& factors) {
    return Changes(
        "middle.MVNFusion",
        DataOf("x", "[2,3]") + DataOf("g", "[2,3]") + DataOf("h", "[2,3]") + ItemsOf("two", "f32[]", "2.0") +
            ItemsOf("eps", "f32[]", "0.5") + ItemsOf("half", "f32[]", "-0.5") + ItemsOf("k", "i64[1]", "1") +
            NodeOf("m", "ReduceMean", "%x, %k", "keep_dims = true") + NodeOf("d", "Subtract", "%x, %m") +
            NodeOf("q", "Power", "%d, %two") + NodeOf("v", "ReduceMean", "%q, %k", "keep_dims = true") +
            NodeOf("w", "Add", "%v, %eps") + NodeOf("r", "Power", "%w, %half") + factors + ResultOf("y"));
  };
  EXPECT_TRUE(is_fused(NodeOf("y", "Multiply", "%d, %r")));
  EXPECT_TRUE(is_fused(NodeOf("a", "Multiply", "%g, %r") + NodeOf("y", "Multiply", "%d, %a")));
  EXPECT_FALSE(is_fused(NodeOf("b", "Multiply", "%g, %h") + NodeOf("a", "Multiply", "%b, %r") +
                        NodeOf("y", "Multiply", "%d, %a")));
}

// The product of two vectors is a number, which has no channels to be scaled.
TEST_F(ConditionsTest, ScaledProductsOfVectors) {
  const auto is_fused = [&](const std::string& factors) {
    return Changes("middle.FuseScaleIntoMatMul",
                   DataOf("x", "[3]") + ItemsOf("w", "f32[3]", "1.0, 2.0, 3.0") + factors +
                       NodeOf("p", "MatMul", "%x, %w") + NodeOf("y", "Multiply", "%p, %two") + ResultOf("y"));
  };
  EXPECT_FALSE(is_fused(ItemsOf("two", "f32[]", "2.0")));
  EXPECT_FALSE(is_fused(ItemsOf("two", "f32[3]", "2.0, 3.0, 4.0")));
}

// 0.5 * x * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x^2))): the last factor is a sum with 1.
TEST_F(ConditionsTest, FactorsOfGelu) {
  const auto is_fused = [&](const std::string& factor) {
    return Changes("middle.GeluFusion",
                   DataOf("x", "[2,3]") + DataOf("z", "[2,3]") + ItemsOf("one", "f32[]", "1.0") +
                       ItemsOf("half", "f32[]", "0.5") + ItemsOf("k", "f32[]", "0.044715") +
                       ItemsOf("root", "f32[]", "0.797884583") + NodeOf("q", "Multiply", "%x, %x") +
                       NodeOf("c", "Multiply", "%q, %k") + factor + NodeOf("xf", "Multiply", "%x, %f") +
                       NodeOf("a", "Multiply", "%xf, %root") + NodeOf("t", "Tanh", "%a") +
                       NodeOf("p", "Add", "%t, %one") + NodeOf("h", "Multiply", "%x, %half") +
                       NodeOf("y", "Multiply", "%h, %p") + ResultOf("y"));
  };
  EXPECT_TRUE(is_fused(NodeOf("f", "Add", "%c, %one")));
  EXPECT_FALSE(is_fused(NodeOf("f", "Abs", "%z")));
  EXPECT_FALSE(is_fused(NodeOf("f", "Add", "%c, %half")));
  EXPECT_FALSE(is_fused(NodeOf("f", "Add", "%c, %z")));
}

// The nodes that a Gelu replaces do not remain.
TEST_F(ConditionsTest, NodesOfGelu) {
  const auto graph = Parse(Numbered(DataOf("x", "[2,3]") + ItemsOf("one", "f32[]", "1.0") +
                                    ItemsOf("half", "f32[]", "0.5") + ItemsOf("root", "f32[]", "1.41421354") +
                                    NodeOf("d", "Divide", "%x, %root") + NodeOf("e", "Erf", "%d") +
                                    NodeOf("p", "Add", "%e, %one") + NodeOf("h", "Multiply", "%x, %half") +
                                    NodeOf("y", "Multiply", "%h, %p") + ResultOf("y")));
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kAfterLowering, {.only = {"middle.GeluFusion"}}),
            "");
  std::string types;
  for (ir::NodeId id : graph->nodes()) types += graph->node(id).type() + " ";
  EXPECT_EQ(types, "Parameter Result Gelu ");
}

// Each branch is a convolution, with or without a bias, of a part that only it reads.
TEST_F(ConditionsTest, BranchesOfGroupedConvolutions) {
  const std::string attributes =
      "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = \"explicit\"";
  const std::string first = NodeOf("c", "Convolution", "%s, %v", attributes),
                    second = NodeOf("d", "Convolution", "%s.1, %w", attributes);
  const auto is_fused = [&](const std::string& branches, const std::string& more = "") {
    return Changes("middle.GroupedConvolutionFusion",
                   DataOf("x", "[1,4,3,3]") + ItemsOf("one", "i64[]", "1") +
                       ItemsOf("v", "f32[1,2,1,1]", "1.0, 2.0") + ItemsOf("w", "f32[1,2,1,1]", "3.0, 4.0") +
                       ItemsOf("b", "f32[1,1,1,1]", "5.0") +
                       "  %s:2 = opset1.Split \"s\" (%x, %one) {num_splits = 2} : f32[...], f32[...]\n" +
                       branches + NodeOf("y", "Concat", "%e, %f", "axis = 1") + ResultOf("y") + more);
  };
  const std::string biases = NodeOf("e", "Add", "%c, %b") + NodeOf("f", "Add", "%d, %b"),
                    both = first + second + biases;
  EXPECT_TRUE(is_fused(both));
  // Another operation in place of either convolution.
  EXPECT_FALSE(is_fused(NodeOf("c", "ReduceMax", "%s, %one", "keep_dims = true") + second + biases));
  EXPECT_FALSE(is_fused(first + NodeOf("d", "ReduceMax", "%s.1, %one", "keep_dims = true") + biases));
  // Filters that only a run knows.
  const std::string filter = DataOf("u", "[1,2,1,1]");
  EXPECT_FALSE(is_fused(filter + NodeOf("c", "Convolution", "%s, %u", attributes) + second + biases));
  EXPECT_FALSE(is_fused(filter + first + NodeOf("d", "Convolution", "%s.1, %u", attributes) + biases));
  // Another reader of either part.
  for (const char* part : {"%s", "%s.1"})
    EXPECT_FALSE(is_fused(both, NodeOf("z", "Abs", part) + ResultOf("z"))) << part;
  // The same part twice.
  EXPECT_FALSE(is_fused(first + NodeOf("d", "Convolution", "%s, %w", attributes) + biases));
}

// (x * a + b) * c becomes x * ac + bc unless c repeats the sum.
TEST_F(ConditionsTest, FactorsOfSums) {
  const auto is_changed = [&](const std::string& type, const std::string& items) {
    return Changes("middle.FuseConstantSequence",
                   DataOf("x", "[1,2]") + ItemsOf("a", "f32[]", "2.0") + ItemsOf("b", "f32[]", "3.0") +
                       ItemsOf("c", type, items) + NodeOf("p", "Multiply", "%x, %a") +
                       NodeOf("s", "Add", "%p, %b") + NodeOf("y", "Multiply", "%s, %c") + ResultOf("y"));
  };
  EXPECT_TRUE(is_changed("f32[]", "5.0"));
  EXPECT_TRUE(is_changed("f32[1,1]", "5.0"));
  EXPECT_FALSE(is_changed("f32[2,1]", "5.0, 7.0"));
  EXPECT_FALSE(is_changed("f32[1,1,1]", "5.0"));
}

// An empty order reverses the axes.
TEST_F(ConditionsTest, OrdersOfTranspositions) {
  const auto is_removed = [&](const std::string& type, const std::string& items) {
    return Changes("middle.RemoveIdentity", DataOf("x", "[2,2]") + ItemsOf("k", type, items) +
                                                NodeOf("t", "Transpose", "%x, %k") +
                                                NodeOf("y", "Abs", "%t") + ResultOf("y"));
  };
  EXPECT_TRUE(is_removed("i64[2]", "0, 1"));
  EXPECT_FALSE(is_removed("i64[2]", "1, 0"));
  EXPECT_FALSE(is_removed("i64[0]", ""));
  // Negative axes count from the end.
  EXPECT_TRUE(is_removed("i64[2]", "-2, -1"));
  EXPECT_TRUE(is_removed("i64[2]", "0, -1"));
  EXPECT_FALSE(is_removed("i64[2]", "-1, 0"));
  EXPECT_FALSE(is_removed("i64[2]", "-1, -2"));
}

TEST_F(ConditionsTest, NegativeAxesOfTwoTranspositions) {
  for (const auto& [first, second] :
       {std::pair("1, 2, 0", "0, -1, 1"), {"-2, -1, 0", "0, 2, 1"}, {"1, -1, -3", "-3, -1, -2"}}) {
    const auto graph = Parse(Numbered(DataOf("x", "[2,3,4]") + ItemsOf("a", "i64[3]", first) +
                                      NodeOf("t", "Transpose", "%x, %a") + ItemsOf("b", "i64[3]", second) +
                                      NodeOf("y", "Transpose", "%t, %b") + ResultOf("y")));
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kAfterLowering,
                  {.only = {"middle.FuseTransposesSequence"}}),
              "");
    const ir::Node& made = graph->node(graph->node(graph->results()[0]).input(0).node);
    EXPECT_EQ(graph->node(made.input(0).node).type(), "Parameter") << first << second;
    EXPECT_EQ(made.output().shape, (ir::PartialShape{3, 2, 4})) << first << second;
  }
}

// Views that end in one of no axes become a squeeze of all axes.
TEST_F(ConditionsTest, ViewsWithoutAxes) {
  for (const auto& [shape, axes] :
       {std::pair("[1]", std::vector<double>{0}), {"[1,1]", {0, 1}}, {"[1,1,1]", {0, 1, 2}}}) {
    const auto graph = Parse(Numbered(DataOf("x", shape) + ItemsOf("four", "i64[4]", "1, 1, 1, 1") +
                                      ItemsOf("none", "i64[0]", "") +
                                      NodeOf("r", "Reshape", "%x, %four", "special_zero = false") +
                                      NodeOf("v", "Reshape", "%r, %none", "special_zero = false") +
                                      NodeOf("y", "Abs", "%v") + ResultOf("y")));
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kAfterLowering,
                  {.only = {"middle.FuseReshapesSequence"}}),
              "");
    const ir::Node& view =
        graph->node(graph->node(graph->node(graph->results()[0]).input(0).node).input(0).node);
    EXPECT_EQ(view.type(), "Squeeze") << shape;
    EXPECT_EQ(view.output().shape, ir::PartialShape::OfRank(0)) << shape;
    const auto& value = graph->output(view.input(1)).value;
    ASSERT_TRUE(value);
    std::vector<double> found;
    for (int64_t i = 0; i < value->volume(); ++i) found.push_back(value->ElementAsDouble(i));
    EXPECT_EQ(found, axes) << shape;
  }
}

// A transformation whose condition throws does not run.
TEST_F(ConditionsTest, ConditionsThatThrow) {
  for (const bool throws : {false, true}) {
    TransformationList list;
    RegisterAnchors(list);
    bool has_run = false;
    list.Add<Calls>("GUARDED", [&](Graph&) { has_run = true; }).graph_condition = {
        [&](const ir::Graph&) -> bool { return throws ? throw std::runtime_error("no answer") : true; }};
    const auto graph = Parse(kMish);
    ASSERT_NE(graph, nullptr);
    EXPECT_EQ(Run(list, *graph).empty(), !throws);
    EXPECT_EQ(has_run, !throws);
  }
}

// Operations without inputs may be sources of values, and sinks change state.
TEST_F(ConditionsTest, SourcesAndSinksAreKeptApart) {
  const ir::InferFunction infer = [](ir::InferContext& context) {
    context.SetOutput(0, ElementType::kF32, ir::PartialShape{2, 3, 4});
  };
  registry_.Add({.set = "acme", .name = "Source", .section = {}, .outputs = {"y"}, .infer = infer});
  for (const auto& [name, is_sink] : {std::pair("Plain", false), std::pair("Sink", true)}) {
    registry_.Add({.set = "acme",
                   .name = name,
                   .section = {},
                   .inputs = {{.name = "a"}},
                   .outputs = {"y"},
                   .infer = infer,
                   .is_sink = is_sink});
  }
  const auto left = [&](const std::string& operation, const std::string& inputs) {
    return Left(Body("middle.MergeEqualNodes", fmt::format("  %1 = acme.{0} \"p\" {1} : f32[2,3,4]\n"
                                                           "  %2 = acme.{0} \"q\" {1} : f32[2,3,4]\n"
                                                           "  %3 = opset1.Add \"r\" (%0, %1) : f32[2,3,4]\n"
                                                           "  %9 = opset1.Add \"s\" (%3, %2) : f32[2,3,4]\n",
                                                           operation, inputs)));
  };
  EXPECT_EQ(left("Plain", "(%0)"), "Plain Add Add");
  EXPECT_EQ(left("Sink", "(%0)"), "Sink Sink Add Add");
  EXPECT_EQ(left("Source", "()"), "Source Source Add Add");
}

}  // namespace
}  // namespace nnefc::transform
