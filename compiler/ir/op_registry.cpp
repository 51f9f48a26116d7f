// The registry of operations, by set and name.

#include "compiler/ir/op_registry.h"

#include "fmt/core.h"
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
  const std::vector<OpId> versions = FindVersions(kOpsets, name);
  return versions.empty() ? OpId() : versions.front();
}

std::vector<OpId> OpRegistry::FindVersions(std::string_view set, std::string_view name) const {
  std::vector<OpId> versions;
  const auto add = [&](std::string_view of) {
    if (const OpId op = Find(of, name); op.valid()) versions.push_back(op);
  };
  if (set != kOpsets) {
    add(set);
    return versions;
  }
  for (int version = kNewestOpset; version >= 1; --version) add(fmt::format("{}{}", kOpsets, version));
  return versions;
}

std::vector<OpId> OpRegistry::FindNamed(std::string_view name) const {
  if (const size_t dot = name.find('.'); dot != std::string_view::npos)
    return FindVersions(name.substr(0, dot), name.substr(dot + 1));
  std::vector<OpId> ops;
  for (size_t i = 0; i < infos_.size(); ++i) {
    const OpId op(static_cast<int32_t>(i));
    if (Info(op).name == name) ops.push_back(op);
  }
  return ops;
}

}  // namespace nnefc::ir
