// Rows of numbers in fixed point, and their products with 8-bit weights, against sums in f64.

#include "runtime/fast/rnn/quantized_panels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/fast/factories.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/int8/fixed_point_microkernel.h"

namespace nnefc::runtime::fast::rnn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLeastWithout = 0x1p64F;  // the least magnitude without a unit

// Rows in fixed point with memory of their own.
struct StoredRows {
  StoredRows(int64_t count, int64_t bytes_of_row)
      : bytes(static_cast<size_t>(count * simd::kFixedPointBytes * bytes_of_row), 99),
        units(static_cast<size_t>(count)),
        rows{.bytes = bytes.data(), .units = units.data(), .row_bytes = bytes_of_row} {}

  double Number(int64_t row, int64_t i) const {
    int64_t value = -simd::kFixedPointZero;
    for (int64_t byte = 0; byte < simd::kFixedPointBytes; ++byte)
      value += int64_t{Byte(row, byte, i)} << 8 * byte;
    return static_cast<double>(units[static_cast<size_t>(row)]) * static_cast<double>(value);
  }
  uint8_t Byte(int64_t row, int64_t byte, int64_t i) const {
    return bytes[static_cast<size_t>((row * simd::kFixedPointBytes + byte) * rows.row_bytes + i)];
  }

  std::vector<uint8_t> bytes;
  std::vector<float> units;
  FixedPointRows rows;
};

// The unit is a power of two of which the largest magnitude is 2^22 to 2^23, or less for magnitudes below
// 2^-95: units have finite reciprocals. Numbers are rounded to the unit. Bytes after the numbers are 0.
TEST(QuantizedPanelsTest, UnitsOfRows) {
  constexpr float kLeastUnit = 0x1p-120F, kLeastExact = 0x1p-95F, kLargest = 0x1.fffffep63F;
  const float magnitudes[] = {0,        0x1p-149F, 0x1p-126F, 0x1.fffffep-97F, 0x1p-96F, 0x1.000002p-96F,
                              0x1p-95F, 0x1p-20F,  0.5F,      0x1.fffffep-1F,  1,        0x1.000002p0F,
                              3,        0x1p24F,   0x1p63F,   kLargest};
  constexpr int64_t kPadding = 3;
  for (const int64_t count : {1, 2, 7, 8, 9, 16, 17, 33}) {
    for (const int64_t at : {int64_t{0}, count / 2, count - 1}) {
      for (const float magnitude : magnitudes) {
        for (const float sign : {1.0F, -1.0F}) {
          SCOPED_TRACE(testing::Message() << magnitude * sign << " at " << at << " of " << count);
          std::vector<float> numbers(static_cast<size_t>(count));
          for (int64_t i = 0; i < count; ++i)
            numbers[static_cast<size_t>(i)] = magnitude * static_cast<float>(i % 9 - 4) / 5;
          numbers[static_cast<size_t>(at)] = magnitude * sign;
          StoredRows stored(2, count + kPadding);
          stored.rows.Store(1, numbers.data(), count);
          const float unit = stored.units[1];
          int exponent = 0;
          ASSERT_EQ(std::frexp(unit, &exponent), 0.5F);
          ASSERT_GE(unit, kLeastUnit);
          ASSERT_LT(magnitude, unit * 0x1p23F);
          if (magnitude >= kLeastExact) {
            ASSERT_GE(magnitude, unit * 0x1p22F);
          }
          for (int64_t i = 0; i < count; ++i) {
            const double number = numbers[static_cast<size_t>(i)];
            // The largest value is 2^23 - 1.
            const double most = number > unit * double{simd::kFixedPointZero - 1} ? 1 : 0.5;
            ASSERT_LE(std::abs(stored.Number(1, i) - number), most * unit) << "number " << i;
          }
          for (int64_t byte = 0; byte < simd::kFixedPointBytes; ++byte) {
            for (int64_t i = count; i < count + kPadding; ++i) ASSERT_EQ(stored.Byte(1, byte, i), 0);
            for (int64_t i = 0; i < count + kPadding; ++i) ASSERT_EQ(stored.Byte(0, byte, i), 99);
          }
        }
      }
      for (const float without :
           {kLeastWithout, -kLeastWithout, 0x1p127F, kInfinity, -kInfinity, kNan, -kNan}) {
        std::vector<float> numbers(static_cast<size_t>(count), 1.0F);
        numbers[static_cast<size_t>(at)] = without;
        StoredRows stored(1, count);
        stored.rows.Store(0, numbers.data(), count);
        EXPECT_TRUE(std::isnan(stored.units[0])) << without << " at " << at << " of " << count;
      }
    }
  }
}

