// Functions of the elements of a tile against their formulas in f64.

#include "runtime/fast/simd/gemm/epilogue_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

double SigmoidOf(double x) {
  return 1 / (1 + std::exp(-x));
}

// The formula of the function, of which `y` is the operand.
double TileFunctionOf(EpilogueFunction function, double x, double y, double alpha, double beta) {
  switch (function) {
    case EpilogueFunction::kAdd:
      return x + y;
    case EpilogueFunction::kMultiply:
      return x * y;
    case EpilogueFunction::kPRelu:
      return x < 0 ? x * y : x;
    case EpilogueFunction::kLinear:
      return alpha * x + beta;
    case EpilogueFunction::kRelu:
      return x > 0 ? x : alpha * x;
    case EpilogueFunction::kLowerBound:
      return x > alpha ? x : alpha;
    case EpilogueFunction::kUpperBound:
      return x < alpha ? x : alpha;
    case EpilogueFunction::kSigmoid:
      return SigmoidOf(x);
    case EpilogueFunction::kSwish:
      return x * SigmoidOf(alpha * x);
    case EpilogueFunction::kHSwish:
      return std::isnan(x) ? x : x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case EpilogueFunction::kGelu:
      return x * (1 + std::erf(x / std::sqrt(2.0))) / 2;
    case EpilogueFunction::kGeluTanh:
      return x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x))) / 2;
    case EpilogueFunction::kTanh:
      return std::tanh(x);
    case EpilogueFunction::kElu:
      return x > 0 ? x : alpha * std::expm1(x);
    case EpilogueFunction::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case EpilogueFunction::kSoftPlus:
      return x > 30 ? x : std::log1p(std::exp(x));
  }
  return kNan;
}

constexpr int kTileFunctions = static_cast<int>(EpilogueFunction::kSoftPlus) + 1;

bool HasOperand(EpilogueFunction function) {
  return function <= EpilogueFunction::kPRelu;
}
// Functions that are one operation or two of f32; others are series.
bool IsArithmetic(EpilogueFunction function) {
  return function <= EpilogueFunction::kUpperBound || function == EpilogueFunction::kHSwish;
}

class TileFunctionsTest : public SimdTest {
 protected:
  struct Case {
    EpilogueFunction function = EpilogueFunction::kAdd;
    int64_t rows = 1, blocks = 1;
    bool is_blocked = false, is_by_column = false;
    float alpha = 0.5F, beta = 0.25F;
  };

  // Runs the function on a tile of `x`, in the order of rows, and calls check(x, operand, result) for each.
  template <typename CheckResult>
  void Run(const Case& given, const GuardedArray<float>& x, const GuardedArray<float>& operand,
           const CheckResult& check) {
    const int64_t columns = given.blocks * kBlockColumns;
    const int64_t row_stride = given.is_blocked ? kBlockColumns : columns + 3;
    const int64_t block_stride = given.is_blocked ? given.rows * kBlockColumns + 2 : kBlockColumns;
    const auto place = [&](int64_t i) {
      const int64_t column = i % columns;
      return i / columns * row_stride + column / kBlockColumns * block_stride + column % kBlockColumns;
    };
    const int64_t size = x.size() == 0 ? 0 : place(x.size() - 1) + 1;
    GuardedArray<float> out = Untouched(size), own_operand = Untouched(given.is_by_column ? columns : size);
    std::vector<bool> is_written(static_cast<size_t>(size));
    for (int64_t i = 0; i < x.size(); ++i) {
      out[place(i)] = x[i];
      own_operand[given.is_by_column ? i % columns : place(i)] =
          operand[given.is_by_column ? i % columns : i];
      is_written[static_cast<size_t>(place(i))] = true;
    }
    const BlockedMatrix<float> matrix = {out.data(), row_stride, block_stride};
    BlockedMatrix<const float> of_operand = {out.data(), row_stride, block_stride};
    if (HasOperand(given.function))
      of_operand = {own_operand.data(), given.is_by_column ? 0 : row_stride,
                    given.is_by_column ? kBlockColumns : block_stride};
    Of(ApplyEpilogue)(given.function, {.out = matrix,
                                       .rows = given.rows,
                                       .blocks = given.blocks,
                                       .operand = of_operand,
                                       .alpha = given.alpha,
                                       .beta = given.beta});
    for (int64_t at = 0; at < size; ++at) {
      if (is_written[static_cast<size_t>(at)]) continue;
      ASSERT_EQ(out[at], kUntouched) << at;
    }
    for (int64_t i = 0; i < x.size(); ++i)
      check(x[i], operand[given.is_by_column ? i % columns : i], out[place(i)]);
  }
};

