// The fixture of the tests of microkernels: each instruction set, inputs and outputs of exact size at guard
// pages, comparisons with references in f64.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/limits.h"
#include "runtime/fast/simd/pointwise/per_channel_microkernel.h"
#include "runtime/fast/simd/processor_support.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast::simd {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kDenormal = std::numeric_limits<float>::denorm_min();
inline constexpr float kLargest = std::numeric_limits<float>::max();
inline constexpr std::array<float, 14> kSpecialNumbers = {
    0.0F,      -0.0F,      1.0F,   -1.0F,   kNan,     kInfinity, -kInfinity,
    kDenormal, -kDenormal, 1e-39F, -1e-39F, kLargest, -kLargest, 0x1p-126F};

// The value of elements of an output that a kernel must not write.
inline constexpr float kUntouched = 77.25F;

struct SimdCase {
  size_t set;  // in kInstructionSets
  GuardedEdge edge;
};

class SimdTest : public ::testing::TestWithParam<SimdCase> {
 protected:
  void SetUp() override {
    if (!Of(IsSupported)()) GTEST_SKIP() << "the processor has no vectors of " << 32 * lanes() << " bits";
  }

  const InstructionSet& set() const { return kInstructionSets[GetParam().set]; }
  GuardedEdge edge() const { return GetParam().edge; }
  int64_t lanes() const { return set().width; }
  int64_t tile_rows() const { return set().tile_rows; }

  // The kernel for the instruction set of this test.
  template <typename Function>
  Function* Of(const SimdFunction<Function>& function) const {
    return function.versions[GetParam().set];
  }

  // Whether the compiler makes one rounding of a product and a sum, as builds with optimization do. Quotients
  // that are corrected by the remainder are rounded once only then.
  bool FusesProducts() const {
    const GuardedArray<float> x = Array(kBlockColumns, 1 + 0x1p-12F), mean = Array(kBlockColumns),
                              shift = Array(kBlockColumns, -1 - 0x1p-11F);
    GuardedArray<float> out = Array(kBlockColumns);
    Of(NormalizeChannels)({.x = x.data(),
                           .mean = mean.data(),
                           .factor = x.data(),
                           .shift = shift.data(),
                           .pixels = 1,
                           .out = out.data()});
    return out[0] == 0x1p-24F;
  }

  template <typename Number = float>
  GuardedArray<Number> Array(int64_t size, Number value = {}) const {
    return GuardedArray<Number>(size, edge(), value);
  }
  GuardedArray<float> Untouched(int64_t size) const { return Array<float>(size, kUntouched); }

  int DrawOne(int min, int max) { return std::uniform_int_distribution<int>(min, max)(random_); }
  // Integers in [min, max].
  template <typename Number = float>
  GuardedArray<Number> Draw(int64_t size, int min, int max) {
    GuardedArray<Number> numbers = Array<Number>(size);
    std::uniform_int_distribution<int> uniform(min, max);
    for (Number& number : numbers) number = static_cast<Number>(uniform(random_));
    return numbers;
  }
  // Integers whose products, and sums of thousands of products, f32 represents exactly in any order, so that
  // the expected results have no tolerance.
  GuardedArray<float> DrawIntegers(int64_t size) { return Draw(size, -9, 9); }
  // In [-1, 1).
  GuardedArray<float> DrawReals(int64_t size) {
    GuardedArray<float> numbers = Array(size);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& number : numbers) number = uniform(random_);
    return numbers;
  }
  // kSpecialNumbers in a random order, some of them several times.
  GuardedArray<float> DrawSpecials(int64_t size) {
    GuardedArray<float> numbers = Array(size);
    for (float& number : numbers)
      number = kSpecialNumbers[static_cast<size_t>(DrawOne(0, static_cast<int>(kSpecialNumbers.size()) - 1))];
    return numbers;
  }

 private:
  std::mt19937 random_{7};
};

inline ::testing::AssertionResult Differs(float actual, double expected) {
  return ::testing::AssertionFailure() << actual << ", expected " << expected;
}

// Passes if `actual` is `expected` rounded to f32, the sign of a zero included, or both are NaN.
inline ::testing::AssertionResult IsSame(float actual, double expected) {
  const auto rounded = static_cast<float>(expected);
  const bool is_same = std::isnan(expected)
                           ? std::isnan(actual)
                           : actual == rounded && std::signbit(actual) == std::signbit(rounded);
  return is_same ? ::testing::AssertionSuccess() : Differs(actual, expected);
}

// Passes if `actual` is at most `tolerance` from `expected`, or both are the same infinity or NaN.
inline ::testing::AssertionResult IsNear(float actual, double expected, double tolerance) {
  const auto rounded = static_cast<float>(expected);
  if (std::isnan(expected) || std::isinf(rounded)) return IsSame(actual, expected);
  return std::abs(actual - expected) <= tolerance ? ::testing::AssertionSuccess() : Differs(actual, expected);
}

// Each limit alone, both and neither.
inline std::vector<Limits> AllLimits(float least, float most) {
  return {{},
          {.has_max = true, .max = most},
          {.has_min = true, .min = least},
          {.has_max = true, .has_min = true, .max = most, .min = least}};
}

// Returns `x` limited in f64: the smaller of `x` and `most`, or `most` for NaN, then likewise the larger.
inline double Limited(const Limits& limits, double x) {
  const double below = !limits.has_max || x < limits.max ? x : limits.max;
  return !limits.has_min || below > limits.min ? below : limits.min;
}

// The largest relative error of one rounding to f32.
inline constexpr double kRounding = 0x1p-24;

inline std::vector<SimdCase> SimdCases() {
  std::vector<SimdCase> cases;
  for (size_t set = 0; set < kInstructionSetCount; ++set) {
    for (GuardedEdge edge : {GuardedEdge::kBegin, GuardedEdge::kEnd}) cases.push_back({set, edge});
  }
  return cases;
}

inline std::string SimdCaseName(const ::testing::TestParamInfo<SimdCase>& info) {
  return "Width" + std::to_string(kInstructionSets[info.param.set].width) +
         std::string(info.param.edge == GuardedEdge::kBegin ? "GuardedBegin" : "GuardedEnd");
}

// Runs the tests of a class derived from SimdTest for each instruction set and guarded edge.
#define NNEFC_INSTANTIATE_LANE_TESTS(suite) \
  INSTANTIATE_TEST_SUITE_P(UnalignedFloatVector, suite, ::testing::ValuesIn(SimdCases()), SimdCaseName)

}  // namespace nnefc::runtime::fast::simd
