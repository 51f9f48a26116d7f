// Sums over the pixels of blocked images against loops in f64.

#include "runtime/fast/simd/pointwise/channel_sums_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class PixelSumsTest : public SimdTest {
 protected:
  static constexpr double kUnderflow = 1e-45;  // squares of denormal numbers are 0

  // `tolerance`: of a sum of `pixels` terms, relative to the sum of their magnitudes.
  void Check(const GuardedArray<float>& x, const GuardedArray<float>& from, double tolerance) {
    const int64_t pixels = x.size() / kBlockColumns;
    for (bool is_squared : {false, true}) {
      GuardedArray<float> sums = Untouched(kBlockColumns);
      Of(is_squared ? SumSquaredDeviations : SumDeviations)(
          {.x = x.data(), .from = from.data(), .pixels = pixels}, sums.data());
      for (int64_t c = 0; c < kBlockColumns; ++c) {
        double sum = 0, magnitude = 0;
        for (int64_t pixel = 0; pixel < pixels; ++pixel) {
          const double distance = double{x[pixel * kBlockColumns + c]} - from[c];
          const double term = is_squared ? distance * distance : distance;
          sum += term;
          magnitude += std::abs(term);
        }
        ASSERT_TRUE(IsNear(sums[c], sum, tolerance * magnitude + kUnderflow))
            << pixels << " pixels, channel " << c;
      }
    }
  }
};

TEST_P(PixelSumsTest, EachNumberOfPixels) {
  for (int64_t pixels : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 100}) {
    Check(DrawIntegers(pixels * kBlockColumns), DrawIntegers(kBlockColumns), 0);
    // As many roundings as there are terms, and three of each.
    Check(DrawReals(pixels * kBlockColumns), DrawReals(kBlockColumns),
          (static_cast<double>(pixels) + 3) * kRounding);
  }
}

TEST_P(PixelSumsTest, Specials) {
  for (int64_t pixels : {1, 4, 7}) {
    for (float special : {kNan, kInfinity, -kInfinity, kDenormal, -0.0F}) {
      for (int64_t pixel = 0; pixel < pixels; ++pixel) {
        GuardedArray<float> x = Array(pixels * kBlockColumns);
        x[pixel * kBlockColumns + pixel] = special;
        Check(x, Array(kBlockColumns), 0);
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(PixelSumsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
