#pragma once

#include <optional>

#include "compiler/driver/compilation.h"
#include "compiler/ir/ops/costs.h"

namespace nnefc::api {

// Returns the costs of a lowered model; nothing if an extent or a number of iterations is unknown.
std::optional<ir::ops::GraphCosts> CostsOf(const driver::Compilation& compilation);

}  // namespace nnefc::api
