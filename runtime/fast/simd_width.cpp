#include "compiler/support/x86.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime {

int64_t DetectSimdWidth() {
  if (NamedInstructionLimit() < InstructionLimit::kAvx2) return 0;
#if defined(NNEFC_X86)
#if defined(NNEFC_EMULATE_WIDE)
  constexpr VectorUnit kNeeded = VectorUnit::kAvx2;
#else
  constexpr VectorUnit kNeeded = VectorUnit::kAvx512;
#endif
  const VectorUnit unit = WidestVectorUnit();
  if (unit == VectorUnit::kBaseline) return 0;
  const bool is_wide = unit >= kNeeded && NamedInstructionLimit() >= InstructionLimit::kAvx512;
  return is_wide ? kSimdWidth512 : kSimdWidth256;
#else
  return 0;
#endif
}

}  // namespace nnefc::runtime
