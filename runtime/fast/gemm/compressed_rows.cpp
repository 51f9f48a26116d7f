// Matrix-vector products with compressed rows of weights.

#include "runtime/fast/gemm/compressed_rows.h"

#include "compiler/support/check.h"
#include "compiler/support/x86.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/loop_math.h"

#if defined(NNEFC_X86)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace nnefc::runtime::fast::gemm {

namespace {

using Form = CompressedFloats::Form;

#define NNEFC_IN_512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#define NNEFC_INLINE_IN_512 NNEFC_IN_512, gnu::always_inline

constexpr int64_t kWidth = 16;

// Returns the mask of valid elements from `i` on out of `count`.
__mmask16 Mask(int64_t i, int64_t count) {
  const int64_t left = std::max<int64_t>(count - i, 0);
  return left >= kWidth ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1U << left) - 1);
}

// Elements [i, i + 32) of a row.
struct Pair {
  __m512 first, second;
};

// Loaders of compressed elements from `i`, a multiple of 32, with masks; masked elements are zero.
struct Halves {
  const std::byte* row;

  [[NNEFC_INLINE_IN_512]] Pair Load(int64_t i, __mmask16 first, __mmask16 second) const {
    return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first, row + 2 * i)),
            _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(second, row + 2 * (i + kWidth)))};
  }
};

struct Bfloats {
  const std::byte* row;

  [[NNEFC_INLINE_IN_512]] Pair Load(int64_t i, __mmask16 first, __mmask16 second) const {
    return {Wide(_mm256_maskz_loadu_epi16(first, row + 2 * i)),
            Wide(_mm256_maskz_loadu_epi16(second, row + 2 * (i + kWidth)))};
  }
  [[NNEFC_INLINE_IN_512]] static __m512 Wide(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
};

// Rows are whole blocks, so masks are full.
template <bool kPairs>
struct Blocks {
  const std::byte* row;

  [[NNEFC_INLINE_IN_512]] Pair Load(int64_t i, __mmask16, __mmask16) const {
    const std::byte* block = row + i / CompressedFloats::kBlockItems * CompressedFloats::kBlockBytes;
    int16_t bits = 0;
    std::memcpy(&bits, block, sizeof(bits));
    const __m512 scale = _mm512_cvtph_ps(_mm256_set1_epi16(bits));
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 2));
    const __m128i low_bits = _mm_set1_epi8(15);
    const __m128i low = _mm_and_si128(codes, low_bits);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(codes, 4), low_bits);
    if (!kPairs) return {Numbers(low, scale), Numbers(high, scale)};
    return {Numbers(_mm_unpacklo_epi8(low, high), scale), Numbers(_mm_unpackhi_epi8(low, high), scale)};
  }
  [[NNEFC_INLINE_IN_512]] static __m512 Numbers(__m128i codes, __m512 scale) {
    const __m512i numbers = _mm512_sub_epi32(_mm512_cvtepu8_epi32(codes), _mm512_set1_epi32(8));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(numbers), scale);
  }
};

