// Loops that quantize numbers in rows.

#include "runtime/fast/int8/store_uint8.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace nnefc::runtime::fast::int8 {
namespace {

using Formula = QuantizationRange::Formula;

// Each number is read once, those of whole rows of 512 too, and no others.
TEST(StoreUint8Test, ReadsTheNumbersOnce) {
  for (const Formula formula : {Formula::kFakeQuantize, Formula::kMinMax, Formula::kZeroPoint}) {
    const QuantizationRange range{
        .formula = formula, .low = 0, .high = 255, .codes = {.scale = 1, .zero = 0}};
    for (const int64_t end : {1, 511, 512, 513, 1024, 1030}) {
      for (const int64_t begin : {0, 7, 512}) {
        if (begin >= end) continue;
        std::vector<int> reads(2048, 0);
        std::vector<uint8_t> codes(2048, 99);
        int* const read = reads.data();
        StoreUint8(range, begin, end, 0, codes.data(), [=](int64_t i) {
          ++read[i];
          return static_cast<float>(i % 256);
        });
        for (int64_t i = 0; i < 2048; ++i) {
          const bool is_own = i >= begin && i < end;
          const auto at = static_cast<size_t>(i);
          EXPECT_EQ(reads[at], is_own ? 1 : 0) << i << " of " << begin << " to " << end;
          EXPECT_EQ(codes[at], is_own ? i % 256 : 99) << i << " of " << begin << " to " << end;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
