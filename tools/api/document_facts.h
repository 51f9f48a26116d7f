#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc::api {

// Information in a document other than its graph, as written by exporters.
struct DocumentFacts {
  std::vector<std::pair<std::string, std::string>> properties;  // keys, and values as written
  std::vector<std::string> symbols;
  std::vector<std::string> assertions;
};

// Collects properties from fragments without parameters. Returns nothing for models that are not documents.
DocumentFacts FactsOf(const driver::Compilation& compilation);

}  // namespace nnefc::api
