#pragma once

#include <optional>
#include <vector>

#include "runtime/engine/body_values.h"

namespace nnefc::runtime {

// The part of `input` that iteration k reads, of `shape`: in place if it is
// contiguous, otherwise a copy in a buffer of the pool.
FaultOr<HeldBytes> SliceOf(const TensorView& input, const ir::InputMapping& mapping, const Shape& shape,
                           int64_t iteration, BufferPool& pool);

// The outputs of a loop that are concatenated. Where the number of iterations
// is known before the first, parts go to their place in the whole; otherwise
// they are gathered and put together in the end.
class LoopOutputs {
 public:
  // `count`: the number of iterations if nothing can end the loop before.
  LoopOutputs(const Step& step, Frame& outer, std::optional<int64_t> count);

  // Gives places to the buffers of results (by PlanValue::output) that are the
  // part of iteration `iteration` of a whole.
  FaultOr<Success> Place(const Plan& plan, int64_t iteration, std::vector<HeldBytes>& places);
  // Takes the part that an iteration made, unless it was made in its place.
  FaultOr<Success> Add(const ir::OutputMapping& mapping, const TensorView& part, int64_t iteration);
  // Sets the output of the step.
  FaultOr<Success> Deliver(const ir::OutputMapping& mapping, int64_t iterations);

 private:
  struct Whole {
    const ir::OutputMapping* mapping = nullptr;
    ValueId output = -1;
    bool open = false;   // the shape of a part is known
    bool known = false;  // the number of parts is known from the start
    ElementType type = ElementType::kDynamic;
    Shape part = {};
    MutableTensorView view = {};  // if `known`
    std::shared_ptr<Buffer> buffer = nullptr;
    std::vector<std::byte> gathered = {};
  };

  Whole& WholeOf(const ir::OutputMapping& mapping);
  FaultOr<Success> Open(Whole& whole, ElementType type, const Shape& part);
  FaultOr<Success> CheckPart(const Whole& whole, ElementType type, const Shape& part) const;
  static Fault TooLarge();
  FaultOr<Success> Gather(Whole& whole, const TensorView& part);
  // The part of the whole that iteration k makes.
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
