// The type of the generic parameter `?` of a call, deduced from the values of its arguments.

#include "compiler/expand/generics.h"

#include "compiler/expand/attributes.h"

namespace nnefc::expand {

using semantics::TypeKind;

TypeKind ElementKind(const Value& value, const ir::Graph& graph) {
  const Value* leaf = &value;
  while (leaf->sequence() && leaf->length() > 0) leaf = &leaf->items()[0];
  switch (leaf->kind()) {
    case ValueKind::kInteger:
      return TypeKind::kInteger;
    case ValueKind::kScalar:
      return TypeKind::kScalar;
    case ValueKind::kLogical:
      return TypeKind::kLogical;
    case ValueKind::kString:
      return TypeKind::kString;
    case ValueKind::kTensor:
      return TypeKindOf(graph.output(leaf->port()).type);
    default:
      return TypeKind::kError;
  }
}

namespace {

// Descends into a type and a value to the first `?` whose value determines its type.
TypeKind FindGeneric(const semantics::TypeTable& types, semantics::TypeId type, const Value& value,
                     const ir::Graph& graph) {
  switch (types.Kind(type)) {
    case TypeKind::kGeneric:
      return ElementKind(value, graph);
    case TypeKind::kTensor:
      return types.ContainsGeneric(type) ? ElementKind(value, graph) : TypeKind::kError;
    case TypeKind::kArray:
      if (!types.ContainsGeneric(type) || value.length() == 0 || !value.sequence()) return TypeKind::kError;
      return FindGeneric(types, types.Item(type), value.item(0), graph);
    case TypeKind::kTuple: {
      llvm::ArrayRef<semantics::TypeId> items = types.Items(type);
      if (!value.sequence() || value.length() != static_cast<int64_t>(items.size())) return TypeKind::kError;
      for (size_t i = 0; i < items.size(); ++i) {
        TypeKind kind = FindGeneric(types, items[i], value.item(static_cast<int64_t>(i)), graph);
        if (kind != TypeKind::kError) return kind;
      }
      return TypeKind::kError;
    }
    default:
      return TypeKind::kError;
  }
}

}  // namespace

TypeKind DeduceGeneric(const semantics::CheckedDocument& document, const semantics::Signature& signature,
                       llvm::ArrayRef<Value> arguments, const ir::Graph& graph) {
  const semantics::TypeTable& types = document.types();
  for (size_t i = 0; i < signature.parameters.size() && i < arguments.size(); ++i) {
    semantics::TypeId type = signature.parameters[i].type;
    if (!types.ContainsGeneric(type)) continue;
    TypeKind kind = FindGeneric(types, type, arguments[i], graph);
    if (kind != TypeKind::kError) return kind;
  }
  return signature.generic_default.valid() ? types.Kind(signature.generic_default) : TypeKind::kError;
}

Value CastTo(const semantics::TypeTable& types, semantics::TypeId type, Value value, Heap& heap) {
  if (!types.ContainsTensor(type)) return value.WithFoldedTensor(false);
  switch (types.Kind(type)) {
    case TypeKind::kTensor:
      return value.primitive() ? value.AsTensor() : value.WithFoldedTensor(true);
    case TypeKind::kArray: {
      // Arrays of arrays keep their literals: an operation converts them when it uses them.
      semantics::TypeId item = types.Item(type);
      if (value.kind() != ValueKind::kArray || value.all_tensors() || types.Kind(item) != TypeKind::kTensor)
        return value;
      std::vector<Value> items;
      items.reserve(static_cast<size_t>(value.length()));
      for (const Value& each : value.items()) items.push_back(CastTo(types, item, each, heap));
      heap.work += value.length();
      return Value::Array(heap, std::move(items));
    }
    case TypeKind::kTuple: {
      llvm::ArrayRef<semantics::TypeId> item_types = types.Items(type);
      if (value.kind() != ValueKind::kTuple || value.length() != static_cast<int64_t>(item_types.size()))
        return value;
      std::vector<Value> items;
      for (size_t i = 0; i < item_types.size(); ++i) {
        items.push_back(CastTo(types, item_types[i], value.item(static_cast<int64_t>(i)), heap));
      }
      return Value::Tuple(heap, std::move(items));
    }
    default:
      return value;
  }
}

}  // namespace nnefc::expand
