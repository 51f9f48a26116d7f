#include "compiler/semantics/checks/invocations.h"

#include "compiler/semantics/checks/arguments.h"
#include "compiler/semantics/checks/binding.h"
#include "compiler/semantics/checks/expressions.h"
#include "compiler/semantics/checks/external_rules.h"
#include "compiler/semantics/checks/generics.h"
#include "compiler/semantics/checks/operations_with_bodies.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/semantics/suggestions/names.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {
namespace {

// Reports an invocation of a fragment without parameters.
bool ReportProperties(CheckContext& check, const ast::InvocationExpr& invocation, Callee callee) {
  if (callee.document != check.out.get()) return false;
  const ast::Fragment& fragment = check.document.fragments[callee.fragment];
  if (!check.IsProperties(fragment)) return false;
  check
      .Report(ast::kEmptyList, invocation.callee.range,
              "`{}` has no parameters: it holds properties of the document and cannot be invoked",
              check.Text(fragment.name.symbol))
      .Note(fragment.name.range, "declared here");
  return true;
}

// Returns the invoked fragment of an extension that is not enabled, after reporting that.
Callee FindNotEnabled(CheckContext& check, const ast::InvocationExpr& invocation) {
  const Symbol name = invocation.callee.symbol;
  // Names of standard operations in other frameworks, such as `square`, are suggested instead.
  const auto rows = foreign::FindForeignOperations(check.Text(name));
  if (!rows.empty() && !rows.front()->ours.empty()) return {};
  for (const ExtensionLibrary& extension : check.tables.extensions) {
    if (extension.is_enabled) continue;
    const Callee callee = extension.library->FindOwn(name);
    if (!callee.valid()) continue;
    if (!llvm::is_contained(check.not_enabled, extension.extension)) {
      check.not_enabled.push_back(extension.extension);
      DiagnosticBuilder builder =
          check.Report(kMissingExtension, invocation.callee.range, "`{}` needs `extension {};`",
                       check.Text(name), extension.extension->name);
      FixExtension(check.document, extension.extension->name, builder);
    }
    return callee;
  }
  return {};
}

void ReportUndeclared(CheckContext& check, const ast::InvocationExpr& invocation) {
  const SourceRange range = invocation.callee.range;
  const std::string_view name = check.Text(invocation.callee.symbol);
  const ast::Dialect& other = ast::Other(check.dialect);
  if (name == "integer" || name == "extent") {
    check
        .Report(kDialectBuiltin, range, "`{}(..)` belongs to the {} dialect; write `{}(..)` here", name,
                other.name, check.dialect.integer)
        .Fix(range, std::string(check.dialect.integer));
    return;
  }
  for (const Extension* extension : check.libraries.extensions()) {
    if (extension->dialect == check.dialect || check.context.emitter.exhausted()) continue;
    if (!check.libraries.Get(*extension).FindOwn(invocation.callee.symbol).valid()) continue;
    // For example `lstm`: the ratified dialect has another form of it.
    const auto rows = foreign::FindForeignOperations(name);
    const bool has_note = !check.dialect.translated && !rows.empty() && !rows.front()->note.empty();
    check.Report(kMissingExtension, range, "`{}` belongs to {}{}, which is for documents of the {} dialect{}",
                 name, extension->activation == Activation::kLine ? "the extension " : "", extension->name,
                 extension->dialect.name, has_note ? fmt::format("; {}", rows.front()->note) : "");
    return;
  }
  if (check.kind != CheckedKind::kLibrary && !check.context.emitter.exhausted() &&
      check.libraries.Get(other).Find(invocation.callee.symbol).valid()) {
    std::string_view same = name == "idn" ? "copy" : name == "copy" ? "idn" : "";
    // An operation of the same name in other frameworks is described by operations of this dialect.
    const auto rows = foreign::FindForeignOperations(name);
    const bool is_described = !rows.empty() && rows.front()->is_known();
    DiagnosticBuilder builder = check.Report(kUndeclaredOperation, range,
                                             "operation `{}` belongs to the {} dialect{}", name, other.name,
                                             !same.empty()  ? fmt::format("; it is `{}` here", same)
                                             : is_described ? suggestions::DescribeForeign(check, name, rows)
                                                            : "");
    if (!same.empty()) builder.Fix(range, std::string(same));
    return;
  }
  const suggestions::Proposal proposal = suggestions::ForUndeclaredOperation(check, invocation);
  DiagnosticBuilder builder =
      check.Report(kUndeclaredOperation, range, "undeclared operation `{}`{}", name, proposal.hint);
  proposal.AddFixes(builder);
}

}  // namespace

