#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/op_schema.h"
#include "compiler/support/check.h"
#include "compiler/support/ids.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::ir {

struct OpTag;
using OpId = TypedId<OpTag>;

// The name of the set of NNEF operations.
inline constexpr std::string_view kNnefSet = "nnef";

// In an OpTable: the sets of OpenVINO, `opset1` to the newest, with every version of an operation.
inline constexpr std::string_view kOpsets = "opset";

// The operations that a run knows: an OpId indexes it. Open: custom
// primitives, plug-ins and unknown layers add rows.
class OpRegistry {
 public:
  OpRegistry() = default;
  // Begins with the operations of `base`, which keep their ids. `base` must
  // outlive this registry and not grow any more; threads may share it.
  explicit OpRegistry(const OpRegistry* base) : base_(base), infos_(base->infos_) {}
  OpRegistry(OpRegistry&&) = default;
  OpRegistry& operator=(OpRegistry&&) = default;

  // Adds an operation; a set holds a name once (later opsets hold new
  // versions of a name).
  OpId Add(OpInfo info);
  // The operation of exactly that set and name, or an invalid id.
  OpId Find(std::string_view set, std::string_view name) const;
  // The OpenVINO operation `name` by the set that introduced it, the newest
  // first.
  OpId FindNewest(std::string_view name) const;
  // Every version of the OpenVINO operation `name`, or, of another set than kOpsets, the one
  // operation of that set.
  std::vector<OpId> FindVersions(std::string_view set, std::string_view name) const;
  // The operations that a user's transformation names: `set.name`, or a bare name, which is that of
  // operations of any set. Built-in transformations name the set.
  std::vector<OpId> FindNamed(std::string_view name) const;
  const OpInfo& Info(OpId op) const { return *infos_[op]; }
  size_t size() const { return infos_.size(); }

 private:
  OpId FindKey(llvm::StringRef key) const;

  const OpRegistry* base_ = nullptr;
  ValueStore<OpId, const OpInfo*> infos_;  // those of the base, too
  std::vector<std::unique_ptr<OpInfo>> added_;
  llvm::StringMap<OpId> by_name_;  // "set.name" of what was added
};

// Facts of one module about some operations: a table next to the rows of a registry.
// Operations are named by set and name, so that an operation that a plug-in adds to a set
// of its own is not in it, whatever its name.
template <typename T>
class OpTable {
 public:
  struct Entry {
    std::string_view name;
    T value;
  };
  // `set` is kNnefSet or kOpsets. The registry must have every name.
  OpTable(const OpRegistry& registry, std::string_view set, std::initializer_list<Entry> entries)
      : values_(registry.size()) {
    Add(registry, set, entries);
  }
  // Adds operations of another set.
  OpTable& Add(const OpRegistry& registry, std::string_view set, std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) {
      const std::vector<OpId> versions = registry.FindVersions(set, entry.name);
      NNEFC_CHECK(!versions.empty());
      for (OpId op : versions) {
        // A layer of a file that no row describes has no shape function.
        if (registry.Info(op).infer != nullptr) values_[static_cast<size_t>(op.index)] = entry.value;
      }
    }
    return *this;
  }
  // Null for an operation that is not in the table.
  const T* Find(OpId op) const {
    const auto index = static_cast<size_t>(op.index);
    return index < values_.size() && values_[index].has_value() ? &*values_[index] : nullptr;
  }

 private:
  std::vector<std::optional<T>> values_;
};

// Registers NNEF's standard operations and the OpenVINO operations of
// ir/ops: one Register<Family>() call each.
void RegisterStandardOps(OpRegistry& registry);

// The registry of these operations that the process shares.
const OpRegistry& StandardOps();

}  // namespace nnefc::ir
