#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/compilation.h"

namespace nnefc::cli {

// What a document tells of itself beside its graph, as exporters write it.
struct DocumentFacts {
  std::vector<std::pair<std::string, std::string>> properties;  // keys, and values as they are written
  std::vector<std::string> symbols;
  std::vector<std::string> assertions;
};

// Properties are the pairs that fragments without parameters hold. Nothing of what is no document.
DocumentFacts FactsOf(const Compilation& compilation);

}  // namespace nnefc::cli
