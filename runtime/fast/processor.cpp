// The instruction sets of this processor that kernels may use.

#include "runtime/fast/processor.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "compiler/support/x86.h"
#include "runtime/fast/simd/loop_math.h"

#if defined(NNEFC_X86)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace nnefc::runtime::fast {

using simd::InstructionLimit;

namespace {

std::string_view NamedInstructions() {
  const char* name = std::getenv("ONEDNN_MAX_CPU_ISA");
  return name == nullptr ? "" : name;
}

InstructionLimit FindLimit() {
  using Limit = InstructionLimit;
  constexpr std::array<std::pair<std::string_view, Limit>, 7> kNames = {{
      {"SSE41", Limit::kAvx},
      {"AVX", Limit::kAvx},
      {"AVX2", Limit::kAvx2},
      {"AVX2_VNNI", Limit::kAvx2Vnni},
      {"AVX512_CORE", Limit::kAvx512},
      {"AVX512_CORE_VNNI", Limit::kAvx512Vnni},
      {"AVX512_CORE_BF16", Limit::kAvx512Bf16},
  }};
  for (const auto& [name, limit] : kNames) {
    if (name == NamedInstructions()) return limit;
  }
  return Limit::kAmx;
}

#if defined(NNEFC_X86)
constexpr unsigned kFeatures = 7;

// Returns true if the processor has tiles with bf16 and int8 products, and the system permits their use.
bool HasPermittedTiles() {
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24, kInt8 = 1U << 25;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(kFeatures, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & (kBf16 | kTiles | kInt8)) != (kBf16 | kTiles | kInt8)) return false;
  // Linux saves the tiles of a process only on request: ARCH_REQ_XCOMP_PERM of arch_prctl.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Intel processors with AMX compute bf16 dot products in vector units at half the speed of f32 (one dot
// product every second cycle), including virtual machines that hide AMX. Cooper Lake and AMD processors are
// twice as fast with bf16.
bool IsBf16Slow() {
  return __builtin_cpu_is("intel") != 0 && __builtin_cpu_is("cooperlake") == 0;
}

// AVX-VNNI, with 256-bit registers.
bool HasNarrowVnni() {
  constexpr unsigned kVnni = 1U << 4;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kFeatures, 1, &a, &b, &c, &d) != 0 && (a & kVnni) != 0;
}
#endif

}  // namespace

InstructionLimit NamedInstructionLimit() {
  static const InstructionLimit limit = FindLimit();
  return limit;
}

#if defined(NNEFC_X86)
bool HasAvx512() {
  return NamedInstructionLimit() >= InstructionLimit::kAvx512 &&
         simd::WidestVectorUnit() == simd::VectorUnit::kAvx512;
}

bool HasBf16() {
  return NamedInstructionLimit() >= InstructionLimit::kAvx512Bf16 && HasAvx512() &&
         __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bf16") != 0;
}

bool HasAmx() {
  static const bool has =
      NamedInstructionLimit() >= InstructionLimit::kAmx && HasBf16() && HasPermittedTiles();
  return has;
}

bool HasVnni() {
  static const bool has = HasAvx512()
                              ? NamedInstructionLimit() >= InstructionLimit::kAvx512Vnni &&
                                    __builtin_cpu_supports("avx512vnni") != 0
                              : NamedInstructionLimit() >= InstructionLimit::kAvx2Vnni && HasNarrowVnni();
  return has;
}

kernels::Precision EffectivePrecision(kernels::Precision precision) {
  if (precision != kernels::Precision::kBf16) return precision;
  static const bool is_faster = HasAmx() || (HasBf16() && (!NamedInstructions().empty() || !IsBf16Slow()));
  return is_faster ? precision : kernels::Precision::kF32;
}
#else
bool HasAvx512() {
  return false;
}

bool HasBf16() {
  return false;
}

bool HasAmx() {
  return false;
}

bool HasVnni() {
  return false;
}

kernels::Precision EffectivePrecision(kernels::Precision precision) {
  return precision == kernels::Precision::kBf16 ? kernels::Precision::kF32 : precision;
}
#endif

}  // namespace nnefc::runtime::fast
