// Direct convolutions in our own microkernels, against the reference kernels: images, windows and borders of
// every kind, with epilogues.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kDirectKernel[] = "nnefc:direct";

void ExpectDirect(const WindowSetting& setting, int64_t outputs, const std::vector<Post>& posts,
                  unsigned seed, const std::string& kernel = kDirectKernel) {
  ExpectAsReference({.setting = setting,
                     .outputs = outputs,
                     .posts = posts,
                     .seed = seed,
                     .kernel = kernel,
                     .tolerance = 2e-5,
                     .precision = kernels::Precision::kExact});
}

TEST(DirectConvolutionTest, ImagesOfEveryWidthOfTiles) {
  for (int64_t width = 1; width <= 30; ++width)
    ExpectDirect({.input = {1, 18, 5, width}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 48, {}, 1);
}

TEST(DirectConvolutionTest, TwoRowsOfSmallImages) {
  for (int64_t height = 1; height <= 9; ++height)
    ExpectDirect({.input = {3, 33, height, 7}, .window = {5, 3}, .begin = {2, 1}, .end = {2, 1}}, 32,
                 {Post::kBias, Post::kResidual}, 2);
  ExpectDirect(
      {.input = {2, 17, 14, 13}, .window = {3, 3}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}}, 40,
      {Post::kBias, Post::kRelu}, 3);
  // Windows of two rows without a common tap.
  ExpectDirect({.input = {1, 17, 12, 5},
                .window = {2, 2},
                .strides = {5, 1},
                .dilations = {7, 3},
                .begin = {8, 3},
                .end = {8, 3}},
               32, {}, 4);
}

// One column, with and without columns of results in the border.
TEST(DirectConvolutionTest, ImagesOfOneColumn) {
  for (int64_t before = 0; before <= 1; ++before) {
    for (int64_t after = 0; after <= 2; ++after)
      ExpectDirect({.input = {2, 20, 11, 1}, .window = {3, 1}, .begin = {1, before}, .end = {1, after}}, 33,
                   {Post::kBias}, 13);
  }
}

TEST(DirectConvolutionTest, ImagesThatAreSmallerThanTheWindow) {
  for (int64_t size = 1; size <= 7; ++size)
    ExpectDirect({.input = {2, 20, size, size}, .window = {7, 7}, .begin = {3, 3}, .end = {3, 3}}, 33,
                 {Post::kBias}, 5);
}

TEST(DirectConvolutionTest, ChannelsThatFillNoBlock) {
  for (const int64_t inputs : {16, 17, 31, 40})
    for (const int64_t outputs : {16, 17, 31, 33, 58})
      ExpectDirect({.input = {2, inputs, 9, 9}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, outputs,
                   {Post::kBias, Post::kSigmoid}, 6);
}

// Sums over several passes, each with part of the channels.
TEST(DirectConvolutionTest, ManyChannels) {
  ExpectDirect({.input = {1, 700, 7, 7}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 70,
               {Post::kBias, Post::kResidual, Post::kRelu}, 7);
  ExpectDirect({.input = {2, 300, 9, 16}, .window = {5, 5}, .begin = {2, 2}, .end = {2, 2}}, 32,
               {Post::kResidual, Post::kHSwish}, 8);
  ExpectDirect({.input = {1, 40, 14, 14}, .window = {14, 13}, .begin = {6, 6}, .end = {7, 6}}, 32,
               {Post::kClamp}, 9);
}

TEST(DirectConvolutionTest, FewChannelsOfRowMajorImages) {
  for (const int64_t inputs : {1, 3, 15})
    for (int64_t stride = 1; stride <= 4; ++stride)
      ExpectDirect({.input = {2, inputs, 20, 41},
                    .window = {5, 7},
                    .strides = {stride, stride},
                    .begin = {2, 3},
                    .end = {2, 3}},
                   48, {Post::kBias, Post::kRelu}, 10);
  ExpectDirect({.input = {1, 3, 64, 64}, .window = {16, 16}, .strides = {16, 16}}, 96, {Post::kBias}, 11);
  ExpectDirect({.input = {1, 3, 5, 6}, .window = {9, 9}, .begin = {4, 4}, .end = {4, 4}}, 32, {}, 12);
}

// Images in blocks that they do not fill, as a depthwise convolution stores them, stay in blocks.
TEST(DirectConvolutionTest, FewChannelsOfBlocks) {
  for (const int64_t channels : {8, 9, 15, 17}) {
    const Shape image = {2, channels, 9, 8};
    TestGraph g;
    const auto x = g.Op("GroupConvolution", {g.Parameter("x", image), g.Weights({channels, 1, 1, 3, 3}, 1)},
                        WindowOf({.window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}));
    const auto y = g.Op("Convolution", {x, g.Weights({24, channels, 2, 2}, 2)},
                        WindowOf({.window = {2, 2}, .strides = {2, 2}, .begin = {0, 1}, .end = {1, 0}}));
    g.Result(g.Op("ReLU", {y}));
    ExpectAsReference(g, {RandomTensor(image, 3)}, kDirectKernel, 2e-5);
    const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1});
    if (fast::simd::HasSimd()) {
      const std::string plan = executable->DescribePlan();
      const size_t depthwise = plan.find("nnefc:depthwise_rows"), direct = plan.find(kDirectKernel);
      ASSERT_TRUE(depthwise < direct && direct != std::string::npos) << plan;
      EXPECT_EQ(plan.substr(depthwise, direct - depthwise).find("reorder"), std::string::npos) << plan;
    }
  }
}

