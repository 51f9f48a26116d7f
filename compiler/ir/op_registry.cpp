#include "compiler/ir/op_registry.h"

#include "fmt/format.h"

namespace nnefc::ir {

namespace {

constexpr int kNewestOpset = 16;

std::string Key(std::string_view set, std::string_view name) {
  return fmt::format("{}.{}", set, name);
}

}  // namespace

OpId OpRegistry::Add(OpInfo info) {
  const std::string key = Key(info.set, info.name);
  NNEFC_CHECK(by_name_.find(key) == by_name_.end());
  const OpId op = infos_.Add(std::make_unique<OpInfo>(std::move(info)));
  by_name_.try_emplace(key, op);
  return op;
}

OpId OpRegistry::Find(std::string_view set, std::string_view name) const {
  auto entry = by_name_.find(Key(set, name));
  return entry == by_name_.end() ? OpId() : entry->second;
}

OpId OpRegistry::FindNewest(std::string_view name) const {
  for (int version = kNewestOpset; version >= 1; --version) {
    const OpId op = Find(fmt::format("opset{}", version), name);
    if (op.valid()) return op;
  }
  return OpId();
}

}  // namespace nnefc::ir
