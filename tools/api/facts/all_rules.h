#pragma once

#include "compiler/lint/rule_book.h"

namespace nnefc::api {

// Returns the rules of all diagnostics: those of the compiler, of a run, and of the tools.
lint::RuleBook AllRules();

}  // namespace nnefc::api
