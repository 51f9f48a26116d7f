// Numbers rounded to levels against the formula of FakeQuantize.

#include "runtime/fast/simd/int8/fake_quantize_microkernel.h"

#include <bit>

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class LevelsTest : public SimdTest {
 protected:
  void SetUp() override {
    SimdTest::SetUp();
    if (!IsSkipped() && !FusesProducts())
      GTEST_SKIP() << "without optimization quotients are rounded twice, which moves numbers to other levels";
  }

  // OpenVINO's formula, each operation of f32 rounded once, halves rounded to the even integer.
  static float Expected(const FakeQuantizeLevels& levels, float x) {
    if (std::isnan(x)) return x;
    if (x <= std::min(levels.low, levels.high)) return levels.first;
    if (x > std::max(levels.low, levels.high)) return levels.last;
    const float share = (x - levels.low) / (levels.high - levels.low);
    const float level = std::nearbyintf(share * levels.steps);
    const float result = level / levels.steps * (levels.last - levels.first);
    return result + levels.first;
  }

  void Check(const FakeQuantizeLevels& levels, const GuardedArray<float>& x) {
    GuardedArray<float> out = Untouched(x.size());
    Of(FakeQuantizeRow)(levels, x.data(), x.size(), out.data());
    for (int64_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(IsSame(out[i], Expected(levels, x[i]))) << "x " << x[i] << ", " << i << " of " << x.size();
  }
};

TEST_P(LevelsTest, EachCount) {
  const std::array<FakeQuantizeLevels, 4> kLevels = {
      FakeQuantizeLevels{0, 255, 0, 255, 255}, FakeQuantizeLevels{-1, 1, -2, 2, 15},
      FakeQuantizeLevels{-0.7F, 1.3F, 5, -3, 255}, FakeQuantizeLevels{0.1F, 0.9F, 0, 1, 1}};
  for (const FakeQuantizeLevels& levels : kLevels) {
    for (int64_t count : {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 500}) {
      GuardedArray<float> x = DrawReals(count);
      for (float& number : x) number *= 1.5F * std::max(std::abs(levels.low), std::abs(levels.high));
      Check(levels, x);
      Check(levels, DrawSpecials(count));
    }
  }
}

// The formula's result at the highest number differs from the last level where their difference is rounded.
TEST_P(LevelsTest, HighestNumber) {
  const FakeQuantizeLevels levels{0, 1, -16777216, 1, 255};
  GuardedArray<float> x = Array(3);
  x[0] = std::nextafterf(levels.high, 0);
  x[1] = levels.high;
  x[2] = std::nextafterf(levels.high, 2);
  Check(levels, x);
  EXPECT_EQ(Expected(levels, x[1]), 0);
  EXPECT_EQ(Expected(levels, x[2]), 1);
}

TEST_P(LevelsTest, QuantizedValues) {
  const std::array<QuantizedLevels, 4> kRanges = {QuantizedLevels{0, 255}, QuantizedLevels{-1, 1},
                                                  QuantizedLevels{-0.375F, 228.519F},
                                                  QuantizedLevels{-7, -1.25F}};
  for (const QuantizedLevels& range : kRanges) {
    const FakeQuantizeLevels levels = {range.low, range.high, 0, 255, 255};
    for (int64_t count : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 500}) {
      GuardedArray<float> reals = DrawReals(count), specials = DrawSpecials(count), ties = Array(count);
      for (float& number : reals) number *= 1.5F * std::max(std::abs(range.low), std::abs(range.high));
      for (int64_t i = 0; i < count; ++i)
        ties[i] = range.low + (range.high - range.low) * (0.5F * static_cast<float>(i)) / 255;
      for (const GuardedArray<float>* x : {&reals, &specials, &ties}) {
        std::vector<uint8_t> out(static_cast<size_t>(count) + 1, 77);
        Of(QuantizeRow)(range, x->data(), count, out.data());
        for (int64_t i = 0; i < count; ++i) {
          const float number = (*x)[i];
          const float expected = std::isnan(number) ? 0 : Expected(levels, number);
          ASSERT_EQ(static_cast<float>(out[static_cast<size_t>(i)]), expected) << number << ", " << i;
        }
        EXPECT_EQ(out.back(), 77);
      }
    }
  }
}

TEST_P(LevelsTest, QuantizedBlocks) {
  const QuantizedLevels range = {-0.375F, 1.5F};
  for (int64_t columns = 1; columns <= kBlockColumns; ++columns) {
    for (int64_t rows : {0, 1, 3}) {
      for (int64_t gap : {0, 5}) {
        const int64_t stride = columns + gap;
        GuardedArray<float> x = DrawReals(rows * kBlockColumns);
        GuardedArray<uint8_t> out(rows == 0 ? 0 : (rows - 1) * stride + columns, GuardedEdge::kEnd, 77);
        Of(QuantizeBlock)(range, x.data(), rows, columns, out.data(), stride);
        for (int64_t i = 0; i < out.size(); ++i) {
          const int64_t column = i % stride, row = i / stride;
          const float expected = column < columns ? Expected({range.low, range.high, 0, 255, 255},
                                                             x[row * kBlockColumns + column])
                                                  : 77;
          ASSERT_EQ(static_cast<float>(out[i]), expected) << columns << " columns: " << row << ", " << column;
        }
      }
    }
  }
}

