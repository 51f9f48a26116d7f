#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/expand/build/build_settings.h"
#include "compiler/expand/build/reporter.h"
#include "compiler/expand/build/symbol_scopes.h"

namespace nnefc::expand::build {

// The inputs of a document: shapes of `external` operations, from the declaration or from options.
class Externals {
 public:
  Externals(const BuildSettings& settings, SymbolScopes& symbols, Reporter& reporter)
      : settings_(settings), symbols_(symbols), reporter_(reporter) {}

  // Sets the attribute `shape` of an external if it is not the declared shape: `--input-shape` overrides it.
  // In the provisional dialect (P 4.1.1) and in lenient mode, extents of 0 and unbound symbols are unknown
  // until run time. Emits an error and returns false if SymbolScopes::Bind does, if the option states another
  // rank, or if a printed graph would have unknown extents.
  bool Prepare(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
               ir::AttributeMap& attributes);
  // Checks the tensor passed to the external `name` of a submodel against its declaration, and binds its
  // symbols. Emits an error and returns false if they differ.
  bool CheckGiven(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const ir::Output& given,
                  const Site& site, std::string_view name);
  // Reports `--input-shape` options that matched no external, with the names of the externals.
  void ReportUnknown() const;
  // ExpandedDocument::open_shapes of a trial (ExpandOptions::tries_symbols).
  const std::map<std::string, ir::PartialShape>& open_shapes() const { return open_shapes_; }
  // ExpandedDocument::open_extents.
  const std::map<std::string, std::vector<std::string>>& open_extents() const { return open_extents_; }

 private:
  bool CheckRank(const Value& declared, const Shape& extents, std::string_view name, const Site& site);

  const BuildSettings& settings_;
  SymbolScopes& symbols_;
  Reporter& reporter_;
  std::map<std::string, bool> known_;  // keyed by name; true: shape from an option
  std::map<std::string, ir::PartialShape> open_shapes_;
  std::map<std::string, std::vector<std::string>> open_extents_;
};

}  // namespace nnefc::expand::build
