#pragma once

#include <bit>
#include <cstdint>

#include "compiler/support/x86.h"

namespace nnefc::runtime::fast::simd {

// f32 functions that compilers can vectorise in loops: no branches, no calls. Relative errors are below 1e-6.
// NaN is preserved.

#define NNEFC_VECTOR [[gnu::always_inline]] inline

// Forces addressing relative to an advancing pointer; compilers would use the start with long displacements.
template <typename Number>
NNEFC_VECTOR void AddressFrom(const Number*& pointer) {
  asm volatile("" : "+r"(pointer));
}

NNEFC_VECTOR float VectorClamp(float x, float low, float high) {
  const float y = low > x ? low : x;
  return high < y ? high : y;
}

// Rounds with ties to even; magnitudes above 2^22 are unchanged. If a product must be rounded first, compute
// it in a separate loop, because compilers contract it to FMA.
NNEFC_VECTOR float VectorRound(float x) {
  constexpr float kRound = 12582912.0f;  // the last mantissa bit has the value 1
  return x + kRound - kRound;
}

// Returns floor(x + 0.5) without the rounding error of the sum: 0 for 0.49999997. Requires |x| < 2^22.
NNEFC_VECTOR float VectorRoundHalfUp(float x) {
  const float nearest = VectorRound(x);
  return nearest + (x - nearest == 0.5f ? 1.0f : 0.0f);
}

// e^x / 2^n, where n is the integer nearest to x / log(2).
NNEFC_VECTOR float VectorExpSeries(float x, float n) {
  // The remainder of x after n * log(2), and its series.
  float r = x - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float series = 1.9875691500e-4f;
  series = series * r + 1.3981999507e-3f;
  series = series * r + 8.3334519073e-3f;
  series = series * r + 4.1665795894e-2f;
  series = series * r + 1.6666665459e-1f;
  series = series * r + 5.0000001201e-1f;
  return series * r * r + r + 1.0f;
}

// e^x; 0 below 1.2e-38, and at most 2.3e38.
NNEFC_VECTOR float VectorExp(float given) {
  const float x = VectorClamp(given, -87.3f, 88.3f);
  constexpr float kRound = 12582912.0f;  // the last mantissa bit has the value 1
  const float rounded = x * 1.44269504f + kRound;
  const float n = rounded - kRound;
  const float series = VectorExpSeries(x, n);
  const uint32_t exponent = std::bit_cast<uint32_t>(rounded) - std::bit_cast<uint32_t>(kRound);
  const float result = series * std::bit_cast<float>((exponent + 127u) << 23);
  return given < -87.3f ? 0.0f : result;
}

// e^x for all x, including denormal, zero and infinite results.
NNEFC_VECTOR float VectorExpOfAll(float given) {
  const float x = VectorClamp(given, -105.0f, 89.0f);
  constexpr float kRound = 12582912.0f;
  const float rounded = x * 1.44269504f + kRound;
  const float series = VectorExpSeries(x, rounded - kRound);
  // Two factors, since 2^n may not be a normal number.
  const int32_t n = std::bit_cast<int32_t>(rounded) - std::bit_cast<int32_t>(kRound);
  const int32_t half = n >> 1;
  const auto power = [](int32_t exponent) __attribute__((always_inline)) {
    return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
  };
  return series * power(half) * power(n - half);
}

// 1 / (1 + e^-x); 0 if e^-x overflows.
NNEFC_VECTOR float VectorSigmoid(float x) {
  const float result = 1.0f / (1.0f + VectorExp(-x));
  return x < -88.3f ? 0.0f : result;
}

// tanh(y) as a quotient of polynomials; rounds to 1 beyond 7.9.
inline constexpr float kTanhEnd = 7.9053111f;
template <typename Number>
NNEFC_VECTOR void TanhQuotient(const Number& y, Number& above, Number& below) {
  const Number s = y * y;
  above = -2.76076847742355e-16f * s + 2.00018790482477e-13f;
  above = above * s - 8.60467152213735e-11f;
  above = above * s + 5.12229709037114e-08f;
  above = above * s + 1.48572235717979e-05f;
  above = above * s + 6.37261928875436e-04f;
  above = above * s + 4.89352455891786e-03f;
  above = y * above;
  below = 1.19825839466702e-06f * s + 1.18534705686654e-04f;
  below = below * s + 2.26843463243900e-03f;
  below = below * s + 4.89352518554385e-03f;
}

NNEFC_VECTOR float VectorTanh(float x) {
  float above, below;
  TanhQuotient(VectorClamp(x, -kTanhEnd, kTanhEnd), above, below);
  return above / below;
}

// erf(y) as a quotient of polynomials; rounds to 1 beyond the end.
inline constexpr float kErfEnd = 4.0f;
template <typename Number>
NNEFC_VECTOR void ErfQuotient(const Number& y, Number& above, Number& below) {
  const Number s = y * y;
  above = -2.72614225801306e-10f * s + 2.77068142495902e-08f;
  above = above * s - 2.10102402082508e-06f;
  above = above * s - 5.69250639462346e-05f;
  above = above * s - 7.34990630326855e-04f;
  above = above * s - 2.95459980854025e-03f;
  above = above * s - 1.60960333262415e-02f;
  above = y * above;
  below = -1.45660718464996e-05f * s - 2.13374055278905e-04f;
  below = below * s - 1.68282697438203e-03f;
  below = below * s - 7.37332916720468e-03f;
  below = below * s - 1.42647390514189e-02f;
}

NNEFC_VECTOR float VectorErf(float x) {
  float above, below;
  ErfQuotient(VectorClamp(x, -kErfEnd, kErfEnd), above, below);
  return above / below;
}

// Correctly rounded x / divisor without a division (Markstein), if neither operand is close to the limits of
// normal numbers. Requires FMA.
struct VectorQuotient {
  explicit VectorQuotient(float by) : divisor(by), inverse(1.0f / by) {}

