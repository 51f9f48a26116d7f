#include "compiler/language/configuration_text.h"

namespace nnefc::language {

ConfigurationText::ConfigurationText(NamedText text, PositionEncoding encoding)
    : uri_(std::move(text.name)), encoding_(encoding) {
  file_ = context_.sources.AddText(uri_, std::move(text.text));
  request_ = lint::ReadConfigText(file_, context_);
}

std::vector<Finding> ConfigurationText::Findings() const {
  const PositionMap positions(context_.sources, file_, encoding_);
  return FindingsIn(context_, file_, positions, [&](SourceRange range) -> std::optional<Place> {
    if (range.file != file_) return std::nullopt;
    return Place{
        uri_, {range.begin, range.end, positions.PositionAt(range.begin), positions.PositionAt(range.end)}};
  });
}

}  // namespace nnefc::language
