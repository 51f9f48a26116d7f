// Winograd transposed convolutions against the reference kernels, whose sums are in f64.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

// Runs the Winograd kernel though it may not be the fastest one.
void ExpectTransposed(const WindowSetting& setting, int64_t outputs, const std::vector<Post>& posts = {},
                      const Shape& added = {}) {
  ExpectAsReference({.setting = setting,
                     .outputs = outputs,
                     .posts = posts,
                     .seed = 1,
                     .kernel = "nnefc:winograd",
                     .tolerance = 5e-5,
                     .largest_weight = 0.05F,
                     .is_transposed = true,
                     .added = added,
                     .way = fast::simd::HasSimd() ? "winograd" : ""});
}

// Each residue of the padding before an axis, with results that begin in any phase and in any tile, and
// results that end anywhere in a tile.
TEST(WinogradDeconvolutionTest, PaddingOfEachAxis) {
  for (const bool is_row : {false, true}) {
    const auto along = [&](int64_t axis, int64_t other) {
      return is_row ? Shape{other, axis} : Shape{axis, other};
    };
    for (int64_t before = 0; before <= 6; ++before) {
      for (const int64_t after : {0, 1, 2, 5}) {
        const Shape extents = along(9, 6);
        ExpectTransposed({.input = {1, 16, extents[0], extents[1]},
                          .window = {4, 4},
                          .strides = {2, 2},
                          .begin = along(before, 1),
                          .end = along(after, 2)},
                         16);
      }
    }
  }
}

TEST(WinogradDeconvolutionTest, ExtentsOfImages) {
  for (int64_t extent = 1; extent <= 12; ++extent) {
    ExpectTransposed({.input = {2, 16, extent, 13 - extent},
                      .window = {4, 4},
                      .strides = {2, 2},
                      .begin = {1, 1},
                      .end = {1, 1}},
                     16);
  }
}

// Squares of 2 and 3 taps for each phase, with strides of their own along rows and columns.
TEST(WinogradDeconvolutionTest, StridesOfSquares) {
  for (const int64_t taps : {2, 3}) {
    for (const Shape& strides : {Shape{1, 1}, {1, 2}, {2, 1}, {3, 3}, {2, 4}}) {
      ExpectTransposed({.input = {1, 20, 7, 8},
                        .window = {taps * strides[0], taps * strides[1]},
                        .strides = strides,
                        .begin = {strides[0] - 1, strides[1] / 2},
                        .end = {0, strides[1]}},
                       17, {Post::kBias});
    }
  }
}

// Lines along either axis of images and of signals. Along the other axis each result has at most one tap.
TEST(WinogradDeconvolutionTest, Lines) {
  for (const int64_t taps : {2, 3, 4, 5}) {
    for (const int64_t stride : {1, 2, 8}) {
      for (const int64_t before : {int64_t{0}, stride / 2, stride, taps * stride - 1}) {
        ExpectTransposed({.input = {2, 17, 23},
                          .window = {taps * stride},
                          .strides = {stride},
                          .begin = {before},
                          .end = {stride / 2}},
                         40, {Post::kBias, Post::kRelu});
      }
      for (const bool is_row : {false, true}) {
        for (const int64_t other : {1, 3}) {
          const auto along = [&](int64_t line, int64_t across) {
            return is_row ? Shape{across, line} : Shape{line, across};
          };
          const Shape extents = along(14, 5);
          ExpectTransposed({.input = {1, 16, extents[0], extents[1]},
                            .window = along(taps * stride, other),
                            .strides = along(stride, other),
                            .begin = along(1, other / 2),
                            .end = along(0, other - 1)},
                           33);
        }
      }
    }
  }
}

// The last rows and columns of the result have no tap.
TEST(WinogradDeconvolutionTest, OutputPadding) {
  for (const Shape& added : {Shape{1, 0}, {0, 1}, {1, 1}}) {
    ExpectTransposed(
        {.input = {1, 16, 5, 6}, .window = {4, 4}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}}, 16,
        {Post::kBias}, added);
  }
}

TEST(WinogradDeconvolutionTest, PostOperations) {
  for (const Post post : kPosts) {
    SCOPED_TRACE(static_cast<int>(post));
    for (const Post next : {Post::kResidual, Post::kClamp}) {
      ExpectTransposed(
          {.input = {1, 20, 7, 5}, .window = {4, 4}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}}, 25,
          {Post::kBias, post, next});
    }
  }
}

// A large filter is transformed in parts, and a small one in advance.
TEST(WinogradDeconvolutionTest, SizesOfFilters) {
  const auto square = [](const Shape& input) {
    return WindowSetting{.input = input, .window = {4, 4}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}};
  };
  ExpectTransposed(square({1, 256, 17, 19}), 130, {Post::kBias, Post::kRelu});
  ExpectTransposed(square({1, 32, 60, 61}), 48, {Post::kBias, Post::kRelu});
  ExpectTransposed(square({3, 24, 14, 14}), 100, {Post::kRelu});
}

}  // namespace
}  // namespace nnefc::runtime::engine
