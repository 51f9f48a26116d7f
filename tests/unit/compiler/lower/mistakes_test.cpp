// Graphs that have no lowering: unknown ranks and extents, windows beyond the limits, lowerings of plug-ins
// that fail.

#include <stdexcept>

#include "compiler/lower/node_lowering.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/lower/lowering_support.h"

namespace nnefc::lower {
namespace {

struct Refused {
  std::string_view op;
  std::vector<std::string_view> inputs;  // types of externals; "v" before the extents of a variable
  std::string_view attributes, message;  // no message: the graph is lowered
};

// Returns the errors of the lowering.
std::string ErrorsOf(const Refused& of) {
  NnefGraph g;
  std::vector<ir::OutputPort> inputs;
  for (std::string_view type : of.inputs) {
    const std::string name = fmt::format("i{}", inputs.size());
    if (type.front() == '=') {
      inputs.push_back(g.Literal(std::stod(std::string(type.substr(1)))));
    } else if (type.front() == 'v') {
      Shape shape;
      for (char c : type) {
        if (c >= '0' && c <= '9') shape.push_back(c - '0');
      }
      inputs.push_back(g.Variable(name, shape));
    } else {
      inputs.push_back(g.External(name, type));
    }
  }
  g.Result("y", g.Op(of.op, "y", inputs, of.attributes));
  if (g.Lower() != nullptr) return "";
  EXPECT_EQ(g.Rules(), std::vector<std::string>(g.Rules().size(), g.Rules()[0]));
  return g.Rules()[0] + ": " + fmt::format("{}", fmt::join(g.Messages(), "; "));
}

TEST(LoweringMistakes, NeedKnownExtents) {
  const std::string_view zeros = "padding = [[0,0],[0,0],[0,0],[0,0]]";
  const std::string dilated = fmt::format("size = [1,1,2,2], dilation = [1,1,2,2], {}", zeros);
  const std::string ignored =
      "size = [1,1,2,2], dilation = [1,1,2,2], padding = [[0,0],[0,0],[1,0],[0,1]], border = \"ignore\", "
      "normalize = true";
  const std::string indexed = fmt::format("size = [1,1,2,2], border = \"ignore\", {}", zeros);
  const std::string_view upscaled = "stride = [2,2], output_shape = [1,3,8,10]";
  const std::string_view depthwise = "stride = [2,2], output_shape = [1,2,8,10]";
  const std::string_view batch = "size = [2,1,1,1], stride = [2,1,1,1], border = \"ignore\"";
  const Refused cases[] = {
      {"deconv",
       {"f32[1,2,?,5]", "v[2,3,3,3]", "=0"},
       upscaled,
       "`input` of an operation with `output_shape` along axis 2"},
      {"deconv",
       {"f32[1,2,4,?]", "v[2,3,3,3]", "=0"},
       upscaled,
       "`input` of an operation with `output_shape` along axis 3"},
      {"deconv", {"f32[1,2,4,5]", "v[2,3,3,3]", "=0"}, upscaled, ""},
      {"separable_deconv",
       {"f32[1,4,?,5]", "v[2,1,3,3]", "v[4,2,1,1]", "=0"},
       depthwise,
       "`input` of an operation with `output_shape` along axis 2"},
      {"separable_deconv", {"f32[1,4,4,5]", "v[2,1,3,3]", "v[4,2,1,1]", "=0"}, depthwise, ""},
      {"conv",
       {"f32[1,?,4,4]", "v[4,1,3,3]", "=0"},
       "groups = 0",
       "`input` of a depth-wise convolution along axis 1"},
      {"separable_conv", {"f32[1,2,?,5]", "v[2,1,3,3]", "v[4,2,1,1]", "=0"}, "stride = [2,2]", ""},
      {"separable_conv", {"f32[1,2,5,?]", "v[2,1,3,3]", "v[4,2,1,1]", "=0"}, "stride = [2,2]", ""},
      {"box", {"f32[1,?,6,6]"}, dilated, "a tensor under a window of equal weights along axis 1"},
      {"box", {"f32[1,2,?,?]"}, dilated, ""},
      {"box",
       {"f32[1,2,?,6]"},
       ignored,
       "a tensor under a window with border 'ignore' that is dilated or may lie in the padding along axis 2"},
      {"box",
       {"f32[1,2,6,?]"},
       ignored,
       "a tensor under a window with border 'ignore' that is dilated or may lie in the padding along axis 3"},
      {"box", {"f32[1,2,6,6]"}, ignored, ""},
      {"argmax_pool", {"f32[1,2,?,6]"}, indexed, "a tensor that is sampled by index along axis 2"},
      {"argmax_pool", {"f32[1,2,6,?]"}, indexed, "a tensor that is sampled by index along axis 3"},
      {"argmax_pool", {"f32[?,?,6,6]"}, indexed, ""},
      {"max_pool", {"f32[2,?,4,?]"}, batch, "a tensor with a window along batch or channel along axis 3"},
      {"max_pool", {"f32[2,?,4,5]"}, batch, ""},
      {"reshape", {"f32[2,3,?,?]"}, "shape = [6], axis_start = 0, axis_count = 2", "`input` along axis 3"},
      {"reshape", {"f32[2,3,?,?]"}, "shape = [3,2], axis_start = 0, axis_count = 2", ""},
      // One message is enough.
      {"reshape", {"f32[2,3,?,?,?]"}, "shape = [6], axis_start = 0, axis_count = 2", "`input` along axis 3"},
      {"rms_pool",
       {"f32[1,2,?,6]"},
       "size = [1,1,3,3], stride = [1,1,2,2], border = \"replicate\"",
       "the tensor under an automatically padded window along axis 2"},
      {"desample",
       {"f32[1,2,?,6]", "i64[1,2,?,6]"},
       "size = [1,1,2,2], stride = [1,1,2,2]",
       "a tensor that is sampled by index along axis 2"},
      {"tract_core_fft", {"f32[3,?,2]"}, "axis = 0", "`input` of `tract_core_fft` along axis 1"},
      {"tract_core_fft", {"f32[?,3,2]"}, "axis = 0", "`input` of `tract_core_fft` along axis 0"},
      {"tract_core_fft", {"f32[3,?,2]"}, "axis = 1", "`input` of `tract_core_fft` along axis 1"},
      {"tract_pulse_history",
       {"f32[?,3]"},
       "axis = 1, length = 2, dtype = \"scalar\"",
       "`input` of `tract_pulse_history` along axis 0"},
      {"tract_pulse_history", {"f32[2,?]"}, "axis = 1, length = 2, dtype = \"scalar\"", ""},
      {"tract_pulse_total",
       {"f32[2,?]"},
       "dtype = \"scalar\"",
       "`input` of `tract_pulse_total` along axis 1"}};
  for (const Refused& each : cases) {
    const std::string expected =
        each.message.empty()
            ? ""
            : fmt::format("lower.unknown-extent: lowering `{}` needs the extent of {}, which is unknown",
                          each.op, each.message);
    EXPECT_EQ(ErrorsOf(each), expected) << each.op << " " << each.inputs[0];
  }
}

TEST(LoweringMistakes, NeedKnownRanks) {
  const std::string external =
      "lower.unknown-rank: lowering `external` needs the rank of its output 0, which is unknown";
  EXPECT_EQ(ErrorsOf({"relu", {"f32[...]"}, "", ""}),
            external + "; lowering `relu` needs the rank of its input 0, which is unknown");
  EXPECT_EQ(ErrorsOf({"add", {"f32[2]", "f32[...]"}, "", ""}),
            external + "; lowering `add` needs the rank of its input 1, which is unknown");
  EXPECT_EQ(ErrorsOf({"cast", {"f32[...]"}, "dtype = \"integer\"", ""}), external);
}

// The limits themselves, and one more.
TEST(LoweringMistakes, NeedModestSizes) {
  const std::string window = "the window of `{}`, or what it slides along, is larger than 2^31";
  const auto too_large = [](std::string_view op, const std::string& message) {
    return fmt::format("lower.window-too-large: {}", fmt::format(fmt::runtime(message), op));
  };
  for (const int64_t size : {int64_t{1} << 31, (int64_t{1} << 31) + 1}) {
    const std::string expected = size > int64_t{1} << 31 ? too_large("box", window) : "";
    for (const char* attribute : {"stride", "dilation"}) {
      const std::string attributes = fmt::format(
          "size = [1,1,1,1], {} = [1,1,{},1], padding = [[0,0],[0,0],[0,0],[0,0]]", attribute, size);
      EXPECT_EQ(ErrorsOf({"box", {"f32[1,1,8,8]"}, attributes, ""}), expected) << attributes;
    }
    for (const char* pads : {"[{},0]", "[0,{}]"}) {
      const std::string attributes = fmt::format("size = [1,1,1,1], padding = [[0,0],[0,0],{},[0,0]]",
                                                 fmt::format(fmt::runtime(pads), size));
      EXPECT_EQ(ErrorsOf({"box", {"f32[1,1,8,8]"}, attributes, ""}), expected) << attributes;
    }
  }
  // Extents, sizes, negative pads and extents of results.
  constexpr int64_t kLimit = int64_t{1} << 31;
  for (const int64_t more : {0, 1}) {
    const std::string expected = more == 0 ? "" : too_large("box", window);
    const std::string tensor = fmt::format("f32[1,1,{},8]", kLimit);
    EXPECT_EQ(ErrorsOf({"box", {fmt::format("f32[1,1,{},8]", kLimit + more)}, "size = [1,1,1,1]", ""}),
              expected);
    for (const auto& [size, begin, end] :
         {std::tuple(kLimit + more, more, int64_t{0}), std::tuple(int64_t{1}, -kLimit - more, more + 8),
          std::tuple(int64_t{1}, more + 8, -kLimit - more)}) {
      const std::string attributes =
          fmt::format("size = [1,1,{},1], padding = [[0,0],[0,0],[{},{}],[0,0]]", size, begin, end);
      EXPECT_EQ(ErrorsOf({"box", {tensor}, attributes, ""}), expected) << attributes;
    }
    EXPECT_EQ(ErrorsOf({"debox",
                        {"f32[1,1,2,1]"},
                        fmt::format("size = [1,1,1,1], stride = [1,1,{},1], output_shape = [1,1,{},1], "
                                    "padding = [[0,0],[0,0],[0,0],[0,0]]",
                                    kLimit - 1 + more, kLimit + more),
                        ""}),
              more == 0 ? "" : too_large("debox", window));
  }
  // Elements under a window that are counted one by one.
  for (const int64_t extent : {int64_t{1} << 22, (int64_t{1} << 22) + 1}) {
    EXPECT_EQ(
        ErrorsOf({"avg_pool",
                  {fmt::format("f32[1,1,{}]", extent)},
                  "size = [1,1,2], dilation = [1,1,2], padding = [[0,0],[0,0],[1,1]], border = \"ignore\"",
                  ""}),
        extent == 1 << 22
            ? ""
            : too_large("avg_pool", "the window of `{}` has more than 4194304 places along axis 2"));
  }
  // The same for each operation with a window.
  for (const Refused& each :
       {Refused{"conv", {"f32[1,2,4,4]", "v[4,2,1,1]", "=0"}, "", ""},
        {"deconv", {"f32[1,2,4,4]", "v[2,4,1,1]", "=0"}, "", ""},
        {"separable_conv", {"f32[1,2,4,4]", "v[2,1,1,1]", "v[4,2,1,1]", "=0"}, "", ""},
        {"separable_deconv", {"f32[1,4,4,4]", "v[2,1,1,1]", "v[4,2,1,1]", "=0"}, "", ""}}) {
    Refused wide = each;
    wide.attributes = "stride = [2147483649,1], output_shape = []";
    if (each.op.find("deconv") == std::string_view::npos) wide.attributes = "stride = [2147483649,1]";
    EXPECT_EQ(ErrorsOf(wide), too_large(each.op, window));
  }
  for (const char* op : {"max_pool", "argmax_pool", "avg_pool", "debox"}) {
    EXPECT_EQ(ErrorsOf({op, {"f32[1,1,8,8]"}, "size = [1,1,1,1], stride = [1,1,2147483649,1]", ""}),
              too_large(op, window));
  }
  EXPECT_EQ(
      ErrorsOf(
          {"sample", {"f32[1,1,8,8]", "i64[1,1,1,8]"}, "size = [1,1,1,1], stride = [1,1,2147483649,1]", ""}),
      too_large("sample", window));
  const std::string regions = "`output_size` or `sampling_rate` of `{}` has an item above 2^20";
  for (const char* op : {"avg_roi_align", "max_roi_align"}) {
    for (const auto& [size, rate] : {std::pair(1 << 20, 1), std::pair((1 << 20) + 1, 1),
                                     std::pair(1, 1 << 20), std::pair(1, (1 << 20) + 1)}) {
      for (const bool is_first : {true, false}) {
        const std::string attributes =
            is_first ? fmt::format("output_size = [{},1], sampling_rate = [{},1]", size, rate)
                     : fmt::format("output_size = [1,{}], sampling_rate = [1,{}]", size, rate);
        EXPECT_EQ(ErrorsOf({op, {"f32[1,3,8,8]", "f32[5,4]", "i64[5,1]"}, attributes, ""}),
                  std::max(size, rate) > 1 << 20 ? too_large(op, regions) : "")
            << attributes;
      }
    }
  }
  const std::string indexed = "size = [1,1,2], border = \"ignore\", padding = [[0,0],[0,0],[0,0]]";
  EXPECT_EQ(ErrorsOf({"argmax_pool", {"f32[1,1,4194304]"}, indexed, ""}), "");
  EXPECT_EQ(
      ErrorsOf({"argmax_pool", {"f32[1,1,4194305]"}, indexed, ""}),
      too_large("argmax_pool", "a tensor that `{}` indexes has more than 4194304 elements along an axis"));
}

// Without options, no operation stays because OpenVINO does not compute it exactly.
TEST(Lowering, OfDefaultOptions) {
  NnefGraph g;
  g.Result("y", g.Op("min_max_linear_quantize", "y", {g.External("x", "f32[2]"), g.Literal(-1), g.Literal(1)},
                     "bits = 8, signed = true, symmetric = false"));
  Context context;
  const auto made = LowerGraph(g.graph(), {}, context);
  ASSERT_NE(made, nullptr);
  for (ir::NodeId id : made->nodes()) EXPECT_NE(made->node(id).set(), ir::kNnefSet);
}

// A graph that nnefc runs keeps roundings, whose ties go up.
TEST(Lowering, OfRoundings) {
  for (const bool is_run : {false, true}) {
    NnefGraph g;
    g.Result("y", g.Op("min_max_linear_quantize", "y",
                       {g.Op("round", "r", {g.External("x", "f32[2]")}), g.Literal(-1), g.Literal(1)},
                       "bits = 8, signed = true, symmetric = false"));
    if (is_run) g.KeepExactOperations();
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.Operations().find("Floor") == std::string::npos, is_run) << g.Operations();
  }
}

// ---- plug-ins ----

void LowerToItself(lower::NodeLowering& n) {
  n.SetOutput(n.Unary("Abs", n.input(0)));
}
void LowerToAnotherShape(lower::NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "Unsqueeze", {n.input(0), n.ConstInts({0}, "axes")}));
}
void LowerToFewerDimensions(lower::NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "ReduceMax", {n.input(0), n.ConstInts({3}, "axes")},
                    Attributes({{"keep_dims", false}})));
}
void LowerToAnotherType(lower::NodeLowering& n) {
  n.SetOutput(n.Add("opset1", "Convert", n.input(0), Attributes({{"destination_type", ElementType::kI64}})));
}
void LowerToNothing(lower::NodeLowering&) {}
void LowerWithAnError(lower::NodeLowering& n) {
  n.Error(kWindowTooLarge, "too many of `{}`", n.node().name());
}
void LowerByThrowing(lower::NodeLowering&) {
  throw std::runtime_error("no licence");
}
void LowerByThrowingANumber(lower::NodeLowering&) {
  throw 7;
}

