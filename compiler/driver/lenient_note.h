#pragma once

#include "compiler/driver/compilation.h"

namespace nnefc::driver {

// Adds a note to the first error of a failed compilation of a document in the default mode, if lenient mode
// accepts the document.
void NoteLenientReading(Compilation& compilation, const CompileOptions& options);

}  // namespace nnefc::driver
