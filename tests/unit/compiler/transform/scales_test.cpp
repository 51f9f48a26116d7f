// Factors that filters and matrices absorb: each condition alone, on both sides of each bound.

#include <cmath>

#include "fmt/ranges.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

constexpr const char* kScaleStays = "stays";

class ScalesTest : public TransformTest {
 protected:
  // Returns the elements of the constant "w/scaled" after the transformation; "stays" if the operation "m" of
  // the text remains.
  std::string After(const std::string& name, const std::string& text) {
    const TransformationList list = StandardTransformations();
    graph_ = Parse(Numbered(text));
    if (graph_ == nullptr) return "no graph";
    const std::string before = Brief(*graph_);
    EXPECT_EQ(Run(list, *graph_, Side::kAfterLowering, {.only = {name, "middle.RemoveUnneeded"}}), "");
    if (Brief(*graph_) == before) return kScaleStays;
    return Elements("w/scaled");
  }
  std::string Elements(const std::string& name) const {
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      if (node.name() != name) continue;
      std::string text;
      for (int64_t i = 0; i < node.output().value->volume(); ++i)
        text += fmt::format("{}{:g}", i == 0 ? "" : " ", node.output().value->ElementAsDouble(i));
      return text;
    }
    return "no " + name;
  }
  bool Has(const std::string& part) const { return Brief(*graph_).find(part) != std::string::npos; }

  std::unique_ptr<ir::Graph> graph_;
};

std::string InputOf(const std::string& name, const std::string& type) {
  return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = {}, shape = {}}} : {}\n", name, name,
                     type.substr(0, type.find('[')), type.substr(type.find('[')), type);
}
std::string ConstantOf(const std::string& name, const std::string& type, const std::string& elements) {
  return fmt::format("  %{} = opset1.Const \"{}\" : {} = dense<{}: {}>\n", name, name, type, type, elements);
}
std::string Statement(const std::string& name, const std::string& operation, const std::string& inputs,
                      const std::string& attributes = "", const std::string& type = "f32[...]") {
  return fmt::format("  %{} = {} \"{}\" ({}) {} : {}\n", name, operation, name, inputs, attributes, type);
}

const std::string kUnpadded =
    "{strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]}";

// A scale after a convolution of two output channels.
struct ScaledConvolutionText {
  std::string data = "f32[1,2,3,3]";
  std::string filter = "f32[2,2,1,1]", weights = "1.0, 2.0, 3.0, 4.0";
  std::string bias = "";  // statements between %c and %m
  std::string scaled = "%c";
  std::string factors = "f32[1,2,1,1]", scale = "0.5, 10.0";
  std::string operation = "opset1.Multiply", attributes = "";
  std::string type = "f32[...]";
  std::string more = "";

  std::string Text() const {
    return InputOf("x", data) + ConstantOf("w", filter, weights) +
           Statement("c", "opset1.Convolution", "%x, %w", kUnpadded, type) + bias +
           ConstantOf("s", factors, scale) + Statement("m", operation, scaled + ", %s", attributes, type) +
           "  opset1.Result \"y\" (%m)\n" + more;
  }
};

class ConvolutionScaleTest : public ScalesTest {
 protected:
  std::string After(const ScaledConvolutionText& form) {
    return ScalesTest::After("middle.FuseScaleIntoConvolution", form.Text());
  }
};

