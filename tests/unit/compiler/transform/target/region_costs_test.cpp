// target.UnmarkSlowRegions: which results stay in 8 bits by the times of steps.

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class RegionCostsTest : public TransformTest {
 protected:
  static std::string Quantized(const std::string& name, const std::string& data) {
    return TargetStep(name, "opset1.FakeQuantize", fmt::format("%{}, %zero, %one, %zero, %one", data),
                      "levels = 256");
  }

  // Returns the names of the nodes that keep a mark, those with a filter in brackets: "q [c]".
  std::string Kept(llvm::ArrayRef<std::string> steps, bool has_times = true) {
    std::string text = TargetInput("x", "f32", "[1,1,2,2]") + TargetConstant("zero", "f32[]", "0") +
                       TargetConstant("one", "f32[]", "255") + TargetConstant("w", "f32[1,1,1,1]", "1") +
                       TargetConstant("w2", "f32[1,2,1,1]", "1, 1");
    for (const std::string& step : steps) text += step;
    const auto graph = Parse(Numbered(text));
    if (graph == nullptr) return "no graph";
    times_.product = TimeOfProduct;
    const ir::PlanFunctions functions{.quantize_filter =
                                          [](const ir::Node& node, const TensorValue&) {
                                            if (node.Is(ir::Contraction::kGroupConvolution))
                                              return ir::FilterQuantization();
                                            return ir::FilterQuantization{.scales = {1}, .max_magnitude = 1};
                                          },
                                      .times = has_times ? &times_ : nullptr};
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.MarkQuantizedValues", "target.UnmarkSlowRegions"}, .plan = functions}),
              "");
    std::string kept;
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      const char* const space = kept.empty() ? "" : " ";
      if (ir::ops::HasQuantizedResult(node)) kept += space + node.name();
      if (ir::ops::QuantizedFilterOf(node))
        kept += fmt::format("{}[{}]", kept.empty() ? "" : " ", node.name());
    }
    return kept;
  }

  // Per element, of four elements.
  ir::StepTimes times_{.quantize = 2, .dequantize = 3, .round_in_epilogue = 0.5, .round = 1, .lookup = 10};
};

// In 8 bits: 8 for the quantization of each part; that of the result is part of the Concat. In f32: 4 to
// round each part and 8 for the result. A part in f32 would be quantized by the Concat.
TEST_F(RegionCostsTest, JoinedChannelsAreQuantizedOnce) {
  const std::vector<std::string> steps = {Quantized("p", "x"),
                                          TargetStep("t", "opset1.Tanh", "%x"),
                                          Quantized("q", "t"),
                                          TargetStep("j", "opset1.Concat", "%p, %q", "axis = 1"),
                                          TargetConstant("m", "f32[1,2,1,1]", "1, 2"),
                                          TargetStep("y", "opset1.Multiply", "%j, %m"),
                                          Quantized("r", "y"),
                                          TargetConvolution("c", "r", "w2"),
                                          TargetResultOf("c")};
  ProductTimes() = {{"c", {10, 11}}};
  EXPECT_EQ(Kept(steps), "p q r [c]");
  ProductTimes() = {{"c", {10, 10}}};  // equal
  EXPECT_EQ(Kept(steps), "");
  ProductTimes() = {{"c", {10, 9}}};
  EXPECT_EQ(Kept(steps), "");
}

// In 8 bits: 8 for the quantization. In f32: 4 to round in a step.
TEST_F(RegionCostsTest, AProductPaysItsQuantization) {
  const std::vector<std::string> steps = {Quantized("q", "x"), TargetConvolution("c", "q"),
                                          TargetResultOf("c")};
  ProductTimes() = {{"c", {10, 15}}};
  EXPECT_EQ(Kept(steps), "q [c]");
  ProductTimes() = {{"c", {10, 14}}};  // equal
  EXPECT_EQ(Kept(steps), "");
  ProductTimes() = {{"c", {10, 13}}};
  EXPECT_EQ(Kept(steps), "");
  EXPECT_EQ(Kept(steps, false), "q [c]");
}

