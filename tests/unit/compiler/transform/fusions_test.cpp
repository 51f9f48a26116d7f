// Formulas that are equal to one operation, in the forms in which they are written, and near misses.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

class FusionsTest : public BuiltInTest {
 protected:
  // Returns the graph after a transformation of statements about `%x`, f32[2,3,4]. Labels are words here.
  std::string Graph(const std::string& name, const std::string& statements) {
    return After(
        name, Numbered("  %x = opset1.Parameter \"x\" {element_type = f32, shape = [2,3,4]} : f32[2,3,4]\n" +
                       statements));
  }
};

std::string Const(const std::string& name, const std::string& number) {
  return "  %" + name + " = opset1.Const \"" + name + "\" : f32[] = dense<f32[]: " + number + ">\n";
}

// ---- Gelu ----

struct Erf {
  std::string divisor = "1.41421354";
  std::string one = "1.0";
  std::string half = "0.5";
  std::string argument = "x";
};

std::string GeluOf(const Erf& form, const std::string& tail) {
  return Const("root", form.divisor) + Const("one", form.one) + Const("half", form.half) +
         "  %b = opset1.Abs \"b\" (%x) : f32[2,3,4]\n"
         "  %d = opset1.Divide \"d\" (%" +
         form.argument +
         ", %root) : f32[2,3,4]\n"
         "  %e = opset1.Erf \"e\" (%d) : f32[2,3,4]\n"
         "  %a = opset1.Add \"a\" (%one, %e) : f32[2,3,4]\n" +
         tail + "  opset1.Result \"y\" (%y)\n";
}

constexpr const char* kHalfLast =
    "  %m = opset1.Multiply \"m\" (%x, %a) : f32[2,3,4]\n"
    "  %y = opset1.Multiply \"out\" (%m, %half) : f32[2,3,4]\n";

TEST_F(FusionsTest, GeluHoweverItsFactorsAreOrdered) {
  const std::string name = "middle.GeluFusion";
  EXPECT_EQ(Graph(name, GeluOf({}, kHalfLast)), "Parameter(x) Gelu(out: x) Result(y: out)");
  EXPECT_EQ(Left(Graph(name, GeluOf({},
                                    "  %m = opset1.Multiply \"m\" (%half, %x) : f32[2,3,4]\n"
                                    "  %y = opset1.Multiply \"out\" (%a, %m) : f32[2,3,4]\n"))),
            "Gelu");
  EXPECT_EQ(Left(Graph(name, GeluOf({},
                                    "  %m = opset1.Multiply \"m\" (%a, %half) : f32[2,3,4]\n"
                                    "  %y = opset1.Multiply \"out\" (%x, %m) : f32[2,3,4]\n"))),
            "Gelu");
  EXPECT_EQ(Left(Graph(name, GeluOf({.half = "2.0"},
                                    "  %m = opset1.Multiply \"m\" (%a, %x) : f32[2,3,4]\n"
                                    "  %y = opset1.Divide \"out\" (%m, %half) : f32[2,3,4]\n"))),
            "Gelu");
  // 0.5 * erf(..) + 0.5
  EXPECT_EQ(Left(Graph(name, Const("root", "0.707106769") + Const("half", "0.5") +
                                 "  %d = opset1.Multiply \"d\" (%root, %x) : f32[2,3,4]\n"
                                 "  %e = opset1.Erf \"e\" (%d) : f32[2,3,4]\n"
                                 "  %h = opset1.Multiply \"h\" (%e, %half) : f32[2,3,4]\n"
                                 "  %a = opset1.Add \"a\" (%h, %half) : f32[2,3,4]\n"
                                 "  %y = opset1.Multiply \"out\" (%a, %x) : f32[2,3,4]\n"
                                 "  opset1.Result \"y\" (%y)\n")),
            "Gelu");
}

