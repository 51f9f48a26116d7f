#include "compiler/semantics/checker.h"
#include "compiler/syntax/parse/type_names.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics {

// 3.3.2: explicit, `f<integer>(..)`; else the default of the declaration; else deduced from the arguments,
// which must agree.
TypeId Checker::DeduceGeneric(const ast::InvocationExpr& invocation, const Signature& signature,
                              llvm::ArrayRef<ExprId> slots) {
  if (HasTypeArgument(invocation)) return ExplicitGeneric(invocation, signature);
  if (!signature.is_generic) return TypeId();
  if (signature.generic_default.valid()) return signature.generic_default;
  llvm::SmallVector<TypeId, 4> candidates;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].valid()) continue;
    CollectGeneric(signature.parameters[i].type, TypeOf(slots[i]), candidates);
  }
  if (candidates.size() == 1) return candidates[0];
  const std::string_view name = Text(signature.name.symbol);
  if (llvm::is_contained(candidates, error_)) return error_;
  if (dialect_.loose_values) {
    // Lenient mode casts the other arguments; no cast to scalar drops a fraction.
    return candidates.empty() || llvm::is_contained(candidates, scalar_) ? scalar_ : candidates.front();
  }
  if (candidates.empty()) {
    // `concat(x, axis = 1)`: no binding of `?` turns a tensor into an array.
    for (size_t i = 0; i < slots.size(); ++i) {
      const TypedName& parameter = signature.parameters[i];
      if (!slots[i].valid() || IsCastable(types_, dialect_, TypeOf(slots[i]), parameter.type)) continue;
      ReportArgument(slots[i], parameter.type, parameter, signature);
      return error_;
    }
    SourceRange behind = invocation.callee.range;
    behind.begin = behind.end;
    DiagnosticBuilder builder =
        Report(kGenericUndeduced, invocation.callee.range,
               "the type of `{}` does not follow from its arguments; write `{}<scalar>(..)` or another type",
               name, name);
    NoteDeclaration(signature.name.range, signature, builder);
    return error_;
  }
  std::string types;
  for (TypeId candidate : candidates) {
    types += fmt::format("{}`{}`", types.empty() ? "" : " and ", Text(candidate));
  }
  DiagnosticBuilder builder = Report(kGenericContradiction, invocation.callee.range,
                                     "the arguments of `{}` do not agree on its type: {}", name, types);
  if (candidates.size() == 2 && llvm::is_contained(candidates, scalar_)) {
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].valid())
        FixScalars(slots[i], types_.Substitute(signature.parameters[i].type, scalar_), builder);
    }
  }
  size_t reported = 0;
  candidates.clear();
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].valid()) CollectGeneric(signature.parameters[i].type, TypeOf(slots[i]), candidates);
    if (candidates.size() == reported) continue;
    reported = candidates.size();
    builder.Note(expr(slots[i]).range, "`{}` because of this argument", Text(candidates.back()));
  }
  NoteDeclaration(signature.name.range, signature, builder);
  return error_;
}

TypeId Checker::ExplicitGeneric(const ast::InvocationExpr& invocation, const Signature& signature) {
  // Reported by the dialect rules.
  if (!dialect_.generics) return TypeId();
  const std::string_view name = Text(signature.name.symbol);
  if (!signature.is_generic) {
    const SourceRange type = invocation.type_argument_range;
    DiagnosticBuilder builder =
        Report(kNotGeneric, type, "`{}` takes no type; remove `<{}>`", name, SourceText(type));
    builder.Fix({type.file, invocation.callee.range.end, type.end + 1}, "");
    NoteDeclaration(signature.name.range, signature, builder);
    return TypeId();
  }
  if (invocation.unknown_type.valid()) return ReportUnknownType(invocation);
  const TypeId type = ResolvePrimitive(*invocation.type_argument);
  if (Kind(type) == TypeKind::kGeneric && !in_generic_) {
    Report(kGenericOutside, invocation.type_argument_range,
           "`{}<?>` passes on the type of a generic fragment, but what holds it is not generic", name);
    return error_;
  }
  return type;
}

// Reports `external<float>(..)`.
TypeId Checker::ReportUnknownType(const ast::InvocationExpr& invocation) {
  const SourceRange range = invocation.type_argument_range;
  const std::string_view word = Text(invocation.unknown_type);
  const ast::parse::IntendedType meant = ast::parse::IntendedTypeOf(word, dialect_);
  DiagnosticBuilder builder =
      Report(ast::kUnknownTypeName, range, "`{}` is not a type{}", word,
             meant.name.empty() ? "" : fmt::format("; did you mean `{}`?", meant.name));
  if (meant.is_certain) builder.Fix(range, std::string(meant.name));
  return error_;
}

void Checker::CollectGeneric(TypeId parameter, TypeId argument,
                             llvm::SmallVectorImpl<TypeId>& candidates) const {
  if (!types_.ContainsGeneric(parameter)) return;
  const TypeKind kind = Kind(argument);
  auto add = [&](TypeId type) {
    if (!llvm::is_contained(candidates, type)) candidates.push_back(type);
  };
  if (kind == TypeKind::kError) return add(argument);
  const bool is_primitive = kind >= TypeKind::kInteger && kind <= TypeKind::kGeneric;
  switch (Kind(parameter)) {
    case TypeKind::kGeneric:
      if (is_primitive) add(argument);
      return;
    case TypeKind::kTensor:
      if (is_primitive) add(argument);
      // The data type of `tensor<>` is unknown.
      if (kind == TypeKind::kTensor && Kind(types_.Element(argument)) != TypeKind::kAny) {
        add(types_.Element(argument));
      }
      return;
    case TypeKind::kArray:
      if (kind == TypeKind::kArray) CollectGeneric(types_.Item(parameter), types_.Item(argument), candidates);
      return;
    case TypeKind::kTuple: {
      if (kind != TypeKind::kTuple || types_.Items(parameter).size() != types_.Items(argument).size()) return;
      for (size_t i = 0; i < types_.Items(parameter).size(); ++i) {
        CollectGeneric(types_.Items(parameter)[i], types_.Items(argument)[i], candidates);
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace nnefc::semantics
