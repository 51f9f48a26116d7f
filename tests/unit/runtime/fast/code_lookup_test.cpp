#include "runtime/fast/lanes/code_lookup.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace nnefc::runtime {
namespace {

TEST(CodeLookupTest, EachCodeIsFound) {
  if (!HasLanes()) GTEST_SKIP() << "for AVX2";
  std::mt19937 random(3);
  std::array<uint8_t, 256> table;
  for (uint8_t& code : table) code = static_cast<uint8_t>(random());
  for (size_t count : {0, 1, 31, 32, 257, 1000}) {
    std::vector<uint8_t> codes(count), expected(count);
    for (size_t i = 0; i < count; ++i) {
      codes[i] = static_cast<uint8_t>(i < 256 ? i : random());
      expected[i] = table[codes[i]];
    }
    std::vector<uint8_t> out(count);
    LookUpCodes({table.data(), codes.data(), static_cast<int64_t>(count), out.data()});
    EXPECT_EQ(out, expected);
    LookUpCodes({table.data(), codes.data(), static_cast<int64_t>(count), codes.data()});
    EXPECT_EQ(codes, expected);
  }
}

}  // namespace
}  // namespace nnefc::runtime
