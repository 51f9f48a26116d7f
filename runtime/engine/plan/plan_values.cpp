// The values of a plan under construction.

#include "runtime/engine/plan/plan_values.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "runtime/tensor/arena.h"

namespace nnefc::runtime::engine::plan {

ValueId PlanValues::Add(PlanValue value) {
  const ValueId id = static_cast<ValueId>(values_->size());
  if (value.root < 0) value.root = id;
  values_->push_back(std::move(value));
  pending_reads_.push_back(0);
  return id;
}

PlanValues::Place PlanValues::Find(ValueId id) {
  Place place{id, 0};
  while ((*this)[place.root].root != place.root) {
    place.offset += (*this)[place.root].offset;
    place.root = (*this)[place.root].root;
  }
  // Path compression: later searches start at the root.
  if (place.root != id) {
    (*this)[id].root = place.root;
    (*this)[id].offset = place.offset;
  }
  return place;
}

void PlanValues::Join(ValueId root, ValueId whole, size_t offset) {
  PlanValue& value = (*this)[root];
  NNEFC_CHECK(value.root == root && root != whole);
  value.root = whole;
  value.offset = offset;
  pending_reads_[static_cast<size_t>(Find(whole).root)] += pending_reads_[static_cast<size_t>(root)];
}

bool PlanValues::IsDead(ValueId id) {
  const Place place = Find(id);
  const PlanValue& root = (*this)[place.root];
  return root.storage == PlanValue::Storage::kArena && place.offset == 0 && root.bytes == (*this)[id].bytes &&
         pending_reads_[static_cast<size_t>(place.root)] == 0;
}

namespace {

constexpr int64_t kNever = -1;

// The steps at which values are written and read.
class Lifetimes {
 public:
  explicit Lifetimes(Plan& plan) : plan_(plan), values_(&plan.values), steps_(plan.values.size()) {
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      for (ValueId id : step.inputs) Touch(id, static_cast<int64_t>(i));
      for (ValueId id : step.outputs) Touch(id, static_cast<int64_t>(i));
      if (step.scratch >= 0) Touch(step.scratch, static_cast<int64_t>(i));
    }
    for (const PlanResult& result : plan.results)
      Touch(result.value, static_cast<int64_t>(plan.steps.size()));
    for (size_t i = 0; i < plan.values.size(); ++i) {
      const ValueId id = static_cast<ValueId>(i);
      if (steps_[i].first != kNever) members_[values_.Find(id).root].push_back(id);
    }
  }

  // Returns the arena buffers to be placed, with their sizes and lifetimes.
  std::vector<std::pair<ValueId, tensor::ArenaRequest>> Requests() {
    std::vector<std::pair<ValueId, tensor::ArenaRequest>> requests;
    for (auto& [root, members] : members_) {
      const PlanValue& value = plan_.values[static_cast<size_t>(root)];
      if (value.storage != PlanValue::Storage::kArena) continue;
      requests.emplace_back(root, RequestOf(value, members));
    }
    return requests;
  }

 private:
  struct Steps {
    int64_t first = kNever, last = kNever;

    void Add(const Steps& other) {
      first = first == kNever ? other.first : std::min(first, other.first);
      last = std::max(last, other.last);
    }
    bool operator==(const Steps&) const = default;
  };

  void Touch(ValueId id, int64_t step) { steps_[static_cast<size_t>(id)].Add({step, step}); }

  // Returns the request for a buffer. If parts of it have different lifetimes, each part gets its own: the
  // last part of a concatenation need not exist when the first one is written.
  tensor::ArenaRequest RequestOf(const PlanValue& root, llvm::ArrayRef<ValueId> members) {
    constexpr size_t kMaxMembers = 200;  // the time is quadratic in their number
    Steps whole;
    std::vector<size_t> ends = {root.bytes};
    for (ValueId id : members) {
      whole.Add(steps_[static_cast<size_t>(id)]);
      const size_t begin = values_.Find(id).offset;
      for (size_t end : {begin, begin + plan_.values[static_cast<size_t>(id)].bytes})
        if (end > 0 && end < root.bytes) ends.push_back(end);
    }
    tensor::ArenaRequest request{.bytes = root.bytes, .first = whole.first, .last = whole.last};
    if (ends.size() == 1 || members.size() > kMaxMembers) return request;
    llvm::sort(ends);
    size_t begin = 0;
    for (size_t end : ends) {
      if (end == begin) continue;
      const Steps steps = StepsOf(begin, end, members);
      if (steps.first != kNever) AddPart(request.parts, {begin, end - begin, steps.first, steps.last});
      begin = end;
    }
    return request;
  }

  // Returns the lifetime of a byte range. No member may begin or end inside it.
  Steps StepsOf(size_t begin, size_t end, llvm::ArrayRef<ValueId> members) {
    Steps steps;
    for (ValueId id : members) {
      const size_t offset = values_.Find(id).offset;
      if (offset < end && begin < offset + plan_.values[static_cast<size_t>(id)].bytes)
        steps.Add(steps_[static_cast<size_t>(id)]);
    }
    return steps;
  }

  static void AddPart(std::vector<tensor::ArenaPart>& parts, const tensor::ArenaPart& part) {
    const bool goes_on = !parts.empty() && parts.back().offset + parts.back().bytes == part.offset &&
                         parts.back().first == part.first && parts.back().last == part.last;
    if (goes_on) {
      parts.back().bytes += part.bytes;
    } else {
      parts.push_back(part);
    }
  }

  const Plan& plan_;
  PlanValues values_;
  std::vector<Steps> steps_;
  std::map<ValueId, std::vector<ValueId>> members_;  // used values by root
};

}  // namespace

bool PlaceInArena(Plan& plan) {
  std::vector<ValueId> roots;
  std::vector<tensor::ArenaRequest> requests;
  for (auto& [root, request] : Lifetimes(plan).Requests()) {
    roots.push_back(root);
    requests.push_back(std::move(request));
  }
  const std::optional<tensor::ArenaPlan> arena = tensor::PlanArena(requests);
  if (!arena) return false;
  for (size_t i = 0; i < roots.size(); ++i) {
    plan.values[static_cast<size_t>(roots[i])].arena_offset = arena->offsets[i];
  }
  plan.arena_bytes = arena->size;
  return true;
}

}  // namespace nnefc::runtime::engine::plan
