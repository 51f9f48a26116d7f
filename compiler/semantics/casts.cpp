// Implicit conversions between types.

#include "compiler/semantics/casts.h"

namespace nnefc::semantics {
namespace {

bool IsPrimitive(TypeKind kind) {
  return kind >= TypeKind::kInteger && kind <= TypeKind::kGeneric;
}

// Returns true if `from`, a primitive or a tensor, is castable to a tensor with elements of type `element`.
bool IsCastableToTensor(const TypeTable& types, const ast::Dialect& dialect, TypeId from, TypeId element) {
  const TypeKind to = types.Kind(element);
  if (types.Kind(from) == TypeKind::kTensor) {
    const bool is_untyped = types.Kind(types.Element(from)) == TypeKind::kAny;
    if (types.Element(from) == element || to == TypeKind::kAny) return true;
    return is_untyped ? dialect.untyped_results : to == TypeKind::kGeneric;
  }
  if (!IsPrimitive(types.Kind(from))) return false;
  if (!dialect.exact_literals) {
    return types.Kind(from) == TypeKind::kScalar || types.Kind(from) == TypeKind::kLogical;
  }
  return from == element || to == TypeKind::kAny || to == TypeKind::kGeneric;
}

bool IsNumber(TypeKind kind) {
  return kind == TypeKind::kInteger || kind == TypeKind::kScalar || kind == TypeKind::kLogical;
}

// Returns true if the items of a list are single values.
bool IsFlat(const TypeTable& types, TypeId item) {
  const TypeKind kind = types.Kind(item);
  return kind != TypeKind::kArray && kind != TypeKind::kTuple && kind != TypeKind::kTensor;
}

// Returns true if lenient mode may convert between different kinds of values. Whether the conversion succeeds
// depends on values.
bool IsLooselyCastable(const TypeTable& types, TypeId from, TypeId to) {
  const TypeKind source = types.Kind(from);
  const TypeKind target = types.Kind(to);
  if (from == to || source == TypeKind::kAny) return true;  // parts of types are not Error types
  switch (target) {
    case TypeKind::kTensor:
      if (source == TypeKind::kArray) return IsLooselyCastable(types, types.Item(from), to);
      return source == TypeKind::kTensor || IsPrimitive(source);
    case TypeKind::kArray:
      // Nested arrays of numbers are flattened.
      if (source == TypeKind::kArray && types.Kind(types.Item(from)) == TypeKind::kArray &&
          IsFlat(types, types.Item(to)))
        return IsLooselyCastable(types, types.Item(from), to);
      if (source == TypeKind::kArray) return IsLooselyCastable(types, types.Item(from), types.Item(to));
      // The source is a tensor of one axis, or the only item.
      return source == TypeKind::kTensor || IsLooselyCastable(types, from, types.Item(to));
    case TypeKind::kTuple: {
      llvm::ArrayRef<TypeId> items = types.Items(to);
      for (size_t i = 0; i < items.size(); ++i) {
        if (source == TypeKind::kArray && IsLooselyCastable(types, types.Item(from), items[i])) continue;
        if (source != TypeKind::kTuple) return false;
        // The last part of an item that begins with a name may have a default (expand/scan.cpp).
        const size_t num_parts = types.Items(from).size();
        const bool is_short = num_parts + 1 == items.size() && types.Kind(items[0]) == TypeKind::kString;
        if (num_parts != items.size() && !is_short) return false;
        if (i == num_parts) continue;
        if (!IsLooselyCastable(types, types.Items(from)[i], items[i])) return false;
      }
      return true;
    }
    case TypeKind::kGeneric:
      return IsPrimitive(source) || source == TypeKind::kTensor;
    case TypeKind::kString:
      return false;
    default:
      return IsNumber(source) || source == TypeKind::kTensor;
  }
}

}  // namespace

bool IsCastable(const TypeTable& types, const ast::Dialect& dialect, TypeId from, TypeId to) {
  if (from == to) return true;
  const TypeKind source = types.Kind(from);
  const TypeKind target = types.Kind(to);
  if (source == TypeKind::kError || target == TypeKind::kError || source == TypeKind::kAny) return true;
  if (dialect.loose_values) return IsLooselyCastable(types, from, to);
  switch (target) {
    case TypeKind::kGeneric:
      return IsPrimitive(source);
    case TypeKind::kTensor:
      return IsCastableToTensor(types, dialect, from, types.Element(to));
    case TypeKind::kArray:
      return source == TypeKind::kArray && IsCastable(types, dialect, types.Item(from), types.Item(to));
    case TypeKind::kTuple: {
      if (source != TypeKind::kTuple) return false;
      llvm::ArrayRef<TypeId> sources = types.Items(from);
      llvm::ArrayRef<TypeId> targets = types.Items(to);
      if (sources.size() != targets.size()) return false;
      for (size_t i = 0; i < sources.size(); ++i) {
        if (!IsCastable(types, dialect, sources[i], targets[i])) return false;
      }
      return true;
    }
    default:
      return false;
  }
}

TypeId CommonType(TypeTable& types, const ast::Dialect& dialect, TypeId a, TypeId b) {
  if (a == b) return a;
  // Before casts: an Error type must win, so that the error is not reported again.
  if (types.Kind(a) == TypeKind::kError || types.Kind(b) == TypeKind::kError) {
    return types.Primitive(TypeKind::kError);
  }
  // Join item types recursively. The items of `[[], [x]]` have a common type even if neither casts to the
  // other.
  if (types.Kind(a) == TypeKind::kArray && types.Kind(b) == TypeKind::kArray) {
    TypeId item = CommonType(types, dialect, types.Item(a), types.Item(b));
    return item.valid() ? types.Array(item) : TypeId();
  }
  if (types.Kind(a) == TypeKind::kTuple && types.Kind(b) == TypeKind::kTuple) {
    if (types.Items(a).size() != types.Items(b).size()) return TypeId();
    llvm::SmallVector<TypeId, 4> items;
    for (size_t i = 0; i < types.Items(a).size(); ++i) {
      items.push_back(CommonType(types, dialect, types.Items(a)[i], types.Items(b)[i]));
      if (!items.back().valid()) return TypeId();
    }
    return types.Tuple(items);
  }
  if (IsCastable(types, dialect, a, b)) return b;
  if (IsCastable(types, dialect, b, a)) return a;
  return TypeId();
}

}  // namespace nnefc::semantics
