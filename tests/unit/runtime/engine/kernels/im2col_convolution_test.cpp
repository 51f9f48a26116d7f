// Convolutions by im2col and matrix multiplication, against the reference kernels, on processors with AVX2
// alone.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

std::string GatheredWhereNarrow() {
  return fast::simd::SimdWidth() == fast::simd::kSimdWidth256 ? "nnefc:im2col" : "nnefc:direct";
}

void ExpectGathered(const WindowSetting& setting, int64_t outputs, const std::vector<Post>& posts,
                    unsigned seed, kernels::Precision precision = kernels::Precision::kExact) {
  ExpectAsReference({.setting = setting,
                     .outputs = outputs,
                     .posts = posts,
                     .seed = seed,
                     .kernel = GatheredWhereNarrow(),
                     .tolerance = 2e-5,
                     .precision = precision});
}

TEST(GatheredConvolutionTest, PixelsThatLieApart) {
  for (const int64_t size : {13, 14, 28})
    for (const int64_t stride : {2, 3})
      ExpectGathered({.input = {1, 64, size, size}, .window = {1, 1}, .strides = {stride, stride}}, 96,
                     {Post::kBias, Post::kRelu}, 1);
  ExpectGathered({.input = {3, 32, 9, 20}, .window = {1, 1}, .strides = {1, 2}}, 17, {Post::kResidual}, 2);
  ExpectGathered({.input = {1, 16, 31, 60}, .window = {1, 1}, .strides = {4, 3}}, 40, {}, 3);
}

TEST(GatheredConvolutionTest, ManyStridedPixelsInF32) {
  ExpectGathered({.input = {2, 512, 28, 28}, .window = {1, 1}, .strides = {2, 2}}, 512,
                 {Post::kBias, Post::kResidual, Post::kRelu}, 4, kernels::Precision::kF32);
}

TEST(GatheredConvolutionTest, WindowsOfEveryBorder) {
  for (const int64_t before : {0, 1, 2})
    for (const int64_t after : {0, 1, 3})
      ExpectGathered({.input = {2, 16, 7, 7 + 2 - before - after},
                      .window = {3, 3},
                      .begin = {before, before},
                      .end = {after, after}},
                     20, {Post::kBias}, 5);
}

TEST(GatheredConvolutionTest, WindowsThatStepAndAreWide) {
  ExpectGathered(
      {.input = {1, 48, 14, 14}, .window = {3, 3}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}}, 64,
      {Post::kBias, Post::kSwish}, 6);
  ExpectGathered({.input = {1, 32, 8, 8}, .window = {1, 3}, .begin = {0, 1}, .end = {0, 1}}, 33,
                 {Post::kRelu}, 7);
  ExpectGathered({.input = {1, 32, 8, 8}, .window = {3, 1}, .begin = {1, 0}, .end = {1, 0}}, 33, {}, 8);
  ExpectGathered(
      {.input = {2, 16, 12, 8}, .window = {5, 5}, .dilations = {2, 3}, .begin = {4, 6}, .end = {4, 6}}, 32,
      {Post::kBias, Post::kHSwish}, 9);
  // Taps that never read the image, from any pixel.
  ExpectGathered(
      {.input = {1, 16, 2, 2}, .window = {3, 3}, .dilations = {7, 7}, .begin = {9, 8}, .end = {9, 8}}, 16,
      {Post::kBias}, 10);
}

TEST(GatheredConvolutionTest, ManyStridedWindowsInF32) {
  ExpectGathered(
      {.input = {1, 128, 16, 16}, .window = {3, 3}, .strides = {2, 2}, .begin = {1, 1}, .end = {1, 1}}, 256,
      {Post::kBias, Post::kRelu}, 11, kernels::Precision::kF32);
}

}  // namespace
}  // namespace nnefc::runtime::engine
