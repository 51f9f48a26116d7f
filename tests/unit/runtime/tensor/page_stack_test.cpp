#include "runtime/tensor/page_stack.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include "compiler/support/allocation.h"

namespace nnefc::runtime::tensor {
namespace {

TEST(PageStackTest, PiecesLieBehindOneAnother) {
  PageStack stack;
  const std::byte* expected = nullptr;
  for (size_t size : {1, 64, 100, 5000, 70000}) {
    const PageStack::Piece piece = stack.Take(size);
    ASSERT_NE(piece.data, nullptr);
    EXPECT_TRUE(expected == nullptr || piece.data == expected);
    expected = piece.data + (size + 63) / 64 * 64;
    for (size_t i = 0; i < size; ++i) ASSERT_EQ(piece.data[i], std::byte{0});
    std::memset(piece.data, 0xff, size);
  }
}

TEST(PageStackTest, PiecesOutliveTheStack) {
  std::vector<PageStack::Piece> pieces;
  {
    PageStack stack;
    // More than the first addresses have room for, and one larger than any other.
    for (size_t size : {3 * kLargePage, 3 * kLargePage, size_t{100}, 40 * kLargePage, size_t{0}}) {
      pieces.push_back(stack.Take(size));
      ASSERT_NE(pieces.back().data, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().data) % 64, 0u);
      stack.UseLargePages();
    }
  }
  for (size_t i = 0; i < pieces.size(); ++i) pieces[i].data[0] = static_cast<std::byte>(i + 1);
  for (size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(pieces[i].data[0], static_cast<std::byte>(i + 1));
}

// Addresses before and after the aligned range are given back, and with its last piece the range.
TEST(PageStackTest, GivesAddressesBack) {
  const auto mapped = [] {
    std::ifstream file("/proc/self/statm");
    size_t pages = 0;
    file >> pages;
    return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  };
  if (mapped() == 0) GTEST_SKIP() << "for systems that report the size of a process";
  const size_t before = mapped();
  for (int i = 0; i < 64; ++i) ASSERT_NE(PageStack().Take(1).data, nullptr);
  EXPECT_LT(mapped(), before + kLargePage);
}

// Pages that are never written use no memory, and large pages end before a page that is filled by less than
// half.
TEST(PageStackTest, TakesNoMemoryBeforeItIsWritten) {
  PageStack stack;
  const size_t size = 2 * kLargePage - kLargePage / 2 - 8192;
  const PageStack::Piece piece = stack.Take(size);
  ASSERT_NE(piece.data, nullptr);
  stack.UseLargePages();
  constexpr size_t kPage = 4096;
  const auto resident = [&] {
    std::vector<unsigned char> pages(size / kPage);
    EXPECT_EQ(::mincore(piece.data, size, pages.data()), 0);
    size_t count = 0;
    for (unsigned char page : pages) count += page & 1;
    return count;
  };
  EXPECT_EQ(resident(), 0u);
  piece.data[kLargePage] = std::byte{1};
  EXPECT_EQ(resident(), 1u);
}

TEST(PageStackTest, HasNoMoreThanThereIs) {
  PageStack stack;
  EXPECT_EQ(stack.Take(SIZE_MAX).data, nullptr);
  EXPECT_EQ(stack.Take(SIZE_MAX / 4).data, nullptr);
  EXPECT_EQ(stack.Take(SIZE_MAX / 4 - kLargePage / 2).data, nullptr);
  const PageStack::Piece piece = stack.Take(1);
  ASSERT_NE(piece.data, nullptr);
  piece.data[0] = std::byte{1};  // a failure adds no addresses
  EXPECT_EQ(piece.data[0], std::byte{1});
}

// Returns the mapped addresses of the process, in pages.
size_t MappedPages() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(PageStackTest, ReleasesAllAddresses) {
  constexpr int kStacks = 64;
  const size_t before = MappedPages();
  for (int i = 0; i < kStacks; ++i) {
    PageStack stack;
    ASSERT_NE(stack.Take(1).data, nullptr);
  }
  // Less than a large page of each.
  EXPECT_LT(MappedPages(), before + kStacks / 2 * kLargePage / 4096);
}

}  // namespace
}  // namespace nnefc::runtime::tensor
