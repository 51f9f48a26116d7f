#include "compiler/semantics/suggestions/arguments.h"

#include <optional>

#include "compiler/semantics/foreign/foreign_names.h"
#include "compiler/semantics/suggestions/literals.h"
#include "compiler/support/diagnostics/suggest.h"
#include "compiler/syntax/parse/type_names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::semantics::suggestions {
namespace {

// Returns ONNX's `pads = [1,1,2,2]` as an array of pairs, `[(1,2), (1,2)]`; empty if it is not such a list.
// For windows that span batch and channels, these have no padding.
std::string PairsOf(const CheckContext& check, const ast::Argument& argument, const Signature& signature) {
  const auto* list = std::get_if<ast::ArrayExpr>(&check.expr(argument.value).node);
  if (list == nullptr || list->items.size() % 2 != 0 || list->items.size() > kMaxFixedItems) return "";
  llvm::SmallVector<int64_t, 8> numbers;
  for (ExprId item : list->items) {
    const auto* number = std::get_if<ast::IntegerLiteral>(&check.expr(item).node);
    if (number == nullptr) return "";
    numbers.push_back(number->value);
  }
  const size_t count = numbers.size() / 2;
  const bool has_size = llvm::any_of(signature.parameters, [&](const TypedName& parameter) {
    return check.Text(parameter.name.symbol) == "size";
  });
  std::string pairs = has_size ? "(0,0), (0,0)" : "";
  for (size_t i = 0; i < count; ++i)
    pairs += fmt::format("{}({},{})", pairs.empty() ? "" : ", ", numbers[i], numbers[i + count]);
  return fmt::format("[{}]", pairs);
}

// Returns the edits for an argument of another framework: they remove it, or write the type after the
// operation's name.
std::vector<FixIt> FixForeignArgument(const CheckContext& check, const ast::InvocationExpr& invocation,
                                      const ast::Argument& argument, const foreign::ForeignName& foreign,
                                      const Signature& signature) {
  if (invocation.arguments.size() < 2) return {};  // the only argument
  const SourceRange value = check.expr(argument.value).range;
  const std::string text =
      llvm::StringRef(check.SourceText(value).data(), check.SourceText(value).size()).lower();
  const auto remove_if = [&](bool fits) {
    return fits ? std::vector<FixIt>{RemoveArgument(check, invocation, argument)} : std::vector<FixIt>();
  };
  switch (foreign.repair) {
    case foreign::ForeignRepair::kDrop:
      return remove_if(true);
    case foreign::ForeignRepair::kDropTrue:
      return remove_if(text == "true");
    case foreign::ForeignRepair::kDropFalse:
      return remove_if(text == "false");
    case foreign::ForeignRepair::kDropChannelsFirst:
      return remove_if(text == "'nchw'" || text == "\"nchw\"" || text == "'channels_first'");
    case foreign::ForeignRepair::kType: {
      const std::string_view word = llvm::StringRef(text).trim("'\"");
      const ast::parse::IntendedType meant =
          ast::parse::IntendedTypeOf(word.substr(word.rfind('.') + 1), check.dialect);
      if (!meant.is_certain || !signature.is_generic || HasTypeArgument(invocation)) return {};
      const SourceRange callee = invocation.callee.range;
      return {{{callee.file, callee.end, callee.end}, fmt::format("<{}>", meant.name)},
              RemoveArgument(check, invocation, argument)};
    }
    default:
      return {};
  }
}

}  // namespace

Proposal ForUnknownArgument(const CheckContext& check, const ast::InvocationExpr& invocation,
                            const ast::Argument& argument, Callee callee) {
  const ast::Name& name = *argument.name;
  const Signature& signature = check.SignatureOf(callee);
  const std::string_view text = check.Text(name.symbol);
  Suggestion suggestion(text);
  if (check.MayCompare(signature.parameters.size())) {
    for (const TypedName& parameter : signature.parameters)
      suggestion.Offer(check.Text(parameter.name.symbol));
  }
  std::string_view best = suggestion.best();
  bool is_safe = suggestion.is_typo() && (suggestion.is_spelling() || !foreign::IsForeignParameter(text));
  std::string hint = best.empty() ? "" : fmt::format("; did you mean `{}`?", best);
  const foreign::ForeignName* foreign =
      suggestion.is_spelling() || callee.document != &check.standard
          ? nullptr
          : foreign::FindForeignParameter(text, [&](std::string_view ours) {
              return llvm::any_of(signature.parameters, [&](const TypedName& parameter) {
                return check.Text(parameter.name.symbol) == ours;
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
      foreign != nullptr && foreign->theirs == "pads" ? PairsOf(check, argument, signature) : "";
  if (!pairs.empty()) hint += fmt::format(" ONNX lists begins, then ends: `padding = {}`", pairs);
  if (callee.document == &check.standard && check.kind != CheckedKind::kLibrary &&
      !check.context.emitter.exhausted()) {
    const Callee twin = check.libraries.Get(ast::Other(check.dialect)).Find(signature.name.symbol);
    const std::optional<size_t> place = twin.valid() ? PlaceOf(check.SignatureOf(twin), name) : std::nullopt;
    if (place) {
      // `perm` of `transpose` has another name in this dialect; `output_shape` of `deconv` has no equivalent.
      is_safe = *place < signature.parameters.size() &&
                !PlaceOf(check.SignatureOf(twin), signature.parameters[*place].name);
      best = is_safe ? check.Text(signature.parameters[*place].name.symbol) : "";
      const std::string_view other = ast::Other(check.dialect).name;
      hint = is_safe ? fmt::format("; the {} dialect calls `{}` so", other, best)
                     : fmt::format("; it belongs to the {} dialect", other);
    }
  }
  Proposal proposal{.hint = std::move(hint)};
  if (is_safe) {
    proposal.fixes.push_back({name.range, std::string(best)});
    if (!pairs.empty()) proposal.fixes.push_back({check.expr(argument.value).range, pairs});
  } else if (foreign != nullptr) {
    proposal.fixes = FixForeignArgument(check, invocation, argument, *foreign, signature);
  }
  return proposal;
}

FixIt RemoveArgument(const CheckContext& check, const ast::InvocationExpr& invocation,
                     const ast::Argument& argument) {
  const llvm::ArrayRef<ast::Argument> arguments = invocation.arguments;
  const SourceRange value = check.expr(argument.value).range;
  const size_t index = static_cast<size_t>(&argument - arguments.begin());
  const SourceRange whole = Cover(argument.name->range, value);
  if (index > 0) return {{whole.file, check.expr(arguments[index - 1].value).range.end, whole.end}, ""};
  const ast::Argument& next = arguments[1];
  const uint32_t end = next.name.has_value() ? next.name->range.begin : check.expr(next.value).range.begin;
  return {{whole.file, whole.begin, end}, ""};
}

}  // namespace nnefc::semantics::suggestions
