// The table of interned strings.

#include "compiler/support/text/symbol.h"

namespace nnefc {

Symbol SymbolTable::Intern(std::string_view text) {
  auto [entry, inserted] = symbols_.try_emplace(llvm::StringRef(text.data(), text.size()));
  if (!inserted) return entry->second;
  const Symbol known = base_ != nullptr ? base_->Find(text) : Symbol();
  if (known.valid()) return entry->second = known;
  entry->second = Symbol(static_cast<int32_t>(size()));
  texts_.emplace_back(entry->getKeyData(), entry->getKeyLength());
  return entry->second;
}

Symbol SymbolTable::Find(std::string_view text) const {
  auto entry = symbols_.find(llvm::StringRef(text.data(), text.size()));
  if (entry != symbols_.end()) return entry->second;
  return base_ != nullptr ? base_->Find(text) : Symbol();
}

std::string_view SymbolTable::Text(Symbol symbol) const {
  NNEFC_CHECK(symbol.valid() && static_cast<size_t>(symbol.index) < size());
  if (symbol.index < first_) return base_->Text(symbol);
  return texts_[static_cast<size_t>(symbol.index - first_)];
}

}  // namespace nnefc
