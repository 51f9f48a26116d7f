#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace nnefc::runtime::kernels {

// Why an implementation does not run a request: a string literal with up to two placeholders `{}` and their
// numbers, formatted only by ToString. Without text: the implementation applies.
class [[nodiscard]] Reason {
 public:
  constexpr Reason() = default;
  explicit constexpr Reason(const char* text, int64_t first = 0, int64_t second = 0)
      : text_(text), first_(first), second_(second) {}

  constexpr bool empty() const { return text_ == nullptr; }
  std::string ToString() const;

 private:
  const char* text_ = nullptr;
  int64_t first_ = 0, second_ = 0;
};

// An implementation that does not run a step.
struct RejectedImplementation {
  std::string_view id;
  Reason reason;
};

// A value, or the reason for its absence.
template <typename T>
class [[nodiscard]] OrReason {
 public:
  OrReason(T value) : value_(std::move(value)) {}
  OrReason(Reason reason) : reason_(reason) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  // Empty if there is a value.
  Reason reason() const { return reason_; }

 private:
  std::optional<T> value_;
  Reason reason_;
};

}  // namespace nnefc::runtime::kernels