// A row of the image is larger than any cache of a core.
TEST(DirectConvolutionTest, LongRows) {
  ExpectDirect({.input = {1, 3, 2, 70000}, .window = {2, 2}}, 32, {}, 27);
}

TEST(DirectConvolutionTest, BordersThatWindowsLieWhollyIn) {
  for (const int64_t inputs : {3, 16}) {
    ExpectDirect({.input = {1, inputs, 6, 6}, .window = {3, 2}, .begin = {5, 4}, .end = {7, 6}}, 32,
                 {Post::kBias, Post::kRelu}, 13);
    ExpectDirect({.input = {1, inputs, 4, 5},
                  .window = {3, 3},
                  .strides = {2, 1},
                  .dilations = {3, 6},
                  .begin = {6, 9},
                  .end = {5, 8}},
                 32, {Post::kShift, Post::kResidual}, 14);
  }
}

TEST(DirectConvolutionTest, SinglePixelsApart) {
  ExpectDirect({.input = {2, 60, 28, 28}, .window = {1, 1}, .strides = {2, 2}}, 96, {Post::kBias}, 15);
  ExpectDirect({.input = {1, 60, 14, 14}, .window = {1, 1}, .strides = {2, 2}}, 96, {Post::kResidual}, 16);
  ExpectDirect({.input = {1, 60, 31, 60}, .window = {1, 1}, .strides = {3, 4}}, 32, {}, 17);
}

