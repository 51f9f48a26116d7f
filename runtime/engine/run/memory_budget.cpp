// The limit on the memory of a session.

#include "runtime/engine/run/memory_budget.h"

namespace nnefc::runtime::engine::run {

namespace {

// Couples a buffer with its share of the budget, so that both are released together.
template <typename T>
std::shared_ptr<T> Together(std::shared_ptr<T> buffer, Reservation reservation) {
  struct Held {
    std::shared_ptr<T> buffer;
    Reservation reservation;
  };
  auto held = std::make_shared<Held>(Held{std::move(buffer), std::move(reservation)});
  T* seen = held->buffer.get();
  return std::shared_ptr<T>(std::move(held), seen);
}

}  // namespace

std::shared_ptr<Buffer> MemoryBudget::Allocate(size_t bytes) const {
  Reservation reservation = Reserve();
  if (!reservation.Grow(bytes)) return nullptr;
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(bytes);
  return buffer == nullptr ? nullptr : Together(std::move(buffer), std::move(reservation));
}

std::shared_ptr<const Buffer> MemoryBudget::Count(std::shared_ptr<const Buffer> buffer) const {
  Reservation reservation = Reserve();
  if (!reservation.Grow(buffer->size())) return nullptr;
  return Together(std::move(buffer), std::move(reservation));
}

Reservation MemoryBudget::Reserve() const {
  Reservation reservation;
  reservation.limit_ = limit_;
  reservation.used_ = used_;
  return reservation;
}

bool Reservation::Grow(size_t bytes) {
  // A session reserves on one thread only; other threads only release.
  const size_t used = *used_;
  if (used > limit_ || bytes > limit_ - used) return false;
  *used_ += bytes;
  bytes_ += bytes;
  return true;
}

kernels::Fault BeyondBudget() {
  return kernels::FaultOf(
      kernels::kRuntimeMemory,
      "the values of the run take more memory than is allowed; `--max-memory` raises the limit");
}

}  // namespace nnefc::runtime::engine::run
