#include "compiler/support/allocation.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {
namespace {

TEST(AllocationTest, APageIsLargeThatIsHalfFilled) {
  EXPECT_EQ(WorthLargePages(0), 0U);
  EXPECT_EQ(WorthLargePages(kLargePage / 2 - 1), 0U);
  EXPECT_EQ(WorthLargePages(kLargePage / 2), kLargePage);
  EXPECT_EQ(WorthLargePages(kLargePage + 1), kLargePage);
  EXPECT_EQ(WorthLargePages(2 * kLargePage - 1), 2 * kLargePage);
}

TEST(AllocationTest, BeginsAtALinesOrALargePagesAddress) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{65}, kLargePage / 2 - 1, kLargePage / 2, kLargePage + 1,
                      3 * kLargePage - 1}) {
    const std::unique_ptr<void, decltype(&std::free)> data(AllocateAligned(size), &std::free);
    ASSERT_NE(data, nullptr) << size;
    const size_t alignment = WorthLargePages(size) > 0 ? kLargePage : kTensorAlignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data.get()) % alignment, 0U) << size;
    std::memset(data.get(), 1, size);
  }
}

TEST(AllocationTest, HasNoMoreThanThereIs) {
  for (size_t size : {SIZE_MAX, SIZE_MAX - kLargePage, SIZE_MAX / 2, SIZE_MAX / 2 - kLargePage})
    EXPECT_EQ(AllocateAligned(size), nullptr) << size;
}

// Returns the flags (/proc/self/smaps) of the memory that begins at or before an address, such as "rd wr hg".
std::string FlagsAt(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char separator = 0;
    std::istringstream words(line);
    if (words >> std::hex >> begin >> separator >> end && separator == '-')
      is_there = begin <= reinterpret_cast<uintptr_t>(address) && reinterpret_cast<uintptr_t>(address) < end;
    if (is_there && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

// A large page is asked for where it is at least half filled, and only there.
TEST(AllocationTest, AsksForLargePages) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"))
    GTEST_SKIP() << "the kernel has no large pages";
  for (const size_t size : {kLargePage / 2 - 1, kLargePage / 2, 3 * kLargePage}) {
    const std::unique_ptr<void, decltype(&std::free)> data(AllocateAligned(size), &std::free);
    ASSERT_NE(data, nullptr);
    const std::string flags = FlagsAt(data.get());
    ASSERT_NE(flags, "");
    EXPECT_EQ(flags.find(" hg") != std::string::npos, WorthLargePages(size) > 0) << size << ": " << flags;
  }
}

// Returns the bytes that the program has allocated.
size_t AllocatedBytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Vector instructions may read the last line of a buffer as a whole; a line more would be waste.
TEST(AllocationTest, HasWholeLines) {
  for (const size_t size : {size_t{1}, kTensorAlignment, kTensorAlignment + 1, 2 * kTensorAlignment}) {
    const std::unique_ptr<void, decltype(&std::free)> data(AllocateAligned(size), &std::free);
    const size_t lines = (size - 1) / kTensorAlignment + 1;
    const size_t usable = ::malloc_usable_size(data.get());
    EXPECT_GE(usable, lines * kTensorAlignment) << size;
    EXPECT_LT(usable, (lines + 1) * kTensorAlignment) << size;
  }
}

// Containers may hand memory of one allocator to another.
TEST(AllocationTest, AllocatorsAreEqual) {
  EXPECT_TRUE(AlignedAllocator<char>() == AlignedAllocator<char>());
}

TEST(AllocationTest, IsFreed) {
  constexpr size_t kSize = size_t{1} << 20;
  AlignedAllocator<char> allocator;
  const size_t before = AllocatedBytes();
  char* data = allocator.allocate(kSize);
  const bool is_counted = AllocatedBytes() >= before + kSize;
  allocator.deallocate(data, kSize);
  if (!is_counted) GTEST_SKIP() << "the allocator keeps no such counts";
  EXPECT_LT(AllocatedBytes(), before + kSize);
  Buffer::Allocate(kSize).reset();
  EXPECT_LT(AllocatedBytes(), before + kSize);
}

}  // namespace
}  // namespace nnefc
