// Graphs that fusions change, and those that violate one condition each.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class NearMissesTest : public TransformTest {
 protected:
  // Returns the nodes after the transformation other than parameters, constants and results, with their
  // inputs.
  std::string After(const std::string& name, const std::string& text, Side side = Side::kAfterLowering) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(text));
    if (graph_ == nullptr) return "no graph";
    EXPECT_EQ(Run(list, *graph_, side, {.only = {name, "middle.RemoveUnneeded"}}), "");
    graph_->EraseDeadNodes();
    std::string left;
    const auto order = ir::TopologicalOrder(*graph_);
    for (ir::NodeId id : *order) {
      const ir::Node& node = graph_->node(id);
      if (node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kConst) || node.Is(ir::OpRole::kResult) ||
          node.Is(ir::OpRole::kExternal))
        continue;
      left += fmt::format("{}{}({}", left.empty() ? "" : " ", node.type(), node.name());
      for (int32_t i = 0; i < node.num_inputs(); ++i)
        left += (i == 0 ? ": " : ", ") + graph_->node(node.input(i).node).name();
      left += ")";
    }
    return left;
  }
  // Returns the elements of a constant.
  std::vector<double> NumbersOf(const std::string& name) const {
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      if (node.name() != name) continue;
      std::vector<double> numbers;
      for (int64_t i = 0; i < node.output().value->volume(); ++i)
        numbers.push_back(node.output().value->ElementAsDouble(i));
      return numbers;
    }
    return {};
  }

  std::unique_ptr<ir::Graph> graph_;
};

std::string Given(const std::string& name, const std::string& shape, const std::string& type = "f32") {
  return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = {}, shape = {}}} : {}{}\n", name, name,
                     type, shape, type, shape);
}
std::string Number(const std::string& name, const std::string& number) {
  return fmt::format("  %{} = opset1.Const \"{}\" : f32[] = dense<f32[]: {}>\n", name, name, number);
}
std::string Tensor(const std::string& name, const std::string& type, const std::string& items) {
  return fmt::format("  %{} = opset1.Const \"{}\" : {} = dense<{}: {}>\n", name, name, type, type, items);
}
std::string Step(const std::string& name, const std::string& operation, const std::string& inputs,
                 const std::string& attributes = "", const std::string& type = "f32[...]") {
  return fmt::format("  %{} = {} \"{}\" ({}) {} : {}\n", name, operation, name, inputs, attributes, type);
}
std::string End(const std::string& value, const std::string& name = "out") {
  return fmt::format("  opset1.Result \"{}\" (%{})\n", name, value);
}

// ---- fusions before lowering ----

TEST_F(NearMissesTest, MishOfTheSameTensor) {
  const auto mish = [&](const std::string& product) {
    return After("front.MishFusion",
                 "  %x = nnef.external \"x\" {shape = [2,3], dtype = \"scalar\"} : f32[2,3]\n"
                 "  %z = nnef.external \"z\" {shape = [2,3], dtype = \"scalar\"} : f32[2,3]\n" +
                     Step("s", "nnef.softplus", "%x", "", "f32[2,3]") +
                     Step("t", "nnef.tanh", "%s", "", "f32[2,3]") +
                     Step("m", "nnef.mul", product, "", "f32[2,3]") + End("m"),
                 Side::kBeforeLowering);
  };
  EXPECT_EQ(mish("%x, %t"), "Mish(m: x)");
  EXPECT_EQ(mish("%t, %x"), "Mish(m: x)");
  const std::string stays = "softplus(s: x) tanh(t: s) mul(m: ";
  for (const auto& [product, names] : {std::pair("%z, %t", "z, t)"), std::pair("%t, %z", "t, z)"),
                                       std::pair("%t, %t", "t, t)"), std::pair("%s, %t", "s, t)")})
    EXPECT_EQ(mish(product), stays + names);
}

TEST_F(NearMissesTest, SoftplusOfTheSameShape) {
  const auto softplus = [&](const std::string& one) {
    return After("front.SoftplusFusion",
                 "  %x = nnef.external \"x\" {shape = [2,3], dtype = \"scalar\"} : f32[2,3]\n" + one +
                     Step("e", "nnef.exp", "%x", "", "f32[2,3]") + Step("a", "nnef.add", "%e, %k") +
                     Step("l", "nnef.log", "%a") + End("l"),
                 Side::kBeforeLowering);
  };
  EXPECT_EQ(softplus(Tensor("k", "f32[]", "1.0")), "softplus(l: x)");
  EXPECT_EQ(softplus(Tensor("k", "f32[1,1]", "1.0")), "softplus(l: x)");
  EXPECT_EQ(softplus(Tensor("k", "f32[2]", "1.0, 1.0")), "softplus(l: x)");
  EXPECT_EQ(softplus(Tensor("k", "f32[1,1,1]", "1.0")), "exp(e: x) add(a: e, k) log(l: a)");
  EXPECT_EQ(softplus(Tensor("k", "f32[2]", "1.0, 2.0")), "exp(e: x) add(a: e, k) log(l: a)");
}

