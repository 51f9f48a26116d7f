#pragma once

#include <vector>

#include "compiler/ir/op_schema.h"

namespace nnefc::ir::ops::opset::sparse {

// The rows of each family.
std::vector<OpInfo> EmbeddingRows();
std::vector<OpInfo> SegmentRows();

}  // namespace nnefc::ir::ops::opset::sparse
