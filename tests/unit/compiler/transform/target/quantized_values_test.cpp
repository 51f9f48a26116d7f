// target.MarkQuantizedValues: the nodes with quantized results and the quantized filters, and near misses.

#include "compiler/ir/ops/arithmetic/quantized_values.h"

#include "compiler/transform/pipeline/target_pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform::target {
namespace {

class QuantizedValuesTest : public TransformTest {
 protected:
  static std::string Tensor(const std::string& name, const std::string& shape) {
    return fmt::format("  %{} = opset1.Parameter \"{}\" {{element_type = f32, shape = {}}} : f32{}\n", name,
                       name, shape, shape);
  }
  static std::string Constant(const std::string& name, const std::string& type, const std::string& items) {
    return fmt::format("  %{} = opset1.Const \"{}\" : {} = dense<{}: {}>\n", name, name, type, type, items);
  }
  static std::string Step(const std::string& name, const std::string& operation, const std::string& inputs,
                          const std::string& attributes = "") {
    return fmt::format("  %{} = {} \"{}\" ({}) {{{}}} : f32[...]\n", name, operation, name, inputs,
                       attributes);
  }
  // A quantization to the range from 0 to a constant: `one` is 255, `two` 510.
  static std::string Quantized(const std::string& name, const std::string& data,
                               const std::string& high = "one", const std::string& levels = "256") {
    return Step(name, "opset1.FakeQuantize", fmt::format("%{}, %zero, %{}, %zero, %{}", data, high, high),
                "levels = " + levels);
  }
  static std::string Convolution(const std::string& name, const std::string& data,
                                 const std::string& filter = "w") {
    return Step(name, "opset1.Convolution", fmt::format("%{}, %{}", data, filter),
                "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "
                "\"explicit\"");
  }
  static std::string Transposed(const std::string& name, const std::string& data,
                                const std::string& filter = "w", const std::string& more = "",
                                const std::string& operation = "opset1.ConvolutionBackpropData") {
    return Step(name, operation, fmt::format("%{}, %{}{}", data, filter, more),
                "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "
                "\"explicit\", output_padding = [0, 0]");
  }
  static std::string MaxPool(const std::string& name, const std::string& data) {
    return Step(name, "opset1.MaxPool", "%" + data,
                "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]");
  }
  static std::string ResultOf(const std::string& name) {
    return fmt::format("  opset1.Result \"{}_result\" (%{})\n", name, name);
  }

  // Returns the names of the nodes with quantized results, and of those with a quantized filter in brackets:
  // "q [c]". Filters of ones have the scale 1, others are not quantized.
  std::string Marked(llvm::ArrayRef<std::string> steps, const std::string& shape = "[1,1,2,2]") {
    std::string text = Tensor("x", shape) + Constant("zero", "f32[]", "0") + Constant("one", "f32[]", "255") +
                       Constant("two", "f32[]", "510") + Constant("w", "f32[1,1,1,1]", "1") +
                       Constant("v", "f32[1,1,1,1]", "0.3");
    for (const std::string& step : steps) text += step;
    const auto graph = Parse(Numbered(text));
    if (graph == nullptr) return "no graph";
    const ir::PlanFunctions functions{.quantize_filter = [&](const ir::Node&, const TensorValue& filter) {
      ++num_searched_;
      return filter.ElementAsDouble(0) == 1 ? ir::FilterQuantization{.scales = {1, 0.1F}, .max_magnitude = 3}
                                            : ir::FilterQuantization();
    }};
    EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget,
                  {.only = {"target.MarkQuantizedValues"}, .plan = functions}),
              "");
    std::string marked;
    for (ir::NodeId id : graph->nodes()) {
      const ir::Node& node = graph->node(id);
      if (ir::ops::HasQuantizedResult(node)) marked += (marked.empty() ? "" : " ") + node.name();
      if (const auto filter = ir::ops::QuantizedFilterOf(node)) {
        EXPECT_EQ(filter->scales, (std::vector<float>{1, 0.1F}));
        EXPECT_EQ(filter->max_magnitude, 3);
        marked += (marked.empty() ? "[" : " [") + node.name() + "]";
      }
    }
    return marked;
  }

  int num_searched_ = 0;
};

TEST_F(QuantizedValuesTest, AConvolutionReadsQuantizedValues) {
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q"), ResultOf("c")}), "q [c]");
  // One consumer is sufficient.
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q"), Step("t", "opset1.Tanh", "%q"), ResultOf("c"),
                    ResultOf("t")}),
            "q [c]");
  EXPECT_EQ(Marked({Quantized("q", "x"), Step("t", "opset1.Tanh", "%q"), ResultOf("t")}), "");
}

