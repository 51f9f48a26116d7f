#pragma once

// The operations' own descriptions: rows of the registry and declarations of the standard library. No code
// here names an operation.

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/op_registry.h"

namespace nnefc::differential {

struct OperationDescription {
  std::string set;
  std::string name;
  std::vector<ir::InputInfo> inputs;
  std::vector<ir::AttributeInfo> attributes;
  int outputs = 1;
  bool variadic_outputs = false;
};

// Returns the rows of OpenVINO's operation sets, without sources, sinks and random generators.
std::vector<OperationDescription> DescribeOpsets();
// Returns the ratified standard operations of NNEF, with the same exceptions.
std::vector<OperationDescription> DescribeNnef(const ir::OpRegistry& registry);

}  // namespace nnefc::differential
