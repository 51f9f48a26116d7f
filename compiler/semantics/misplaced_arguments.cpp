#include <optional>

#include "compiler/semantics/checker.h"
#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/support/suggest.h"
#include "compiler/syntax/parse/type_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::semantics {

// Reports items of an array without brackets, `concat(a, b, axis = 1)` and `external(shape = 1,3,32,32)`;
// returns true if it did.
bool Checker::ReportUnbracketed(const ast::InvocationExpr& invocation, const Signature& signature) {
  const llvm::ArrayRef<ast::Argument> arguments = invocation.arguments;
  const auto report = [&](const TypedName& parameter, size_t first, size_t end, const Rule& rule) {
    const SourceRange from = expr(arguments[first].value).range, to = expr(arguments[end - 1].value).range;
    const std::string_view items = SourceText(Cover(from, to));
    DiagnosticBuilder builder =
        Report(rule, Cover(from, to), "`{}` of `{}` is an array; write `{}[{}]`", Text(parameter.name.symbol),
               Text(signature.name.symbol),
               arguments[first].name.has_value() ? fmt::format("{} = ", Text(parameter.name.symbol)) : "",
               items.size() <= kMaxFixedItems ? items : "..");
    builder.Fix({from.file, from.begin, from.begin}, "[").Fix({to.file, to.end, to.end}, "]");
    NoteDeclaration(parameter.name.range, signature, builder);
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
      Kind(list.type) == TypeKind::kArray && types_.ContainsTensor(list.type) &&
      llvm::none_of(llvm::drop_begin(signature.parameters),
                    [&](const TypedName& other) { return types_.ContainsTensor(other.type); });
  if (takes_tensors && !arguments[0].name.has_value()) {
    const size_t end =
        run(0, [&](size_t i) { return Kind(TypeOf(arguments[i].value)) == TypeKind::kTensor; });
    if (end > 1) return report(list, 0, end, kTypeMismatch);
  }
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (!arguments[i].name.has_value() || arguments[i + 1].name.has_value()) continue;
    const auto parameter = llvm::find_if(signature.parameters, [&](const TypedName& candidate) {
      return candidate.name.symbol == arguments[i].name->symbol;
    });
    if (parameter == signature.parameters.end() || Kind(parameter->type) != TypeKind::kArray) continue;
    const TypeId item = types_.Item(parameter->type);
    const size_t end = run(i, [&](size_t at) {
      return !std::holds_alternative<ast::IdentifierExpr>(expr(arguments[at].value).node) &&
             IsCastable(types_, dialect_, TypeOf(arguments[at].value), item);
    });
    if (end > i + 1) return report(*parameter, i, end, kPositionalAfterNamed);
  }
  return false;
}

// Returns true if the name of a surplus argument is misspelt, or another framework's name, for a parameter
// that the invocation gives neither by name nor among the first `positional` arguments. To ignore such an
// argument would change the result.
bool Checker::IsMisspelt(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                         const Signature& signature, size_t positional) {
  const auto is_missing = [&](const TypedName& parameter) {
    return static_cast<size_t>(&parameter - signature.parameters.data()) >= positional &&
           llvm::none_of(invocation.arguments, [&](const ast::Argument& other) {
             return other.name.has_value() && other.name->symbol == parameter.name.symbol;
           });
  };
  const std::string_view text = Text(argument.name->symbol);
  if (!MayCompare(signature.parameters.size())) return false;
  Suggestion suggestion(text);
  for (const TypedName& parameter : signature.parameters) suggestion.Offer(Text(parameter.name.symbol));
  const auto is_meant = [&](std::string_view name) {
    return llvm::any_of(signature.parameters, [&](const TypedName& parameter) {
      return Text(parameter.name.symbol) == name && is_missing(parameter);
    });
  };
  if (suggestion.is_typo()) return is_meant(suggestion.best());
  const foreign::ForeignName* foreign = foreign::FindForeignParameter(text, is_meant);
  return foreign != nullptr && !foreign->ours.empty();
}

