#pragma once

#include <memory>
#include <optional>
#include <utility>

namespace nnefc {

// An optional value that is usually absent; then it occupies only a pointer. It is read like a std::optional
// and converts to a reference to one.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(std::nullopt_t) {}
  Rare(T value) : value_(std::make_unique<const std::optional<T>>(std::move(value))) {}
  Rare(std::optional<T> value) {
    if (value) value_ = std::make_unique<const std::optional<T>>(std::move(value));
  }
  Rare(const Rare& other)
      : value_(other ? std::make_unique<const std::optional<T>>(*other.value_) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(Rare other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  const T& operator*() const { return **value_; }
  const T* operator->() const { return &**value_; }
  void reset() { value_.reset(); }
  operator const std::optional<T>&() const { return has_value() ? *value_ : kNone; }

 private:
  inline static const std::optional<T> kNone;

  std::unique_ptr<const std::optional<T>> value_;  // null, or engaged
};

}  // namespace nnefc
