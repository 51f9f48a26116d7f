#include "compiler/semantics/suggestions/names.h"

#include <algorithm>
#include <optional>

#include "compiler/support/diagnostics/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::semantics::suggestions {
namespace {

// Returns the edits that replace the brackets after an operation's name: `relu[x]`.
std::vector<FixIt> FixCallBrackets(const CheckContext& check, SourceRange name) {
  const std::string_view text = check.context.sources.Text(name.file);
  if (name.end >= text.size() || text[name.end] != '[') return {};
  const size_t line_end = std::min(text.find('\n', name.end), text.size());
  int depth = 0;
  for (size_t at = name.end; at < line_end; ++at) {
    depth += text[at] == '[' ? 1 : text[at] == ']' ? -1 : 0;
    if (depth > 0) continue;
    const auto close = static_cast<uint32_t>(at);
    return {{{name.file, name.end, name.end + 1}, "("}, {{name.file, close, close + 1}, ")"}};
  }
  return {};
}

bool IsDeclared(const CheckContext& check, std::string_view operation) {
  return check.standard.Find(check.context.symbols.Find(operation)).valid();
}

// Returns true if the invocation has a named argument for each of the blank-separated `parameters`.
bool NamesAll(const CheckContext& check, const ast::InvocationExpr& invocation, std::string_view parameters) {
  llvm::SmallVector<llvm::StringRef, 4> needed;
  llvm::StringRef(parameters.data(), parameters.size()).split(needed, ' ', -1, /*KeepEmpty=*/false);
  return llvm::all_of(needed, [&](llvm::StringRef parameter) {
    return llvm::any_of(invocation.arguments, [&](const ast::Argument& argument) {
      return argument.name.has_value() && llvm::StringRef(check.Text(argument.name->symbol)) == parameter;
    });
  });
}

// Proposes NNEF's equivalent of an operation of another framework; nothing if no framework has it. The fix
// renames it if NNEF has the same function with the same arguments.
std::optional<Proposal> ForForeign(const CheckContext& check, const ast::InvocationExpr& invocation) {
  const std::string_view name = check.Text(invocation.callee.symbol);
  const auto rows = foreign::FindForeignOperations(name);
  if (rows.empty()) return std::nullopt;
  const foreign::ForeignOperation& row = *rows.front();
  if (rows.size() == 1 && !row.ours.empty() && IsDeclared(check, row.ours) &&
      NamesAll(check, invocation, row.needs)) {
    return Proposal{.hint = fmt::format("; did you mean `{}`?", row.ours),
                    .fixes = {{invocation.callee.range, std::string(row.ours)}}};
  }
  return Proposal{.hint = DescribeForeign(check, name, rows)};
}

}  // namespace

Proposal ForUndefinedName(const CheckContext& check, SourceRange range, Symbol name) {
  if (const foreign::ForeignName* foreign = foreign::FindForeignValue(check.Text(name))) {
    if (foreign->ours.empty()) return {.hint = fmt::format("; {}", foreign->advice)};
    return {.hint = fmt::format("; did you mean `{}`?", foreign->ours),
            .fixes = {{range, std::string(foreign->ours)}}};
  }
  if (check.out->Find(name).valid()) {
    return {.hint = fmt::format("; the operation is invoked with arguments, `{}(..)`", check.Text(name)),
            .fixes = FixCallBrackets(check, range)};
  }
  Suggestion suggestion(check.Text(name));
  for (const Scope::Entry& entry : check.body.scope.entries()) {
    if (entry.local.assigned) suggestion.Offer(check.Text(entry.name));
  }
  if (suggestion.best().empty()) return {};
  Proposal proposal{.hint = fmt::format("; did you mean `{}`?", suggestion.best())};
  // Either of the two names may be misspelt.
  if (suggestion.is_typo()) {
    proposal.fixes = {{range, std::string(suggestion.best())}};
    proposal.applicability = suggestion.is_spelling() ? Applicability::kSafe : Applicability::kUnsafe;
  }
  return proposal;
}

