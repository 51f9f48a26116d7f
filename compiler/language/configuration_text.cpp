// Diagnostics of an open configuration file (`.nnefc.json`).

#include "compiler/language/configuration_text.h"

namespace nnefc::language {

ConfigurationText::ConfigurationText(driver::NamedText text, PositionEncoding encoding)
    : uri_(std::move(text.name)), encoding_(encoding) {
  file_ = context_.sources.AddText(uri_, std::move(text.text));
  request_ = lint::ReadConfigText(file_, context_);
}

std::vector<Finding> ConfigurationText::Findings() const {
  return FindingsIn(context_, file_, uri_, encoding_);
}

}  // namespace nnefc::language
