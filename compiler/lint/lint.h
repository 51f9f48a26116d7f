#pragma once

#include "compiler/driver/compilation.h"
#include "compiler/lint/settings.h"

namespace nnefc::lint {

// Runs every lint rule over a compilation that went well through Stage::kExpand
// and adds what they find to its diagnostics. Then all that was said so far -
// the warnings of the stages too - is settled: what is switched off or allowed
// by a comment is dropped, the rest gets its level. A finding of level error is
// an error of the compilation's emitter.
//
// After a mistake of the document only the settling is done: lint judges
// documents that are right.
void Lint(Compilation& compilation, const Settings& settings);

}  // namespace nnefc::lint
