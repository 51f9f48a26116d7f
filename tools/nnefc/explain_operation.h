#pragma once

#include <string>

#include "tools/nnefc/paint.h"

namespace nnefc::cli {

// Prints what an operation is: signature with defaults, formula, section, what
// it is lowered to and an example; or of `control_flow` the manual of that
// extension. False if there is no such operation.
bool ExplainOperation(const std::string& name, bool as_json, const Painter& paint);

}  // namespace nnefc::cli
