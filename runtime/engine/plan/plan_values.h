#pragma once

#include <vector>

#include "runtime/engine/plan/plan.h"

namespace nnefc::runtime::engine::plan {

// The values of a plan under construction: the views and parts among them, and the number of pending reads of
// each buffer.
class PlanValues {
 public:
  explicit PlanValues(std::vector<PlanValue>* values) : values_(values) {}

  // Appends a value and returns its id.
  ValueId Add(PlanValue value);
  PlanValue& operator[](ValueId id) { return (*values_)[static_cast<size_t>(id)]; }
  const PlanValue& operator[](ValueId id) const { return (*values_)[static_cast<size_t>(id)]; }

  // The buffer that contains a value, and the byte offset in it.
  struct Place {
    ValueId root;
    size_t offset;
  };
  // Returns the location of a value; follows views and parts to their buffer.
  Place Find(ValueId id);
  // Makes `root`, an independent buffer so far, the part of `whole` that begins at `offset`. Its pending
  // reads are added to those of `whole`.
  void Join(ValueId root, ValueId whole, size_t offset);

  // Registers `count` future reads of the value or of views of it.
  void ExpectReads(ValueId id, int64_t count) { pending_reads_[static_cast<size_t>(Find(id).root)] += count; }
  // Registers that one of the expected reads is planned.
  void CountRead(ValueId id) { --pending_reads_[static_cast<size_t>(Find(id).root)]; }
  // Returns true if the value is a complete arena buffer without pending reads.
  bool IsDead(ValueId id);

 private:
  std::vector<PlanValue>* values_;
  std::vector<int64_t> pending_reads_;
};

// Assigns arena offsets to all buffers according to their lifetimes. Returns false if the sizes overflow
// size_t.
bool PlaceInArena(Plan& plan);

}  // namespace nnefc::runtime::engine::plan
