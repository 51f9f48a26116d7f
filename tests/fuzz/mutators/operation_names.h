#pragma once

#include <string_view>
#include <vector>

namespace nnefc::fuzz {

// A row of the registry of operations.
struct OperationName {
  std::string_view set;  // "nnef", "opset1"
  std::string_view name;
};

// Returns every operation of both sets, in the order of the registry.
const std::vector<OperationName>& OperationNames();

}  // namespace nnefc::fuzz