TEST_F(FusionsTest, NoGelu) {
  const auto is_left = [&](const Erf& form, const std::string& tail = kHalfLast) {
    return Left(Graph("middle.GeluFusion", GeluOf(form, tail))).find("Erf") != std::string::npos;
  };
  EXPECT_TRUE(is_left({.divisor = "1.4"}));
  EXPECT_TRUE(is_left({.one = "1.1"}));
  EXPECT_TRUE(is_left({.half = "0.25"}));
  EXPECT_TRUE(is_left({.argument = "b"}));
  // The sum is read elsewhere.
  EXPECT_TRUE(is_left({}, std::string(kHalfLast) + "  opset1.Result \"z\" (%a)\n"));
  // Another factor of the function alone.
  for (const char* factor : {"%b", "%e"}) {
    std::string text = GeluOf({}, kHalfLast);
    const std::string sum = "  %a = opset1.Add \"a\" (%one, %e)";
    text.replace(text.find(sum), sum.size(),
                 fmt::format("  %f = opset1.Multiply \"f\" (%e, {}) : f32[2,3,4]\n"
                             "  %a = opset1.Add \"a\" (%one, %f)",
                             factor));
    EXPECT_NE(Left(Graph("middle.GeluFusion", text)).find("Erf"), std::string::npos) << factor;
  }
  // Divided by x, and multiplied twice.
  EXPECT_TRUE(is_left({},
                      "  %m = opset1.Divide \"m\" (%a, %x) : f32[2,3,4]\n"
                      "  %y = opset1.Multiply \"out\" (%m, %half) : f32[2,3,4]\n"));
  EXPECT_TRUE(is_left({},
                      "  %m = opset1.Multiply \"m\" (%a, %a) : f32[2,3,4]\n"
                      "  %n = opset1.Multiply \"n\" (%m, %x) : f32[2,3,4]\n"
                      "  %y = opset1.Multiply \"out\" (%n, %half) : f32[2,3,4]\n"));
  // The number broadcasts.
  EXPECT_TRUE(is_left({},
                      "  %k = opset1.Const \"k\" : f32[1,1,1,1] = dense<f32[1,1,1,1]: 0.5>\n"
                      "  %m = opset1.Multiply \"m\" (%x, %a) : f32[2,3,4]\n"
                      "  %y = opset1.Multiply \"out\" (%m, %k) : f32[1,2,3,4]\n"));
}

// A product is followed through at most 16 nodes.
TEST_F(FusionsTest, FactorsOfLongProducts) {
  const auto operations = [&](int count) {
    std::string tail = "  %pa = opset1.Multiply \"pa\" (%x, %half) : f32[2,3,4]\n";
    for (int i = 1; i + 1 < count; ++i) {
      const char next = static_cast<char>('a' + i);
      tail += fmt::format("  %p{0} = opset1.Multiply \"p{0}\" (%p{1}, %one) : f32[2,3,4]\n", next,
                          static_cast<char>(next - 1));
    }
    tail += fmt::format("  %y = opset1.Multiply \"out\" (%a, %p{}) : f32[2,3,4]\n",
                        static_cast<char>('a' + count - 2));
    return Left(Graph("middle.GeluFusion", GeluOf({}, tail)));
  };
  EXPECT_EQ(operations(2), "Gelu");
  EXPECT_EQ(operations(16), "Gelu");
  EXPECT_NE(operations(17).find("Erf"), std::string::npos);
}

// Graphs without one of the operations of Mish are not searched for it.
TEST_F(FusionsTest, MishNeedsBothFunctions) {
  const TransformationList list = StandardTransformations();
  const auto may_change = [&](const char* first, const char* second) {
    const auto graph =
        Parse(fmt::format(R"(  %0 = nnef.external "x" {{shape = [2], dtype = "scalar"}} : f32[2]
  %1 = nnef.{} "a" (%0) : f32[2]
  %2 = nnef.{} "b" (%1) : f32[2]
  opset1.Result "y" (%2)
)",
                          first, second));
    return list.Find("front.MishFusion")->MayChange(*graph);
  };
  EXPECT_FALSE(may_change("softplus", "softplus"));
  EXPECT_FALSE(may_change("tanh", "tanh"));
  EXPECT_TRUE(may_change("softplus", "tanh"));
}

