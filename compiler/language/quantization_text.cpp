#include "compiler/language/quantization_text.h"

#include "compiler/syntax/parse.h"

namespace nnefc::language {

QuantizationText::QuantizationText(NamedText text, const Limits& limits, PositionEncoding encoding)
    : uri_(std::move(text.name)), encoding_(encoding) {
  context_.limits = limits;
  file_ = context_.sources.AddText(uri_, std::move(text.text));
  // Parse only for the diagnostics.
  (void)ParseDocument(file_, {.dialect = ast::Dialect::kRatified, .kind = DocumentKind::kQuantization},
                      context_);
}

std::vector<Finding> QuantizationText::Findings() const {
  const PositionMap positions(context_.sources, file_, encoding_);
  return FindingsIn(context_, file_, positions, [&](SourceRange range) -> std::optional<Place> {
    if (range.file != file_) return std::nullopt;
    return Place{
        uri_, {range.begin, range.end, positions.PositionAt(range.begin), positions.PositionAt(range.end)}};
  });
}

}  // namespace nnefc::language
