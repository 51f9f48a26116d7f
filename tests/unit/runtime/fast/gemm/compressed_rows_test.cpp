// Dot products with rows of compressed weights, and sums of such rows, against loops in f64 over integers:
// each form, each number of left rows, lengths around those of vectors, arrays of exact size.

#include "runtime/fast/gemm/compressed_rows.h"

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "tests/unit/runtime/fast/simd/guarded_array.h"

namespace nnefc::runtime::fast::gemm {
namespace {

using Form = CompressedFloats::Form;
using simd::GuardedArray;
using simd::GuardedEdge;

constexpr Form kForms[] = {Form::kHalf, Form::kBfloat, Form::kBlocksOfHalves, Form::kBlocksOfPairs};

// The bits of powers of two and their multiples, which both 16-bit formats represent exactly.
uint16_t HalfOfInteger(int number) {
  if (number == 0) return 0;
  int exponent = 0;
  while ((2 << exponent) <= std::abs(number)) ++exponent;
  const int fraction = (std::abs(number) << (10 - exponent)) & 0x3ff;
  return static_cast<uint16_t>((number < 0 ? 0x8000 : 0) | (15 + exponent) << 10 | fraction);
}
uint16_t BfloatOfInteger(int number) {
  const auto value = static_cast<float>(number);
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

// Stored weights and the numbers that they represent.
struct StoredRow {
  GuardedArray<uint8_t> bytes;
  std::vector<double> numbers;
};

StoredRow DrawRow(Form form, int64_t items, GuardedEdge edge, std::mt19937& random) {
  const bool is_blocked = form == Form::kBlocksOfHalves || form == Form::kBlocksOfPairs;
  StoredRow row{GuardedArray<uint8_t>(is_blocked ? items / 32 * 18 : items * 2, edge),
                std::vector<double>(static_cast<size_t>(items))};
  const auto store = [&](int64_t at, uint16_t bits) {
    std::memcpy(row.bytes.data() + at, &bits, sizeof(bits));
  };
  for (int64_t i = 0; i < items && !is_blocked; ++i) {
    const int number = static_cast<int>(random() % 101) - 50;
    store(2 * i, form == Form::kHalf ? HalfOfInteger(number) : BfloatOfInteger(number));
    row.numbers[static_cast<size_t>(i)] = number;
  }
  for (int64_t block = 0; is_blocked && block < items / 32; ++block) {
    const int scale = static_cast<int>(random() % 7) - 3;
    store(block * 18, HalfOfInteger(scale));
    for (int64_t i = 0; i < 32; ++i) {
      const auto code = static_cast<uint8_t>(random() % 16);
      const int64_t byte = form == Form::kBlocksOfHalves ? i % 16 : i / 2;
      const bool is_high = form == Form::kBlocksOfHalves ? i >= 16 : i % 2 == 1;
      row.bytes[block * 18 + 2 + byte] |= static_cast<uint8_t>(is_high ? code << 4 : code);
      row.numbers[static_cast<size_t>(block * 32 + i)] = (static_cast<int>(code) - 8) * scale;
    }
  }
  return row;
}

// Calls `check` with rows of each length after each number of items, at both guarded edges.
template <typename Check>
void ForEachRow(const Check& check) {
  if (!HasCompressedRows()) GTEST_SKIP() << "the processor has no AVX-512";
  std::mt19937 random(5);
  for (const Form form : kForms) {
    const bool is_blocked = form == Form::kBlocksOfHalves || form == Form::kBlocksOfPairs;
    for (const int64_t count : {0,  1,   15,  16,  17,  31,  32,  33,  63,  64,  65,  95,
                                96, 127, 128, 129, 160, 191, 192, 255, 256, 257, 288, 300}) {
      if (is_blocked && count % 32 != 0) continue;
      for (const int64_t first : {0, 32, 96}) {
        for (const GuardedEdge edge : {GuardedEdge::kBegin, GuardedEdge::kEnd}) {
          const StoredRow row = DrawRow(form, first + count, edge, random);
          SCOPED_TRACE(std::to_string(static_cast<int>(form)) + ": " + std::to_string(count) + " from " +
                       std::to_string(first));
          check(form, row, first, count, edge, random);
        }
      }
    }
  }
}

GuardedArray<float> DrawIntegers(int64_t size, GuardedEdge edge, std::mt19937& random) {
  GuardedArray<float> numbers(size, edge);
  for (float& number : numbers) number = static_cast<float>(static_cast<int>(random() % 19) - 9);
  return numbers;
}

TEST(CompressedRowsTest, DotProducts) {
  ForEachRow([](Form form, const StoredRow& row, int64_t first, int64_t count, GuardedEdge edge,
                std::mt19937& random) {
    for (int64_t rows = 1; rows <= kMaxLeftRows; ++rows) {
      const int64_t stride = count + (rows % 2 == 0 ? 0 : 3);
      const GuardedArray<float> left = DrawIntegers((rows - 1) * stride + count, edge, random);
      GuardedArray<float> sums(rows, edge, 77);
      DotCompressedRow(form, reinterpret_cast<const std::byte*>(row.bytes.data()), first, count,
                       {.x = left.data(), .stride = stride, .rows = rows}, sums.data());
      for (int64_t r = 0; r < rows; ++r) {
        double expected = 0;
        for (int64_t k = 0; k < count; ++k)
          expected += left[r * stride + k] * row.numbers[static_cast<size_t>(first + k)];
        ASSERT_EQ(sums[r], expected) << "row " << r << " of " << rows;
      }
    }
  });
}

// A quarter of each stored row after another.
TEST(CompressedRowsTest, RowsTogether) {
  ForEachRow([](Form form, const StoredRow& row, int64_t first, int64_t items, GuardedEdge edge,
                std::mt19937& random) {
    const int64_t count = items / kRowsTogether;
    const bool is_blocked = form == Form::kBlocksOfHalves || form == Form::kBlocksOfPairs;
    if (items % kRowsTogether != 0 || (is_blocked && count % 32 != 0)) return;
    const GuardedArray<float> x = DrawIntegers(count, edge, random);
    GuardedArray<float> sums(kRowsTogether, edge, 77);
    DotCompressedRows(form, reinterpret_cast<const std::byte*>(row.bytes.data()), first, count, x.data(),
                      sums.data());
    for (int64_t r = 0; r < kRowsTogether; ++r) {
      double expected = 0;
      for (int64_t k = 0; k < count; ++k)
        expected += x[k] * row.numbers[static_cast<size_t>(first + r * count + k)];
      ASSERT_EQ(sums[r], expected) << "row " << r << " of " << count << " elements";
    }
  });
}

TEST(CompressedRowsTest, SumsOfRows) {
  ForEachRow([](Form form, const StoredRow& row, int64_t first, int64_t count, GuardedEdge edge,
                std::mt19937& random) {
    for (int64_t rows = 0; rows <= kMaxLeftRows; ++rows) {
      const int64_t stride = count + (rows % 2 == 0 ? 0 : 3);
      const GuardedArray<float> factors = DrawIntegers(rows, edge, random);
      GuardedArray<float> sums = DrawIntegers(rows == 0 ? 0 : (rows - 1) * stride + count, edge, random);
      const std::vector<float> before(sums.begin(), sums.end());
      AddCompressedRow(form, reinterpret_cast<const std::byte*>(row.bytes.data()), first, count,
                       factors.data(), {.sums = sums.data(), .stride = stride, .rows = rows});
      for (int64_t at = 0; at < sums.size(); ++at) {
        double expected = before[static_cast<size_t>(at)];
        if (count > 0 && at % stride < count)
          expected += factors[at / stride] * row.numbers[static_cast<size_t>(first + at % stride)];
        ASSERT_EQ(sums[at], expected) << at << " of " << rows << " rows";
      }
    }
  });
}

}  // namespace
}  // namespace nnefc::runtime::fast::gemm
