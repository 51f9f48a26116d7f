// Quantized results after functions of accumulators, against formulas in f64.

#include "runtime/fast/simd/int8/quantized_results_microkernel.h"

#include <algorithm>
#include <cmath>

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class QuantizedResultsTest : public SimdTest {
 protected:
  static constexpr int64_t kGap = 3;  // between the channels of pixels
  static constexpr uint8_t kOther = 77;

  // The destination of results, and the parameters by channel: powers of two, so that products are exact.
  struct Destination {
    GuardedArray<float> factors, offsets;
    GuardedArray<uint8_t> out;
    QuantizedResults call;
  };
  Destination To(int64_t pixels, int64_t channels) {
    const int64_t stride = channels + kGap;
    Destination to{Array(kBlockColumns),
                   Draw(kBlockColumns, 0, 255),
                   Array<uint8_t>(pixels == 0 ? 0 : (pixels - 1) * stride + channels, kOther),
                   {}};
    for (int64_t c = 0; c < kBlockColumns; ++c) to.factors[c] = c % 2 == 0 ? 0.5F : 4.0F;
    to.call = {pixels, channels, to.factors.data(), to.offsets.data(), to.out.data(), stride};
    return to;
  }

  // Compares the results with `number(pixel, channel)`; `tolerance` in quantized values excludes those nearly
  // halfway between two.
  template <typename Number>
  static void Check(const Destination& to, double tolerance, const Number& number) {
    for (int64_t at = 0; at < to.out.size(); ++at) {
      const int64_t pixel = at / to.call.stride, c = at % to.call.stride;
      if (c >= to.call.channels) {
        ASSERT_EQ(to.out[at], kOther);
        continue;
      }
      const double x = number(pixel, c) * double{to.factors[c]} + double{to.offsets[c]};
      const double code = std::isnan(x) ? 0 : std::clamp(std::nearbyint(x), 0.0, 255.0);
      const bool is_tie = std::abs(std::abs(x - std::trunc(x)) - 0.5) < tolerance;
      ASSERT_LE(std::abs(to.out[at] - code), is_tie ? 1 : 0) << x << ", pixel " << pixel << ", channel " << c;
    }
  }
};

TEST_P(QuantizedResultsTest, Blocks) {
  for (int64_t pixels : {0, 1, 2, 5}) {
    for (int64_t channels = 1; channels <= kBlockColumns; ++channels) {
      const Destination to = To(pixels, channels);
      GuardedArray<float> numbers = Draw(pixels * kBlockColumns, -300, 300);
      for (float& one : numbers) one /= 8;  // also ties
      Of(StoreQuantizedBlock)(numbers.data(), to.call);
      Check(to, 0, [&](int64_t pixel, int64_t c) { return double{numbers[pixel * kBlockColumns + c]}; });
    }
  }
}

TEST_P(QuantizedResultsTest, InfinitiesAndNan) {
  const Destination to = To(9, kBlockColumns);
  const GuardedArray<float> numbers = DrawSpecials(9 * kBlockColumns);
  Of(StoreQuantizedBlock)(numbers.data(), to.call);
  Check(to, 0, [&](int64_t pixel, int64_t c) { return double{numbers[pixel * kBlockColumns + c]}; });
}

TEST_P(QuantizedResultsTest, FunctionsOfSums) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (EpilogueFunction function :
       {EpilogueFunction::kLinear, EpilogueFunction::kPRelu, EpilogueFunction::kRelu,
        EpilogueFunction::kHSwish, EpilogueFunction::kSwish, EpilogueFunction::kTanh}) {
    for (int limits = 0; limits < 4; ++limits) {
      for (bool has_bias : {false, true}) {
        for (int64_t channels : {int64_t{1}, int64_t{7}, int64_t{15}, kBlockColumns}) {
          constexpr int64_t kPixels = 6;
          const Destination to = To(kPixels, channels);
          const GuardedArray<int32_t> sums = Draw<int32_t>(kPixels * kBlockColumns, -9000, 9000);
          const GuardedArray<float> scales = Array(kBlockColumns, 0x1p-10F),
                                    bias = DrawIntegers(kBlockColumns), slopes = DrawReals(kBlockColumns);
          const ActivatedSums call{
              .sums = sums.data(),
              .scales = scales.data(),
              .bias = has_bias ? bias.data() : nullptr,
              .limits = {.has_max = limits / 2 != 0, .has_min = limits % 2 != 0, .max = 5, .min = -3},
              .function = function,
              .operand = slopes.data(),
              .alpha = function == EpilogueFunction::kRelu ? 0.25F : 1.0F,
              .beta = 0};
          Of(StoreActivatedSums)(call, to.call);
          Check(to, 1e-3, [&](int64_t pixel, int64_t c) {
            double x = sums[pixel * kBlockColumns + c] * 0x1p-10 + (has_bias ? double{bias[c]} : 0.0);
            if (call.limits.has_max) x = std::min(x, 5.0);
            if (call.limits.has_min) x = std::max(x, -3.0);
            switch (function) {
              case EpilogueFunction::kPRelu:
                return x < 0 ? x * double{slopes[c]} : x;
              case EpilogueFunction::kRelu:
                return x < 0 ? x / 4 : x;
              case EpilogueFunction::kHSwish:
                return x * std::clamp(x + 3, 0.0, 6.0) / 6;
              case EpilogueFunction::kSwish:
                return x * sigmoid(x);
              case EpilogueFunction::kTanh:
                return std::tanh(x);
              default:
                return x;
            }
          });
        }
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(QuantizedResultsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
