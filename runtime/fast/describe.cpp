#include "runtime/fast/describe.h"
#include "runtime/fast/register.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/onednn/dnnl_layout.h"

#include "fmt/core.h"

namespace nnefc::runtime {
namespace {

std::string_view NameOf(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::sse41:
      return "SSE 4.1";
    case dnnl::cpu_isa::avx:
      return "AVX";
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx2_vnni:
      return "AVX2 with VNNI";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    case dnnl::cpu_isa::avx512_core_vnni:
      return "AVX-512 with VNNI";
    case dnnl::cpu_isa::avx512_core_bf16:
      return "AVX-512 with VNNI and bf16";
    case dnnl::cpu_isa::avx512_core_amx:
      return "AVX-512 with VNNI, bf16 and AMX";
    default:
      return "no vector instructions that it names";
  }
}

}  // namespace

std::string DescribeOneDnn() {
  const dnnl_version_t* found = dnnl_version();
  if (found == nullptr) return OneDnnLoadError();
  const dnnl_version_t& version = *found;
  return fmt::format("oneDNN {}.{}.{}, which uses {}", version.major, version.minor, version.patch,
                     NameOf(dnnl::get_effective_cpu_isa()));
}

std::string DescribeInstructions() {
  return fmt::format("oneDNN {}.{}.{}, AVX-512 {}, bf16 {}, VNNI {}, AMX {}, lanes {}", DNNL_VERSION_MAJOR,
                     DNNL_VERSION_MINOR, DNNL_VERSION_PATCH, HasAvx512(), HasBf16(), HasVnni(), HasAmx(),
                     SimdWidth());
}

}  // namespace nnefc::runtime
