#pragma once

#include "compiler/language/analysis.h"

namespace nnefc::language {

// One version of a graph.quant file without its model: its text and its syntax errors.
class QuantizationText {
 public:
  QuantizationText(NamedText text, const Limits& limits);

  std::string_view text() const { return context_.sources.Text(file_); }
  std::vector<Finding> Findings() const;
  uint32_t Offset(Position position) const { return OffsetAt(context_.sources, file_, position); }
  Position PositionOf(uint32_t offset) const { return PositionAt(context_.sources, file_, offset); }

 private:
  std::string uri_;
  Context context_;
  FileId file_;
};

}  // namespace nnefc::language
