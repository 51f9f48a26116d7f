#include "compiler/support/symbol.h"

namespace nnefc {

Symbol SymbolTable::Intern(std::string_view text) {
  auto [entry, inserted] = symbols_.try_emplace(llvm::StringRef(text.data(), text.size()));
  if (inserted) {
    llvm::StringRef key = entry->getKey();
    entry->second = texts_.Add(std::string_view(key.data(), key.size()));
  }
  return entry->second;
}

Symbol SymbolTable::Find(std::string_view text) const {
  auto entry = symbols_.find(llvm::StringRef(text.data(), text.size()));
  return entry == symbols_.end() ? Symbol() : entry->second;
}

std::string_view SymbolTable::Text(Symbol symbol) const {
  return texts_[symbol];
}

}  // namespace nnefc
