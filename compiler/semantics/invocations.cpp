#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/semantics/checker.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/support/suggest.h"
#include "compiler/syntax/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics {

std::optional<size_t> Checker::PlaceOf(const Signature& signature, const ast::Name& name) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (signature.parameters[i].name.symbol == name.symbol) return i;
  }
  return std::nullopt;
}

TypeId Checker::CheckInvocation(ExprId id, const ast::InvocationExpr& invocation, Use use) {
  if (context_.emitter.exhausted()) return error_;
  Callee callee = out_->Find(invocation.callee.symbol);
  if (!callee.valid()) callee = FindNotEnabled(invocation);
  if (callee.valid() && SignatureOf(callee).runs_bodies && kind_ == CheckedKind::kModel) {
    return CheckWithBodies(id, invocation, callee, use);
  }
  for (const ast::Argument& argument : invocation.arguments) {
    if (!ReportNoValue(invocation, argument, callee) && !ReportBareWord(invocation, argument))
      CheckExpr(argument.value, Use::kArgument);
  }
  if (!callee.valid()) callee = ResolveUndeclared(invocation);
  if (!callee.valid() || IsBroken(callee) || ReportProperties(invocation, callee)) return error_;
  const Signature& signature = SignatureOf(callee);
  CheckPlace(id, invocation, callee);
  const bool is_chainable = use != Use::kArgument || CheckChaining(invocation, signature);
  llvm::SmallVector<ExprId, 12> slots(signature.parameters.size());
  bool is_valid = BindArguments(invocation, callee, slots) && CheckMissing(invocation, callee, slots);
  // Check the bound arguments even after an error; after a wrong binding `?` is unknown.
  const TypeId generic = is_valid || HasTypeArgument(invocation) ? DeduceGeneric(invocation, signature, slots)
                         : signature.is_generic                  ? error_
                                                                 : TypeId();
  is_valid &= CheckArgumentTypes(invocation, callee, slots, generic);
  is_valid &= !generic.valid() || !IsError(generic);
  // If values determine the meaning of arguments, they determine `?`, too.
  const bool is_open = dialect_.loose_values && !HasTypeArgument(invocation);
  if (is_valid) Keep(id, {callee, slots, is_open ? TypeId() : generic});
  if (!is_chainable) return error_;
  // If arguments and type contradict each other, the result type is unknown.
  return is_valid || !generic.valid() ? ResultType(signature, generic) : error_;
}

bool Checker::ReportProperties(const ast::InvocationExpr& invocation, Callee callee) {
  if (callee.document != out_.get()) return false;
  const ast::Fragment& fragment = document_.fragments[callee.fragment];
  if (!IsProperties(fragment)) return false;
  Report(ast::kEmptyList, invocation.callee.range,
         "`{}` has no parameters: it holds properties of the document and cannot be invoked",
         Text(fragment.name.symbol))
      .Note(fragment.name.range, "declared here");
  return true;
}

void Checker::Keep(ExprId id, Binding binding) {
  out_->binding_index_[static_cast<size_t>(id.index)] = static_cast<int32_t>(out_->bindings_.size());
  ExprId* kept = out_->allocator_.Allocate<ExprId>(binding.arguments.size());
  std::uninitialized_copy(binding.arguments.begin(), binding.arguments.end(), kept);
  binding.arguments = {kept, binding.arguments.size()};
  out_->bindings_.push_back(binding);
}

Callee Checker::FindNotEnabled(const ast::InvocationExpr& invocation) {
  const Symbol name = invocation.callee.symbol;
  // Names of standard operations in other frameworks, such as `square`, are suggested instead.
  const auto rows = foreign::FindForeignOperations(Text(name));
  if (!rows.empty() && !rows.front()->ours.empty()) return {};
  for (const ExtensionLibrary& extension : out_->extensions_) {
    if (extension.is_enabled) continue;
    const Callee callee = extension.library->FindOwn(name);
    if (!callee.valid()) continue;
    if (!llvm::is_contained(missing_, extension.extension)) {
      missing_.push_back(extension.extension);
      DiagnosticBuilder builder = Report(kMissingExtension, invocation.callee.range,
                                         "`{}` needs `extension {};`", Text(name), extension.extension->name);
      FixExtension(document_, extension.extension->name, builder);
    }
    return callee;
  }
  return {};
}

