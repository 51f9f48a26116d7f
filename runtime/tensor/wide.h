#pragma once

#include "compiler/support/x86.h"

namespace nnefc::runtime {

#if defined(NNEFC_X86)
inline bool HasWideRegisters() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
// A copy of the loop in instructions of 256 bits. Without `fma`: results are
// those of the portable copy, bit for bit.
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

// Calls `loop()`, which is compiled for the widest registers that change no
// result. For inner loops: what they call must be visible to the compiler.
template <typename Loop>
void Wide(const Loop& loop) {
  if (HasWideRegisters()) return RunInWideRegisters(loop);
  loop();
}

}  // namespace nnefc::runtime
