#pragma once

#include "compiler/expand/expand.h"
#include "compiler/expand/value.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc::expand::build {

// The surroundings of a graph under construction.
struct BuildSettings {
  ir::OpRegistry& registry;
  const semantics::StandardLibrary& library;
  // Dialect of the document. Its switches choose the conversions around nodes; extensions turn them on
  // (semantics::Extension::enables).
  const ast::Dialect& dialect;
  const ExpandOptions& options;
  Heap& heap;
  Context& context;

  // Returns true if deviations of exporters are converted.
  bool is_lenient() const { return dialect.loose_values; }
  const semantics::CheckedDocument& ratified() const { return library.Get(ast::Dialect::kRatified); }
};

}  // namespace nnefc::expand::build
