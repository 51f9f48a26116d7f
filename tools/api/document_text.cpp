// Texts of documents in canonical style.

#include "tools/api/document_text.h"

#include <memory>

#include "compiler/expand/print/flat.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"

namespace nnefc::api {
namespace {

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
