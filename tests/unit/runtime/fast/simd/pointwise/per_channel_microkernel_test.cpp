// Per-channel functions of pixels against scalar loops.

#include "runtime/fast/simd/pointwise/per_channel_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

using ChannelNumbersTest = SimdTest;

// One operation of f32, rounded once.
float ChannelResult(ChannelFunction function, float x, float number) {
  switch (function) {
    case ChannelFunction::kMultiply:
      return x * number;
    case ChannelFunction::kAdd:
      return x + number;
    case ChannelFunction::kSubtract:
      return x - number;
    case ChannelFunction::kSubtractFrom:
      return number - x;
    case ChannelFunction::kDivide:
      return x / number;
    case ChannelFunction::kPRelu:
      return x < 0 ? x * number : x;
  }
  return kNan;
}

TEST_P(ChannelNumbersTest, FunctionsAreThoseOfF32) {
  for (int function = 0; function <= static_cast<int>(ChannelFunction::kPRelu); ++function) {
    const auto channel_function = static_cast<ChannelFunction>(function);
    for (const Limits& limits : AllLimits(-1.5F, 0.75F)) {
      for (int64_t pixels : {0, 1, 2, 3, 17}) {
        for (bool is_special : {false, true}) {
          const int64_t size = pixels * kBlockColumns;
          const GuardedArray<float> x = is_special ? DrawSpecials(size) : DrawReals(size);
          const GuardedArray<float> numbers =
              is_special ? DrawSpecials(kBlockColumns) : DrawReals(kBlockColumns);
          GuardedArray<float> out = Untouched(size);
          Of(ApplyPerChannel)(channel_function, {.x = x.data(),
                                                 .numbers = numbers.data(),
                                                 .pixels = pixels,
                                                 .limits = limits,
                                                 .out = out.data()});
          for (int64_t i = 0; i < size; ++i) {
            const float result = ChannelResult(channel_function, x[i], numbers[i % kBlockColumns]);
            ASSERT_TRUE(IsSame(out[i], Limited(limits, result)))
                << "function " << function << ", x " << x[i] << ", number " << numbers[i % kBlockColumns];
          }
        }
      }
    }
  }
}

// The results may replace the pixels.
TEST_P(ChannelNumbersTest, InPlace) {
  GuardedArray<float> x = DrawReals(3 * kBlockColumns);
  const std::vector<float> before(x.begin(), x.end());
  const GuardedArray<float> numbers = DrawReals(kBlockColumns);
  Of(ApplyPerChannel)(ChannelFunction::kSubtractFrom,
                      {.x = x.data(), .numbers = numbers.data(), .pixels = 3, .out = x.data()});
  for (int64_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(IsSame(x[i], numbers[i % kBlockColumns] - before[static_cast<size_t>(i)]));
}

// Integers: each step is exact, whether or not the product and the sum are rounded together.
TEST_P(ChannelNumbersTest, NormalizedPixels) {
  for (const Limits& limits : AllLimits(-20, 35)) {
    for (int64_t pixels : {0, 1, 2, 5}) {
      const int64_t size = pixels * kBlockColumns;
      const GuardedArray<float> x = DrawIntegers(size), mean = DrawIntegers(kBlockColumns),
                                factor = DrawIntegers(kBlockColumns), shift = DrawIntegers(kBlockColumns);
      GuardedArray<float> out = Untouched(size);
      Of(NormalizeChannels)({.x = x.data(),
                             .mean = mean.data(),
                             .factor = factor.data(),
                             .shift = shift.data(),
                             .pixels = pixels,
                             .limits = limits,
                             .out = out.data()});
      for (int64_t i = 0; i < size; ++i) {
        const int64_t c = i % kBlockColumns;
        ASSERT_EQ(out[i], Limited(limits, (double{x[i]} - mean[c]) * factor[c] + shift[c])) << i;
      }
    }
  }
}

TEST_P(ChannelNumbersTest, NormalizedSpecials) {
  constexpr int64_t kPixels = 20;
  const GuardedArray<float> x = DrawSpecials(kPixels * kBlockColumns), mean = Array(kBlockColumns, 0.5F),
                            factor = Array(kBlockColumns, 2.0F), shift = DrawSpecials(kBlockColumns);
  GuardedArray<float> out = Untouched(x.size());
  Of(NormalizeChannels)({.x = x.data(),
                         .mean = mean.data(),
                         .factor = factor.data(),
                         .shift = shift.data(),
                         .pixels = kPixels,
                         .out = out.data()});
  for (int64_t i = 0; i < out.size(); ++i) {
    const double distance = static_cast<float>(double{x[i]} - 0.5);
    // Rounded with the sum or before it: a product of the largest numbers exceeds f32 only before.
    if (std::abs(x[i]) == kLargest && (std::isfinite(shift[i % kBlockColumns]) || !FusesProducts())) continue;
    ASSERT_TRUE(IsNear(out[i], distance * 2 + shift[i % kBlockColumns], 1e-6)) << x[i];
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(ChannelNumbersTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