// The result of `c` is quantized in its step: no conversion between `c` and `d`, or 8 for one.
TEST_F(RegionCostsTest, ProductsInARow) {
  const std::vector<std::string> steps = {Quantized("q", "x"), TargetConvolution("c", "q"),
                                          Quantized("r", "c"), TargetConvolution("d", "r"),
                                          TargetResultOf("d")};
  ProductTimes() = {{"c", {10, 12}}, {"d", {10, 12}}};  // 8 + 20, or 24 + 4 + 2
  EXPECT_EQ(Kept(steps), "q [c] r [d]");
  ProductTimes() = {{"c", {10, 12}}, {"d", {10, 9.5}}};  // 8 + 20, or 21.5 + 6
  EXPECT_EQ(Kept(steps), "");
  ProductTimes() = {{"c", {10, 5}}, {"d", {10, 30}}};  // 5 + 4 + 8 + 10, or 28
  EXPECT_EQ(Kept(steps), "r [d]");
  ProductTimes() = {{"c", {10, 30}}, {"d", {10, 5}}};  // 8 + 10, then to round in a step of its own and 5
  EXPECT_EQ(Kept(steps), "q [c]");
}

// A depthwise convolution with an f32 filter converts quantized images in its step, and quantizes its result
// if another step needs that. Per element: 2 and widen, or 1 to round and 2.
TEST_F(RegionCostsTest, MixedDepthwiseConvolutions) {
  ProductTimes() = {{"c", {10, 1000}}};
  const auto kept = [&](int64_t channels, double widen) {
    times_.widen = widen;
    std::string ones = "1";
    for (int64_t i = 1; i < channels; ++i) ones += ", 1";
    return Kept({TargetInput("images", "f32", fmt::format("[1,{},2,2]", channels)),
                 TargetConstant("depthwise", fmt::format("f32[{},1,1,1,1]", channels), ones),
                 TargetConstant("last", fmt::format("f32[1,{},1,1]", channels), ones),
                 Quantized("q", "images"),
                 TargetConvolution("d", "q", "depthwise", "opset1.GroupConvolution"), Quantized("r", "d"),
                 TargetConvolution("c", "r", "last"), TargetResultOf("c")});
  };
  for (const int64_t channels : {16, 17}) {
    EXPECT_EQ(kept(channels, 0.9), "q r [c]");
    for (const double widen : {1.0, 1.1}) EXPECT_EQ(kept(channels, widen), "r [c]");
  }
  EXPECT_EQ(kept(15, 0), "r [c]");  // no such step
}

// The conversion for other readers costs 12, once.
TEST_F(RegionCostsTest, OtherReadersDequantize) {
  const std::vector<std::string> steps = {Quantized("q", "x"),
                                          TargetConvolution("c", "q"),
                                          TargetStep("t", "opset1.Tanh", "%q"),
                                          TargetStep("s", "opset1.Sigmoid", "%q"),
                                          TargetResultOf("c"),
                                          TargetResultOf("t"),
                                          TargetResultOf("s")};
  ProductTimes() = {{"c", {10, 27}}};  // 8 + 10 + 12 once, or 4 + 27
  EXPECT_EQ(Kept(steps), "q [c]");
  ProductTimes() = {{"c", {10, 25}}};
  EXPECT_EQ(Kept(steps), "");
}

// Both operands of a sum and its result are in 8 bits, or none.
TEST_F(RegionCostsTest, Sums) {
  const std::vector<std::string> steps = {Quantized("q", "x"), TargetConvolution("c", "q"),
                                          Quantized("r", "c"), TargetStep("s", "opset1.Add", "%q, %r"),
                                          Quantized("t", "s"), TargetConvolution("d", "t"),
                                          TargetResultOf("d")};
  ProductTimes() = {{"c", {10, 20}}, {"d", {10, 20}}};
  EXPECT_EQ(Kept(steps), "q [c] r t [d]");
  ProductTimes() = {{"c", {10, 5}}, {"d", {10, 5}}};
  EXPECT_EQ(Kept(steps), "");
}

