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

// The OpenVINO sets `opset1` to the newest as one set of an OpTable, with every version of an operation.
inline constexpr std::string_view kOpsets = "opset";

// The operations of a run, indexed by OpId. Custom primitives, plug-ins and unknown layers add rows.
class OpRegistry {
 public:
  OpRegistry() = default;
  // Starts with the operations of `base`, under the same ids. `base` must outlive this registry and must not
  // change any more; threads may share it.
  explicit OpRegistry(const OpRegistry* base) : base_(base), infos_(base->infos_) {}
  OpRegistry(OpRegistry&&) = default;
  OpRegistry& operator=(OpRegistry&&) = default;

  // Adds an operation. Each name is unique within its set; later opsets have new versions of a name.
  OpId Add(OpInfo info);
  // Returns the operation of exactly that set and name, or an invalid id.
  OpId Find(std::string_view set, std::string_view name) const;
  // Returns the newest version of the OpenVINO operation `name`, or an invalid id.
  OpId FindNewest(std::string_view name) const;
  // Returns every version of the OpenVINO operation `name`, newest first, or an operation of another set.
  std::vector<OpId> FindVersions(std::string_view set, std::string_view name) const;
  // Returns the operations that match a name in a user's transformation: `set.name`, or a bare name of any
  // set. Built-in transformations always name the set.
  std::vector<OpId> FindNamed(std::string_view name) const;
  const OpInfo& Info(OpId op) const { return *infos_[op]; }
  size_t size() const { return infos_.size(); }

 private:
  OpId FindKey(llvm::StringRef key) const;

  const OpRegistry* base_ = nullptr;
  ValueStore<OpId, const OpInfo*> infos_;  // includes those of the base
  std::vector<std::unique_ptr<OpInfo>> added_;
  llvm::StringMap<OpId> by_name_;  // "set.name" of the added operations
};

// A table of values by operation, next to the rows of a registry. Operations are found by set and name, so
// that a plug-in's operation of the same name in another set has no entry.
template <typename T>
class OpTable {
 public:
  struct Entry {
    std::string_view name;
    T value;
  };
  // `set` is kNnefSet or kOpsets. Checked: the registry has every name.
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
        // Layers that no row describes have no shape function.
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

// Registers NNEF's standard operations and the OpenVINO operations by one Register<Family>() call each.
void RegisterStandardOps(OpRegistry& registry);

// The registry of the standard operations, shared by the whole process.
const OpRegistry& StandardOps();

}  // namespace nnefc::ir
