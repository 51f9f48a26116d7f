// The placement of a plan's values in one arena: values that are live at the same time do not overlap.

#include "runtime/tensor/arena.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace nnefc::runtime::tensor {

namespace {

// The free ranges of a growing arena. Adjacent ranges are merged.
class FreeList {
 public:
  // Returns the offset of `bytes` free bytes from the smallest range that fits, or else from the end of the
  // arena.
  size_t Take(size_t bytes) {
    auto fit = by_size_.lower_bound({bytes, 0});
    if (fit != by_size_.end()) {
      const auto [size, offset] = *fit;
      Remove(offset, size);
      if (size > bytes) Add(offset + bytes, size - bytes);
      return offset;
    }
    size_t offset = end_;
    // A free range at the end is extended.
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

size_t Rounded(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}
// Returns the size of a request in the arena.
size_t RoundedBytes(const ArenaRequest& request) {
  return Rounded(std::max<size_t>(request.bytes, 1));
}

// Returns the indices of the requests in stable order of `less`.
template <typename Less>
std::vector<size_t> Sorted(Requests requests, Less less) {
  std::vector<size_t> order(requests.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return less(requests[a], requests[b]); });
  return order;
}

// Best-fit placement in order of `first`, in O(n log n).
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

// A byte range [begin, end) of the arena that is live from step `first` to step `last`.
struct Span {
  size_t begin, end;
  int64_t first, last;

  bool MeetsInTime(const Span& other) const { return first <= other.last && other.first <= last; }
};

// Returns the live ranges of a request, relative to its begin.
std::vector<Span> SpansOf(const ArenaRequest& request) {
  if (request.parts.empty()) return {{0, RoundedBytes(request), request.first, request.last}};
  std::vector<Span> spans;
  for (const ArenaPart& part : request.parts) {
    const size_t begin = part.offset / kArenaAlignment * kArenaAlignment;
    spans.push_back({begin, Rounded(part.offset + part.bytes), part.first, part.last});
  }
  return spans;
}

// Returns the lowest offset of at least `offset` at which the span does not overlap a placed one. `placed` is
// sorted by begin.
size_t LowestPlace(const Span& span, size_t offset, llvm::ArrayRef<Span> placed) {
  for (const Span& other : placed) {
    if (offset + span.end <= other.begin) break;
    if (other.end <= offset + span.begin || !span.MeetsInTime(other)) continue;
    offset = other.end - std::min(other.end, span.begin);
  }
  return offset;
}

// Greedy placement by decreasing size: each request gets the lowest offset without conflicts, so small ones
// fill gaps. Quadratic time.
ArenaPlan PlaceBySize(Requests requests) {
  ArenaPlan plan;
  plan.offsets.resize(requests.size());
  std::vector<Span> placed;  // sorted by begin
  // Among requests of equal size, longer-lived ones have fewer gaps to choose from.
  const auto larger = [](const ArenaRequest& a, const ArenaRequest& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.last - a.first > b.last - b.first;
  };
  for (size_t request : Sorted(requests, larger)) {
    const std::vector<Span> spans = SpansOf(requests[request]);
    size_t offset = 0;
    // Repeated until the offset suits all spans.
    for (bool moved = true; moved;) {
      const size_t before = offset;
      for (const Span& span : spans) offset = Rounded(LowestPlace(span, offset, placed));
      moved = offset != before;
    }
    plan.offsets[request] = offset;
    for (const Span& span : spans) {
      const Span there{offset + span.begin, offset + span.end, span.first, span.last};
      plan.size = std::max(plan.size, there.end);
      const auto place = std::upper_bound(placed.begin(), placed.end(), there,
                                          [](const Span& a, const Span& b) { return a.begin < b.begin; });
      placed.insert(place, there);
    }
  }
  return plan;
}

}  // namespace

std::optional<ArenaPlan> PlanArena(llvm::ArrayRef<ArenaRequest> requests) {
  size_t sum = 0;
  for (const ArenaRequest& request : requests) {
    const size_t limit = std::numeric_limits<size_t>::max() / 2;
    if (request.bytes > limit - kArenaAlignment || sum > limit - kArenaAlignment - request.bytes)
      return std::nullopt;
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
  arena.size_ = Rounded(std::max<size_t>(size, 1));
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

}  // namespace nnefc::runtime::tensor
