// Merging of narrow groups of a convolution, by the sizes of AMX tiles: 32 inputs by 16 outputs.

#include "runtime/onednn/weighted/merged_groups.h"

#include <gtest/gtest.h>

#include <vector>

namespace nnefc::runtime::onednn {
namespace {

struct MergedCase {
  int64_t groups, inputs, outputs, merged;
};

// Full tiles are best, then tiles with all columns of outputs, then more than a tile of at most 128 inputs.
constexpr MergedCase kMergedCases[] = {
    {1, 4, 4, 1},   {8, 1, 1, 1},    {64, 1, 2, 1},    {64, 2, 1, 1},  {4, 32, 32, 1}, {4, 33, 33, 1},
    {4, 31, 31, 2}, {8, 4, 4, 8},    {16, 4, 4, 8},    {4, 4, 4, 4},   {12, 4, 4, 4},  {2, 16, 16, 2},
    {3, 16, 16, 1}, {8, 8, 8, 4},    {6, 8, 8, 2},     {5, 8, 8, 5},   {3, 8, 8, 1},   {3, 12, 12, 3},
    {2, 12, 12, 1}, {6, 12, 12, 3},  {3, 4, 4, 1},     {64, 2, 2, 16}, {24, 2, 2, 8},  {12, 2, 2, 1},
    {7, 24, 24, 1}, {5, 24, 24, 5},  {10, 24, 24, 2},  {9, 8, 16, 9},  {9, 16, 8, 9},  {4, 8, 32, 4},
    {4, 32, 8, 4},  {128, 3, 3, 16}, {11, 11, 11, 11}, {13, 11, 11, 1}};

TEST(MergedGroupsTest, NumbersOfGroups) {
  for (const MergedCase& each : kMergedCases)
    EXPECT_EQ(GroupsToMerge(each.groups, each.inputs, each.outputs), each.merged)
        << each.groups << " groups of " << each.inputs << " inputs and " << each.outputs << " outputs";
}

TEST(MergedGroupsTest, Filters) {
  EXPECT_EQ(ToString(MergedFilter({8, 4, 4, 3, 5}, 4)), "[2,16,16,3,5]");
  EXPECT_EQ(ToString(MergedFilter({8, 4, 4, 3, 5}, 8)), "[32,32,3,5]");
  EXPECT_EQ(ToString(MergedFilter({6, 2, 5, 3}, 2)), "[3,4,10,3]");
  EXPECT_EQ(ToString(MergedFilter({2, 3, 5, 7}, 2)), "[6,10,7]");
}

// Each output has the filters of the inputs of its own group, and zeros for the others.
TEST(MergedGroupsTest, FiltersWithZerosBetweenGroups) {
  struct FilterCase {
    Shape filter;
    int64_t merged;
  };
  for (const FilterCase& each :
       {FilterCase{{6, 2, 3, 2, 2}, 3}, {{6, 2, 3, 2, 2}, 6}, {{4, 3, 5, 2}, 2}, {{2, 1, 3, 3, 1}, 2}}) {
    SCOPED_TRACE(ToString(each.filter) + " by " + std::to_string(each.merged));
    const Shape whole = MergedFilter(each.filter, each.merged);
    const int64_t outputs = each.filter[1], inputs = each.filter[2];
    const int64_t taps = *Volume(llvm::ArrayRef<int64_t>(each.filter).drop_front(3));
    std::vector<float> given, result(static_cast<size_t>(*Volume(whole)), -1);
    for (int64_t i = 0; i < *Volume(each.filter); ++i) given.push_back(static_cast<float>(i + 1));
    const auto kernel =
        MakeMergedFilterReorder(each.filter, each.merged, fast::memory::RowMajorFormat(whole));
    ASSERT_NE(kernel, nullptr);
    const tensor::TensorView input(ElementType::kF32, each.filter,
                                   reinterpret_cast<const std::byte*>(given.data()));
    const tensor::MutableTensorView output(ElementType::kF32, whole,
                                           reinterpret_cast<std::byte*>(result.data()));
    ASSERT_TRUE(kernel->Run({.inputs = {&input}, .outputs = {&output}}).ok());
    const int64_t row_taps = each.merged * inputs * taps;
    for (size_t i = 0; i < result.size(); ++i) {
      // Rows are the outputs of all groups in order.
      const int64_t at = static_cast<int64_t>(i), row = at / row_taps, tap = at % row_taps;
      const int64_t group = row / outputs, first = group % each.merged * inputs * taps;
      const bool is_own = tap >= first && tap < first + inputs * taps;
      ASSERT_EQ(result[i], is_own ? static_cast<float>(row * inputs * taps + tap - first + 1) : 0) << i;
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::onednn