// Views and MaxPool carry a value; constants may be the first operand after a product.
TEST_F(RegionCostsTest, ValuesAreCarried) {
  const std::string constant_first = TargetStep("m", "opset1.Multiply", "%two, %c");
  const std::vector<std::string> steps = {
      TargetConstant("two", "f32[]", "2"),
      TargetConstant("shape", "i64[4]", "1, 1, 4, 1"),
      Quantized("q", "x"),
      TargetStep("p", "opset1.MaxPool", "%q",
                 "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]"),
      TargetConvolution("c", "p"),
      constant_first,
      Quantized("r", "m"),
      TargetStep("v", "opset1.Reshape", "%r, %shape", "special_zero = false"),
      TargetConvolution("d", "v"),
      TargetResultOf("d")};
  ProductTimes() = {{"c", {10, 12}}, {"d", {10, 13}}};  // 8 + 20, or 25 + 4 + 2
  EXPECT_EQ(Kept(steps), "q [c] r [d]");
  ProductTimes() = {{"c", {10, 12}}, {"d", {10, 10}}};  // 28, or 28
  EXPECT_EQ(Kept(steps), "");
}

// After `c` in 8 bits and `r` in f32, the Tanh is a step of its own: 4 and 4 instead of 2.
TEST_F(RegionCostsTest, FunctionsAfterARoundedProduct) {
  const std::vector<std::string> steps = {Quantized("q", "x"),         TargetConvolution("c", "q"),
                                          Quantized("r", "c"),         TargetStep("t", "opset1.Tanh", "%r"),
                                          TargetConvolution("d", "r"), TargetResultOf("t"),
                                          TargetResultOf("d")};
  const std::vector<std::string> chain = {Quantized("q", "x"), TargetConvolution("c", "q"),
                                          Quantized("r", "c"), TargetStep("t", "opset1.Tanh", "%r"),
                                          Quantized("s", "t"), TargetConvolution("d", "s"),
                                          TargetResultOf("d")};
  // With `q` alone: 8 + 10 + 8; with neither: 4 + T + 2. `r` in 8 bits costs 12 for the Tanh.
  ProductTimes() = {{"c", {10, 21}}, {"d", {10, 1}}};
  EXPECT_EQ(Kept(chain), "q [c]");
  ProductTimes() = {{"c", {10, 20}}, {"d", {10, 1}}};
  EXPECT_EQ(Kept(chain), "");
  // Two readers: the Tanh is a step of its own in any case. 8 + 10 + 4, or 4 + T + 2.
  ProductTimes() = {{"c", {10, 17}}, {"d", {10, 1}}};
  EXPECT_EQ(Kept(steps), "q [c]");
  ProductTimes() = {{"c", {10, 16}}, {"d", {10, 1}}};
  EXPECT_EQ(Kept(steps), "");
}

// The results of very large graphs all keep their marks.
TEST_F(RegionCostsTest, VeryLargeGraphs) {
  for (const int count : {4096, 4097}) {
    ProductTimes().clear();
    std::vector<std::string> steps;
    for (int i = 0; i < count; ++i) {
      const std::string number = std::to_string(i);
      steps.push_back(Quantized("q" + number, "x"));
      steps.push_back(TargetConvolution("c" + number, "q" + number));
      steps.push_back(TargetResultOf("c" + number));
    }
    EXPECT_EQ(Kept(steps).empty(), count == 4096);
  }
}

// Parts of a Concat have one form.
TEST_F(RegionCostsTest, PartsOfAConcat) {
  const std::vector<std::string> steps = {Quantized("q", "x"),
                                          TargetConvolution("c", "q"),
                                          Quantized("r", "c"),
                                          TargetConvolution("d", "q"),
                                          Quantized("s", "d"),
                                          TargetStep("j", "opset1.Concat", "%r, %s", "axis = 1"),
                                          TargetConvolution("e", "j", "w2"),
                                          TargetResultOf("e")};
  ProductTimes() = {{"c", {10, 20}}, {"d", {10, 20}}, {"e", {10, 20}}};
  EXPECT_EQ(Kept(steps), "q [c] r [d] s [e]");
  // Only `e` gains: 30 with two quantizations of 8, or 26 without their 4 of rounding.
  ProductTimes() = {{"c", {10, 0}}, {"d", {10, 0}}, {"e", {10, 23}}};
  EXPECT_EQ(Kept(steps), "r s [e]");
  ProductTimes() = {{"c", {10, 0}}, {"d", {10, 0}}, {"e", {10, 21}}};
  EXPECT_EQ(Kept(steps), "");
}

}  // namespace
}  // namespace nnefc::transform::target
