// The description of the instruction sets that kernels use.

#include "runtime/fast/describe.h"

#include "fmt/core.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast {

std::string DescribeInstructions() {
  return fmt::format("AVX-512 {}, bf16 {}, VNNI {}, AMX {}, lanes {}", HasAvx512(), HasBf16(), HasVnni(),
                     HasAmx(), simd::SimdWidth());
}

}  // namespace nnefc::runtime::fast
