#include "compiler/support/x86.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast {

int64_t DetectSimdWidth() {
  if (NamedInstructionLimit() < InstructionLimit::kAvx2) return 0;
#if defined(NNEFC_X86)
#if defined(NNEFC_EMULATE_WIDE)
  constexpr simd::VectorUnit kNeeded = simd::VectorUnit::kAvx2;
#else
  constexpr simd::VectorUnit kNeeded = simd::VectorUnit::kAvx512;
#endif
  const simd::VectorUnit unit = simd::WidestVectorUnit();
  if (unit == simd::VectorUnit::kBaseline) return 0;
  const bool is_wide = unit >= kNeeded && NamedInstructionLimit() >= InstructionLimit::kAvx512;
  return is_wide ? simd::kSimdWidth512 : simd::kSimdWidth256;
#else
  return 0;
#endif
}

}  // namespace nnefc::runtime::fast
