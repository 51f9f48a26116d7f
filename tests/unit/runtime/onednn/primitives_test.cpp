// Primitives as requested: their windows, sums and scratch memory, against loops over small integers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/fast/memory/blocked_format.h"
#include "runtime/onednn/onednn.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {
namespace {

using fast::memory::BlockedFormat;
using fast::memory::StorageType;
using library::PrimitiveAlgorithm;
using library::PrimitiveKind;
using library::PrimitiveRequest;
using Role = library::PrimitiveArgument::Role;

constexpr int64_t kRows = 4, kColumns = 5;

// Runs a primitive of one channel with ones as the filter.
std::vector<float> RunOnOneChannel(const PrimitiveRequest& request, std::vector<float> image,
                                   size_t num_results) {
  const tensor::ThreadScope scope(1);
  const auto primitive = LoadOneDnn()->Create(request);
  if (primitive == nullptr) return {};
  std::vector<library::Primitive::BoundArgument> arguments = {
      {{Role::kSource}, request.sources[0]}, {{Role::kResult}, request.result}, {{Role::kScratch}, {}}};
  std::vector<float> results(num_results), ones(64, 1.0F), bias = {1};
  std::vector<std::byte> scratch(primitive->scratch_bytes() + 64);
  std::vector<void*> addresses = {image.data(), results.data(), scratch.data()};
  if (request.weights.rank > 0) {
    arguments.push_back({{Role::kWeights}, request.weights});
    addresses.push_back(ones.data());
  }
  if (request.bias.rank > 0) {
    arguments.push_back({{Role::kBias}, request.bias});
    addresses.push_back(bias.data());
  }
  EXPECT_EQ(primitive->NewCall(arguments)->Run(addresses), "");
  return results;
}

// Windows of 2x3 elements with different paddings at each side of an image of 1, 2, ..
struct PaddedWindows {
  int64_t top, left, bottom, right;

  int64_t rows() const { return kRows + top + bottom - 1; }
  int64_t columns() const { return kColumns + left + right - 2; }
  PrimitiveRequest Request(PrimitiveKind kind, PrimitiveAlgorithm algorithm) const {
    return {.kind = kind,
            .algorithm = algorithm,
            .sources = {fast::memory::RowMajorFormat({1, 1, kRows, kColumns})},
            .result = fast::memory::RowMajorFormat({1, 1, rows(), columns()}),
            .strides = {1, 1},
            .before = {top, left},
            .after = {bottom, right}};
  }
  // Returns combine(.., element) over the elements of each window, from `start`.
  template <typename Combine>
  std::vector<float> Expected(float start, const Combine& combine) const {
    std::vector<float> expected;
    for (int64_t y = 0; y < rows(); ++y) {
      for (int64_t x = 0; x < columns(); ++x) {
        float value = start;
        for (int64_t i = y - top; i < y - top + 2; ++i) {
          for (int64_t k = x - left; k < x - left + 3; ++k) {
            if (i >= 0 && i < kRows && k >= 0 && k < kColumns)
              value = combine(value, static_cast<float>(i * kColumns + k + 1));
          }
        }
        expected.push_back(value);
      }
    }
    return expected;
  }
};

constexpr PaddedWindows kPaddedWindows[] = {
    {1, 2, 0, 1}, {0, 1, 1, 2}, {0, 0, 1, 0}, {0, 2, 0, 0}, {0, 0, 0, 1}};

std::vector<float> CountedImage() {
  std::vector<float> image(kRows * kColumns);
  std::iota(image.begin(), image.end(), 1.0F);
  return image;
}

TEST(OneDnnPrimitivesTest, PaddingOfPools) {
  for (const PaddedWindows& windows : kPaddedWindows) {
    PrimitiveRequest request = windows.Request(PrimitiveKind::kPooling, PrimitiveAlgorithm::kMaximum);
    request.window = {2, 3};
    const std::vector<float> largest = windows.Expected(0, [](float a, float b) { return std::max(a, b); });
    EXPECT_EQ(RunOnOneChannel(request, CountedImage(), largest.size()), largest);
    request.algorithm = PrimitiveAlgorithm::kAverageIncludingPadding;
    std::vector<float> average = windows.Expected(0, [](float a, float b) { return a + b; });
    for (float& number : average) number /= 6;
    const std::vector<float> found = RunOnOneChannel(request, CountedImage(), average.size());
    ASSERT_EQ(found.size(), average.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], average[i], 1e-5) << i;
  }
}

