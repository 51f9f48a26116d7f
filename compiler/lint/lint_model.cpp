#include "compiler/lint/lint_model.h"

#include <utility>

#include "compiler/expand/expand.h"
#include "compiler/lint/allow.h"
#include "compiler/lint/lint.h"
#include "compiler/syntax/parse.h"

namespace nnefc::lint {
namespace {

// The quantization file of a model, parsed once more: what was wrong with it
// was told. Null if there is none that could be read.
std::unique_ptr<const ast::Document> ParseQuantization(const Compilation& compilation, Context& context) {
  if (!compilation.quantization_text()) return nullptr;
  Emitter told = std::exchange(context.emitter, Emitter());
  auto document = ParseDocument(
      *compilation.quantization_text(),
      {.dialect = compilation.checked()->dialect(), .kind = DocumentKind::kQuantization}, context);
  if (context.emitter.has_errors()) document = nullptr;
  context.emitter = std::move(told);
  return document;
}

// What could be made of a document with mistakes; they were told.
std::unique_ptr<ir::Graph> ExpandIncomplete(Compilation& compilation, Context& context,
                                            std::vector<Diagnostic>& untold) {
  constexpr size_t kMostMistakes = 100'000;
  Emitter told = std::exchange(context.emitter, Emitter(kMostMistakes));
  ExpandOptions options;
  options.keep_incomplete = true;
  auto graph =
      ExpandDocument(*compilation.checked(), compilation.library(), compilation.registry(), options, context);
  untold = context.emitter.diagnostics();
  context.emitter = std::move(told);
  return graph;
}

}  // namespace

void LintModel(Compilation& compilation, const Settings& settings) {
  Context& context = compilation.context();
  if (compilation.checked() == nullptr) return;
  const bool is_right = compilation.expanded() != nullptr && !context.emitter.has_errors();
  std::unique_ptr<ir::Graph> incomplete;
  std::vector<Diagnostic> untold;
  if (compilation.expanded() == nullptr) incomplete = ExpandIncomplete(compilation, context, untold);
  const std::unique_ptr<const ast::Document> quantization = ParseQuantization(compilation, context);
  const LintInput input{.checked = *compilation.checked(),
                        .graph = incomplete != nullptr ? incomplete.get() : compilation.expanded(),
                        .model = compilation.model(),
                        .quantization = quantization.get(),
                        .untold = untold,
                        .is_right = is_right};
  Lint(input, settings, context);
}

}  // namespace nnefc::lint