TEST_F(QuantizedValuesTest, TheFilterIsAQuantizedConstant) {
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q", "v"), ResultOf("c")}), "");
  EXPECT_EQ(num_searched_, 1);
  EXPECT_EQ(
      Marked({Tensor("f", "[1,1,1,1]"), Quantized("q", "x"), Convolution("c", "q", "f"), ResultOf("c")}), "");
  EXPECT_EQ(num_searched_, 1);
  // Not the filter, but the data is quantized.
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "x", "q"), ResultOf("c")}, "[1,1,1,1]"), "");
  EXPECT_EQ(num_searched_, 1);
}

TEST_F(QuantizedValuesTest, ATransposedConvolutionReadsQuantizedValues) {
  EXPECT_EQ(Marked({Quantized("q", "x"), Transposed("c", "q"), ResultOf("c")}), "q [c]");
  EXPECT_EQ(Marked({Quantized("q", "x"), Transposed("c", "q"), Step("l", "opset1.ReLU", "%c"),
                    Quantized("r", "l"), ResultOf("r")}),
            "q [c] r");
  EXPECT_EQ(num_searched_, 2);
  EXPECT_EQ(Marked({Quantized("q", "x"), Transposed("c", "q", "v"), ResultOf("c")}), "");
  // Not the filter, but the data is quantized.
  EXPECT_EQ(Marked({Quantized("q", "x"), Transposed("c", "x", "q"), ResultOf("c")}, "[1,1,1,1]"), "");
  EXPECT_EQ(num_searched_, 3);
  // With an input for the extents of the result, and with groups.
  EXPECT_EQ(Marked({Constant("s", "i64[2]", "2, 2"), Quantized("q", "x"), Transposed("c", "q", "w", ", %s"),
                    ResultOf("c")}),
            "");
  EXPECT_EQ(Marked({Constant("g", "f32[1,1,1,1,1]", "1"), Quantized("q", "x"),
                    Transposed("c", "q", "g", "", "opset1.GroupConvolutionBackpropData"), ResultOf("c")}),
            "");
  EXPECT_EQ(num_searched_, 3);
}

// A depthwise convolution reads distances from the zero points of its channels.
TEST_F(QuantizedValuesTest, DistancesFromZeroPoints) {
  const auto marked = [&](const std::string& zeros, const std::string& filter,
                          const std::string& inputs = "%q, %z", const std::string& more = "") {
    const auto filled = [](const std::string& name, const std::string& shape) {
      std::string items;
      int64_t count = 1;
      for (char digit : shape) count *= digit >= '1' && digit <= '9' ? digit - '0' : 1;
      for (int64_t i = 0; i < count; ++i) items += i == 0 ? "1" : ", 1";
      return Constant(name, "f32" + shape, items);
    };
    return Marked(
        {filled("z", zeros), filled("g", filter), Quantized("q", "x"), Step("d", "opset1.Subtract", inputs),
         Step("c", "opset1.GroupConvolution", "%d, %g",
              "strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "
              "\"explicit\""),
         ResultOf("c"), more},
        "[1,2,2,2]");
  };
  EXPECT_EQ(marked("[1,2,1,1]", "[2,1,1,1,1]"), "q [c]");
  EXPECT_EQ(marked("[1,2,1,1]", "[2,1,1,2,1]"), "q [c]");
  // Data that are not quantized.
  EXPECT_EQ(marked("[1,2,1,1]", "[2,1,1,1,1]", "%x, %z"), "");
  // Zero points of other axes, and filters that join or repeat channels.
  for (const char* zeros : {"[1,1,1,1]", "[1,2,2,1]", "[1,2,1,2]", "[2,1,1]"})
    EXPECT_EQ(marked(zeros, "[2,1,1,1,1]"), "") << zeros;
  for (const char* filter : {"[1,2,2,1,1]", "[2,2,1,1,1]", "[1,1,2,1,1]"})
    EXPECT_EQ(marked("[1,2,1,1]", filter), "") << filter;
  EXPECT_EQ(marked("[1,2,1,1]", "[2,1,1,1,1]", "%z, %q"), "");
  EXPECT_EQ(marked("[1,2,1,1]", "[2,1,1,1,1]", "%q, %z", Step("t", "opset1.Tanh", "%d") + ResultOf("t")), "");
}

// One range is that of all elements.
TEST_F(QuantizedValuesTest, RangesOfChannelsAreNoQuantization) {
  const auto marked = [&](const std::string& shape, const std::string& highs) {
    return Marked({Constant("many", "f32" + shape, highs), Constant("u", "f32[1,2,1,1]", "1, 1"),
                   Quantized("q", "x", "many"), Convolution("c", "q", "u"), ResultOf("c")},
                  "[1,2,2,2]");
  };
  EXPECT_EQ(marked("[1,1,1,1]", "255"), "q [c]");
  EXPECT_EQ(marked("[1,2,1,1]", "255, 510"), "");
  EXPECT_EQ(marked("[1,2,1,1]", "255, 255"), "");
}

TEST_F(QuantizedValuesTest, FiltersOfFloatsAreNotSearched) {
  EXPECT_EQ(Marked({Convolution("c", "x"), ResultOf("c")}), "");
  EXPECT_EQ(num_searched_, 0);
}

