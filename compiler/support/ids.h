#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/support/allocation.h"
#include "compiler/support/check.h"
#include "llvm/ADT/DenseMapInfo.h"

namespace nnefc {

// An index into one kind of store; `Tag` makes ids of different stores distinct types.
template <typename Tag>
struct TypedId {
  int32_t index = -1;

  constexpr TypedId() = default;
  constexpr explicit TypedId(int32_t value) : index(value) {}

  constexpr bool valid() const { return index >= 0; }
  friend constexpr bool operator==(TypedId, TypedId) = default;
  friend constexpr auto operator<=>(TypedId, TypedId) = default;
};

// A growing list of values that are addressed by typed ids.
template <typename Id, typename T>
class ValueStore {
 public:
  Id Add(T value) {
    values_.push_back(std::move(value));
    return Id(static_cast<int32_t>(values_.size()) - 1);
  }
  T& operator[](Id id) {
    NNEFC_CHECK(id.valid() && static_cast<size_t>(id.index) < values_.size());
    return values_[static_cast<size_t>(id.index)];
  }
  const T& operator[](Id id) const {
    NNEFC_CHECK(id.valid() && static_cast<size_t>(id.index) < values_.size());
    return values_[static_cast<size_t>(id.index)];
  }
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  void reserve(size_t count) { values_.reserve(count); }

 private:
  std::vector<T, AlignedAllocator<T>> values_;
};

}  // namespace nnefc

template <typename Tag>
struct std::hash<nnefc::TypedId<Tag>> {
  size_t operator()(nnefc::TypedId<Tag> id) const { return std::hash<int32_t>()(id.index); }
};

namespace llvm {
template <typename Tag>
struct DenseMapInfo<nnefc::TypedId<Tag>> {
  using Id = nnefc::TypedId<Tag>;
  static Id getEmptyKey() { return Id(-2); }
  static Id getTombstoneKey() { return Id(-3); }
  static unsigned getHashValue(Id id) { return DenseMapInfo<int32_t>::getHashValue(id.index); }
  static bool isEqual(Id a, Id b) { return a == b; }
};
}  // namespace llvm
