#pragma once

#include <vector>

#include "compiler/ir/ops/opset/schema.h"

namespace nnefc::ir::ops::opset {

// Returns the smallest partial shape that includes both: the output shape of an If. Different extents become
// an interval and different ranks an unknown rank, except that [] and [1] yield [1].
PartialShape ShapeUnion(const PartialShape& a, const PartialShape& b);

// TensorIterator-1 and Loop-5 (loops.cpp), If-8 (control_flow.cpp).
std::vector<OpInfo> LoopRows();

}  // namespace nnefc::ir::ops::opset