TEST_P(TileFunctionsTest, EachElementOnce) {
  for (int function = 0; function < kTileFunctions; ++function) {
    for (int64_t rows : {0, 1, 2, 5}) {
      for (int64_t blocks : {0, 1, 2, 3}) {
        for (bool is_blocked : {false, true}) {
          for (bool is_by_column : {false, true}) {
            const Case given{.function = static_cast<EpilogueFunction>(function),
                             .rows = rows,
                             .blocks = blocks,
                             .is_blocked = is_blocked,
                             .is_by_column = is_by_column};
            const int64_t size = rows * blocks * kBlockColumns;
            Run(given, DrawReals(size), DrawReals(size), [&](float x, float y, float result) {
              const double expected = TileFunctionOf(given.function, x, y, given.alpha, given.beta);
              ASSERT_TRUE(IsNear(result, expected, 1e-6 * std::max(std::abs(expected), 0.1)))
                  << "function " << function << " of " << x << ", " << rows << " rows, " << blocks
                  << " blocks";
            });
          }
        }
      }
    }
  }
}

// Numbers all over the range where a function changes, at its stated relative error.
TEST_P(TileFunctionsTest, RelativeErrors) {
  constexpr int64_t kCount = 4096;
  GuardedArray<float> x = Array(kCount);
  for (int64_t i = 0; i < kCount; ++i) x[i] = (static_cast<float>(i) - kCount / 2.0F) / 64;  // -32 to 32
  for (int function = 0; function < kTileFunctions; ++function) {
    for (float alpha : {0.5F, 1.0F, 1.702F, -0.75F}) {
      const Case given{.function = static_cast<EpilogueFunction>(function),
                       .rows = kCount / kBlockColumns,
                       .alpha = alpha};
      Run(given, x, DrawReals(kCount), [&](float number, float y, float result) {
        const double expected = TileFunctionOf(given.function, number, y, alpha, given.beta);
        // A product that a sum follows may be rounded before: where the sum is small, its error counts.
        double tolerance = 1e-6 * std::abs(expected);
        if (given.function == EpilogueFunction::kAdd || given.function == EpilogueFunction::kLinear)
          tolerance += 32 * kRounding;
        // 1 + erf and 1 + tanh near 0 have the error of a number near 1.
        if (given.function == EpilogueFunction::kGelu || given.function == EpilogueFunction::kGeluTanh)
          tolerance += std::abs(number) * 3 * kRounding;
        // The exponential's argument is rounded: its error grows with it.
        const bool is_of_power =
            given.function == EpilogueFunction::kSigmoid || given.function == EpilogueFunction::kSwish ||
            given.function == EpilogueFunction::kMish || given.function == EpilogueFunction::kSoftPlus;
        if (is_of_power) tolerance += std::abs(expected * number) * 3 * kRounding;
        ASSERT_TRUE(IsNear(result, expected, tolerance))
            << "function " << function << ", alpha " << alpha << " of " << number;
      });
    }
  }
}