Callee Checker::ResolveUndeclared(const ast::InvocationExpr& invocation) {
  const std::string_view name = Text(invocation.callee.symbol);
  for (const ast::OldName& known : dialect_.old_names) {
    if (name != known.old) continue;
    Report(kOldOperationName, invocation.callee.range, "`{}` is named `{}`", known.old, known.name)
        .Fix(invocation.callee.range, std::string(known.name));
    return standard().Find(context_.symbols.Find(known.name));
  }
  ReportUndeclared(invocation);
  return {};
}

void Checker::ReportUndeclared(const ast::InvocationExpr& invocation) {
  const SourceRange range = invocation.callee.range;
  const std::string_view name = Text(invocation.callee.symbol);
  const ast::Dialect& other = ast::Other(dialect_);
  if (name == "integer" || name == "extent") {
    Report(kDialectBuiltin, range, "`{}(..)` belongs to the {} dialect; write `{}(..)` here", name,
           other.name, dialect_.integer)
        .Fix(range, std::string(dialect_.integer));
    return;
  }
  for (const Extension* extension : libraries_.extensions()) {
    if (extension->dialect == dialect_ || context_.emitter.exhausted()) continue;
    if (!libraries_.Get(*extension).FindOwn(invocation.callee.symbol).valid()) continue;
    // For example `lstm`: the ratified dialect has another form of it.
    const auto rows = foreign::FindForeignOperations(name);
    const bool has_note = !dialect_.translated && !rows.empty() && !rows.front()->note.empty();
    Report(kMissingExtension, range, "`{}` belongs to {}{}, which is for documents of the {} dialect{}", name,
           extension->activation == Activation::kLine ? "the extension " : "", extension->name,
           extension->dialect.name, has_note ? fmt::format("; {}", rows.front()->note) : "");
    return;
  }
  if (kind_ != CheckedKind::kLibrary && !context_.emitter.exhausted() &&
      libraries_.Get(other).Find(invocation.callee.symbol).valid()) {
    std::string_view same = name == "idn" ? "copy" : name == "copy" ? "idn" : "";
    // An operation of the same name in other frameworks is described by operations of this dialect.
    const auto rows = foreign::FindForeignOperations(name);
    const bool is_described = !rows.empty() && rows.front()->is_known();
    DiagnosticBuilder builder =
        Report(kUndeclaredOperation, range, "operation `{}` belongs to the {} dialect{}", name, other.name,
               !same.empty()  ? fmt::format("; it is `{}` here", same)
               : is_described ? DescribeForeign(name, rows)
                              : "");
    if (!same.empty()) builder.Fix(range, std::string(same));
    return;
  }
  SuggestOperation(invocation);
}

// Suggests, in this order: another spelling of a document's name, an equivalent of a foreign operation,
// another spelling of a standard operation, the nearest name.
void Checker::SuggestOperation(const ast::InvocationExpr& invocation) {
  const std::string_view name = Text(invocation.callee.symbol);
  Suggestion suggestion(name);
  std::string_view own, standard_name;
  llvm::SmallVector<const ast::Document*, 4> documents = {&document_, &standard().ast()};
  for (const ExtensionLibrary& extension : out_->extensions_) documents.push_back(&extension.library->ast());
  size_t names = 0;
  for (const ast::Document* document : documents) names += document->fragments.size();
  if (!MayCompare(names)) documents.clear();
  for (const ast::Document* document : documents) {
    std::string_view& same = document == &document_ ? own : standard_name;
    for (const ast::Fragment& fragment : document->fragments) {
      const std::string_view known = Text(fragment.name.symbol);
      suggestion.Offer(known);
      if (same.empty() && foreign::IsSpelledSo(name, known)) same = known;
    }
  }
  if (own.empty() && !documents.empty() && SuggestForeign(invocation)) return;
  const std::string_view same = own.empty() ? standard_name : own;
  const std::string_view best = same.empty() ? suggestion.best() : same;
  const SourceRange range = invocation.callee.range;
  if (best.empty()) {
    Report(kUndeclaredOperation, range, "undeclared operation `{}`", name);
    return;
  }
  DiagnosticBuilder builder =
      Report(kUndeclaredOperation, range, "undeclared operation `{}`; did you mean `{}`?", name, best);
  // For the document's own names, a different one may be intended.
  const bool is_own = own.empty() && out_->by_name_.count(context_.symbols.Find(best)) != 0;
  if (!same.empty() || suggestion.is_typo())
    builder.Fix(range, std::string(best), is_own ? Applicability::kUnsafe : Applicability::kSafe);
}

