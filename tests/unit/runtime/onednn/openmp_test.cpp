#include "runtime/onednn/library/openmp.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "runtime/onednn/onednn.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/count_threads.h"

namespace nnefc::runtime::onednn {
namespace {

constexpr int64_t kSize = 256;

// Multiplies matrices of ones, 256 x 256, with oneDNN's own division of work, which has barriers.
bool MultipliesRight() {
  const std::vector<float> ones(kSize * kSize, 1.0f);
  std::vector<float> product(kSize * kSize);
  const library::OneDnnLibrary* library = LoadOneDnn();
  if (library == nullptr) return false;
  const std::string error = library->MultiplyAdd({.rows = kSize,
                                                  .columns = kSize,
                                                  .terms = kSize,
                                                  .left = ones.data(),
                                                  .right = ones.data(),
                                                  .right_stride = kSize,
                                                  .out = product.data()});
  return error.empty() && product == std::vector<float>(kSize * kSize, static_cast<float>(kSize));
}

int ThreadsAfterProduct(int threads) {
  const ThreadCounter counter;
  const tensor::ThreadScope scope(threads);
  return MultipliesRight() ? counter.Count() : 0;
}

TEST(OneDnnOpenMpDeathTest, OneDnnWorksOnTheTeamOfTheScope) {
  for (int threads : {1, 2, 5})
    EXPECT_EXIT(std::_Exit(ThreadsAfterProduct(threads)), testing::ExitedWithCode(threads), "");
}

// Other users of oneDNN in the process keep GCC's OpenMP.
TEST(OneDnnOpenMpTest, OutsideOfScopesNothingChanges) {
  EXPECT_TRUE(MultipliesRight());
}

}  // namespace
}  // namespace nnefc::runtime::onednn
