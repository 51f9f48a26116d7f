#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/op_registry.h"

namespace nnefc::differential {

struct DescribeOptions {
  uint64_t seed = 1;
  int tries = 2000;          // of each operation
  int64_t near_misses = 40;  // of each operation
  std::vector<std::string> only = {};
};

// Prints each row of the registry, a JSON object a line: its inputs, and its attributes with their kinds,
// ranges, choices and defaults.
void PrintRows(const ir::OpRegistry& registry);

// Prints nodes of OpenVINO's operations and what the shape functions say of
// them, a JSON object a line: accepted ones, and changes of these, refused ones
// mostly. Another implementation can be asked for its verdict.
void Describe(const ir::OpRegistry& registry, const DescribeOptions& options);

}  // namespace nnefc::differential
