// Quantized values looked up in a table, each of them at each position of a vector.

#include "runtime/fast/simd/int8/table_lookup_microkernel.h"

#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

using CodeLookupTest = SimdTest;

TEST_P(CodeLookupTest, EachCodeIsFound) {
  const GuardedArray<uint8_t> table = Draw<uint8_t>(256, 0, 255);
  for (int64_t count : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 1000}) {
    for (int first = 0; first < 256; first += 51) {
      GuardedArray<uint8_t> codes = Array<uint8_t>(count), out = Array<uint8_t>(count);
      for (int64_t i = 0; i < count; ++i) codes[i] = static_cast<uint8_t>(first + i);
      Of(LookUpUint8)({table.data(), codes.data(), count, out.data()});
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(codes[i], static_cast<uint8_t>(first + i));
        ASSERT_EQ(out[i], table[codes[i]]) << i << " of " << count;
      }
      Of(LookUpUint8)({table.data(), codes.data(), count, codes.data()});  // in place
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(codes[i], out[i]) << i << " of " << count;
    }
  }
}

TEST_P(CodeLookupTest, EachNumberIsFound) {
  GuardedArray<float> table = DrawReals(256);
  table[0] = kNan;
  table[255] = -kInfinity;
  for (int64_t count : {0, 1, 15, 16, 17, 31, 32, 33, 256, 1000}) {
    for (int first = 0; first < 256; first += 51) {
      GuardedArray<uint8_t> codes = Array<uint8_t>(count);
      GuardedArray<float> out = Untouched(count);
      for (int64_t i = 0; i < count; ++i) codes[i] = static_cast<uint8_t>(first + i);
      Of(LookUpFloats)({table.data(), codes.data(), count, out.data()});
      for (int64_t i = 0; i < count; ++i) {
        ASSERT_TRUE(IsSame(out[i], double{table[static_cast<uint8_t>(first + i)]})) << i << " of " << count;
      }
    }
  }
}

NNEFC_INSTANTIATE_LANE_TESTS(CodeLookupTest);

}  // namespace
}  // namespace nnefc::runtime::fast::simd
