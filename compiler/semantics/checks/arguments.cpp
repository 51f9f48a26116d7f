#include "compiler/semantics/checks/arguments.h"

#include <optional>

#include "compiler/semantics/checks/external_rules.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/semantics/suggestions/arguments.h"
#include "compiler/semantics/suggestions/literals.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {

bool CheckArgumentTypes(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee,
                        llvm::ArrayRef<ExprId> slots, TypeId generic) {
  const Signature& signature = check.SignatureOf(callee);
  bool is_valid = true;
  for (size_t i = 0; i < slots.size(); ++i) {
    const TypedName& parameter = signature.parameters[i];
    const bool has_default = !slots[i].valid();
    // Defaults were checked with the declaration, except that of `x: ?`: its type depends on `?`.
    if (has_default && !(parameter.default_value.valid() && check.types.ContainsGeneric(parameter.type)))
      continue;
    const TypeId expected =
        generic.valid() ? check.types.Substitute(parameter.type, generic) : parameter.type;
    const TypeId type = has_default ? callee.document->type(parameter.default_value) : check.TypeOf(slots[i]);
    if (check.IsCastable(type, expected)) continue;
    is_valid = false;
    if (!has_default) {
      // A tensor for a positional attribute was reported already, unless any attribute may have a position.
      const bool is_positional = i < invocation.arguments.size() &&
                                 invocation.arguments[i].value == slots[i] &&
                                 !invocation.arguments[i].name.has_value();
      if (is_positional && !check.dialect.positional_attributes && !check.dialect.loose_values &&
          !check.types.ContainsTensor(parameter.type) && check.types.ContainsTensor(type))
        continue;
      ReportArgument(check, slots[i], expected, parameter, signature);
      continue;
    }
    DiagnosticBuilder builder = check.Report(
        kTypeMismatch, invocation.callee.range, "the default of `{}` of `{}` is of type `{}`; expected `{}`",
        check.Text(parameter.name.symbol), check.Text(signature.name.symbol), check.Text(type),
        check.Text(expected));
    NoteDeclaration(check, parameter.name.range, signature, builder);
  }
  if (check.body.kind != BodyKind::kQuantization && check.IsStandard(callee, check.update) &&
      !slots.empty() && slots[0].valid()) {
    CheckUpdateTarget(check, slots[0]);
  }
  return is_valid;
}

void ReportArgument(CheckContext& check, ExprId argument, TypeId expected, const TypedName& parameter,
                    const Signature& signature) {
  DiagnosticBuilder builder = check.Report(
      kTypeMismatch, check.expr(argument).range, "argument `{}` of `{}` is of type `{}`; expected `{}`{}",
      check.Text(parameter.name.symbol), check.Text(signature.name.symbol),
      check.Text(check.TypeOf(argument)), check.Text(expected),
      suggestions::HintFor(check, argument, expected));
  suggestions::FixLiteral(check, argument, expected, builder);
  NoteDeclaration(check, parameter.name.range, signature, builder);
}

bool ReportNoValue(CheckContext& check, const ast::InvocationExpr& invocation, const ast::Argument& argument,
                   Callee callee) {
  const ast::Expr& value = check.expr(argument.value);
  const auto* word = std::get_if<ast::IdentifierExpr>(&value.node);
  if (word == nullptr || !argument.name.has_value() || check.body.scope.Find(word->name) != nullptr)
    return false;
  const foreign::ForeignName* foreign = foreign::FindForeignValue(check.Text(word->name));
  if (foreign == nullptr || foreign->repair != foreign::ForeignRepair::kDrop) return false;
  if (!callee.valid() || IsBroken(callee)) return false;
  const std::optional<size_t> place = PlaceOf(check.SignatureOf(callee), *argument.name);
  if (!place) return false;
  const ExprId default_value = check.SignatureOf(callee).parameters[*place].default_value;
  if (!default_value.valid()) return false;
  const std::string_view text = check.SourceText(callee.document->ast().exprs[default_value].range);
  const std::string_view name = check.Text(argument.name->symbol);
  {
    DiagnosticBuilder builder =
        check.Report(kUndefined, value.range, "`{}` is not a value; remove `{}`, whose default is `{}`",
                     check.Text(word->name), name, text);
    // An empty list has a separate meaning, such as automatic padding.
    if (text != "[]" && invocation.arguments.size() > 1) {
      const FixIt fix = suggestions::RemoveArgument(check, invocation, argument);
      builder.Fix(fix.range, fix.text);
    }
  }
  check.SetType(argument.value, check.error);
  return true;
}

bool ReportBareWord(CheckContext& check, const ast::InvocationExpr& invocation,
                    const ast::Argument& argument) {
  const ast::Expr& value = check.expr(argument.value);
  const auto* word = std::get_if<ast::IdentifierExpr>(&value.node);
  if (word == nullptr || !argument.name.has_value() || check.body.scope.Find(word->name) != nullptr ||
      check.body.has_dropped_names)
    return false;
  const Callee callee = check.out->Find(invocation.callee.symbol);
  if (!callee.valid() || IsBroken(callee)) return false;
  const auto wants_string = [&](const TypedName& parameter) {
    return parameter.name.symbol == argument.name->symbol && parameter.type == check.string;
  };
  if (llvm::none_of(check.SignatureOf(callee).parameters, wants_string)) return false;
  const std::string quoted = fmt::format("'{}'", check.Text(word->name));
  check
      .Report(kUndefined, value.range, "undefined name `{}`; a string stands in quotes, `{}`",
              check.Text(word->name), quoted)
      .Fix(value.range, quoted);
  check.SetType(argument.value, check.string);
  return true;
}

}  // namespace nnefc::semantics::checks
