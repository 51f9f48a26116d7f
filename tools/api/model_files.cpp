// The C++ interface's functions that write a model's files: upgrade and conversion to NNEF.

#include "compiler/driver/data/write_variables.h"
#include "compiler/driver/stages/upgrade_model.h"
#include "compiler/expand/print/flat.h"
#include "compiler/syntax/print.h"
#include "fmt/core.h"
#include "tools/api/forms/written_model.h"
#include "tools/api/internals.h"
#include "tools/api/model.h"

namespace nnefc::api {
namespace {

// An expanded model for writing, or a report with the errors.
struct Written {
  std::unique_ptr<driver::Compilation> compilation;
  driver::UpgradedTexts texts;
  Report report;
};

// Only the flat document contains the shapes from options.
driver::UpgradedTexts TextsOf(driver::Compilation& compilation, const driver::CompileOptions& options) {
  Context& context = compilation.context();
  const semantics::CheckedDocument& document = *compilation.checked();
  const bool is_plain = !document.dialect().lenient && !document.dialect().translated;
  if (options.input_shapes.empty() && !is_plain) return driver::UpgradeTexts(compilation);
  driver::UpgradedTexts texts;
  texts.graph =
      options.input_shapes.empty()
          ? ast::PrintDocument(document.ast(), context)
          : expand::print::PrintFlatDocument(*compilation.expanded(), compilation.library(), context.symbols);
  if (const semantics::CheckedDocument* quantization = compilation.quantization().document.get())
    texts.quantization = ast::PrintDocument(quantization->ast(), context);
  return texts;
}

Written Prepare(const Model::State& state) {
  if (state.compilation().format() != driver::ModelFormat::kNnef) {
    return {.report = EnvironmentReport(fmt::format(
                "`{}` is a graph of OpenVINO operations, which no document can hold", state.path))};
  }
  driver::CompileOptions options = state.options;
  SetUpgradeOptions(options);
  auto compilation = std::make_unique<driver::Compilation>(state.path, options);
  if (!compilation->RunUntil(driver::Stage::kExpand)) return {.report = TakeReport(*compilation)};
  Written written{.texts = TextsOf(*compilation, options)};
  if (compilation->context().emitter.has_errors()) return {.report = TakeReport(*compilation)};
  written.compilation = std::move(compilation);
  return written;
}

ErrorOr<Success> WriteData(driver::Compilation& compilation, std::optional<uint64_t> seed,
                           const std::string& folder) {
  const package::ModelContainer& model = *compilation.model();
  if (!model.has_weights() && !seed) return Success{};
  driver::VariableStore variables(model, *compilation.expanded(), compilation.quantization().table, seed,
                                  compilation.context());
  if (compilation.checked()->dialect().translated) variables.ImplyTrailingOnes();
  return driver::WriteVariables(*compilation.expanded(), variables, driver::LabelsOf::kPrinted, folder);
}

}  // namespace

Outcome<std::string> Model::Upgrade() const {
  return Guard([&]() -> Outcome<std::string> {
    Written written = Prepare(*state_);
    if (written.compilation == nullptr) return {.value = std::nullopt, .report = std::move(written.report)};
    return {.value = std::move(written.texts.graph), .report = TakeReport(*written.compilation)};
  });
}

Report Model::WriteNnef(const std::string& folder) const {
  return Guard([&]() -> Report {
    Written written = Prepare(*state_);
    if (written.compilation == nullptr) return std::move(written.report);
    ErrorOr<Success> done = WriteTexts(written.texts, folder);
    if (done) done = WriteData(*written.compilation, state_->options.random_weights, folder);
    if (!done) return EnvironmentReport(done.error().message);
    return TakeReport(*written.compilation);
  });
}

}  // namespace nnefc::api
