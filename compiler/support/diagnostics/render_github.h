#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc {

// Renders workflow commands of GitHub Actions, one per line, shown as annotations of a change:
// `::error file=net.nnef,line=4,..::message`. Fixes and notes are lines of the message, and the rule's label
// is its title.
std::string RenderGithub(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources);

}  // namespace nnefc
