#pragma once

#include <cstdint>
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

// Returns the name of an output of a node: that of its tensor, or else of the node, with the index of one of
// several.
std::string OutputName(const ir::Node& node, int32_t index);
// Returns the shape of a node's output; one of unknown rank if it is computed from trial extents of symbols.
ir::PartialShape ShownShape(const driver::Compilation& compilation, const ir::Node& node, int32_t index);

}  // namespace nnefc::api
