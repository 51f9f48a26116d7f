#pragma once

#include <string>
#include <vector>

#include "compiler/plugin/plugins.h"
#include "tools/nnefc/paint.h"

namespace nnefc::cli {

// Prints what a transformation is: phase, kind, state and order, what it does, and a graph
// before and after it. `name` is an id, a class with its namespaces or their last parts.
// False if there is no such transformation.
bool ExplainTransformation(const std::string& name, const plugin::Plugins& plugins, bool as_json,
                           const Painter& paint);
// What `explain` takes for them: the last parts of the names of their classes, or ids.
std::vector<std::string> ExplainedTransformations(const plugin::Plugins& plugins);

}  // namespace nnefc::cli