TEST_F(QuantizedValuesTest, WithoutFunctionsNoFilterIsQuantized) {
  const auto graph = Parse(Numbered(Tensor("x", "[1,1,2,2]") + Constant("zero", "f32[]", "0") +
                                    Constant("one", "f32[]", "255") + Constant("w", "f32[1,1,1,1]", "1") +
                                    Quantized("q", "x") + Convolution("c", "q") + ResultOf("c")));
  const std::string before = ir::PrintGraph(*graph);
  EXPECT_EQ(Run(StandardTransformations(), *graph, Side::kTarget, {.only = {"target.MarkQuantizedValues"}}),
            "");
  EXPECT_EQ(ir::PrintGraph(*graph), before);
}

TEST_F(QuantizedValuesTest, OnlyQuantizationsTo8BitsAreMarked) {
  const auto with = [&](const std::string& quantized) {
    return Marked({Constant("low", "f32[]", "1"), quantized, Convolution("c", "q"), ResultOf("c")});
  };
  EXPECT_EQ(with(Quantized("q", "x")), "q [c]");
  EXPECT_EQ(with(Quantized("q", "x", "one", "255")), "");
  EXPECT_EQ(with(Quantized("q", "x", "one", "257")), "");
  // Zero is not one of the 256 values from 1 to 510.
  EXPECT_EQ(with(Step("q", "opset1.FakeQuantize", "%x, %low, %two, %low, %two", "levels = 256")), "");
}

TEST_F(QuantizedValuesTest, ResultsOfQuantizedOperationsAreMarked) {
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q"), Quantized("r", "c"), ResultOf("r")}),
            "q [c] r");
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q"), Step("l", "opset1.ReLU", "%c"),
                    Constant("b", "f32[1,1,1,1]", "2"), Step("s", "opset1.Add", "%l, %b"),
                    Quantized("r", "s"), ResultOf("r")}),
            "q [c] r");
  // A second consumer between them, another function, and a sum with a tensor.
  EXPECT_EQ(
      Marked({Quantized("q", "x"), Convolution("c", "q"), Quantized("r", "c"), ResultOf("r"), ResultOf("c")}),
      "q [c]");
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q"), Step("t", "opset1.Tanh", "%c"),
                    Quantized("r", "t"), ResultOf("r")}),
            "q [c]");
  EXPECT_EQ(Marked({Quantized("q", "x"), Convolution("c", "q"), Step("s", "opset1.Add", "%c, %x"),
                    Quantized("r", "s"), ResultOf("r")}),
            "q [c]");
  // Without a quantized operation.
  EXPECT_EQ(Marked({Convolution("c", "x"), Quantized("r", "c"), ResultOf("r")}), "");
}

// At most seven operations may be between a convolution and the quantization of its result.
TEST_F(QuantizedValuesTest, LongChainsAreNotQuantized) {
  const auto chain = [&](int length) {
    std::vector<std::string> steps = {Quantized("q", "x"), Convolution("c", "q")};
    std::string last = "c";
    for (int i = 0; i < length; ++i) {
      steps.push_back(Step(last + "l", "opset1.ReLU", "%" + last));
      last += "l";
    }
    steps.insert(steps.end(), {Quantized("r", last), ResultOf("r")});
    return Marked(steps);
  };
  EXPECT_EQ(chain(7), "q [c] r");
  EXPECT_EQ(chain(8), "q [c]");
}

