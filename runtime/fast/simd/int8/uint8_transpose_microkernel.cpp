// Transposition of 8-bit values in registers.

#include "runtime/fast/simd/int8/uint8_transpose_microkernel.h"

#include <algorithm>

#include "compiler/support/x86.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

constexpr int kTile = static_cast<int>(kUint8Tile);

// A row of a tile, and its halves interleaved with those of another one. Compilers divide generic vectors of
// bytes into single ones.
#if defined(NNEFC_X86)
using Codes = __m128i;
NNEFC_SIMD_INLINE inline Codes LoadCodes(const uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
NNEFC_SIMD_INLINE inline void StoreCodes(const Codes& codes, uint8_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), codes);
}
NNEFC_SIMD_INLINE inline void Interleave(const Codes& first, const Codes& second, Codes& low, Codes& high) {
  low = _mm_unpacklo_epi8(first, second);
  high = _mm_unpackhi_epi8(first, second);
}
#else
struct Codes {
  uint8_t lanes[kTile];
};
NNEFC_SIMD_INLINE inline Codes LoadCodes(const uint8_t* from) {
  Codes codes;
  std::copy_n(from, kTile, codes.lanes);
  return codes;
}
NNEFC_SIMD_INLINE inline void StoreCodes(const Codes& codes, uint8_t* to) {
  std::copy_n(codes.lanes, kTile, to);
}
NNEFC_SIMD_INLINE inline void Interleave(const Codes& first, const Codes& second, Codes& low, Codes& high) {
  for (int i = 0; i < kTile / 2; ++i) {
    low.lanes[2 * i] = first.lanes[i];
    low.lanes[2 * i + 1] = second.lanes[i];
    high.lanes[2 * i] = first.lanes[kTile / 2 + i];
    high.lanes[2 * i + 1] = second.lanes[kTile / 2 + i];
  }
}
#endif

// Four times, interleaves the first and the second half of the rows.
NNEFC_SIMD_INLINE inline void TransposeTile(Codes (&rows)[kTile]) {
  Codes others[kTile];
  const auto interleave = [](const Codes(&from)[kTile], Codes(&to)[kTile]) NNEFC_SIMD_INLINE {
#pragma GCC unroll 8
    for (int i = 0; i < kTile / 2; ++i) Interleave(from[i], from[i + kTile / 2], to[2 * i], to[2 * i + 1]);
  };
  interleave(rows, others);
  interleave(others, rows);
  interleave(rows, others);
  interleave(others, rows);
}

// Calls store(row, column, tile) with the transposed tiles. The last tile of an axis overlaps the one before,
// so that all are whole.
template <typename Store>
NNEFC_SIMD_INLINE inline void ForTransposedTiles(const Uint8Matrix& matrix, const Store& store) {
  constexpr int64_t kRowsTogether = 64;  // small enough for the cache lines read to stay in L1
  for (int64_t first = 0; first < matrix.rows; first += kRowsTogether) {
    const int64_t end = std::min(matrix.rows, first + kRowsTogether);
    for (int64_t column = 0; column < matrix.columns; column += kTile) {
      const int64_t x = std::min<int64_t>(column, matrix.columns - kTile);
      for (int64_t row = first; row < end; row += kTile) {
        const int64_t y = std::min<int64_t>(row, matrix.rows - kTile);
        Codes tile[kTile];
        const uint8_t* from = matrix.from + y * matrix.from_stride + x;
#pragma GCC unroll 16
        for (int i = 0; i < kTile; ++i) tile[i] = LoadCodes(from + i * matrix.from_stride);
        TransposeTile(tile);
        store(y, x, tile);
      }
    }
  }
}

// Stores the values of a row of codes.
NNEFC_SIMD_INLINE inline void StoreValues(const Codes& codes, const Uint8Scale& scale, float* to) {
#if defined(NNEFC_X86_AVX512)
  const __m512i numbers = _mm512_sub_epi32(_mm512_cvtepu8_epi32(codes), _mm512_set1_epi32(scale.zero));
  _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_cvtepi32_ps(numbers), _mm512_set1_ps(scale.scale)));
#elif defined(NNEFC_X86)
  const __m128i halves[] = {codes, _mm_unpackhi_epi64(codes, codes)};
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    const __m256i numbers = _mm256_sub_epi32(_mm256_cvtepu8_epi32(halves[i]), _mm256_set1_epi32(scale.zero));
    _mm256_storeu_ps(to + i * kTile / 2,
                     _mm256_mul_ps(_mm256_cvtepi32_ps(numbers), _mm256_set1_ps(scale.scale)));
  }
#else
  for (int i = 0; i < kTile; ++i)
    to[i] = scale.scale * static_cast<float>(int32_t{codes.lanes[i]} - scale.zero);
#endif
}

}  // namespace

void TransposeUint8(const Uint8Matrix& given, uint8_t* to, int64_t to_stride) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Uint8Matrix matrix = given;  // local copies, to exclude aliasing
    uint8_t* out = to;
    const int64_t stride = to_stride;
    ForTransposedTiles(matrix, [&](int64_t row, int64_t column, const Codes(&tile)[kTile]) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
      for (int64_t i = 0; i < kTile; ++i) StoreCodes(tile[i], out + (column + i) * stride + row);
    });
  });
}

void TransposeUint8ToFloats(const Uint8Matrix& given, const Uint8Scale& scale, float* to, int64_t to_stride) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const Uint8Matrix matrix = given;  // local copies, to exclude aliasing
    float* out = to;
    const int64_t stride = to_stride;
    const Uint8Scale linear = scale;
    ForTransposedTiles(matrix, [&](int64_t row, int64_t column, const Codes(&tile)[kTile]) NNEFC_SIMD_INLINE {
#pragma GCC unroll 16
      for (int64_t i = 0; i < kTile; ++i) StoreValues(tile[i], linear, out + (column + i) * stride + row);
    });
  });
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
