#pragma once

#include "compiler/ir/op_registry.h"

namespace nnefc::ir::ops::opset {

// Registers the OpenVINO operations of opset1 to opset16 that this compiler supports, each in the set that
// introduced its version.
void RegisterOpsets(OpRegistry& registry);

}  // namespace nnefc::ir::ops::opset