// Panels of `groups` groups, each of `outputs` weights per term, packed.
struct PackedPanels {
  PackedPanels(int64_t groups, int64_t outputs, int64_t terms)
      : weights(Drawn(groups * outputs * terms, terms)),
        value(TensorValue::FromFloats({groups, outputs, terms}, weights)),
        panels(QuantizedPanels::Make({.type = ElementType::kF32, .shape = value.shape(), .constant = &value},
                                     outputs)) {
    if (!panels) return;
    const auto kernel = memory::MakeFastReorder(ElementType::kF32, value.shape(), nullptr, panels->layout());
    packed.resize(panels->layout()->byte_size());
    const tensor::TensorView input(ElementType::kF32, value.shape(),
                                   reinterpret_cast<const std::byte*>(weights.data()));
    const tensor::MutableTensorView output(ElementType::kF32, value.shape(), packed.data());
    EXPECT_TRUE(kernel->Run({.inputs = {&input}, .outputs = {&output}}).ok());
  }
  // Multiples of a scale per output by -127 to 127; the first term of every other output has no weight.
  static std::vector<float> Drawn(int64_t count, int64_t terms) {
    std::vector<float> numbers;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t output = i / terms, term = i % terms;
      const int64_t drawn = term == 1                      ? 127
                            : term == 0 && output % 2 == 0 ? 0
                                                           : (i * 37 + output) % 255 - 127;
      numbers.push_back(std::ldexp(static_cast<float>(drawn), static_cast<int>(output % 3) - 9));
    }
    return numbers;
  }

  std::vector<float> weights;
  TensorValue value;
  std::optional<QuantizedPanels> panels;
  std::vector<std::byte> packed;
};

// Matrices of f32 constants with a group of four terms or more, or batches of these.
TEST(QuantizedPanelsTest, WeightsThatAreRefused) {
  const bool is_available = HasVnni() && simd::HasSimd();
  const auto made = [](const Shape& shape, ElementType type = ElementType::kF32, bool is_constant = true) {
    const TensorValue value = TensorValue::Make<float>(
        ElementType::kF32, shape,
        [](std::span<float> numbers) { std::fill(numbers.begin(), numbers.end(), 0.5F); });
    return QuantizedPanels::Make({.type = type, .shape = shape, .constant = is_constant ? &value : nullptr},
                                 20)
        .has_value();
  };
  EXPECT_EQ(made({20, 4}), is_available);
  EXPECT_EQ(made({3, 20, 4}), is_available);
  EXPECT_FALSE(made({20, 3}));
  EXPECT_FALSE(made({20}));
  EXPECT_FALSE(made({2, 3, 20, 4}));
  EXPECT_FALSE(made({20, 4}, ElementType::kF32, false));
  EXPECT_FALSE(made({20, 4}, ElementType::kF16));
}

// Rows with and without a unit in every order, in ranges of panels.
TEST(QuantizedPanelsTest, RowsWithAndWithoutUnits) {
  if (!HasVnni() || !simd::HasSimd()) GTEST_SKIP() << "for VNNI";
  constexpr int64_t kGroups = 2, kOutputs = 20, kPanels = 2, kRows = 5;
  for (const int64_t terms : {4, 5, 11}) {
    const PackedPanels given(kGroups, kOutputs, terms);
    ASSERT_TRUE(given.panels);
    for (int set = 0; set < 1 << kRows; ++set) {
      std::array<std::vector<float>, kRows> numbers;
      std::array<const float*, kRows> rows;
      StoredRows stored(kRows, given.panels->row_bytes());
      for (int64_t row = 0; row < kRows; ++row) {
        std::vector<float>& x = numbers[static_cast<size_t>(row)];
        for (int64_t i = 0; i < terms; ++i) x.push_back(static_cast<float>((row * 7 + i * 3) % 16 - 8));
        if ((set >> row & 1) != 0) x[0] = row % 2 == 0 ? kLeastWithout : -kLeastWithout;
        stored.rows.Store(row, x.data(), terms);
        ASSERT_EQ(std::isnan(stored.units[static_cast<size_t>(row)]), (set >> row & 1) != 0);
      }
      for (size_t row = 0; row < rows.size(); ++row) rows[row] = numbers[row].data();
      for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 1}, {1, 2}, {0, 2}, {2, 4}, {1, 4}}) {
        for (const int64_t count : {int64_t{1}, int64_t{2}, kRows}) {
          const int64_t columns = (end - begin) * simd::kBlockColumns;
          for (const int64_t start_stride : {int64_t{0}, columns}) {
            std::vector<float> start, out(static_cast<size_t>(count * columns));
            for (int64_t i = 0; i < count * columns; ++i) start.push_back(static_cast<float>(i % 13 - 6));
            given.panels->Multiply(given.packed.data(), stored.rows, count, rows.data(),
                                   {.panels = {begin, end},
                                    .start = start.data(),
                                    .start_stride = start_stride,
                                    .out = out.data(),
                                    .out_stride = columns});
            for (int64_t i = 0; i < count * columns; ++i) {
              const int64_t row = i / columns, column = begin * simd::kBlockColumns + i % columns;
              const int64_t group = column / (kPanels * simd::kBlockColumns);
              const int64_t output = column % (kPanels * simd::kBlockColumns);
              double sum = start[static_cast<size_t>(row * start_stride + i % columns)], magnitude = 16;
              for (int64_t k = 0; output < kOutputs && k < terms; ++k) {
                const double weight =
                    given.weights[static_cast<size_t>((group * kOutputs + output) * terms + k)];
                const double product = numbers[static_cast<size_t>(row)][static_cast<size_t>(k)] * weight;
                sum += product;
                magnitude += std::abs(product);
              }
              ASSERT_NEAR(out[static_cast<size_t>(i)], sum, 1e-6 * magnitude)
                  << "row " << row << ", column " << column << ", set " << set << ", " << terms << " terms";
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::rnn