// log(1 + exp(x)) of one alone.
TEST_F(FusionsTest, SoftplusOfOne) {
  const auto softplus = [&](const std::string& number, const std::string& sum, const std::string& more = "") {
    const std::string text =
        "  %x = nnef.external \"x\" {shape = [2,3], dtype = \"scalar\"} : f32[2,3]\n  %e = nnef.exp \"e\" "
        "(%x) : "
        "f32[2,3]\n" +
        Const("one", number) + "  %a = nnef.add \"a\" (" + sum +
        ") : f32[2,3]\n  %l = nnef.log \"l\" (%a) : f32[2,3]\n  opset1.Result \"y\" (%l)\n" + more;
    const TransformationList list = StandardTransformations();
    const auto graph = Parse(Numbered(text));
    EXPECT_EQ(Run(list, *graph, Side::kBeforeLowering, {.only = {"front.SoftplusFusion"}}), "");
    // The nodes of the formula are removed with it.
    const std::string brief = Brief(*graph);
    EXPECT_NE(brief.find("softplus(") == std::string::npos, brief.find("exp(") == std::string::npos) << brief;
    return brief.find("softplus(") != std::string::npos;
  };
  EXPECT_TRUE(softplus("1.0", "%e, %one"));
  EXPECT_TRUE(softplus("1.0", "%one, %e"));
  EXPECT_FALSE(softplus("1.0", "%e, %e"));
  EXPECT_FALSE(softplus("1.0", "%e, %x"));
  EXPECT_FALSE(softplus("0.999", "%e, %one"));
  EXPECT_FALSE(softplus("2.0", "%one, %e"));
  EXPECT_FALSE(softplus("1.0", "%e, %one", "  opset1.Result \"z\" (%e)\n"));
  EXPECT_FALSE(softplus("1.0", "%e, %one", "  opset1.Result \"z\" (%a)\n"));
}

// The factor of x in either order, and what is no factor.
TEST_F(FusionsTest, SwishOfAFactor) {
  const auto swish = [&](const std::string& inputs, const std::string& product) {
    return Left(
        Graph("middle.SwishFusion", Const("k", "2.0") + "  %b = opset1.Multiply \"b\" (" + inputs +
                                        ") : f32[2,3,4]\n  %s = opset1.Sigmoid \"s\" (%b) : f32[2,3,4]\n"
                                        "  %y = opset1.Multiply \"out\" (" +
                                        product + ") : f32[2,3,4]\n  opset1.Result \"y\" (%y)\n"));
  };
  for (const char* inputs : {"%x, %k", "%k, %x"}) {
    for (const char* product : {"%x, %s", "%s, %x"})
      EXPECT_EQ(swish(inputs, product), "Swish") << inputs << product;
  }
  EXPECT_NE(swish("%x, %x", "%x, %s"), "Swish");
  EXPECT_NE(swish("%x, %k", "%b, %s"), "Swish");
}

