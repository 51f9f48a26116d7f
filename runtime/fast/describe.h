#pragma once

#include <string>

namespace nnefc::runtime::fast {

// Describes the instruction sets used by kernels.
std::string DescribeInstructions();

}  // namespace nnefc::runtime::fast