TEST_F(QuantizedValuesTest, SumsOfQuantizedTensors) {
  const std::string p = Quantized("p", "x"), q = Quantized("q", "z"), z = Step("z", "opset1.Tanh", "%x"),
                    s = Step("s", "opset1.Add", "%p, %q");
  EXPECT_EQ(Marked({p, z, q, s, Quantized("r", "s"), ResultOf("r")}), "p q r");
  EXPECT_EQ(Marked({p, z, q, s, Step("l", "opset1.ReLU", "%s"), Quantized("r", "l"), ResultOf("r")}),
            "p q r");
  EXPECT_EQ(Marked({p, z, q, s, Step("t", "opset1.Tanh", "%s"), Quantized("r", "t"), ResultOf("r")}), "");
  const std::string slopes = Constant("slopes", "f32[1]", "2");
  EXPECT_EQ(Marked({p, z, q, s, slopes, Step("l", "opset1.PReLU", "%s, %slopes"), Quantized("r", "l"),
                    ResultOf("r")}),
            "p q r");
  // One slope, one for each channel of an image, and others.
  const auto slopes_of = [&](const std::string& shape, const std::string& type, const std::string& items) {
    return Marked({p, z, q, s, Constant("slopes", type, items), Step("l", "opset1.PReLU", "%s, %slopes"),
                   Quantized("r", "l"), ResultOf("r")},
                  shape);
  };
  EXPECT_EQ(slopes_of("[1,2,3,2]", "f32[2]", "1, 2"), "p q r");
  EXPECT_EQ(slopes_of("[1,2,3,2]", "f32[2,1,1]", "1, 2"), "p q r");
  EXPECT_EQ(slopes_of("[1,2,3,2]", "f32[3,2]", "1, 2, 3, 4, 5, 6"), "");
  EXPECT_EQ(slopes_of("[1,2,3]", "f32[2,1]", "1, 2"), "p q r");
  EXPECT_EQ(slopes_of("[1,2]", "f32[2]", "1, 2"), "");
  // Slopes that are not constant, a sum of slopes, and two functions.
  EXPECT_EQ(Marked({p, z, q, s, Tensor("slopes", "[1]"), Step("l", "opset1.PReLU", "%s, %slopes"),
                    Quantized("r", "l"), ResultOf("r")}),
            "");
  EXPECT_EQ(Marked({p, z, q, s, Step("l", "opset1.PReLU", "%z, %s"), Quantized("r", "l"), ResultOf("r")}),
            "");
  EXPECT_EQ(Marked({p, z, q, s, slopes, Step("k", "opset1.PReLU", "%s, %slopes"),
                    Step("l", "opset1.PReLU", "%k, %slopes"), Quantized("r", "l"), ResultOf("r")}),
            "");
  // After a convolution, slopes are part of its step only if a consumer reads quantized values.
  EXPECT_EQ(Marked({p, Convolution("c", "p"), slopes, Step("l", "opset1.PReLU", "%c, %slopes"),
                    Quantized("r", "l"), ResultOf("r")}),
            "p [c]");
  // An operand without quantization, a result without, a second consumer, and a broadcast operand.
  EXPECT_EQ(Marked({p, z, Step("s", "opset1.Add", "%p, %z"), Quantized("r", "s"), ResultOf("r")}), "");
  EXPECT_EQ(Marked({p, z, q, s, ResultOf("s")}), "");
  EXPECT_EQ(Marked({p, z, q, s, Quantized("r", "s"), ResultOf("r"), ResultOf("s")}), "");
  EXPECT_EQ(Marked({p, Tensor("z", "[1,1,1,2]"), q, s, Quantized("r", "s"), ResultOf("r")}), "");
}

// Channels of zeros after those of images stay quantized, other borders do not.
TEST_F(QuantizedValuesTest, AddedChannels) {
  const auto padded = [&](const std::string& begin, const std::string& end,
                          const std::string& mode = "constant", const std::string& border = "0.0",
                          const std::string& shape = "[1,1,2,2]", bool is_image = true) {
    const std::string axes = shape == "[1,1,2]" ? "3" : "4";
    const std::string pool =
        Step("p", "opset1.MaxPool", "%x",
             axes == "3" ? "strides = [1], pads_begin = [0], pads_end = [0], kernel = [1]"
                         : "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [1, 1]");
    const std::string consumer =
        axes == "3" ? Step("c", "opset1.Convolution", "%d, %f",
                           "strides = [1], dilations = [1], pads_begin = [0], pads_end = [0], auto_pad = "
                           "\"explicit\"")
                    : Convolution("c", "d", "f");
    return Marked({Constant("f", axes == "3" ? "f32[1,2,1]" : "f32[1,2,1,1]", "1, 1"), is_image ? pool : "",
                   Quantized("q", is_image ? "p" : "x"), Constant("begin", "i64[" + axes + "]", begin),
                   Constant("end", "i64[" + axes + "]", end), Constant("border", "f32[]", border),
                   Step("d", "opset12.Pad", border.empty() ? "%q, %begin, %end" : "%q, %begin, %end, %border",
                        "pad_mode = \"" + mode + "\""),
                   consumer, ResultOf("c")},
                  shape);
  };
  EXPECT_EQ(padded("0, 0, 0, 0", "0, 1, 0, 0"), "q [c]");
  EXPECT_EQ(padded("0, 0, 0", "0, 1, 0", "constant", "0.0", "[1,1,2]"), "q [c]");
  // Before the channels, of other axes at either end, other numbers and modes, and rows.
  EXPECT_EQ(padded("0, 1, 0, 0", "0, 0, 0, 0"), "");
  EXPECT_EQ(padded("0, 0, 1, 0", "0, 1, 0, 0"), "");
  EXPECT_EQ(padded("0, 0, 0, 0", "0, 1, 0, 1"), "");
  EXPECT_EQ(padded("0, 0, 0, 0", "1, 1, 0, 0"), "");
  EXPECT_EQ(padded("0, 0, 0, 0", "0, 1, 0, 0", "constant", "1.0"), "");
  EXPECT_EQ(padded("0, 0, 0, 0", "0, 1, 0, 0", "symmetric"), "");
  EXPECT_EQ(padded("0, 0, 0, 0", "0, 1, 0, 0", "constant", "0.0", "[1,1,2,2]", false), "");
}