void Checker::ReportUnknownArgument(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                                    Callee callee) {
  const ast::Name& name = *argument.name;
  const Signature& signature = SignatureOf(callee);
  const std::string_view text = Text(name.symbol);
  Suggestion suggestion(text);
  if (MayCompare(signature.parameters.size())) {
    for (const TypedName& parameter : signature.parameters) suggestion.Offer(Text(parameter.name.symbol));
  }
  std::string_view best = suggestion.best();
  bool is_safe = suggestion.is_typo() && (suggestion.is_spelling() || !foreign::IsForeignParameter(text));
  std::string hint = best.empty() ? "" : fmt::format("; did you mean `{}`?", best);
  const foreign::ForeignName* foreign =
      suggestion.is_spelling() || callee.document != standard_
          ? nullptr
          : foreign::FindForeignParameter(text, [&](std::string_view ours) {
              return llvm::any_of(signature.parameters, [&](const TypedName& parameter) {
                return Text(parameter.name.symbol) == ours;
              });
            });
  if (foreign != nullptr) {
    best = foreign->ours;
    is_safe =
        !best.empty() && (foreign->advice.empty() || foreign->repair == foreign::ForeignRepair::kRename);
    hint = best.empty()              ? fmt::format("; {}", foreign->advice)
           : foreign->advice.empty() ? fmt::format("; did you mean `{}`?", best)
                                     : fmt::format("; did you mean `{}`? {}", best, foreign->advice);
  }
  const std::string pairs =
      foreign != nullptr && foreign->theirs == "pads" ? PairsOf(invocation, argument, signature) : "";
  if (!pairs.empty()) hint += fmt::format(" ONNX lists begins, then ends: `padding = {}`", pairs);
  if (callee.document == standard_ && kind_ != CheckedKind::kLibrary && !context_.emitter.exhausted()) {
    const Callee twin = libraries_.Get(ast::Other(dialect_)).Find(signature.name.symbol);
    const std::optional<size_t> place = twin.valid() ? PlaceOf(SignatureOf(twin), name) : std::nullopt;
    if (place) {
      // `perm` of `transpose` has another name in this dialect; `output_shape` of `deconv` has no equivalent.
      is_safe = *place < signature.parameters.size() &&
                !PlaceOf(SignatureOf(twin), signature.parameters[*place].name);
      best = is_safe ? Text(signature.parameters[*place].name.symbol) : "";
      const std::string_view other = ast::Other(dialect_).name;
      hint = is_safe ? fmt::format("; the {} dialect calls `{}` so", other, best)
                     : fmt::format("; it belongs to the {} dialect", other);
    }
  }
  DiagnosticBuilder builder = Report(kUnknownArgument, name.range, "`{}` has no parameter `{}`{}",
                                     Text(signature.name.symbol), text, hint);
  if (is_safe) {
    builder.Fix(name.range, std::string(best));
    if (!pairs.empty()) builder.Fix(expr(argument.value).range, pairs);
  } else if (foreign != nullptr) {
    FixForeignArgument(invocation, argument, *foreign, signature, builder);
  }
  NoteDeclaration(signature.name.range, signature, builder);
}

// Returns ONNX's `pads = [1,1,2,2]` as an array of pairs, `[(1,2), (1,2)]`; empty if it is not such a list.
// For windows that span batch and channels, these have no padding.
std::string Checker::PairsOf(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                             const Signature& signature) const {
  const auto* list = std::get_if<ast::ArrayExpr>(&expr(argument.value).node);
  if (list == nullptr || list->items.size() % 2 != 0 || list->items.size() > kMaxFixedItems) return "";
  llvm::SmallVector<int64_t, 8> numbers;
  for (ExprId item : list->items) {
    const auto* number = std::get_if<ast::IntegerLiteral>(&expr(item).node);
    if (number == nullptr) return "";
    numbers.push_back(number->value);
  }
  const size_t count = numbers.size() / 2;
  const bool has_size = llvm::any_of(signature.parameters, [&](const TypedName& parameter) {
    return Text(parameter.name.symbol) == "size";
  });
  std::string pairs = has_size ? "(0,0), (0,0)" : "";
  for (size_t i = 0; i < count; ++i)
    pairs += fmt::format("{}({},{})", pairs.empty() ? "" : ", ", numbers[i], numbers[i + count]);
  return fmt::format("[{}]", pairs);
}

// Fixes an argument of another framework: removes it, or writes the type after the operation's name.
void Checker::FixForeignArgument(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                                 const foreign::ForeignName& foreign, const Signature& signature,
                                 DiagnosticBuilder& builder) {
  const llvm::ArrayRef<ast::Argument> arguments = invocation.arguments;
  if (arguments.size() < 2) return;  // the only argument
  const SourceRange value = expr(argument.value).range;
  const std::string text = llvm::StringRef(SourceText(value).data(), SourceText(value).size()).lower();
  switch (foreign.repair) {
    case foreign::ForeignRepair::kDrop:
      break;
    case foreign::ForeignRepair::kDropTrue:
      if (text != "true") return;
      break;
    case foreign::ForeignRepair::kDropFalse:
      if (text != "false") return;
      break;
    case foreign::ForeignRepair::kDropChannelsFirst:
      if (text != "'nchw'" && text != "\"nchw\"" && text != "'channels_first'") return;
      break;
    case foreign::ForeignRepair::kType: {
      const std::string_view word = llvm::StringRef(text).trim("'\"");
      const ast::parse::IntendedType meant =
          ast::parse::IntendedTypeOf(word.substr(word.rfind('.') + 1), dialect_);
      if (!meant.is_certain || !signature.is_generic || HasTypeArgument(invocation)) return;
      const SourceRange callee = invocation.callee.range;
      builder.Fix({callee.file, callee.end, callee.end}, fmt::format("<{}>", meant.name));
      break;
    }
    default:
      return;
  }
  RemoveArgument(invocation, argument, builder);
}

// Removes one of several arguments with the comma before it, or with the one after it for the first argument.
void Checker::RemoveArgument(const ast::InvocationExpr& invocation, const ast::Argument& argument,
                             DiagnosticBuilder& builder) {
  const llvm::ArrayRef<ast::Argument> arguments = invocation.arguments;
  const SourceRange value = expr(argument.value).range;
  const size_t index = static_cast<size_t>(&argument - arguments.begin());
  const SourceRange whole = Cover(argument.name->range, value);
  if (index > 0) {
    builder.Fix({whole.file, expr(arguments[index - 1].value).range.end, whole.end}, "");
    return;
  }
  const ast::Argument& next = arguments[1];
  const uint32_t end = next.name.has_value() ? next.name->range.begin : expr(next.value).range.begin;
  builder.Fix({whole.file, whole.begin, end}, "");
}

}  // namespace nnefc::semantics
