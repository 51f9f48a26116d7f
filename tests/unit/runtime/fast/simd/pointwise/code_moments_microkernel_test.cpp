// Sums and normalization of quantized pixels against loops in 64 bits and f64.

#include "runtime/fast/simd/pointwise/code_moments_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class CodeMomentsTest : public SimdTest {};

// The last pixel ends with the array, or the first one begins with it.
TEST_P(CodeMomentsTest, SumsAreExact) {
  for (int64_t channels = 1; channels <= kBlockColumns; ++channels) {
    for (const int64_t pixels : {0, 1, 2, 7, 100}) {
      for (const int64_t more : {0, 5}) {
        const int64_t step = channels + more;
        const GuardedArray<uint8_t> codes =
            Draw<uint8_t>(std::max<int64_t>(0, (pixels - 1) * step + channels), 0, 255);
        GuardedArray<int64_t> values = Array<int64_t>(kBlockColumns, 3),
                              squares = Array<int64_t>(kBlockColumns, 5);
        Of(SumCodes)({.from = codes.data(), .step = step, .channels = channels, .pixels = pixels},
                     values.data(), squares.data());
        for (int64_t i = 0; i < channels; ++i) {
          int64_t sum = 3, of_squares = 5;
          for (int64_t pixel = 0; pixel < pixels; ++pixel) {
            const int64_t code = codes[pixel * step + i];
            sum += code;
            of_squares += code * code;
          }
          ASSERT_EQ(values[i], sum) << channels << " channels, " << pixels << " pixels";
          ASSERT_EQ(squares[i], of_squares) << channels << " channels, " << pixels << " pixels";
        }
      }
    }
  }
}

// Squares of the largest value, as many as fit.
TEST_P(CodeMomentsTest, LargestSums) {
  const GuardedArray<uint8_t> codes = Array<uint8_t>(kMaxSquaredPixels * kBlockColumns, 255);
  GuardedArray<int64_t> values = Array<int64_t>(kBlockColumns), squares = Array<int64_t>(kBlockColumns);
  Of(SumCodes)(
      {.from = codes.data(), .step = kBlockColumns, .channels = kBlockColumns, .pixels = kMaxSquaredPixels},
      values.data(), squares.data());
  for (int64_t i = 0; i < kBlockColumns; ++i) {
    EXPECT_EQ(values[i], kMaxSquaredPixels * 255);
    EXPECT_EQ(squares[i], kMaxSquaredPixels * 255 * 255);
  }
}

TEST_P(CodeMomentsTest, NormalizedPixels) {
  for (int64_t channels = 1; channels <= kBlockColumns; ++channels) {
    for (const int64_t pixels : {0, 1, 3, 20}) {
      const int64_t step = channels + 2;
      const GuardedArray<uint8_t> codes =
          Draw<uint8_t>(std::max<int64_t>(0, (pixels - 1) * step + channels), 0, 255);
      GuardedArray<float> mean = DrawIntegers(kBlockColumns), factor = DrawIntegers(kBlockColumns);
      // Channels that do not exist have no mean and factor.
      for (int64_t i = channels; i < kBlockColumns; ++i) mean[i] = factor[i] = 0;
      GuardedArray<float> out = Untouched(pixels * kBlockColumns);
      Of(NormalizeCodes)(
          {.pixels = {.from = codes.data(), .step = step, .channels = channels, .pixels = pixels},
           .mean = mean.data(),
           .factor = factor.data(),
           .out = out.data()});
      for (int64_t at = 0; at < out.size(); ++at) {
        const int64_t pixel = at / kBlockColumns, i = at % kBlockColumns;
        const float expected =
            i < channels ? (static_cast<float>(codes[pixel * step + i]) - mean[i]) * factor[i] : 0;
        ASSERT_EQ(out[at], expected) << channels << " channels, element " << at;
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(CodeMomentsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
