// The instruction sets that kernels may use, against the flags of the processor that the system reports.

#include "runtime/fast/processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <string>

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast {
namespace {

// Returns the flags of the first processor, or nothing on systems without this list.
std::set<std::string> FlagsOfProcessor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    std::set<std::string> flags;
    for (std::string word; words >> word;) flags.insert(word);
    return flags;
  }
  return {};
}

TEST(ProcessorTest, InstructionSetsAreThoseOfTheSystem) {
  using Limit = simd::InstructionLimit;
  const std::set<std::string> flags = FlagsOfProcessor();
  if (!simd::HasSimd()) GTEST_SKIP() << "a build without vectors uses no instruction sets";
  if (flags.empty()) GTEST_SKIP() << "for systems that list the flags of the processor";
  const auto has = [&](Limit limit, std::initializer_list<const char*> names) {
    return NamedInstructionLimit() >= limit &&
           std::ranges::all_of(names, [&](const char* name) { return flags.contains(name); });
  };
  const bool has_avx512 = has(Limit::kAvx512, {"avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl"});
  const bool has_bf16 = has_avx512 && has(Limit::kAvx512Bf16, {"avx512_vnni", "avx512_bf16"});
  EXPECT_EQ(HasAvx512(), has_avx512);
  EXPECT_EQ(HasBf16(), has_bf16);
  EXPECT_EQ(HasVnni(),
            has_avx512 ? has(Limit::kAvx512Vnni, {"avx512_vnni"}) : has(Limit::kAvx2Vnni, {"avx_vnni"}));
  // The system may refuse the use of tiles.
  const bool has_tiles = has_bf16 && has(Limit::kAmx, {"amx_tile", "amx_bf16", "amx_int8"});
  EXPECT_TRUE(has_tiles || !HasAmx());
}

// Only bf16 depends on the processor.
TEST(ProcessorTest, PrecisionsOfAnyProcessor) {
  for (const kernels::Precision precision : {kernels::Precision::kExact, kernels::Precision::kF32})
    EXPECT_EQ(EffectivePrecision(precision), precision);
  EXPECT_TRUE(HasBf16() || EffectivePrecision(kernels::Precision::kBf16) == kernels::Precision::kF32);
}

}  // namespace
}  // namespace nnefc::runtime::fast
