#include "tools/api/facts/costs.h"

namespace nnefc::api {

std::optional<ir::ops::GraphCosts> CostsOf(const driver::Compilation& compilation) {
  return ir::ops::FindCosts(*compilation.lowered());
}

}  // namespace nnefc::api
