// Arithmetic of single quantized values, computed by hand from tract's formulas.

#include "compiler/lower/arithmetic/quantized_type.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace nnefc::lower {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

QuantizedType Unsigned(float scale, int32_t zero_point) {
  return {.is_signed = false, .scales = {scale}, .zero_points = {zero_point}};
}
QuantizedType Signed(float scale, int32_t zero_point) {
  return {.is_signed = true, .scales = {scale}, .zero_points = {zero_point}};
}

TEST(QuantizedType, HalvesGoToTheEvenValueAfterTheZeroPoint) {
  EXPECT_EQ(QuantizeNumber(0.25F, Unsigned(0.5F, 0)), 0);
  EXPECT_EQ(QuantizeNumber(0.75F, Unsigned(0.5F, 0)), 2);
  EXPECT_EQ(QuantizeNumber(0.25F, Unsigned(0.5F, 1)), 2);
  EXPECT_EQ(QuantizeNumber(-0.25F, Unsigned(0.5F, 3)), 2);
}

TEST(QuantizedType, NumbersBeyondTheRangeSaturate) {
  EXPECT_EQ(QuantizeNumber(127.0F, Unsigned(0.5F, 1)), 255);
  EXPECT_EQ(QuantizeNumber(128.0F, Unsigned(0.5F, 1)), 255);
  EXPECT_EQ(QuantizeNumber(kInfinity, Unsigned(0.5F, 1)), 255);
  EXPECT_EQ(QuantizeNumber(-kInfinity, Unsigned(0.5F, 1)), 0);
  EXPECT_EQ(QuantizeNumber(64.0F, Signed(0.5F, 0)), 127);
  EXPECT_EQ(QuantizeNumber(-64.0F, Signed(0.5F, 0)), -128);
  EXPECT_EQ(QuantizeNumber(-64.5F, Signed(0.5F, 0)), -128);
}

TEST(QuantizedType, NanBecomesTheQuantizedValueZero) {
  EXPECT_EQ(QuantizeNumber(kNan, Unsigned(0.5F, 10)), 0);
  EXPECT_EQ(QuantizeNumber(kNan, Signed(0.5F, 10)), 0);
  EXPECT_EQ(QuantizeNumber(-kNan, Signed(0.5F, -10)), 0);
  const auto nan = [](float) { return kNan; };
  EXPECT_EQ(ApplyFunction(nan, 3, Unsigned(1.0F, 0), Unsigned(1.0F, 10)), 0);
}

// A quotient is an integer of 32 bits before the zero point is added, and the sum wraps around.
TEST(QuantizedType, DivisionsByZero) {
  const auto divide = [](int32_t x, int32_t y, const QuantizedType& to) {
    const QuantizedType type = Unsigned(0.5F, 10);
    return ApplyBinary(QuantizedBinary::kDiv, {x, type}, {y, type}, to);
  };
  for (const int32_t zero_point : {0, 1, 50, 255}) {
    const QuantizedType to = Unsigned(0.25F, zero_point);
    EXPECT_EQ(divide(11, 10, to), zero_point == 0 ? 255 : 0) << zero_point;
    EXPECT_EQ(divide(9, 10, to), 0) << zero_point;
    EXPECT_EQ(divide(10, 10, to), zero_point);
    EXPECT_EQ(divide(11, 11, to), std::min(zero_point + 4, 255));
  }
  const QuantizedType type = Signed(0.5F, 10);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kDiv, {11, type}, {10, type}, type), 127);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kDiv, {9, type}, {10, type}, type), -128);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kDiv, {10, type}, {10, type}, type), 0);
}

TEST(QuantizedType, AnotherTypeOfTheSameSignRoundsBeforeTheZeroPoint) {
  EXPECT_EQ(Requantize(3, Unsigned(0.5F, 0), Unsigned(1.0F, 1)), 3);  // 1.5 -> 2
  EXPECT_EQ(Requantize(1, Unsigned(0.5F, 0), Unsigned(1.0F, 1)), 1);  // 0.5 -> 0
  EXPECT_EQ(Requantize(0, Unsigned(0.5F, 3), Unsigned(1.0F, 9)), 7);  // -1.5 -> -2
  EXPECT_EQ(Requantize(255, Unsigned(1.0F, 0), Unsigned(0.5F, 0)), 255);
}