TEST_F(FusionsTest, GeluByTanh) {
  const auto gelu = [&](const std::string& cubic, const std::string& cube) {
    return Graph("middle.GeluFusion", Const("one", "1.0") + Const("half", "0.5") + Const("c", cubic) +
                                          Const("three", "3.0") + Const("root", "0.797884583") + cube +
                                          "  %u = opset1.Multiply \"u\" (%s, %root) : f32[2,3,4]\n"
                                          "  %t = opset1.Tanh \"t\" (%u) : f32[2,3,4]\n"
                                          "  %a = opset1.Add \"a\" (%t, %one) : f32[2,3,4]\n"
                                          "  %h = opset1.Multiply \"h\" (%x, %half) : f32[2,3,4]\n"
                                          "  %y = opset1.Multiply \"out\" (%h, %a) : f32[2,3,4]\n"
                                          "  opset1.Result \"y\" (%y)\n");
  };
  const std::string power =
      "  %p = opset1.Power \"p\" (%x, %three) : f32[2,3,4]\n"
      "  %q = opset1.Multiply \"q\" (%c, %p) : f32[2,3,4]\n"
      "  %s = opset1.Add \"s\" (%x, %q) : f32[2,3,4]\n";
  EXPECT_EQ(gelu("0.044715", power), "Parameter(x) Gelu(out: x) Result(y: out)");
  EXPECT_NE(Left(gelu("0.04", power)), "Gelu");
  const std::string squares =
      "  %p = opset1.Multiply \"p\" (%x, %x) : f32[2,3,4]\n"
      "  %q = opset1.Multiply \"q\" (%p, %c) : f32[2,3,4]\n"
      "  %r = opset1.Add \"r\" (%one, %q) : f32[2,3,4]\n"
      "  %s = opset1.Multiply \"s\" (%x, %r) : f32[2,3,4]\n";
  EXPECT_EQ(Left(gelu("0.044715", squares)), "Gelu");
  const std::string products =
      "  %p = opset1.Multiply \"p\" (%x, %x) : f32[2,3,4]\n"
      "  %r = opset1.Multiply \"r\" (%p, %x) : f32[2,3,4]\n"
      "  %q = opset1.Multiply \"q\" (%r, %c) : f32[2,3,4]\n"
      "  %s = opset1.Add \"s\" (%q, %x) : f32[2,3,4]\n";
  EXPECT_EQ(Left(gelu("0.044715", products)), "Gelu");
  EXPECT_NE(Left(gelu("0.044715",
                      "  %p = opset1.Multiply \"p\" (%x, %x) : f32[2,3,4]\n"
                      "  %q = opset1.Multiply \"q\" (%p, %c) : f32[2,3,4]\n"
                      "  %s = opset1.Add \"s\" (%q, %x) : f32[2,3,4]\n")),
            "Gelu");
}

// ---- MVN ----

struct Moments {
  std::string axes = "2";
  std::string variance_axes = "2";
  std::string keep = "true";
  std::string epsilon = "0.00001";
  std::string mean_of = "x";
  std::string more = "";
};

std::string Normalized(const Moments& form, const std::string& tail) {
  return "  %g = opset1.Const \"g\" : f32[4] = dense<f32[4]: 1.0, 2.0, 3.0, 4.0>\n" + Const("one", "1.0") +
         Const("minus", "-0.5") + Const("two", "2.0") + Const("eps", form.epsilon) +
         "  %b = opset1.Abs \"b\" (%x) : f32[2,3,4]\n"
         "  %k = opset1.Const \"k\" : i64[1] = dense<i64[1]: " +
         form.axes + ">\n  %l = opset1.Const \"l\" : i64[1] = dense<i64[1]: " + form.variance_axes +
         ">\n  %m = opset1.ReduceMean \"m\" (%" + form.mean_of + ", %k) {keep_dims = true} : f32[?,?,?]\n" +
         "  %d = opset1.Subtract \"d\" (%x, %m) : f32[?,?,?]\n"
         "  %q = opset1.Power \"q\" (%d, %two) : f32[?,?,?]\n"
         "  %v = opset1.ReduceMean \"v\" (%q, %l) {keep_dims = " +
         form.keep +
         "} : f32[...]\n"
         "  %w = opset1.Add \"w\" (%v, %eps) : f32[...]\n" +
         tail + form.more + "  opset1.Result \"y\" (%y)\n";
}

constexpr const char* kQuotient =
    "  %s = opset1.Sqrt \"s\" (%w) : f32[...]\n"
    "  %y = opset1.Divide \"out\" (%d, %s) : f32[...]\n";

TEST_F(FusionsTest, MvnHoweverTheRootIsWritten) {
  const std::string name = "middle.MVNFusion";
  const std::string fused = "Parameter(x) Const(l) MVN(out: x, l) Result(y: out)";
  EXPECT_EQ(Graph(name, Normalized({}, kQuotient)), fused);
  EXPECT_EQ(Graph(name, Normalized({},
                                   "  %s = opset1.Power \"s\" (%w, %minus) : f32[...]\n"
                                   "  %y = opset1.Multiply \"out\" (%s, %d) : f32[...]\n")),
            fused);
  EXPECT_EQ(Graph(name, Normalized({},
                                   "  %s = opset1.Sqrt \"s\" (%w) : f32[...]\n"
                                   "  %r = opset1.Divide \"r\" (%one, %s) : f32[...]\n"
                                   "  %y = opset1.Multiply \"out\" (%d, %r) : f32[...]\n")),
            fused);
}

