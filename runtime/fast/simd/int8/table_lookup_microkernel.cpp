// Table lookup of 8-bit values.

#include "runtime/fast/simd/int8/table_lookup_microkernel.h"

#include <algorithm>

#include "compiler/support/x86.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

#if defined(NNEFC_X86)
constexpr int64_t kBytesPerVector = 32, kRegisterEntries = 16;

// Looks up 16 table entries at a time by pshufb; its result is 0 for indices that a saturated sum moved out
// of range.
NNEFC_SIMD_INLINE inline __m256i LookUpSome(const uint8_t* table, __m256i codes) {
  const __m256i row_codes = _mm256_set1_epi8(kRegisterEntries), behind = _mm256_set1_epi8(0x70);
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

#if defined(NNEFC_X86_AVX512)
// Keeps the table in four registers; vpermi2b (VBMI) looks up 7-bit indices in two of them.
[[gnu::target(NNEFC_TARGET_AVX512 ",avx512vbmi")]] void LookUpInRegisters(const TableLookup& call) {
  constexpr int64_t kOfRegister = 64;
  const __m512i first = _mm512_loadu_si512(call.table), second = _mm512_loadu_si512(call.table + kOfRegister);
  const __m512i third = _mm512_loadu_si512(call.table + 2 * kOfRegister);
  const __m512i fourth = _mm512_loadu_si512(call.table + 3 * kOfRegister);
  for (int64_t i = 0; i < call.count; i += kOfRegister) {
    const int64_t beyond = std::max<int64_t>(0, i + kOfRegister - call.count);
    const __mmask64 some = ~uint64_t{0} >> beyond;
    const __m512i codes = _mm512_maskz_loadu_epi8(some, call.codes + i);
    const __m512i low = _mm512_permutex2var_epi8(first, codes, second);
    const __m512i high = _mm512_permutex2var_epi8(third, codes, fourth);
    _mm512_mask_storeu_epi8(call.out + i, some, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(codes), high));
  }
}
#endif

}  // namespace

void LookUpUint8(const TableLookup& given) {
#if defined(NNEFC_X86_AVX512)
  static const bool has_vbmi = __builtin_cpu_supports("avx512vbmi") != 0;
  if (has_vbmi) return LookUpInRegisters(given);
#endif
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const TableLookup call = given;  // local copy, to exclude aliasing
    int64_t i = 0;
#if defined(NNEFC_X86)
    for (; i + kBytesPerVector <= call.count; i += kBytesPerVector) {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(call.codes + i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(call.out + i), LookUpSome(call.table, codes));
    }
#endif
    for (; i < call.count; ++i) call.out[i] = call.table[call.codes[i]];
  });
}

void LookUpFloats(const FloatLookup& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const FloatLookup call = given;  // local copy, to exclude aliasing
    int64_t i = 0;
#if defined(NNEFC_X86_AVX512)
    // The table in 16 registers; an instruction reads two of them by the lowest five bits. Half of the time
    // of scalar loads, and a third of that of a gather (Zen 5).
    constexpr int kPairs = 8, kBit = 32;
    __m512 table[2 * kPairs];
#pragma GCC unroll 16
    for (int row = 0; row < 2 * kPairs; ++row) table[row] = _mm512_loadu_ps(call.table + row * kSimdWidth);
    for (; i + kSimdWidth <= call.count; i += kSimdWidth) {
      const __m512i codes =
          _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(call.codes + i)));
      __m512 found[kPairs];
#pragma GCC unroll 8
      for (int pair = 0; pair < kPairs; ++pair)
        found[pair] = _mm512_permutex2var_ps(table[2 * pair], codes, table[2 * pair + 1]);
#pragma GCC unroll 3
      for (int bit = kBit, left = kPairs / 2; left > 0; bit *= 2, left /= 2) {
        const __mmask16 is_second = _mm512_test_epi32_mask(codes, _mm512_set1_epi32(bit));
#pragma GCC unroll 4
        for (int pair = 0; pair < left; ++pair)
          found[pair] = _mm512_mask_blend_ps(is_second, found[2 * pair], found[2 * pair + 1]);
      }
      _mm512_storeu_ps(call.out + i, found[0]);
    }
#endif
    for (; i < call.count; ++i) call.out[i] = call.table[call.codes[i]];
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