// An Interpolate that copies pixels of images passes quantized values on, others do not.
TEST_F(QuantizedValuesTest, RepeatedPixels) {
  struct Resize {
    std::string axes = "2, 3", sizes = "4, 4", mode = "nearest", calculation = "sizes", more;
    bool is_image = true;
  };
  const auto resized = [&](const Resize& of, bool is_opset4 = false) {
    const std::string count = std::ranges::count(of.axes, ',') == 2 ? "[3]" : "[2]",
                      type = of.calculation == "sizes" ? "i64" : "f32";
    std::string attributes =
        "mode = \"" + of.mode + "\", shape_calculation_mode = \"" + of.calculation + "\"" + of.more;
    return Marked({of.is_image ? MaxPool("p", "x") : "", Quantized("q", of.is_image ? "p" : "x"),
                   Constant("sizes", type + count, of.sizes), Constant("axes", "i64" + count, of.axes),
                   Constant("scales", "f32[2]", "2.0, 2.0"),
                   is_opset4 ? Step("d", "opset4.Interpolate", "%q, %sizes, %scales, %axes", attributes)
                             : Step("d", "opset11.Interpolate", "%q, %sizes, %axes", attributes),
                   Convolution("c", "d"), ResultOf("c")});
  };
  EXPECT_EQ(resized({}), "q [c]");
  EXPECT_EQ(resized({}, true), "q [c]");
  EXPECT_EQ(resized({.axes = "-2, -1"}), "q [c]");
  EXPECT_EQ(resized({.sizes = "2.0, 2.0", .calculation = "scales"}), "q [c]");
  // The channels keep their extent, by a size or by a scale that may move them.
  EXPECT_EQ(resized({.axes = "1, 2, 3", .sizes = "1, 4, 4"}), "q [c]");
  EXPECT_EQ(resized({.axes = "0, 2, 3", .sizes = "1, 4, 4"}), "q [c]");
  EXPECT_EQ(resized({.axes = "1, 2, 3", .sizes = "1.5, 2.0, 2.0", .calculation = "scales"}), "");
  EXPECT_EQ(resized({.axes = "0, 2, 3", .sizes = "2, 4, 4"}), "");
  // Sums of pixels, padding at either end, and rows.
  EXPECT_EQ(resized({.mode = "linear"}), "");
  EXPECT_EQ(resized({.more = ", pads_begin = [0, 0, 1, 0]"}), "");
  EXPECT_EQ(resized({.more = ", pads_end = [0, 0, 0, 1]"}), "");
  EXPECT_EQ(resized({.is_image = false}), "");
}

// Images of different quantizations are joined if functions of their channels and a quantization follow.
TEST_F(QuantizedValuesTest, FunctionsOfJoinedChannels) {
  const auto joined = [&](llvm::ArrayRef<std::string> after, const std::string& axis = "1",
                          bool has_image = true) {
    std::vector<std::string> steps = {MaxPool("a", "x"),
                                      Step("t", "opset1.Tanh", "%a"),
                                      Quantized("p", "t"),
                                      has_image ? Quantized("q", "t", "two") : Step("q", "opset1.Tanh", "%t"),
                                      Step("j", "opset1.Concat", "%p, %q", "axis = " + axis),
                                      Constant("m", "f32[1,2,1,1]", "1, 2"),
                                      Constant("n", "f32[2,1,1]", "1, 2"),
                                      Constant("s", "f32[]", "2"),
                                      Constant("columns", "f32[2]", "1, 2"),
                                      Constant("f", "f32[1,2,1,1]", "1, 1")};
    steps.insert(steps.end(), after.begin(), after.end());
    steps.insert(steps.end(), {Convolution("c", "r", "f"), ResultOf("c")});
    return Marked(steps);
  };
  const std::string multiplied = Step("y", "opset1.Multiply", "%j, %m"),
                    added = Step("z", "opset1.Add", "%n, %y"), relu = Step("u", "opset1.ReLU", "%z");
  const std::string all = "p q r [c]", result = "r [c]";
  EXPECT_EQ(joined({multiplied, added, relu, Quantized("r", "u")}), all);
  EXPECT_EQ(joined({multiplied, added, Quantized("r", "z")}), all);
  EXPECT_EQ(joined({multiplied, Quantized("r", "y")}), all);
  EXPECT_EQ(joined({Step("y", "opset1.Multiply", "%s, %j"), Quantized("r", "y")}), all);
  EXPECT_EQ(joined({Step("u", "opset1.ReLU", "%j"), Quantized("r", "u")}), all);
  // No function, another order, functions of columns or without constants, an axis, a part, a second reader.
  EXPECT_EQ(joined({Quantized("r", "j")}), result);
  EXPECT_EQ(
      joined({Step("u", "opset1.ReLU", "%j"), Step("y", "opset1.Multiply", "%u, %m"), Quantized("r", "y")}),
      result);
  EXPECT_EQ(joined({Step("z", "opset1.Add", "%j, %n"), Step("y", "opset1.Multiply", "%z, %m"),
                    Quantized("r", "y")}),
            result);
  EXPECT_EQ(joined({Step("y", "opset1.Multiply", "%j, %columns"), Quantized("r", "y")}), result);
  EXPECT_EQ(joined({Step("y", "opset1.Multiply", "%j, %j"), Quantized("r", "y")}), result);
  EXPECT_EQ(joined({Step("y", "opset1.Subtract", "%j, %m"), Quantized("r", "y")}), result);
  EXPECT_EQ(joined({multiplied, Quantized("r", "y")}, "1", false), result);
  EXPECT_EQ(joined({multiplied, Quantized("r", "y"), ResultOf("y")}), result);
  EXPECT_EQ(joined({multiplied, Quantized("r", "y"), ResultOf("j")}), result);
}

