#include "runtime/fast/simd/loop_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/fast/simd/limits.h"

namespace nnefc::runtime::fast::simd {
namespace {

// Values of both signs from tiny to huge, as many as fill no vector.
std::vector<float> Arguments(float largest) {
  std::vector<float> values = {0.0f, -0.0f};
  for (float x = 1e-30f; x < largest; x *= 1.01f) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

// The function over all arguments in vectors, as kernels call it, against
// f64: |a - b| <= tolerance * |b|.
template <typename Function, typename Exact>
void ExpectAccurate(const Function& function, const Exact& exact, float largest, double tolerance) {
  const std::vector<float> x = Arguments(largest);
  std::vector<float> y(x.size());
  Vectorized([&] {
    for (size_t i = 0; i < x.size(); ++i) y[i] = function(x[i]);
  });
  for (size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(static_cast<double>(x[i]));
    ASSERT_NEAR(y[i], expected, tolerance * std::abs(expected) + 1e-38) << "at " << x[i];
  }
}

TEST(VectorMathTest, AgreesWithF64) {
  ExpectAccurate([](float x) { return VectorExp(x); }, [](double x) { return std::exp(x); }, 87, 1e-6);
  ExpectAccurate([](float x) { return VectorExpOfAll(x); }, [](double x) { return std::exp(x); }, 88, 1e-6);
  ExpectAccurate([](float x) { return VectorSigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
                 80, 1e-6);
  ExpectAccurate([](float x) { return VectorTanh(x); }, [](double x) { return std::tanh(x); }, 1e30f, 1e-6);
  ExpectAccurate([](float x) { return VectorErf(x); }, [](double x) { return std::erf(x); }, 1e30f, 1e-6);
}

TEST(VectorMathTest, FarOut) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(VectorSigmoid(kInfinity), 1.0f);
  EXPECT_LT(VectorSigmoid(-kInfinity), 1e-37f);
  EXPECT_NEAR(VectorTanh(-kInfinity), -1, 1e-6);
  EXPECT_GT(VectorExp(kInfinity), 1e38f);
  EXPECT_EQ(VectorExp(-kInfinity), 0.0f);
  EXPECT_EQ(VectorExpOfAll(kInfinity), kInfinity);
  EXPECT_EQ(VectorExpOfAll(-kInfinity), 0.0f);
  // Denormal results are the nearest; the largest argument of a finite one.
  for (float x : {-87.5f, -90.0f, -100.0f, -103.0f, 88.7f, 88.722f})
    EXPECT_NEAR(VectorExpOfAll(x), std::exp(x), 2e-6 * std::exp(x) + 2e-45) << x;
  EXPECT_EQ(VectorExpOfAll(88.8f), kInfinity);
  for (auto* function : {VectorExp, VectorExpOfAll, VectorSigmoid, VectorTanh, VectorErf})
    EXPECT_TRUE(std::isnan(function(std::numeric_limits<float>::quiet_NaN())));
}

// VectorExp has normal results down to -87.3, zero below, and the result of 88.3 above that.
TEST(VectorMathTest, LimitsOfExp) {
  const float low = -87.3f, high = 88.3f;
  EXPECT_NEAR(VectorExp(low), std::exp(low), 1e-6 * std::exp(low));
  EXPECT_GT(VectorExp(low), 0.0f);
  EXPECT_EQ(VectorExp(std::nextafter(low, -100.0f)), 0.0f);
  EXPECT_NEAR(VectorExp(high), std::exp(high), 1e-6 * std::exp(high));
  EXPECT_EQ(VectorExp(std::nextafter(high, 100.0f)), VectorExp(high));
}

// A number that equals the limit of a clamp stays, with the sign of its zero; Limits replace it by the limit.
TEST(VectorMathTest, SignsOfZerosAtLimits) {
  for (const float zero : {0.0f, -0.0f}) {
    EXPECT_EQ(std::signbit(VectorClamp(zero, -zero, 1)), std::signbit(zero));
    EXPECT_EQ(std::signbit(VectorClamp(zero, -1, -zero)), std::signbit(zero));
    EXPECT_EQ(std::signbit(Limits{.has_min = true, .min = -zero}.Of(zero)), std::signbit(-zero));
    EXPECT_EQ(std::signbit(Limits{.has_max = true, .max = -zero}.Of(zero)), std::signbit(-zero));
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::simd
