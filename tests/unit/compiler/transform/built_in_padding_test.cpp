// Built-in transformations of the padding of windows.

#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

std::string Padded(const std::string& pads, const std::string& mode, const std::string& window) {
  return R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,2,8,8]} : f32[1,2,8,8]
  %1 = opset1.Const "b" : i64[4] = dense<i64[4]: )" +
         pads + R"(>
  %2 = opset1.Const "e" : i64[4] = dense<i64[4]: 0, 0, 0, 1>
  %3 = opset1.Pad "p" (%0, %1, %2) {pad_mode = ")" +
         mode + R"("} : f32[?,?,?,?]
  %4 = opset1.Parameter "w" {element_type = f32, shape = [3,2,3,3]} : f32[3,2,3,3]
  %5 = )" +
         window + R"( : f32[?,?,?,?]
  opset1.Result "y" (%5)
)";
}

TEST_F(BuiltInTest, PaddingOfConvolutions) {
  const std::string name = "middle.FusePadIntoConvolution";
  const std::string conv =
      R"(opset1.Convolution "c" (%3, %4) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 1], )"
      R"(pads_end = [1, 0]})";
  const TransformationList list = StandardTransformations();
  const auto graph = Parse(Padded("0, 0, 1, 1", "constant", conv));
  const ir::PartialShape before = graph->output(graph->node(graph->results()[0]).input(0)).shape;
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {name, "middle.RemoveUnneeded"}}), "");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Parameter(w) Convolution(c: x, w) Result(y: c)");
  const ir::OutputPort made = graph->node(graph->results()[0]).input(0);
  EXPECT_EQ(graph->node(made.node).Ints("pads_begin"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(graph->node(made.node).Ints("pads_end"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(graph->output(made).shape, before);

  const auto stays = [&](const std::string& pads, const std::string& mode) {
    return After(name, Padded(pads, mode, conv)).find("Pad(p: x, b, e)") != std::string::npos;
  };
  EXPECT_FALSE(stays("0, 0, 2, 0", "constant"));
  EXPECT_TRUE(stays("0, 0, 3, 0", "constant"));  // a window entirely in padding
  EXPECT_TRUE(stays("1, 0, 1, 0", "constant"));  // in the batch
  EXPECT_TRUE(stays("0, 0, 1, 1", "edge"));
  EXPECT_TRUE(stays("0, 0, 1, 1", "reflect"));
}

// The padding of a convolution of 8 numbers by filters of 3 with stride `stride` and padding 2 and 3, after a
// Slice of its result.
std::string Sliced(int stride, const std::string& start, const std::string& stop, const std::string& behind) {
  return R"(  %0 = opset1.Parameter "x" {element_type = f32, shape = [1,2,8]} : f32[1,2,8]
  %1 = opset1.Parameter "w" {element_type = f32, shape = [3,2,3]} : f32[3,2,3]
  %2 = opset1.Convolution "c" (%0, %1) {strides = [)" +
         std::to_string(stride) + R"(], dilations = [1], pads_begin = [2], pads_end = [3]} : f32[?,?,?]
)" + behind +
         R"(  %4 = opset1.Const "start" : i64[1] = dense<i64[1]: )" + start + R"(>
  %5 = opset1.Const "stop" : i64[1] = dense<i64[1]: )" +
         stop + R"(>
  %6 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %7 = opset1.Const "axis" : i64[1] = dense<i64[1]: -1>
  %8 = opset8.Slice "s" (%3, %4, %5, %6, %7) : f32[?,?,?]
  opset1.Result "y" (%8)
)";
}

TEST_F(BuiltInTest, ResultsThatASliceDrops) {
  const auto biased = [](const std::string& bias) {
    return "  %9 = opset1.Const \"b\" : f32" + bias + "\n  %3 = opset1.Add \"a\" (%9, %2) : f32[?,?,?]\n";
  };
  const std::string by_channel = biased("[1,3,1] = dense<f32[1,3,1]: 1, 2, 3>");
  const TransformationList list = StandardTransformations();
  struct Case {
    int stride;
    const char *start, *stop;
    int64_t begin, end;  // the remaining padding; -1: unchanged
  };
  // 11 results with stride 1; 6 with stride 2, the last of which ends before the padding does.
  for (const Case& of : {Case{1, "0", "-3", 2, 0},
                         {1, "0", "8", 2, 0},
                         {1, "0", "9", 2, 1},
                         {1, "2", "99", 0, 3},
                         {1, "1", "-1", 1, 2},
                         {1, "3", "99", -1, 0},
                         {1, "0", "7", -1, 0},
                         {1, "0", "99", -1, 0},
                         {2, "0", "-1", 2, 1},
                         {2, "1", "99", 0, 3},
                         {2, "0", "4", 2, 0},
                         {2, "0", "3", -1, 0}}) {
    SCOPED_TRACE(std::string(of.start) + " " + of.stop + " in steps of " + std::to_string(of.stride));
    const auto graph = Parse(Sliced(of.stride, of.start, of.stop, by_channel));
    const ir::PartialShape before = graph->output(graph->node(graph->results()[0]).input(0)).shape;
    EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"middle.FuseSliceIntoConvolution"}}), "");
    const ir::OutputPort made = graph->node(graph->results()[0]).input(0);
    EXPECT_EQ(graph->output(made).shape, before);
    const bool is_left = of.begin < 0;
    EXPECT_EQ(Brief(*graph).find("Slice") != std::string::npos, is_left) << Brief(*graph);
    if (is_left) continue;
    const ir::Node& window = graph->node(graph->node(made.node).input(1).node);
    EXPECT_EQ(window.Ints("pads_begin"), std::vector<int64_t>{of.begin});
    EXPECT_EQ(window.Ints("pads_end"), std::vector<int64_t>{of.end});
  }
  // A bias for all channels, of a lower rank.
  for (const char* bias :
       {"[] = dense<f32[]: 5>", "[1] = dense<f32[1]: 5>", "[3,1] = dense<f32[3,1]: 5, 6, 7>"}) {
    EXPECT_EQ(After("middle.FuseSliceIntoConvolution", Sliced(1, "0", "-3", biased(bias))).find("Slice"),
              std::string::npos)
        << bias;
  }
  // Of numbers that are not known, and along no axis.
  for (const auto& [constant, parameter] :
       {std::pair(R"(opset1.Const "start" : i64[1] = dense<i64[1]: 0>)", "start"),
        std::pair(R"(opset1.Const "stop" : i64[1] = dense<i64[1]: 8>)", "stop"),
        std::pair(R"(opset1.Const "step" : i64[1] = dense<i64[1]: 1>)", "step"),
        std::pair(R"(opset1.Const "axis" : i64[1] = dense<i64[1]: -1>)", "axis")}) {
    std::string text = Sliced(1, "0", "8", by_channel);
    const size_t at = text.find(constant);
    ASSERT_NE(at, std::string::npos) << parameter;
    text.replace(
        at, std::string_view(constant).size(),
        fmt::format("opset1.Parameter \"{}\" {{element_type = i64, shape = [1]}} : i64[1]", parameter));
    EXPECT_NE(After("middle.FuseSliceIntoConvolution", text).find("Slice"), std::string::npos) << parameter;
  }
  // A bias of fewer axes, which is the same for all results, and one of each result.
  for (const char* alike :
       {"[] = dense<f32[]: 1>", "[1] = dense<f32[1]: 1>", "[3,1] = dense<f32[3,1]: 1, 2, 3>"})
    EXPECT_EQ(After("middle.FuseSliceIntoConvolution", Sliced(1, "0", "-3", biased(alike))).find("Slice"),
              std::string::npos)
        << alike;
  // A separate bias for each result.
  const std::string by_result = biased("[11] = dense<f32[11]: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11>");
  EXPECT_NE(After("middle.FuseSliceIntoConvolution", Sliced(1, "0", "-3", by_result)).find("Slice"),
            std::string::npos);
}

