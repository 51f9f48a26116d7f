// int8 dot products for few outputs. Vectors of values and weights are multiplied without broadcasts; the
// lanes of each accumulator are summed at the end, for all accumulators at once.

#include "runtime/fast/simd/int8/few_output_dots_microkernel.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/fast/simd/int8/dot4.h"
#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

namespace {

// Returns the sums of neighbouring lanes, those of `a` first.
NNEFC_SIMD_INLINE inline Uint32Vector NeighbourSums(const Uint32Vector& a, const Uint32Vector& b) {
  IndexVector even, odd;
#pragma GCC unroll 16
  for (int i = 0; i < kSimdWidth; ++i) {
    even[i] = 2 * i;
    odd[i] = 2 * i + 1;
  }
  const auto x = reinterpret_cast<FloatVector>(a), y = reinterpret_cast<FloatVector>(b);
  FloatVector first, second;
  Permute(x, y, even, first);
  Permute(x, y, odd, second);
  return reinterpret_cast<Uint32Vector>(first) + reinterpret_cast<Uint32Vector>(second);
}

template <int kOutputs>
NNEFC_SIMD_INLINE inline void FewOutputDotsOf(const FewOutputDots& call) {
  constexpr int kWidth = static_cast<int>(kSimdWidth);
  constexpr int kGroup = kOutputs == 3 ? 4 : kOutputs, kPixels = std::max(1, kWidth / kGroup);
  Uint32Vector sums[kWidth] = {};  // order: output, pixel
  const int8_t* weights = call.weights;
  for (int64_t strip = 0; strip < call.strip_count; ++strip) {
    const uint8_t* codes = call.codes + call.strips[strip];
    for (int64_t vector = 0; vector < call.vectors; ++vector, codes += sizeof(Uint8Vector)) {
      Uint8Vector own[kOutputs];
#pragma GCC unroll 4
      for (int output = 0; output < kOutputs; ++output, weights += sizeof(Uint8Vector))
        own[output] = *reinterpret_cast<const UnalignedUint8Vector*>(weights);
#pragma GCC unroll 16
      for (int i = 0; i < kPixels; ++i) {
        const Uint8Vector seen = *reinterpret_cast<const UnalignedUint8Vector*>(codes + call.seen[i]);
#pragma GCC unroll 4
        for (int output = 0; output < kOutputs; ++output)
          AddQuads(sums[output * kPixels + i], seen, own[output]);
      }
    }
  }
#pragma GCC unroll 4
  for (int count = kWidth / 2; count > 0; count /= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) sums[i] = NeighbourSums(sums[2 * i], sums[2 * i + 1]);
  }
  std::array<int32_t, kSimdWidth> totals;
  std::memcpy(totals.data(), &sums[0], sizeof(totals));
#pragma GCC unroll 4
  for (int output = 0; output < kOutputs; ++output) {
    int32_t* out = call.sums + output * call.stride;
    const auto start = static_cast<uint32_t>(call.start[output]);
    for (int i = 0; i < kPixels; ++i)
      out[i] = static_cast<int32_t>(static_cast<uint32_t>(totals[static_cast<size_t>(output * kPixels + i)]) +
                                    start);
  }
}

template <int kOutputs>
void CallFewOutputDots(const FewOutputDots& given) {
  RunSimd([&]() NNEFC_SIMD_INLINE {
    const FewOutputDots call = given;  // local copy, to exclude aliasing
    FewOutputDotsOf<kOutputs>(call);
  });
}

constexpr std::array<void (*)(const FewOutputDots&), kMaxDotOutputs> kFewOutputDots = {
    CallFewOutputDots<1>, CallFewOutputDots<2>, CallFewOutputDots<3>, CallFewOutputDots<4>};

}  // namespace

void RunFewOutputDots(int64_t outputs, const FewOutputDots& dots) {
  kFewOutputDots[static_cast<size_t>(outputs - 1)](dots);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
