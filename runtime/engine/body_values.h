#pragma once

#include <memory>
#include <vector>

#include "runtime/engine/frame.h"
#include "runtime/engine/loop_count.h"

namespace nnefc::runtime {

// True if nobody else holds the buffer, so that it may be written again; false
// for null.
bool IsUnshared(const std::shared_ptr<Buffer>& buffer);

// Buffers of one size that are passed on from iteration to iteration: one is
// free again when nobody holds it.
class BufferPool {
 public:
  // `memory` must outlive the pool.
  explicit BufferPool(const MemoryBudget& memory) : memory_(&memory) {}
  // Null beyond the budget, or if memory is short.
  std::shared_ptr<Buffer> Take(size_t bytes);

 private:
  const MemoryBudget* memory_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
};

// What is known of the inputs of a step.
std::vector<InputFacts> FactsOf(const Frame& outer, const Step& step);

// The bytes of a value and what keeps them.
struct HeldBytes {
  const std::byte* bytes = nullptr;
  std::shared_ptr<const Buffer> keep = nullptr;
};

// A value of a body that becomes an output of the step: copied where the
// output has a place, unless it lies there already.
FaultOr<Success> Deliver(Frame& outer, ValueId output, const TensorView& value, const HeldBytes& held);

// Where the buffer of a result may be placed so that the result fills `bytes`
// bytes from the place on: the index for Frame::SetOutput, or -1.
int32_t WholeOutput(const Plan& plan, size_t result, size_t bytes);

}  // namespace nnefc::runtime
