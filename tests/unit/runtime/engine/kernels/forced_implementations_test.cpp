// Implementations that a run names: each computes its step with the operations fused into it.

#include <limits>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

// Runs one step by the implementation `id` and compares it with the reference kernels.
void ExpectOneStep(const TestGraph& g, const std::string& id, const std::vector<TensorValue>& inputs,
                   double tolerance = 1e-5, kernels::Precision precision = kernels::Precision::kF32) {
  SCOPED_TRACE(id);
  const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  const auto executable = Compile(g.graph, {.precision = precision, .threads = 2, .way = id});
  ASSERT_NE(executable, nullptr);
  const auto session = Session::Create(executable);
  session->EnableProfile(true);
  const auto actual = session->Run(inputs);
  ASSERT_TRUE(actual.ok()) << (actual.ok() ? "" : actual.error().message);
  ExpectClose((*actual)[0], expected[0], tolerance);
  // With smaller vectors other implementations compute these steps.
  if (fast::simd::SimdWidth() < fast::simd::kSimdWidth512) return;
  std::vector<std::string> used;
  for (const StepProfile& step : session->profile()) {
    if (step.operation != "reorder") used.push_back(std::string(step.implementation));
  }
  EXPECT_EQ(used, std::vector<std::string>{id}) << executable->DescribePlan();
}

TEST(ForcedImplementationsTest, MatrixProductsWithBias) {
  for (const char* id : {"onednn_matmul", "onednn_inner_product"}) {
    for (const bool transposed : {false, true}) {
      TestGraph g;
      const auto product = g.Op(
          "MatMul", {g.Parameter("x", {16, 32}), g.Weights(transposed ? Shape{48, 32} : Shape{32, 48}, 1)},
          With("transpose_b", transposed));
      g.Result(g.Op("ReLU", {g.Op("Add", {product, g.Weights({48}, 2)})}));
      ExpectOneStep(g, id, {RandomTensor({16, 32}, 3)});
    }
  }
}

TEST(ForcedImplementationsTest, FunctionsWithANumber) {
  for (const char* operation : {"Add", "Multiply", "Subtract", "Maximum"}) {
    TestGraph g;
    g.Result(
        g.Op(operation, {g.Parameter("x", {2, 16, 5, 3}), g.Const(TensorValue::FromFloats({1}, {0.375F}))}));
    ExpectOneStep(g, "onednn_eltwise", {RandomTensor({2, 16, 5, 3}, 1)});
  }
}

TEST(ForcedImplementationsTest, MeansOfAllPixels) {
  for (const Shape& shape : {Shape{2, 20, 9}, Shape{2, 20, 5, 7}, Shape{1, 16, 4, 3, 5}}) {
    SCOPED_TRACE(ToString(shape));
    TestGraph g;
    std::vector<int64_t> axes;
    for (int64_t axis = 2; axis < static_cast<int64_t>(shape.size()); ++axis) axes.push_back(axis);
    const auto images = InBlocks(g, g.Parameter("x", shape), shape[1], axes.size());
    g.Result(g.Op("ReduceMean", {images, g.Ints(axes)}, With("keep_dims", true)));
    const std::vector<TensorValue> inputs = {RandomTensor(shape, 1)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
    const auto executable = Compile(g.graph, {.threads = 2, .way = "onednn"});
    ASSERT_NE(executable, nullptr);
    const auto actual = Session::Create(executable)->Run(inputs);
    ASSERT_TRUE(actual.ok());
    ExpectClose((*actual)[0], expected[0], 1e-5);
    if (fast::simd::SimdWidth() < fast::simd::kSimdWidth512) continue;
    const std::string plan = executable->DescribePlan();
    const size_t step = plan.find("ReduceMean");
    ASSERT_NE(step, std::string::npos) << plan;
    EXPECT_LT(plan.find("onednn:", step), plan.find('\n', step)) << plan;
  }
}

// Images of one column are computed as rows, unless the result has more columns or an operand of all elements
// is added.
TEST(ForcedImplementationsTest, ColumnsInBf16) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  for (const WindowSetting& window :
       std::vector<WindowSetting>{{.input = {2, 16, 9, 1}, .window = {3, 1}},
                                  {.input = {1, 16, 9, 1},
                                  .window = {3, 1},
                                  .strides = {2, 1},
                                  .dilations = {2, 1},
                                  .begin = {3, 0}},
                                  {.input = {1, 16, 9, 1}, .window = {3, 1}, .begin = {1, 1}, .end = {1, 1}},
                                  {.input = {1, 16, 9, 1}, .window = {3, 1}, .end = {0, 1}},
                                  {.input = {1, 16, 1, 9}, .window = {1, 3}},
                                  {.input = {1, 16, 5, 9}, .window = {3, 1}}}) {
    for (const bool has_residual : {false, true}) {
      SCOPED_TRACE(Describe(window) + (has_residual ? " and a residual" : ""));
      Shape filter = {32, 16};
      filter.append(window.window.begin(), window.window.end());
      TestGraph g;
      auto y = g.Op("Convolution", {g.Parameter("x", window.input), g.Const(SmallIntegers(filter, 2))},
                    WindowOf(window));
      std::vector<TensorValue> inputs = {SmallIntegers(window.input, 1)};
      const Shape result = g.graph->output(y).shape.known_extents();
      if (has_residual) {
        if (result.back() > window.input.back()) continue;  // another implementation
        inputs.push_back(SmallIntegers(result, 4));
        y = g.Op("Add", {y, g.Parameter("residual", inputs[1].shape())});
      }
      g.Result(y);
      ExpectOneStep(g, "onednn_bf16", inputs, 0, kernels::Precision::kBf16);
    }
  }
}

