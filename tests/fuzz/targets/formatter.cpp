// Formats valid models and graph.quant: the result has the same meaning, and formatting it again changes
// nothing.
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

namespace nnefc::fuzz {
namespace {

void Format(std::string_view text, ast::DocumentKind kind) {
  Context context;
  const auto document =
      ast::ParseDocument(context.sources.AddText("before", std::string(text)), {.kind = kind}, context);
  CheckDiagnostics(context);
  if (context.emitter.has_errors()) return;
  const std::string formatted = ast::PrintDocument(*document, context);
  const auto again = ast::ParseDocument(context.sources.AddText("formatted", formatted),
                                        {.dialect = document->dialect, .kind = kind}, context);
  Require(!context.emitter.has_errors(), "a formatted document parses", Messages(context) + formatted);
  Require(again->exprs.size() == document->exprs.size(), "formatting keeps expressions", formatted);
  Require(again->comments.size() == document->comments.size(), "formatting keeps comments", formatted);
  const std::string second = ast::PrintDocument(*again, context);
  Require(second == formatted, "formatting is idempotent", formatted + second);
}

}  // namespace
}  // namespace nnefc::fuzz

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kDocumentMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  fuzz::Format(fuzz::Text(data, size), ast::DocumentKind::kModel);
  fuzz::Format(fuzz::Text(data, size), ast::DocumentKind::kQuantization);
  return 0;
}