TEST_F(NearMissesTest, SoftplusNeedsBothFunctions) {
  const TransformationList list = StandardTransformations();
  const auto may_change = [&](const std::string& steps, const std::string& last) {
    const auto graph = Parse(Numbered(
        "  %x = nnef.external \"x\" {shape = [2], dtype = \"scalar\"} : f32[2]\n" + steps + End(last)));
    return list.Find("front.SoftplusFusion")->MayChange(*graph);
  };
  const std::string exp = Step("e", "nnef.exp", "%x", "", "f32[2]");
  EXPECT_FALSE(may_change(exp, "e"));
  EXPECT_FALSE(may_change(Step("l", "nnef.log", "%x", "", "f32[2]"), "l"));
  EXPECT_TRUE(may_change(exp + Step("l", "nnef.log", "%e", "", "f32[2]"), "l"));
}

// ---- Gelu ----

// f(x) with 0.5 * x * (1 + tanh(sqrt(2 / pi) * `cubic`)).
std::string TanhGelu(const std::string& cubic) {
  return Given("x", "[2,3]") + Given("z", "[2,3]") + Number("one", "1.0") + Number("half", "0.5") +
         Number("k", "0.044715") + Number("three", "3.0") + Number("two", "2.0") +
         Number("root", "0.797884583") + Step("p", "opset1.Power", "%x, %three") +
         Step("q", "opset1.Multiply", "%k, %p") + cubic + Step("u", "opset1.Multiply", "%s, %root") +
         Step("t", "opset1.Tanh", "%u") + Step("a", "opset1.Add", "%t, %one") +
         Step("h", "opset1.Multiply", "%x, %half") + Step("y", "opset1.Multiply", "%h, %a") + End("y");
}

TEST_F(NearMissesTest, GeluOfACubicSum) {
  const auto is_gelu = [&](const std::string& cubic) {
    return After("middle.GeluFusion", TanhGelu(cubic)).find("Gelu(y: x)") != std::string::npos;
  };
  EXPECT_TRUE(is_gelu(Step("s", "opset1.Add", "%x, %q")));
  EXPECT_TRUE(is_gelu(Step("s", "opset1.Add", "%q, %x")));
  for (const char* operation : {"opset1.Subtract", "opset1.Maximum", "opset1.SquaredDifference"}) {
    EXPECT_FALSE(is_gelu(Step("s", operation, "%x, %q"))) << operation;
    EXPECT_FALSE(is_gelu(Step("s", operation, "%q, %x"))) << operation;
  }
  // Of another tensor, of a square, and of factors only.
  EXPECT_FALSE(is_gelu(Step("s", "opset1.Add", "%z, %q")));
  EXPECT_FALSE(is_gelu(Step("s", "opset1.Add", "%q, %z")));
  EXPECT_FALSE(is_gelu(Step("s", "opset1.Power", "%x, %two")));
  EXPECT_FALSE(is_gelu(Step("v", "opset1.Add", "%x, %q") + Step("s", "opset1.Power", "%v, %two")));
  EXPECT_FALSE(is_gelu(Step("v", "opset1.Multiply", "%z, %q") + Step("s", "opset1.Multiply", "%v, %p")));
  EXPECT_FALSE(is_gelu(Step("s", "opset1.Multiply", "%x, %q")));
  EXPECT_FALSE(is_gelu(Step("s", "opset1.ReLU", "%x")));
  // A part of the sum that is read elsewhere.
  EXPECT_FALSE(is_gelu(Step("s", "opset1.Add", "%x, %q") + End("p", "other")));
}

// A third factor is none of Gelu.
TEST_F(NearMissesTest, GeluOfTwoFactors) {
  const auto left = [&](const std::string& product) {
    return After("middle.GeluFusion",
                 Given("x", "[2,3]") + Given("z", "[2,3]") + Number("one", "1.0") + Number("half", "0.5") +
                     Number("root", "1.41421354") + Step("d", "opset1.Divide", "%x, %root") +
                     Step("e", "opset1.Erf", "%d") + Step("a", "opset1.Add", "%e, %one") + product +
                     Step("y", "opset1.Multiply", "%p, %half") + End("y"));
  };
  EXPECT_EQ(left(Step("p", "opset1.Multiply", "%x, %a")), "Gelu(y: x)");
  const std::string before = "Divide(d: x, root) Erf(e: d) Add(a: e, one) ";
  for (const auto& [first, second] : {std::pair("%x, %a", "%n, %z"), std::pair("%a, %x", "%z, %n"),
                                      std::pair("%x, %z", "%n, %a"), std::pair("%z, %a", "%x, %n")}) {
    const std::string made = left(Step("n", "opset1.Multiply", first) + Step("p", "opset1.Multiply", second));
    EXPECT_NE(made.find("Erf(e: d)"), std::string::npos) << made;
  }
  EXPECT_EQ(left(Step("p", "opset1.Multiply", "%half, %a")),
            before + "Multiply(p: half, a) Multiply(y: p, half)");
}