TEST_F(QuantizedValuesTest, PoolingPassesQuantizedValuesOn) {
  EXPECT_EQ(Marked({Quantized("q", "x"), MaxPool("p", "q"), Convolution("c", "p"), ResultOf("c")}), "q [c]");
  EXPECT_EQ(Marked({Quantized("q", "x"), MaxPool("p", "q"), Step("t", "opset1.Tanh", "%p"), ResultOf("t")}),
            "");
  EXPECT_EQ(Marked({Quantized("q", "x"),
                    Step("p", "opset1.AvgPool", "%q",
                         "strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], "
                         "kernel = [1, 1], exclude-pad = true"),
                    Convolution("c", "p"), ResultOf("c")}),
            "");
}

// The indices of maxima are those of floats.
TEST_F(QuantizedValuesTest, PoolingWithIndicesReadsFloats) {
  const std::string pool =
      "  %p:2 = opset8.MaxPool \"p\" (%q) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], "
      "pads_end = [0, 0], "
      "kernel = [1, 1], index_element_type = i64, axis = 0} : f32[...], i64[...]\n";
  EXPECT_EQ(Marked({Quantized("q", "x"), pool, Convolution("c", "p"), ResultOf("c")}), "q [c]");
  EXPECT_EQ(Marked({Quantized("q", "x"), pool, Convolution("c", "p"), ResultOf("c"),
                    "  opset1.Result \"indices\" (%p.1)\n"}),
            "");
}

TEST_F(QuantizedValuesTest, MatricesAreFilters) {
  const std::string w = Constant("m", "f32[2,2]", "1, 1, 1, 1");
  const auto product = [&](const std::string& shape, const std::string& attributes = "") {
    return Marked({w, Quantized("q", "x"), Step("p", "opset1.MatMul", "%q, %m", attributes), ResultOf("p")},
                  shape);
  };
  EXPECT_EQ(product("[1,2]"), "q [p]");
  EXPECT_EQ(product("[3,1,2]"), "q [p]");
  EXPECT_EQ(product("[1,2]", "transpose_b = true"), "q [p]");
  EXPECT_EQ(product("[2,2]", "transpose_a = true"), "");
  EXPECT_EQ(product("[2]"), "");
  EXPECT_EQ(Marked({Constant("m", "f32[1,2,2]", "1, 1, 1, 1"), Quantized("q", "x"),
                    Step("p", "opset1.MatMul", "%q, %m"), ResultOf("p")},
                   "[1,2]"),
            "");
}

TEST_F(QuantizedValuesTest, ViewsPassQuantizedValuesOn) {
  const std::string shape = Constant("shape", "i64[2]", "1, 4"), m = Constant("m", "f32[4,1]", "1, 1, 1, 1");
  EXPECT_EQ(Marked({shape, m, Quantized("q", "x"),
                    Step("r", "opset1.Reshape", "%q, %shape", "special_zero = false"),
                    Step("p", "opset1.MatMul", "%r, %m"), ResultOf("p")}),
            "q [p]");
  EXPECT_EQ(
      Marked({shape, Quantized("q", "x"), Step("r", "opset1.Reshape", "%q, %shape", "special_zero = false"),
              Step("t", "opset1.Tanh", "%r"), ResultOf("t")}),
      "");
}