TEST(OneDnnPrimitivesTest, PaddingOfConvolutions) {
  for (const PaddedWindows& windows : kPaddedWindows) {
    for (const bool has_bias : {false, true}) {
      PrimitiveRequest request = windows.Request(PrimitiveKind::kConvolution, PrimitiveAlgorithm::kDirect);
      request.weights = fast::memory::RowMajorFormat({1, 1, 2, 3});
      request.dilations = {0, 0};
      if (has_bias) request.bias = fast::memory::RowMajorFormat({1});
      const std::vector<float> expected =
          windows.Expected(has_bias ? 1 : 0, [](float a, float b) { return a + b; });
      EXPECT_EQ(RunOnOneChannel(request, CountedImage(), expected.size()), expected) << has_bias;
    }
  }
}

// A sum adds scale * (r - zero) to 16 ones, where r is 9.
TEST(OneDnnPrimitivesTest, ZeroPointsOfSums) {
  const tensor::ThreadScope scope(1);
  for (const int zero : {0, 1, 2, 5, 9}) {
    const BlockedFormat image = fast::memory::ChannelsLastFormat({1, 16, 1, 1}, StorageType::kU8);
    const PrimitiveRequest request{
        .kind = PrimitiveKind::kConvolution,
        .algorithm = PrimitiveAlgorithm::kDirect,
        .sources = {image},
        .weights = fast::memory::AnyFormat({16, 16, 1, 1}, StorageType::kS8),
        .result = image,
        .strides = {1, 1},
        .dilations = {0, 0},
        .before = {0, 0},
        .after = {0, 0},
        .posts = {{.kind = library::PrimitivePostOp::Kind::kSum, .scale = 2, .zero = zero}}};
    const auto primitive = LoadOneDnn()->Create(request);
    if (primitive == nullptr) GTEST_SKIP() << "oneDNN has no such sums here";
    const BlockedFormat weights = primitive->format({Role::kWeights});
    std::vector<uint8_t> ones(16, 1), result(16, 9), filter(weights.byte_size(), 1);
    std::vector<std::byte> scratch(primitive->scratch_bytes() + 64);
    const auto call = primitive->NewCall({{{Role::kSource}, image},
                                          {{Role::kWeights}, weights},
                                          {{Role::kResult}, image},
                                          {{Role::kScratch}, {}}});
    EXPECT_EQ(call->Run({ones.data(), filter.data(), result.data(), scratch.data()}), "");
    EXPECT_EQ(result, std::vector<uint8_t>(16, static_cast<uint8_t>(16 + 2 * (9 - zero)))) << zero;
  }
}

// The caller provides the scratch memory of a convolution by im2col, so that sessions can share it.
TEST(OneDnnPrimitivesTest, ScratchOfTheCaller) {
  const tensor::ThreadScope scope(1);
  const PrimitiveRequest request{.kind = PrimitiveKind::kConvolution,
                                 .algorithm = PrimitiveAlgorithm::kDirect,
                                 .sources = {fast::memory::RowMajorFormat({1, 3, 20, 20})},
                                 .weights = fast::memory::RowMajorFormat({5, 3, 3, 3}),
                                 .result = fast::memory::RowMajorFormat({1, 5, 18, 18}),
                                 .strides = {1, 1},
                                 .dilations = {0, 0},
                                 .before = {0, 0},
                                 .after = {0, 0}};
  const auto primitive = LoadOneDnn()->Create(request);
  ASSERT_NE(primitive, nullptr);
  EXPECT_TRUE(IsGemm(*primitive)) << primitive->implementation();
  EXPECT_GT(primitive->scratch_bytes(), 0) << primitive->implementation();
}

}  // namespace
}  // namespace nnefc::runtime::onednn
