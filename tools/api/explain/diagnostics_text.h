#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/support/text/source.h"

namespace nnefc::api {

// The form of a report of diagnostics. `kGithub` has the lines that mark a change on GitHub.
enum class ReportForm : uint8_t { kText, kColoredText, kGithub, kJson, kSarif };

// Returns the report. In SARIF, rules have the statements of their pages.
std::string RenderDiagnostics(ReportForm form, const std::vector<nnefc::Diagnostic>& diagnostics,
                              const SourceManager& sources);

}  // namespace nnefc::api
