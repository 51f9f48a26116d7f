#pragma once

#include <set>
#include <string>

#include "compiler/ir/op_registry.h"

namespace nnefc::ir {

using Names = std::set<std::string>;

// Returns the names of NNEF's operations, or of all versions of OpenVINO's, with a property. Operations of
// tract are those of NNEF whose names have its prefix.
template <typename Property>
Names NamesOf(bool is_nnef, Property property) {
  Names names;
  const OpRegistry& registry = StandardOps();
  for (size_t i = 0; i < registry.size(); ++i) {
    const OpInfo& row = registry.Info(OpId(static_cast<int32_t>(i)));
    if ((row.set == kNnefSet) == is_nnef && property(row)) names.insert(row.name);
  }
  return names;
}

}  // namespace nnefc::ir
