#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nnefc::runtime::tensor {

// Vector instructions take some 150 cycles for each subnormal operand or result (magnitudes below 2^-126). In
// this mode of a thread these are 0. Parallel loops run in the mode of the thread that starts them. Other
// processors than x86-64 need no such mode.
#if defined(__x86_64__)
inline constexpr uint32_t kSubnormalsAreZero =
    0x8040;  // the bits of results and operands in the register MXCSR

inline bool SubnormalsAreZero() {
  return (_mm_getcsr() & kSubnormalsAreZero) == kSubnormalsAreZero;
}
inline void SetSubnormalsAreZero(bool are_zero) {
  const uint32_t control = _mm_getcsr();
  const uint32_t wanted = are_zero ? control | kSubnormalsAreZero : control & ~kSubnormalsAreZero;
  if (wanted != control) _mm_setcsr(wanted);
}
#else
inline bool SubnormalsAreZero() {
  return false;
}
inline void SetSubnormalsAreZero(bool) {}
#endif

// A scope in which subnormal operands and results of the thread are 0.
class SubnormalsAsZero {
 public:
  SubnormalsAsZero() : before_(SubnormalsAreZero()) { SetSubnormalsAreZero(true); }
  ~SubnormalsAsZero() { SetSubnormalsAreZero(before_); }
  SubnormalsAsZero(const SubnormalsAsZero&) = delete;
  SubnormalsAsZero& operator=(const SubnormalsAsZero&) = delete;

 private:
  const bool before_;
};

}  // namespace nnefc::runtime::tensor
