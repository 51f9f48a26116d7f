#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

// Tells what a rule demands; empty if nothing is known of it.
using RuleTexts = std::function<std::string(const Rule&)>;

// As RenderSarif, with the rules' texts.
std::string RenderSarif(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                        const RuleTexts& texts);

// A path as a URI reference: what cannot stand in one is escaped.
std::string SarifUri(std::string_view path);

}  // namespace nnefc