// Sums and products of quantized tensors, with each operation rounded once. The scales are powers of two, so
// that halves between levels occur.
TEST_P(LevelsTest, QuantizedSumsAndProducts) {
  constexpr QuantizedLevels kRange = {-8, 55.75F};  // levels 0.25 apart
  const auto code_of = [&](float x) { return Expected({kRange.low, kRange.high, 0, 255, 255}, x); };
  for (int64_t count : {0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100}) {
    for (int64_t period : {16, 48, 112}) {
      const GuardedArray<uint8_t> a = Draw<uint8_t>(count, 0, 255), b = Draw<uint8_t>(count, 0, 255);
      const GuardedArray<float> factors = DrawIntegers(std::min(period, count));
      const auto number = [&](const GuardedArray<uint8_t>& codes, int64_t i, int zero, float scale) {
        return static_cast<float>(codes[i] - zero) * scale;
      };
      for (bool has_slopes : {false, true}) {
        GuardedArray<uint8_t> out = Array<uint8_t>(count, 77);
        Of(QuantizeSums)({.a = {.values = a.data(), .zero = 100, .scale = 0.125F},
                          .b = {.values = b.data(), .zero = 3, .scale = 0.0625F},
                          .slopes = has_slopes ? factors.data() : nullptr,
                          .period = period,
                          .count = count,
                          .levels = kRange,
                          .out = out.data()});
        for (int64_t i = 0; i < count; ++i) {
          float sum = number(a, i, 100, 0.125F) + number(b, i, 3, 0.0625F);
          if (has_slopes && sum < 0) sum *= factors[i % period];
          ASSERT_EQ(static_cast<float>(out[i]), code_of(sum)) << i << " of " << count << ", sum " << sum;
        }
      }
      GuardedArray<uint8_t> out = Array<uint8_t>(count);
      std::copy(a.begin(), a.end(), out.begin());
      Of(QuantizeProducts)({.from = {.values = out.data(), .zero = 100, .scale = 0.125F},
                            .scales = factors.data(),
                            .period = period,
                            .count = count,
                            .levels = kRange,
                            .out = out.data()});
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(static_cast<float>(out[i]), code_of(number(a, i, 100, 0.125F) * factors[i % period]))
            << i << " of " << count;
    }
  }
}

// Halves between levels, the bounds themselves and their neighbours.
TEST_P(LevelsTest, TiesAndBounds) {
  const FakeQuantizeLevels levels = {-4, 12, -8, 24, 16};  // 1 apart, twice as far apart after
  GuardedArray<float> x = Array(2 * 3 * 33);
  for (int64_t i = 0; i < x.size(); ++i) {
    const float tie = -4 + 0.5F * static_cast<float>(i / 3);
    x[i] = i % 3 == 0 ? tie : std::nextafter(tie, i % 3 == 1 ? kInfinity : -kInfinity);
  }
  Check(levels, x);
  GuardedArray<float> ties = Array(3);
  ties[0] = -3.5F;  // level 0.5 becomes 0
  ties[1] = -2.5F;  // level 1.5 becomes 2
  ties[2] = -1.5F;  // level 2.5 becomes 2
  GuardedArray<float> out = Untouched(3);
  Of(FakeQuantizeRow)(levels, ties.data(), 3, out.data());
  EXPECT_EQ(out[0], -8);
  EXPECT_EQ(out[1], -4);
  EXPECT_EQ(out[2], -4);
}

TEST_P(LevelsTest, InPlace) {
  const FakeQuantizeLevels levels = {-1, 1, -1, 1, 4};
  GuardedArray<float> x = DrawReals(21);
  const std::vector<float> before(x.begin(), x.end());
  Of(FakeQuantizeRow)(levels, x.data(), x.size(), x.data());
  for (int64_t i = 0; i < x.size(); ++i)
    ASSERT_TRUE(IsSame(x[i], Expected(levels, before[static_cast<size_t>(i)])));
}

// Columns around the vector widths, with different limits. In every third column the limits are equal.
TEST_P(LevelsTest, Columns) {
  for (int64_t columns : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
    for (int64_t rows : {0, 1, 5}) {
      GuardedArray<float> low = DrawReals(columns), high = DrawReals(columns), first = DrawReals(columns),
                          last = DrawReals(columns);
      for (int64_t i = 0; i < columns; ++i) high[i] = i % 3 == 2 ? low[i] : low[i] + 0.1F + std::abs(high[i]);
      const FakeQuantizeColumnLevels levels = {low.data(), high.data(), first.data(), last.data(), 255};
      GuardedArray<float> x = DrawReals(rows * columns);
      GuardedArray<float> out = Untouched(x.size());
      if (rows > 0) x[columns - 1] = low[columns - 1];
      Of(FakeQuantizeColumns)(levels, x.data(), rows, columns, out.data());
      for (int64_t i = 0; i < x.size(); ++i) {
        const int64_t at = i % columns;
        ASSERT_TRUE(IsSame(out[i], Expected({low[at], high[at], first[at], last[at], 255}, x[i])))
            << "column " << at << " of " << columns << ", row " << i / columns;
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(LevelsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
