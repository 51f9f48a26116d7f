// Lint of the document of a compilation.

#include "compiler/lint/lint_model.h"

#include "compiler/lint/lint.h"

namespace nnefc::lint {

void LintModel(driver::Compilation& compilation, const Settings& settings) {
  if (compilation.checked() == nullptr) return;
  const LintInput input{.checked = *compilation.checked(),
                        .expanded = compilation.expansion(),
                        .model = compilation.model(),
                        .quantization = compilation.quantization().document.get()};
  Lint(input, settings, compilation.context());
}

}  // namespace nnefc::lint
