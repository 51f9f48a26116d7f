#pragma once

#include "runtime/fast/register.h"

namespace nnefc::runtime::onednn {

// Returns oneDNN's implementations and reorders, for RegisterFastKernels.
const fast::FastExtension& OneDnnExtension();

}  // namespace nnefc::runtime::onednn
