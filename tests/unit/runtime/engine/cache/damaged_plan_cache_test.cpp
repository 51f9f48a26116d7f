// Entries of the plan cache with changed numbers and matching digests.

#include <algorithm>
#include <cstring>
#include <span>

#include "tests/unit/runtime/engine/cache/plan_cache_test.h"

namespace nnefc::runtime::engine::cache {
namespace {

// An entry with changed numbers and matching digests.
class HostileEntryTest : public PlanCacheTest {
 protected:
  // Offsets of the format, in bytes.
  static constexpr size_t kFileBytes = 8, kModel = 16, kCount = 32, kIndexDigest = 40, kCheck = 56,
                          kItems = 72;
  static constexpr size_t kItem = 48, kItemOffset = 16, kItemSize = 24, kItemContent = 32;

  HostileEntryTest() {
    Run(Network());
    whole_ = ReadAll(Entry());
    EXPECT_EQ(Number(kFileBytes), whole_.size());
    EXPECT_EQ(Number(kCount), 2);
  }

  uint64_t Number(size_t at) const {
    uint64_t number = 0;
    std::memcpy(&number, whole_.data() + at, sizeof number);
    return number;
  }
  template <typename T>
  static void Put(std::string& bytes, size_t at, const T& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  static Digest DigestAt(const std::string& bytes, size_t begin, size_t size) {
    return DigestOf(std::as_bytes(std::span(bytes).subspan(begin, size)));
  }
  static size_t At(size_t item, size_t field) { return kItems + item * kItem + field; }
  // Writes the digests of an index with the given number of items, and of the header.
  static void Seal(std::string& bytes, size_t items) {
    Put(bytes, kIndexDigest, DigestAt(bytes, kItems, std::min(items * kItem, bytes.size() - kItems)));
    Put(bytes, kCheck, DigestAt(bytes, 0, kCheck));
  }
  void Write(const std::string& bytes) const { std::ofstream(Entry(), std::ios::binary) << bytes; }
  void ExpectNoticedWith(size_t at, uint64_t number) const {
    std::string bytes = whole_;
    Put(bytes, at, number);
    Seal(bytes, Number(kCount));
    Write(bytes);
    ExpectNoticed(std::to_string(number) + " at " + std::to_string(at));
  }
  // Expects that the intact items of an entry are used, and the others made.
  void ExpectFound(const std::string& bytes, int64_t found) const {
    Write(bytes);
    const Outcome run = Run(Network());
    EXPECT_EQ(run.use.found, found);
    EXPECT_EQ(run.use.made, 2 - found);
    EXPECT_EQ(run.warnings, "");
    EXPECT_EQ(run.outputs, RunGraph(Network().graph, {}, Inputs()));
  }

  std::string whole_;
};

TEST_F(HostileEntryTest, OffsetsLieInTheFile) {
  const uint64_t size = whole_.size(), pages = (size + 4095) / 4096 * 4096;
  for (size_t item : {size_t{0}, size_t{1}}) {
    const uint64_t offset = Number(At(item, kItemOffset));
    for (uint64_t wrong : {offset + 1, offset - 1, offset + 64, pages, pages + 4096, uint64_t{1} << 63,
                           uint64_t{0} - 4096, uint64_t{0} - 1, uint64_t{0}})
      ExpectNoticedWith(At(item, kItemOffset), wrong);
  }
}

TEST_F(HostileEntryTest, SizesLieInTheFile) {
  for (size_t item : {size_t{0}, size_t{1}}) {
    const uint64_t offset = Number(At(item, kItemOffset)), size = Number(At(item, kItemSize));
    const uint64_t left = whole_.size() - offset;
    for (uint64_t wrong : {size - 1, size + 1, uint64_t{0}, left + 1, left + 4096, uint64_t{1} << 40,
                           uint64_t{1} << 63, uint64_t{0} - offset, uint64_t{0} - 1})
      ExpectNoticedWith(At(item, kItemSize), wrong);
  }
}

// The mapped file ends within a page: bytes after its end can be read, but belong to no item.
TEST_F(HostileEntryTest, AnItemEndsWithTheFile) {
  const size_t last = Number(At(0, kItemOffset)) > Number(At(1, kItemOffset)) ? 0 : 1;
  const uint64_t offset = Number(At(last, kItemOffset)), size = Number(At(last, kItemSize));
  ASSERT_EQ(offset + size, whole_.size());
  for (uint64_t more : {1, 64}) {
    std::string bytes = whole_;
    Put(bytes, At(last, kItemSize), size + more);
    Put(bytes, At(last, kItemContent),
        DigestAt(whole_.substr(offset) + std::string(more, '\0'), 0, size + more));
    Seal(bytes, 2);
    Write(bytes);
    ExpectNoticed(std::to_string(more) + " bytes after the end");
  }
}

// Mapped memory has the alignment that kernels need.
TEST_F(HostileEntryTest, AnItemBeginsAtAPage) {
  const size_t first = Number(At(0, kItemOffset)) < Number(At(1, kItemOffset)) ? 0 : 1;
  const uint64_t offset = Number(At(first, kItemOffset)), size = Number(At(first, kItemSize));
  for (uint64_t more : {1, 64, 2048}) {
    std::string bytes = whole_;
    Put(bytes, At(first, kItemOffset), offset + more);
    Put(bytes, At(first, kItemContent), DigestAt(whole_, offset + more, size));
    Seal(bytes, 2);
    Write(bytes);
    ExpectNoticed(std::to_string(more) + " bytes after the start of a page");
  }
}

TEST_F(HostileEntryTest, CountsOfItems) {
  const uint64_t fit = (whole_.size() - kItems) / kItem;
  for (uint64_t wrong : {uint64_t{3}, fit, fit + 1, uint64_t{1} << 60, uint64_t{1} << 63, ~uint64_t{0},
                         ~uint64_t{0} / kItem + 1, ~uint64_t{0} / kItem + 3}) {
    std::string bytes = whole_;
    Put(bytes, kCount, wrong);
    Seal(bytes, std::min<uint64_t>(wrong, fit));
    Write(bytes);
    ExpectNoticed("count " + std::to_string(wrong));
  }
  for (uint64_t fewer : {0, 1}) {
    std::string bytes = whole_;
    Put(bytes, kCount, fewer);
    Seal(bytes, fewer);
    ExpectFound(bytes, static_cast<int64_t>(fewer));
  }
}

// An entry may have a header alone, but no part of one.
TEST_F(HostileEntryTest, HeadersWithoutItems) {
  std::string header = whole_.substr(0, kItems);
  Put(header, kFileBytes, uint64_t{kItems});
  Put(header, kCount, uint64_t{0});
  Seal(header, 0);
  ExpectFound(header, 0);
  for (const size_t size : {kItems - 1, size_t{1}, size_t{0}}) {
    Write(header.substr(0, size));
    ExpectNoticed(std::to_string(size) + " bytes");
  }
}

TEST_F(HostileEntryTest, SizesOfTheFile) {
  for (uint64_t wrong : {whole_.size() - 1, whole_.size() + 1, size_t{0}, ~size_t{0}})
    ExpectNoticedWith(kFileBytes, wrong);
  ExpectNoticedWith(0, Number(0) ^ 1);  // the mark of the format
  std::string bytes = whole_;
  Put(bytes, kModel, Digest{.low = 1, .high = 2});
  Seal(bytes, 2);
  Write(bytes);
  ExpectNoticed("of another model");
}

// An item whose size differs from the step's need is not used, although its bytes are intact.
TEST_F(HostileEntryTest, AnItemOfAnotherSizeIsMadeAgain) {
  const size_t first = Number(At(0, kItemOffset)) < Number(At(1, kItemOffset)) ? 0 : 1;
  const uint64_t offset = Number(At(first, kItemOffset)), size = Number(At(first, kItemSize));
  for (uint64_t other : {uint64_t{0}, uint64_t{4}, size - 1, size + 1}) {
    std::string bytes = whole_;
    Put(bytes, At(first, kItemSize), other);
    Put(bytes, At(first, kItemContent), DigestAt(whole_, offset, other));
    Seal(bytes, 2);
    ExpectFound(bytes, 1);
    Write(whole_);
  }
}

// Two records for one item count as one; the other item is made again.
TEST_F(HostileEntryTest, TwoRecordsOfAnItem) {
  for (size_t item : {size_t{0}, size_t{1}}) {
    std::string bytes = whole_;
    bytes.replace(At(1 - item, 0), kItem, whole_, At(item, 0), kItem);
    Seal(bytes, 2);
    ExpectFound(bytes, 1);
  }
  // Swapped items have sizes other than their steps need.
  std::string bytes = whole_;
  bytes.replace(At(0, 0), kItemOffset, whole_, At(1, 0), kItemOffset);
  bytes.replace(At(1, 0), kItemOffset, whole_, At(0, 0), kItemOffset);
  Seal(bytes, 2);
  ExpectFound(bytes, 0);
}

}  // namespace
}  // namespace nnefc::runtime::engine::cache
