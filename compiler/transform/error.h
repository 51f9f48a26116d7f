#pragma once

#include <stdexcept>
#include <string>

#include "fmt/core.h"

namespace nnefc::transform {

// An exception thrown by a transformation that cannot handle the graph, or by the graph interface if the
// requested item does not exist. The pipeline reports it with the name of the transformation and does not
// rethrow it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  template <typename First, typename... Rest>
  Error(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest)
      : std::runtime_error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

// An error for a graph that does not fit a configuration entry: a mistake of the user, not of a
// transformation.
class Mismatch : public Error {
 public:
  using Error::Error;
};

}  // namespace nnefc::transform
