// Checked conversions of attribute values, and the map of a node's attributes.

#include "compiler/ir/attribute.h"

#include <algorithm>

namespace nnefc::ir {

bool operator==(const AttributeList& a, const AttributeList& b) {
  return a.is_tuple == b.is_tuple && a.items == b.items;
}

bool operator==(const Attribute& a, const Attribute& b) {
  return a.value_ == b.value_;
}

namespace {

bool IsEmptyList(const Attribute& attribute) {
  return attribute.IsList() && attribute.ListSize() == 0;
}

template <typename T>
const T& Checked(const Attribute& attribute) {
  const T* value = attribute.get<T>();
  NNEFC_CHECK(value != nullptr);
  return *value;
}

template <typename List>
List CheckedList(const Attribute& attribute) {
  if (IsEmptyList(attribute)) return {};
  return Checked<List>(attribute);
}

}  // namespace

bool Attribute::AsBool() const {
  return Checked<bool>(*this);
}
int64_t Attribute::AsInt() const {
  return Checked<int64_t>(*this);
}
double Attribute::AsDouble() const {
  if (const int64_t* integer = get<int64_t>()) return static_cast<double>(*integer);
  return Checked<double>(*this);
}
const std::string& Attribute::AsString() const {
  return Checked<std::string>(*this);
}
Attribute::Integers Attribute::AsInts() const {
  return CheckedList<Integers>(*this);
}
Attribute::Scalars Attribute::AsDoubles() const {
  return CheckedList<Scalars>(*this);
}

std::vector<std::pair<int64_t, int64_t>> Attribute::AsPairs() const {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const Attribute& item : Checked<AttributeList>(*this).items) {
    const Integers& values = Checked<Integers>(item);
    NNEFC_CHECK(values.size() == 2);
    pairs.emplace_back(values[0], values[1]);
  }
  return pairs;
}

size_t Attribute::ListSize() const {
  return std::visit(
      [](const auto& value) -> size_t {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, AttributeList>) {
          return value.items.size();
        } else if constexpr (std::is_same_v<T, Boxed<Logicals>>) {
          return value.get().size();
        } else if constexpr (std::is_same_v<T, Integers> || std::is_same_v<T, Scalars> ||
                             std::is_same_v<T, Strings>) {
          return value.size();
        } else {
          return 0;
        }
      },
      value_);
}

bool Attribute::IsList() const {
  return get<AttributeList>() != nullptr || get<Integers>() != nullptr || get<Scalars>() != nullptr ||
         get<Logicals>() != nullptr || get<Strings>() != nullptr;
}

Attribute PairList(const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  AttributeList list;
  list.items.reserve(pairs.size());
  for (const auto& [first, second] : pairs) list.items.emplace_back(Attribute::Integers{first, second});
  return list;
}

const Attribute* AttributeMap::Find(std::string_view name) const {
  for (const auto& [key, value] : entries_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const Attribute& AttributeMap::Get(std::string_view name) const {
  const Attribute* attribute = Find(name);
  NNEFC_CHECK(attribute != nullptr);
  return *attribute;
}

void AttributeMap::Set(std::string_view name, Attribute value) {
  for (auto& [key, current] : entries_) {
    if (key == name) {
      current = std::move(value);
      return;
    }
  }
  entries_.emplace_back(std::string(name), std::move(value));
}

bool AttributeMap::Erase(std::string_view name) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == name; });
  if (entry == entries_.end()) return false;
  entries_.erase(entry);
  return true;
}

}  // namespace nnefc::ir
