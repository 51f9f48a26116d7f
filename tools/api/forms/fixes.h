#pragma once

#include <string>

#include "compiler/driver/fix.h"
#include "compiler/lint/settings.h"
#include "compiler/support/error_or.h"

namespace nnefc::api {

// Applies the fix-its of `check`, and those of lint unless `settings` is null, to the texts of a model, and
// stores the fixed texts in `options` for the next compilation. `unsafe`: also fixes that guess the
// intent. Writes no file.
driver::FixReport FixTexts(const std::string& model, driver::CompileOptions& options, bool unsafe,
                           const lint::Settings* settings = nullptr);

// Writes the changed texts to the files of the model at `path`, renames the tensor files of changed labels
// and adds these to the fixes. Returns an error for a member of an archive, or if a tensor file of the new
// label exists; the texts are then unchanged.
ErrorOr<Success> WriteFixes(driver::FixReport& report, const std::string& path);

// Returns the unified diffs of the changed texts.
std::string FixesDiff(const driver::FixReport& report);

// Returns one line for each fix, for each fix that did not help, and for the numbers of the others. `model`
// is the name of the model in messages.
std::string FixesText(const driver::FixReport& report, const std::string& model);

}  // namespace nnefc::api