// ---- norms ----

TEST_F(NearMissesTest, NormsOfTwoToFourAxes) {
  const auto is_fused = [&](const std::string& shape, const std::string& axes, bool keeps = true,
                            const std::string& least = "0.5") {
    const auto count = std::count(axes.begin(), axes.end(), ',') + 1;
    return After("middle.L2NormToNorm",
                 Given("x", shape) + Number("two", "2.0") + Number("eps", least) + Number("root", "-0.5") +
                     Tensor("k", fmt::format("i64[{}]", count), axes) +
                     Step("q", "opset1.Power", "%x, %two") +
                     Step("s", "opset1.ReduceSum", "%q, %k",
                          keeps ? "{keep_dims = true}" : "{keep_dims = false}") +
                     Step("m", "opset1.Maximum", "%s, %eps") + Step("r", "opset1.Power", "%m, %root") +
                     Step("y", "opset1.Multiply", "%x, %r") + End("y")) == "NormalizeL2(y: x, k)";
  };
  EXPECT_FALSE(is_fused("[3]", "0"));
  EXPECT_FALSE(is_fused("[...]", "1"));
  EXPECT_TRUE(is_fused("[3,3]", "1"));
  EXPECT_FALSE(is_fused("[3,3]", "1", false));
  EXPECT_TRUE(is_fused("[3,3]", "1", true, "1e-30"));
  for (const char* least : {"0.0", "-0.5"}) EXPECT_FALSE(is_fused("[3,3]", "1", true, least)) << least;
  for (const char* shape : {"[2,3]", "[2,3,4]", "[2,3,4,5]"}) {
    EXPECT_TRUE(is_fused(shape, "1")) << shape;
    EXPECT_FALSE(is_fused(shape, "0")) << shape;
  }
  EXPECT_FALSE(is_fused("[2,3,4,5,6]", "1"));
  EXPECT_FALSE(is_fused("[2,3,4,5,6]", "1, 2, 3, 4"));
  EXPECT_TRUE(is_fused("[2,3,4,5]", "1, 2, 3"));
  EXPECT_TRUE(is_fused("[2,3,4,5]", "-1, -3, -2"));
  EXPECT_FALSE(is_fused("[2,3,4,5]", "1, 2"));
  EXPECT_FALSE(is_fused("[2,3,4,5]", "2, 3"));
  EXPECT_FALSE(is_fused("[2,3,4,5]", "0, 1, 2"));
}

// ---- views ----

TEST_F(NearMissesTest, ViewsOfKnownShapes) {
  const auto after = [&](const std::string& shape) {
    return After("middle.FuseReshapesSequence",
                 Given("x", shape) + Tensor("a", "i64[2]", "-1, 4") +
                     Step("v", "opset1.Reshape", "%x, %a", "{special_zero = false}") +
                     Tensor("b", "i64[1]", "0") + Step("w", "opset1.Unsqueeze", "%v, %b") + End("w"));
  };
  EXPECT_EQ(after("[2,3,4]"), "Reshape(w: x, w/shape)");
  EXPECT_EQ(after("[?,3,4]"), "Reshape(v: x, a) Unsqueeze(w: v, b)");
}

// ---- MVN ----

TEST_F(NearMissesTest, MomentsThatKeepTheirAxes) {
  const auto after = [&](const std::string& keep, const std::string& axes, const std::string& epsilon = "0.5",
                         const std::string& square = Step("q", "opset1.Power", "%d, %two")) {
    return After("middle.MVNFusion",
                 Given("x", "[2,3,4]") + Tensor("k", axes, "0") + Number("two", "2.0") +
                     Number("eps", epsilon) + Step("m", "opset1.ReduceMean", "%x, %k", "{keep_dims = true}") +
                     Step("d", "opset1.Subtract", "%x, %m") + square +
                     Step("v", "opset1.ReduceMean", "%q, %k", "{keep_dims = " + keep + "}") +
                     Step("w", "opset1.Add", "%v, %eps") + Step("s", "opset1.Sqrt", "%w") +
                     Step("y", "opset1.Divide", "%d, %s") + End("y"));
  };
  EXPECT_EQ(after("true", "i64[1]"), "MVN(y: x, k)");
  const std::string stays =
      "ReduceMean(m: x, k) Subtract(d: x, m) Power(q: d, two) ReduceMean(v: q, k) Add(w: v, eps) Sqrt(s: w) "
      "Divide(y: d, s)";
  EXPECT_EQ(after("false", "i64[1]"), stays);
  EXPECT_EQ(after("true", "i64[]"), stays);
  EXPECT_EQ(after("true", "i64[1]", "0.0"), stays);
  EXPECT_EQ(after("true", "i64[1]", "-0.5"), stays);
  // Twice the square, the cube, and a product of two tensors.
  const auto is_fused = [&](const std::string& square) {
    return after("true", "i64[1]", "0.5", square).find("MVN") != std::string::npos;
  };
  EXPECT_TRUE(is_fused(Step("q", "opset1.Multiply", "%d, %d")));
  EXPECT_FALSE(is_fused(Step("c", "opset1.Power", "%d, %two") + Step("q", "opset1.Multiply", "%c, %two")));
  EXPECT_FALSE(is_fused(Step("c", "opset1.Power", "%d, %two") + Step("q", "opset1.Multiply", "%c, %d")));
  EXPECT_FALSE(is_fused(Step("q", "opset1.Multiply", "%d, %x")));
  EXPECT_FALSE(is_fused(Step("q", "opset1.Abs", "%d")));
}

