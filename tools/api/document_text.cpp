// Texts of models, and their canonical style.

#include "tools/api/document_text.h"

#include <filesystem>
#include <memory>

#include "compiler/driver/rules.h"
#include "compiler/expand/print/flat.h"
#include "compiler/package/model.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"

namespace nnefc::api {
namespace {

constexpr std::string_view kQuantizationSuffix = ".quant";

bool ReadsSame(const ast::Document& document, const std::string& text, ast::ParseOptions options,
               const Limits& limits) {
  Context context;
  context.limits = limits;
  options.dialect = document.dialect;
  const auto again = ast::ParseDocument(context.sources.AddText("formatted", text), options, context);
  return again->complete && again->exprs.size() == document.exprs.size() &&
         again->comments.size() == document.comments.size() && ast::PrintDocument(*again, context) == text;
}

}  // namespace

std::vector<ModelText> OpenTexts(const std::string& path, const driver::CompileOptions& options,
                                 Context& context, bool& environment_failed) {
  if (options.document) {
    return {{.name = path,
             .is_quantization = path.ends_with(kQuantizationSuffix),
             .file = context.sources.AddText(path, *options.document)}};
  }
  if (path.ends_with(kQuantizationSuffix) && !std::filesystem::is_directory(path)) {
    ErrorOr<FileId> file = context.sources.Open(path);
    if (!file) {
      environment_failed = true;
      context.emitter.Emit(driver::kFileUnreadable, {}, "{}", file.error().message);
      return {};
    }
    return {{.name = path, .is_writable = true, .is_quantization = true, .file = *file}};
  }
  package::ModelOpenResult opened = package::ModelContainer::Open(path, context, options.open);
  environment_failed = opened.environment_failed;
  if (opened.model == nullptr) return {};
  // Members of an archive have names `ARCHIVE:MEMBER` and are not files.
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  std::vector<ModelText> texts;
  const auto add = [&](FileId file, bool is_quantization) {
    std::string name(context.sources.Name(file));
    const bool is_writable = is_folder || name == path;
    texts.push_back({std::move(name), is_writable, is_quantization, file});
  };
  add(opened.model->graph_text(), false);
  // A document that is named explicitly does not include the graph.quant of its folder.
  const bool is_document = texts.front().name == path;
  if (opened.model->quantization_text() && !is_document) add(*opened.model->quantization_text(), true);
  return texts;
}

FormattedDocument FormatDocument(FileId file, bool is_quantization, const driver::CompileOptions& options,
                                 Context& context) {
  const ast::ParseOptions parse{
      .dialect = options.dialect,
      .kind = is_quantization ? ast::DocumentKind::kQuantization : ast::DocumentKind::kModel};
  const std::unique_ptr<const ast::Document> document = ast::ParseDocument(file, parse, context);
  if (!document->complete) return {};
  FormattedDocument formatted{.is_complete = true, .text = ast::PrintDocument(*document, context)};
  formatted.reads_same = ReadsSame(*document, formatted.text, parse, options.limits);
  return formatted;
}

std::string FlatText(const driver::Compilation& compilation, const Limits& limits) {
  const std::string text = expand::print::PrintFlatDocument(*compilation.expanded(), compilation.library(),
                                                            compilation.context().symbols);
  Context context;
  context.limits = limits;
  const auto document =
      ast::ParseDocument(context.sources.AddText("flat", text),
                         {.dialect = ast::Dialect::kRatified, .kind = ast::DocumentKind::kModel}, context);
  return context.emitter.has_errors() ? text : ast::PrintDocument(*document, context);
}

}  // namespace nnefc::api
