#pragma once

#include <optional>
#include <vector>

#include "runtime/engine/body_values.h"

namespace nnefc::runtime {

// Returns the slice of `input` for an iteration, with the given shape. The slice is in place if it is
// contiguous, otherwise copied to a buffer of the pool.
FaultOr<HeldBytes> SliceOf(const TensorView& input, const ir::InputMapping& mapping, const Shape& shape,
                           int64_t iteration, BufferPool& pool);

// The concatenated outputs of a loop. If the number of iterations is known in advance, parts are written
// directly to their offset in the output; otherwise they are collected and concatenated at the end.
class LoopOutputs {
 public:
  // `count`: the number of iterations, if the loop cannot end early.
  LoopOutputs(const Step& step, Frame& outer, std::optional<int64_t> count);

  // Assigns memory in the outputs to the result buffers (indexed by `PlanValue::output`) whose content is a
  // part of iteration `iteration`.
  FaultOr<Success> Place(const Plan& plan, int64_t iteration, std::vector<HeldBytes>& places);
  // Adds the part computed by an iteration, unless it was computed in place.
  FaultOr<Success> Add(const ir::OutputMapping& mapping, const TensorView& part, int64_t iteration);
  // Sets the output of the step.
  FaultOr<Success> Deliver(const ir::OutputMapping& mapping, int64_t iterations);

 private:
  struct Whole {
    const ir::OutputMapping* mapping = nullptr;
    ValueId output = -1;
    bool open = false;   // the shape of a part is known
    bool known = false;  // the number of parts is known in advance
    ElementType type = ElementType::kDynamic;
    Shape part = {};
    MutableTensorView view = {};  // set if `known`
    std::shared_ptr<Buffer> buffer = nullptr;
    std::vector<std::byte> gathered = {};
  };

  Whole& WholeOf(const ir::OutputMapping& mapping);
  FaultOr<Success> Open(Whole& whole, ElementType type, const Shape& part);
  FaultOr<Success> CheckPart(const Whole& whole, ElementType type, const Shape& part) const;
  static Fault TooLarge();
  FaultOr<Success> Gather(Whole& whole, const TensorView& part);
  // Returns the part of the output that an iteration computes.
  FaultOr<MutableTensorView> PlaceOf(const Whole& whole, const MutableTensorView& view, int64_t iteration,
                                     int64_t iterations) const;
  FaultOr<Success> PutTogether(Whole& whole, int64_t iterations);
  FaultOr<Success> OpenEmpty(Whole& whole) const;

  const Step& step_;
  Frame& outer_;
  std::optional<int64_t> count_;
  Reservation gathered_;
  std::vector<Whole> wholes_;
};

}  // namespace nnefc::runtime
