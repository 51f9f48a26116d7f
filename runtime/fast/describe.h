#pragma once

#include <string>

namespace nnefc::runtime {

// Describes the instruction sets used by kernels.
std::string DescribeInstructions();

}  // namespace nnefc::runtime