TEST_F(QuantizedValuesTest, ConcatenationsOfEqualQuantizations) {
  const std::string f = Constant("f", "f32[1,2,1,1]", "1, 1");
  const auto joined = [&](const std::string& p, const std::string& q, const std::string& axis = "1") {
    return Marked({f, MaxPool("a", "x"), p, q, Step("j", "opset1.Concat", "%p, %q", "axis = " + axis),
                   Convolution("c", "j", axis == "1" ? "f" : "w"), ResultOf("c")});
  };
  EXPECT_EQ(joined(Quantized("p", "a"), Quantized("q", "a")), "p q [c]");
  // Row-major parts of an image that a convolution reads, but not of a sequence.
  EXPECT_EQ(joined(Quantized("p", "a"), Quantized("q", "x")), "p q [c]");
  EXPECT_EQ(joined(Quantized("p", "x"), Quantized("q", "x")), "p q [c]");
  EXPECT_EQ(joined(Quantized("p", "a"), Quantized("q", "a", "two")), "");
  EXPECT_EQ(joined(Quantized("p", "a"), Step("q", "opset1.Tanh", "%a")), "");
  EXPECT_EQ(joined(Quantized("p", "a"), Quantized("q", "a"), "0"), "");
  // Equal scales, but other zero points: from -255 to 0.
  EXPECT_EQ(joined(Quantized("p", "a"),
                   Constant("low", "f32[]", "-255") +
                       Step("q", "opset1.FakeQuantize", "%a, %low, %zero, %low, %zero", "levels = 256")),
            "");
}

// MaxPool and Split along the channels move quantized images to a Concat.
TEST_F(QuantizedValuesTest, PartsOfQuantizedImages) {
  const auto joined = [&](const std::string& axis, const std::string& q = "p") {
    return Marked({Constant("f", "f32[1,2,1,1]", "1, 1"), Constant("axis", "i64[]", axis), MaxPool("b", "x"),
                   Quantized("p", "b"), Quantized("r", "b", "two"),
                   "  %s:2 = opset1.Split \"s\" (%p, %axis) {num_splits = 2} : f32[...], f32[...]\n",
                   "  %t:2 = opset1.Split \"t\" (%r, %axis) {num_splits = 2} : f32[...], f32[...]\n",
                   MaxPool("m", q == "p" ? "s.1" : "t.1"), Step("j", "opset1.Concat", "%s, %m", "axis = 1"),
                   Convolution("c", "j", "f"), ResultOf("c")},
                  "[1,2,2,2]");
  };
  EXPECT_EQ(joined("1"), "p [c]");
  EXPECT_EQ(joined("-3"), "p [c]");
  EXPECT_EQ(joined("1", "r"), "");
}

TEST_F(QuantizedValuesTest, LookupsReadQuantizedValues) {
  std::string items = "0";
  for (int i = 1; i < 256; ++i) items += ", " + std::to_string(i);
  const auto lookup = [&](const std::string& type, const std::string& table) {
    return Marked(
        {Constant("table", table, items), Constant("axis", "i64[]", "0"), Quantized("q", "x"),
         fmt::format("  %i = opset1.Convert \"i\" (%q) {{destination_type = {}}} : {}[...]\n", type, type),
         Step("g", "opset8.Gather", "%table, %i, %axis"), ResultOf("g")});
  };
  EXPECT_EQ(lookup("i32", "f32[256]"), "q");
  EXPECT_EQ(lookup("i64", "f32[256]"), "q");
  EXPECT_EQ(lookup("i8", "f32[256]"), "");
  EXPECT_EQ(lookup("i32", "f32[256,1]"), "");
}

// An operation with a table and indices that is no Gather.
TEST_F(QuantizedValuesTest, OtherReadersOfIndicesAreNoLookups) {
  std::string items = "0";
  for (int i = 1; i < 256; ++i) items += ", " + std::to_string(i);
  EXPECT_EQ(Marked({Constant("table", "f32[256]", items), Quantized("q", "x"),
                    "  %i = opset1.Convert \"i\" (%q) {destination_type = i32} : i32[...]\n",
                    Step("g", "opset6.GatherElements", "%table, %i", "axis = 0"), ResultOf("g")},
                   "[4]"),
            "");
}

// Quantized values ascend with the numbers, in steps that f32 represents.
TEST_F(QuantizedValuesTest, RangesOfQuantizations) {
  ir::Graph graph(&ir::StandardOps(), "g");
  const ir::OutputPort x{ir::AddParameter(graph, "x", ElementType::kF32, ir::PartialShape{1}), 0};
  const ir::OutputPort inputs[] = {x, x, x, x, x};
  const ir::NodeId node = ir::AddNode(graph, "opset1", "FakeQuantize", {.name = "q", .inputs = inputs});
  graph.SetAttribute(node, "levels", int64_t{256});
  const auto scale = [&](std::array<float, 4> ends) -> std::optional<float> {
    std::vector<TensorValue> values;
    values.reserve(ends.size());
    for (const float end : ends) values.push_back(TensorValue::FromFloats({}, {end}));
    const TensorValue* limits[] = {&values[0], &values[1], &values[2], &values[3]};
    const auto found = ir::ops::LinearQuantizationOf(graph.node(node), limits);
    return found ? std::optional(found->scale) : std::nullopt;
  };
  EXPECT_EQ(scale({0, 255, 0, 255}), 1);
  EXPECT_EQ(scale({0, 255, 0, 510}), 2);
  EXPECT_EQ(scale({-128, 127, -128, 127}), 1);
  // Either range descends or is empty.
  EXPECT_EQ(scale({255, 0, 0, 255}), std::nullopt);
  EXPECT_EQ(scale({0, 255, 255, 0}), std::nullopt);
  EXPECT_EQ(scale({0, 255, 0, -255}), std::nullopt);
  EXPECT_EQ(scale({3, 3, 0, 255}), std::nullopt);
  EXPECT_EQ(scale({0, 255, 3, 3}), std::nullopt);
  EXPECT_EQ(scale({0, 255, 0, 0}), std::nullopt);
  // Either range is too narrow.
  EXPECT_NE(scale({0, 1e-29F, 0, 255}), std::nullopt);
  EXPECT_EQ(scale({0, 1e-31F, 0, 255}), std::nullopt);
  EXPECT_NE(scale({0, 1, 0, 1e-27F}), std::nullopt);
  EXPECT_EQ(scale({0, 1, 0, 1e-29F}), std::nullopt);
}

