// Grouped convolutions in our own microkernels, against the reference kernels: groups that fill vectors,
// alone or together, with epilogues.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kGroupedKernel[] = "nnefc:grouped";

struct Groups {
  int64_t count, inputs, outputs;  // outputs per group
};

// 512-bit vectors, of which direct convolutions use two at a time.
bool FillsRegister(const Groups& groups) {
  if (groups.inputs == groups.outputs && (groups.inputs == 4 || groups.inputs == 8)) return true;
  return fast::simd::SimdWidth() != fast::simd::kSimdWidth512 ||
         (groups.inputs % fast::simd::kSimdWidth512 == 0 && groups.outputs == fast::simd::kSimdWidth512);
}

// `setting.input` has any channel count. Groups that fill 256-bit vectors need not fill 512-bit ones.
void ExpectGrouped(WindowSetting setting, const Groups& groups, const std::vector<Post>& posts, unsigned seed,
                   const std::string& kernel = kGroupedKernel) {
  setting.input[1] = groups.count * groups.inputs;
  SCOPED_TRACE(Describe(setting) + " in groups to " + std::to_string(groups.outputs));
  TestGraph g;
  Shape filter = {groups.count, groups.outputs, groups.inputs};
  filter.append(setting.window.begin(), setting.window.end());
  const auto x = g.Parameter("x", setting.input);
  auto y = g.Op("GroupConvolution", {x, g.Weights(filter, seed)}, WindowOf(setting));
  const Shape result = g.graph->output(y).shape.known_extents();
  const auto residual = g.Parameter("residual", result);
  Shape column(result.size(), 1);
  column[1] = result[1];
  for (size_t i = 0; i < posts.size(); ++i)
    y = Follow(g, posts[i], y, column, residual, seed + 1 + static_cast<unsigned>(i));
  g.Result(y);
  // Readers of whole blocks must not use the padding after the last channel.
  Shape next = {16, result[1]};
  next.append(setting.window.size(), 1);
  g.Result(g.Op("Convolution", {y, g.Weights(next, seed + 19)}, WindowOf({.window = setting.window})),
           "next");
  g.Result(residual, "second");
  ExpectAsReference(g, {RandomTensor(setting.input, seed + 20), RandomTensor(result, seed + 21)},
                    kernel == kGroupedKernel && !FillsRegister(groups) ? "" : kernel, 2e-5);
}

TEST(GroupedConvolutionTest, ImagesOfEveryWidthOfTiles) {
  for (const int64_t width : {4, 8})
    for (int64_t columns = 1; columns <= 30; ++columns)
      ExpectGrouped({.input = {1, 0, 4, columns}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
                    {.count = 32 / width, .inputs = width, .outputs = width}, {}, 1);
}

TEST(GroupedConvolutionTest, EveryTileOfTwoPixelsApart) {
  for (const int64_t width : {4, 8, 16})
    for (int64_t columns = 1; columns <= 50; columns += 2)
      ExpectGrouped(
          {.input = {1, 0, 5, columns}, .window = {3, 3}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}},
          {.count = 32 / width, .inputs = width, .outputs = width}, {Post::kBias}, 2);
}

