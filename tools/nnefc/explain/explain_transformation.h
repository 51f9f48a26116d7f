#pragma once

#include <string>
#include <vector>

#include "compiler/plugin/plugins.h"
#include "tools/nnefc/output/paint.h"

namespace nnefc::cli {

// Prints the page of a transformation: phase, kind, state, order, description, and a graph before and after
// it. `name` is an id, a qualified class name or its last component. Returns false for an unknown
// transformation.
bool ExplainTransformation(const std::string& name, const plugin::Plugins& plugins, bool as_json,
                           const Painter& paint);
// Returns the names that `explain` accepts for transformations: last components of class names, or ids.
std::vector<std::string> ExplainedTransformations(const plugin::Plugins& plugins);

}  // namespace nnefc::cli
