#include "runtime/onednn/threading.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "runtime/onednn/onednn.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/count_threads.h"

namespace nnefc::runtime {
namespace {

constexpr dnnl_dim_t kSize = 256;

// The product of matrices of ones, 256 x 256, by oneDNN's own division of work,
// which has barriers for some of them.
bool MultipliesRight(const char* transposed) {
  const std::vector<float> ones(kSize * kSize, 1.0f);
  std::vector<float> product(kSize * kSize);
  if (dnnl_sgemm(*transposed, 'N', kSize, kSize, kSize, 1, ones.data(), kSize, ones.data(), kSize, 0,
                 product.data(), kSize) != dnnl_success)
    return false;
  return product == std::vector<float>(kSize * kSize, static_cast<float>(kSize));
}

int ThreadsAfterProduct(int threads) {
  const ThreadScope scope(threads);
  return MultipliesRight("N") && MultipliesRight("T") ? CountThreads() : 0;
}

TEST(DnnThreadingDeathTest, OneDnnWorksOnTheTeamOfTheScope) {
  ASSERT_TRUE(InstallOneDnnThreads(reinterpret_cast<const void*>(OneDnn().dnnl_version)));
  for (int threads : {1, 2, 5})
    EXPECT_EXIT(std::_Exit(ThreadsAfterProduct(threads)), testing::ExitedWithCode(threads), "");
}

// What else in the process uses oneDNN keeps what it had.
TEST(DnnThreadingTest, OutsideOfScopesNothingChanges) {
  ASSERT_TRUE(InstallOneDnnThreads(reinterpret_cast<const void*>(OneDnn().dnnl_version)));
  EXPECT_TRUE(MultipliesRight("N"));
  EXPECT_TRUE(MultipliesRight("T"));
}

}  // namespace
}  // namespace nnefc::runtime
