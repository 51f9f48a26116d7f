#pragma once

#include "compiler/support/x86.h"

namespace nnefc::runtime::tensor {

// Whether inner loops are compiled for speed, in variants for vectors. A quick build (NNEFC_QUICK) compiles
// each loop once.
#if defined(NNEFC_QUICK)
inline constexpr bool kHasLoopVariants = false;
#else
inline constexpr bool kHasLoopVariants = true;
#endif

#if defined(NNEFC_X86)
inline bool HasWideRegisters() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
// Compiles a copy of the loop for AVX2 without FMA, so that results are bit-identical to the portable copy.
template <typename Loop>
[[gnu::target("avx2"), gnu::flatten, gnu::noinline]] void RunInWideRegisters(const Loop& loop) {
  loop();
}
#else
constexpr bool HasWideRegisters() {
  return false;
}
template <typename Loop>
void RunInWideRegisters(const Loop& loop) {
  loop();
}
#endif

// Calls `loop()`, compiled for the widest vectors that change no result. Intended for inner loops; the
// functions they call must be inlinable.
template <typename Loop>
void Wide(const Loop& loop) {
  if constexpr (kHasLoopVariants) {
    if (HasWideRegisters()) return RunInWideRegisters(loop);
  }
  loop();
}

}  // namespace nnefc::runtime::tensor
