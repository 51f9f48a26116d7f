#pragma once

#include <vector>

#include "compiler/ir/op_schema.h"

namespace nnefc::ir::ops::opset::detection {

// The rows of each family.
std::vector<OpInfo> ClassSelectionRows();
std::vector<OpInfo> DeformableRows();
std::vector<OpInfo> ProposalRows();
std::vector<OpInfo> PooledRegionRows();

}  // namespace nnefc::ir::ops::opset::detection
