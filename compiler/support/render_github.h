#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

// Workflow commands of GitHub Actions, a line each, which show diagnostics
// beside the lines of a change: `::error file=net.nnef,line=4,..::message`.
// Notes and fixes stand in the message.
std::string RenderGithub(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources);

}  // namespace nnefc
