#pragma once

#include <memory>
#include <vector>

#include "runtime/engine/plan/loop_count.h"
#include "runtime/engine/run/frame.h"

namespace nnefc::runtime::engine::run {

// Returns true if nobody else references the buffer, so that it may be overwritten. False for null.
bool IsUnshared(const std::shared_ptr<Buffer>& buffer);

// A pool of buffers that are passed from iteration to iteration. A buffer is free again once
// nobody else references it.
class BufferPool {
 public:
  // `memory` must outlive the pool.
  explicit BufferPool(const MemoryBudget& memory) : memory_(&memory) {}
  // Returns null if the budget is exceeded or the allocation fails.
  std::shared_ptr<Buffer> Take(size_t bytes);

 private:
  const MemoryBudget* memory_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
};

// Returns the shapes, and the constant values if any, of a step's inputs.
std::vector<plan::InputFacts> FactsOf(const Frame& outer, const plan::Step& step);

// The bytes of a value and the buffer that owns them.
struct HeldBytes {
  const std::byte* bytes = nullptr;
  std::shared_ptr<const Buffer> keep = nullptr;
};

// Stores a value of a body as an output of the step. Copies it if the output has its own memory, unless it is
// there already.
kernels::FaultOr<Success> Deliver(Frame& outer, plan::ValueId output, const tensor::TensorView& value,
                                  const HeldBytes& held);

// Returns the index for `Frame::SetOutput` of the result's buffer if that buffer consists of the result alone
// and has `bytes` bytes, otherwise -1.
int32_t WholeOutput(const plan::Plan& plan, size_t result, size_t bytes);

}  // namespace nnefc::runtime::engine::run
