#include "runtime/fast/lanes/code_lookup.h"

#include "runtime/fast/lanes/lane_math.h"

namespace nnefc::runtime::NNEFC_LANES_NAMESPACE {

namespace {

#if defined(__x86_64__)
constexpr int64_t kCodesAtOnce = 32, kRowCodes = 16;

// A row of sixteen codes of the table after the other: an instruction looks up in one, and gives 0 for codes
// that a saturated sum has moved behind it.
NNEFC_IN_LANES inline __m256i LookUpSome(const uint8_t* table, __m256i codes) {
  const __m256i row_codes = _mm256_set1_epi8(kRowCodes), behind = _mm256_set1_epi8(0x70);
  __m256i found = {};
#pragma GCC unroll 16
  for (int row = 0; row < 16; ++row) {
    const __m256i numbers =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table) + row));
    found = _mm256_or_si256(found, _mm256_shuffle_epi8(numbers, _mm256_adds_epu8(codes, behind)));
    codes = _mm256_sub_epi8(codes, row_codes);
  }
  return found;
}
#endif

}  // namespace

void LookUpCodes(const CodeLookup& given) {
  RunInLanes([&]() NNEFC_IN_LANES {
    const CodeLookup call = given;  // which what is written cannot change
    int64_t i = 0;
#if defined(__x86_64__)
    for (; i + kCodesAtOnce <= call.count; i += kCodesAtOnce) {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(call.codes + i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(call.out + i), LookUpSome(call.table, codes));
    }
#endif
    for (; i < call.count; ++i) call.out[i] = call.table[call.codes[i]];
  });
}

}  // namespace nnefc::runtime::NNEFC_LANES_NAMESPACE
