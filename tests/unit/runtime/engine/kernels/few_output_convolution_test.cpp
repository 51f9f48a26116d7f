// Direct convolutions with few outputs, against the reference kernels: images in both layouts, windows and
// borders of every kind, with epilogues.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kPlanes[] = "nnefc:few_outputs";

// Returns the kernel expected by default: with AVX-512 others are faster from 8 outputs on.
std::string PlanesFor(int64_t outputs) {
  return outputs > 7 && fast::simd::SimdWidth() != fast::simd::kSimdWidth256 ? "" : kPlanes;
}

void ExpectPlanes(const WindowSetting& setting, int64_t outputs, const std::vector<Post>& posts,
                  unsigned seed, std::optional<std::string> kernel = std::nullopt) {
  ExpectAsReference({.setting = setting,
                     .outputs = outputs,
                     .posts = posts,
                     .seed = seed,
                     .kernel = kernel.value_or(PlanesFor(outputs)),
                     .tolerance = fast::simd::HasSimd() ? 2e-5 : 1e-4,  // one sum after another rounds more
                     .precision = kernels::Precision::kExact});
}

TEST(PlaneConvolutionTest, OutputsAndRowsOfEveryNumber) {
  for (int64_t outputs = 1; outputs <= 12; ++outputs)
    ExpectPlanes({.input = {2, 18, 9, 20}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, outputs,
                 {Post::kBias, Post::kRelu}, 1);
  for (int64_t width = 6; width <= 60; ++width)
    ExpectPlanes({.input = {1, 5, 4, width}, .window = {3, 5}, .begin = {1, 2}, .end = {1, 2}}, 3, {}, 2);
}

TEST(PlaneConvolutionTest, WindowsAndBorders) {
  ExpectPlanes({.input = {1, 32, 30, 33}, .window = {9, 9}, .begin = {4, 4}, .end = {4, 4}}, 3,
               {Post::kBias, Post::kTanh}, 3);
  ExpectPlanes(
      {.input = {1, 20, 12, 40}, .window = {2, 7}, .dilations = {3, 2}, .begin = {4, 0}, .end = {1, 9}}, 5,
      {Post::kBias, Post::kResidual, Post::kClamp}, 4);
  // Windows entirely in the border.
  ExpectPlanes({.input = {1, 16, 3, 8}, .window = {2, 3}, .begin = {5, 20}, .end = {4, 17}}, 2, {Post::kBias},
               5);
  ExpectPlanes({.input = {3, 40, 50}, .window = {5}, .begin = {2}, .end = {1}}, 4, {Post::kBias}, 6);
  // A 1x1 window treats all pixels as one row.
  ExpectPlanes({.input = {2, 64, 5, 7}, .window = {1, 1}}, 9, {Post::kBias, Post::kSigmoid}, 7);
}

// Windows reach beyond the last column of whole vectors: the copied rows include those pixels, of zeros, but
// no pixel of the next row.
TEST(PlaneConvolutionTest, BordersOfOneSide) {
  for (const int64_t width : {16, 32, 48, 96}) {
    for (const int64_t reach : {1, 2, 7}) {
      for (const bool is_before : {true, false}) {
        const Shape one_side = {0, reach}, none = {0, 0};
        ExpectPlanes({.input = {1, 5, 6, width},
                      .window = {2, reach + 1},
                      .begin = is_before ? one_side : none,
                      .end = is_before ? none : one_side},
                     3, {Post::kBias}, 21, "");
      }
    }
  }
}

// A tensor that is added to the sums, with and without what may come before and after it.
TEST(PlaneConvolutionTest, AddedTensors) {
  const std::vector<std::vector<Post>> followers = {{Post::kResidual},
                                                    {Post::kBias, Post::kResidual},
                                                    {Post::kResidual, Post::kRelu},
                                                    {Post::kBias, Post::kResidual, Post::kTanh}};
  for (const std::vector<Post>& posts : followers) {
    for (const int64_t outputs : {1, 4, 5, 7, 11}) {
      for (const int64_t inputs : {3, 15, 16, 17, 33})
        ExpectPlanes({.input = {2, inputs, 6, 21}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, outputs,
                     posts, 20, "");
    }
  }
}

// Images in channel blocks, the last of which may have padding: only channels of the image are copied.
TEST(PlaneConvolutionTest, ImagesInBlocks) {
  for (const int64_t channels : {15, 16, 17, 31, 33}) {
    for (const Shape& pixels : {Shape{5, 9}, Shape{150, 160}}) {
      const Shape image = {1, channels, pixels[0], pixels[1]};
      TestGraph g;
      const auto x = InBlocks(g, g.Parameter("x", image), channels, 2);
      const WindowSetting setting{.input = image, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
      g.Result(g.Op("Convolution", {x, g.Weights({3, channels, 3, 3}, 1)}, WindowOf(setting)));
      ExpectAsReference(g, {RandomTensor(image, 2)}, kPlanes, 2e-5, kernels::Precision::kExact);
    }
  }
}

// Images larger than any cache are divided into rows and columns.
TEST(PlaneConvolutionTest, LargeImages) {
  ExpectPlanes({.input = {1, 70, 24, 1100}, .window = {9, 9}, .begin = {4, 4}, .end = {4, 4}}, 3,
               {Post::kBias}, 8);
  ExpectPlanes({.input = {1, 300, 60, 60}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 1, {}, 9);
}

TEST(PlaneConvolutionTest, WhatOthersConvolve) {
  const WindowSetting setting{.input = {1, 32, 9, 20}, .window = {3, 3}};
  ExpectPlanes({.input = {1, 32, 9, 20}, .window = {3, 3}, .strides = {1, 2}}, 8, {Post::kRelu}, 10,
               "onednn");
  ExpectPlanes({.input = {1, 32, 9, 6}, .window = {3, 3}}, 8, {Post::kRelu}, 11, "onednn");
  ExpectPlanes(setting, 13, {Post::kRelu}, 12, "onednn");
  // Taps so far apart that the buffer has mostly unused pixels, up to the limits of the integers.
  ExpectPlanes({.input = {1, 8, 60, 60}, .window = {2, 2}, .dilations = {40, 1}}, 2, {}, 14, "onednn");
  constexpr int64_t kFar = int64_t{1} << 39;
  ExpectPlanes(
      {.input = {1, 3, 8, 40}, .window = {2, 2}, .dilations = {kFar, 1}, .begin = {kFar, 1}, .end = {0, 0}},
      4, {}, 15, "");
  // Per-channel values after other post-ops.
  ExpectPlanes(setting, 4, {Post::kRelu, Post::kScale}, 13, "");
}

TEST(PlaneConvolutionTest, WindowsAndChainsAtRandom) {
  Draws draw;
  for (unsigned i = 0; i < 80; ++i) {
    WindowSetting setting{.input = {draw(1, 2), draw(1, 40)}};
    draw.AddAxes(setting, 1);
    const std::vector<Post> posts = draw.Posts();
    ExpectPlanes(setting, draw(1, 12), posts, 100 + i, "");
  }
}

// The border is not multiplied: an infinite weight has no effect there.
TEST(PlaneConvolutionTest, TheBorderIsNotMultiplied) {
  TestGraph g;
  const Shape image = {1, 4, 9, 9};
  const std::vector<float> weights(2 * 4 * 9, kInfinity), ones(4 * 81, 1);
  const auto x = g.Parameter("x", image);
  g.Result(g.Convolution(x, g.Const(TensorValue::FromFloats({2, 4, 3, 3}, weights)), 1));
  const auto result =
      RunGraph(g.graph, {.backend = kernels::Backend::kFast}, {TensorValue::FromFloats(image, ones)});
  for (int64_t i = 0; i < 2 * 81; ++i) EXPECT_EQ(result[0].ElementAsDouble(i), kInfinity);
}

}  // namespace
}  // namespace nnefc::runtime::engine
