// Diagnostics of a graph.quant file that is open without its model.

#include "compiler/language/quantization_text.h"

#include "compiler/syntax/parse.h"

namespace nnefc::language {

QuantizationText::QuantizationText(driver::NamedText text, const Limits& limits, PositionEncoding encoding)
    : uri_(std::move(text.name)), encoding_(encoding) {
  context_.limits = limits;
  file_ = context_.sources.AddText(uri_, std::move(text.text));
  // Parse only for the diagnostics.
  (void)ast::ParseDocument(
      file_, {.dialect = ast::Dialect::kRatified, .kind = ast::DocumentKind::kQuantization}, context_);
}

std::vector<Finding> QuantizationText::Findings() const {
  return FindingsIn(context_, file_, uri_, encoding_);
}

}  // namespace nnefc::language
