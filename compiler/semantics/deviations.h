#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::semantics {

// Deviations from the specification that lenient mode accepted. Each rule is reported once, at its first
// location, with the number of locations.
class Deviations {
 public:
  // Records a deviation; the same range counts once.
  void Note(const Rule& rule, SourceRange range, std::string message);
  void Report(Emitter& emitter) const;

 private:
  struct Entry {
    const Rule* rule;
    std::string message;              // for the first range
    std::vector<SourceRange> places;  // in source order
  };
  std::vector<Entry> entries_;
};

}  // namespace nnefc::semantics
