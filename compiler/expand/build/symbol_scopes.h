#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/expand/build/assertions.h"
#include "compiler/expand/build/build_settings.h"
#include "compiler/expand/build/reporter.h"
#include "compiler/expand/build/symbolic_extents.h"

namespace nnefc::expand::build {

// The symbols in the shapes of externals, `[N, 3, H, W]`, and their extents. They are bound to extents of
// `--input-shape`, or of the tensor passed to the external of a submodel. Each document has a scope of its
// own; all symbols are numbered consecutively, so that closing a scope discards the highest numbers.
class SymbolScopes {
 public:
  SymbolScopes(const BuildSettings& settings, Reporter& reporter)
      : settings_(settings), reporter_(reporter) {}

  // Opens a scope for a document: numbers its symbols and reads its assertions. They are checked as soon as
  // input shapes bind the symbols. Returns the number of symbols before.
  uint32_t Open(const semantics::CheckedDocument& document);
  // Closes the last scope and discards its bindings. `before` is the result of Open.
  void Close(uint32_t before);
  // Returns the extent bound to a symbol (in a trial, its trial extent if there is none). Returns other
  // values, and symbols without an extent, unchanged.
  Value ValueOf(const Value& value) const;
  // Returns the extent that `2 * S` or another operator makes of a symbol; nothing for operators that make
  // none (comparisons), or with a fault, such as a division by 0.
  [[nodiscard]] std::optional<Value> ExtentOf(ast::BinaryOperator op, const Value& left, const Value& right,
                                              Fault& fault) {
    return extents_.Make(op, left, right, settings_.heap, fault);
  }
  // Returns the extent of a symbol or an expression; nothing if a symbol in it is not bound.
  std::optional<int64_t> Find(const Value& extent) const { return extents_.Find(extent); }
  // An extent of an external that a symbol or an expression states.
  struct Source {
    Value extent;
    SymbolicExtents::Unknown along;
  };
  // Records the open extents of an external.
  void AddSources(llvm::ArrayRef<Value> declared, ir::OutputPort external);
  const std::vector<Source>& sources() const { return scopes_.back().sources; }
  // Returns the unknown extent of a tensor along an axis: the symbol of an external, if it states one.
  Value ExtentAlong(ir::OutputPort port, int64_t axis);
  const SymbolicExtents& extents() const { return extents_; }
  // Returns the text of a symbolic extent with the names of the innermost document.
  std::string TextOf(const Value& extent) const;
  // Binds the symbols in the declared shape of the external `name` to the known extents of `shape`, and
  // checks the assertions that this completes. Emits an error and returns false if a symbol has another
  // extent already, or an assertion fails.
  bool Bind(llvm::ArrayRef<Value> declared, const ir::PartialShape& shape, std::string_view name,
            const Site& site);

 private:
  // The extent of an external, `N * M`, that several unbound symbols make.
  struct Undetermined {
    Value extent;
    int64_t actual;
    std::string external;
    size_t axis;
  };
  // The symbols and assertions of a document.
  struct Scope {
    std::map<std::string, uint32_t, std::less<>> numbers;  // keyed by name
    std::vector<Assertion> assertions;                     // not checked yet
    std::vector<Source> sources;
    std::vector<Undetermined> undetermined;
  };

  bool BindUndetermined(std::string_view external, const Site& site);
  bool CheckAssertions(std::string_view external);

  const BuildSettings& settings_;
  Reporter& reporter_;
  SymbolicExtents extents_;
  std::vector<Scope> scopes_;  // nested documents, the innermost last
  std::map<const semantics::CheckedDocument*, std::vector<Assertion>> assertions_;  // parsed once
  uint32_t count_ = 0;
};

}  // namespace nnefc::expand::build
