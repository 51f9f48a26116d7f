#pragma once

#include <vector>

#include "compiler/ir/op_schema.h"

namespace nnefc::ir::ops::opset::signal {

// The rows of each family.
std::vector<OpInfo> FourierRows();
std::vector<OpInfo> UniqueRows();
std::vector<OpInfo> RandomRows();
std::vector<OpInfo> ColorRows();

}  // namespace nnefc::ir::ops::opset::signal
