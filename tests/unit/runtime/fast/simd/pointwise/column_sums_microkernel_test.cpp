// Weighted sums of nearby elements against a loop over the terms.

#include "runtime/fast/simd/pointwise/column_sums_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

class ColumnSumsTest : public SimdTest {
 protected:
  // Sums of `terms` elements for `columns` results, some of them with fewer terms.
  void Check(int64_t columns, int64_t terms, bool has_specials) {
    const int64_t groups = (columns + lanes() - 1) / lanes(), reach = 2 * lanes();
    const int64_t numbers = groups * terms * lanes();
    // The last group reads up to the end of the line.
    GuardedArray<float> line = DrawIntegers(3 * groups + reach);
    for (int64_t at = 0; has_specials && at < line.size(); at += 5)
      line[at] = kSpecialNumbers[static_cast<size_t>(at) % kSpecialNumbers.size()];
    GuardedArray<int32_t> begins = Array<int32_t>(groups);
    for (int64_t group = 0; group < groups; ++group)
      begins[group] = group + 1 == groups ? static_cast<int32_t>(line.size() - reach) : DrawOne(0, 3);
    GuardedArray<int32_t> elements = Draw<int32_t>(numbers, 0, static_cast<int>(reach) - 1);
    for (int64_t at = 0; at < numbers; ++at) {
      if (terms > 1 && DrawOne(0, 3) == 0) elements[at] = -1;
    }
    const GuardedArray<float> weights = DrawIntegers(numbers);
    GuardedArray<float> out = Untouched(columns);
    Of(SumColumns)({.line = line.data(),
                    .begins = begins.data(),
                    .elements = elements.data(),
                    .weights = weights.data(),
                    .terms = terms,
                    .columns = columns,
                    .out = out.data()});
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t group = column / lanes();
      double expected = 0;
      for (int64_t term = 0; term < terms; ++term) {
        const int64_t at = (group * terms + term) * lanes() + column % lanes();
        if (elements[at] >= 0)
          expected +=
              static_cast<double>(weights[at]) * static_cast<double>(line[begins[group] + elements[at]]);
      }
      const double found = static_cast<double>(out[column]);
      const bool is_same = std::isnan(expected) ? std::isnan(found) : found == static_cast<float>(expected);
      ASSERT_TRUE(is_same) << column << " of " << columns << ", " << terms << " terms: " << found
                           << ", expected " << expected;
    }
  }
};

TEST_P(ColumnSumsTest, EachNumberOfColumns) {
  for (int64_t columns = 1; columns <= 3 * lanes() + 1; ++columns) {
    for (const int64_t terms : {1, 2, 4, 5}) Check(columns, terms, false);
  }
}

TEST_P(ColumnSumsTest, SpecialNumbers) {
  for (const int64_t columns : {lanes() - 1, lanes(), 2 * lanes() + 3}) Check(columns, 1, true);
}

NNEFC_INSTANTIATE_LANE_TESTS(ColumnSumsTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
