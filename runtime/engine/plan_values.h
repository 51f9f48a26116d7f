#pragma once

#include <vector>

#include "runtime/engine/plan.h"

namespace nnefc::runtime {

// The values of a plan in the making: which are views or parts of others, how
// many reads of each buffer are still to come.
class PlanValues {
 public:
  explicit PlanValues(std::vector<PlanValue>* values) : values_(values) {}

  ValueId Add(PlanValue value);
  PlanValue& operator[](ValueId id) { return (*values_)[static_cast<size_t>(id)]; }
  const PlanValue& operator[](ValueId id) const { return (*values_)[static_cast<size_t>(id)]; }

  // The buffer in which a value lies, and where.
  struct Place {
    ValueId root;
    size_t offset;
  };
  Place Find(ValueId id);
  // Makes `root`, a buffer of its own so far, the part of `whole` that begins
  // at `offset`. Its expected reads become the whole's.
  void Join(ValueId root, ValueId whole, size_t offset);

  // `count` nodes will read the value (or views of it).
  void ExpectReads(ValueId id, int64_t count) { pending_reads_[static_cast<size_t>(Find(id).root)] += count; }
  void CountRead(ValueId id) { --pending_reads_[static_cast<size_t>(Find(id).root)]; }
  // True if the value is the whole of a buffer of the arena that nobody reads
  // any more.
  bool IsDead(ValueId id);

 private:
  std::vector<PlanValue>* values_;
  std::vector<int64_t> pending_reads_;
};

// Gives every buffer of the arena its place for as long as steps use it.
// Nothing if the sizes do not fit size_t.
bool PlaceInArena(Plan& plan);

}  // namespace nnefc::runtime