// GCC warns of undefined operands in its headers for the intrinsics that divide a vector of 512 bits.
[[NNEFC_INLINE_IN_512]] inline float SumOfLanes(__m512 x) {
  alignas(64) float lanes[kWidth];
  _mm512_store_ps(lanes, x);
  const __m256 eight = _mm256_add_ps(_mm256_load_ps(lanes), _mm256_load_ps(lanes + kWidth / 2));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Uses `kPairs` pairs of partial sums per row to hide the latency of additions.
template <int kRows, int kPairs, typename Row>
[[NNEFC_IN_512]] void Dot(const Row& weights, int64_t count, const LeftFactors& left, float* sums) {
  __m512 partial[kRows][2 * kPairs];
  for (auto& row : partial) {
    for (__m512& sum : row) sum = _mm512_setzero_ps();
  }
  int64_t i = 0;
  for (; i + 2 * kPairs * kWidth <= count; i += 2 * kPairs * kWidth) {
    for (int j = 0; j < kPairs; ++j) {
      const Pair factor = weights.Load(i + 2 * j * kWidth, 0xffff, 0xffff);
      for (int r = 0; r < kRows; ++r) {
        const float* x = left.x + r * left.stride + i + 2 * j * kWidth;
        partial[r][2 * j] = _mm512_fmadd_ps(factor.first, _mm512_loadu_ps(x), partial[r][2 * j]);
        partial[r][2 * j + 1] =
            _mm512_fmadd_ps(factor.second, _mm512_loadu_ps(x + kWidth), partial[r][2 * j + 1]);
      }
    }
  }
  for (; i < count; i += 2 * kWidth) {
    const __mmask16 first = Mask(i, count), second = Mask(i + kWidth, count);
    const Pair factor = weights.Load(i, first, second);
    for (int r = 0; r < kRows; ++r) {
      const float* x = left.x + r * left.stride + i;
      partial[r][0] = _mm512_fmadd_ps(factor.first, _mm512_maskz_loadu_ps(first, x), partial[r][0]);
      partial[r][1] =
          _mm512_fmadd_ps(factor.second, _mm512_maskz_loadu_ps(second, x + kWidth), partial[r][1]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    __m512 sum = partial[r][0];
    for (int j = 1; j < 2 * kPairs; ++j) sum = _mm512_add_ps(sum, partial[r][j]);
    sums[r] = SumOfLanes(sum);
  }
}

template <typename Row>
void DotOfRows(const Row& weights, int64_t count, const LeftFactors& left, float* sums) {
  switch (left.rows) {
    case 1:
      return Dot<1, 4>(weights, count, left, sums);
    case 2:
      return Dot<2, 2>(weights, count, left, sums);
    case 3:
      return Dot<3, 1>(weights, count, left, sums);
    case 4:
      return Dot<4, 1>(weights, count, left, sums);
    case 5:
      return Dot<5, 1>(weights, count, left, sums);
    case 6:
      return Dot<6, 1>(weights, count, left, sums);
    case 7:
      return Dot<7, 1>(weights, count, left, sums);
    default:
      NNEFC_CHECK(!"at most kMaxLeftRows rows");
  }
}

// Several rows hide the latency of additions, and of the sums of lanes at the end.
template <typename Row>
[[NNEFC_IN_512]] void DotTogether(const std::array<Row, kRowsTogether>& weights, int64_t count,
                                  const float* x, float* sums) {
  __m512 partial[kRowsTogether][2];
  for (auto& row : partial) row[0] = row[1] = _mm512_setzero_ps();
  int64_t i = 0;
  for (; i + 2 * kWidth <= count; i += 2 * kWidth) {
    const __m512 first = _mm512_loadu_ps(x + i), second = _mm512_loadu_ps(x + i + kWidth);
    for (int row = 0; row < kRowsTogether; ++row) {
      const Pair factor = weights[row].Load(i, 0xffff, 0xffff);
      partial[row][0] = _mm512_fmadd_ps(factor.first, first, partial[row][0]);
      partial[row][1] = _mm512_fmadd_ps(factor.second, second, partial[row][1]);
    }
  }
  if (i < count) {
    const __mmask16 of_first = Mask(i, count), of_second = Mask(i + kWidth, count);
    const __m512 first = _mm512_maskz_loadu_ps(of_first, x + i),
                 second = _mm512_maskz_loadu_ps(of_second, x + i + kWidth);
    for (int row = 0; row < kRowsTogether; ++row) {
      const Pair factor = weights[row].Load(i, of_first, of_second);
      partial[row][0] = _mm512_fmadd_ps(factor.first, first, partial[row][0]);
      partial[row][1] = _mm512_fmadd_ps(factor.second, second, partial[row][1]);
    }
  }
  for (int row = 0; row < kRowsTogether; ++row)
    sums[row] = SumOfLanes(_mm512_add_ps(partial[row][0], partial[row][1]));
}

template <typename Row>
[[NNEFC_IN_512]] void Add(const Row& weights, int64_t count, const float* factors, const RowSums& sums) {
  for (int64_t i = 0; i < count; i += 2 * kWidth) {
    const __mmask16 first = Mask(i, count), second = Mask(i + kWidth, count);
    const Pair row = weights.Load(i, first, second);
    for (int64_t r = 0; r < sums.rows; ++r) {
      float* to = sums.sums + r * sums.stride + i;
      const __m512 factor = _mm512_set1_ps(factors[r]);
      const __m512 sum = _mm512_fmadd_ps(factor, row.first, _mm512_maskz_loadu_ps(first, to));
      const __m512 other = _mm512_fmadd_ps(factor, row.second, _mm512_maskz_loadu_ps(second, to + kWidth));
      _mm512_mask_storeu_ps(to, first, sum);
      _mm512_mask_storeu_ps(to + kWidth, second, other);
    }
  }
}

#undef NNEFC_INLINE_IN_512
#undef NNEFC_IN_512

template <typename Use>
void WithRow(Form form, const std::byte* weights, int64_t first, Use use) {
  const std::byte* row = weights + CompressedFloats::ByteSize(form, first);
  switch (form) {
    case Form::kHalf:
      return use(Halves{row});
    case Form::kBfloat:
      return use(Bfloats{row});
    case Form::kBlocksOfHalves:
      return use(Blocks<false>{row});
    case Form::kBlocksOfPairs:
      return use(Blocks<true>{row});
  }
}

}  // namespace

bool HasCompressedRows() {
  static const bool has = HasAvx512();
  return has;
}

void DotCompressedRow(Form form, const std::byte* weights, int64_t first, int64_t count,
                      const LeftFactors& left, float* sums) {
  WithRow(form, weights, first, [&](const auto& row) { DotOfRows(row, count, left, sums); });
}

void DotCompressedRows(Form form, const std::byte* weights, int64_t first, int64_t count, const float* x,
                       float* sums) {
  WithRow(form, weights, first, [&]<typename Row>(const Row&) {
    std::array<Row, kRowsTogether> rows;
    for (int64_t row = 0; row < kRowsTogether; ++row)
      rows[static_cast<size_t>(row)] = Row{weights + CompressedFloats::ByteSize(form, first + row * count)};
    DotTogether(rows, count, x, sums);
  });
}

void AddCompressedRow(Form form, const std::byte* weights, int64_t first, int64_t count, const float* factors,
                      const RowSums& sums) {
  WithRow(form, weights, first, [&](const auto& row) { Add(row, count, factors, sums); });
}

}  // namespace nnefc::runtime::fast::gemm

#else

namespace nnefc::runtime::fast::gemm {

bool HasCompressedRows() {
  return false;
}
void DotCompressedRow(CompressedFloats::Form, const std::byte*, int64_t, int64_t, const LeftFactors&,
                      float*) {
  NNEFC_CHECK(!"HasCompressedRows");
}
void DotCompressedRows(CompressedFloats::Form, const std::byte*, int64_t, int64_t, const float*, float*) {
  NNEFC_CHECK(!"HasCompressedRows");
}
void AddCompressedRow(CompressedFloats::Form, const std::byte*, int64_t, int64_t, const float*,
                      const RowSums&) {
  NNEFC_CHECK(!"HasCompressedRows");
}

}  // namespace nnefc::runtime::fast::gemm

#endif