Proposal ForUndeclaredOperation(const CheckContext& check, const ast::InvocationExpr& invocation) {
  const std::string_view name = check.Text(invocation.callee.symbol);
  Suggestion suggestion(name);
  std::string_view own, standard_name;
  llvm::SmallVector<const ast::Document*, 4> documents = {&check.document, &check.standard.ast()};
  for (const ExtensionLibrary& extension : check.tables.extensions)
    documents.push_back(&extension.library->ast());
  size_t names = 0;
  for (const ast::Document* document : documents) names += document->fragments.size();
  if (!check.MayCompare(names)) documents.clear();
  for (const ast::Document* document : documents) {
    std::string_view& same = document == &check.document ? own : standard_name;
    for (const ast::Fragment& fragment : document->fragments) {
      const std::string_view known = check.Text(fragment.name.symbol);
      suggestion.Offer(known);
      if (same.empty() && foreign::IsSpelledSo(name, known)) same = known;
    }
  }
  if (own.empty() && !documents.empty()) {
    if (std::optional<Proposal> foreign = ForForeign(check, invocation)) return *std::move(foreign);
  }
  const std::string_view same = own.empty() ? standard_name : own;
  const std::string_view best = same.empty() ? suggestion.best() : same;
  if (best.empty()) return {};
  Proposal proposal{.hint = fmt::format("; did you mean `{}`?", best)};
  if (!same.empty() || suggestion.is_typo()) {
    // For the document's own names, a different one may be intended.
    const bool is_own = own.empty() && check.tables.by_name.count(check.context.symbols.Find(best)) != 0;
    proposal.fixes = {{invocation.callee.range, std::string(best)}};
    proposal.applicability = is_own ? Applicability::kUnsafe : Applicability::kSafe;
  }
  return proposal;
}

Proposal ForUnknownBody(const CheckContext& check, SourceRange range, std::string_view name) {
  Suggestion suggestion(name);
  if (check.MayCompare(check.document.fragments.size())) {
    for (const ast::Fragment& fragment : check.document.fragments)
      suggestion.Offer(check.Text(fragment.name.symbol));
  }
  if (suggestion.best().empty()) return {};
  Proposal proposal{.hint = fmt::format("; did you mean `{}`?", suggestion.best())};
  if (suggestion.is_typo()) {
    proposal.fixes = {{range, fmt::format("'{}'", suggestion.best())}};
    proposal.applicability = suggestion.is_spelling() ? Applicability::kSafe : Applicability::kUnsafe;
  }
  return proposal;
}

std::string DescribeForeign(const CheckContext& check, std::string_view name,
                            llvm::ArrayRef<const foreign::ForeignOperation*> rows) {
  const bool is_declared = llvm::all_of(rows, [&](const foreign::ForeignOperation* row) {
    return llvm::all_of(foreign::OperationsIn(row->formula),
                        [&](const std::string& operation) { return IsDeclared(check, operation); });
  });
  if (is_declared) return "; " + foreign::DescribeForeignOperations(name, rows);
  return fmt::format("; the {} dialect has no `{}`", check.dialect.name, name);
}

const Scope::Entry* FindMisspelt(const CheckContext& check, Symbol result) {
  const std::vector<Scope::Entry>& entries = check.body.scope.entries();
  if (!check.MayCompare(entries.size())) return nullptr;
  Suggestion suggestion(check.Text(result));
  const auto is_candidate = [](const Scope::Entry& entry) {
    return entry.local.kind == LocalKind::kLocal && entry.local.assigned && entry.local.assignment.valid();
  };
  for (const Scope::Entry& entry : entries) {
    if (is_candidate(entry)) suggestion.Offer(check.Text(entry.name));
  }
  if (!suggestion.is_unique()) return nullptr;
  for (const Scope::Entry& entry : entries) {
    if (is_candidate(entry) && check.Text(entry.name) == suggestion.best()) return &entry;
  }
  return nullptr;
}

}  // namespace nnefc::semantics::suggestions
