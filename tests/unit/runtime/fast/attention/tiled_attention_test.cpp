// The memory and the conditions of attention by blocks of queries.

#include "runtime/fast/attention/tiled_attention.h"

#include <gtest/gtest.h>

#include <array>

#include "runtime/fast/simd/dispatch.h"

namespace nnefc::runtime::fast::attention {
namespace {

// Sizes of attention without its division into blocks.
AttentionSizes SizesOfHeads(int64_t heads, int64_t queries, int64_t keys, int threads = 1) {
  return {.batches = heads,
          .queries = queries,
          .keys = keys,
          .width = 24,
          .values = 48,
          .rows = 0,
          .group = 1,
          .threads = threads,
          .causal = false,
          .type = memory::StorageType::kF32};
}

int64_t RoundedUp(int64_t number, int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// Returns the scratch memory with blocks of `rows` queries: of each thread, keys and values in tiles of 32
// columns, queries and scores in blocks of 16 columns, a row of the mask, and the sums of the rows.
size_t BytesWithBlocksOf(int64_t rows, const AttentionSizes& sizes) {
  int64_t operands = RoundedUp(sizes.keys, 32) * sizes.width + RoundedUp(sizes.width, 16) * rows;
  // In 8 bits: groups of four, the initial sum of each key, and queries up to whole cache lines.
  const int64_t width = RoundedUp(sizes.width, 4);
  if (sizes.operands)
    operands = RoundedUp(sizes.keys, 16) * (width + 4) / 4 + RoundedUp(rows * width, 64) / 4;
  const int64_t floats = operands + RoundedUp(sizes.values, 32) * sizes.keys +
                         RoundedUp(sizes.keys, 16) * (rows + 1) + RoundedUp(rows, 16);
  return static_cast<size_t>(floats * sizes.threads) * sizeof(float);
}

// Each of several threads gets four blocks or more, unless they would have fewer than 28 queries. The scores
// of a block fit into 65,536 floats. Blocks are of about equal size.
TEST(TiledAttentionTest, ScratchMemoryOfBlocks) {
  struct Case {
    AttentionSizes sizes;
    int64_t rows;
  };
  const std::array cases = {
      Case{SizesOfHeads(1, 1, 5), 1},           Case{SizesOfHeads(1, 64, 33), 64},
      Case{SizesOfHeads(1, 400, 33), 400},      Case{SizesOfHeads(2, 401, 33), 401},
      Case{SizesOfHeads(1, 400, 33, 2), 50},    Case{SizesOfHeads(1, 224, 33, 2), 28},
      Case{SizesOfHeads(1, 225, 33, 2), 29},    Case{SizesOfHeads(1, 168, 33, 2), 28},
      Case{SizesOfHeads(127, 128, 33, 32), 64}, Case{SizesOfHeads(128, 127, 33, 32), 127},
      Case{SizesOfHeads(4, 512, 128), 512},     Case{SizesOfHeads(4, 512, 129), 256},
      Case{SizesOfHeads(4, 512, 2000), 32},     Case{SizesOfHeads(4, 29 * 5, 2259), 29},
      Case{SizesOfHeads(4, 29 * 5, 2260), 25},  Case{SizesOfHeads(4, 28 * 5, 2600), 28},
  };
  const std::array<kernels::ValueInfo, 3> operands = {};
  for (const Case& each : cases) {
    const AttentionSizes& sizes = each.sizes;
    EXPECT_EQ(MakeTiledAttention({.inputs = operands}, sizes).scratch_bytes,
              BytesWithBlocksOf(each.rows, sizes))
        << sizes.batches << " x " << sizes.queries << " queries, " << sizes.keys << " keys, " << sizes.threads
        << " threads";
  }
}

TEST(TiledAttentionTest, ScratchMemoryOfQuantizedOperands) {
  const std::array<kernels::ValueInfo, 3> operands = {};
  for (const int64_t keys : {1, 16, 17, 33}) {
    for (const int64_t width : {1, 4, 5, 64}) {
      AttentionSizes sizes = SizesOfHeads(2, 31, keys);
      sizes.width = width;
      sizes.operands.emplace();
      EXPECT_EQ(MakeTiledAttention({.inputs = operands}, sizes).scratch_bytes, BytesWithBlocksOf(31, sizes))
          << keys << " keys of " << width;
    }
  }
}

// Keys and values fit into 196,608 floats.
TEST(TiledAttentionTest, KeysAndValuesStayInACache) {
  if (!simd::HasSimd()) GTEST_SKIP() << "all reasons are those of the processor";
  const auto applies = [](int64_t keys, int64_t width, bool is_quantized) {
    AttentionSizes sizes = SizesOfHeads(1, 10, keys);
    sizes.width = width;
    if (is_quantized) sizes.operands.emplace();
    return TiledAttentionApplies(sizes).empty();
  };
  EXPECT_TRUE(applies(196608 / (24 + 48), 24, false));
  EXPECT_FALSE(applies(196608 / (24 + 48) + 1, 24, false));
  // Four 8-bit values have the size of a float.
  EXPECT_TRUE(applies(196608 / (6 + 48), 24, true));
  EXPECT_FALSE(applies(196608 / (6 + 48) + 1, 24, true));
  EXPECT_TRUE(applies(196608 / (7 + 48), 25, true));
  EXPECT_FALSE(applies(196608 / (7 + 48) + 1, 25, true));
}

TEST(TiledAttentionTest, MatmulsInBf16AreThoseOfAmx) {
  if (!simd::HasSimd()) GTEST_SKIP() << "all reasons are those of the processor";
  AttentionSizes sizes = SizesOfHeads(1, 1, 5);
  EXPECT_EQ(TiledAttentionApplies(sizes).ToString(), "");
  sizes.type = memory::StorageType::kBf16;
  EXPECT_EQ(TiledAttentionApplies(sizes).ToString(), "AMX multiplies bf16");
}

}  // namespace
}  // namespace nnefc::runtime::fast::attention
