#pragma once

#include <vector>

#include "compiler/ir/ops/opset/schema.h"

namespace nnefc::ir::ops::opset {

// TensorIterator-1 and Loop-5 (loops.cpp), If-8 (control_flow.cpp).
std::vector<OpInfo> LoopRows();

}  // namespace nnefc::ir::ops::opset