TEST(QuantizedType, AnotherSignRoundsAfterTheZeroPoint) {
  EXPECT_EQ(Requantize(1, Unsigned(0.5F, 0), Signed(1.0F, 1)), 2);  // 0.5 + 1 -> 2
  EXPECT_EQ(Requantize(-128, Signed(1.0F, 0), Unsigned(1.0F, 0)), 0);
}

TEST(QuantizedType, FunctionsCutOff) {
  const auto half = [](float x) { return x / 2; };
  EXPECT_EQ(ApplyFunction(half, 3, Unsigned(1.0F, 0), Unsigned(1.0F, 0)), 1);
  EXPECT_EQ(ApplyFunction(half, 0, Unsigned(1.0F, 3), Unsigned(1.0F, 0)), 0);
  EXPECT_EQ(ApplyFunction(half, 0, Unsigned(1.0F, 3), Signed(1.0F, 0)), -1);
}

TEST(QuantizedType, BinaryOperationsScaleAndRoundTowardBothSidesAlike) {
  const QuantizedType one = Unsigned(1.0F, 128), two = Unsigned(2.0F, 128);
  const auto apply = [&](QuantizedBinary operation, int32_t x, int32_t y) {
    return ApplyBinary(operation, {x, one}, {y, one}, two);
  };
  EXPECT_EQ(apply(QuantizedBinary::kAdd, 131, 130), 130);  // 5 / 2 -> 2
  EXPECT_EQ(apply(QuantizedBinary::kAdd, 125, 126), 126);  // -5 / 2 -> -2
  EXPECT_EQ(apply(QuantizedBinary::kSub, 131, 130), 128);  // 1 / 2 -> 0
  EXPECT_EQ(apply(QuantizedBinary::kMul, 131, 129), 130);  // 3 / 2 -> 2
  EXPECT_EQ(apply(QuantizedBinary::kMul, 255, 255), 255);
  EXPECT_EQ(apply(QuantizedBinary::kDiv, 134, 130), 130);  // 3 / 2 -> 2
  EXPECT_EQ(apply(QuantizedBinary::kMax, 134, 130), 131);
  EXPECT_EQ(apply(QuantizedBinary::kMin, 134, 130), 129);
}

// A type of another sign, of either operand or of the result, is computed in real numbers and rounded once:
// the real result is 2.5, and the zero point is odd, so that its half is rounded to another value than after
// the zero point.
TEST(QuantizedType, OneSignedTypeIsEnoughForRealNumbers) {
  for (const bool first : {false, true}) {
    for (const bool second : {false, true}) {
      for (const bool result : {false, true}) {
        const auto type = [](bool is_signed, float scale, int32_t zero_point) {
          return is_signed ? Signed(scale, zero_point) : Unsigned(scale, zero_point);
        };
        const int32_t found = ApplyBinary(QuantizedBinary::kMul, {5, type(first, 1.0F, 0)},
                                          {1, type(second, 0.5F, 0)}, type(result, 1.0F, 1));
        EXPECT_EQ(found, first || second || result ? 4 : 3) << first << second << result;
      }
    }
  }
}

// tract converts a constant bound to the other operand's type before it compares.
TEST(QuantizedType, BoundsTakeTheTypeOfWhatTheyBound) {
  const QuantizedType fine = Unsigned(0.5F, 10), coarse = Unsigned(1.0F, 0);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {5, fine}, {10, fine, true}, fine), 10);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {10, fine, true}, {14, fine}, fine), 14);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {0, fine}, {3, coarse, true}, fine), 16);
  // 0.7 is one step of 0.5, and then 5 steps of 0.1; other values are 7 steps of 0.1.
  const QuantizedType half = Unsigned(0.5F, 0), other = Unsigned(0.7F, 0), tenth = Unsigned(0.1F, 0);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {0, half}, {1, other, true}, tenth), 5);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {1, other, true}, {0, half}, tenth), 5);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {0, half}, {1, other}, tenth), 7);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {1, other}, {0, half}, tenth), 7);
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMin, {4, half}, {1, other, true}, tenth), 7);
  // Of two bounds, the first has the type.
  EXPECT_EQ(ApplyBinary(QuantizedBinary::kMax, {0, half, true}, {1, other, true}, tenth), 5);
}

}  // namespace
}  // namespace nnefc::lower
