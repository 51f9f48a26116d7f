#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc::driver {

// The effects of applying fix-its to a model's texts.
struct [[nodiscard]] FixReport {
  // Changed texts, by their names in SourceManager.
  struct Change {
    std::string before;
    std::string after;
  };
  std::map<std::string, Change> changes;
  // Changed labels of variables, and those before: the names of their tensor files.
  std::map<std::string, std::string> stored_labels;
  // "net.nnef:4:5: fixed: expected `;` after the assignment [rule.label]", with the location at the time of
  // the fix.
  std::vector<std::string> fixed;
  // Remaining diagnostics whose fixes were tried without an improvement, in the same form, with the location
  // in the changed text.
  std::vector<std::string> refused;
  // The number of further fixes, left untried because checking the model takes too long.
  size_t untried = 0;
  // The number of remaining diagnostics with unsafe fix-its that were not allowed.
  size_t unsafe = 0;
};

// A callback that adds diagnostics, such as findings of lint, to those of an attempted compilation; may be
// null.
using FixValidator = std::function<void(Compilation&)>;

// Applies the fix-its of `check` up to the applicability `most`, until none improves the model or the work
// limit is reached. Fix-its are tried together, and in halves if that fails. A fix is accepted only if more
// stages succeed, or if the failing stage has fewer errors (then warnings). It must not cause a new error at
// the changed text. No file is written.
FixReport FixModel(const std::string& path, const CompileOptions& options, Applicability most,
                   const FixValidator& judge = nullptr);

}  // namespace nnefc::driver