// ---- grouped convolutions ----

struct SplitConvolutions {
  std::string split = "%h:2 = opset1.Split \"h\" (%x, %k) {num_splits = 2} : f32[...], f32[...]";
  std::string axis = "i64[] = dense<i64[]: 1>";
  std::string filters[2] = {"f32[1,2,1,1] = dense<f32[1,2,1,1]: 1.0, 2.0>",
                            "f32[1,2,1,1] = dense<f32[1,2,1,1]: 3.0, 4.0>"};
  std::string between = "";
  std::string results = "%a, %b", concat = "1";

  std::string Text() const {
    const std::string window =
        "{strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]}";
    return Given("x", "[1,4,5,3]") + "  %k = opset1.Const \"k\" : " + axis + "\n  " + split +
           "\n  %v = opset1.Const \"v\" : " + filters[0] + "\n  %w = opset1.Const \"w\" : " + filters[1] +
           "\n" + Step("a", "opset1.Convolution", "%h, %v", window) +
           Step("b", "opset1.Convolution", "%h.1, %w", window) + between +
           Step("y", "opset1.Concat", results, "{axis = " + concat + "}") + End("y");
  }
};

TEST_F(NearMissesTest, GroupedConvolutionsOfSplitChannels) {
  const std::string name = "middle.GroupedConvolutionFusion", made = "GroupConvolution(y: x, y/filters)";
  EXPECT_EQ(After(name, SplitConvolutions{}.Text()), made);
  EXPECT_EQ(NumbersOf("y/filters"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(After(name, SplitConvolutions{.axis = "i64[] = dense<i64[]: -3>"}.Text()), made);
  EXPECT_EQ(After(name, SplitConvolutions{.concat = "-3"}.Text()), made);
  const std::string lengths =
      "%n = opset1.Const \"n\" : i64[2] = dense<i64[2]: 2, 2>\n"
      "  %h:2 = opset1.VariadicSplit \"h\" (%x, %k, %n) : f32[...], f32[...]";
  EXPECT_EQ(After(name, SplitConvolutions{.split = lengths}.Text()), made);
  EXPECT_EQ(After(name, SplitConvolutions{.split = lengths, .axis = "i64[1] = dense<i64[1]: 1>"}.Text()),
            made);
  // An output of the split that no branch reads.
  const std::string more =
      "%n = opset1.Const \"n\" : i64[3] = dense<i64[3]: 2, 2, 0>\n"
      "  %h:3 = opset1.VariadicSplit \"h\" (%x, %k, %n) : f32[...], f32[...], f32[...]";
  EXPECT_NE(After(name, SplitConvolutions{.split = more}.Text()), made);
  const std::string unknown =
      "%o = opset1.Parameter \"o\" {element_type = i64, shape = []} : i64[]\n"
      "  %h:2 = opset1.Split \"h\" (%x, %o) {num_splits = 2} : f32[...], f32[...]";
  EXPECT_NE(After(name, SplitConvolutions{.split = unknown}.Text()), made);
  EXPECT_NE(After(name, SplitConvolutions{.results = "%a", .concat = "1"}.Text()).find("Split"),
            std::string::npos);
}

TEST_F(NearMissesTest, GroupedConvolutionsAndTheirBiases) {
  const std::string name = "middle.GroupedConvolutionFusion";
  const auto after = [&](const std::string& first, const std::string& second, const std::string& sums) {
    return After(name, SplitConvolutions{.between = first + second + sums, .results = "%m, %n"}.Text());
  };
  const std::string i = Tensor("i", "f32[1,1,1,1]", "5.0"), j = Tensor("j", "f32[1,1,1,1]", "6.0");
  const std::string sums = Step("m", "opset1.Add", "%a, %i") + Step("n", "opset1.Add", "%j, %b");
  EXPECT_EQ(after(i, j, sums), "GroupConvolution(: x, y/filters) Add(y: , y/bias)");
  EXPECT_EQ(NumbersOf("y/bias"), (std::vector<double>{5, 6}));
  const auto is_left = [](const std::string& text) { return text.find("Split(") != std::string::npos; };
  EXPECT_FALSE(is_left(after(i, j, sums)));
  // Of one element, but another shape; computed at run time; of another operation; read elsewhere.
  EXPECT_TRUE(is_left(after(Tensor("i", "f32[]", "5.0"), j, sums)));
  EXPECT_TRUE(is_left(after(i, Tensor("j", "f32[1,1,1]", "6.0"), sums)));
  EXPECT_TRUE(is_left(after(i, Given("j", "[1,1,1,1]"), sums)));
  EXPECT_TRUE(
      is_left(after(i, j, Step("m", "opset1.Multiply", "%a, %i") + Step("n", "opset1.Multiply", "%j, %b"))));
  EXPECT_TRUE(is_left(after(i, j, sums + End("a", "other"))));
  EXPECT_TRUE(is_left(after(i, j, sums + End("n", "other"))));
}

// ---- attention ----

struct Scored {
  std::string q = "[1,2,3,4]", k = "[1,2,5,4]", v = "[1,2,5,6]";
  std::string before = "", keys = "%k", queries = "%q", transposed = "true";
  std::string between = "", scores = "%a";
  std::string axis = "-1", last = "";
  std::string more = "";

  std::string Text() const {
    return Given("q", q) + Given("k", k) + Given("v", v) + Number("half", "0.5") + Number("four", "4.0") +
           before + Step("a", "opset1.MatMul", queries + ", " + keys, "{transpose_b = " + transposed + "}") +
           between + Step("w", "opset8.SoftMax", scores, "{axis = " + axis + "}") +
           Step("y", "opset1.MatMul", "%w, %v", last) + more + End("y");
  }
};

TEST_F(NearMissesTest, AttentionOfOneRank) {
  const std::string name = "middle.AttentionFusion";
  const auto is_fused = [&](const Scored& form) {
    return After(name, form.Text()).starts_with("ScaledDotProductAttention(y: ");
  };
  EXPECT_TRUE(is_fused({}));
  EXPECT_TRUE(is_fused({.q = "[2,3,4]", .k = "[2,5,4]", .v = "[2,5,6]", .axis = "2"}));
  EXPECT_FALSE(is_fused({.q = "[3,4]", .k = "[5,4]", .v = "[5,6]"}));
  // One of the operands is broadcast.
  EXPECT_FALSE(is_fused({.q = "[2,3,4]"}));
  EXPECT_FALSE(is_fused({.k = "[2,5,4]"}));
  EXPECT_FALSE(is_fused({.v = "[2,5,6]"}));
  EXPECT_FALSE(is_fused({.v = "[5,6]"}));
  EXPECT_FALSE(is_fused({.axis = "2"}));
  EXPECT_FALSE(is_fused({.axis = "-2"}));
  EXPECT_FALSE(is_fused({.q = "[...]", .k = "[...]", .v = "[...]"}));
  EXPECT_FALSE(is_fused({.v = "[1,2,6,5]", .last = "{transpose_b = true}"}));
}

TEST_F(NearMissesTest, FactorsOfScores) {
  const std::string name = "middle.AttentionFusion";
  const auto scale = [&](const Scored& form) -> double {
    const std::string left = After(name, form.Text());
    if (!left.starts_with("ScaledDotProductAttention(y: q, k, v, ")) return -1;
    return NumbersOf("y/scale").at(0);
  };
  const std::string of_scores = Step("s", "opset1.Multiply", "%a, %half");
  const std::string of_queries = Step("r", "opset1.Divide", "%q, %four");
  const std::string of_keys = Step("l", "opset1.Multiply", "%half, %k");
  EXPECT_EQ(scale({}), 1);
  EXPECT_EQ(scale({.between = of_scores, .scores = "%s"}), 0.5);
  EXPECT_EQ(scale({.before = of_queries, .queries = "%r"}), 0.25);
  EXPECT_EQ(scale({.before = of_keys, .keys = "%l"}), 0.5);
  EXPECT_EQ(scale({.before = of_queries + of_keys,
                   .keys = "%l",
                   .queries = "%r",
                   .between = of_scores,
                   .scores = "%s"}),
            0.0625);
  // The product is read elsewhere, or the scaled scores.
  EXPECT_EQ(scale({.between = of_scores, .scores = "%s", .more = End("a", "other")}), -1);
  EXPECT_EQ(scale({.between = of_scores, .scores = "%s", .more = End("s", "other")}), -1);
  EXPECT_EQ(scale({.more = End("a", "other")}), -1);
  EXPECT_EQ(scale({.more = End("w", "other")}), -1);
  // Queries that are read elsewhere are scaled by their own operation.
  EXPECT_TRUE(After(name, Scored{.before = of_queries, .queries = "%r", .more = End("r", "other")}.Text())
                  .find("ScaledDotProductAttention(y: r, k, v, ") != std::string::npos);
}

TEST_F(NearMissesTest, MasksOfRegroupedScores) {
  // The scores [2,1,..] are grouped as `regrouped` where the mask is added, and back.
  const auto after = [&](const Scored& form, const std::string& mask, const std::string& regrouped,
                         const std::string& back) {
    Scored of = form;
    of.between = Tensor("r", fmt::format("i64[{}]", std::count(regrouped.begin(), regrouped.end(), ',') + 1),
                        regrouped) +
                 Tensor("b", fmt::format("i64[{}]", std::count(back.begin(), back.end(), ',') + 1), back) +
                 Given("n", mask) + Step("c", "opset1.Reshape", "%a, %r", "{special_zero = false}") +
                 Step("d", "opset1.Add", "%c, %n") +
                 Step("e", "opset1.Reshape", "%d, %b", "{special_zero = false}");
    of.scores = "%e";
    return After("middle.AttentionFusion", of.Text()).find("SoftMax") == std::string::npos;
  };
  EXPECT_TRUE(after({}, "[2,1,3,5]", "2, 1, 3, 5", "1, 2, 3, 5"));
  EXPECT_FALSE(after({}, "[?,1,3,5]", "2, 1, 3, 5", "1, 2, 3, 5"));
  const Scored empty{.q = "[0,3,4]", .k = "[0,5,4]", .v = "[0,5,6]"};
  EXPECT_FALSE(after(empty, "[1,1,3,5]", "0, 1, 3, 5", "0, 3, 5"));
  const Scored two{.q = "[2,3,4]", .k = "[2,5,4]", .v = "[2,5,6]"};
  EXPECT_TRUE(after(two, "[1,1,3,5]", "2, 1, 3, 5", "2, 3, 5"));
}

// ---- sums and factors ----

TEST_F(NearMissesTest, ConstantsThatAreBroadcastToEachOther) {
  const auto after = [&](const std::string& operation, const std::string& a, const std::string& a_items,
                         const std::string& b, const std::string& b_items, const std::string& x = "[2,3]") {
    return After("middle.FuseConstantSequence", Given("x", x) + Tensor("a", a, a_items) +
                                                    Step("m", operation, "%x, %a") + Tensor("b", b, b_items) +
                                                    Step("n", operation, "%m, %b") + End("n"));
  };
  const std::string product = "opset1.Multiply", sum = "opset1.Add";
  const std::string one = "Multiply(n: x, n/constant)", two = "Multiply(m: x, a) Multiply(n: m, b)";
  EXPECT_EQ(after(product, "f32[1,3]", "1.0, 2.0, 3.0", "f32[2,3]", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0"), one);
  EXPECT_EQ(NumbersOf("n/constant"), (std::vector<double>{1, 4, 9, 4, 10, 18}));
  EXPECT_EQ(after(product, "f32[1,3]", "1.0, 2.0, 3.0", "f32[2,1]", "1.0, 2.0"), two);
  EXPECT_EQ(after(product, "f32[2,1]", "1.0, 2.0", "f32[1,3]", "1.0, 2.0, 3.0"), two);
  EXPECT_EQ(after(product, "f32[1,1]", "2.0", "f32[]", "3.0"), one);
  EXPECT_EQ(NumbersOf("n/constant"), (std::vector<double>{6}));
  EXPECT_EQ(after(product, "f32[]", "2.0", "f32[1,1]", "3.0"), one);
  EXPECT_EQ(after(product, "f32[2,0]", "", "f32[1,1]", "2.0", "[2,0]"),
            "Multiply(m: x, a) Multiply(n: m, b)");
  // A constant of a higher rank with fewer elements.
  EXPECT_EQ(after(product, "f32[1,1,1]", "2.0", "f32[3]", "1.0, 2.0, 3.0"), two);
  // Factors of full precision.
  for (const auto& [factor, expected] :
       {std::pair(0x1p40, one), std::pair(0x1p41, two), std::pair(0x1p-40, one), std::pair(0x1p-41, two)}) {
    for (const double sign : {1, -1}) {
      const std::string text = fmt::format("{:.20e}", sign * factor);
      EXPECT_EQ(after(product, "f32[]", text, "f32[]", "1.0"), expected) << text;
      EXPECT_EQ(after(product, "f32[]", "1.0", "f32[]", text), expected) << text;
    }
  }
  EXPECT_EQ(after(product, "f32[]", "0.0", "f32[]", "1.0"), one);
  // Sums up to 2^100, without cancellation of more than four bits.
  const auto added = [&](double a, double b) {
    return after(sum, "f32[]", fmt::format("{:.20e}", a), "f32[]", fmt::format("{:.20e}", b)) ==
           "Add(n: x, n/constant)";
  };
  EXPECT_TRUE(added(0x1p99, 0x1p99));
  EXPECT_FALSE(added(0x1p99, 0x1.000002p99));
  EXPECT_TRUE(added(-0x1p99, -0x1p99));
  EXPECT_FALSE(added(-0x1p100, -0x1p80));
  EXPECT_TRUE(added(16, -15));
  EXPECT_TRUE(added(-15, 16));
  EXPECT_FALSE(added(16, -15.0625));
  EXPECT_FALSE(added(-15.0625, 16));
  EXPECT_TRUE(added(1, 2));
  // Another element alone.
  EXPECT_EQ(after(sum, "f32[3]", "1.0, 16.0, 1.0", "f32[3]", "1.0, -15.5, 1.0"), "Add(m: x, a) Add(n: m, b)");
}

TEST_F(NearMissesTest, FactorsOfSums) {
  const auto after = [&](const std::string& sum, const std::string& more = "", const std::string& c = "4.0") {
    return After("middle.FuseConstantSequence", Given("x", "[2,3]") + Number("a", "2.0") +
                                                    Number("b", "3.0") + Number("k", c) +
                                                    Step("m", "opset1.Multiply", "%x, %a") + sum +
                                                    Step("n", "opset1.Multiply", "%s, %k") + more + End("n"));
  };
  EXPECT_EQ(after(Step("s", "opset1.Add", "%m, %b")), "Multiply(m: x, n/factors) Add(n: m, n/terms)");
  EXPECT_EQ(after(Step("s", "opset1.Add", "%b, %m")), "Multiply(m: x, n/factors) Add(n: n/terms, m)");
  EXPECT_EQ(NumbersOf("n/factors"), (std::vector<double>{8}));
  EXPECT_EQ(NumbersOf("n/terms"), (std::vector<double>{12}));
  const auto stays = [&](const std::string& sum, const std::string& more = "") {
    return after(sum, more).find("Multiply(n: s, k)") != std::string::npos;
  };
  // A term that is no constant, another operation, other readers, and a sum of another shape.
  EXPECT_TRUE(stays(Step("s", "opset1.Add", "%m, %x")));
  EXPECT_TRUE(stays(Step("s", "opset1.Add", "%x, %m")));
  EXPECT_TRUE(stays(Step("s", "opset1.Subtract", "%m, %b")));
  EXPECT_TRUE(stays(Step("s", "opset1.Add", "%m, %b"), End("s", "other")));
  EXPECT_TRUE(stays(Step("s", "opset1.Add", "%m, %b"), End("m", "other")));
  EXPECT_TRUE(stays(Tensor("l", "f32[1,1,1]", "3.0") + Step("s", "opset1.Add", "%m, %l")));
}

// ---- shuffles ----

TEST_F(NearMissesTest, ReLUsBeforeAShuffle) {
  const auto after = [&](const std::string& begin, const std::string& end, const std::string& more = "") {
    return After(
        "back.ShufflenetReLUReorder",
        Given("x", "[1,4,4,1]") + Step("r", "opset1.ReLU", "%x") + Tensor("five", "i64[5]", "1, 2, 2, 2, 2") +
            Step("p", "opset1.Reshape", "%r, %five", "{special_zero = false}") +
            Tensor("order", "i64[5]", "0, 2, 1, 3, 4") + Step("t", "opset1.Transpose", "%p, %order") +
            Tensor("four", "i64[4]", "1, 4, 2, 2") +
            Step("q", "opset1.Reshape", "%t, %four", "{special_zero = false}") + Given("w", "[1,4,1,1]") +
            Step("y", "opset1.Convolution", "%q, %w",
                 fmt::format("{{strides = [1, 1], dilations = [1, 1], pads_begin = {}, pads_end = {}}}",
                             begin, end)) +
            more + End("y"));
  };
  const std::string moved =
      "Reshape(p: x, five) Transpose(t: p, order) Reshape(q: t, four) ReLU(r: q) Convolution(y: r, w)";
  const std::string stays =
      "ReLU(r: x) Reshape(p: r, five) Transpose(t: p, order) Reshape(q: t, four) Convolution(y: q, w)";
  for (const auto& [begin, end] : {std::pair("[1, 0]", "[0, 0]"), std::pair("[0, 1]", "[0, 0]"),
                                   std::pair("[0, 0]", "[1, 0]"), std::pair("[0, 0]", "[0, 1]")}) {
    EXPECT_EQ(after(begin, end), moved);
    // The shape of the ReLU is that of what it reads now.
    for (ir::NodeId id : graph_->nodes()) {
      if (graph_->node(id).name() != "r") continue;
      EXPECT_EQ(ir::ToString(graph_->node(id).output().shape), "[1,4,2,2]");
    }
  }
  EXPECT_EQ(after("[0, 0]", "[0, 0]"), stays);
  for (const char* read : {"r", "p", "t", "q"})
    EXPECT_EQ(after("[1, 0]", "[0, 0]", End(read, "other")), stays) << read;
}

// ---- connections ----

TEST_F(NearMissesTest, ANodeIsInsertedForAllReaders) {
  graph_ = Parse(Numbered(Given("x", "[2]") + Step("r", "opset1.ReLU", "%x") + Step("s", "opset1.Abs", "%r") +
                          Step("t", "opset1.Sin", "%r") + End("s") + End("t", "other")));
  ASSERT_NE(graph_, nullptr);
  Graph view(*graph_);
  const Node node = view.CreateNode("opset1.Cos", {}, {.name = "c", .num_inputs = 1});
  view.FindNode("r")->out_port(0).GetConnection().InsertNode(node);
  view.Finish();
  EXPECT_EQ(Brief(*graph_),
            "Parameter(x) ReLU(r: x) Cos(c: r) Abs(s: c) Sin(t: c) Result(out: s) Result(other: t)");
}

TEST_F(NearMissesTest, ABodyThatIsNotThere) {
  graph_ = Parse(Numbered(Given("x", "[2]") + Step("r", "opset1.ReLU", "%x") + End("r")));
  ASSERT_NE(graph_, nullptr);
  Graph view(*graph_);
  EXPECT_THROW(view.InlineBody(*view.FindNode("r"), 0, {}), Error);
}

// A transformation that fails in a body fails as in the graph itself.
TEST_F(NearMissesTest, FailuresInBodies) {
  for (const char* name : {"g", "step", "neither"}) {
    graph_ = Parse(
        Numbered(Given("x", "[2,2]") +
                 "  %l = opset1.TensorIterator \"loop\" (%x) : f32[...] bodies {\n    \"body\" input 0 "
                 "-> 0 output 0 -> 0 graph \"step\" {\n" +
                 Given("p", "[2,2]") + Step("a", "opset1.Abs", "%p") + End("a") + "    }\n  }\n" + End("l")));
    ASSERT_NE(graph_, nullptr);
    TransformationList list;
    RegisterAnchors(list);
    list.Add<Calls>("Throws", [&](Graph& graph) {
      if (graph.ir().name() == name) throw Error("it does not fit");
    });
    Emitter emitter;
    std::optional<Pipeline> pipeline = Pipeline::Make(list, {}, emitter);
    ASSERT_TRUE(pipeline.has_value());
    EXPECT_EQ(pipeline->Run(Side::kAfterLowering, *graph_, emitter), std::string_view(name) == "neither")
        << name;
    EXPECT_EQ(emitter.diagnostics().size(), std::string_view(name) == "neither" ? 0U : 1U) << name;
  }
}

// A name is free once no node has it: after the only node was renamed or removed, not after one of two.
TEST_F(NearMissesTest, NamesAreFreeAgain) {
  graph_ = Parse(Numbered(Given("x", "[2]") + "  %r = opset1.ReLU \"twice\" (%x) : f32[2]\n" +
                          "  %s = opset1.Abs \"twice\" (%r) : f32[2]\n" + Step("t", "opset1.Sin", "%s") +
                          End("t")));
  ASSERT_NE(graph_, nullptr);
  Graph view(*graph_);
  EXPECT_EQ(view.UniqueName("twice"), "twice_2");
  EXPECT_EQ(view.UniqueName("new"), "new");
  view.GetOpNodes("opset1.ReLU")[0].SetName("new");
  EXPECT_EQ(view.UniqueName("twice"), "twice_3");
  EXPECT_EQ(view.UniqueName("new"), "new_2");
  view.GetOpNodes("opset1.Abs")[0].SetName("other");
  EXPECT_EQ(view.UniqueName("twice"), "twice");
  const Node made = view.CreateNode("opset1.Cos", {view.FindNode("x")->out_port(0)}, {.name = "made"});
  EXPECT_EQ(view.UniqueName("made"), "made_2");
  view.Remove(made);
  EXPECT_EQ(view.UniqueName("made"), "made");
  const Node constant = view.CreateConst(TensorValue::FromFloats({}, {1}), "constant");
  EXPECT_EQ(view.UniqueName("constant"), "constant_2");
  view.Remove(constant);
  EXPECT_EQ(view.UniqueName("constant"), "constant");
  view.CreateResult(view.FindNode("t")->out_port(0), "result");
  EXPECT_EQ(view.UniqueName("result"), "result_2");
}

// Configurations write 0 and 1 for booleans.
TEST_F(NearMissesTest, NumbersForBooleans) {
  graph_ = Parse(
      Numbered(Given("x", "[2,3]") + Tensor("k", "i64[1]", "1") + Step("t", "opset1.Sin", "%x") + End("t")));
  ASSERT_NE(graph_, nullptr);
  Graph view(*graph_);
  for (const int64_t number : {0, 1, 2}) {
    Graph::Spec spec;
    spec.attributes.Set("keep_dims", number);
    const Node made = view.CreateNode(
        "opset1.ReduceMean", {view.FindNode("x")->out_port(0), view.FindNode("k")->out_port(0)}, spec);
    EXPECT_EQ(made.Get("keep_dims"), number < 2 ? ir::Attribute(number == 1) : ir::Attribute(number));
    if (number < 2) {
      EXPECT_EQ(made.out_port(0).shape().rank(), number == 1 ? 2 : 1);
    }
  }
}

}  // namespace
}  // namespace nnefc::transform
