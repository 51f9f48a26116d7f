// Convolutions in operands, results and scratch memory of exact size: no access beyond their ends.

#include "tests/unit/runtime/fast/exact_memory.h"

namespace nnefc::runtime::fast::conv {
namespace {

using engine::WindowSetting;

TEST(ConvolutionMemoryTest, ImplementationsStayInTheirMemory) {
  if (!simd::HasSimd()) GTEST_SKIP() << "the implementations need vectors";
  for (const int64_t channels : {16, 20, 33}) {
    const WindowSetting threes{
        .input = {2, channels, 9, 20}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
    for (const int64_t outputs : {3, 5})
      EXPECT_EQ(RunInExactMemory(InMemory(Conv(threes, outputs), Memory::kBlocks), {2, outputs, 9, 20},
                                 "few_outputs"),
                0);
    for (const int64_t outputs : {16, 33}) {
      EXPECT_EQ(RunInExactMemory(Conv(threes, outputs), {2, outputs, 9, 20}, "direct"), 0);
      EXPECT_EQ(RunInExactMemory(Conv(threes, outputs), {2, outputs, 9, 20}, "winograd"), 0);
    }
    for (const char* id : {"depthwise", "depthwise_rows"})
      EXPECT_EQ(RunInExactMemory(Grouped(threes, channels, 1, 1), {2, channels, 9, 20}, id), 0);
  }
  const WindowSetting groups{.input = {2, 0, 9, 20}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  EXPECT_EQ(RunInExactMemory(Grouped(groups, 4, 8, 8), {2, 32, 9, 20}, "grouped"), 0);
  const WindowSetting whole_blocks{.input = {1, 32, 12, 5}, .window = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  EXPECT_EQ(RunInExactMemory(Conv(whole_blocks, 33), {1, 33, 12, 5}, "im2col"), 0);
}

}  // namespace
}  // namespace nnefc::runtime::fast::conv
