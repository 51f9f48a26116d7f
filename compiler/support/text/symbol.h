#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/support/ids.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc {

struct SymbolTag;
// An interned string: an identifier, a keyword used as an identifier, or a label.
using Symbol = TypedId<SymbolTag>;

// An interner of strings; equal texts have equal symbols. The texts live as long as the table, or its base.
class SymbolTable {
 public:
  SymbolTable() = default;
  // Creates a table that starts with the symbols of `base`, under the same ids. `base` must outlive this
  // table and must not grow any more; any number of tables and threads may share it.
  explicit SymbolTable(const SymbolTable* base) : base_(base), first_(static_cast<int32_t>(base->size())) {}
  SymbolTable(SymbolTable&&) = default;
  SymbolTable& operator=(SymbolTable&&) = default;

  // Returns the symbol of `text`, adding it if necessary. Copies the text.
  Symbol Intern(std::string_view text);
  // Returns the symbol of `text` if it was interned, otherwise an invalid one.
  Symbol Find(std::string_view text) const;
  // Returns the text of a valid symbol of this table or its base.
  std::string_view Text(Symbol symbol) const;
  // Returns the number of symbols, including those of the base.
  size_t size() const { return static_cast<size_t>(first_) + texts_.size(); }
  const SymbolTable* base() const { return base_; }

 private:
  const SymbolTable* base_ = nullptr;
  int32_t first_ = 0;                    // the first id that is not the base's
  llvm::StringMap<Symbol> symbols_;      // base symbols are added on first use
  std::vector<std::string_view> texts_;  // from first_ on
};

}  // namespace nnefc