TEST_F(BuiltInTest, PaddingOfWindowsThatSayThatTheyHaveNone) {
  const std::string conv =
      R"(opset1.Convolution "c" (%3, %4) {strides = [1, 1], dilations = [1, 1], pads_begin = [7, 7], )"
      R"(pads_end = [7, 7], auto_pad = "valid"})";
  const TransformationList list = StandardTransformations();
  const auto graph = Parse(Padded("0, 0, 1, 1", "constant", conv));
  const ir::PartialShape before = graph->output(graph->node(graph->results()[0]).input(0)).shape;
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {"middle.FusePadIntoConvolution"}}), "");
  const ir::OutputPort made = graph->node(graph->results()[0]).input(0);
  EXPECT_EQ(graph->node(made.node).String("auto_pad"), "explicit");
  EXPECT_EQ(graph->node(made.node).Ints("pads_begin"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(graph->output(made).shape, before);
}

TEST_F(BuiltInTest, PaddingOfMaximumPools) {
  const auto after = [&](const std::string& before, const std::string& rounding, const std::string& pads) {
    std::string text =
        Padded("0, 0, 1, 2", "constant",
               R"(opset1.MaxPool "c" (%3) {strides = [2, 2], kernel = [3, 3], pads_begin = [)" + pads +
                   R"(], pads_end = [0, 0], rounding_type = ")" + rounding + R"("})");
    const std::string parameter =
        "%0 = opset1.Parameter \"x\" {element_type = f32, shape = [1,2,8,8]} : f32[1,2,8,8]\n";
    text.replace(
        text.find(parameter), parameter.size(),
        "%90 = opset1.Parameter \"x\" {element_type = f32, shape = [1,2,8,8]} : f32[1,2,8,8]\n" + before);
    return After("middle.FusePadIntoMaxPool", text);
  };
  const std::string relu = "  %0 = opset1.ReLU \"r\" (%90) : f32[1,2,8,8]\n";
  const auto clamp = [](const std::string& low) {
    return "  %0 = opset1.Clamp \"r\" (%90) {min = " + low + ", max = 6.0} : f32[1,2,8,8]\n";
  };
  EXPECT_EQ(after(relu, "floor", "0, 0"), "Parameter(x) ReLU(r: x) Parameter(w) MaxPool(c: r) Result(y: c)");
  EXPECT_EQ(after(clamp("0.0"), "floor", "0, 0").find("Pad("), std::string::npos);
  EXPECT_NE(after(clamp("-1.0"), "floor", "0, 0").find("Pad("), std::string::npos);
  EXPECT_NE(after("  %0 = opset1.Tanh \"r\" (%90) : f32[1,2,8,8]\n", "floor", "0, 0").find("Pad("),
            std::string::npos);
  EXPECT_NE(after(relu, "ceil", "0, 0").find("Pad("), std::string::npos);
  EXPECT_NE(after(relu, "floor", "1, 0").find("Pad("), std::string::npos);
}

TEST_F(BuiltInTest, PaddingOfAveragePools) {
  const std::string name = "middle.FusePadIntoAvgPool";
  const auto pool = [](const std::string& rounding, const std::string& pads) {
    return R"(opset1.AvgPool "c" (%3) {strides = [2, 2], kernel = [3, 3], pads_begin = [)" + pads +
           R"(], pads_end = [0, 0], exclude-pad = true, rounding_type = ")" + rounding + R"("})";
  };
  const TransformationList list = StandardTransformations();
  const auto graph = Parse(Padded("0, 0, 1, 2", "constant", pool("floor", "0, 0")));
  EXPECT_EQ(Run(list, *graph, Side::kAfterLowering, {.only = {name, "middle.RemoveUnneeded"}}), "");
  EXPECT_EQ(Brief(*graph), "Parameter(x) Parameter(w) AvgPool(c: x) Result(y: c)");
  const ir::Node& made = graph->node(graph->node(graph->results()[0]).input(0).node);
  EXPECT_EQ(made.Ints("pads_begin"), (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(made.Bool("exclude-pad"));

  EXPECT_NE(After(name, Padded("0, 0, 1, 1", "constant", pool("ceil", "0, 0"))).find("Pad("),
            std::string::npos);
  EXPECT_NE(After(name, Padded("0, 0, 1, 1", "constant", pool("floor", "1, 0"))).find("Pad("),
            std::string::npos);
}

}  // namespace
}  // namespace nnefc::transform