// Reports an operation of another framework. The fix renames it if NNEF has the same function with the same
// arguments.
bool Checker::SuggestForeign(const ast::InvocationExpr& invocation) {
  const std::string_view name = Text(invocation.callee.symbol);
  const auto rows = foreign::FindForeignOperations(name);
  if (rows.empty()) return false;
  const SourceRange range = invocation.callee.range;
  const foreign::ForeignOperation& row = *rows.front();
  if (rows.size() == 1 && !row.ours.empty() && IsDeclared(row.ours) && NamesAll(invocation, row.needs)) {
    Report(kUndeclaredOperation, range, "undeclared operation `{}`; did you mean `{}`?", name, row.ours)
        .Fix(range, std::string(row.ours));
    return true;
  }
  Report(kUndeclaredOperation, range, "undeclared operation `{}`{}", name, DescribeForeign(name, rows));
  return true;
}

bool Checker::IsDeclared(std::string_view operation) {
  return standard().Find(context_.symbols.Find(operation)).valid();
}

// Returns true if the invocation has a named argument for each of the blank-separated `parameters`.
bool Checker::NamesAll(const ast::InvocationExpr& invocation, std::string_view parameters) const {
  llvm::SmallVector<llvm::StringRef, 4> needed;
  llvm::StringRef(parameters.data(), parameters.size()).split(needed, ' ', -1, /*KeepEmpty=*/false);
  return llvm::all_of(needed, [&](llvm::StringRef parameter) {
    return llvm::any_of(invocation.arguments, [&](const ast::Argument& argument) {
      return argument.name.has_value() && llvm::StringRef(Text(argument.name->symbol)) == parameter;
    });
  });
}

// Returns "; write `softmax(neg(x), axes = ..)`" if the dialect has the operations of the formula.
std::string Checker::DescribeForeign(std::string_view name,
                                     llvm::ArrayRef<const foreign::ForeignOperation*> rows) {
  const bool is_declared = llvm::all_of(rows, [&](const foreign::ForeignOperation* row) {
    return llvm::all_of(foreign::OperationsIn(row->formula),
                        [&](const std::string& operation) { return IsDeclared(operation); });
  });
  if (is_declared) return "; " + foreign::DescribeForeignOperations(name, rows);
  return fmt::format("; the {} dialect has no `{}`", dialect_.name, name);
}

bool Checker::BindArguments(const ast::InvocationExpr& invocation, Callee callee,
                            llvm::MutableArrayRef<ExprId> slots) {
  const Signature& signature = SignatureOf(callee);
  if (ReportUnbracketed(invocation, signature)) return false;
  // Too many arguments: report unnamed ones here. Named ones are duplicate or unknown, and have more specific
  // messages.
  const size_t unnamed = static_cast<size_t>(
      llvm::count_if(invocation.arguments, [](const ast::Argument& argument) { return !argument.name; }));
  if (unnamed > slots.size() && !dialect_.surplus_arguments) {
    size_t index = 0;
    const ast::Argument& extra = *llvm::find_if(invocation.arguments, [&](const ast::Argument& argument) {
      return !argument.name.has_value() && index++ == slots.size();
    });
    DiagnosticBuilder builder = Report(
        kTooManyArguments, expr(extra.value).range, "`{}` takes {} argument{}, but got {}",
        Text(signature.name.symbol), slots.size(), slots.size() == 1 ? "" : "s", invocation.arguments.size());
    NoteDeclaration(signature.name.range, signature, builder);
    return false;
  }
  bool is_valid = true;
  size_t positional = 0;
  bool has_named = false;
  for (const ast::Argument& argument : invocation.arguments) {
    if (argument.name.has_value()) {
      has_named = true;
      is_valid &= BindNamed(invocation, argument, callee, positional, slots);
    } else if (has_named) {
      Report(kPositionalAfterNamed, expr(argument.value).range,
             "an argument without a name follows a named one");
      is_valid = false;
    } else if (positional == slots.size()) {
      Deviate(kLenientSurplus, expr(argument.value).range,
              "`{}` takes {} argument{}; further arguments are ignored", Text(signature.name.symbol),
              slots.size(), slots.size() == 1 ? "" : "s");
    } else {
      is_valid &= BindPositional(invocation, argument, signature, positional, slots[positional]);
      ++positional;
    }
  }
  return is_valid;
}