// A window that is the whole image, of one group and of several, before a function that no inner product
// fuses.
TEST(ForcedImplementationsTest, WindowsOfWholeImages) {
  TestGraph g;
  ir::AttributeMap window = WindowOf(
      {.input = {2, 32, 3, 3}, .window = {3, 3}, .strides = {}, .dilations = {}, .begin = {}, .end = {}});
  const auto y =
      g.Op("GroupConvolution", {g.Parameter("x", {2, 32, 3, 3}), g.Weights({2, 16, 16, 3, 3}, 1)}, window);
  g.Result(g.Op("opset4", "SoftPlus", {y}));
  ExpectOneStep(g, "direct", {RandomTensor({2, 32, 3, 3}, 2)});
}

// Numbers that are not finite stay in their group of channels.
TEST(ForcedImplementationsTest, InfinitiesInOneGroup) {
  constexpr int64_t kChannels = 16;  // of each of two groups
  const Shape images = {1, 2 * kChannels, 5, 6}, filter = {2, kChannels, kChannels, 3, 3};
  const ir::AttributeMap window =
      WindowOf({.input = images, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}});
  const TensorValue weights = RandomTensor(filter, 1), finite = RandomTensor(images, 2);
  std::vector<float> numbers(finite.elements<float>().begin(), finite.elements<float>().end());
  std::fill_n(numbers.begin(), 30, std::numeric_limits<float>::infinity());
  for (const char* id : {"onednn_blocked", "onednn_preferred", "onednn_im2col", "onednn_channels_last"}) {
    for (const bool is_constant : {true, false}) {
      SCOPED_TRACE(id);
      TestGraph g;
      const auto x = g.Parameter("x", images);
      const auto w = is_constant ? g.Const(weights) : g.Parameter("w", filter);
      g.Result(g.Op("GroupConvolution", {x, w}, window));
      std::vector<TensorValue> inputs = {finite};
      if (!is_constant) inputs.push_back(weights);
      const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
      inputs[0] = TensorValue::FromFloats(images, numbers);
      const auto found = RunGraph(g.graph, {.threads = 2, .way = id}, inputs);
      for (int64_t i = kChannels * 30; i < 2 * kChannels * 30; ++i)
        ASSERT_NEAR(found[0].ElementAsDouble(i), expected[0].ElementAsDouble(i), 1e-4) << i;
    }
  }
}

// Images and windows of one column, or of one row.
TEST(ForcedImplementationsTest, ImagesOfOneColumn) {
  for (const char* id : {"onednn_blocked", "onednn_preferred", "onednn_im2col", "onednn_channels_last"}) {
    for (const bool is_column : {true, false}) {
      const Shape images = is_column ? Shape{2, 32, 20, 1} : Shape{2, 32, 1, 20};
      const Shape size = is_column ? Shape{3, 1} : Shape{1, 3};
      TestGraph g;
      const WindowSetting window{.input = images,
                                 .window = size,
                                 .strides = is_column ? Shape{2, 1} : Shape{1, 2},
                                 .begin = {size[0] / 2, size[1] / 2},
                                 .end = {}};
      g.Result(g.Op("Convolution", {g.Parameter("x", images), g.Weights({16, 32, size[0], size[1]}, 1)},
                    WindowOf(window)));
      const std::vector<TensorValue> inputs = {RandomTensor(images, 2)};
      const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
      ExpectClose(RunGraph(g.graph, {.threads = 2, .way = id}, inputs)[0], expected[0], 1e-5);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
