// A bump allocator for the lifetime of a plan.

#include "runtime/tensor/page_stack.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "compiler/support/allocation.h"

namespace nnefc::runtime::tensor {

namespace {

size_t RoundUp(size_t size, size_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace

// An address range aligned to large pages.
class PageStack::Slab {
 public:
  // Returns null on failure.
  static std::shared_ptr<Slab> Make(size_t size) {
    const size_t whole = size + kLargePage;
    void* mapped = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* begin = static_cast<std::byte*>(mapped);
    const size_t before =
        RoundUp(reinterpret_cast<uintptr_t>(begin), kLargePage) - reinterpret_cast<uintptr_t>(begin);
    if (before > 0) ::munmap(begin, before);
    ::munmap(begin + before + size, whole - before - size);
    return std::shared_ptr<Slab>(new Slab(begin + before, size));
  }
  ~Slab() { ::munmap(data_, size_); }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  Slab(std::byte* data, size_t size) : data_(data), size_(size) {}

  std::byte* data_;
  size_t size_;
};

PageStack::Piece PageStack::Take(size_t size) {
  constexpr size_t kLeast = 2 * kLargePage, kMost = 32 * kLargePage;
  if (size > SIZE_MAX / 2) return {};
  const size_t rounded = RoundUp(std::max<size_t>(size, 1), kTensorAlignment);
  if (slab_ == nullptr || rounded > slab_->size() - used_) {
    const size_t next = slab_ == nullptr ? kLeast : std::min(2 * slab_->size(), kMost);
    UseLargePages();
    std::shared_ptr<Slab> slab = Slab::Make(std::max(next, RoundUp(rounded, kLargePage)));
    if (slab == nullptr) return {};
    slab_ = std::move(slab);
    used_ = large_ = 0;
  }
  std::byte* data = slab_->data() + used_;
  used_ += rounded;
  return {data, slab_};
}

void PageStack::UseLargePages() {
  const size_t filled = WorthLargePages(used_);
  if (filled <= large_) return;
  // A failure only affects speed.
  (void)::madvise(slab_->data() + large_, filled - large_, MADV_HUGEPAGE);
  large_ = filled;
}

}  // namespace nnefc::runtime::tensor
