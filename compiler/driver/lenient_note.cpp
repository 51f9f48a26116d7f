// The note that lenient mode accepts a document that the default mode rejects.

#include "compiler/driver/lenient_note.h"

#include "compiler/semantics/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::driver {

void NoteLenientReading(Compilation& compilation, const CompileOptions& options) {
  const semantics::CheckedDocument* checked = compilation.checked();
  const bool chooses =
      options.leniency == semantics::Leniency::kAuto && (checked == nullptr || !checked->dialect().lenient);
  if (compilation.model() == nullptr || compilation.environment_failed() || !chooses) return;
  CompileOptions lenient_options = options;
  lenient_options.leniency = semantics::Leniency::kLenient;
  lenient_options.keep_instances = false;
  Compilation lenient(compilation.path(), std::move(lenient_options));
  if (!lenient.RunUntil(Stage::kExpand)) return;
  // Lenient mode ignores surplus arguments, and such an argument may be a misspelt one.
  const std::vector<Diagnostic>& findings = lenient.context().emitter.diagnostics();
  const auto deviations = llvm::count_if(
      findings, [](const Diagnostic& each) { return each.rule->label.starts_with("lenient."); });
  if (deviations == 0 ||
      llvm::any_of(findings, [](const Diagnostic& each) { return each.rule == &semantics::kLenientSurplus; }))
    return;
  Emitter& emitter = compilation.context().emitter;
  std::vector<Diagnostic> diagnostics = emitter.diagnostics();
  const auto first =
      llvm::find_if(diagnostics, [](const Diagnostic& each) { return each.severity == Severity::kError; });
  if (emitter.exhausted() || first == diagnostics.end()) return;
  first->notes.push_back(
      {first->range,
       fmt::format("an exporter may have written this document: `--lenient` reads it, with {} kind{} of "
                   "deviation from the specification",
                   deviations, deviations == 1 ? "" : "s")});
  emitter.Clear();
  for (Diagnostic& diagnostic : diagnostics) emitter.Add(std::move(diagnostic));
}

}  // namespace nnefc::driver
