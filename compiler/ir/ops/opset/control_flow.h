#pragma once

#include <vector>

#include "compiler/ir/ops/opset/schema.h"

namespace nnefc::ir {

// The smallest partial shape that holds both, as the output of an If has it:
// extents that differ become an interval, ranks that differ an unknown rank,
// except that [] and [1] give [1].
PartialShape ShapeUnion(const PartialShape& a, const PartialShape& b);

// TensorIterator-1 and Loop-5 (loops.cpp), If-8 (control_flow.cpp).
std::vector<OpInfo> LoopRows();

}  // namespace nnefc::ir