TEST(GroupedConvolutionTest, GroupsThatFillNoBlock) {
  for (const Groups& groups : {Groups{5, 4, 4},
                               {7, 4, 4},
                               {3, 8, 8},
                               {5, 8, 24},
                               {3, 24, 8},
                               {3, 16, 16},
                               {2, 24, 40},
                               {2, 48, 32},
                               {3, 16, 48}})
    ExpectGrouped({.input = {2, 0, 9, 9}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, groups,
                  {Post::kBias, Post::kSigmoid}, 3);
}

TEST(GroupedConvolutionTest, WhatFollows) {
  for (const Post post : kPosts)
    ExpectGrouped({.input = {2, 0, 7, 15}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, {3, 8, 8},
                  {post, Post::kResidual}, 4);
}

TEST(GroupedConvolutionTest, BordersThatWindowsLieWhollyIn) {
  ExpectGrouped({.input = {1, 0, 3, 2}, .window = {5, 3}, .begin = {6, 4}, .end = {7, 6}}, {4, 4, 4},
                {Post::kBias, Post::kRelu}, 5);
  ExpectGrouped({.input = {1, 0, 4, 5},
                 .window = {3, 3},
                 .strides = {2, 1},
                 .dilations = {3, 1},
                 .begin = {6, 5},
                 .end = {5, 4}},
                {2, 16, 16}, {Post::kShift}, 6);
}

TEST(GroupedConvolutionTest, OneSpatialAxis) {
  ExpectGrouped({.input = {2, 0, 40}, .window = {3}, .strides = {2}, .begin = {1}, .end = {1}}, {3, 8, 8},
                {Post::kBias, Post::kHSwish}, 7);
}

// Windows and groups that the grouped kernel does not support.
TEST(GroupedConvolutionTest, OtherWindowsAndGroupsAreLeftToOthers) {
  const WindowSetting image{.input = {1, 0, 9, 20}, .window = {3, 3}};
  ExpectGrouped(image, {4, 12, 12}, {Post::kRelu}, 8, "onednn");
  ExpectGrouped(image, {8, 4, 8}, {Post::kRelu}, 9, "onednn");
  ExpectGrouped({.input = {1, 0, 9, 20}, .window = {5, 5}}, {4, 8, 8}, {Post::kRelu}, 10, "onednn");
  ExpectGrouped({.input = {1, 0, 9, 40}, .window = {3, 3}, .strides = {1, 3}}, {4, 8, 8}, {Post::kRelu}, 11,
                "onednn");
  ExpectGrouped({.input = {1, 0, 4, 5, 6}, .window = {3, 3, 3}}, {4, 8, 8}, {Post::kRelu}, 12, "");
}

// Random windows and epilogues.
TEST(GroupedConvolutionTest, WindowsAndChainsAtRandom) {
  Draws draw;
  for (unsigned i = 0; i < 60; ++i) {
    const int64_t width = 4 * draw(1, 5);
    WindowSetting setting{.input = {draw(1, 2), 0}};
    draw.AddAxes(setting, 2);
    setting.window[1] = 3;
    setting.dilations[1] = 1;
    const std::vector<Post> posts = draw.Posts();
    ExpectGrouped(setting, {draw(2, 9), width, width}, posts, 100 + i, "");
  }
}

// Neither the border nor the channels of another group are multiplied.
TEST(GroupedConvolutionTest, TheBorderAndOtherGroupsAreNotMultiplied) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "other kernels are taken";
  for (const int64_t width : {4, 8}) {
    TestGraph g;
    const int64_t groups = 32 / width;
    std::vector<float> weights(static_cast<size_t>(32 * width * 9), kInfinity);
    std::vector<float> images(32 * 25, 1);
    // Images of the last group: infinity times zero would be NaN.
    std::fill(images.end() - width * 25, images.end(), 0.0F);
    const auto x = g.Parameter("x", {1, 32, 5, 5});
    const WindowSetting setting{.window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
    const Shape filter = {groups, width, width, 3, 3};
    g.Result(
        g.Op("GroupConvolution", {x, g.Const(TensorValue::FromFloats(filter, weights))}, WindowOf(setting)));
    const auto result = RunGraph(g.graph, {.backend = kernels::Backend::kFast, .threads = 1},
                                 {TensorValue::FromFloats({1, 32, 5, 5}, images)});
    for (int64_t i = 0; i < (32 - width) * 25; ++i) EXPECT_EQ(result[0].ElementAsDouble(i), kInfinity);
    for (int64_t i = (32 - width) * 25; i < 32 * 25; ++i)
      EXPECT_TRUE(std::isnan(result[0].ElementAsDouble(i)));
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
