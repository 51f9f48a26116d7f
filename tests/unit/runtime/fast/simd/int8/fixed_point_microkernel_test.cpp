// Numbers in fixed point, and their products with i8 weights, against loops in f64.

#include "runtime/fast/simd/int8/fixed_point_microkernel.h"

#include "tests/unit/runtime/fast/simd/int8/vnni_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class FixedPointTest : public SimdTest {
 protected:
  // Returns the value of a number from its bytes.
  static int64_t ValueOf(const GuardedArray<uint8_t>& bytes, int64_t row_bytes, int64_t i) {
    return bytes[i] + int64_t{256} * bytes[row_bytes + i] + int64_t{65536} * bytes[2 * row_bytes + i] -
           kFixedPointZero;
  }

  void CheckStore(const std::vector<float>& given, float factor, int64_t padding) {
    const auto count = static_cast<int64_t>(given.size());
    GuardedArray<float> numbers = Array<float>(count);
    std::copy(given.begin(), given.end(), numbers.begin());
    const int64_t row_bytes = count + padding;
    GuardedArray<uint8_t> bytes = Array<uint8_t>(kFixedPointBytes * row_bytes, 99);
    Of(StoreFixedPoint)({.numbers = numbers.data(),
                         .count = count,
                         .factor = factor,
                         .bytes = bytes.data(),
                         .row_bytes = row_bytes});
    for (int64_t i = 0; i < count; ++i) {
      const double exact = static_cast<double>(numbers[i]) * factor;
      const double value = static_cast<double>(ValueOf(bytes, row_bytes, i));
      // The largest value is 2^23 - 1.
      const double most = exact > kFixedPointZero - 1 ? 1 : 0.5;
      ASSERT_LE(std::abs(value - exact), most) << "number " << i << ", " << numbers[i];
    }
    for (int64_t i = count; i < row_bytes; ++i) {
      for (int64_t byte = 0; byte < kFixedPointBytes; ++byte) ASSERT_EQ(bytes[byte * row_bytes + i], 99);
    }
  }

  struct Case {
    int64_t rows = 1, panels = 1, quads = 1;
    bool is_in_place = false;
    bool has_extremes = false;  // of numbers and weights
  };
  void CheckProducts(const Case& given) {
    SCOPED_TRACE(testing::Message() << given.rows << " rows, " << given.panels << " panels, " << given.quads
                                    << " quads");
    const int64_t terms = given.quads * kQuad, columns = given.panels * kBlockColumns;
    GuardedArray<uint8_t> bytes = Draw<uint8_t>(given.rows * kFixedPointBytes * terms, 0, 255);
    GuardedArray<int8_t> weights = Draw<int8_t>(columns * terms, -128, 127);
    if (given.has_extremes) {
      for (int64_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 3 == 0 ? 0 : 255;
      for (int64_t i = 0; i < weights.size(); ++i) weights[i] = i % 64 < 32 ? -128 : 127;
    }
    const auto weight = [&](int64_t column, int64_t term) {
      return int64_t{weights[column / kBlockColumns * terms * kBlockColumns + term / kQuad * kQuadWeights +
                             column % kBlockColumns * kQuad + term % kQuad]};
    };
    GuardedArray<int32_t> less = Array<int32_t>(columns);
    for (int64_t column = 0; column < columns; ++column) {
      int64_t sum = 0;
      for (int64_t term = 0; term < terms; ++term) sum -= weight(column, term);
      less[column] = static_cast<int32_t>(sum);
    }
    GuardedArray<float> units = Array<float>(given.rows);
    for (int64_t row = 0; row < given.rows; ++row) units[row] = row % 2 == 0 ? 0x1p-23F : 0x1p-20F;
    GuardedArray<float> scales = Draw(columns, 1, 20);
    for (float& scale : scales) scale *= 0.001F;
    const int64_t start_stride = given.is_in_place ? columns + 3 : 0, out_stride = columns + 3;
    const int64_t out_size = (given.rows - 1) * out_stride + columns;
    GuardedArray<float> out = Draw(out_size, -1, 1);
    const GuardedArray<float> own_start = Draw(columns, -1, 1);
    const std::vector<float> before(out.begin(), out.end());
    Of(RunFixedPointMicrokernel)(given.rows, given.panels,
                                 {.bytes = bytes.data(),
                                  .units = units.data(),
                                  .row_bytes = terms,
                                  .weights = weights.data(),
                                  .less = less.data(),
                                  .scales = scales.data(),
                                  .start = given.is_in_place ? out.data() : own_start.data(),
                                  .start_stride = start_stride,
                                  .out = out.data(),
                                  .out_stride = out_stride});
    for (int64_t i = 0; i < out_size; ++i) {
      const int64_t row = i / out_stride, column = i % out_stride;
      if (column >= columns) {
        ASSERT_EQ(out[i], before[static_cast<size_t>(i)]);
        continue;
      }
      double sum = 0, magnitude = 0;
      for (int64_t term = 0; term < terms; ++term) {
        const int64_t at = row * kFixedPointBytes * terms + term;
        const int64_t value = bytes[at] + int64_t{256} * bytes[at + terms] +
                              int64_t{65536} * bytes[at + 2 * terms] - kFixedPointZero;
        const double product =
            static_cast<double>(value * weight(column, term)) * units[row] * scales[column];
        sum += product;
        magnitude += std::abs(product);
      }
      const double start = given.is_in_place ? before[static_cast<size_t>(i)] : own_start[column];
      ASSERT_NEAR(out[i], start + sum, 4e-7 * (magnitude + std::abs(start)) + 1e-7)
          << "row " << row << ", column " << column;
    }
  }
};

TEST_P(FixedPointTest, StoredNumbers) {
  for (int64_t count : {int64_t{0}, int64_t{1}, lanes() - 1, lanes(), lanes() + 1, 3 * lanes() + 5}) {
    const GuardedArray<float> drawn = Draw(count, -1, 1);
    CheckStore({drawn.begin(), drawn.end()}, 0x1p23F, 3);
  }
  // Ties, and both ends of the range.
  std::vector<float> numbers;
  for (const float number :
       {0.0F, -0.0F, 0.5F, -0.5F, 1.5F, -1.5F, 0.25F, -0.25F, 0.75F, 8388607.0F, -8388607.0F, 8388607.5F,
        -8388607.5F, 4194304.5F, -4194304.5F, 255.0F, 256.0F, 65535.0F, 65536.0F})
    numbers.insert(numbers.end(), static_cast<size_t>(lanes()) + 1, number);
  CheckStore(numbers, 1, 0);
  for (float& number : numbers) number *= 0x1p-60F;
  CheckStore(numbers, 0x1p60F, 1);
}

TEST_P(FixedPointTest, Products) {
  if (!HasInstruction(lanes())) GTEST_SKIP() << "the processor has no VNNI of this width";
  for (const int64_t rows : {int64_t{1}, kMaxFixedPointRows}) {
    for (int64_t panels = 1; panels <= 9; ++panels) {
      for (const int64_t quads : {0, 1, 2, 17}) {
        for (const bool is_in_place : {false, true})
          CheckProducts({.rows = rows, .panels = panels, .quads = quads, .is_in_place = is_in_place});
      }
    }
    CheckProducts({.rows = rows, .panels = 4, .quads = 300, .has_extremes = true});
    CheckProducts({.rows = rows, .panels = 4, .quads = 300});
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(FixedPointTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
