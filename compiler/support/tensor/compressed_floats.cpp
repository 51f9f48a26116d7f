// f32 values in compressed form, and their decompression.

#include "compiler/support/tensor/compressed_floats.h"

#include "compiler/support/x86.h"

#if defined(NNEFC_X86)
#include <immintrin.h>
#endif

#include <bit>
#include <cstring>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {
namespace {

constexpr int64_t kBlockItems = CompressedFloats::kBlockItems;
constexpr int64_t kBlockBytes = CompressedFloats::kBlockBytes;

uint16_t LoadBits(const std::byte* at) {
  uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return bits;
}

void UnpackHalves(const std::byte* in, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = HalfToFloat(LoadBits(in + 2 * i));
}

void UnpackBfloats(const std::byte* in, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = std::bit_cast<float>(static_cast<uint32_t>(LoadBits(in + 2 * i)) << 16);
}

// Decompresses blocks. The two items of a byte are `kApart` apart; the first items of consecutive bytes are
// `kStep` apart.
template <int64_t kApart, int64_t kStep>
[[gnu::always_inline]] inline void UnpackBlocks(const std::byte* block, int64_t count, float* out) {
  for (; count > 0; count -= kBlockItems, block += kBlockBytes, out += kBlockItems) {
    const float scale = HalfToFloat(LoadBits(block));
    const auto* codes = reinterpret_cast<const uint8_t*>(block + 2);
    float low[kBlockItems / 2], high[kBlockItems / 2];
    for (int64_t i = 0; i < kBlockItems / 2; ++i) {
      low[i] = static_cast<float>((codes[i] & 15) - 8) * scale;
      high[i] = static_cast<float>((codes[i] >> 4) - 8) * scale;
    }
    for (int64_t i = 0; i < kBlockItems / 2; ++i) {
      out[i * kStep] = low[i];
      out[i * kStep + kApart] = high[i];
    }
  }
}
using Unpacker = void (*)(const std::byte* in, int64_t count, float* out);
constexpr Unpacker kHalvesOfBlocks = UnpackBlocks<kBlockItems / 2, 1>;
constexpr Unpacker kPairsOfBlocks = UnpackBlocks<1, 2>;

#if defined(NNEFC_X86)

[[gnu::target("avx512f")]] void UnpackHalvesIn512(const std::byte* in, int64_t count, float* out) {
  int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 2 * i));
    _mm512_storeu_ps(out + i, _mm512_cvtph_ps(halves));
  }
  UnpackHalves(in + 2 * i, count - i, out + i);
}

[[gnu::target("avx,f16c")]] void UnpackHalvesIn256(const std::byte* in, int64_t count, float* out) {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 2 * i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
  UnpackHalves(in + 2 * i, count - i, out + i);
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void UnpackBlocksIn512(bool is_pairs,
                                                                             const std::byte* block,
                                                                             int64_t count, float* out) {
  const __m128i low_bits = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
  for (; count > 0; count -= kBlockItems, block += kBlockBytes, out += kBlockItems) {
    const __m512 scale = _mm512_cvtph_ps(_mm256_set1_epi16(static_cast<int16_t>(LoadBits(block))));
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + 2));
    __m128i low = _mm_sub_epi8(_mm_and_si128(codes, low_bits), eight);
    __m128i high = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(codes, 4), low_bits), eight);
    if (is_pairs) {
      const __m128i first = _mm_unpacklo_epi8(low, high);
      high = _mm_unpackhi_epi8(low, high);
      low = first;
    }
    _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(low)), scale));
    _mm512_storeu_ps(out + 16, _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(high)), scale));
  }
}

bool HasWideVectors() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}

#endif

Unpacker FindHalvesUnpacker() {
#if defined(NNEFC_X86)
  if (HasWideVectors()) return UnpackHalvesIn512;
  if (__builtin_cpu_supports("avx2")) return UnpackHalvesIn256;  // f16c is older than AVX2
#endif
  return UnpackHalves;
}

void UnpackAnyBlocks(bool is_pairs, const std::byte* block, int64_t count, float* out) {
#if defined(NNEFC_X86)
  if (HasWideVectors()) return UnpackBlocksIn512(is_pairs, block, count, out);
#endif
  (is_pairs ? kPairsOfBlocks : kHalvesOfBlocks)(block, count, out);
}

}  // namespace

CompressedFloats::CompressedFloats(Form form, std::shared_ptr<const Buffer> data, int64_t count)
    : form_(form), data_(std::move(data)), count_(count) {
  NNEFC_CHECK(count_ >= 0 && count_ % step() == 0);
  NNEFC_CHECK(data_ != nullptr && data_->size() >= static_cast<size_t>(ByteSize(form_, count_)));
}

const std::byte* CompressedFloats::Bytes() const {
  return data_->data();
}

int64_t CompressedFloats::ByteSize(Form form, int64_t count) {
  return IsBlocked(form) ? count / kBlockItems * kBlockBytes : 2 * count;
}

void CompressedFloats::Unpack(Form form, const std::byte* data, int64_t first, int64_t count, float* out) {
  static const Unpacker unpack_halves = FindHalvesUnpacker();
  const std::byte* start = data + ByteSize(form, first);
  switch (form) {
    case Form::kHalf:
      return unpack_halves(start, count, out);
    case Form::kBfloat:
      return UnpackBfloats(start, count, out);
    case Form::kBlocksOfHalves:
    case Form::kBlocksOfPairs:
      return UnpackAnyBlocks(form == Form::kBlocksOfPairs, start, count, out);
  }
}

}  // namespace nnefc
