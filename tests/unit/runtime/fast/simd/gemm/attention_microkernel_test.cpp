// Packed operands of attention and the softmax of its scores against loops over rows in f64.

#include "runtime/fast/simd/gemm/attention_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class AttentionRowsTest : public SimdTest {
 protected:
  struct Given {
    int64_t rows, columns, stride;
    GuardedArray<float> numbers;

    StridedRows view() const { return {numbers.data(), stride, rows, columns}; }
    float At(int64_t row, int64_t column) const { return numbers[row * stride + column]; }
  };
  // Memory ends with the last number of the last row.
  Given DrawRows(int64_t rows, int64_t columns, int64_t gap) {
    const int64_t stride = columns + gap;
    return {rows, columns, stride, DrawReals(rows == 0 ? 0 : (rows - 1) * stride + columns)};
  }
};

TEST_P(AttentionRowsTest, KeysInTilesOfTheirTransposes) {
  for (int64_t rows : {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65}) {
    for (int64_t columns : {1, 7, 8, 9, 15, 16, 17, 33}) {
      for (int64_t gap : {0, 3}) {
        const Given keys = DrawRows(rows, columns, gap);
        const int64_t tiles = (rows + kTileColumns - 1) / kTileColumns;
        GuardedArray<float> to = Untouched(tiles * columns * kTileColumns);
        Of(PackKeys)(keys.view(), to.data());
        for (int64_t i = 0; i < to.size(); ++i) {
          const int64_t key = i / (columns * kTileColumns) * kTileColumns + i % kTileColumns;
          const int64_t column = i / kTileColumns % columns;
          ASSERT_TRUE(IsSame(to[i], key < rows ? keys.At(key, column) : 0))
              << rows << " x " << columns << ": " << i;
        }
      }
    }
  }
}

TEST_P(AttentionRowsTest, ValuesInTilesOfColumns) {
  for (int64_t rows : {0, 1, 2, 17}) {
    for (int64_t columns : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 64, 80}) {
      for (int64_t gap : {0, 5}) {
        const Given values = DrawRows(rows, columns, gap);
        const int64_t tiles = (columns + kTileColumns - 1) / kTileColumns;
        const int64_t blocks = (columns + kBlockColumns - 1) / kBlockColumns;
        GuardedArray<float> to = Untouched(tiles * rows * kTileColumns);
        Of(PackValues)(values.view(), to.data());
        for (int64_t i = 0; i < to.size(); ++i) {
          const int64_t row = i / kTileColumns % rows;
          const int64_t column = i / (rows * kTileColumns) * kTileColumns + i % kTileColumns;
          const float expected = column < columns                  ? values.At(row, column)
                                 : column < blocks * kBlockColumns ? 0
                                                                   : kUntouched;
          ASSERT_EQ(to[i], expected) << rows << " x " << columns;
        }
      }
    }
  }
}

TEST_P(AttentionRowsTest, QueriesInBlocksTimesTheScale) {
  for (int64_t rows : {0, 1, 2, 9}) {
    for (int64_t columns : {1, 15, 16, 17, 32, 33, 47}) {
      for (int64_t gap : {0, 4}) {
        const Given queries = DrawRows(rows, columns, gap);
        const int64_t blocks = (columns + kBlockColumns - 1) / kBlockColumns;
        GuardedArray<float> to = Untouched(blocks * rows * kBlockColumns);
        const float scale = 0.3F;
        Of(PackQueries)(queries.view(), scale, to.data());
        for (int64_t i = 0; i < to.size(); ++i) {
          const int64_t row = i / kBlockColumns % rows;
          const int64_t column = i / (rows * kBlockColumns) * kBlockColumns + i % kBlockColumns;
          ASSERT_EQ(to[i], column < columns ? queries.At(row, column) * scale : kUntouched)
              << rows << " x " << columns;
        }
      }
    }
  }
}

class SoftmaxOfScoresTest : public SimdTest {
 protected:
  // Scores in `rows` rows of whole blocks, in the order of rows or of blocks, with `filler` after the last
  // key.
  void Check(int64_t rows, int64_t keys, bool is_blocked, bool has_mask, float filler, float bound) {
    const int64_t blocks = (keys + kBlockColumns - 1) / kBlockColumns, mask_stride = keys + 2;
    const int64_t row_stride = is_blocked ? kBlockColumns : blocks * kBlockColumns;
    const int64_t block_stride = is_blocked ? rows * kBlockColumns : kBlockColumns;
    GuardedArray<float> scores = Array(rows * blocks * kBlockColumns, filler), given = DrawReals(rows * keys);
    for (float& score : given) score *= bound;
    for (const auto& [at, score] : specials_) given[at % given.size()] = score;
    const GuardedArray<float> mask = DrawReals(has_mask ? (rows - 1) * mask_stride + keys : 0);
    const auto place = [&](int64_t row, int64_t key) {
      return row * row_stride + key / kBlockColumns * block_stride + key % kBlockColumns;
    };
    for (int64_t i = 0; i < given.size(); ++i) scores[place(i / keys, i % keys)] = given[i];
    GuardedArray<float> sums = Untouched(rows);
    Of(SoftmaxOfScores)({.scores = {scores.data(), row_stride, block_stride},
                         .rows = rows,
                         .keys = keys,
                         .mask = has_mask ? mask.data() : nullptr,
                         .mask_stride = mask_stride},
                        sums.data());
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<double> numbers(static_cast<size_t>(keys));
      double max = -kInfinity, sum = 0, tolerance = 0;
      bool has_nan = false;
      for (int64_t key = 0; key < keys; ++key) {
        double& number = numbers[static_cast<size_t>(key)];
        number = has_mask ? given[row * keys + key] + mask[row * mask_stride + key] : given[row * keys + key];
        has_nan |= std::isnan(number);
        if (number > max) max = number;
      }
      for (int64_t key = 0; key < keys; ++key) {
        const double distance = numbers[static_cast<size_t>(key)] - max;
        const double exponential = distance < -86.6 ? 0 : std::exp(distance);
        // The stated error of the power, and those of its argument, which two roundings change.
        const double error = exponential * (1e-6 + 3 * kRounding * (std::isfinite(distance) ? -distance : 0));
        ASSERT_TRUE(IsNear(scores[place(row, key)], exponential, error))
            << "row " << row << ", key " << key << " of " << keys << ", distance " << distance;
        sum += exponential;
        tolerance += error + exponential * static_cast<double>(keys) * kRounding;
      }
      ASSERT_TRUE(IsNear(sums[row], has_nan ? kNan : sum, tolerance))
          << "row " << row << ", " << keys << " keys";
    }
  }

  std::vector<std::pair<int64_t, float>> specials_;
};

