#pragma once

#include <deque>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/support/diagnostics.h"

namespace nnefc {

// Diagnostics as the reader of a document meets them: in the order of its text,
// and of each rule the sections of the specification that it was written by.
struct ToldDiagnostics {
  std::deque<Rule> rules;  // those that the diagnostics point to
  std::vector<Diagnostic> diagnostics;
};

// What `compilation` has said so far.
ToldDiagnostics Tell(const Compilation& compilation);

}  // namespace nnefc
