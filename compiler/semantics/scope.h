#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/semantics/types.h"
#include "compiler/support/source.h"
#include "compiler/support/symbol.h"

namespace nnefc {

// What an identifier of a body stands for.
enum class LocalKind : uint8_t {
  kParameter,       // of a fragment
  kResult,          // of a fragment or a graph
  kGraphParameter,  // to be assigned by `external`
  kLocal,
  kIterator,  // of a comprehension
  kUnknown,   // used without a definition; that was reported
};

// How a tensor came to be, as far as `update` needs to know.
enum class Origin : uint8_t { kUndecided, kVariable, kOther };

struct Local {
  LocalKind kind = LocalKind::kLocal;
  Origin origin = Origin::kUndecided;
  bool assigned = false;
  TypeId type = {};  // of a result: as declared
  SourceRange declaration = {};
  SourceRange assignment = {};  // valid if it was assigned in the body
};

// The identifiers of one body, by symbol. Reused from body to body, so that
// 100,000 fragments cost no more than their names.
class Scope {
 public:
  // Valid until the next Add.
  Local* Find(Symbol name) {
    const size_t index = static_cast<size_t>(name.index);
    if (index >= slots_.size() || slots_[index] < 0) return nullptr;
    return &locals_[static_cast<size_t>(slots_[index])].local;
  }
  Local& Add(Symbol name, const Local& local) {
    const size_t index = static_cast<size_t>(name.index);
    if (index >= slots_.size()) slots_.resize(index * 2 + 64, -1);
    slots_[index] = static_cast<int32_t>(locals_.size());
    locals_.push_back({name, local});
    return locals_.back().local;
  }
  // Takes the youngest identifier out again.
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
  std::vector<int32_t> slots_;  // by symbol; -1: not in scope
  std::vector<Entry> locals_;
};

}  // namespace nnefc
