#pragma once

#include <string>

#include "compiler/plugin/plugins.h"
#include "tools/nnefc/output/paint.h"

namespace nnefc::cli {

// Prints the page of an operation: signature with defaults, formula, section, lowered form and an example.
// Prints the manual of the extension for `control_flow`, and the declaration for a plug-in's fragment.
// Returns false for an unknown operation.
bool ExplainOperation(const std::string& name, const plugin::Plugins& plugins, bool as_json,
                      const Painter& paint);

}  // namespace nnefc::cli
