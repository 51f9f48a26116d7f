// A 128-bit hash of bytes, not cryptographic.

#include "compiler/support/files/digest.h"

#include <array>
#include <cstring>

#include "fmt/core.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace nnefc {

namespace {

// A variant of XXH3 from xxHash. Each 64-bit lane accumulates the product of the halves of its keyed word,
// and its neighbour's plain word, so that a zero product loses no bits.
constexpr size_t kLanes = 8;
constexpr size_t kStripe = kLanes * sizeof(uint64_t);
constexpr size_t kStripesInBlock = 16;
constexpr size_t kWords = kStripesInBlock + 2 * kLanes;
constexpr uint64_t kPrime = 0x9e3779b1;

using Lanes = std::array<uint64_t, kLanes>;

constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::array<uint64_t, kWords> MakeSecret() {
  std::array<uint64_t, kWords> words = {};
  uint64_t state = 0;
  for (uint64_t& word : words) word = Mix(state += 0x9e3779b97f4a7c15);
  return words;
}
constexpr std::array<uint64_t, kWords> kSecret = MakeSecret();

void Accumulate(Lanes& lanes, const std::byte* stripe, const uint64_t* secret) {
#if defined(__SSE2__)
  for (size_t i = 0; i < kLanes; i += 2) {
    auto* at = reinterpret_cast<__m128i*>(&lanes[i]);
    const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(stripe + i * sizeof(uint64_t)));
    const __m128i keyed = _mm_xor_si128(words, _mm_loadu_si128(reinterpret_cast<const __m128i*>(secret + i)));
    const __m128i product = _mm_mul_epu32(keyed, _mm_srli_epi64(keyed, 32));
    const __m128i swapped = _mm_shuffle_epi32(words, _MM_SHUFFLE(1, 0, 3, 2));
    _mm_storeu_si128(at, _mm_add_epi64(_mm_loadu_si128(at), _mm_add_epi64(product, swapped)));
  }
#else
  for (size_t i = 0; i < kLanes; ++i) {
    uint64_t word;
    std::memcpy(&word, stripe + i * sizeof(word), sizeof(word));
    const uint64_t keyed = word ^ secret[i];
    lanes[i ^ 1] += word;
    lanes[i] += (keyed & 0xffffffff) * (keyed >> 32);
  }
#endif
}

void Scramble(Lanes& lanes) {
  for (size_t i = 0; i < kLanes; ++i)
    lanes[i] = (lanes[i] ^ (lanes[i] >> 47) ^ kSecret[kStripesInBlock + i]) * kPrime;
}

uint64_t Merge(const Lanes& lanes, uint64_t start, size_t secret) {
  uint64_t sum = start;
  for (size_t i = 0; i < kLanes; i += 2) {
    const auto product = static_cast<unsigned __int128>(lanes[i] ^ kSecret[secret + i]) *
                         (lanes[i + 1] ^ kSecret[secret + i + 1]);
    sum = Mix(sum + (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)));
  }
  return sum;
}

}  // namespace

std::string ToHex(const Digest& digest) {
  return fmt::format("{:016x}{:016x}", digest.high, digest.low);
}

Digest DigestOf(std::span<const std::byte> bytes) {
  Lanes lanes;
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = kSecret[kStripesInBlock + kLanes + i];
  size_t stripe = 0, at = 0;
  const auto next = [&](const std::byte* data) {
    Accumulate(lanes, data, &kSecret[stripe]);
    if (++stripe < kStripesInBlock) return;
    Scramble(lanes);
    stripe = 0;
  };
  for (; bytes.size() - at >= kStripe; at += kStripe) next(bytes.data() + at);
  std::array<std::byte, kStripe> rest = {};
  if (at < bytes.size()) {
    std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
    next(rest.data());
  }
  Scramble(lanes);
  const uint64_t size = bytes.size();
  return {.low = Merge(lanes, size * 0x9e3779b97f4a7c15, 0), .high = Merge(lanes, ~size, kLanes + 3)};
}

}  // namespace nnefc
