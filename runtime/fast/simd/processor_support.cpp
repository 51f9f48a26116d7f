#include "runtime/fast/simd/processor_support.h"

#include "runtime/fast/simd/simd_math.h"

namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE {

bool IsSupported() {
#if defined(NNEFC_X86_AVX512)
  return WidestVectorUnit() >= VectorUnit::kAvx512;
#elif defined(NNEFC_X86)
  return WidestVectorUnit() >= VectorUnit::kAvx2;
#else
  return true;
#endif
}

}  // namespace nnefc::runtime::fast::simd::NNEFC_SIMD_NAMESPACE
