#pragma once

// What the operations' own descriptions say of them: rows of the registry,
// declarations of the standard library. Nothing here knows an operation by name.

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

// The rows of OpenVINO's operation sets, without sources, sinks and what draws random numbers.
std::vector<OperationDescription> DescribeOpsets();
// The ratified standard operations of NNEF, likewise.
std::vector<OperationDescription> DescribeNnef(const ir::OpRegistry& registry);

}  // namespace nnefc::differential
