#include <gtest/gtest.h>

#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::provisional {
namespace {

// Returns the body of the ratified document that a provisional one becomes, without its external.
std::string Translate(std::string_view body, std::string_view fragments = "") {
  Expansion expansion(Provisional(fragments, body));
  std::string text = expansion.Body();
  size_t line = text.find('\n');
  return text.find("external") < line ? text.substr(line + 1) : text;
}

TEST(ProvisionalTest, Renames) {
  EXPECT_EQ(Translate("    y = idn(x)"), "    y = copy(x);\n");
  EXPECT_EQ(Translate("    y = transpose(x, perm = [1,0])"), "    y = transpose(x, axes = [1, 0]);\n");
  EXPECT_EQ(Translate("    a = reshape(x, shape = [16,8])\n    y = matmul(a, a, trA = true)"),
            "    a = reshape(x, shape = [16, 8]);\n    y = matmul(a, a, transposeA = true);\n");
}

TEST(ProvisionalTest, PartialListsAreCompleted) {
  EXPECT_EQ(Translate("    y = local_response_normalization(x, size = [1,5])"),
            "    y = local_response_normalization(x, size = [1, 5, 1, 1]);\n");
  EXPECT_EQ(Translate("    y = max_pool(x, size = [1,1,3], stride = [1,1,2], padding = [(0,0),(0,0)])"),
            "    y = max_pool(x, size = [1, 1, 3, 1], padding = [(0, 0), (0, 0), (0, 1), (0, 0)], "
            "stride = [1, 1, 2, 1]);\n");
  EXPECT_EQ(Translate("    y = max_pool(x, size = [1,1,3,3])"),
            "    y = max_pool(x, size = [1, 1, 3, 3]);\n");
  EXPECT_EQ(Translate("    y = nearest_upsample(x, factor = [2])"),
            "    y = nearest_upsample(x, factor = [2, 1]);\n");
}

TEST(ProvisionalTest, PartialListsAreCompletedBesideMistakes) {
  const auto diagnostics = [](std::string_view body) {
    return Expansion(
               Provisional("", "    f = variable(shape = [2,2,3,3], label = 'f')\n" + std::string(body)))
        .Diagnostics();
  };
  const auto expect = [&](std::string_view body, std::string_view message) {
    EXPECT_NE(diagnostics(body).find(message), std::string::npos) << diagnostics(body);
  };
  expect("    y = box(x, size = [1,0])", "`size[1]` of `box` is 0; expected a positive number");
  expect("    y = local_mean_normalization(x, size = [-1])",
         "`size[0]` of `local_mean_normalization` is -1; expected a positive number");
  expect("    y = max_pool(x, size = [1,1,2], stride = [1,0], padding = [(0,0)])",
         "`stride[1]` of `max_pool` is 0; expected a positive number");
  expect("    y = conv(x, f, dilation = [0], padding = [(1,1)])",
         "`dilation[0]` of `conv` is 0; expected a positive number");
  // Automatic padding is not computed from such numbers.
  expect("    y = conv(x, f, stride = [2147483648])",
         "`stride[0]` of `conv` is 2147483648; expected at most 2147483647");
  EXPECT_EQ(diagnostics("    y = conv(x, f, stride = [2147483647])"), "");
}

TEST(ProvisionalTest, AutomaticPaddingMayBeNegative) {
  // t = (4 - 1) * 2 + 1 - 8 = -1: the ratified dialect uses 0 here.
  EXPECT_EQ(Translate("    y = box(x, size = [1], stride = [1,1,2,1])"),
            "    y = box(x, size = [1, 1, 1, 1], padding = [(0, 0), (0, 0), (-1, 0), (0, 0)], "
            "stride = [1, 1, 2, 1]);\n");
}

TEST(ProvisionalTest, PlanewiseConvolutions) {
  EXPECT_EQ(Translate("    f = variable(shape = [2,1,3,3], label = 'f')\n    y = planewise_conv(x, f)"),
            "    f = variable(shape = [2, 1, 3, 3], label = 'f');\n    y = conv(x, f, groups = 0);\n");
}

TEST(ProvisionalTest, RanksAreMadeEqual) {
  EXPECT_EQ(Translate("    f = variable(shape = [4,2], label = 'f')\n    y = conv(x, f)"),
            "    f = variable(shape = [4, 2], label = 'f');\n"
            "    y_unsqueeze = unsqueeze(f, axes = [2, 3]);\n"
            "    y = conv(x, y_unsqueeze);\n");
  EXPECT_EQ(Translate("    a = reshape(x, shape = [128])\n    b = reshape(x, shape = [128,1])\n"
                      "    y = concat([a, b], axis = 1)"),
            "    a = reshape(x, shape = [128]);\n    b = reshape(x, shape = [128, 1]);\n"
            "    y_unsqueeze = unsqueeze(a, axes = [1]);\n    y = concat([y_unsqueeze, b], axis = 1);\n");
  EXPECT_EQ(Translate("    a = reshape(x, shape = [1,128])\n    y = sum_reduce(a, axes = [1,2])"),
            "    a = reshape(x, shape = [1, 128]);\n    y_unsqueeze = unsqueeze(a, axes = [2]);\n"
            "    y = sum_reduce(y_unsqueeze, axes = [1, 2]);\n");
  EXPECT_EQ(
      Translate("    a = reshape(x, shape = [1,128,1,1])\n    f = variable(shape = [10,128], label = 'f')\n"
                "    y = linear(a, f)"),
      "    a = reshape(x, shape = [1, 128, 1, 1]);\n    f = variable(shape = [10, 128], label = 'f');\n"
      "    y_squeeze = squeeze(a, axes = [2, 3]);\n    y = linear(y_squeeze, f);\n");
  EXPECT_EQ(Translate("    a = reshape(x, shape = [1,128])\n    y = reshape(a, shape = [0,0,0])"),
            "    a = reshape(x, shape = [1, 128]);\n    y = reshape(a, shape = [0, 0, 1]);\n");
}

TEST(ProvisionalTest, BodiesThatChangedAreExpanded) {
  EXPECT_EQ(Translate("    y = l2_normalization(x, axes = [1])"),
            "    y = l2_normalization(x, axes = [1]);\n");
  EXPECT_EQ(Translate("    y = l2_normalization(x, axes = [1], bias = 0.5)"),
            "    y_sqr = sqr(x);\n    y_sigma = sum_reduce(y_sqr, axes = [1]);\n"
            "    y_add = add(y_sigma, 0.5);\n    y_sqrt = sqrt(y_add);\n    y = div(x, y_sqrt);\n");
  EXPECT_NE(Translate("    y = linear_quantize(x, 0.0, 1.0, bits = 8)").find("round("), std::string::npos);
  EXPECT_EQ(Translate("    y = leaky_relu(x, alpha = 0.5)"), "    y = leaky_relu(x, alpha = 0.5);\n");
}

// x / (s + bias) is x / max(s + bias, 0) unless `bias` is negative; the square root of l2_normalization also
// changes where it is positive.
TEST(ProvisionalTest, BiasOfNormalizations) {
  const auto is_expanded = [](std::string_view operation) {
    const std::string body = Translate("    y = " + std::string(operation) + ")");
    EXPECT_NE(body.find("y = "), std::string::npos) << body;
    return body.find("y = " + std::string(operation.substr(0, operation.find('(')))) == std::string::npos;
  };
  for (const char* bias : {"-0.5", "0.0", "0.5"}) {
    const bool is_zero = std::string_view(bias) == "0.0", is_negative = bias[0] == '-';
    EXPECT_EQ(is_expanded(fmt::format("l1_normalization(x, axes = [1], bias = {}", bias)), is_negative)
        << bias;
    EXPECT_EQ(is_expanded(fmt::format("l2_normalization(x, axes = [1], bias = {}", bias)), !is_zero) << bias;
    for (const char* name : {"local_variance_normalization", "local_contrast_normalization"})
      EXPECT_EQ(is_expanded(fmt::format("{}(x, size = [1,1,3,3], bias = {}", name, bias)), !is_zero)
          << name << bias;
  }
  EXPECT_FALSE(is_expanded("local_mean_normalization(x, size = [1,1,3,3]"));
}

// An error ends its statement: what depends on it reports nothing more.
TEST(ProvisionalTest, ExternalsWithOpenExtentsAreReportedOnce) {
  Expansion expansion(
      "version 1.0\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [0,2])\n    y = sum_reduce(x, axes = "
      "[70])\n}\n",
      {.purpose = Purpose::kPrint});
  EXPECT_EQ(
      StatementsOf(expansion),
      "external `x` leaves extents open, which has no ratified form; give them with `--input-shape x=..` "
      "[external.unspecified-extent]\n");
}

TEST(ProvisionalTest, OpenExtentsInExpressions) {
  for (const char* value :
       {"1 if shape_of(x)[0] > 2 else 2", "[1,2][shape_of(x)[0]]", "length_of([1,2][shape_of(x)[0]:])",
        "length_of([1,2][:shape_of(x)[0]])", "shape_of(x)[0] + 1"}) {
    Expansion expansion(
        "version 1.0\nfragment f( x: tensor ) -> ( y: tensor )\n{\n    y = sum_reduce(x, axes = [" +
        std::string(value) +
        "])\n}\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [0,2])\n    y = f(x)\n}\n");
    EXPECT_EQ(expansion.graph, nullptr);
    EXPECT_TRUE(expansion.Has("shape-of.unspecified-extent")) << value << '\n' << expansion.Diagnostics();
    EXPECT_EQ(expansion.context.emitter.diagnostics().size(), 1u) << expansion.Diagnostics();
  }
}

TEST(ProvisionalTest, VariablesInFragments) {
  EXPECT_EQ(Translate("    y = layer(x, scope = 'a')", R"(
fragment layer( input: tensor, scope: string ) -> ( output: tensor )
{
    shape = [1, shape_of(input)[1]]
    bias = variable(shape = shape, label = scope + '/bias')
    output = update(bias, bias * 2.0) + input
})"),
            "    y_bias = variable(shape = [1, 2], label = 'a/bias');\n    y_mul = mul(y_bias, 2.0);\n"
            "    y_update = update(y_bias, y_mul);\n    y = add(y_update, x);\n");
}

TEST(ProvisionalTest, OpenExtents) {
  std::string text =
      "version 1.0\ngraph g( x ) -> ( y )\n{\n    x = external(shape = [0,2,8,8])\n    y = relu(x)\n}\n";
  Expansion closed(text, {.purpose = Purpose::kPrint});
  ASSERT_TRUE(closed.Has("external.unspecified-extent")) << closed.Diagnostics();
  EXPECT_NE(closed.Diagnostics().find("--input-shape"), std::string::npos);
  ExpandOptions options;
  Expansion open(text, options);
  ASSERT_NE(open.graph, nullptr) << open.Diagnostics();
  EXPECT_EQ(ir::ToString(open.Named("y")->output().shape), "[?,2,8,8]");
  options.input_shapes["x"] = {3, 2, 8, 8};
  EXPECT_EQ(Expansion(text, options).Body(), "    x = external(shape = [3, 2, 8, 8]);\n    y = relu(x);\n");
}

TEST(ProvisionalTest, OpenExtentsAreToldWhereTheyAreUsed) {
  ExpandOptions options;
  std::string_view text = R"(version 1.0
fragment layer( x: tensor, axis: extent ) -> ( y: tensor )
{
    v = variable(shape = [1, shape_of(x)[axis]], label = 'v')
    y = x + v
}
graph g( x ) -> ( y )
{
    x = external(shape = [0,2,8,8])
    y = layer(x, axis = )";
  EXPECT_NE(Expansion(std::string(text) + "1)\n}\n", options).graph, nullptr);
  Expansion open(std::string(text) + "0)\n}\n", options);
  EXPECT_TRUE(open.Has("shape-of.unspecified-extent")) << open.Diagnostics();
}

TEST(ProvisionalTest, Coordinates) {
  EXPECT_EQ(Translate("    a, i = max_pool_with_index(x, size = [1,1,2,2], border = 'ignore')\n"
                      "    y = desample(a, i, size = [1,1,2,2])"),
            "    a, i = max_pool_with_index(x, size = [1, 1, 2, 2], border = 'ignore');\n"
            "    y = desample(a, i, size = [1, 1, 2, 2]);\n");
  const ExpandOptions printed{.purpose = Purpose::kPrint};
  const std::string result = Provisional("", "    y = argmax_pool(x, size = [1,1,2,2])");
  EXPECT_TRUE(Expansion(result, printed).Has("provisional.coordinate-index"));
  EXPECT_NE(Expansion(result).graph, nullptr);
  const std::string transposed =
      Provisional("", "    i = argmax_pool(x, size = [1,1,2,2])\n    y = transpose(i, perm = [1,0])");
  EXPECT_TRUE(Expansion(transposed, printed).Has("provisional.coordinate-index"));
  EXPECT_NE(Expansion(transposed).graph, nullptr);
  EXPECT_TRUE(Expansion(Provisional("", "    i = argmax_pool(x, size = [1,1,2,2])\n    y = idn(i)"))
                  .Has("provisional.argument"));
}

TEST(ProvisionalTest, CoordinatesOfWindowsOfSeveralSizes) {
  const std::string text =
      Provisional("",
                  "    i = argmax_pool(x, size = [1,1,2,3])\n"
                  "    j = argmax_pool(x, size = [1,1,3,2])\n"
                  "    k = argmax_pool(x, size = [1,1,2,2])\n"
                  "    both = concat([i, j], axis = 1)\n    y = sample(x, k, size = [1,1,2,2])");
  Expansion expansion(text);
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  const ir::Attribute::Integers common = {1, 1, 3, 3};
  EXPECT_EQ(expansion.Named("i")->attribute("index_size").AsInts(), common);
  EXPECT_EQ(expansion.Named("j")->attribute("index_size").AsInts(), common);
  EXPECT_EQ(expansion.Named("k")->attributes().Find("index_size"), nullptr);
  // The common size has trailing ones like that of the operation.
  Expansion columns(Provisional("",
                                "    i = argmax_pool(x, size = [1,1,2,1])\n"
                                "    j = argmax_pool(x, size = [1,1,3,1])\n"
                                "    both = concat([i, j], axis = 1)\n    y = relu(x)"));
  ASSERT_NE(columns.graph, nullptr) << columns.Diagnostics();
  EXPECT_EQ(columns.Named("i")->attribute("index_size").AsInts(), (ir::Attribute::Integers{1, 1, 3, 1}));
}

TEST(ProvisionalTest, LiteralsAreTensorsOfSingularShape) {
  EXPECT_EQ(Translate("    a = reshape(x, shape = [1,128])\n    y = concat([a, 7.0], axis = 1)"),
            "    a = reshape(x, shape = [1, 128]);\n"
            "    y_constant = constant(shape = [1, 1], value = [7.0]);\n"
            "    y = concat([a, y_constant], axis = 1);\n");
  EXPECT_EQ(Translate("    y = softmax(0.5) + x"),
            "    y_constant = constant(shape = [1, 1], value = [0.5]);\n"
            "    y_softmax = softmax(y_constant);\n    y = add(y_softmax, x);\n");
  EXPECT_EQ(Translate("    y = transpose(true, perm = [1,0])"),
            "    y_constant = constant<logical>(shape = [1, 1], value = [true]);\n"
            "    y = transpose(y_constant, axes = [1, 0]);\n");
  EXPECT_EQ(Translate("    y = relu(0.5)"), "    y = relu(0.5);\n");
}

TEST(ProvisionalTest, SingularExtentsBeyondTheRankAreDropped) {
  EXPECT_EQ(Translate("    f = variable(shape = [4,2,3,3], label = 'f')\n"
                      "    b = variable(shape = [1,4,1,1,1], label = 'b')\n    y = conv(x, f, b)"),
            "    f = variable(shape = [4, 2, 3, 3], label = 'f');\n"
            "    b = variable(shape = [1, 4, 1, 1, 1], label = 'b');\n"
            "    y_squeeze = squeeze(b, axes = [4]);\n    y = conv(x, f, y_squeeze);\n");
}

TEST(ProvisionalTest, PlanesThatMakeSeveralChannels) {
  EXPECT_EQ(Translate("    f = variable(shape = [2,3,3,3], label = 'f')\n    y = planewise_deconv(x, f)"),
            "    f = variable(shape = [2, 3, 3, 3], label = 'f');\n    y = deconv(x, f, groups = 2);\n");
  EXPECT_EQ(Translate("    f = variable(shape = [2,1,3,3], label = 'f')\n    y = planewise_deconv(x, f)"),
            "    f = variable(shape = [2, 1, 3, 3], label = 'f');\n    y = deconv(x, f, groups = 0);\n");
}

TEST(ProvisionalTest, MinimaChooseAsSelectDoes) {
  const std::string text = Provisional("", "    v = variable(shape = [1,2], label = 'v')\n    y = min(x, v)");
  EXPECT_TRUE(Expansion(text).Has("provisional.select-shapes"));
  EXPECT_TRUE(Expansion(text, {.lower = {"min"}}).Has("provisional.select-shapes"));
  const std::string clamped =
      Provisional("", "    v = variable(shape = [1,2], label = 'v')\n    y = clamp(0.0, v, x)");
  EXPECT_TRUE(Expansion(clamped).Has("provisional.select-shapes"));
  EXPECT_TRUE(Expansion(clamped, {.lower = {"all"}}).Has("provisional.select-shapes"));
  // P 7.2: the range of each channel.
  const std::string quantized = Provisional(
      "", "    v = variable(shape = [1,2], label = 'v')\n    y = linear_quantize(x, 0.0, v, bits = 8)");
  EXPECT_NE(Expansion(quantized).graph, nullptr);
  EXPECT_NE(Expansion(quantized, {.lower = {"all"}}).graph, nullptr);
}

TEST(ProvisionalTest, NamesAreTheDocumentsButWherePrinted) {
  Expansion expansion(
      "version 1.0\ngraph yield( integer, integer_2 ) -> ( version )\n{\n    integer = external(shape = "
      "[2])\n"
      "    integer_2 = external(shape = [2])\n    version = integer + integer_2\n}\n");
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  EXPECT_EQ(expansion.graph->name(), "yield");
  EXPECT_NE(expansion.Named("integer"), nullptr);
  EXPECT_EQ(expansion.Named("integer_3"), nullptr);
  EXPECT_EQ(expansion.Flat(),
            "version 1.0;\n\ngraph yield_2( integer_3, integer_2 ) -> ( version_2 )\n{\n"
            "    integer_3 = external(shape = [2]);\n    integer_2 = external(shape = [2]);\n"
            "    version_2 = add(integer_3, integer_2);\n}\n");
}

TEST(ProvisionalTest, LabelsAreTakenAsTheyAreWritten) {
  const std::string text = Provisional("",
                                       "    v = variable(shape = [1,2], label = 'a b')\n"
                                       "    u = variable(shape = [2], label = 'A b')\n    y = x + v");
  EXPECT_NE(Expansion(text).graph, nullptr);
  Expansion blanks(text, {.purpose = Purpose::kPrint});
  EXPECT_TRUE(blanks.Has("variable.printed-label"));
  EXPECT_NE(blanks.Flat().find("label = 'a_b'"), std::string::npos);
  EXPECT_NE(blanks.Flat().find("label = 'A_b_2'"), std::string::npos);
  EXPECT_TRUE(
      Expansion(Provisional("", "    v = variable(shape = [1,2], label = 'a/../../b')\n    y = x + v"))
          .Has("variable.label"));
  const std::string cases = Provisional("",
                                        "    v = variable(shape = [1,2], label = 'v')\n"
                                        "    u = variable(shape = [1,2], label = 'V')\n    y = x + v");
  EXPECT_NE(Expansion(cases).graph, nullptr);
  Expansion printed(cases, {.purpose = Purpose::kPrint});
  EXPECT_TRUE(printed.Has("variable.printed-label"));
  EXPECT_NE(printed.Flat().find("label = 'V_2'"), std::string::npos);
}

// The padding of an axis whose extent is open is computed when the extent is known.
TEST(ProvisionalTest, PaddingOfOpenExtents) {
  const auto open_axis = [](std::string_view shape, std::string_view statement) -> std::optional<int64_t> {
    Expansion expansion(
        fmt::format("version 1.0\ngraph g( x ) -> ( y )\n{{\n    x = external(shape = {})\n"
                    "    f = variable(shape = [2,2,3,3], label = 'f')\n    y = {}\n}}\n",
                    shape, statement));
    if (expansion.graph == nullptr) return -1;
    return ir::ops::OpenPadding(*expansion.Named("y"));
  };
  EXPECT_EQ(open_axis("[1,2,0,8]", "conv(x, f, stride = [2,2], padding = [])"), std::nullopt);
  EXPECT_EQ(open_axis("[1,2,0,8]", "conv(x, f, stride = [4,4])"), 2);
  EXPECT_EQ(open_axis("[1,2,8,0]", "conv(x, f, stride = [4,4])"), 3);
  EXPECT_EQ(open_axis("[1,2,8,0]", "conv(x, f, stride = [2,2], padding = [(0,0)])"), 3);
  EXPECT_EQ(open_axis("[1,2,0,8]", "conv(x, f, stride = [2,2], padding = [(0,0)])"), std::nullopt);
  EXPECT_EQ(open_axis("[1,2,8,0]", "conv(x, f, stride = [2,1], padding = [(0,0)])"), std::nullopt);
  EXPECT_EQ(open_axis("[1,2,0,8]", "box(x, size = [1,1,1,1], stride = [1,1,2,2])"), 2);
  EXPECT_EQ(open_axis("[1,2,0,8]", "box(x, size = [1,1,2,2], stride = [1,1,2,2])"), std::nullopt);
  EXPECT_EQ(open_axis("[1,2,0,8]", "deconv(x, f, stride = [4,4], padding = [])"), std::nullopt);
}

TEST(ProvisionalTest, GroupsOfOpenExtents) {
  Expansion expansion(
      "version 1.0\nfragment f( x: tensor, w: tensor ) -> ( y: tensor )\n{\n    y = conv(x, w, groups = "
      "shape_of(x)[1])\n}\n"
      "graph g( x ) -> ( y )\n{\n    x = external(shape = [1,0,8,8])\n    w = variable(shape = [2,1,3,3], "
      "label = 'w')\n"
      "    y = f(x, w)\n}\n");
  EXPECT_EQ(expansion.context.emitter.diagnostics().size(), 1u) << expansion.Diagnostics();
  EXPECT_TRUE(expansion.Has("shape-of.unspecified-extent")) << expansion.Diagnostics();
}

}  // namespace
}  // namespace nnefc::expand::provisional