TypeId CheckInvocation(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Use use) {
  if (check.context.emitter.exhausted()) return check.error;
  Callee callee = check.out->Find(invocation.callee.symbol);
  if (!callee.valid()) callee = FindNotEnabled(check, invocation);
  if (callee.valid() && check.SignatureOf(callee).runs_bodies && check.kind == CheckedKind::kModel) {
    return CheckWithBodies(check, id, invocation, callee, use);
  }
  for (const ast::Argument& argument : invocation.arguments) {
    if (!ReportNoValue(check, invocation, argument, callee) && !ReportBareWord(check, invocation, argument))
      CheckExpr(check, argument.value, Use::kArgument);
  }
  if (!callee.valid()) callee = ResolveUndeclared(check, invocation);
  if (!callee.valid() || IsBroken(callee) || ReportProperties(check, invocation, callee)) return check.error;
  const Signature& signature = check.SignatureOf(callee);
  CheckPlace(check, id, invocation, callee);
  const bool is_chainable = use != Use::kArgument || CheckChaining(check, invocation, signature);
  llvm::SmallVector<ExprId, 12> slots(signature.parameters.size());
  bool is_valid =
      BindArguments(check, invocation, callee, slots) && CheckMissing(check, invocation, callee, slots);
  // Check the bound arguments even after an error; after a wrong binding `?` is unknown.
  const TypeId generic = is_valid || HasTypeArgument(invocation)
                             ? DeduceGeneric(check, invocation, signature, slots)
                         : signature.is_generic ? check.error
                                                : TypeId();
  is_valid &= CheckArgumentTypes(check, invocation, callee, slots, generic);
  is_valid &= !generic.valid() || !check.IsError(generic);
  // If values determine the meaning of arguments, they determine `?`, too.
  const bool is_open = check.dialect.loose_values && !HasTypeArgument(invocation);
  if (is_valid) RecordBinding(check, id, {callee, slots, is_open ? TypeId() : generic});
  if (!is_chainable) return check.error;
  // If arguments and type contradict each other, the result type is unknown.
  return is_valid || !generic.valid() ? ResultType(check, signature, generic) : check.error;
}

void RecordBinding(CheckContext& check, ExprId id, Binding binding) {
  check.tables.binding_index[static_cast<size_t>(id.index)] =
      static_cast<int32_t>(check.tables.bindings.size());
  ExprId* kept = check.tables.allocator.Allocate<ExprId>(binding.arguments.size());
  std::uninitialized_copy(binding.arguments.begin(), binding.arguments.end(), kept);
  binding.arguments = {kept, binding.arguments.size()};
  check.tables.bindings.push_back(binding);
}

Callee ResolveUndeclared(CheckContext& check, const ast::InvocationExpr& invocation) {
  const std::string_view name = check.Text(invocation.callee.symbol);
  for (const ast::OldName& known : check.dialect.old_names) {
    if (name != known.old) continue;
    check.Report(kOldOperationName, invocation.callee.range, "`{}` is named `{}`", known.old, known.name)
        .Fix(invocation.callee.range, std::string(known.name));
    return check.standard.Find(check.context.symbols.Find(known.name));
  }
  ReportUndeclared(check, invocation);
  return {};
}

// 3.3.3: `g(f(x))` means `t = f(x); g(t)` with a tensor `t`. The provisional dialect accepts a tuple for a
// tuple.
bool CheckChaining(CheckContext& check, const ast::InvocationExpr& invocation, const Signature& signature) {
  if (check.dialect.passed_tuples || check.dialect.loose_values || signature.results.empty()) return true;
  const TypeId type = signature.results[0].type;
  if (signature.results.size() == 1 && (check.Kind(type) == TypeKind::kTensor || check.IsError(type)))
    return true;
  check.Report(kChainedResults, invocation.callee.range,
               "`{}` has {}; only an invocation of a single tensor can be an argument",
               check.Text(signature.name.symbol),
               signature.results.size() == 1 ? fmt::format("a result of type `{}`", check.Text(type))
                                             : fmt::format("{} results", signature.results.size()));
  return false;
}

TypeId ResultType(CheckContext& check, const Signature& signature, TypeId generic) {
  auto substitute = [&](const TypedName& result) {
    return generic.valid() ? check.types.Substitute(result.type, generic) : result.type;
  };
  if (signature.results.size() == 1) return substitute(signature.results[0]);
  if (signature.results.empty()) return check.error;  // reported by the parser
  llvm::SmallVector<TypeId, 4> types;
  for (const TypedName& result : signature.results) types.push_back(substitute(result));
  const TypeId tuple = check.types.Tuple(types);
  return check.types.WithinBounds(tuple) ? tuple : check.error;
}

}  // namespace nnefc::semantics::checks