TEST_F(FusionsTest, MvnTimesAGain) {
  const std::string brief =
      Graph("middle.MVNFusion", Normalized({},
                                           "  %s = opset1.Sqrt \"s\" (%w) : f32[...]\n"
                                           "  %r = opset1.Divide \"r\" (%g, %s) : f32[...]\n"
                                           "  %y = opset1.Multiply \"out\" (%d, %r) : f32[...]\n"));
  EXPECT_EQ(Left(brief), "MVN Multiply");
  EXPECT_NE(brief.find("Multiply(out: "), std::string::npos) << brief;
}

TEST_F(FusionsTest, NoMvn) {
  const auto is_left = [&](const Moments& form, const std::string& tail = kQuotient) {
    const std::string left = Left(Graph("middle.MVNFusion", Normalized(form, tail)));
    const bool is_left = left.find("ReduceMean") != std::string::npos;
    EXPECT_EQ(is_left, left.find("MVN") == std::string::npos) << left;
    return is_left;
  };
  EXPECT_FALSE(is_left({}));
  EXPECT_TRUE(is_left({.variance_axes = "1"}));
  EXPECT_TRUE(is_left({.epsilon = "0.0"}));
  EXPECT_TRUE(is_left({.mean_of = "b"}));
  EXPECT_TRUE(is_left({.more = "  opset1.Result \"z\" (%d)\n"}));
  EXPECT_TRUE(is_left({.more = "  opset1.Result \"z\" (%v)\n"}));
  // Divided by the variance, and the square divided.
  EXPECT_TRUE(is_left({}, "  %y = opset1.Divide \"out\" (%d, %w) : f32[...]\n"));
  EXPECT_TRUE(is_left({},
                      "  %s = opset1.Sqrt \"s\" (%w) : f32[...]\n"
                      "  %y = opset1.Divide \"out\" (%q, %s) : f32[...]\n"));
}

// ---- GroupedConvolution ----

struct Halves {
  std::string split_axis = "1";
  std::string second = "%h.1";
  std::string second_filter = "f32[1,2,1,1] = dense<f32[1,2,1,1]: 3.0, 4.0>";
  std::string dilations = "[1, 1]";
  std::string concat = "(%a, %b) {axis = 1}";
  std::string more = "";
};

std::string Divided(const Halves& form) {
  const std::string attributes = ", strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[...]\n";
  return "  %p = opset1.Parameter \"p\" {element_type = f32, shape = [1,4,4,3]} : f32[1,4,4,3]\n"
         "  %k = opset1.Const \"k\" : i64[] = dense<i64[]: " +
         form.split_axis +
         ">\n  %h:2 = opset1.Split \"h\" (%p, %k) {num_splits = 2} : f32[...], f32[...]\n"
         "  %v = opset1.Const \"v\" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 1.0, 2.0>\n"
         "  %w = opset1.Const \"w\" : " +
         form.second_filter + "\n  %a = opset1.Convolution \"a\" (%h, %v) {dilations = [1, 1]" + attributes +
         "  %b = opset1.Convolution \"b\" (" + form.second + ", %w) {dilations = " + form.dilations +
         attributes + form.more + "  %y = opset1.Concat \"c\" " + form.concat +
         " : f32[...]\n  opset1.Result \"y\" (%y)\n";
}

