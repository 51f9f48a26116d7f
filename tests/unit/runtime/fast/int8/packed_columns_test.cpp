// Columns of quantized values in groups of four, by loops over the elements.

#include "runtime/fast/int8/packed_columns.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nnefc::runtime::fast::int8 {
namespace {

// A row-major matrix of columns: rows of terms with that many elements.
std::vector<uint8_t> RandomMatrix(int64_t rows, int64_t columns) {
  std::mt19937 random(static_cast<uint32_t>(rows * 100 + columns));
  std::vector<uint8_t> values(static_cast<size_t>(rows * columns));
  for (uint8_t& value : values) value = static_cast<uint8_t>(random());
  return values;
}

// Returns the packed element of a term and column: the value minus 128, or 0 beyond the matrix.
template <typename ValueOf>
std::vector<int8_t> PackedByLoops(int64_t terms, int64_t columns, const ValueOf& value_of) {
  std::vector<int8_t> packed(static_cast<size_t>((terms + 3) / 4 * 64), 0);
  for (int64_t k = 0; k < terms; ++k) {
    for (int64_t j = 0; j < columns; ++j)
      packed[static_cast<size_t>(k / 4 * 64 + j * 4 + k % 4)] = static_cast<int8_t>(value_of(k, j) - 128);
  }
  return packed;
}

TEST(PackedColumnsTest, BothOrdersOfStoredElements) {
  for (const int64_t terms : {1, 3, 4, 5, 8, 63, 64, 65}) {
    for (const int64_t columns : {1, 2, 15, 16}) {
      const size_t bytes = static_cast<size_t>(PackedTileBytes(terms));
      std::vector<int8_t> found(bytes, 99);
      const std::vector<uint8_t> stored = RandomMatrix(columns, terms);
      PackStoredColumns(stored.data(), columns, terms, found.data());
      EXPECT_EQ(found, PackedByLoops(
                           terms, columns,
                           [&](int64_t k, int64_t j) { return stored[static_cast<size_t>(j * terms + k)]; }))
          << terms << " terms, " << columns << " columns";
      // Rows of a wider matrix.
      const int64_t stride = columns + 3;
      const std::vector<uint8_t> rows = RandomMatrix(terms, stride);
      found.assign(bytes, 99);
      PackStoredRows(rows.data(), stride, columns, terms, found.data());
      EXPECT_EQ(found, PackedByLoops(
                           terms, columns,
                           [&](int64_t k, int64_t j) { return rows[static_cast<size_t>(k * stride + j)]; }))
          << terms << " rows, " << columns << " columns";
    }
  }
}

TEST(PackedColumnsTest, StartsOfColumns) {
  for (const int64_t terms : {1, 4, 5, 130}) {
    const std::vector<uint8_t> stored = RandomMatrix(16, terms);
    std::vector<int8_t> packed(static_cast<size_t>(PackedTileBytes(terms)));
    PackStoredColumns(stored.data(), 16, terms, packed.data());
    for (const int zero : {0, 1, 128, 255}) {
      std::vector<int32_t> starts(16, 7);
      FindColumnStarts(packed.data(), terms, zero, starts.data());
      for (int64_t j = 0; j < 16; ++j) {
        int32_t sum = 0;
        for (int64_t k = 0; k < terms; ++k) sum += stored[static_cast<size_t>(j * terms + k)] - 128;
        EXPECT_EQ(starts[static_cast<size_t>(j)], -zero * sum) << terms << " terms, zero point " << zero;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
