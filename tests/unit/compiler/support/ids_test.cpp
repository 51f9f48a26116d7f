// Typed ids as keys of hash tables.

#include "compiler/support/ids.h"

#include <gtest/gtest.h>

#include "llvm/ADT/DenseMap.h"

namespace nnefc {
namespace {

using Id = TypedId<struct IdsTestTag>;

// A hash table needs two keys that are no ids, not even the one that stands for none.
TEST(IdsTest, KeysOfHashTablesAreNoIds) {
  const Id empty = llvm::DenseMapInfo<Id>::getEmptyKey(), erased = llvm::DenseMapInfo<Id>::getTombstoneKey();
  EXPECT_NE(empty, erased);
  for (const Id key : {empty, erased}) {
    EXPECT_FALSE(key.valid());
    EXPECT_NE(key, Id());
  }
  EXPECT_FALSE(Id().valid());
  EXPECT_EQ(Id(), Id(-1));
}

TEST(IdsTest, ErasedKeysDoNotHideOthers) {
  constexpr int32_t kCount = 1000;
  llvm::DenseMap<Id, int32_t> numbers;
  for (int32_t i = -1; i < kCount; ++i) numbers[Id(i)] = i;
  for (int32_t i = -1; i < kCount; i += 2) EXPECT_TRUE(numbers.erase(Id(i)));
  for (int32_t i = -1; i < kCount; ++i) {
    const bool is_kept = i % 2 == 0;
    EXPECT_EQ(numbers.count(Id(i)), is_kept ? 1u : 0u) << i;
    if (is_kept) {
      EXPECT_EQ(numbers.lookup(Id(i)), i);
    }
  }
}

}  // namespace
}  // namespace nnefc