TEST(DirectConvolutionTest, OneSpatialAxis) {
  for (const int64_t inputs : {2, 24}) {
    ExpectDirect({.input = {2, inputs, 40}, .window = {5}, .strides = {2}, .begin = {2}, .end = {1}}, 24,
                 {Post::kBias, Post::kHSwish}, 18);
    // A single line, divided by outputs for threads.
    for (const int64_t outputs : {32, 33, 100})
      ExpectDirect({.input = {1, inputs, 700}, .window = {5}, .begin = {2}, .end = {2}}, outputs,
                   {Post::kBias}, 28);
    ExpectDirect({.input = {1, inputs, 40, 1}, .window = {5, 1}, .dilations = {3, 1}, .begin = {2, 0}}, 40,
                 {Post::kBias}, 19);
    ExpectDirect({.input = {1, inputs, 30, 1}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 40,
                 {Post::kBias}, 20);
  }
}

// In a volume all taps of a slice are added before those of the next. Windows of one pixel with several
// slices read rows of all pixels of small slices.
TEST(DirectConvolutionTest, Volumes) {
  for (const int64_t inputs : {3, 16, 40}) {
    ExpectDirect({.input = {2, inputs, 6, 9, 11}, .window = {3, 3, 3}, .begin = {1, 1, 1}, .end = {1, 1, 1}},
                 33, {Post::kBias, Post::kResidual}, 22);
    for (const int64_t size : {2, 7, 31})
      ExpectDirect({.input = {1, inputs, 5, size, size},
                    .window = {3, 1, 1},
                    .strides = {2, 1, 1},
                    .begin = {1, 0, 0},
                    .end = {1, 0, 0}},
                   48, {Post::kBias, Post::kRelu}, 23);
    ExpectDirect({.input = {1, inputs, 4, 13, 12},
                  .window = {1, 3, 3},
                  .strides = {1, 2, 2},
                  .begin = {0, 1, 1},
                  .end = {0, 1, 1}},
                 20, {Post::kClamp}, 24);
    ExpectDirect({.input = {1, inputs, 4, 6, 5}, .window = {1, 1, 1}, .strides = {2, 2, 2}}, 32, {}, 25);
    // Slices that read the border alone.
    ExpectDirect({.input = {1, inputs, 2, 5, 6}, .window = {2, 3, 1}, .begin = {3, 1, 0}, .end = {4, 1, 0}},
                 32, {Post::kBias, Post::kRelu}, 26);
  }
}

TEST(DirectConvolutionTest, VolumesAtRandom) {
  Draws draw;
  for (unsigned i = 0; i < 40; ++i) {
    WindowSetting setting{.input = {draw(1, 2), draw(0, 2) == 0 ? draw(1, 15) : draw(16, 40)}};
    for (int axis = 0; axis < 3; ++axis) {
      setting.window.push_back(draw(1, 3));
      setting.dilations.push_back(draw(1, 2));
      setting.strides.push_back(draw(1, 2));
      setting.begin.push_back(draw(0, setting.window.back()));
      setting.end.push_back(draw(0, setting.window.back()));
      setting.input.push_back(draw(1, 9) + setting.window.back());
    }
    const std::vector<Post> posts = draw.Posts();
    ExpectDirect(setting, draw(16, 70), posts, 300 + i, "");
  }
}

// Output counts that the direct kernel does not support.
TEST(DirectConvolutionTest, FewOutputsAreLeftToOthers) {
  ExpectDirect({.input = {1, 32, 9, 20}, .window = {3, 3}}, 14, {Post::kRelu}, 21, "onednn");
}

// Random windows and epilogues.
TEST(DirectConvolutionTest, WindowsAndChainsAtRandom) {
  Draws draw;
  for (unsigned i = 0; i < 80; ++i) {
    WindowSetting setting{.input = {draw(1, 2), draw(0, 2) == 0 ? draw(1, 15) : draw(16, 50)}};
    draw.AddAxes(setting, 3);
    const std::vector<Post> posts = draw.Posts();
    ExpectDirect(setting, draw(16, 70), posts, 100 + i, "");
  }
}

// The border is not multiplied: an infinite weight has no effect there. For images of seven pixels, AVX2
// kernels use im2col if the weights are finite.
TEST(DirectConvolutionTest, TheBorderIsNotMultiplied) {
  for (const int64_t inputs : {1, 16}) {
    for (const int64_t size : {5, 7}) {
      TestGraph g;
      const std::vector<float> weights(static_cast<size_t>(16 * inputs * 9), kInfinity);
      const Shape image = {1, inputs, size, size};
      const auto x = g.Parameter("x", image);
      g.Result(g.Convolution(x, g.Const(TensorValue::FromFloats({16, inputs, 3, 3}, weights)), 1));
      const std::vector<float> ones(static_cast<size_t>(inputs * size * size), 1);
      const std::vector<TensorValue> images = {TensorValue::FromFloats(image, ones)};
      for (const int threads : {1, 2}) {
        const auto result =
            RunGraph(g.graph, {.backend = kernels::Backend::kFast, .threads = threads}, images);
        for (int64_t i = 0; i < 16 * size * size; ++i) EXPECT_EQ(result[0].ElementAsDouble(i), kInfinity);
      }
    }
  }
}

// An infinite input times the zero padding after the last channel is NaN; no reader uses it.
TEST(DirectConvolutionTest, InfiniteInputsStayInTheirChannels) {
  for (const int64_t window : {1, 3}) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, 16, 5, 5});
    const auto y = g.Convolution(x, g.Weights({20, 16, window, window}, 1, 1, 2), window / 2);
    const auto z = g.Op("Clamp", {y}, [] {
      ir::AttributeMap limits;
      limits.Set("min", -1.0);
      limits.Set("max", 1.0);
      return limits;
    }());
    g.Result(g.Convolution(z, g.Weights({8, 20, 3, 3}, 2), 1));
    std::vector<float> numbers(400, 1);
    numbers[7] = kInfinity;
    const std::vector<TensorValue> images = {TensorValue::FromFloats({1, 16, 5, 5}, numbers)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, images);
    const auto result = RunGraph(g.graph, {.backend = kernels::Backend::kFast, .threads = 1}, images);
    ExpectNear(result[0], expected[0], 1e-5);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
