#pragma once

#include <string>

namespace nnefc::runtime {

// "oneDNN 2.6.3, which uses AVX-512": its version, and the widest instructions
// that it takes on this processor.
std::string DescribeOneDnn();

}  // namespace nnefc::runtime
