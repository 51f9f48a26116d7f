#pragma once

#include "compiler/language/analysis.h"
#include "compiler/lint/config.h"

namespace nnefc::language {

// One version of a configuration (`.nnefc.json`): its settings and its mistakes.
class ConfigurationText {
 public:
  ConfigurationText(driver::NamedText text, PositionEncoding encoding);

  const lint::SettingsRequest& request() const { return request_; }
  std::vector<Finding> Findings() const;

 private:
  std::string uri_;
  Context context_;
  FileId file_;
  PositionEncoding encoding_;
  lint::SettingsRequest request_;
};

}  // namespace nnefc::language
