#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::ir {

// The labels of the operands and of the result of an equation such as
// `bij,bjk->bik`; `.` stands for the ellipsis.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// Reads the attribute `equation` of Einsum-7; nothing if it is not well formed.
std::optional<Equation> ReadEquation(std::string_view text);

}  // namespace nnefc::ir
