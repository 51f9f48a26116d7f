#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"

namespace nnefc::runtime {

class Reservation;

// What the values of a session may take at a time: arenas of its graph and of
// bodies, buffers of results, values of sizes found in a run, states. Not
// counted: weights, inputs, and outputs once they are the user's.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit), used_(std::make_shared<std::atomic<size_t>>(0)) {}

  size_t left() const {
    const size_t used = *used_;
    return used < limit_ ? limit_ - used : 0;
  }
  // A buffer that counts as long as somebody holds it. Null beyond the limit,
  // or if memory is short.
  std::shared_ptr<Buffer> Allocate(size_t bytes) const;
  // Lets a buffer count that was made elsewhere.
  std::shared_ptr<const Buffer> Count(std::shared_ptr<const Buffer> buffer) const;
  Reservation Reserve() const;

 private:
  friend class Reservation;
  size_t limit_;
  std::shared_ptr<std::atomic<size_t>> used_;
};

// Bytes of a budget that come back in the end.
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

  // False beyond the limit; then it is as before.
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

// What a run says that needs more.
Fault BeyondBudget();

}  // namespace nnefc::runtime
