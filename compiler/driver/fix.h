#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc {

// What the repairs that diagnostics propose make of a model's texts.
struct [[nodiscard]] FixReport {
  // The texts that changed, by the names that SourceManager tells them by.
  struct Change {
    std::string before;
    std::string after;
  };
  std::map<std::string, Change> changes;
  // "net.nnef:4:5: fixed: expected `;` after the assignment [rule.label]", with
  // the place that the mistake had when it was mended.
  std::vector<std::string> fixed;
  // Repairs that were tried and made nothing better, in the same form.
  std::vector<std::string> refused;
  // How many more there are, for which checking the model takes too long.
  size_t untried = 0;
  // How many diagnostics that remain have unsafe fix-its, which were not allowed.
  size_t unsafe = 0;
};

// Adds diagnostics of its own, such as the findings of lint, to those of a compilation that is tried; may be
// null.
using FixJudge = std::function<void(Compilation&)>;

// Applies the fix-its of `check` that are at most as unsafe as `most` until there are none that help, or
// checking the model was as much work as a person would wait for. They are tried together, and by halves
// where that does not help. A repair is kept only if the model is better by it: more stages of the compiler
// pass, or fewer errors (then warnings) remain in the one that fails, and none is new where it was made.
// Nothing is written.
FixReport FixModel(const std::string& path, const CompileOptions& options, Applicability most,
                   const FixJudge& judge = nullptr);

}  // namespace nnefc
