// The instruction sets of a processor and their properties.

#include "runtime/fast/simd/processor_support.h"

#include <unistd.h>

#include <algorithm>

#include "compiler/support/x86.h"
#include "tests/unit/runtime/fast/simd/simd_test.h"

namespace nnefc::runtime::fast::simd {
namespace {

TEST(InstructionSetTest, WidestFirst) {
  for (size_t i = 0; i < kInstructionSetCount; ++i) {
    EXPECT_EQ(kBlockColumns % kInstructionSets[i].width, 0) << i;
    if (i > 0) {
      EXPECT_LT(kInstructionSets[i].width, kInstructionSets[i - 1].width) << i;
    }
  }
  EXPECT_EQ(kMaxSimdWidth, kInstructionSets[0].width);
}

TEST(InstructionSetTest, BlocksPerTile) {
  EXPECT_EQ(InstructionSet{.width = 16}.blocks_per_tile(), 2);
  EXPECT_EQ(InstructionSet{.width = 8}.blocks_per_tile(), 1);
  EXPECT_EQ(InstructionSet{.width = 4}.blocks_per_tile(), 1);
}

TEST(InstructionSetTest, SupportedByTheProcessor) {
  for (size_t i = 0; i < kInstructionSetCount; ++i) {
    bool expected = true;
#if defined(NNEFC_X86)
    expected = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#if !defined(NNEFC_EMULATE_WIDE)
    if (kInstructionSets[i].width == 16)
      expected = expected && __builtin_cpu_supports("avx512f") != 0 &&
                 __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                 __builtin_cpu_supports("avx512vl") != 0;
#endif
#endif
    EXPECT_EQ(IsSupported.versions[i](), expected) << kInstructionSets[i].width;
  }
}

// Three eighths of the L2 cache, between those of 256 KiB and of 2 MiB.
TEST(InstructionSetTest, FloatsOfTheCache) {
  const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const int64_t counted = std::clamp<int64_t>(bytes, 256 << 10, 2 << 20);
  EXPECT_EQ(L2Floats(), counted * 3 / 8 / 4);
  EXPECT_EQ(L2Bytes(), 4 * L2Floats());
}

// Sets without measured costs are not selected.
TEST(InstructionSetTest, SelectedSet) {
  if (!HasSimd()) {
    EXPECT_EQ(SimdWidth(), 0);
    EXPECT_EQ(TileRows(), kInstructionSets[kInstructionSetCount - 1].tile_rows);
    return;
  }
  EXPECT_TRUE(SelectedInstructionSet().is_measured);
  EXPECT_TRUE(IsSupported());
  EXPECT_EQ(SimdWidth(), SelectedInstructionSet().width);
  EXPECT_EQ(TileRows(), SelectedInstructionSet().tile_rows);
  EXPECT_EQ(BlocksPerTile(), SelectedInstructionSet().blocks_per_tile());
  for (size_t i = 0; i < SelectedIndex(); ++i) EXPECT_GT(kInstructionSets[i].width, SimdWidth());
}

}  // namespace
}  // namespace nnefc::runtime::fast::simd
