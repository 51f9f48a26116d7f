#pragma once

#include "compiler/lint/rule_book.h"

namespace nnefc::api {

// Returns the rules of all diagnostics: those of the compiler, then those of a run.
lint::RuleBook AllRules();

}  // namespace nnefc::api
