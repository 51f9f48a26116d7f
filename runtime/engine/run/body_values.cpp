// Values passed between a plan and those of its bodies, and the pool of their buffers.

#include "runtime/engine/run/body_values.h"

#include <atomic>
#include <cstring>

#include "compiler/support/tensor/packed_elements.h"
#include "runtime/kernels/attributes.h"

namespace nnefc::runtime::engine::run {

bool IsUnshared(const std::shared_ptr<Buffer>& buffer) {
  if (buffer.use_count() != 1) return false;
  // The last owner may have read it on another thread.
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

std::shared_ptr<Buffer> BufferPool::Take(size_t bytes) {
  for (std::shared_ptr<Buffer>& buffer : buffers_) {
    if (!IsUnshared(buffer)) continue;
    if (buffer->size() != bytes) {
      buffer = nullptr;  // released before another is counted
      buffer = memory_->Allocate(bytes);
    }
    if (buffer != nullptr) return buffer;
    buffers_.clear();  // buffers in use stay alive with their owners
    return nullptr;
  }
  std::shared_ptr<Buffer> buffer = memory_->Allocate(bytes);
  if (buffer != nullptr) buffers_.push_back(buffer);
  return buffer;
}

std::vector<plan::InputFacts> FactsOf(const Frame& outer, const plan::Step& step) {
  std::vector<plan::InputFacts> facts;
  for (plan::ValueId id : step.inputs) {
    const plan::PlanValue& value = outer.value(id);
    plan::InputFacts input{.shape = outer.view(id).shape()};
    if (value.storage == plan::PlanValue::Storage::kConstant) {
      input.constant = IsPacked(value.type) ? PackCodes(value.type, value.shape, value.data->data())
                                            : TensorValue(value.type, value.shape, value.data);
    }
    facts.push_back(std::move(input));
  }
  return facts;
}

kernels::FaultOr<Success> Deliver(Frame& outer, plan::ValueId output, const tensor::TensorView& value,
                                  const HeldBytes& held) {
  if (outer.IsHeap(output)) {
    const bool whole = held.keep != nullptr && !IsPacked(value.type()) &&
                       held.keep->data() == value.bytes() && held.keep->size() == value.byte_size();
    if (whole) return outer.SetValue(output, TensorValue(value.type(), value.shape(), held.keep));
    const kernels::FaultOr<TensorValue> copy = CopyOf(value, outer.memory());
    if (!copy) return copy.error();
    return outer.SetValue(output, *copy);
  }
  const tensor::MutableTensorView& place = outer.view(output);
  if (value.type() != place.type() || value.shape() != place.shape()) {
    return kernels::KernelFault("its body gives {}{}; expected {}{}", Name(value.type()),
                                ToString(value.shape()), Name(place.type()), ToString(place.shape()));
  }
  if (value.byte_size() > 0 && value.bytes() != place.bytes()) {
    std::memmove(place.mutable_bytes(), value.bytes(), value.byte_size());
  }
  return Success();
}

int32_t WholeOutput(const plan::Plan& plan, size_t index, size_t bytes) {
  const plan::PlanResult& result = plan.results[index];
  const plan::PlanValue& root = plan.values[static_cast<size_t>(result.root)];
  if (root.storage != plan::PlanValue::Storage::kOutput || result.offset != 0 || root.bytes != bytes)
    return -1;
  return root.output;
}

}  // namespace nnefc::runtime::engine::run
