#include "compiler/semantics/checks/binding.h"

#include <optional>

#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/semantics/suggestions/arguments.h"
#include "compiler/semantics/suggestions/literals.h"
#include "compiler/support/diagnostics/suggest.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {
namespace {

bool BindPositional(CheckContext& check, const ast::InvocationExpr& invocation, const ast::Argument& argument,
                    const Signature& signature, size_t index, ExprId& slot) {
  const TypedName& parameter = signature.parameters[index];
  slot = argument.value;
  if (check.dialect.positional_attributes || check.types.ContainsTensor(parameter.type) ||
      check.IsError(parameter.type))
    return true;
  if (check.dialect.loose_values) {
    check.Deviate(kLenientPosition, check.expr(argument.value).range,
                  "attribute `{}` of `{}` is given by its position", check.Text(parameter.name.symbol),
                  check.Text(invocation.callee.symbol));
    return true;
  }
  SourceRange before = check.expr(argument.value).range;
  before.end = before.begin;
  const std::string_view name = check.Text(parameter.name.symbol);
  // A tensor, or a value in addition to the named one, was intended for another parameter: the name would not
  // help.
  const bool is_meant = !check.types.ContainsTensor(check.TypeOf(argument.value)) &&
                        llvm::none_of(invocation.arguments, [&](const ast::Argument& other) {
                          return other.name.has_value() && other.name->symbol == parameter.name.symbol;
                        });
  DiagnosticBuilder builder = check.Report(kPositionalAttribute, check.expr(argument.value).range,
                                           "attribute `{}` is given by its position; only tensors can be{}",
                                           name, is_meant ? fmt::format(", write `{} = ..`", name) : "");
  if (is_meant) builder.Fix(before, fmt::format("{} = ", name));
  NoteDeclaration(check, parameter.name.range, signature, builder);
  return true;  // The intended parameter is certain.
}

// Returns the range of the `()` of an invocation without arguments.
SourceRange EmptyArguments(const CheckContext& check, const ast::InvocationExpr& invocation) {
  SourceRange range = invocation.callee.range;
  range.begin = HasTypeArgument(invocation) ? invocation.type_argument_range.end + 1 : range.end;
  const std::string_view text = check.context.sources.Text(range.file);
  size_t close = text.find_first_of("#)", range.begin);
  while (close < text.size() && text[close] == '#')
    close = text.find_first_of("#)", text.find_first_of("\n\f", close));
  range.end = static_cast<uint32_t>(close < text.size() ? close + 1 : text.size());
  return range;
}

// Reports items of an array without brackets, `concat(a, b, axis = 1)` and `external(shape = 1,3,32,32)`;
// returns true if it did.
bool ReportUnbracketed(CheckContext& check, const ast::InvocationExpr& invocation,
                       const Signature& signature) {
  const llvm::ArrayRef<ast::Argument> arguments = invocation.arguments;
  const auto report = [&](const TypedName& parameter, size_t first, size_t end, const Rule& rule) {
    const SourceRange from = check.expr(arguments[first].value).range,
                      to = check.expr(arguments[end - 1].value).range;
    const std::string_view items = check.SourceText(Cover(from, to));
    DiagnosticBuilder builder = check.Report(
        rule, Cover(from, to), "`{}` of `{}` is an array; write `{}[{}]`", check.Text(parameter.name.symbol),
        check.Text(signature.name.symbol),
        arguments[first].name.has_value() ? fmt::format("{} = ", check.Text(parameter.name.symbol)) : "",
        items.size() <= suggestions::kMaxFixedItems ? items : "..");
    builder.Fix({from.file, from.begin, from.begin}, "[").Fix({to.file, to.end, to.end}, "]");
    NoteDeclaration(check, parameter.name.range, signature, builder);
    return true;
  };
  const auto run = [&](size_t first, auto fits) {
    size_t end = first;
    while (end < arguments.size() && (end == first || !arguments[end].name.has_value()) && fits(end)) ++end;
    return end;
  };
  if (arguments.empty() || signature.parameters.empty()) return false;
  const TypedName& list = signature.parameters[0];
  const bool takes_tensors =
      check.Kind(list.type) == TypeKind::kArray && check.types.ContainsTensor(list.type) &&
      llvm::none_of(llvm::drop_begin(signature.parameters),
                    [&](const TypedName& other) { return check.types.ContainsTensor(other.type); });
  if (takes_tensors && !arguments[0].name.has_value()) {
    const size_t end =
        run(0, [&](size_t i) { return check.Kind(check.TypeOf(arguments[i].value)) == TypeKind::kTensor; });
    if (end > 1) return report(list, 0, end, kTypeMismatch);
  }
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (!arguments[i].name.has_value() || arguments[i + 1].name.has_value()) continue;
    const auto parameter = llvm::find_if(signature.parameters, [&](const TypedName& candidate) {
      return candidate.name.symbol == arguments[i].name->symbol;
    });
    if (parameter == signature.parameters.end() || check.Kind(parameter->type) != TypeKind::kArray) continue;
    const TypeId item = check.types.Item(parameter->type);
    const size_t end = run(i, [&](size_t at) {
      return !std::holds_alternative<ast::IdentifierExpr>(check.expr(arguments[at].value).node) &&
             check.IsCastable(check.TypeOf(arguments[at].value), item);
    });
    if (end > i + 1) return report(*parameter, i, end, kPositionalAfterNamed);
  }
  return false;
}