// The marks are part of the text form of a graph.
TEST_F(QuantizedValuesTest, MarksArePrintedAndParsed) {
  const auto graph = Parse(
      "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [1]} : f32[1]\n"
      "  %1 = opset1.Abs \"a\" (%0) : f32[1]\n  opset1.Result \"y\" (%1)\n");
  const ir::NodeId abs = graph->node(graph->results()[0]).input(0).node;
  EXPECT_FALSE(ir::ops::HasQuantizedResult(graph->node(abs)));
  EXPECT_FALSE(ir::ops::QuantizedFilterOf(graph->node(abs)).has_value());
  ir::ops::MarkQuantizedResult(*graph, abs);
  ir::ops::MarkQuantizedFilter(*graph, abs, {.scales = {0.1F, 1e-30F}, .max_magnitude = 0.3F});
  const std::string text = ir::PrintGraph(*graph);
  EXPECT_NE(text.find("quantized_result = true"), std::string::npos) << text;
  const auto again = ir::ParseGraph(context_.sources.AddText("again", text), ir::StandardOps(), context_);
  ASSERT_NE(again, nullptr);
  const ir::Node& node = again->node(again->node(again->results()[0]).input(0).node);
  EXPECT_TRUE(ir::ops::HasQuantizedResult(node));
  const auto filter = ir::ops::QuantizedFilterOf(node);
  ASSERT_TRUE(filter.has_value());
  EXPECT_EQ(filter->scales, (std::vector<float>{0.1F, 1e-30F}));
  EXPECT_EQ(filter->max_magnitude, 0.3F);
}

TEST_F(QuantizedValuesTest, MarksOfDataArePrintedAndParsed) {
  const auto graph = Parse(
      "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [1]} : f32[1]\n"
      "  %1 = opset1.Abs \"a\" (%0) : f32[1]\n  opset1.Result \"y\" (%1)\n");
  const ir::NodeId abs = graph->node(graph->results()[0]).input(0).node;
  EXPECT_FALSE(ir::ops::QuantizedDataOf(graph->node(abs)).has_value());
  ir::ops::MarkQuantizedData(*graph, abs, {.scale = 1e-30F, .zero = 255});
  const auto again =
      ir::ParseGraph(context_.sources.AddText("again", ir::PrintGraph(*graph)), ir::StandardOps(), context_);
  ASSERT_NE(again, nullptr);
  const auto data = ir::ops::QuantizedDataOf(again->node(again->node(again->results()[0]).input(0).node));
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(data->scale, 1e-30F);
  EXPECT_EQ(data->zero, 255);
}

TEST_F(QuantizedValuesTest, MarksOfOperandsArePrintedAndParsed) {
  const auto graph = Parse(
      "  %0 = opset1.Parameter \"x\" {element_type = f32, shape = [1]} : f32[1]\n"
      "  %1 = opset1.Abs \"a\" (%0) : f32[1]\n  opset1.Result \"y\" (%1)\n");
  const ir::NodeId abs = graph->node(graph->results()[0]).input(0).node;
  EXPECT_FALSE(ir::ops::QuantizedOperandsOf(graph->node(abs)).has_value());
  ir::ops::MarkQuantizedOperands(
      *graph, abs, {.left = {.scale = 0.1F, .zero = 255}, .right = {.scale = 1e-30F, .zero = 3}});
  const auto again =
      ir::ParseGraph(context_.sources.AddText("again", ir::PrintGraph(*graph)), ir::StandardOps(), context_);
  ASSERT_NE(again, nullptr);
  const auto operands =
      ir::ops::QuantizedOperandsOf(again->node(again->node(again->results()[0]).input(0).node));
  ASSERT_TRUE(operands.has_value());
  EXPECT_EQ(operands->left.scale, 0.1F);
  EXPECT_EQ(operands->left.zero, 255);
  EXPECT_EQ(operands->right.scale, 1e-30F);
  EXPECT_EQ(operands->right.zero, 3);
}

}  // namespace
}  // namespace nnefc::transform::target
