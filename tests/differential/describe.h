#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/op_registry.h"

namespace nnefc::differential {

struct DescribeOptions {
  uint64_t seed = 1;
  int tries = 2000;          // per operation
  int64_t near_misses = 40;  // per operation
  std::vector<std::string> only = {};
};

// Prints each row of the registry as one JSON object per line: its inputs, and its attributes with their
// kinds, ranges, choices and defaults.
void PrintRows(const ir::OpRegistry& registry);

// Prints nodes of OpenVINO's operations with the verdict of the shape functions, as one JSON object per line:
// accepted nodes, and changes of these, most of them rejected. The result can be compared with another
// implementation's.
void Describe(const ir::OpRegistry& registry, const DescribeOptions& options);

}  // namespace nnefc::differential