// Returns true if the name of a surplus argument is misspelt, or another framework's name, for a parameter
// that the invocation gives neither by name nor among the first `positional` arguments. To ignore such an
// argument would change the result.
bool IsMisspelt(const CheckContext& check, const ast::InvocationExpr& invocation,
                const ast::Argument& argument, const Signature& signature, size_t positional) {
  const auto is_missing = [&](const TypedName& parameter) {
    return static_cast<size_t>(&parameter - signature.parameters.data()) >= positional &&
           llvm::none_of(invocation.arguments, [&](const ast::Argument& other) {
             return other.name.has_value() && other.name->symbol == parameter.name.symbol;
           });
  };
  const std::string_view text = check.Text(argument.name->symbol);
  if (!check.MayCompare(signature.parameters.size())) return false;
  Suggestion suggestion(text);
  for (const TypedName& parameter : signature.parameters) suggestion.Offer(check.Text(parameter.name.symbol));
  const auto is_meant = [&](std::string_view name) {
    return llvm::any_of(signature.parameters, [&](const TypedName& parameter) {
      return check.Text(parameter.name.symbol) == name && is_missing(parameter);
    });
  };
  if (suggestion.is_typo()) return is_meant(suggestion.best());
  const foreign::ForeignName* foreign = foreign::FindForeignParameter(text, is_meant);
  return foreign != nullptr && !foreign->ours.empty();
}

void ReportUnknownArgument(CheckContext& check, const ast::InvocationExpr& invocation,
                           const ast::Argument& argument, Callee callee) {
  const Signature& signature = check.SignatureOf(callee);
  const suggestions::Proposal proposal = suggestions::ForUnknownArgument(check, invocation, argument, callee);
  DiagnosticBuilder builder =
      check.Report(kUnknownArgument, argument.name->range, "`{}` has no parameter `{}`{}",
                   check.Text(signature.name.symbol), check.Text(argument.name->symbol), proposal.hint);
  proposal.AddFixes(builder);
  NoteDeclaration(check, signature.name.range, signature, builder);
}

}  // namespace