TEST_F(ConvolutionScaleTest, ShapesOfFactors) {
  for (const char* shape : {"f32[1,2,1,1]", "f32[2,1,1]"})
    EXPECT_EQ(After({.factors = shape}), "0.5 1 30 40") << shape;
  for (const char* shape : {"f32[]", "f32[1]", "f32[1,1,1,1]"})
    EXPECT_EQ(After({.factors = shape, .scale = "2.0"}), "2 4 6 8") << shape;
  // Along the batch, the rows and the columns; of more axes than the data.
  for (const char* shape : {"f32[2,1,1,1]", "f32[2,1]", "f32[2]", "f32[1,1,2,1,1]"})
    EXPECT_EQ(After({.data = "f32[2,2,2,2]", .factors = shape}), kScaleStays) << shape;
  // A factor for each pair of two axes.
  EXPECT_EQ(After({.factors = "f32[1,2,1,3]", .scale = "1.0, 2.0, 3.0, 4.0, 5.0, 6.0"}), kScaleStays);
  // Two factors of one channel.
  EXPECT_EQ(After({.filter = "f32[1,2,1,1]", .weights = "1.0, 2.0"}), kScaleStays);
  // One channel of the data, and a term of two channels.
  EXPECT_EQ(
      After({.filter = "f32[1,2,1,1]",
             .weights = "1.0, 2.0",
             .bias = ConstantOf("b", "f32[1,2,1,1]", "1.0, 2.0") + Statement("a", "opset1.Add", "%c, %b"),
             .scaled = "%a"}),
      kScaleStays);
}

TEST_F(ConvolutionScaleTest, DataOfUnknownRank) {
  for (const char* transformation : {"middle.FuseScaleIntoConvolution", "middle.FuseScaleIntoMatMul"}) {
    for (const char* factors : {"f32[]", "f32[1]"}) {
      EXPECT_EQ(
          ScalesTest::After(
              transformation,
              InputOf("x", "f32[...]") + InputOf("w", "f32[...]") +
                  Statement("c", "opset1.MatMul", "%x, %w", "{transpose_a = false, transpose_b = false}") +
                  ConstantOf("s", factors, "2.0") + Statement("m", "opset1.Multiply", "%c, %s") +
                  "  opset1.Result \"y\" (%m)\n"),
          kScaleStays)
          << transformation << " " << factors;
    }
  }
}

TEST_F(ConvolutionScaleTest, OtherTypesAndBroadcasts) {
  for (const char* type : {"f16", "f64", "bf16"}) {
    const std::string of = type;
    EXPECT_EQ(After({.data = of + "[1,2,3,3]",
                     .filter = of + "[2,2,1,1]",
                     .factors = of + "[1,2,1,1]",
                     .type = of + "[...]"}),
              kScaleStays)
        << type;
  }
  const ScaledConvolutionText point{.data = "f32[1,2,1,1]"};
  for (const char* mode : {"numpy", "none", "pdpd"}) {
    ScaledConvolutionText form = point;
    form.attributes = fmt::format("{{auto_broadcast = \"{}\"}}", mode);
    EXPECT_EQ(After(form), std::string_view(mode) == "numpy" ? "0.5 1 30 40" : kScaleStays) << mode;
  }
}

