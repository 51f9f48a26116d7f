#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/support/ids.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc {

struct SymbolTag;
// An interned string: identifiers, keywords used as identifiers, labels.
using Symbol = TypedId<SymbolTag>;

// Interns strings; equal text has equal symbols. The text lives as long as
// the interner.
class SymbolTable {
 public:
  SymbolTable() = default;
  // Begins with the symbols of `base`, which keep their ids. `base` must outlive
  // this table and not grow any more; any number of tables and threads may share it.
  explicit SymbolTable(const SymbolTable* base) : base_(base), first_(static_cast<int32_t>(base->size())) {}
  SymbolTable(SymbolTable&&) = default;
  SymbolTable& operator=(SymbolTable&&) = default;

  Symbol Intern(std::string_view text);
  // The symbol of `text` if it was interned, otherwise an invalid one.
  Symbol Find(std::string_view text) const;
  std::string_view Text(Symbol symbol) const;
  // Symbols there are, those of the base included.
  size_t size() const { return static_cast<size_t>(first_) + texts_.size(); }
  const SymbolTable* base() const { return base_; }

 private:
  const SymbolTable* base_ = nullptr;
  int32_t first_ = 0;                    // of the symbols that the base does not have
  llvm::StringMap<Symbol> symbols_;      // those of the base once they were asked for
  std::vector<std::string_view> texts_;  // from first_ on
};

}  // namespace nnefc