bool BindArguments(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee,
                   llvm::MutableArrayRef<ExprId> slots) {
  const Signature& signature = check.SignatureOf(callee);
  if (ReportUnbracketed(check, invocation, signature)) return false;
  // Too many arguments: report unnamed ones here. Named ones are duplicate or unknown, and have more specific
  // messages.
  const size_t unnamed = static_cast<size_t>(
      llvm::count_if(invocation.arguments, [](const ast::Argument& argument) { return !argument.name; }));
  if (unnamed > slots.size() && !check.dialect.surplus_arguments) {
    size_t index = 0;
    const ast::Argument& extra = *llvm::find_if(invocation.arguments, [&](const ast::Argument& argument) {
      return !argument.name.has_value() && index++ == slots.size();
    });
    DiagnosticBuilder builder =
        check.Report(kTooManyArguments, check.expr(extra.value).range, "`{}` takes {} argument{}, but got {}",
                     check.Text(signature.name.symbol), slots.size(), slots.size() == 1 ? "" : "s",
                     invocation.arguments.size());
    NoteDeclaration(check, signature.name.range, signature, builder);
    return false;
  }
  bool is_valid = true;
  size_t positional = 0;
  bool has_named = false;
  for (const ast::Argument& argument : invocation.arguments) {
    if (argument.name.has_value()) {
      has_named = true;
      is_valid &= BindNamed(check, invocation, argument, callee, positional, slots);
    } else if (has_named) {
      check.Report(kPositionalAfterNamed, check.expr(argument.value).range,
                   "an argument without a name follows a named one");
      is_valid = false;
    } else if (positional == slots.size()) {
      check.Deviate(kLenientSurplus, check.expr(argument.value).range,
                    "`{}` takes {} argument{}; further arguments are ignored",
                    check.Text(signature.name.symbol), slots.size(), slots.size() == 1 ? "" : "s");
    } else {
      is_valid &= BindPositional(check, invocation, argument, signature, positional, slots[positional]);
      ++positional;
    }
  }
  return is_valid;
}

bool BindNamed(CheckContext& check, const ast::InvocationExpr& invocation, const ast::Argument& argument,
               Callee callee, size_t positional, llvm::MutableArrayRef<ExprId> slots) {
  const Signature& signature = check.SignatureOf(callee);
  const std::optional<size_t> found = PlaceOf(signature, *argument.name);
  const bool is_extensions = callee.document->is_library() && callee.document != &check.standard;
  if (!found && check.dialect.surplus_arguments && !is_extensions &&
      !IsMisspelt(check, invocation, argument, signature, positional)) {
    check.Deviate(kLenientSurplus, argument.name->range, "`{}` has no parameter `{}`, which is left out",
                  check.Text(signature.name.symbol), check.Text(argument.name->symbol));
    return true;
  }
  if (!found) {
    ReportUnknownArgument(check, invocation, argument, callee);
    return false;
  }
  const size_t index = *found;
  const std::string_view name = check.Text(argument.name->symbol);
  if (index < positional) {
    check
        .Report(kPositionalAndNamed, argument.name->range, "argument `{}` is also given by its position",
                name)
        .Note(check.expr(slots[index]).range, "given here");
    return false;
  }
  if (slots[index].valid()) {
    DiagnosticBuilder builder =
        check.Report(kDuplicateArgument, argument.name->range, "argument `{}` is given twice", name);
    const SourceRange value = check.expr(argument.value).range;
    const auto place = static_cast<size_t>(&argument - invocation.arguments.begin());
    // The same argument twice; another one precedes it.
    if (check.SourceText(value) == check.SourceText(check.expr(slots[index]).range)) {
      const uint32_t begin = check.expr(invocation.arguments[place - 1].value).range.end;
      builder.Fix({value.file, begin, value.end}, "");
    }
    builder.Note(check.expr(slots[index]).range, "first given here");
    return false;
  }
  slots[index] = argument.value;
  return true;
}

bool CheckMissing(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee,
                  llvm::ArrayRef<ExprId> slots) {
  const Signature& signature = check.SignatureOf(callee);
  std::string missing;
  size_t count = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].valid() || signature.parameters[i].default_value.valid()) continue;
    missing +=
        fmt::format("{}`{}`", missing.empty() ? "" : ", ", check.Text(signature.parameters[i].name.symbol));
    ++count;
  }
  if (invocation.arguments.empty()) {
    const std::string_view name = check.Text(signature.name.symbol);
    check
        .Report(ast::kEmptyList, EmptyArguments(check, invocation), "{}",
                count == 0 ? fmt::format("expected at least one argument of `{}`", name)
                           : fmt::format("`{}` lacks the argument{} {}", name, count > 1 ? "s" : "", missing))
        .Note(signature.name.range, "declared here");
    return false;
  }
  if (count == 0) return true;
  DiagnosticBuilder builder =
      check.Report(kMissingArgument, invocation.callee.range, "`{}` lacks the argument{} {}",
                   check.Text(signature.name.symbol), count > 1 ? "s" : "", missing);
  NoteDeclaration(check, signature.name.range, signature, builder);
  return false;
}

}  // namespace nnefc::semantics::checks