bool Checker::BindPositional(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                             const Signature& signature, size_t index, ExprId& slot) {
  const TypedName& parameter = signature.parameters[index];
  slot = argument.value;
  if (dialect_.positional_attributes || types_.ContainsTensor(parameter.type) || IsError(parameter.type))
    return true;
  if (dialect_.loose_values) {
    Deviate(kLenientPosition, expr(argument.value).range, "attribute `{}` of `{}` is given by its position",
            Text(parameter.name.symbol), Text(invocation.callee.symbol));
    return true;
  }
  SourceRange before = expr(argument.value).range;
  before.end = before.begin;
  const std::string_view name = Text(parameter.name.symbol);
  // A tensor, or a value in addition to the named one, was intended for another parameter: the name would not
  // help.
  const bool is_meant = !types_.ContainsTensor(TypeOf(argument.value)) &&
                        llvm::none_of(invocation.arguments, [&](const ast::Argument& other) {
                          return other.name.has_value() && other.name->symbol == parameter.name.symbol;
                        });
  DiagnosticBuilder builder = Report(kPositionalAttribute, expr(argument.value).range,
                                     "attribute `{}` is given by its position; only tensors can be{}", name,
                                     is_meant ? fmt::format(", write `{} = ..`", name) : "");
  if (is_meant) builder.Fix(before, fmt::format("{} = ", name));
  NoteDeclaration(parameter.name.range, signature, builder);
  return true;  // The intended parameter is certain.
}

bool Checker::BindNamed(const ast::InvocationExpr& invocation, const ast::Argument& argument, Callee callee,
                        size_t positional, llvm::MutableArrayRef<ExprId> slots) {
  const Signature& signature = SignatureOf(callee);
  const std::optional<size_t> found = PlaceOf(signature, *argument.name);
  const bool is_extensions = callee.document->is_library() && callee.document != standard_;
  if (!found && dialect_.surplus_arguments && !is_extensions &&
      !IsMisspelt(invocation, argument, signature, positional)) {
    Deviate(kLenientSurplus, argument.name->range, "`{}` has no parameter `{}`, which is left out",
            Text(signature.name.symbol), Text(argument.name->symbol));
    return true;
  }
  if (!found) {
    ReportUnknownArgument(invocation, argument, callee);
    return false;
  }
  const size_t index = *found;
  const std::string_view name = Text(argument.name->symbol);
  if (index < positional) {
    Report(kPositionalAndNamed, argument.name->range, "argument `{}` is also given by its position", name)
        .Note(expr(slots[index]).range, "given here");
    return false;
  }
  if (slots[index].valid()) {
    DiagnosticBuilder builder =
        Report(kDuplicateArgument, argument.name->range, "argument `{}` is given twice", name);
    const SourceRange value = expr(argument.value).range;
    const auto place = static_cast<size_t>(&argument - invocation.arguments.begin());
    // The same argument twice; another one precedes it.
    if (SourceText(value) == SourceText(expr(slots[index]).range)) {
      const uint32_t begin = expr(invocation.arguments[place - 1].value).range.end;
      builder.Fix({value.file, begin, value.end}, "");
    }
    builder.Note(expr(slots[index]).range, "first given here");
    return false;
  }
  slots[index] = argument.value;
  return true;
}

// Returns the range of the `()` of an invocation without arguments.
SourceRange Checker::EmptyArguments(const ast::InvocationExpr& invocation) const {
  SourceRange range = invocation.callee.range;
  range.begin = HasTypeArgument(invocation) ? invocation.type_argument_range.end + 1 : range.end;
  const size_t close = context_.sources.Text(range.file).find(')', range.begin);
  range.end = static_cast<uint32_t>(close) + 1;
  return range;
}

bool Checker::CheckMissing(const ast::InvocationExpr& invocation, Callee callee,
                           llvm::ArrayRef<ExprId> slots) {
  const Signature& signature = SignatureOf(callee);
  std::string missing;
  size_t count = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].valid() || signature.parameters[i].default_value.valid()) continue;
    missing += fmt::format("{}`{}`", missing.empty() ? "" : ", ", Text(signature.parameters[i].name.symbol));
    ++count;
  }
  if (invocation.arguments.empty()) {
    const std::string_view name = Text(signature.name.symbol);
    Report(ast::kEmptyList, EmptyArguments(invocation), "{}",
           count == 0 ? fmt::format("expected at least one argument of `{}`", name)
                      : fmt::format("`{}` lacks the argument{} {}", name, count > 1 ? "s" : "", missing))
        .Note(signature.name.range, "declared here");
    return false;
  }
  if (count == 0) return true;
  DiagnosticBuilder builder =
      Report(kMissingArgument, invocation.callee.range, "`{}` lacks the argument{} {}",
             Text(signature.name.symbol), count > 1 ? "s" : "", missing);
  NoteDeclaration(signature.name.range, signature, builder);
  return false;
}

