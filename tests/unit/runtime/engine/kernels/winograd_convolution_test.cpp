// Winograd convolutions against the reference kernels, and the memory of their plans.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/kernels/post_op_cases.h"
#include "tests/unit/runtime/planned_bytes.h"

namespace nnefc::runtime::engine {
namespace {

void ExpectConvolved(const WindowSetting& setting, int64_t outputs, const std::vector<Post>& posts,
                     const std::string& kernel) {
  ExpectAsReference({.setting = setting,
                     .outputs = outputs,
                     .posts = posts,
                     .seed = 1,
                     .kernel = kernel,
                     .tolerance = 5e-5,
                     .largest_weight = 0.05F});
}

// Channels that do not fill a block or a register tile; images that end within a tile, with one tile, in
// batches; all kinds of borders; small filters, which are transformed in advance, and large ones.
TEST(WinogradTest, IsLikeTheReference) {
  const std::vector<std::vector<Post>> followers = {{Post::kRelu},
                                                    {Post::kBias, Post::kResidual, Post::kSigmoid}};
  for (const std::vector<Post>& posts : followers) {
    const auto expect = [&](const Shape& input, int64_t outputs, const Shape& begin = {1, 1},
                            const Shape& end = {1, 1}) {
      ExpectConvolved({.input = input, .window = {3, 3}, .begin = begin, .end = end}, outputs, posts,
                      "nnefc:winograd");
    };
    expect({1, 64, 63, 40}, 48);
    expect({1, 16, 8, 8}, 16);
    expect({1, 17, 30, 31}, 33);
    expect({3, 40, 14, 14}, 100);
    expect({1, 200, 14, 14}, 208);
    expect({2, 32, 60, 60}, 32);
    expect({1, 32, 100, 90}, 20);
    expect({5, 70, 9, 9}, 40);
    expect({1, 256, 33, 34}, 130);
    expect({1, 48, 20, 20}, 64, {0, 0}, {0, 0});
    expect({1, 48, 20, 20}, 64, {2, 0}, {1, 3});
    expect({1, 24, 12, 12}, 24, {0, 4}, {5, 0});
  }
}

TEST(WinogradTest, SquaresOfTwoTaps) {
  for (const int64_t extent : {30, 31, 32, 33, 34}) {
    ExpectConvolved({.input = {1, 40, extent, 64 - extent}, .window = {2, 2}, .begin = {1, 0}, .end = {0, 1}},
                    48, {Post::kBias, Post::kResidual, Post::kSigmoid}, "nnefc:winograd");
  }
  ExpectConvolved({.input = {1, 33, 40, 41}, .window = {2, 2}, .dilations = {2, 3}, .begin = {2, 1}}, 64,
                  {Post::kRelu}, "nnefc:winograd");
}

// Pixels that are a dilation apart form images of their own, whose extents differ by one.
TEST(WinogradTest, Dilations) {
  for (const auto& [rows, columns] : {std::pair(1, 2), {2, 1}, {2, 2}, {2, 3}, {3, 2}}) {
    for (const auto& [height, width] : {std::pair(40, 60), {60, 40}, {41, 61}, {63, 42}}) {
      for (const int64_t before : {0, 1, 4}) {
        const WindowSetting setting{.input = {1, 32, height, width},
                                    .window = {3, 3},
                                    .dilations = {rows, columns},
                                    .begin = {before, 5 - before},
                                    .end = {6, 4}};
        ExpectConvolved(setting, 32, {Post::kBias}, "nnefc:winograd");
      }
    }
  }
}

// Lines of 2 to 5 taps along either axis of images, and along the axis of signals; the other axis of an image
// has borders and dilations, too.
TEST(WinogradTest, Lines) {
  const std::vector<Post> posts = {Post::kBias, Post::kResidual, Post::kSigmoid};
  for (const int64_t taps : {2, 3, 4, 5}) {
    for (const int64_t dilation : {1, 2, 3}) {
      for (const int64_t length : {120, 121, 122, 123, 124, 127}) {
        ExpectConvolved({.input = {2, 40, length},
                         .window = {taps},
                         .dilations = {dilation},
                         .begin = {length % 4},
                         .end = {taps + dilation}},
                        48, posts, "nnefc:winograd");
      }
      for (const bool is_row : {false, true}) {
        const auto along = [&](int64_t line, int64_t other) {
          return is_row ? Shape{other, line} : Shape{line, other};
        };
        const Shape extents = along(61, 30);
        ExpectConvolved({.input = {1, 33, extents[0], extents[1]},
                         .window = along(taps, 1),
                         .dilations = along(dilation, 4 - dilation),
                         .begin = along(2, 1),
                         .end = along(taps - 1, dilation)},
                        64, {Post::kBias}, "nnefc:winograd");
      }
    }
  }
}

// Many outputs and inputs, whose transformed filter is made in parts, by one thread or several.
TEST(WinogradTest, LinesOfManyChannels) {
  for (const int64_t taps : {3, 5}) {
    ExpectConvolved({.input = {1, 256, 508}, .window = {taps}, .begin = {2}}, 512, {Post::kRelu},
                    "nnefc:winograd");
    ExpectConvolved({.input = {1, 320, 4, 200}, .window = {1, taps}}, 300, {Post::kRelu}, "nnefc:winograd");
  }
}

// Slices of a volume add their products to a line.
TEST(WinogradTest, LinesOfVolumes) {
  for (const Shape& window : {Shape{3, 1, 3}, {2, 4, 1}}) {
    ExpectConvolved({.input = {1, 32, 5, 40, 41}, .window = window, .begin = {1, 1, 0}, .end = {1, 0, 1}}, 48,
                    {Post::kRelu}, "nnefc:winograd");
  }
}

// Tiles are those of squares of 2 or 3 taps along an axis, and of lines.
TEST(WinogradTest, OtherWindowsAreLeftToOthers) {
  for (const Shape& window :
       {Shape{3, 2}, Shape{2, 3}, Shape{3, 5}, Shape{5, 3}, Shape{1, 6}, Shape{6, 1}, Shape{4, 4}})
    ExpectConvolved({.input = {1, 64, 30, 31}, .window = window, .begin = {1, 1}, .end = {1, 1}}, 64,
                    {Post::kRelu}, "");
}

// Slices are images; each adds the contributions of others. Volumes end with slices after the border, with
// strides and dilations along that axis.
TEST(WinogradTest, Volumes) {
  const std::vector<Post> posts = {Post::kBias, Post::kResidual, Post::kRelu};
  const auto expect = [&](const WindowSetting& setting, int64_t outputs, const std::string& kernel) {
    ExpectConvolved(setting, outputs, posts, kernel);
  };
  const char* const winograd = "nnefc:winograd";
  const Shape around = {1, 1, 1}, flat = {0, 1, 1};
  expect({.input = {1, 32, 6, 20, 21}, .window = {3, 3, 3}, .begin = around, .end = around}, 48, winograd);
  expect({.input = {2, 16, 3, 30, 16}, .window = {3, 3, 3}, .begin = around, .end = around}, 17, winograd);
  expect({.input = {2, 40, 5, 17, 18}, .window = {1, 3, 3}, .begin = flat, .end = flat}, 64, winograd);
  expect({.input = {1, 128, 4, 14, 14}, .window = {3, 3, 3}, .begin = around, .end = around}, 130, winograd);
  expect({.input = {1, 16, 9, 24, 24},
          .window = {3, 3, 3},
          .strides = {2, 1, 1},
          .dilations = {3, 1, 1},
          .begin = {4, 1, 0},
          .end = {5, 0, 1}},
         32, winograd);
  expect({.input = {1, 48, 2, 20, 20}, .window = {5, 3, 3}, .begin = {4, 1, 1}, .end = {3, 1, 1}}, 32,
         winograd);
  // Channels that do not fill blocks are not contiguous terms of the transformed input.
  expect({.input = {1, 40, 5, 24, 24}, .window = {3, 3, 3}, .begin = around, .end = around}, 48,
         "nnefc:direct");
}

// Images for which most of a tile would be padding.
TEST(WinogradTest, IsLeftForSmallImages) {
  const std::vector<Post> posts = {Post::kBias, Post::kResidual, Post::kSigmoid};
  for (const Shape& input : {Shape{1, 64, 5, 5}, Shape{1, 64, 2, 2}, Shape{4, 64, 3, 3}})
    ExpectConvolved({.input = input, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, 64, posts,
                    "nnefc:direct");
}

// Neither an image nor a filter is transformed as a whole if it is large.
TEST(WinogradTest, TakesLittleMemory) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  struct Limit {
    int64_t inputs, outputs, size;
    double bytes;  // in addition to the image and its result, blocked or not
  };
  for (const auto& [inputs, outputs, size, bytes] :
       {Limit{128, 64, 128, 3e6}, {512, 512, 28, 7e6}, {512, 512, 14, 3e6}}) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, inputs, size, size});
    const auto filter = g.Weights({outputs, inputs, 3, 3}, 1, -0.05F, 0.05F);
    g.Result(g.Op("ReLU", {g.Convolution(x, filter, 1)}));
    const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1});
    ASSERT_NE(executable, nullptr);
    const auto channels = static_cast<double>(size * size * 4);
    EXPECT_LE(PlannedBytes(*executable), channels * static_cast<double>(inputs + 2 * outputs) + bytes)
        << executable->DescribePlan();
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
