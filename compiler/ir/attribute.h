#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/shape.h"
#include "compiler/support/tensor/element_type.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::ir {

// An immutable heap-allocated value. It makes large alternatives of Attribute small; copies share it.
template <typename T>
class Boxed {
 public:
  Boxed(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  operator const T&() const { return *value_; }
  const T& get() const { return *value_; }
  friend bool operator==(const Boxed& a, const Boxed& b) { return *a.value_ == *b.value_; }

 private:
  std::shared_ptr<const T> value_;
};

class Attribute;
// A tuple, or a list whose items are lists or of different kinds: `[(0,0), (1,1)]`.
struct AttributeList {
  std::vector<Attribute> items;
  bool is_tuple = false;
  friend bool operator==(const AttributeList&, const AttributeList&);
};

// An attribute value. A list of one primitive kind is packed; an empty list is an empty AttributeList.
class Attribute {
 public:
  using Integers = std::vector<int64_t>;
  using Scalars = std::vector<double>;
  using Logicals = std::vector<bool>;
  using Strings = std::vector<std::string>;
  using Value = std::variant<bool, int64_t, double, std::string, Integers, Scalars, Boxed<Logicals>, Strings,
                             AttributeList, ElementType, Boxed<PartialShape>, Boxed<TensorValue>>;

  Attribute() : value_(AttributeList{}) {}
  Attribute(bool value) : value_(value) {}
  Attribute(int64_t value) : value_(value) {}
  Attribute(int value) : value_(static_cast<int64_t>(value)) {}
  Attribute(double value) : value_(value) {}
  Attribute(std::string value) : value_(std::move(value)) {}
  Attribute(std::string_view value) : value_(std::string(value)) {}
  Attribute(const char* value) : value_(std::string(value)) {}
  Attribute(Integers value) : value_(std::move(value)) {}
  Attribute(Scalars value) : value_(std::move(value)) {}
  Attribute(Logicals value) : value_(Boxed<Logicals>(std::move(value))) {}
  Attribute(Strings value) : value_(std::move(value)) {}
  Attribute(AttributeList value) : value_(std::move(value)) {}
  Attribute(ElementType value) : value_(value) {}
  Attribute(PartialShape value) : value_(Boxed<PartialShape>(std::move(value))) {}
  Attribute(TensorValue value) : value_(Boxed<TensorValue>(std::move(value))) {}

  // Returns the value as T, or null if it has another kind.
  template <typename T>
  const T* get() const {
    if constexpr (std::is_same_v<T, PartialShape> || std::is_same_v<T, TensorValue> ||
                  std::is_same_v<T, Logicals>) {
      const auto* boxed = std::get_if<Boxed<T>>(&value_);
      return boxed == nullptr ? nullptr : &boxed->get();
    } else {
      return std::get_if<T>(&value_);
    }
  }
  const Value& value() const { return value_; }

  // Conversions to a known kind; another kind is an internal error (NNEFC_CHECK). An empty list converts to
  // an empty list of the requested kind.
  bool AsBool() const;
  int64_t AsInt() const;
  double AsDouble() const;  // also converts an integer
  const std::string& AsString() const;
  Integers AsInts() const;
  Scalars AsDoubles() const;
  // Converts NNEF's `(integer,integer)[]`.
  std::vector<std::pair<int64_t, int64_t>> AsPairs() const;
  // Returns the number of items of a list of any kind, or 0 for other values.
  size_t ListSize() const;
  // Returns true for packed lists and AttributeList, tuples included.
  bool IsList() const;

  friend bool operator==(const Attribute&, const Attribute&);

 private:
  Value value_;
};

// Makes the padding attribute `[(p,q), ..]`.
Attribute PairList(const std::vector<std::pair<int64_t, int64_t>>& pairs);

// Named attributes in insertion order. Lookup is linear because nodes have only a handful.
class AttributeMap {
 public:
  // Returns an attribute, or null if there is none.
  const Attribute* Find(std::string_view name) const;
  // Returns an attribute that must exist.
  const Attribute& Get(std::string_view name) const;
  // Adds an attribute, or replaces the value of an existing one.
  void Set(std::string_view name, Attribute value);
  void reserve(size_t count) { entries_.reserve(count); }
  // Removes an attribute; returns false if there was none.
  bool Erase(std::string_view name);
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  friend bool operator==(const AttributeMap&, const AttributeMap&) = default;

 private:
  std::vector<std::pair<std::string, Attribute>> entries_;
};

}  // namespace nnefc::ir
