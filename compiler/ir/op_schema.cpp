// Properties of registered operations: element types that inputs accept, and kinds and defaults of
// attributes.

#include "compiler/ir/op_schema.h"

#include <algorithm>

namespace nnefc::ir {

namespace {

const AttributeInfo* FindIn(const std::vector<AttributeInfo>& infos, std::string_view name) {
  const auto found =
      std::find_if(infos.begin(), infos.end(), [&](const AttributeInfo& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

bool IsPairs(const Attribute& value) {
  const auto* list = value.get<AttributeList>();
  return list != nullptr && std::all_of(list->items.begin(), list->items.end(), [](const Attribute& item) {
           const auto* pair = item.get<Attribute::Integers>();
           return pair != nullptr && pair->size() == 2;
         });
}

}  // namespace

const AttributeInfo* OpInfo::FindAttribute(std::string_view attribute) const {
  return FindIn(attributes, attribute);
}

const AttributeInfo* OpInfo::FindImplied(std::string_view attribute) const {
  return FindIn(implied, attribute);
}

bool Accepts(TypeClass types, ElementType type) {
  switch (types) {
    case TypeClass::kAny:
      return true;
    case TypeClass::kNumber:
      return IsFloat(type) || IsInteger(type);
    case TypeClass::kFloat:
      return IsFloat(type);
    case TypeClass::kInteger:
      return IsInteger(type);
    case TypeClass::kIndex:
      return type == ElementType::kI32 || type == ElementType::kI64;
    case TypeClass::kBoolean:
      return type == ElementType::kBoolean;
    case TypeClass::kBits:
      return IsInteger(type) || type == ElementType::kBoolean;
  }
  return false;
}

bool HasKind(const Attribute& value, AttributeKind kind) {
  const bool is_empty_list = value.IsList() && value.ListSize() == 0;
  switch (kind) {
    case AttributeKind::kBool:
      return value.get<bool>() != nullptr;
    case AttributeKind::kInt:
      return value.get<int64_t>() != nullptr;
    case AttributeKind::kDouble:
      return value.get<double>() != nullptr || value.get<int64_t>() != nullptr;
    case AttributeKind::kString:
      return value.get<std::string>() != nullptr;
    case AttributeKind::kInts:
      return value.get<Attribute::Integers>() != nullptr || is_empty_list;
    case AttributeKind::kDoubles:
      return value.get<Attribute::Scalars>() != nullptr || is_empty_list;
    case AttributeKind::kType:
      return value.get<ElementType>() != nullptr;
    case AttributeKind::kShape:
      return value.get<PartialShape>() != nullptr;
    case AttributeKind::kPairs:
      return IsPairs(value);
    case AttributeKind::kGeneric:
      return value.IsList();
  }
  return false;
}

}  // namespace nnefc::ir
