#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/error_or.h"
#include "fmt/format.h"

namespace nnefc::runtime {

// Attributes of a node that may be absent; a value of another kind counts as
// absent, since shape inference has judged them before.
int64_t IntOr(const ir::Node& node, std::string_view name, int64_t fallback);
double DoubleOr(const ir::Node& node, std::string_view name, double fallback);
bool BoolOr(const ir::Node& node, std::string_view name, bool fallback);
std::string StringOr(const ir::Node& node, std::string_view name, std::string_view fallback);
// An absent or empty list is `count` times `fallback`.
std::vector<int64_t> IntsOr(const ir::Node& node, std::string_view name, size_t count, int64_t fallback);
std::vector<double> DoublesOr(const ir::Node& node, std::string_view name, size_t count, double fallback);

// A negative axis counts from the end; nothing is checked but the range.
inline int64_t NormalAxis(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

template <typename... Args>
SystemError KernelError(fmt::format_string<Args...> format, Args&&... args) {
  return {fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace nnefc::runtime