  NNEFC_VECTOR float Of(float x) const {
    const float q = x * inverse;
    return __builtin_fmaf(__builtin_fmaf(-q, divisor, x), inverse, q);
  }

  float divisor, inverse;
};

#undef NNEFC_VECTOR

#if defined(NNEFC_X86)
// The instruction sets for which loops are compiled.
enum class VectorUnit : uint8_t { kBaseline, kAvx2, kAvx512 };
// Returns the widest one that this processor has.
inline VectorUnit WidestVectorUnit() {
  static const VectorUnit unit = [] {
    const bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return fma && wide ? VectorUnit::kAvx512 : fma ? VectorUnit::kAvx2 : VectorUnit::kBaseline;
  }();
  return unit;
}
// Clang ignores a list of targets with an unknown one.
#if defined(__clang__)
#define NNEFC_TARGET_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
#else
#define NNEFC_TARGET_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512"
#endif
// Call `loop()`, compiled for the instruction set, with all functions that it calls inlined. The processor
// must have it.
template <typename Loop>
[[gnu::target(NNEFC_TARGET_AVX512), gnu::flatten, gnu::noinline]] void RunInAvx512(const Loop& loop) {
  loop();
}
template <typename Loop>
[[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] void RunInAvx2(const Loop& loop) {
  loop();
}
// Whether this build has loops for the instruction set with vectors of `width` floats (instruction_sets.h).
#if defined(NNEFC_ONLY_SIMD_WIDTH)
constexpr bool HasLoops(int64_t width) {
  return width == NNEFC_ONLY_SIMD_WIDTH;
}
#else
constexpr bool HasLoops(int64_t) {
  return true;
}
#endif
// Calls `loop()`, compiled for the widest available vectors with FMA. Results differ in the last bits between
// processors.
template <typename Loop>
void Vectorized(const Loop& loop) {
  const VectorUnit unit = WidestVectorUnit();
  if constexpr (HasLoops(16)) {
    if (unit == VectorUnit::kAvx512) return RunInAvx512(loop);
  }
  if constexpr (HasLoops(8)) {
    if (unit != VectorUnit::kBaseline) return RunInAvx2(loop);
  }
  loop();
}
#else
template <typename Loop>
void Vectorized(const Loop& loop) {
  loop();
}
#endif

}  // namespace nnefc::runtime::fast::simd
