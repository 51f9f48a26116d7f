// Vectors of 8-bit values and weights in groups of four, and their dot products (dot4), for files compiled
// per vector width (simd/dispatch.h).
#pragma once

#include <cstring>

#include "runtime/fast/simd/int8/dot2.h"
#include "runtime/fast/simd/int8/saturating_int8_microkernel.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

using Uint8Vector = uint8_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH)));
using UnalignedUint8Vector =
    uint8_t __attribute__((vector_size(4 * NNEFC_SIMD_WIDTH), aligned(1), may_alias));
constexpr int64_t kVectorWeights = kQuad * kSimdWidth;

// Broadcasts a group of four values.
NNEFC_SIMD_INLINE inline void BroadcastQuad(const void* from, Uint8Vector& codes) {
  int32_t all;
  std::memcpy(&all, from, sizeof(all));
  codes = reinterpret_cast<Uint8Vector>(Int32Vector{} + all);
}

// Computes dot4 with scalar code, for targets without an instruction.
NNEFC_SIMD_INLINE inline void ScalarDot4(const Uint8Vector& codes, const int8_t* weights,
                                         Uint32Vector& sums) {
  for (int64_t i = 0; i < kSimdWidth; ++i) {
    int32_t sum = 0;
    for (int64_t j = kQuad * i; j < kQuad * (i + 1); ++j) sum += int32_t{codes[j]} * weights[j];
    sums[i] = static_cast<uint32_t>(sum);
  }
}

// Accumulates dot4 of u8 values and i8 weights; requires HasVnni().
NNEFC_SIMD_INLINE inline void AddQuads(Uint32Vector& sums, const Uint8Vector& codes,
                                       const Uint8Vector& weights) {
#if defined(NNEFC_X86_AVX512)
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(codes), "v"(weights));
#elif defined(NNEFC_X86_AVX2)
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(codes), "x"(weights));
#else
  Uint32Vector products;
  ScalarDot4(codes, reinterpret_cast<const int8_t*>(&weights), products);
  sums += products;
#endif
}

NNEFC_SIMD_INLINE inline void LoadAccumulators(const int32_t* from, Uint32Vector& sums) {
  sums = reinterpret_cast<Uint32Vector>(+*reinterpret_cast<const UnalignedInt32Vector*>(from));
}
NNEFC_SIMD_INLINE inline void StoreAccumulators(const Uint32Vector& sums, int32_t* to) {
  *reinterpret_cast<UnalignedInt32Vector*>(to) = reinterpret_cast<Int32Vector>(sums);
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
