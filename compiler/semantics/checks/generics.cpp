#include "compiler/semantics/checks/generics.h"

#include "compiler/semantics/checks/arguments.h"
#include "compiler/semantics/checks/declarations.h"
#include "compiler/semantics/suggestions/literals.h"
#include "compiler/syntax/parse/type_names.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {
namespace {

// Reports `external<float>(..)`.
TypeId ReportUnknownType(CheckContext& check, const ast::InvocationExpr& invocation) {
  const SourceRange range = invocation.type_argument_range;
  const std::string_view word = check.Text(invocation.unknown_type);
  const ast::parse::IntendedType meant = ast::parse::IntendedTypeOf(word, check.dialect);
  DiagnosticBuilder builder =
      check.Report(ast::kUnknownTypeName, range, "`{}` is not a type{}", word,
                   meant.name.empty() ? "" : fmt::format("; did you mean `{}`?", meant.name));
  if (meant.is_certain) builder.Fix(range, std::string(meant.name));
  return check.error;
}

TypeId ExplicitGeneric(CheckContext& check, const ast::InvocationExpr& invocation,
                       const Signature& signature) {
  // Reported by the dialect rules.
  if (!check.dialect.generics) return TypeId();
  const std::string_view name = check.Text(signature.name.symbol);
  if (!signature.is_generic) {
    const SourceRange type = invocation.type_argument_range;
    DiagnosticBuilder builder =
        check.Report(kNotGeneric, type, "`{}` takes no type; remove `<{}>`", name, check.SourceText(type));
    builder.Fix({type.file, invocation.callee.range.end, type.end + 1}, "");
    NoteDeclaration(check, signature.name.range, signature, builder);
    return TypeId();
  }
  if (invocation.unknown_type.valid()) return ReportUnknownType(check, invocation);
  const TypeId type = ResolvePrimitive(check, *invocation.type_argument);
  if (check.Kind(type) == TypeKind::kGeneric && !check.body.is_generic) {
    check.Report(kGenericOutside, invocation.type_argument_range,
                 "`{}<?>` passes on the type of a generic fragment, but what holds it is not generic", name);
    return check.error;
  }
  return type;
}

void CollectGeneric(const CheckContext& check, TypeId parameter, TypeId argument,
                    llvm::SmallVectorImpl<TypeId>& candidates) {
  if (!check.types.ContainsGeneric(parameter)) return;
  const TypeKind kind = check.Kind(argument);
  auto add = [&](TypeId type) {
    if (!llvm::is_contained(candidates, type)) candidates.push_back(type);
  };
  if (kind == TypeKind::kError) return add(argument);
  const bool is_primitive = kind >= TypeKind::kInteger && kind <= TypeKind::kGeneric;
  switch (check.Kind(parameter)) {
    case TypeKind::kGeneric:
      if (is_primitive) add(argument);
      return;
    case TypeKind::kTensor:
      if (is_primitive) add(argument);
      // The data type of `tensor<>` is unknown.
      if (kind == TypeKind::kTensor && check.Kind(check.types.Element(argument)) != TypeKind::kAny) {
        add(check.types.Element(argument));
      }
      return;
    case TypeKind::kArray:
      if (kind == TypeKind::kArray)
        CollectGeneric(check, check.types.Item(parameter), check.types.Item(argument), candidates);
      return;
    case TypeKind::kTuple: {
      if (kind != TypeKind::kTuple ||
          check.types.Items(parameter).size() != check.types.Items(argument).size())
        return;
      for (size_t i = 0; i < check.types.Items(parameter).size(); ++i) {
        CollectGeneric(check, check.types.Items(parameter)[i], check.types.Items(argument)[i], candidates);
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace

// 3.3.2: explicit, `f<integer>(..)`; else the default of the declaration; else deduced from the arguments,
// which must agree.
TypeId DeduceGeneric(CheckContext& check, const ast::InvocationExpr& invocation, const Signature& signature,
                     llvm::ArrayRef<ExprId> slots) {
  if (HasTypeArgument(invocation)) return ExplicitGeneric(check, invocation, signature);
  if (!signature.is_generic) return TypeId();
  if (signature.generic_default.valid()) return signature.generic_default;
  llvm::SmallVector<TypeId, 4> candidates;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].valid()) continue;
    CollectGeneric(check, signature.parameters[i].type, check.TypeOf(slots[i]), candidates);
  }
  if (candidates.size() == 1) return candidates[0];
  const std::string_view name = check.Text(signature.name.symbol);
  if (llvm::is_contained(candidates, check.error)) return check.error;
  if (check.dialect.loose_values) {
    // Lenient mode casts the other arguments; no cast to scalar drops a fraction.
    return candidates.empty() || llvm::is_contained(candidates, check.scalar) ? check.scalar
                                                                              : candidates.front();
  }
  if (candidates.empty() && check.dialect.untyped_results) {
    // Expansion deduces the type from the tensors.
    const TypeId any = check.types.Primitive(TypeKind::kAny);
    for (size_t i = 0; i < slots.size(); ++i) {
      const bool is_generic = check.types.ContainsGeneric(signature.parameters[i].type);
      if (is_generic && slots[i].valid() && check.types.ContainsUnbound(check.TypeOf(slots[i]))) return any;
    }
  }
  if (candidates.empty()) {
    // `concat(x, axis = 1)`: no binding of `?` turns a tensor into an array.
    for (size_t i = 0; i < slots.size(); ++i) {
      const TypedName& parameter = signature.parameters[i];
      if (!slots[i].valid() || check.IsCastable(check.TypeOf(slots[i]), parameter.type)) continue;
      ReportArgument(check, slots[i], parameter.type, parameter, signature);
      return check.error;
    }
    SourceRange behind = invocation.callee.range;
    behind.begin = behind.end;
    DiagnosticBuilder builder = check.Report(
        kGenericUndeduced, invocation.callee.range,
        "the type of `{}` does not follow from its arguments; write `{}<scalar>(..)` or another type", name,
        name);
    NoteDeclaration(check, signature.name.range, signature, builder);
    return check.error;
  }
  std::string types;
  for (TypeId candidate : candidates) {
    types += fmt::format("{}`{}`", types.empty() ? "" : " and ", check.Text(candidate));
  }
  DiagnosticBuilder builder = check.Report(kGenericContradiction, invocation.callee.range,
                                           "the arguments of `{}` do not agree on its type: {}", name, types);
  if (candidates.size() == 2 && llvm::is_contained(candidates, check.scalar)) {
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].valid())
        suggestions::FixScalars(check, slots[i],
                                check.types.Substitute(signature.parameters[i].type, check.scalar), builder);
    }
  }
  size_t reported = 0;
  candidates.clear();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].valid())
      CollectGeneric(check, signature.parameters[i].type, check.TypeOf(slots[i]), candidates);
    if (candidates.size() == reported) continue;
    reported = candidates.size();
    builder.Note(check.expr(slots[i]).range, "`{}` because of this argument", check.Text(candidates.back()));
  }
  NoteDeclaration(check, signature.name.range, signature, builder);
  return check.error;
}

}  // namespace nnefc::semantics::checks
