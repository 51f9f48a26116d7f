#include <cstdlib>
#include <string_view>

#include "compiler/support/x86.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime {

int64_t DetectSimdWidth() {
  const char* limit = std::getenv("ONEDNN_MAX_CPU_ISA");
  if (limit == nullptr) limit = std::getenv("DNNL_MAX_CPU_ISA");
  const std::string_view most = limit == nullptr ? "" : limit;
  if (most == "SSE41" || most == "AVX") return 0;
#if defined(NNEFC_X86)
#if defined(NNEFC_EMULATE_WIDE)
  constexpr VectorUnit kNeeded = VectorUnit::kAvx2;
#else
  constexpr VectorUnit kNeeded = VectorUnit::kAvx512;
#endif
  const VectorUnit unit = WidestVectorUnit();
  if (unit == VectorUnit::kBaseline) return 0;
  return unit >= kNeeded && !most.starts_with("AVX2") ? kSimdWidth512 : kSimdWidth256;
#else
  return 0;
#endif
}

}  // namespace nnefc::runtime
