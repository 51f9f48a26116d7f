#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc::api {

// Information in a document other than its graph, as written by exporters.
struct DocumentFacts {
  // Keys, and values as written, from arrays of pairs in fragments without parameters.
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<std::string> symbols;     // names of symbolic extents
  std::vector<std::string> assertions;  // conditions on them, as written
};

// Returns the information in the document of a checked compilation; empty lists for models that are not
// documents.
DocumentFacts FactsOf(const driver::Compilation& compilation);

}  // namespace nnefc::api
