// Products by panels against sums in f64 of the numbers that are multiplied.

#include "runtime/fast/gemm/panel_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/support/tensor/element_type.h"
#include "runtime/fast/register.h"
#include "tests/unit/runtime/fast/random_numbers.h"
#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast::gemm {
namespace {

// A product of `rows` rows by `panels` panels, in memory of its own.
class Product {
 public:
  Product(int64_t rows, int64_t panels, int64_t terms, bool is_rounded)
      : rows_(rows),
        panels_(panels),
        terms_(terms),
        left_(RandomNumbers(rows * terms, 1)),
        weights_(RandomNumbers(panels * terms * kPanelWidth, 2)),
        start_(RandomNumbers(rows * stride(), 3)),
        is_rounded_(is_rounded) {
    if (is_rounded) {
      Round(left_);
      Round(weights_);
    }
  }

  template <typename Multiply>
  void Check(const Multiply& multiply) {
    Pack();
    std::vector<const std::byte*> rows;
    for (int64_t row = 0; row < rows_; ++row) rows.push_back(Bytes(packed_left_) + row * row_bytes());
    std::vector<float> out(static_cast<size_t>(rows_ * stride()), 7.0f);
    std::vector<PanelSums> sums;
    for (int64_t panel = 0; panel < panels_; ++panel) {
      // Of three panels, one begins with zeros and one with the same numbers for all rows.
      sums.push_back({.panel = Bytes(packed_weights_) + panel * row_bytes() * kPanelWidth,
                      .start = panel % 3 == 1 ? nullptr : start_.data() + panel * kPanelWidth,
                      .start_stride = panel % 3 == 2 ? 0 : stride(),
                      .out = out.data() + panel * kPanelWidth,
                      .out_stride = stride()});
    }
    multiply(rows, sums);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t column = 0; column < stride(); ++column) {
        const float found = out[static_cast<size_t>(row * stride() + column)];
        if (column >= panels_ * kPanelWidth) {
          ASSERT_EQ(found, 7.0f) << "written behind row " << row;
        } else {
          ASSERT_NEAR(found, Expected(row, column), 2e-6 * std::sqrt(static_cast<double>(terms_)))
              << "row " << row << ", column " << column;
        }
      }
    }
  }

 private:
  static void Round(std::vector<float>& numbers) {
    for (float& number : numbers) number = BFloatToFloat(FloatToBFloat(number));
  }
  static const std::byte* Bytes(const std::vector<float>& numbers) {
    return reinterpret_cast<const std::byte*>(numbers.data());
  }
  // A pair of bf16 takes the place of a float.
  int64_t row_floats() const { return is_rounded_ ? (terms_ + 1) / 2 : terms_; }
  int64_t row_bytes() const { return row_floats() * static_cast<int64_t>(sizeof(float)); }
  int64_t stride() const { return panels_ * kPanelWidth + 3; }
  float Weight(int64_t column, int64_t k) const { return weights_[static_cast<size_t>(column * terms_ + k)]; }
  float Left(int64_t row, int64_t k) const { return left_[static_cast<size_t>(row * terms_ + k)]; }

  void Put(std::vector<float>& packed, int64_t line, int64_t lines, int64_t i, int64_t k,
           float number) const {
    const int64_t place = is_rounded_ ? line * row_floats() * lines + k / 2 * lines + i
                                      : line * row_floats() * lines + k * lines + i;
    if (is_rounded_) {
      reinterpret_cast<uint16_t*>(&packed[static_cast<size_t>(place)])[k % 2] = FloatToBFloat(number);
    } else {
      packed[static_cast<size_t>(place)] = number;
    }
  }

  void Pack() {
    packed_left_.assign(static_cast<size_t>(rows_ * row_floats()), 0.0f);
    packed_weights_.assign(static_cast<size_t>(panels_ * row_floats() * kPanelWidth), 0.0f);
    for (int64_t k = 0; k < terms_; ++k) {
      for (int64_t row = 0; row < rows_; ++row) Put(packed_left_, row, 1, 0, k, Left(row, k));
      for (int64_t column = 0; column < panels_ * kPanelWidth; ++column)
        Put(packed_weights_, column / kPanelWidth, kPanelWidth, column % kPanelWidth, k, Weight(column, k));
    }
  }

  double Expected(int64_t row, int64_t column) const {
    const int64_t kind = column / kPanelWidth % 3;
    double sum = kind == 1 ? 0 : start_[static_cast<size_t>((kind == 2 ? 0 : row * stride()) + column)];
    for (int64_t k = 0; k < terms_; ++k) sum += static_cast<double>(Left(row, k)) * Weight(column, k);
    return sum;
  }

  int64_t rows_, panels_, terms_;
  std::vector<float> left_, weights_, start_;
  std::vector<float> packed_left_, packed_weights_;
  bool is_rounded_;
};

