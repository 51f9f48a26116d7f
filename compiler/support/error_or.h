#pragma once

#include <string>
#include <utility>
#include <variant>

#include "compiler/support/check.h"

namespace nnefc {

// A failed call of the operating system, worded for the user: "cannot open `x.dat`: no such file or
// directory".
struct [[nodiscard]] SystemError {
  std::string message;
};

// A value, or the reason for its absence.
template <typename T, typename Error = SystemError>
class [[nodiscard]] ErrorOr {
 public:
  ErrorOr(T value) : state_(std::move(value)) {}
  ErrorOr(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  T& operator*() {
    NNEFC_CHECK(ok());
    return std::get<T>(state_);
  }
  const T& operator*() const {
    NNEFC_CHECK(ok());
    return std::get<T>(state_);
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Error& error() const {
    NNEFC_CHECK(!ok());
    return std::get<Error>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

struct Success {};

}  // namespace nnefc
