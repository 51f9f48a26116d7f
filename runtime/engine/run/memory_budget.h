#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"

namespace nnefc::runtime::engine::run {

class Reservation;

// The limit on the memory that the values of a session use at a time: arenas of the graph and of bodies,
// buffers of results, values of dynamic shape, states. Weights, inputs, and outputs returned to the user are
// not counted.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit), used_(std::make_shared<std::atomic<size_t>>(0)) {}

  // Returns the bytes that are still available.
  size_t left() const {
    const size_t used = *used_;
    return used < limit_ ? limit_ - used : 0;
  }
  // Allocates a buffer that counts until its last reference is gone. Returns null if the budget is exceeded
  // or the allocation fails.
  std::shared_ptr<Buffer> Allocate(size_t bytes) const;
  // Counts a buffer that was allocated elsewhere, until its last reference is gone.
  std::shared_ptr<const Buffer> Count(std::shared_ptr<const Buffer> buffer) const;
  // Returns a reservation of no bytes, which can grow within the limit.
  Reservation Reserve() const;

 private:
  friend class Reservation;
  size_t limit_;
  std::shared_ptr<std::atomic<size_t>> used_;
};

// An amount of a budget that is released on destruction.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept
      : limit_(other.limit_), used_(std::move(other.used_)), bytes_(std::exchange(other.bytes_, 0)) {}
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(limit_, other.limit_);
    std::swap(used_, other.used_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Reservation() { Release(); }

  // Returns false and changes nothing if the budget would be exceeded.
  [[nodiscard]] bool Grow(size_t bytes);
  void Release() {
    if (used_ != nullptr) *used_ -= std::exchange(bytes_, 0);
  }

 private:
  friend class MemoryBudget;
  size_t limit_ = 0;
  std::shared_ptr<std::atomic<size_t>> used_;
  size_t bytes_ = 0;
};

// Returns the fault of a run that exceeds the budget.
kernels::Fault BeyondBudget();

}  // namespace nnefc::runtime::engine::run
