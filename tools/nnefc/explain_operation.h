#pragma once

#include <string>

namespace nnefc::cli {

// Prints what an operation is: signature with defaults, formula, section, what
// it is lowered to and an example; or of `control_flow` the manual of that
// extension. False if there is no such operation.
bool ExplainOperation(const std::string& name, bool as_json);

}  // namespace nnefc::cli