TEST(LoweringMistakes, OfPlugins) {
  const auto lowered = [](LowerFunction function, std::string_view type = "f32[1,3,4,5]") {
    NnefGraph g;
    // An operation without a lowering.
    const auto x = g.External("x", type);
    g.Result("y",
             g.Op("avg_roi_pool", "y", {x, g.External("rois", "f32[1,4]"), g.External("indices", "i64[1,1]")},
                  "output_size = [4,5]"));
    LowerOptions options;
    options.find_lowering = [&](const std::string& name) {
      return name == "avg_roi_pool" ? function : nullptr;
    };
    Context context;
    const auto made = LowerGraph(g.graph(), options, context);
    EXPECT_EQ(made == nullptr, context.emitter.has_errors());
    std::string errors;
    for (const Diagnostic& diagnostic : context.emitter.diagnostics())
      errors += fmt::format("{}: {}\n", diagnostic.rule->label, diagnostic.message);
    return errors;
  };
  EXPECT_EQ(lowered(nullptr), "");
  EXPECT_EQ(lowered(LowerToItself), "");
  EXPECT_EQ(lowered(LowerToAnotherShape),
            "lower.shape-changed: `y` has the type f32[1,3,4,5] but was lowered to f32[1,1,3,4,5]\n");
  EXPECT_EQ(lowered(LowerToFewerDimensions),
            "lower.shape-changed: `y` has the type f32[1,3,4,5] but was lowered to f32[1,3,4]\n");
  EXPECT_EQ(lowered(LowerToAnotherType),
            "lower.shape-changed: `y` has the type f32[1,3,4,5] but was lowered to i64[1,3,4,5]\n");
  const std::string failed = "lower.failed: the lowering of `avg_roi_pool`, which a plug-in brings, failed: ";
  EXPECT_EQ(lowered(LowerToNothing), failed + "it left an output unset\n");
  EXPECT_EQ(lowered(LowerWithAnError), "lower.window-too-large: too many of `y`\n");
  EXPECT_EQ(lowered(LowerByThrowing), failed + "no licence\n");
  EXPECT_EQ(lowered(LowerByThrowingANumber), failed + "it threw something other than a std::exception\n");
  EXPECT_EQ(lowered(LowerToItself, "f32[...]").substr(0, 18), "lower.unknown-rank");
}

}  // namespace
}  // namespace nnefc::lower
