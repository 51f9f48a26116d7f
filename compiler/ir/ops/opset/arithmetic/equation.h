#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::ir::ops::opset {

// The labels of the operands and the result of an equation such as `bij,bjk->bik`; `.` is the ellipsis.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// Parses the attribute `equation` of Einsum-7; returns nothing if it is malformed.
std::optional<Equation> ReadEquation(std::string_view text);

}  // namespace nnefc::ir::ops::opset
