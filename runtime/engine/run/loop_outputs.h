#pragma once

#include <optional>
#include <vector>

#include "runtime/engine/run/body_values.h"

namespace nnefc::runtime::engine::run {

// Returns the slice of `input` for an iteration, with the given shape. The slice is in place if it is
// contiguous, otherwise copied to a buffer of the pool.
kernels::FaultOr<HeldBytes> SliceOf(const tensor::TensorView& input, const ir::InputMapping& mapping,
                                    const Shape& shape, int64_t iteration, BufferPool& pool);

// The concatenated outputs of a loop. If the number of iterations is known in advance, parts are written
// directly to their offset in the output; otherwise they are collected and concatenated at the end.
class LoopOutputs {
 public:
  // `count`: the number of iterations, if the loop cannot end early.
  LoopOutputs(const plan::Step& step, Frame& outer, std::optional<int64_t> count);

  // Assigns memory in the outputs to the result buffers (indexed by `PlanValue::output`) whose content is a
  // part of iteration `iteration`.
  kernels::FaultOr<Success> Place(const plan::Plan& plan, int64_t iteration, std::vector<HeldBytes>& places);
  // Adds the part computed by an iteration, unless it was computed in place.
  kernels::FaultOr<Success> Add(const ir::OutputMapping& mapping, const tensor::TensorView& part,
                                int64_t iteration);
  // Sets the output of the step.
  kernels::FaultOr<Success> Deliver(const ir::OutputMapping& mapping, int64_t iterations);

 private:
  struct Whole {
    const ir::OutputMapping* mapping = nullptr;
    plan::ValueId output = -1;
    bool open = false;   // the shape of a part is known
    bool known = false;  // the number of parts is known in advance
    ElementType type = ElementType::kDynamic;
    Shape part = {};
    tensor::MutableTensorView view = {};  // set if `known`
    std::shared_ptr<Buffer> buffer = nullptr;
    std::vector<std::byte> gathered = {};
  };

  Whole& WholeOf(const ir::OutputMapping& mapping);
  kernels::FaultOr<Success> Open(Whole& whole, ElementType type, const Shape& part);
  kernels::FaultOr<Success> CheckPart(const Whole& whole, ElementType type, const Shape& part) const;
  static kernels::Fault TooLarge();
  kernels::FaultOr<Success> Gather(Whole& whole, const tensor::TensorView& part);
  // Returns the part of the output that an iteration computes.
  kernels::FaultOr<tensor::MutableTensorView> PlaceOf(const Whole& whole,
                                                      const tensor::MutableTensorView& view,
                                                      int64_t iteration, int64_t iterations) const;
  kernels::FaultOr<Success> PutTogether(Whole& whole, int64_t iterations);
  kernels::FaultOr<Success> OpenEmpty(Whole& whole) const;

  const plan::Step& step_;
  Frame& outer_;
  std::optional<int64_t> count_;
  Reservation gathered_;
  std::vector<Whole> wholes_;
};

}  // namespace nnefc::runtime::engine::run
