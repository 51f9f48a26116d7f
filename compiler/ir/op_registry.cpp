#include "compiler/ir/op_registry.h"

#include "fmt/format.h"
#include "llvm/ADT/SmallString.h"

namespace nnefc::ir {

namespace {

constexpr int kNewestOpset = 16;

using Key = llvm::SmallString<64>;

Key KeyOf(std::string_view set, std::string_view name) {
  Key key(llvm::StringRef(set.data(), set.size()));
  key += '.';
  key += llvm::StringRef(name.data(), name.size());
  return key;
}

}  // namespace

OpId OpRegistry::Add(OpInfo info) {
  const Key key = KeyOf(info.set, info.name);
  NNEFC_CHECK(!FindKey(key).valid());
  added_.push_back(std::make_unique<OpInfo>(std::move(info)));
  return by_name_.try_emplace(key, infos_.Add(added_.back().get())).first->second;
}

OpId OpRegistry::FindKey(llvm::StringRef key) const {
  auto entry = by_name_.find(key);
  if (entry != by_name_.end()) return entry->second;
  return base_ != nullptr ? base_->FindKey(key) : OpId();
}

OpId OpRegistry::Find(std::string_view set, std::string_view name) const {
  return FindKey(KeyOf(set, name));
}

OpId OpRegistry::FindNewest(std::string_view name) const {
  for (int version = kNewestOpset; version >= 1; --version) {
    const OpId op = Find(fmt::format("opset{}", version), name);
    if (op.valid()) return op;
  }
  return OpId();
}

}  // namespace nnefc::ir
