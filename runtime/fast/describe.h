#pragma once

#include <string>

namespace nnefc::runtime {

// "oneDNN 2.6.3, which uses AVX-512": its version, and the widest instructions
// that it takes on this processor.
std::string DescribeOneDnn();
// What kernels take of the processor, and the version of oneDNN that they were compiled for, without loading
// it.
std::string DescribeInstructions();

}  // namespace nnefc::runtime