TEST_P(SoftmaxOfScoresTest, EachNumberOfKeys) {
  for (int64_t keys : {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 47, 48, 63}) {
    for (bool is_blocked : {false, true}) {
      for (bool has_mask : {false, true}) {
        for (float filler : {0.0F, 50.0F, kInfinity, -kInfinity, kNan})
          Check(3, keys, is_blocked, has_mask, filler, 5);
      }
    }
  }
}

// Exponentials down to those that vanish, and numbers whose exponentials would overflow without the maximum.
TEST_P(SoftmaxOfScoresTest, FarScores) {
  for (int64_t keys : {9, 16, 40}) {
    Check(4, keys, false, false, 0, 60);
    Check(4, keys, false, true, 0, 500);
    Check(1, keys, true, true, 0, 1e30F);
  }
}

TEST_P(SoftmaxOfScoresTest, SpecialScores) {
  for (int64_t keys : {1, 5, 16, 21}) {
    for (int64_t at = 0; at < keys; ++at) {
      for (bool has_mask : {false, true}) {
        for (float special : {-kInfinity, kNan, kDenormal, -0.0F}) {
          specials_ = {{at, special}};
          Check(2, keys, false, has_mask, 0, 3);
        }
      }
    }
  }
  specials_ = {
      {0, -kInfinity}, {1, -kInfinity}, {2, -kInfinity}};  // all keys of a row: NaN, as the formula has it
  Check(1, 3, false, false, 1, 3);
}

TEST_P(AttentionRowsTest, RowsAreDivided) {
  for (int64_t rows : {0, 1, 5}) {
    for (int64_t blocks : {0, 1, 2, 3}) {
      for (bool is_blocked : {false, true}) {
        constexpr int64_t kGap = 16;
        const int64_t row_stride = is_blocked ? kBlockColumns : blocks * kBlockColumns + kGap;
        const int64_t block_stride = is_blocked ? (rows + 1) * kBlockColumns : kBlockColumns;
        GuardedArray<float> numbers = Array(rows),
                            matrix = Untouched((rows + 1) * (blocks * kBlockColumns + kGap));
        for (int64_t row = 0; row < rows; ++row) numbers[row] = std::ldexp(1.0F, static_cast<int>(row) - 2);
        std::vector<float> expected(matrix.begin(), matrix.end());
        for (int64_t i = 0; i < rows * blocks * kBlockColumns; ++i) {
          const int64_t row = i / (blocks * kBlockColumns), column = i % (blocks * kBlockColumns);
          const int64_t at =
              row * row_stride + column / kBlockColumns * block_stride + column % kBlockColumns;
          matrix[at] = static_cast<float>(DrawOne(-999, 999));
          expected[static_cast<size_t>(at)] = matrix[at] / numbers[row];  // powers of two: exact
        }
        Of(DivideRows)({matrix.data(), row_stride, block_stride}, rows, blocks, numbers.data());
        for (int64_t i = 0; i < matrix.size(); ++i)
          ASSERT_EQ(matrix[i], expected[static_cast<size_t>(i)]) << i;
      }
    }
  }
}

// A quotient is the inverse, rounded, times the number, rounded.
TEST_P(AttentionRowsTest, DividedSpecials) {
  for (float number : {3.0F, 0.7F, kInfinity, 0.0F, kNan, 1e-30F}) {
    GuardedArray<float> matrix = DrawSpecials(kBlockColumns);
    const std::vector<float> before(matrix.begin(), matrix.end());
    Of(DivideRows)({matrix.data(), kBlockColumns, kBlockColumns}, 1, 1, &number);
    for (int64_t i = 0; i < kBlockColumns; ++i)
      ASSERT_TRUE(IsSame(matrix[i], before[static_cast<size_t>(i)] * (1 / number))) << number;
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(AttentionRowsTest);
NNEFC_INSTANTIATE_LANE_TESTS(SoftmaxOfScoresTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
