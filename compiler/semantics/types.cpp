// The table of interned types.

#include "compiler/semantics/types.h"

#include <algorithm>

namespace nnefc::semantics {
namespace {

// Maximum length of a type in messages.
constexpr size_t kMaxTextLength = 200;

constexpr TypeKind kPrimitives[] = {TypeKind::kError,   TypeKind::kInteger, TypeKind::kScalar,
                                    TypeKind::kLogical, TypeKind::kString,  TypeKind::kGeneric,
                                    TypeKind::kAny};

std::string_view PrimitiveText(TypeKind kind, const ast::Dialect& dialect) {
  switch (kind) {
    case TypeKind::kInteger:
      return dialect.integer;
    case TypeKind::kScalar:
      return "scalar";
    case TypeKind::kLogical:
      return "logical";
    case TypeKind::kString:
      return "string";
    case TypeKind::kGeneric:
      return "?";
    default:
      return "unknown";
  }
}

}  // namespace

TypeTable::TypeTable() {
  for (TypeKind kind : kPrimitives) {
    types_.Add({.kind = kind, .contains_generic = kind == TypeKind::kGeneric});
  }
}

std::unique_ptr<TypeTable> TypeTable::Over(const TypeTable& base) {
  auto table = std::make_unique<TypeTable>();
  table->types_ = base.types_;  // their parts are shared with `base`
  table->by_hash_ = base.by_hash_;
  return table;
}

TypeId TypeTable::Primitive(TypeKind kind) const {
  NNEFC_CHECK(kind != TypeKind::kTensor && kind != TypeKind::kArray && kind != TypeKind::kTuple);
  return TypeId(kind == TypeKind::kAny ? 6 : static_cast<int32_t>(kind));
}

TypeId TypeTable::Tensor(TypeId element) {
  if (Kind(element) == TypeKind::kError) return element;
  return Intern(TypeKind::kTensor, element);
}

TypeId TypeTable::Array(TypeId item) {
  if (Kind(item) == TypeKind::kError) return item;
  return Intern(TypeKind::kArray, item);
}

TypeId TypeTable::Tuple(llvm::ArrayRef<TypeId> items) {
  for (TypeId item : items) {
    if (Kind(item) == TypeKind::kError) return item;
  }
  return Intern(TypeKind::kTuple, items);
}

TypeId TypeTable::Element(TypeId type) const {
  NNEFC_CHECK(Kind(type) == TypeKind::kTensor);
  return types_[type].parts[0];
}

TypeId TypeTable::Item(TypeId type) const {
  NNEFC_CHECK(Kind(type) == TypeKind::kArray);
  return types_[type].parts[0];
}

llvm::ArrayRef<TypeId> TypeTable::Items(TypeId type) const {
  NNEFC_CHECK(Kind(type) == TypeKind::kTuple);
  return types_[type].parts;
}

TypeId TypeTable::Intern(TypeKind kind, llvm::ArrayRef<TypeId> parts) {
  uint64_t hash = static_cast<uint64_t>(kind) + 0x9e3779b97f4a7c15u;
  for (TypeId part : parts) hash = (hash ^ static_cast<uint64_t>(part.index)) * 0x100000001b3u + (hash >> 29);
  hash >>= 1;  // DenseMap reserves the two largest values.
  llvm::SmallVector<TypeId, 1>& bucket = by_hash_[hash];
  for (TypeId type : bucket) {
    if (types_[type].kind == kind && types_[type].parts == parts) return type;
  }
  Entry entry{.kind = kind, .only_tensors = true};
  uint64_t size = 1;
  for (TypeId part : parts) {
    const Entry& inner = types_[part];
    entry.contains_tensor |= inner.contains_tensor;
    entry.contains_generic |= inner.contains_generic;
    entry.contains_unbound |= inner.contains_unbound;
    entry.only_tensors &= inner.only_tensors;
    entry.depth = std::max(entry.depth, inner.depth + 1);
    size += inner.size;
  }
  if (kind == TypeKind::kTensor) {
    entry.contains_tensor = entry.only_tensors = true;
    entry.contains_unbound = Kind(parts[0]) == TypeKind::kAny;
  }
  entry.size = static_cast<uint32_t>(std::min<uint64_t>(size, UINT32_MAX / 2));
  TypeId* copy = allocator_.Allocate<TypeId>(parts.size());
  std::uninitialized_copy(parts.begin(), parts.end(), copy);
  entry.parts = {copy, parts.size()};
  TypeId type = types_.Add(entry);
  bucket.push_back(type);
  return type;
}

std::string TypeTable::Text(TypeId type, const ast::Dialect& dialect) const {
  std::string text;
  AppendText(type, dialect, text);
  if (text.size() > kMaxTextLength) {
    text.resize(kMaxTextLength);
    text += "...";
  }
  return text;
}

void TypeTable::AppendText(TypeId type, const ast::Dialect& dialect, std::string& text) const {
  if (text.size() > kMaxTextLength) return;
  switch (Kind(type)) {
    case TypeKind::kTensor:
      text += "tensor";
      if (!dialect.tensor_types) return;
      text += '<';
      if (Kind(Element(type)) != TypeKind::kAny) AppendText(Element(type), dialect, text);
      text += '>';
      return;
    case TypeKind::kArray:
      if (Kind(Item(type)) != TypeKind::kAny) AppendText(Item(type), dialect, text);
      text += "[]";
      return;
    case TypeKind::kTuple:
      text += '(';
      for (TypeId item : Items(type)) {
        if (text.back() != '(') text += ',';
        AppendText(item, dialect, text);
      }
      text += ')';
      return;
    default:
      text += PrimitiveText(Kind(type), dialect);
  }
}

TypeId TypeTable::Substitute(TypeId type, TypeId generic) {
  if (!ContainsGeneric(type)) return type;
  switch (Kind(type)) {
    case TypeKind::kGeneric:
      return generic;
    case TypeKind::kTensor:
      return Tensor(Substitute(Element(type), generic));
    case TypeKind::kArray:
      return Array(Substitute(Item(type), generic));
    case TypeKind::kTuple: {
      llvm::SmallVector<TypeId, 4> items;
      for (TypeId item : Items(type)) items.push_back(Substitute(item, generic));
      return Tuple(items);
    }
    default:
      return type;
  }
}

}  // namespace nnefc::semantics