TEST_F(FusionsTest, GroupedConvolution) {
  const std::string name = "middle.GroupedConvolutionFusion";
  EXPECT_EQ(Graph(name, Divided({})),
            "Parameter(x) Parameter(p) Const(c/filters) GroupConvolution(c: p, c/filters) Result(y: c)");
  const std::string biased =
      "  %i = opset1.Const \"i\" : f32[1,1,1,1] = dense<f32[1,1,1,1]: 5.0>\n"
      "  %j = opset1.Const \"j\" : f32[1,1,1,1] = dense<f32[1,1,1,1]: 6.0>\n"
      "  %m = opset1.Add \"m\" (%a, %i) : f32[...]\n"
      "  %n = opset1.Add \"n\" (%j, %b) : f32[...]\n";
  EXPECT_EQ(Left(Graph(name, Divided({.concat = "(%m, %n) {axis = -3}", .more = biased}))),
            "GroupConvolution Add");
  // A bias of one part alone.
  EXPECT_EQ(Left(Graph(name, Divided({.concat = "(%m, %b) {axis = 1}", .more = biased}))),
            "Split Convolution Convolution Add Concat");
}

TEST_F(FusionsTest, NoGroupedConvolution) {
  const auto is_left = [&](const Halves& form) {
    return Left(Graph("middle.GroupedConvolutionFusion", Divided(form))).find("Split") != std::string::npos;
  };
  EXPECT_FALSE(is_left({}));
  EXPECT_TRUE(is_left({.concat = "(%b, %a) {axis = 1}"}));
  EXPECT_TRUE(is_left({.concat = "(%a, %b) {axis = 0}"}));
  EXPECT_TRUE(is_left({.concat = "(%a, %a) {axis = 1}"}));
  EXPECT_TRUE(is_left({.second = "%h"}));
  EXPECT_TRUE(is_left({.second_filter = "f32[2,2,1,1] = dense<f32[2,2,1,1]: 3.0, 4.0, 5.0, 6.0>"}));
  EXPECT_TRUE(is_left({.more = "  opset1.Result \"z\" (%a)\n"}));
  EXPECT_TRUE(is_left({.more = "  opset1.Result \"z\" (%h.1)\n"}));
  EXPECT_TRUE(is_left({.dilations = "[2, 1]"}));
}

// ---- matrices ----

TEST_F(FusionsTest, ConstantsOfMoreAxesAreMatrices) {
  const auto product = [&](const std::string& shape, const std::string& left) {
    return Graph("middle.SqueezeConstantMatrix",
                 "  %l = opset1.Parameter \"l\" {element_type = f32, shape = " + left + "} : f32" + left +
                     "\n  %w = opset1.Const \"w\" : f32" + shape + " = dense<f32" + shape +
                     ": 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>\n"
                     "  %y = opset1.MatMul \"p\" (%l, %w) : f32[...]\n  opset1.Result \"y\" (%y)\n");
  };
  const std::string made = "Parameter(x) Parameter(l) Const(w/matrix) MatMul(p: l, w/matrix) Result(y: p)";
  const std::string stays = "Parameter(x) Parameter(l) Const(w) MatMul(p: l, w) Result(y: p)";
  EXPECT_EQ(product("[1,4,2]", "[2,3,4]"), made);
  EXPECT_EQ(product("[1,1,4,2]", "[2,3,5,4]"), made);
  EXPECT_EQ(product("[1,1,4,2]", "[2,3,4]"), stays);
  EXPECT_EQ(product("[2,2,2]", "[2,3,2]"), stays);
  EXPECT_EQ(product("[4,2]", "[3,4]"), stays);
}

// ---- attention ----

struct Heads {
  std::string q = "%q", scores = "%a", weights = "%w";
  std::string before = "", between = "";
  std::string transposed = "true";
  std::string k = "%k";
  std::string axis = "3";
  std::string second = "(%w, %v)";
  std::string more = "";
};

