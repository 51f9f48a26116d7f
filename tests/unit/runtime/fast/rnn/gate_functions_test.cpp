// Functions of gates against those of f64.

#include "runtime/fast/rnn/gate_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace nnefc::runtime::fast::rnn {
namespace {

struct Functions {
  std::vector<float> tanh, sigmoid;
};

Functions FunctionsOf(const std::vector<float>& x) {
  Functions y = {std::vector<float>(x.size()), std::vector<float>(x.size())};
  simd::Vectorized([&] {
    for (size_t i = 0; i < x.size(); ++i) {
      const Fraction tanh = TanhFraction(x[i]), sigmoid = SigmoidFraction(x[i]);
      y.tanh[i] = tanh.above / tanh.below;
      y.sigmoid[i] = sigmoid.above / sigmoid.below;
    }
  });
  return y;
}

TEST(GateFunctionsTest, AgreeWithF64) {
  std::vector<float> x = {0.0f};
  for (float size = 1e-30f; size < 1e30f; size *= 1.003f) x.insert(x.end(), {size, -size});
  const Functions y = FunctionsOf(x);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y.tanh[i], std::tanh(static_cast<double>(x[i])), 5e-7) << "at " << x[i];
    ASSERT_NEAR(y.sigmoid[i], 1 / (1 + std::exp(-static_cast<double>(x[i]))), 5e-7) << "at " << x[i];
  }
}

// A cell that keeps its state keeps it to the last bit.
TEST(GateFunctionsTest, ExactAtTheirEnds) {
  for (float far : {18.1f, 100.0f, 1e12f, std::numeric_limits<float>::infinity()}) {
    const Functions y = FunctionsOf(std::vector<float>(19, far));
    const Functions z = FunctionsOf(std::vector<float>(19, -far));
    for (size_t i = 0; i < 19; ++i) {
      EXPECT_EQ(y.tanh[i], 1.0f);
      EXPECT_EQ(z.tanh[i], -1.0f);
      EXPECT_EQ(y.sigmoid[i], 1.0f);
      EXPECT_EQ(z.sigmoid[i], 0.0f);
    }
  }
}

// Beyond 9 the fraction is that of two ones; at 9 it is the quotient of polynomials.
TEST(GateFunctionsTest, FractionsAtTheBound) {
  for (const float sign : {1.0f, -1.0f}) {
    const float end = sign * 9.0f;
    float above, below;
    simd::TanhQuotient(end, above, below);
    EXPECT_NE(below, 1.0f);
    EXPECT_EQ(TanhFraction(end).above, above);
    EXPECT_EQ(TanhFraction(end).below, below);
    const float beyond = std::nextafter(end, sign * 10.0f);
    EXPECT_EQ(TanhFraction(beyond).above, sign);
    EXPECT_EQ(TanhFraction(beyond).below, 1.0f);
  }
}

TEST(GateFunctionsTest, NanStays) {
  const Functions y = FunctionsOf(std::vector<float>(19, std::numeric_limits<float>::quiet_NaN()));
  for (size_t i = 0; i < 19; ++i) {
    EXPECT_TRUE(std::isnan(y.tanh[i]));
    EXPECT_TRUE(std::isnan(y.sigmoid[i]));
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::rnn