bool Checker::CheckArgumentTypes(const ast::InvocationExpr& invocation, Callee callee,
                                 llvm::ArrayRef<ExprId> slots, TypeId generic) {
  const Signature& signature = SignatureOf(callee);
  bool is_valid = true;
  for (size_t i = 0; i < slots.size(); ++i) {
    const TypedName& parameter = signature.parameters[i];
    const bool has_default = !slots[i].valid();
    // Defaults were checked with the declaration, except that of `x: ?`: its type depends on `?`.
    if (has_default && !(parameter.default_value.valid() && types_.ContainsGeneric(parameter.type))) continue;
    const TypeId expected = generic.valid() ? types_.Substitute(parameter.type, generic) : parameter.type;
    const TypeId type = has_default ? callee.document->type(parameter.default_value) : TypeOf(slots[i]);
    if (IsCastable(types_, dialect_, type, expected)) continue;
    is_valid = false;
    if (!has_default) {
      // A tensor for a positional attribute was reported already.
      const bool is_positional = i < invocation.arguments.size() &&
                                 invocation.arguments[i].value == slots[i] &&
                                 !invocation.arguments[i].name.has_value();
      if (is_positional && !dialect_.positional_attributes && !types_.ContainsTensor(parameter.type) &&
          types_.ContainsTensor(type))
        continue;
      ReportArgument(slots[i], expected, parameter, signature);
      continue;
    }
    DiagnosticBuilder builder = Report(
        kTypeMismatch, invocation.callee.range, "the default of `{}` of `{}` is of type `{}`; expected `{}`",
        Text(parameter.name.symbol), Text(signature.name.symbol), Text(type), Text(expected));
    NoteDeclaration(parameter.name.range, signature, builder);
  }
  if (body_ != BodyKind::kQuantization && IsStandard(callee, update_) && !slots.empty() && slots[0].valid()) {
    CheckUpdateTarget(slots[0]);
  }
  return is_valid;
}

void Checker::ReportArgument(ExprId argument, TypeId expected, const TypedName& parameter,
                             const Signature& signature) {
  DiagnosticBuilder builder =
      Report(kTypeMismatch, expr(argument).range, "argument `{}` of `{}` is of type `{}`; expected `{}`{}",
             Text(parameter.name.symbol), Text(signature.name.symbol), Text(TypeOf(argument)), Text(expected),
             HintFor(argument, expected));
  FixLiteral(argument, expected, builder);
  NoteDeclaration(parameter.name.range, signature, builder);
}

void Checker::NoteDeclaration(SourceRange range, const Signature& signature,
                              DiagnosticBuilder& builder) const {
  if (libraries_.FileName(range.file).empty()) {
    builder.Note(range, "declared here");
    return;
  }
  std::string parameters;
  for (const TypedName& parameter : signature.parameters)
    parameters += fmt::format("{}{}", parameters.empty() ? "" : ", ", Text(parameter.name.symbol));
  const std::string_view name = Text(signature.name.symbol);
  // Plug-ins have names; libraries of nnefc have files.
  const bool is_ours = libraries_.FileName(range.file).ends_with(".nnef");
  builder.Note({}, "parameters of `{}`: {}{}", name, parameters,
               is_ours ? fmt::format("; see `nnefc explain {}`", name) : "");
}

// 3.3.3: `g(f(x))` means `t = f(x); g(t)` with a tensor `t`. The provisional dialect accepts a tuple for a
// tuple.
bool Checker::CheckChaining(const ast::InvocationExpr& invocation, const Signature& signature) {
  if (dialect_.passed_tuples || dialect_.loose_values || signature.results.empty()) return true;
  const TypeId type = signature.results[0].type;
  if (signature.results.size() == 1 && (Kind(type) == TypeKind::kTensor || IsError(type))) return true;
  Report(kChainedResults, invocation.callee.range,
         "`{}` has {}; only an invocation of a single tensor can be an argument", Text(signature.name.symbol),
         signature.results.size() == 1 ? fmt::format("a result of type `{}`", Text(type))
                                       : fmt::format("{} results", signature.results.size()));
  return false;
}

TypeId Checker::ResultType(const Signature& signature, TypeId generic) {
  auto substitute = [&](const TypedName& result) {
    return generic.valid() ? types_.Substitute(result.type, generic) : result.type;
  };
  if (signature.results.size() == 1) return substitute(signature.results[0]);
  if (signature.results.empty()) return error_;  // reported by the parser
  llvm::SmallVector<TypeId, 4> types;
  for (const TypedName& result : signature.results) types.push_back(substitute(result));
  const TypeId tuple = types_.Tuple(types);
  return types_.WithinBounds(tuple) ? tuple : error_;
}

}  // namespace nnefc::semantics
