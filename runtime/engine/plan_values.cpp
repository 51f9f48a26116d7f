#include "runtime/engine/plan_values.h"

#include <algorithm>

#include "runtime/tensor/arena.h"

namespace nnefc::runtime {

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
  // Later searches start at the root.
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

bool PlaceInArena(Plan& plan) {
  PlanValues values(&plan.values);
  constexpr int64_t kNever = -1;
  std::vector<int64_t> first(plan.values.size(), kNever);
  std::vector<int64_t> last(plan.values.size(), kNever);
  const auto touch = [&](ValueId id, int64_t step) {
    const size_t root = static_cast<size_t>(values.Find(id).root);
    if (first[root] == kNever) first[root] = step;
    last[root] = step;
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (ValueId id : step.inputs) touch(id, static_cast<int64_t>(i));
    for (ValueId id : step.outputs) touch(id, static_cast<int64_t>(i));
    if (step.scratch >= 0) touch(step.scratch, static_cast<int64_t>(i));
  }
  for (const PlanResult& result : plan.results) touch(result.value, static_cast<int64_t>(plan.steps.size()));

  std::vector<ValueId> roots;
  std::vector<ArenaRequest> requests;
  for (size_t i = 0; i < plan.values.size(); ++i) {
    if (plan.values[i].storage != PlanValue::Storage::kArena) continue;
    const ValueId id = static_cast<ValueId>(i);
    if (values.Find(id).root != id || first[i] == kNever) continue;
    roots.push_back(id);
    requests.push_back({.bytes = plan.values[i].bytes, .first = first[i], .last = last[i]});
  }
  const std::optional<ArenaPlan> arena = PlanArena(requests);
  if (!arena) return false;
  for (size_t i = 0; i < roots.size(); ++i) {
    plan.values[static_cast<size_t>(roots[i])].arena_offset = arena->offsets[i];
  }
  plan.arena_bytes = arena->size;
  return true;
}

}  // namespace nnefc::runtime