// The series of Elu is longest where it ends: its errors are roundings, and they do not all have one sign.
TEST_P(TileFunctionsTest, SeriesOfElu) {
  constexpr int64_t kCount = 4096;
  GuardedArray<float> x = Array(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    x[i] = -0.35F + 0.005F * static_cast<float>(i + 1) / static_cast<float>(kCount);
  const Case given{.function = EpilogueFunction::kElu, .rows = kCount / kBlockColumns, .alpha = 1};
  double errors = 0;
  Run(given, x, DrawReals(kCount), [&](float number, float, float result) {
    const double expected = std::expm1(double{number});
    ASSERT_TRUE(IsNear(result, expected, 3 * kRounding * std::abs(expected))) << number;
    errors += (result - expected) / std::abs(expected);
  });
  EXPECT_NEAR(errors / kCount, 0, 0.44 * kRounding);
}

// The series of SoftPlus is longest at 0. Its errors have both signs there, too.
TEST_P(TileFunctionsTest, SeriesOfSoftPlus) {
  constexpr int64_t kCount = 4096;
  GuardedArray<float> x = Array(kCount);
  for (int64_t i = 0; i < kCount; ++i)
    x[i] = 0.02F * (static_cast<float>(i) - kCount / 2.0F) / static_cast<float>(kCount);
  const Case given{.function = EpilogueFunction::kSoftPlus, .rows = kCount / kBlockColumns};
  double errors = 0;
  Run(given, x, DrawReals(kCount), [&](float number, float, float result) {
    const double expected = std::log1p(std::exp(double{number}));
    ASSERT_TRUE(IsNear(result, expected, 5 * kRounding * expected)) << number;
    errors += (result - expected) / expected;
  });
  EXPECT_NEAR(errors / kCount, 0, 0.08 * kRounding);
}

// Far numbers, where functions end, and the places where their formulas change.
TEST_P(TileFunctionsTest, EndsOfFunctions) {
  const std::array<float, 16> kEnds = {-0.35F, 0.35F, 3,    -3,    20, -20, 7.9053111F, -7.9053111F,
                                       4,      -4,    5.7F, -5.7F, 60, -60, 1e4F,       -80};
  GuardedArray<float> x = Array(3 * kBlockColumns);
  for (int64_t i = 0; i < x.size(); ++i) {
    const float end = kEnds[static_cast<size_t>(i / 3)];
    x[i] = i % 3 == 0 ? end : std::nextafter(end, i % 3 == 1 ? kInfinity : -kInfinity);
  }
  for (int function = 0; function < kTileFunctions; ++function) {
    const Case given{.function = static_cast<EpilogueFunction>(function), .rows = 3, .alpha = 1};
    Run(given, x, DrawReals(x.size()), [&](float number, float y, float result) {
      const double expected = TileFunctionOf(given.function, number, y, 1, given.beta);
      ASSERT_TRUE(IsNear(result, expected, std::abs(expected) * 1e-5 + std::abs(number) * 3 * kRounding))
          << "function " << function << " of " << number;
    });
  }
}

// Arithmetic has the results of f32; of others NaN stays NaN, and infinities have their limits.
TEST_P(TileFunctionsTest, Specials) {
  for (int function = 0; function < kTileFunctions; ++function) {
    for (float alpha : {0.5F, 0.0F, -0.0F}) {
      const Case given{
          .function = static_cast<EpilogueFunction>(function), .rows = 20, .blocks = 2, .alpha = alpha};
      const int64_t size = given.rows * given.blocks * kBlockColumns;
      Run(given, DrawSpecials(size), DrawSpecials(size), [&](float x, float y, float result) {
        if (given.function == EpilogueFunction::kSwish && x == -kInfinity) return;  // documented as NaN
        double expected = TileFunctionOf(given.function, x, y, alpha, given.beta);
        if (x == -kInfinity && !IsArithmetic(given.function) && given.function != EpilogueFunction::kElu) {
          // What the formulas tend to; in f64 some are infinity times 0.
          EXPECT_TRUE(std::isnan(result) || result == (given.function == EpilogueFunction::kTanh ? -1 : 0))
              << function;
          return;
        }
        if (x == kLargest && given.function == EpilogueFunction::kHSwish) expected = kLargest;
        ASSERT_TRUE(IsNear(result, expected,
                           IsArithmetic(given.function) ? std::abs(expected) * 2 * kRounding + 1e-45
                                                        : std::abs(expected) * 1e-6 + 1e-37))
            << "function " << function << ", alpha " << alpha << " of " << x << " and " << y;
      });
    }
  }
}

// FakeQuantize by column: limits and numbers of their own for each column.
class TileLevelsTest : public SimdTest {
 protected:
  struct Levels {
    std::array<float, 6> low{}, high{}, factor{}, offset{}, unit{}, first{};
  };
  static constexpr size_t kCycle = 6;  // of columns with different limits

  // The result by the formula in f64, and whether the number is so near the middle of two levels that either
  // may be chosen.
  static std::pair<double, bool> Expected(const Levels& of, size_t column, double x, bool replaces_nan) {
    const size_t at = column % kCycle;
    const double low{of.low[at]}, high{of.high[at]};
    if (std::isnan(x) && !replaces_nan) return {kNan, false};
    const double limited = std::isnan(x) ? low : std::min(std::max(x, low), high);
    const double position = double{of.factor[at]} * limited + double{of.offset[at]};
    const double level = std::nearbyint(position);
    const bool is_between = std::abs(std::abs(position - level) - 0.5) < 1e-4;
    return {level * double{of.unit[at]} + double{of.first[at]}, is_between};
  }
};

TEST_P(TileLevelsTest, EachColumnHasItsLevels) {
  const Levels levels = {.low = {0, -1, -2, 0.5F, -3, 0},
                         .high = {1, 1, 3, 2, -1, 255},
                         .factor = {255, 127.5F, 3, 10, 2, 1},
                         .offset = {0, 127.5F, 6, -5, 6, 0},
                         .unit = {1 / 255.0F, 1 / 127.5F, 0.5F, 0.1F, -0.5F, 1},
                         .first = {0, -1, -1, 0.5F, 1, 0}};
  int64_t checked = 0;
  for (int64_t rows : {0, 1, 2, 5}) {
    for (int64_t blocks : {1, 2, 3}) {
      for (int variant = 0; variant < 8; ++variant) {
        const bool replaces_nan = (variant & 1) != 0, adds = (variant & 2) != 0,
                   by_column = (variant & 4) != 0;
        const int64_t columns = blocks * kBlockColumns, size = rows * columns;
        std::array<GuardedArray<float>, 6> numbers = {Array(columns), Array(columns), Array(columns),
                                                      Array(columns), Array(columns), Array(columns)};
        for (int64_t column = 0; column < columns; ++column) {
          const size_t at = static_cast<size_t>(column) % kCycle;
          const std::array<float, 6> own = {levels.low[at],    levels.high[at], levels.factor[at],
                                            levels.offset[at], levels.unit[at], levels.first[at]};
          for (size_t i = 0; i < own.size(); ++i) numbers[i][column] = own[i];
        }
        GuardedArray<float> x = DrawReals(size), y = DrawReals(by_column ? columns : size), out = Array(size);
        // The limits themselves, far numbers and NaN.
        for (int64_t i = 0; i < size; i += 3) {
          const size_t at = static_cast<size_t>(i % columns) % kCycle;
          const std::array<float, 5> ends = {levels.low[at], levels.high[at], kInfinity, -kInfinity,
                                             std::nanf("")};
          x[i] = ends[static_cast<size_t>(i / 3) % ends.size()];
        }
        for (int64_t i = 0; i < size; ++i) out[i] = x[i];
        const LevelColumns call = {.low = numbers[0].data(),
                                   .high = numbers[1].data(),
                                   .factor = numbers[2].data(),
                                   .offset = numbers[3].data(),
                                   .unit = numbers[4].data(),
                                   .first = numbers[5].data(),
                                   .replaces_nan = replaces_nan,
                                   .adds_operand = adds};
        Of(RoundTileToLevels)(call, {.out = {out.data(), columns, kBlockColumns},
                                     .rows = rows,
                                     .blocks = blocks,
                                     .operand = {y.data(), by_column ? 0 : columns, kBlockColumns}});
        for (int64_t i = 0; i < size; ++i) {
          const float number = adds ? x[i] + y[by_column ? i % columns : i] : x[i];
          const auto [expected, is_between] =
              Expected(levels, static_cast<size_t>(i % columns), double{number}, replaces_nan);
          if (is_between) continue;
          ++checked;
          ASSERT_TRUE(IsNear(out[i], expected, 1e-6 * std::max(1.0, std::abs(expected))))
              << "column " << i % columns << " of " << number << ", variant " << variant;
        }
      }
    }
  }
  EXPECT_GT(checked, 4000);
}

NNEFC_INSTANTIATE_LANE_TESTS(TileFunctionsTest);
NNEFC_INSTANTIATE_LANE_TESTS(TileLevelsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
