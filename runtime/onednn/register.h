#pragma once

#include "runtime/fast/register.h"

namespace nnefc::runtime {

// Returns oneDNN's implementations and reorders, for RegisterFastKernels.
const FastExtension& OneDnnExtension();

}  // namespace nnefc::runtime
