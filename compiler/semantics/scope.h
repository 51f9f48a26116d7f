#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/semantics/types.h"
#include "compiler/support/text/source.h"
#include "compiler/support/text/symbol.h"

namespace nnefc::semantics {

// The role of an identifier in a body.
enum class LocalKind : uint8_t {
  kParameter,       // parameter of a fragment
  kResult,          // result of a fragment or a graph
  kGraphParameter,  // must be assigned by `external`
  kLocal,
  kIterator,  // loop variable of a comprehension
  kUnknown,   // used without a definition; already reported
};

// The origin of a tensor, as far as `update` needs it.
enum class Origin : uint8_t { kUndecided, kVariable, kOther };

// An identifier of a body.
struct Local {
  LocalKind kind = LocalKind::kLocal;
  Origin origin = Origin::kUndecided;
  bool assigned = false;
  TypeId type = {};  // declared type for a result
  SourceRange declaration = {};
  SourceRange assignment = {};  // valid if it was assigned in the body
};

// The identifiers of one body, by symbol. Reused for all bodies, so that 100,000 fragments cost only their
// names.
class Scope {
 public:
  // Returns the local named `name`, or null. Valid until the next Add.
  const Local* Find(Symbol name) const {
    const size_t index = static_cast<size_t>(name.index);
    if (index >= slots_.size() || slots_[index] < 0) return nullptr;
    return &locals_[static_cast<size_t>(slots_[index])].local;
  }
  Local* Find(Symbol name) { return const_cast<Local*>(std::as_const(*this).Find(name)); }
  // Adds an identifier that is not in scope yet. The result is valid until the next Add.
  Local& Add(Symbol name, const Local& local) {
    const size_t index = static_cast<size_t>(name.index);
    if (index >= slots_.size()) slots_.resize(index * 2 + 64, -1);
    slots_[index] = static_cast<int32_t>(locals_.size());
    locals_.push_back({name, local});
    return locals_.back().local;
  }
  // Removes the most recently added identifier.
  void Pop() {
    slots_[static_cast<size_t>(locals_.back().name.index)] = -1;
    locals_.pop_back();
  }
  void Clear() {
    while (!locals_.empty()) Pop();
  }

  struct Entry {
    Symbol name;
    Local local;
  };
  const std::vector<Entry>& entries() const { return locals_; }

 private:
  std::vector<int32_t> slots_;  // indexed by symbol; -1: not in scope
  std::vector<Entry> locals_;
};

}  // namespace nnefc::semantics
