#pragma once

#include <cstdint>
#include <utility>

#include "compiler/support/error_or.h"
#include "fmt/format.h"

namespace nnefc::runtime {

// A negative axis counts from the end; nothing is checked but the range.
inline int64_t NormalAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

template <typename... Args>
SystemError KernelError(fmt::format_string<Args...> format, Args&&... args) {
  return {fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace nnefc::runtime
