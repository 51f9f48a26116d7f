// Conversions between compile-time values, tensors and attributes of nodes.

#include "compiler/expand/attributes.h"

#include "compiler/expand/rules.h"

namespace nnefc::expand {

using semantics::TypeId;
using semantics::TypeKind;

namespace {

using ir::Attribute;
using ir::AttributeList;

// Converts values to attributes. Recursion follows the type, whose nesting the checker bounds.
class Converter {
 public:
  Converter(const semantics::TypeTable& types, TypeKind generic) : types_(types), generic_(generic) {}

  // Returns nothing if the value has another type; culprit() is then the value or item in error. `nested`:
  // the value is an item of an array or tuple.
  std::optional<Attribute> Convert(const Value& value, TypeId type, bool nested);
  const Value* culprit() const { return culprit_; }

 private:
  std::optional<Attribute> ConvertArray(const Value& value, TypeId item, bool nested);
  std::optional<Attribute> ConvertTuple(const Value& value, llvm::ArrayRef<TypeId> types, bool nested);
  std::optional<Attribute> ConvertPrimitive(const Value& value, TypeKind kind);
  TypeKind Resolve(TypeId type) const {
    TypeKind kind = types_.Kind(type);
    return kind == TypeKind::kGeneric ? generic_ : kind;
  }
  template <typename List, typename Get>
  std::optional<Attribute> Pack(const Value& value, ValueKind kind, Get get) {
    List list;
    list.reserve(static_cast<size_t>(value.length()));
    for (const Value& item : value.items()) {
      if (item.kind() != kind) {
        culprit_ = &item;
        return std::nullopt;
      }
      list.push_back(get(item));
    }
    return Attribute(std::move(list));
  }

  const semantics::TypeTable& types_;
  TypeKind generic_;
  const Value* culprit_ = nullptr;
};

std::optional<Attribute> Converter::ConvertPrimitive(const Value& value, TypeKind kind) {
  if (kind == TypeKind::kInteger && value.kind() == ValueKind::kInteger) return Attribute(value.integer());
  if (kind == TypeKind::kScalar && value.kind() == ValueKind::kScalar) return Attribute(value.scalar());
  if (kind == TypeKind::kLogical && value.kind() == ValueKind::kLogical) return Attribute(value.logical());
  if (kind == TypeKind::kString && value.kind() == ValueKind::kString)
    return Attribute(std::string(value.text()));
  culprit_ = &value;
  return std::nullopt;
}

// An array of primitives becomes a packed list. A nested one does not, to distinguish it from a pair of
// integers.
std::optional<Attribute> Converter::ConvertArray(const Value& value, TypeId item, bool nested) {
  if (value.kind() != ValueKind::kArray) {
    culprit_ = &value;
    return std::nullopt;
  }
  if (value.length() == 0) return Attribute(AttributeList{});
  if (!nested) {
    switch (Resolve(item)) {
      case TypeKind::kInteger:
        return Pack<Attribute::Integers>(value, ValueKind::kInteger,
                                         [](const Value& v) { return v.integer(); });
      case TypeKind::kScalar:
        return Pack<Attribute::Scalars>(value, ValueKind::kScalar, [](const Value& v) { return v.scalar(); });
      case TypeKind::kLogical:
        return Pack<Attribute::Logicals>(value, ValueKind::kLogical,
                                         [](const Value& v) { return v.logical(); });
      case TypeKind::kString:
        return Pack<Attribute::Strings>(value, ValueKind::kString,
                                        [](const Value& v) { return std::string(v.text()); });
      default:
        break;
    }
  }
  AttributeList list;
  list.items.reserve(static_cast<size_t>(value.length()));
  for (const Value& each : value.items()) {
    std::optional<Attribute> converted = Convert(each, item, true);
    if (!converted) return std::nullopt;
    list.items.push_back(std::move(*converted));
  }
  return Attribute(std::move(list));
}

std::optional<Attribute> Converter::ConvertTuple(const Value& value, llvm::ArrayRef<TypeId> types,
                                                 bool nested) {
  if (value.kind() != ValueKind::kTuple || value.length() != static_cast<int64_t>(types.size())) {
    culprit_ = &value;
    return std::nullopt;
  }
  // An item `(p,q)` of padding is packed, as ir::PairList expects.
  if (nested && types.size() == 2 && Resolve(types[0]) == TypeKind::kInteger &&
      Resolve(types[1]) == TypeKind::kInteger) {
    return Pack<Attribute::Integers>(value, ValueKind::kInteger, [](const Value& v) { return v.integer(); });
  }
  AttributeList list;
  list.is_tuple = true;
  for (size_t i = 0; i < types.size(); ++i) {
    std::optional<Attribute> converted = Convert(value.item(static_cast<int64_t>(i)), types[i], true);
    if (!converted) return std::nullopt;
    list.items.push_back(std::move(*converted));
  }
  return Attribute(std::move(list));
}

std::optional<Attribute> Converter::Convert(const Value& value, TypeId type, bool nested) {
  switch (types_.Kind(type)) {
    case TypeKind::kArray:
      return ConvertArray(value, types_.Item(type), nested);
    case TypeKind::kTuple:
      return ConvertTuple(value, types_.Items(type), nested);
    default:
      return ConvertPrimitive(value, Resolve(type));
  }
}

}  // namespace

std::optional<Attribute> ToAttribute(const Value& value, const semantics::TypeTable& types, TypeId type,
                                     TypeKind generic, const ArgumentWords& words, Fault& fault) {
  Converter converter(types, generic);
  std::optional<Attribute> attribute = converter.Convert(value, type, false);
  if (attribute) return attribute;
  const Value* culprit = converter.culprit();
  if (culprit->kind() == ValueKind::kUnknownExtent) {
    fault = Fault::Of(
        kShapeUnknown,
        "`{}` of `{}` depends on an extent that an external leaves open; give it with `--input-shape`",
        words.parameter, words.operation);
  } else {
    fault = Fault::Of(kValueType, "`{}` of `{}` is {}{}; expected `{}`", words.parameter, words.operation,
                      culprit == &value ? "" : "built of ", KindText(*culprit), words.type);
  }
  return std::nullopt;
}

std::string_view DataTypeText(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInteger:
      return "integer";
    case TypeKind::kLogical:
      return "logical";
    case TypeKind::kString:
      return "string";
    default:
      return "scalar";
  }
}

ElementType ElementTypeOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInteger:
      return ElementType::kI64;
    case TypeKind::kScalar:
      return ElementType::kF32;
    case TypeKind::kLogical:
      return ElementType::kBoolean;
    case TypeKind::kString:
      return ElementType::kString;
    default:
      return ElementType::kDynamic;
  }
}

TypeKind TypeKindOf(ElementType type) {
  if (IsFloat(type)) return TypeKind::kScalar;
  if (IsInteger(type)) return TypeKind::kInteger;
  if (type == ElementType::kBoolean) return TypeKind::kLogical;
  return type == ElementType::kString ? TypeKind::kString : TypeKind::kError;
}

}  // namespace nnefc::expand
