#pragma once

#include <string>

namespace nnefc::runtime {

// Returns the oneDNN version and its widest instruction set on this processor, such as "oneDNN 2.6.3, which
// uses AVX-512".
std::string DescribeOneDnn();
// Describes the instruction sets used by kernels and the oneDNN version at compile time, without loading
// oneDNN.
std::string DescribeInstructions();

}  // namespace nnefc::runtime
