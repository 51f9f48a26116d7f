#pragma once

#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc::cli {

// Every rule of every room, in the order of the stages: what `nnefc explain`
// knows. tests/golden/rules holds a file for each.
std::vector<const Rule*> AllRules();

// Whether an example can break the rule: not where only a fault of nnefc itself
// does (its section is "internal") or the lack of memory ("environment").
bool IsShowable(const Rule& rule);

// The sections of the specifications where a rule stands: "R 3.3.2", "P 3.3.1".
std::vector<std::string_view> SectionsOf(const Rule& rule);

}  // namespace nnefc::cli