TEST_F(ConvolutionScaleTest, OtherOperations) {
  for (const char* operation : {"opset1.Add", "opset1.Subtract", "opset1.Power", "opset1.Maximum"})
    EXPECT_EQ(After({.operation = operation}), kScaleStays) << operation;
  EXPECT_EQ(After({.scale = "0.5, 4.0", .operation = "opset1.Divide"}), "2 4 0.75 1");
  // The data of a scale may have fewer axes than its result, or none.
  for (const char* type : {"f32[]", "f32[3]", "f32[1,3]"}) {
    EXPECT_EQ(
        ScalesTest::After("middle.FuseScaleIntoConvolution",
                          InputOf("x", type) + ConstantOf("s", "f32[1,2,1,1]", "0.5, 10.0") +
                              Statement("m", "opset1.Multiply", "%x, %s") + "  opset1.Result \"y\" (%m)\n"),
        kScaleStays)
        << type;
    EXPECT_EQ(
        ScalesTest::After("middle.FuseScaleIntoMatMul",
                          InputOf("x", type) + ConstantOf("s", "f32[1,2,3]", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0") +
                              Statement("m", "opset1.Multiply", "%x, %s") + "  opset1.Result \"y\" (%m)\n"),
        kScaleStays)
        << type;
  }
}

TEST_F(ConvolutionScaleTest, OneSpatialAxisOrThree) {
  for (const auto& [spatial, ones] : {std::pair(",5", ",1"), std::pair(",5,4,3", ",1,1,1")}) {
    const std::string zeros = std::string_view(ones) == ",1" ? "[0]" : "[0, 0, 0]";
    const std::string steps = std::string_view(ones) == ",1" ? "[1]" : "[1, 1, 1]";
    const std::string window =
        fmt::format("{{strides = {0}, dilations = {0}, pads_begin = {1}, pads_end = {1}}}", steps, zeros);
    EXPECT_EQ(
        ScalesTest::After("middle.FuseScaleIntoConvolution",
                          InputOf("x", fmt::format("f32[1,2{}]", spatial)) +
                              ConstantOf("w", fmt::format("f32[2,2{}]", ones), "1.0, 2.0, 3.0, 4.0") +
                              Statement("c", "opset1.Convolution", "%x, %w", window) +
                              ConstantOf("s", fmt::format("f32[1,2{}]", ones), "0.5, 10.0") +
                              Statement("m", "opset1.Multiply", "%c, %s") + "  opset1.Result \"y\" (%m)\n"),
        "0.5 1 30 40")
        << spatial;
  }
}

// The bias is the first or the second operand; a convolution that is read elsewhere, before and after it.
TEST_F(ConvolutionScaleTest, Biases) {
  for (const char* inputs : {"%c, %b", "%b, %c"}) {
    const ScaledConvolutionText form{
        .bias = ConstantOf("b", "f32[1,2,1,1]", "1.0, 2.0") + Statement("a", "opset1.Add", inputs),
        .scaled = "%a"};
    EXPECT_EQ(After(form), "0.5 1 30 40") << inputs;
    EXPECT_EQ(Elements("m/shift"), "0.5 20") << inputs;
    const std::string order = std::string_view(inputs) == "%c, %b" ? "c, m/shift" : "m/shift, c";
    EXPECT_TRUE(Has("Add(m: " + order + ")")) << Brief(*graph_);
    for (const char* read : {"%c", "%a"}) {
      ScaledConvolutionText other = form;
      other.more = fmt::format("  opset1.Result \"z\" ({})\n", read);
      EXPECT_EQ(After(other), kScaleStays) << inputs << " " << read;
    }
  }
  const auto biased = [&](const std::string& type, const std::string& elements) {
    return After(
        {.bias = ConstantOf("b", type, elements) + Statement("a", "opset1.Add", "%c, %b"), .scaled = "%a"});
  };
  EXPECT_EQ(biased("f32[]", "4.0"), "0.5 1 30 40");
  EXPECT_EQ(Elements("m/shift"), "2 40");
  EXPECT_EQ(biased("f32[3]", "1.0, 2.0, 3.0"), kScaleStays);
  // A sum that is not finite after the scale.
  EXPECT_EQ(biased("f32[1,2,1,1]", "1.0, 3e38"), kScaleStays);
  EXPECT_EQ(biased("f32[1,2,1,1]", "1.0, inf"), kScaleStays);
  // No bias is added for zeros.
  EXPECT_EQ(After({}), "0.5 1 30 40");
  EXPECT_FALSE(Has("Add("));
}

TEST_F(ConvolutionScaleTest, EmptyOrUnknownWeights) {
  EXPECT_EQ(After({.data = "f32[1,0,3,3]", .filter = "f32[2,0,1,1]", .weights = ""}), kScaleStays);
  const auto after = [&](const std::string& filter) {
    return ScalesTest::After(
        "middle.FuseScaleIntoConvolution",
        InputOf("x", "f32[1,2,3,3]") + filter + Statement("c", "opset1.Convolution", "%x, %w", kUnpadded) +
            ConstantOf("s", "f32[1,2,1,1]", "0.5, 10.0") + Statement("m", "opset1.Multiply", "%c, %s") +
            "  opset1.Result \"y\" (%m)\n");
  };
  EXPECT_EQ(after(ConstantOf("w", "f32[2,2,1,1]", "1.0, 2.0, 3.0, 4.0")), "0.5 1 30 40");
  EXPECT_EQ(after(InputOf("w", "f32[2,2,1,1]")), kScaleStays);
  EXPECT_EQ(after(InputOf("w", "f32[2,2,?,1]")), kScaleStays);
  EXPECT_EQ(after(InputOf("w", "f32[?,2,1,1]")), kScaleStays);
}

// Products may be small, but not all below 2^-100 unless the weights are as well, or unless all factors are
// zero: precision would be lost.
TEST_F(ConvolutionScaleTest, SmallProducts) {
  const auto after = [&](double weight, double factor) {
    return After({.data = "f32[1,1,3,3]",
                  .filter = "f32[2,1,1,1]",
                  .weights = fmt::format("{0:.20e}, {0:.20e}", weight),
                  .factors = "f32[]",
                  .scale = fmt::format("{:.20e}", factor)});
  };
  const auto product = [](double number) { return fmt::format("{0:g} {0:g}", number); };
  EXPECT_EQ(after(1, 0x1p-100), product(0x1p-100));
  EXPECT_EQ(after(1, 0x1p-101), kScaleStays);
  EXPECT_EQ(after(-1, 0x1p-100), product(-0x1p-100));
  EXPECT_EQ(after(-1, -0x1p-101), kScaleStays);
  EXPECT_EQ(after(0x1p-101, 1), product(0x1p-101));
  EXPECT_EQ(after(0x1p-101, 0.5), product(0x1p-102));
  EXPECT_EQ(after(0x1p-100, 1), product(0x1p-100));
  EXPECT_EQ(after(0x1p-100, 0.5), kScaleStays);
  EXPECT_EQ(after(1, 0), product(0));
}

// The one large product, or the one large weight, is found wherever it is.
TEST_F(ConvolutionScaleTest, TheLargestOfManyProducts) {
  for (const int channels : {15, 16, 17, 33}) {
    for (int large = -1; large < channels; ++large) {
      const auto after = [&](double small, double other, double factor) {
        std::string weights;
        for (int i = 0; i < channels; ++i)
          weights += fmt::format("{}{:.20e}", i == 0 ? "" : ", ", i == large ? other : small);
        return After({.data = fmt::format("f32[1,{},3,3]", channels),
                      .filter = fmt::format("f32[1,{},1,1]", channels),
                      .weights = weights,
                      .factors = "f32[]",
                      .scale = fmt::format("{:.20e}", factor)}) != kScaleStays;
      };
      // Products of 2^-130 are lost, unless one of 2^-90 remains.
      EXPECT_EQ(after(0x1p-40, 1, 0x1p-90), large >= 0) << channels << " " << large;
      EXPECT_EQ(after(0x1p-40, -1, 0x1p-90), large >= 0) << channels << " " << large;
      // Weights of 2^-110 have no precision to lose, but one of 2^-90 has.
      EXPECT_EQ(after(0x1p-110, 0x1p-90, 0x1p-20), large < 0) << channels << " " << large;
      EXPECT_EQ(after(0x1p-110, -0x1p-90, 0x1p-20), large < 0) << channels << " " << large;
    }
  }
}

// Weights of any number: none is left out in the search of the largest.
TEST_F(ConvolutionScaleTest, ProductsOfLongRows) {
  for (const int channels : {1023, 1024, 1025, 2048, 2049}) {
    // -1: no large weight.
    for (const int large : {-1, 0, 1022, 1023, 1024, channels - 1}) {
      if (large >= channels) continue;
      std::vector<double> weights(static_cast<size_t>(channels), 0x1p-40);
      if (large >= 0) weights[static_cast<size_t>(large)] = 1;
      const auto after = [&](double factor) {
        return After({.data = fmt::format("f32[1,{},1,1]", channels),
                      .filter = fmt::format("f32[1,{},1,1]", channels),
                      .weights = fmt::format("{:.20e}", fmt::join(weights, ", ")),
                      .factors = "f32[]",
                      .scale = fmt::format("{:.20e}", factor)}) != kScaleStays;
      };
      // Products of 2^-130 are lost, unless one of 2^-90 remains; products of 2^128 overflow.
      EXPECT_EQ(after(0x1p-90), large >= 0) << channels << " " << large;
      EXPECT_TRUE(after(0x1p127)) << channels << " " << large;
      if (large >= 0) weights[static_cast<size_t>(large)] = 2;
      EXPECT_EQ(after(0x1p127), large < 0) << channels << " " << large;
    }
  }
  // Rows of a factor each.
  EXPECT_EQ(After({.data = "f32[1,1024,1,1]",
                   .filter = "f32[2,1024,1,1]",
                   .weights = fmt::format("{}", fmt::join(std::vector<double>(2048, 0.5), ", ")),
                   .scale = "2.0, 3.0"})
                .substr(0, 8),
            "1 1 1 1 ");
}

// ---- batch normalization ----

TEST_F(ConvolutionScaleTest, BatchNormalizationsOfKnownNumbers) {
  const auto after = [&](const std::string& changed, const std::string& statement, bool is_old = false) {
    std::string text = InputOf("x", "f32[1,2,3,3]") + ConstantOf("w", "f32[2,2,1,1]", "1.0, 2.0, 3.0, 4.0") +
                       Statement("c", "opset1.Convolution", "%x, %w", kUnpadded);
    for (const auto& [name, elements] : {std::pair("gamma", "1.0, 2.0"), std::pair("beta", "5.0, 6.0"),
                                         std::pair("mean", "1.0, 3.0"), std::pair("variance", "0.0, 3.75")})
      text += name == changed ? statement : ConstantOf(name, "f32[2]", elements);
    text += is_old ? Statement("m", "opset1.BatchNormInference", "%gamma, %beta, %c, %mean, %variance",
                               "{epsilon = 0.25}")
                   : Statement("m", "opset5.BatchNormInference", "%c, %gamma, %beta, %mean, %variance",
                               "{epsilon = 0.25}");
    return ScalesTest::After("middle.FuseScaleIntoConvolution", text + "  opset1.Result \"y\" (%m)\n");
  };
  // gamma / sqrt(variance + epsilon) is 2 and 1; beta - mean * that is 3 and 3.
  EXPECT_EQ(after("", ""), "2 4 3 4");
  EXPECT_EQ(Elements("m/shift"), "3 3");
  for (const char* name : {"gamma", "beta", "mean", "variance"})
    EXPECT_EQ(after(name, InputOf(name, "f32[2]")), kScaleStays) << name;
  EXPECT_EQ(after("", "", true), kScaleStays);
}

// ---- narrow types ----

// Factors from 2^-40 to 2^40 retain the precision of converted weights.
TEST_F(ScalesTest, FactorsOfConvertedWeights) {
  const auto is_fused = [&](const std::string& factors, const std::string& convert = "%w") {
    const std::string text = InputOf("x", "f32[1,2,3,3]") + InputOf("p", "f16[2,2,1,1]") +
                             ConstantOf("w", "f16[2,2,1,1]", "1.0, 2.0, 3.0, 4.0") +
                             Statement("f", "opset1.Convert", convert, "{destination_type = f32}") +
                             Statement("c", "opset1.Convolution", "%x, %f", kUnpadded) +
                             ConstantOf("s", "f32[1,2,1,1]", factors) +
                             Statement("m", "opset1.Multiply", "%c, %s") + "  opset1.Result \"y\" (%m)\n";
    (void)After("middle.FuseScaleIntoConvolution", text);
    return !Has("(m: c, s)");
  };
  for (const double sign : {1.0, -1.0}) {
    for (const auto& [factor, expected] :
         {std::pair(0x1p40, true), std::pair(0x1p41, false), std::pair(0x1p-40, true),
          std::pair(0x1p-41, false), std::pair(0.0, true)}) {
      EXPECT_EQ(is_fused(fmt::format("{:.20e}, 1.0", sign * factor)), expected) << sign * factor;
      EXPECT_EQ(is_fused(fmt::format("1.0, {:.20e}", sign * factor)), expected) << sign * factor;
    }
  }
  EXPECT_FALSE(is_fused("0.5, 10.0", "%p"));
}

// ---- matrices ----

class MatrixScaleTest : public ScalesTest {
 protected:
  // Returns the matrix of x * w after a scale of the product.
  std::string After(const std::string& data, const std::string& matrix, const std::string& weights,
                    const std::string& factors, const std::string& scale,
                    const std::string& attributes = "{transpose_a = false, transpose_b = false}") {
    return ScalesTest::After(
        "middle.FuseScaleIntoMatMul",
        InputOf("x", data) + ConstantOf("w", matrix, weights) +
            Statement("p", "opset1.MatMul", "%x, %w", attributes) + ConstantOf("s", factors, scale) +
            Statement("m", "opset1.Multiply", "%p, %s") + "  opset1.Result \"y\" (%m)\n");
  }
};

TEST_F(MatrixScaleTest, Shapes) {
  const std::string six = "1.0, 2.0, 3.0, 4.0, 5.0, 6.0", two = "10.0, 100.0";
  EXPECT_EQ(After("f32[4,3]", "f32[3,2]", six, "f32[2]", two), "10 200 30 400 50 600");
  EXPECT_EQ(After("f32[3]", "f32[3,2]", six, "f32[2]", two), "10 200 30 400 50 600");
  EXPECT_EQ(After("f32[5,4,3]", "f32[3,2]", six, "f32[1,1,2]", two), "10 200 30 400 50 600");
  EXPECT_EQ(After("f32[3,4,1]", "f32[3,1,2]", six, "f32[2]", two), "10 200 30 400 50 600");
  EXPECT_EQ(
      After("f32[3,4,1]", "f32[3,2,1]", six, "f32[2]", two, "{transpose_a = false, transpose_b = true}"),
      "10 200 30 400 50 600");
  // The last axis of the product is that of the rows for a vector at the right.
  EXPECT_EQ(After("f32[2,3]", "f32[3]", "1.0, 2.0, 3.0", "f32[2]", two), kScaleStays);
  EXPECT_EQ(After("f32[2,3]", "f32[3]", "1.0, 2.0, 3.0", "f32[]", "2.0"), kScaleStays);
  // Factors of rows.
  EXPECT_EQ(After("f32[2,3]", "f32[3,2]", six, "f32[2,1]", two), kScaleStays);
  // More axes than the product.
  EXPECT_EQ(After("f32[2,3]", "f32[3,2]", six, "f32[1,1,2]", two), kScaleStays);
  EXPECT_EQ(After("f32[2,0]", "f32[0,2]", "", "f32[2]", two), kScaleStays);
}

// ---- readers ----

// A scale before a convolution or a matrix multiplication.
struct ScaledOperandText {
  std::string data = "f32[1,2,3,3]";
  std::string operation = "opset1.Multiply", inputs = "%x, %s";
  std::string factors = "f32[2,1,1]", scale = "10.0, 100.0";
  std::string filter = ConstantOf("w", "f32[2,2,1,1]", "1.0, 2.0, 3.0, 4.0");
  std::string reader = "opset1.Convolution", operands = "%m, %w", attributes = kUnpadded;
  std::string more = "";

  std::string Text() const {
    return InputOf("x", data) + ConstantOf("s", factors, scale) + Statement("m", operation, inputs) + filter +
           Statement("c", reader, operands, attributes) + "  opset1.Result \"y\" (%c)\n" + more;
  }
};

class FollowingScaleTest : public ScalesTest {
 protected:
  std::string After(const ScaledOperandText& form) {
    return ScalesTest::After("middle.FuseScaleIntoFollowing", form.Text());
  }
};

TEST_F(FollowingScaleTest, Convolutions) {
  EXPECT_EQ(After({}), "10 200 30 400");
  EXPECT_TRUE(Has("Convolution(c: x, w/scaled)"));
  EXPECT_EQ(After({.inputs = "%s, %x"}), "10 200 30 400");
  EXPECT_TRUE(Has("Convolution(c: x, w/scaled)"));
  EXPECT_EQ(After({.operation = "opset1.Divide", .scale = "0.5, 0.25"}), "2 8 6 16");
  EXPECT_EQ(After({.operation = "opset1.Divide", .inputs = "%s, %x"}), kScaleStays);
  EXPECT_EQ(After({.operation = "opset1.Add"}), kScaleStays);
  EXPECT_EQ(After({.data = "f32[?,2,?,?]"}), "10 200 30 400");
  EXPECT_EQ(After({.data = "f32[?,?,?,?]"}), kScaleStays);
  EXPECT_EQ(After({.data = "f32[...]"}), kScaleStays);
  // One channel that is broadcast to two.
  EXPECT_EQ(After({.data = "f32[1,1,3,3]"}), kScaleStays);
  EXPECT_EQ(After({.more = "  opset1.Result \"z\" (%m)\n"}), kScaleStays);
  EXPECT_EQ(After({.filter = InputOf("w", "f32[2,2,1,1]")}), kScaleStays);
  EXPECT_EQ(After({.filter = InputOf("w", "f32[2,2,1,?]")}), kScaleStays);
  EXPECT_EQ(After({.filter = ConstantOf("w", "f32[0,2,1,1]", "")}), kScaleStays);
  // The filter is what is scaled.
  EXPECT_EQ(After({.data = "f32[2,2,1,1]", .filter = InputOf("w", "f32[1,2,3,3]"), .operands = "%w, %m"}),
            kScaleStays);
}

TEST_F(FollowingScaleTest, Matrices) {
  const auto matrix = [](const std::string& data, const std::string& factors, const std::string& weights,
                         const std::string& attributes = "{transpose_a = false, transpose_b = false}") {
    return ScaledOperandText{.data = data,
                             .factors = factors,
                             .filter = ConstantOf("w", weights, "1.0, 2.0, 3.0, 4.0"),
                             .reader = "opset1.MatMul",
                             .attributes = attributes};
  };
  EXPECT_EQ(After(matrix("f32[3,2]", "f32[2]", "f32[2,2]")), "10 20 300 400");
  EXPECT_EQ(After(matrix("f32[5,3,2]", "f32[2]", "f32[2,2]")), "10 20 300 400");
  EXPECT_EQ(After(matrix("f32[2,3,2]", "f32[2]", "f32[2,2,1]")), "10 200 30 400");
  EXPECT_EQ(After(matrix("f32[3,2]", "f32[2]", "f32[2,2]", "{transpose_a = false, transpose_b = true}")),
            "10 200 30 400");
  EXPECT_EQ(After(matrix("f32[2,2]", "f32[2]", "f32[2,2]", "{transpose_a = true, transpose_b = false}")),
            kScaleStays);
  // Factors of rows; a vector at the left.
  EXPECT_EQ(After(matrix("f32[2,2]", "f32[2,1]", "f32[2,2]")), kScaleStays);
  EXPECT_EQ(After(matrix("f32[2]", "f32[2]", "f32[2,2]")), kScaleStays);
  // A vector at the right.
  ScaledOperandText vector = matrix("f32[3,2]", "f32[2]", "f32[2]");
  vector.filter = ConstantOf("w", "f32[2]", "1.0, 2.0");
  EXPECT_EQ(After(vector), kScaleStays);
}

}  // namespace
}  // namespace nnefc::transform
