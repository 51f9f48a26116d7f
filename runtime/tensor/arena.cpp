#include "runtime/tensor/arena.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace nnefc::runtime {

namespace {

// The free ranges of an arena that grows at its end; neighbours are merged.
class FreeList {
 public:
  // The offset of `bytes` free bytes: the smallest range that holds them, else
  // new ones at the end.
  size_t Take(size_t bytes) {
    auto fit = by_size_.lower_bound({bytes, 0});
    if (fit != by_size_.end()) {
      const auto [size, offset] = *fit;
      Remove(offset, size);
      if (size > bytes) Add(offset + bytes, size - bytes);
      return offset;
    }
    size_t offset = end_;
    // The free range at the end, if there is one, is the start of the new one.
    if (!by_offset_.empty()) {
      const auto [last_offset, last_size] = *by_offset_.rbegin();
      if (last_offset + last_size == end_) {
        Remove(last_offset, last_size);
        offset = last_offset;
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  void Give(size_t offset, size_t size) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + size) {
      const size_t next_size = next->second;
      Remove(next->first, next_size);
      size += next_size;
    }
    auto previous = by_offset_.lower_bound(offset);
    if (previous != by_offset_.begin()) {
      --previous;
      if (previous->first + previous->second == offset) {
        const auto [previous_offset, previous_size] = *previous;
        Remove(previous_offset, previous_size);
        offset = previous_offset;
        size += previous_size;
      }
    }
    Add(offset, size);
  }

  size_t end() const { return end_; }

 private:
  void Add(size_t offset, size_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Remove(size_t offset, size_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<size_t, size_t> by_offset_;
  std::set<std::pair<size_t, size_t>> by_size_;
  size_t end_ = 0;
};

}  // namespace

std::optional<ArenaPlan> PlanArena(llvm::ArrayRef<ArenaRequest> requests) {
  std::vector<size_t> order(requests.size());
  size_t sum = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    const size_t limit = std::numeric_limits<size_t>::max() / 2;
    if (requests[i].bytes > limit - kArenaAlignment || sum > limit - requests[i].bytes) return std::nullopt;
    sum += requests[i].bytes + kArenaAlignment;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].first < requests[b].first; });

  ArenaPlan plan;
  plan.offsets.resize(requests.size());
  FreeList free_list;
  using Expiry = std::pair<int64_t, size_t>;  // last step, request
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> live;
  auto rounded = [&](size_t request) {
    const size_t bytes = std::max<size_t>(requests[request].bytes, 1);
    return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  };
  for (size_t request : order) {
    while (!live.empty() && live.top().first < requests[request].first) {
      free_list.Give(plan.offsets[live.top().second], rounded(live.top().second));
      live.pop();
    }
    plan.offsets[request] = free_list.Take(rounded(request));
    live.emplace(requests[request].last, request);
  }
  plan.size = free_list.end();
  return plan;
}

std::optional<Arena> Arena::Allocate(size_t size) {
  Arena arena;
  arena.size_ = (std::max<size_t>(size, 1) + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  arena.data_ = static_cast<std::byte*>(AllocateAligned(arena.size_));
  if (arena.data_ == nullptr) return std::nullopt;
  return arena;
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Arena::~Arena() {
  std::free(data_);
}

}  // namespace nnefc::runtime