// Scores of 3 queries and 5 keys in 2 heads.
std::string Attention(const Heads& form) {
  return "  %q = opset1.Parameter \"q\" {element_type = f32, shape = [1,2,3,4]} : f32[1,2,3,4]\n"
         "  %k = opset1.Parameter \"k\" {element_type = f32, shape = [1,2,5,4]} : f32[1,2,5,4]\n"
         "  %v = opset1.Parameter \"v\" {element_type = f32, shape = [1,2,5,6]} : f32[1,2,5,6]\n"
         "  %m = opset1.Parameter \"m\" {element_type = f32, shape = [1,1,3,5]} : f32[1,1,3,5]\n" +
         Const("half", "0.5") + Const("two", "2.0") + form.before + "  %a = opset1.MatMul \"a\" (" + form.q +
         ", " + form.k + ") {transpose_b = " + form.transposed + "} : f32[...]\n" + form.between +
         "  %w = opset8.SoftMax \"w\" (" + form.scores + ") {axis = " + form.axis +
         "} : f32[...]\n  %y = opset1.MatMul \"out\" " + form.second + " : f32[...]\n" + form.more +
         "  opset1.Result \"y\" (%y)\n";
}

TEST_F(FusionsTest, AttentionWhereverItsScaleIs) {
  const std::string name = "middle.AttentionFusion";
  const std::string fused = "ScaledDotProductAttention";
  EXPECT_EQ(Left(Graph(name, Attention({}))), fused);
  EXPECT_EQ(
      Left(Graph(name, Attention({.scores = "%s",
                                  .between = "  %s = opset1.Multiply \"s\" (%half, %a) : f32[...]\n"}))),
      fused);
  EXPECT_EQ(Left(Graph(name, Attention({.q = "%s",
                                        .before = "  %s = opset1.Divide \"s\" (%q, %two) : f32[...]\n"}))),
            fused);
  const std::string masked =
      Graph(name, Attention({.scores = "%t",
                             .between = "  %s = opset1.Divide \"s\" (%a, %two) : f32[...]\n"
                                        "  %t = opset1.Add \"t\" (%m, %s) : f32[...]\n"}));
  EXPECT_EQ(Left(masked), fused);
  EXPECT_NE(masked.find("ScaledDotProductAttention(out: q, k, v, m, out/scale)"), std::string::npos)
      << masked;
  // A mask without effect.
  const std::string open =
      "  %z = opset1.Const \"z\" : f32[] = dense<f32[]: 0.0>\n"
      "  %s = opset1.Add \"s\" (%a, %z) : f32[...]\n";
  EXPECT_EQ(Left(Graph(name, Attention({.scores = "%s", .between = open}))), fused);
  // A transposed key, as it was before.
  EXPECT_EQ(
      Left(Graph(name, Attention({.before = "  %o = opset1.Const \"o\" : i64[4] = dense<i64[4]: 0, 1, 3, 2>\n"
                                            "  %t = opset1.Transpose \"t\" (%k, %o) : f32[...]\n",
                                  .transposed = "false",
                                  .k = "%t"}))),
      fused);
}

TEST_F(FusionsTest, AttentionUnderMasksOfRegroupedScores) {
  const std::string name = "middle.AttentionFusion";
  // 2 heads of 1 element become 2 elements of 1 head and come back.
  const auto masked = [](const std::string& mask, const std::string& regrouped) {
    return Attention({.scores = "%e",
                      .between = "  %r = opset1.Const \"r\" : i64[4] = dense<i64[4]: " + regrouped +
                                 ">\n  %b = opset1.Const \"b\" : i64[4] = dense<i64[4]: 1, 2, 3, 5>\n"
                                 "  %n = opset1.Parameter \"n\" {element_type = f32, shape = " +
                                 mask + "} : f32" + mask +
                                 "\n  %c = opset1.Reshape \"c\" (%a, %r) {special_zero = false} : f32[...]\n"
                                 "  %d = opset1.Add \"d\" (%c, %n) : f32[...]\n"
                                 "  %e = opset1.Reshape \"e\" (%d, %b) {special_zero = false} : f32[...]\n"});
  };
  const std::string fused = "Broadcast Reshape ScaledDotProductAttention";
  EXPECT_EQ(Left(Graph(name, masked("[2,1,3,5]", "2, 1, 3, 5"))), fused);
  EXPECT_EQ(Left(Graph(name, masked("[1,1,3,5]", "2, 1, 3, 5"))), fused);
  EXPECT_EQ(Left(Graph(name, masked("[3,5]", "2, 1, 3, 5"))), fused);
  // Scores whose new extents are computed stay.
  EXPECT_NE(
      Left(Graph(name,
                 Attention({.scores = "%c",
                            .between =
                                "  %r = opset1.Parameter \"r\" {element_type = i64, shape = [4]} : i64[4]\n"
                                "  %c = opset1.Reshape \"c\" (%a, %r) {special_zero = false} : f32[...]\n"})))
          .find("SoftMax"),
      std::string::npos);
  // If rows are regrouped as well, it stays.
  EXPECT_NE(Left(Graph(name, masked("[1,1]", "1, 2, 5, 3"))).find("SoftMax"), std::string::npos);
}

