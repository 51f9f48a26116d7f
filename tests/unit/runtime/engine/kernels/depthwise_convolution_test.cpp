// Depthwise convolutions in our own microkernels, against the reference kernels, whose sums are in f64:
// windows of every kind, with epilogues.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

void ExpectDepthwise(const WindowSetting& setting, const std::vector<Post>& posts, unsigned seed,
                     const std::string& kernel = "nnefc:depthwise") {
  SCOPED_TRACE(Describe(setting));
  TestGraph g;
  const int64_t channels = setting.input[1];
  Shape filter = {channels, 1, 1};
  filter.append(setting.window.begin(), setting.window.end());
  const auto x = g.Parameter("x", setting.input);
  auto y = g.Op("GroupConvolution", {x, g.Weights(filter, seed)}, WindowOf(setting));
  const Shape result = g.graph->output(y).shape.known_extents();
  const auto residual = g.Parameter("residual", result);
  Shape column(result.size(), 1);
  column[1] = channels;
  for (size_t i = 0; i < posts.size(); ++i)
    y = Follow(g, posts[i], y, column, residual, seed + 1 + static_cast<unsigned>(i));
  g.Result(y);
  // Readers of whole blocks must not use the padding after the last channel.
  Shape next = {16, channels};
  next.append(setting.window.size(), 1);
  g.Result(g.Op("Convolution", {y, g.Weights(next, seed + 19)}, WindowOf({.window = setting.window})),
           "next");
  g.Result(residual, "second");
  ExpectAsReference(g, {RandomTensor(setting.input, seed + 20), RandomTensor(result, seed + 21)}, kernel);
}

TEST(DepthwiseTest, ImagesOfEveryWidthOfTiles) {
  for (int64_t width = 1; width <= 30; ++width)
    ExpectDepthwise({.input = {1, 32, 5, width}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, {}, 1);
}

TEST(DepthwiseTest, ImagesThatAreSmallerThanTheWindow) {
  for (int64_t size = 1; size <= 7; ++size)
    ExpectDepthwise({.input = {2, 40, size, size}, .window = {7, 7}, .begin = {3, 3}, .end = {3, 3}},
                    {Post::kBias}, 2);
}

TEST(DepthwiseTest, ChannelsThatFillNoBlock) {
  for (const int64_t channels : {16, 17, 31, 33, 58})
    ExpectDepthwise({.input = {2, channels, 9, 9}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
                    {Post::kBias, Post::kSigmoid}, 3);
}

TEST(DepthwiseTest, BordersThatWindowsLieWhollyIn) {
  ExpectDepthwise({.input = {1, 16, 6, 6}, .window = {3, 2}, .begin = {5, 4}, .end = {7, 6}},
                  {Post::kBias, Post::kRelu}, 4);
  ExpectDepthwise({.input = {1, 16, 4, 5},
                   .window = {3, 3},
                   .strides = {2, 1},
                   .dilations = {3, 6},
                   .begin = {6, 9},
                   .end = {5, 8}},
                  {Post::kShift}, 5);
}

TEST(DepthwiseTest, OneSpatialAxis) {
  ExpectDepthwise({.input = {2, 24, 40}, .window = {5}, .strides = {2}, .begin = {2}, .end = {1}},
                  {Post::kBias, Post::kHSwish}, 6);
}

TEST(DepthwiseTest, LongStridesAndThreeAxes) {
  ExpectDepthwise({.input = {1, 32, 9, 20}, .window = {3, 3}, .strides = {1, 3}}, {Post::kRelu}, 7);
  ExpectDepthwise({.input = {1, 16, 4, 5, 6}, .window = {3, 3, 3}}, {Post::kRelu}, 8);
  ExpectDepthwise({.input = {2, 24, 6, 7, 12},
                   .window = {3, 2, 5},
                   .strides = {2, 1, 3},
                   .dilations = {1, 2, 1},
                   .begin = {3, 1, 2},
                   .end = {1, 1, 2}},
                  {Post::kBias, Post::kSigmoid}, 9);
}

TEST(DepthwiseTest, SquareWindowsInRows) {
  for (const int64_t size : {3, 5}) {
    for (const int64_t stride : {1, 2}) {
      for (int64_t rows = 2 * size; rows <= 2 * size + 4; ++rows)
        ExpectDepthwise({.input = {2, 24, rows, 11},
                         .window = {size, size},
                         .strides = {stride, stride},
                         .begin = {0, size - 2},
                         .end = {1, 0}},
                        {Post::kBias, Post::kRelu}, 10, "nnefc:depthwise_rows");
    }
  }
  const WindowSetting threes{.input = {1, 40, 40, 40}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  ExpectDepthwise(threes, {}, 11, "nnefc:depthwise_rows");
  ExpectDepthwise(threes, {Post::kShift, Post::kSigmoid}, 12, "nnefc:depthwise_rows");
  // Sums that begin with another tensor.
  ExpectDepthwise(threes, {Post::kResidual}, 13);
}

// Random windows and epilogues.
TEST(DepthwiseTest, WindowsAndChainsAtRandom) {
  Draws draw;
  for (unsigned i = 0; i < 60; ++i) {
    WindowSetting setting{.input = {draw(1, 2), draw(16, 50)}};
    draw.AddAxes(setting, 3);
    const std::vector<Post> posts = draw.Posts();
    ExpectDepthwise(setting, posts, 100 + i, "");
  }
}

// The border is not multiplied: an infinite weight has no effect there.
TEST(DepthwiseTest, TheBorderIsNotMultiplied) {
  TestGraph g;
  std::vector<float> weights(16 * 9, kInfinity);
  const auto x = g.Parameter("x", {1, 16, 5, 5});
  const WindowSetting setting{.window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  g.Result(g.Op("GroupConvolution", {x, g.Const(TensorValue::FromFloats({16, 1, 1, 3, 3}, weights))},
                WindowOf(setting)));
  const std::vector<TensorValue> inputs = {
      TensorValue::FromFloats({1, 16, 5, 5}, std::vector<float>(400, 1))};
  for (const int threads : {1, 2}) {
    const auto result = RunGraph(g.graph, {.backend = kernels::Backend::kFast, .threads = threads}, inputs);
    for (int64_t i = 0; i < 400; ++i) EXPECT_EQ(result[0].ElementAsDouble(i), kInfinity);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
