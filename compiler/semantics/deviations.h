#pragma once

#include <string>
#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

// Where a document leaves the specification and is read leniently: each rule is
// told once, at its first place and with the number of its places.
class Deviations {
 public:
  // The same place counts once, however often it is come to.
  void Note(const Rule& rule, SourceRange range, std::string message);
  void Tell(Emitter& emitter) const;

 private:
  struct Entry {
    const Rule* rule;
    std::string message;              // of the first place
    std::vector<SourceRange> places;  // in the order of the text
  };
  std::vector<Entry> entries_;
};

}  // namespace nnefc