TEST_F(FusionsTest, FactorsOfAnAttentionGoIntoItsScale) {
  const std::string graph =
      "  %q = opset1.Parameter \"q\" {element_type = f32, shape = [2,3,4]} : f32[2,3,4]\n"
      "  %k = opset1.Parameter \"k\" {element_type = f32, shape = [2,5,4]} : f32[2,5,4]\n"
      "  %m = opset1.Const \"m\" : f32[] = dense<f32[]: 0.0>\n" +
      Const("half", "0.5") + Const("four", "4.0") +
      "  %s = opset1.Multiply \"s\" (%q, %half) : f32[...]\n"
      "  %t = opset1.Divide \"t\" (%k, %four) : f32[...]\n"
      "  %y = opset13.ScaledDotProductAttention \"y\" (%s, %t, %k, %m, %four) : f32[...]\n"
      "  opset1.Result \"out\" (%y)\n";
  const std::string made = Graph("middle.AttentionFusion", graph);
  EXPECT_NE(made.find("ScaledDotProductAttention(y: q, k, k, m, y/scale)"), std::string::npos) << made;
  EXPECT_EQ(made.find("Multiply"), std::string::npos) << made;
}

TEST_F(FusionsTest, NoAttention) {
  const auto is_left = [&](const Heads& form) {
    return Left(Graph("middle.AttentionFusion", Attention(form))).find("SoftMax") != std::string::npos;
  };
  EXPECT_FALSE(is_left({}));
  EXPECT_TRUE(is_left({.axis = "1"}));
  EXPECT_TRUE(is_left({.more = "  opset1.Result \"z\" (%w)\n"}));
  EXPECT_TRUE(is_left({.more = "  opset1.Result \"z\" (%a)\n"}));
  // The weights are the second factor, and a mask of rank 0, which would count as absent.
  EXPECT_TRUE(is_left({.second = "(%v, %w) {transpose_a = true, transpose_b = true}"}));
  EXPECT_TRUE(is_left({.scores = "%s", .between = "  %s = opset1.Add \"s\" (%a, %half) : f32[...]\n"}));
  // Scores of other batches, and keys that are not transposed, or in an unknown order.
  EXPECT_TRUE(
      is_left({.scores = "%s",
               .between = "  %o = opset1.Const \"o\" : i64[4] = dense<i64[4]: 2, 1, 3, 5>\n"
                          "  %s = opset1.Reshape \"s\" (%a, %o) {special_zero = false} : f32[...]\n"}));
  const std::string wide =
      "  %t = opset1.Parameter \"t\" {element_type = f32, shape = [1,2,4,5]} : f32[...]\n";
  EXPECT_TRUE(is_left({.before = wide, .transposed = "false", .k = "%t"}));
  const std::string open =
      "  %o = opset1.Parameter \"o\" {element_type = i64, shape = [4]} : i64[4]\n"
      "  %t = opset1.Transpose \"t\" (%k, %o) : f32[...]\n";
  EXPECT_TRUE(is_left({.before = open, .transposed = "false", .k = "%t"}));
  // A number divided by scores.
  EXPECT_TRUE(is_left({.scores = "%s", .between = "  %s = opset1.Divide \"s\" (%two, %a) : f32[...]\n"}));
}

}  // namespace
}  // namespace nnefc::transform