template <typename Body>
void ForEachSize(const Body& body) {
  for (int64_t rows = 1; rows <= kMaxPanelRows; ++rows) {
    for (int64_t panels : {1, 2, 3, 4, 5, 7, 8}) {
      for (int64_t terms : {1, 2, 7, 16, 33, 130}) {
        SCOPED_TRACE(testing::Message() << rows << " rows, " << panels << " panels, " << terms << " terms");
        body(rows, panels, terms);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// Narrow tiles take 256 terms at a time, wide ones all of them.
TEST(PanelsTest, ProductsOfManyTerms) {
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8}) {
    for (int64_t panels : {1, 4}) {
      for (int64_t terms : {255, 256, 257, 300, 511, 512, 513}) {
        SCOPED_TRACE(testing::Message() << rows << " rows, " << panels << " panels, " << terms << " terms");
        Product(rows, panels, terms, false).Check([&](auto left, auto sums) {
          MultiplyByPanels(left, memory::StorageType::kF32, terms, sums);
        });
        Product(rows, panels, terms, false).Check([&](auto left, auto sums) {
          MultiplyByPanelsAvx2(left, terms, sums);
        });
      }
    }
  }
}

// Matrices, and stacks of them, of f32 constants.
TEST(PanelsTest, MatricesThatArePacked) {
  const auto is_packed = [](const Shape& shape, bool is_constant = true) {
    const TensorValue constant = TensorValue::Make<float>(ElementType::kF32, shape, [](std::span<float>) {});
    const kernels::ValueInfo value{
        .type = ElementType::kF32, .shape = shape, .constant = is_constant ? &constant : nullptr};
    return PanelMatrix::Make(value, 8, memory::StorageType::kF32).has_value();
  };
  EXPECT_FALSE(is_packed({8}));
  EXPECT_TRUE(is_packed({8, 5}));
  EXPECT_FALSE(is_packed({8, 5}, false));
  EXPECT_TRUE(is_packed({2, 8, 5}));
  EXPECT_FALSE(is_packed({1, 2, 8, 5}));
}

// Panels of f32 have blocks of terms by outputs; those of bf16 also have pairs of terms.
TEST(PanelsTest, LayoutsOfMatrices) {
  const Shape shape = {40, 35};
  const TensorValue constant = TensorValue::Make<float>(ElementType::kF32, shape, [](std::span<float>) {});
  const kernels::ValueInfo value{.type = ElementType::kF32, .shape = shape, .constant = &constant};
  const auto layout = [&](memory::StorageType type) {
    return PanelMatrix::Make(value, 40, type)->layout()->ToString();
  };
  EXPECT_EQ(layout(memory::StorageType::kF32), "transposed aCB16b16c");
  EXPECT_EQ(layout(memory::StorageType::kBf16), "bf16 transposed aCB16b16c2b");
}

TEST(PanelsTest, ProductsOfFloats) {
  ForEachSize([](int64_t rows, int64_t panels, int64_t terms) {
    Product(rows, panels, terms, false).Check([&](auto left, auto sums) {
      MultiplyByPanels(left, memory::StorageType::kF32, terms, sums);
    });
  });
}

TEST(PanelsTest, ProductsInNarrowTiles) {
  ForEachSize([](int64_t rows, int64_t panels, int64_t terms) {
    Product(rows, panels, terms, false).Check([&](auto left, auto sums) {
      MultiplyByPanelsAvx2(left, terms, sums);
    });
  });
}

TEST(PanelsTest, ProductsOfBfloats) {
  if (!HasBf16()) GTEST_SKIP() << "the processor has no products of bf16";
  ForEachSize([](int64_t rows, int64_t panels, int64_t terms) {
    Product(rows, panels, terms, true).Check([&](auto left, auto sums) {
      MultiplyByPanels(left, memory::StorageType::kBf16, terms, sums);
    });
  });
}

// Numbers halfway between two bf16 numbers are rounded to the even one.
TEST(PanelsTest, NumbersInBf16) {
  using simd::GuardedArray;
  using simd::GuardedEdge;
  std::vector<float> numbers = RandomNumbers(200, 4);
  std::vector<uint16_t> expected;
  for (size_t i = 0; i < numbers.size(); i += 9) numbers[i] = i % 2 == 0 ? 1 + 0x1p-8F : -(1 + 0x1.8p-7F);
  for (size_t i = 0; i < numbers.size(); ++i)
    expected.push_back(i % 9 != 0 ? FloatToBFloat(numbers[i]) : i % 2 == 0 ? 0x3F80 : 0xBF82);
  for (const int64_t count : {0, 1, 15, 16, 17, 33, 64, 100}) {
    GuardedArray<float> from(count, GuardedEdge::kEnd);
    std::copy_n(numbers.begin(), count, from.begin());
    GuardedArray<uint16_t> rounded(count, GuardedEdge::kEnd);
    RoundToBf16(from.data(), count, rounded.data());
    EXPECT_TRUE(std::equal(rounded.begin(), rounded.end(), expected.begin())) << count;
  }
  for (const int64_t count : {0, 1, 2, 5}) {
    for (const int64_t stride : {16, 40}) {
      const int64_t rounded_stride = stride + 4, blocks = std::max<int64_t>(count - 1, 0);
      GuardedArray<float> from(count == 0 ? 0 : blocks * stride + kPanelWidth, GuardedEdge::kEnd);
      std::copy_n(numbers.begin(), from.size(), from.begin());
      GuardedArray<uint16_t> rounded(count == 0 ? 0 : blocks * rounded_stride + kPanelWidth,
                                     GuardedEdge::kEnd, 7);
      RoundBlocksToBf16(from.data(), stride, count, rounded.data(), rounded_stride);
      for (int64_t i = 0; i < rounded.size(); ++i) {
        const int64_t block = i / rounded_stride, place = i % rounded_stride;
        EXPECT_EQ(rounded[i], place < kPanelWidth ? expected[static_cast<size_t>(block * stride + place)] : 7)
            << i << " of " << count << " blocks";
      }
    }
  }
}

// Both functions round equally, whatever the processor makes of denormal numbers: numbers in rows and in
// blocks may meet in one sum.
TEST(PanelsTest, UnusualNumbersInBf16) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> some = {0x1p-126F, 0x1.8p-127F, 0x1p-133F,   0x1p-149F,
                                   0.0F,      kInfinity,   0x1.FFp127F, 0x1.FEp127F};
  std::vector<float> numbers;
  for (const float number : some) {
    numbers.push_back(number);
    numbers.push_back(-number);
  }
  std::vector<uint16_t> in_rows(numbers.size()), in_blocks(numbers.size());
  RoundToBf16(numbers.data(), kPanelWidth, in_rows.data());
  RoundBlocksToBf16(numbers.data(), kPanelWidth, 1, in_blocks.data(), kPanelWidth);
  EXPECT_EQ(in_rows, in_blocks);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::fpclassify(numbers[i]) == FP_SUBNORMAL) continue;
    EXPECT_EQ(in_blocks[i], FloatToBFloat(numbers[i])) << numbers[i];
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::gemm
