#pragma once

#include <memory>
#include <string_view>

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
  Symbol Intern(std::string_view text);
  // The symbol of `text` if it was interned, otherwise an invalid one.
  Symbol Find(std::string_view text) const;
  std::string_view Text(Symbol symbol) const;

 private:
  llvm::StringMap<Symbol> symbols_;
  ValueStore<Symbol, std::string_view> texts_;
};

}  // namespace nnefc
