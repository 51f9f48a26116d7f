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

using Requests = llvm::ArrayRef<ArenaRequest>;

// What a request takes of the arena.
size_t RoundedBytes(const ArenaRequest& request) {
  const size_t bytes = std::max<size_t>(request.bytes, 1);
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// Requests by what `less` says of them, those that are alike in their order.
template <typename Less>
std::vector<size_t> Sorted(Requests requests, Less less) {
  std::vector<size_t> order(requests.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return less(requests[a], requests[b]); });
  return order;
}

// Best fit among what is free, in order of `first`. Quick, however many there are.
ArenaPlan PlaceInTime(Requests requests) {
  ArenaPlan plan;
  plan.offsets.resize(requests.size());
  FreeList free_list;
  using Expiry = std::pair<int64_t, size_t>;  // last step, request
  std::priority_queue<Expiry, std::vector<Expiry>, std::greater<>> live;
  const auto earlier = [](const ArenaRequest& a, const ArenaRequest& b) { return a.first < b.first; };
  for (size_t request : Sorted(requests, earlier)) {
    while (!live.empty() && live.top().first < requests[request].first) {
      free_list.Give(plan.offsets[live.top().second], RoundedBytes(requests[live.top().second]));
      live.pop();
    }
    plan.offsets[request] = free_list.Take(RoundedBytes(requests[request]));
    live.emplace(requests[request].last, request);
  }
  plan.size = free_list.end();
  return plan;
}

// The largest first, each as low as those that live with it and are placed leave room: the small ones fill
// what lies between. The time grows with the square of their number.
ArenaPlan PlaceBySize(Requests requests) {
  ArenaPlan plan;
  plan.offsets.resize(requests.size());
  std::vector<size_t> placed;  // by their offsets
  const auto larger = [](const ArenaRequest& a, const ArenaRequest& b) { return a.bytes > b.bytes; };
  for (size_t request : Sorted(requests, larger)) {
    const ArenaRequest& wanted = requests[request];
    size_t offset = 0;
    for (size_t other : placed) {
      const bool together = requests[other].first <= wanted.last && wanted.first <= requests[other].last;
      if (!together) continue;
      if (offset + RoundedBytes(wanted) <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + RoundedBytes(requests[other]));
    }
    plan.offsets[request] = offset;
    plan.size = std::max(plan.size, offset + RoundedBytes(wanted));
    const auto place = std::upper_bound(placed.begin(), placed.end(), offset,
                                        [&](size_t at, size_t other) { return at < plan.offsets[other]; });
    placed.insert(place, request);
  }
  return plan;
}

}  // namespace

std::optional<ArenaPlan> PlanArena(llvm::ArrayRef<ArenaRequest> requests) {
  size_t sum = 0;
  for (const ArenaRequest& request : requests) {
    const size_t limit = std::numeric_limits<size_t>::max() / 2;
    if (request.bytes > limit - kArenaAlignment || sum > limit - request.bytes) return std::nullopt;
    sum += request.bytes + kArenaAlignment;
  }
  ArenaPlan plan = PlaceInTime(requests);
  constexpr size_t kFew = 2000;
  if (requests.size() > kFew) return plan;
  ArenaPlan other = PlaceBySize(requests);
  return other.size < plan.size ? other : plan;
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
