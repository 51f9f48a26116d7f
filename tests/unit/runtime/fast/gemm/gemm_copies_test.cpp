// The memory for copies of the rows of a matrix.

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/fast/gemm/gemm.h"
#include "runtime/fast/simd/dispatch.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::gemm {
namespace {

// Returns the numbers in the scratch memory of a product of row-major matrices.
int64_t CopiedNumbers(int64_t rows, int64_t terms, int64_t outputs, int threads) {
  const tensor::ThreadScope scope(threads);
  const kernels::ValueInfo inputs[] = {{.type = ElementType::kF32, .shape = {rows, terms}},
                                       {.type = ElementType::kF32, .shape = {terms, outputs}}};
  const kernels::ValueInfo result{.type = ElementType::kF32, .shape = {rows, outputs}};
  const kernels::KernelOrReason kernel = MakeGemm({.inputs = inputs, .outputs = result},
                                                  {.images = 1,
                                                   .rows = rows,
                                                   .terms = terms,
                                                   .outputs = outputs,
                                                   .is_blocked = false,
                                                   .inputs_first = true},
                                                  {}, {});
  return static_cast<int64_t>(kernel->scratch_bytes / sizeof(float));
}

// A thread that computes all columns copies its rows in parts, of the size of a cache or a half more.
TEST(GemmCopiesTest, PartsFitIntoTheCache) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  for (const int64_t terms : {1 << 16, 1 << 18, 1 << 20}) {
    EXPECT_LE(CopiedNumbers(16, terms, 1024, 1), 2 * simd::L2Floats()) << terms;
    EXPECT_GE(CopiedNumbers(16, terms, 1024, 1), simd::L2Floats() / 2) << terms;
  }
}

// There are as many parts as caches that the rows fill, rounded to the nearest, half up.
TEST(GemmCopiesTest, NumberOfParts) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  constexpr int64_t kRows = 16, kBlock = simd::kBlockColumns;
  const int64_t blocks_of_cache = simd::L2Floats() / (kRows * kBlock);
  for (const auto& [tenths, parts] : {std::pair<int64_t, int64_t>{1, 1},
                                      {4, 1},
                                      {6, 1},
                                      {10, 1},
                                      {14, 1},
                                      {16, 2},
                                      {20, 2},
                                      {24, 2},
                                      {26, 3},
                                      {34, 3},
                                      {36, 4}}) {
    const int64_t blocks = blocks_of_cache * tenths / 10;
    EXPECT_EQ(CopiedNumbers(kRows, blocks * kBlock, 1024, 1),
              tensor::CeilDivide(blocks, parts) * kBlock * kRows)
        << tenths;
  }
  if (simd::L2Floats() % (2 * kRows * kBlock) != 0) return;
  for (const int64_t more : {-1, 0}) {
    const int64_t blocks = blocks_of_cache * 3 / 2 + more;
    EXPECT_EQ(CopiedNumbers(kRows, blocks * kBlock, 1024, 1),
              tensor::CeilDivide(blocks, more < 0 ? 1 : 2) * kBlock * kRows)
        << more;
  }
}

// Threads that share the columns copy all terms of their rows: a panel each, or together at most 64
// mebibytes.
TEST(GemmCopiesTest, CopiesOfAllThreadsAreLimited) {
  if (!simd::HasSimd()) GTEST_SKIP() << "for AVX2";
  constexpr int64_t kMost = int64_t{1} << 24, kTerms = int64_t{1} << 18;
  for (const int threads : {2, 4, 8}) {
    EXPECT_LE(CopiedNumbers(448, kTerms, 8192, threads), std::max(kMost, threads * simd::TileRows() * kTerms))
        << threads;
  }
}

}  // namespace
}  // namespace nnefc::runtime::fast::gemm
