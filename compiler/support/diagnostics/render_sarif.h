#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc {

// Returns the description of a rule; empty if there is none.
using RuleTexts = std::function<std::string(const Rule&)>;

// Renders a SARIF 2.1.0 log with one run: the diagnostics with their fixes as results, and the rules that
// they refer to, with descriptions. Bytes that are not UTF-8 become U+FFFD.
std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                        const RuleTexts& texts);

// Converts a path to a URI reference by percent-encoding.
std::string SarifUri(std::string_view path);

}  // namespace nnefc
