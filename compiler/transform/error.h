#pragma once

#include <stdexcept>
#include <string>

#include "fmt/format.h"

namespace nnefc::transform {

// What a transformation throws where the graph is not what it needs, and what
// the interface of the graph throws where it is asked for what is not there. The
// pipeline tells it with the name of the transformation; it goes no further.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  template <typename First, typename... Rest>
  Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : std::runtime_error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

// What does not fit a configuration that names it: a mistake of the user, not of
// a transformation.
class Mismatch : public Error {
 public:
  using Error::Error;
};

}  // namespace nnefc::transform
