#pragma once

#include "compiler/language/analysis.h"

namespace nnefc::language {

// One version of a graph.quant file without its model: its text and its syntax errors.
class QuantizationText {
 public:
  QuantizationText(driver::NamedText text, const Limits& limits, PositionEncoding encoding);

  std::vector<Finding> Findings() const;

 private:
  std::string uri_;
  Context context_;
  FileId file_;
  PositionEncoding encoding_;
};

}  // namespace nnefc::language
