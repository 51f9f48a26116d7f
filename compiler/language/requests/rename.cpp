// Renaming of identifiers and labels, with the conflicts that prevent it.

#include <algorithm>
#include <set>

#include "compiler/ir/op_registry.h"
#include "compiler/language/queries.h"
#include "compiler/support/files/contained_path.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace nnefc::language {
namespace {

constexpr std::string_view kLabel = "label";

// A string literal in the document.
struct Literal {
  std::string value;
  SourceRange range;  // with its quotes
};

const ast::StringLiteral* StringAt(const Analysis& analysis, ast::ExprId expr) {
  return expr.valid() ? std::get_if<ast::StringLiteral>(&analysis.ast().exprs[expr].node) : nullptr;
}

// Calls `use` with each invocation that has a binding.
template <typename Use>
void ForEachBinding(const Analysis& analysis, Use use) {
  const ast::Document& document = analysis.ast();
  for (size_t i = 0; i < document.exprs.size(); ++i) {
    const semantics::Binding* binding = analysis.checked().binding(ast::ExprId(static_cast<int32_t>(i)));
    if (binding != nullptr) use(*binding);
  }
}

// Returns the labels of variables that are written as literals.
std::vector<Literal> LabelsOf(const Analysis& analysis) {
  std::vector<Literal> labels;
  ForEachBinding(analysis, [&](const semantics::Binding& binding) {
    const semantics::Signature& signature = binding.callee.document->signature(binding.callee.fragment);
    if (!binding.callee.document->is_library()) return;
    const ir::OpId op = ir::StandardOps().Find(ir::kNnefSet, analysis.Text(signature.name.symbol));
    if (!op.valid() || ir::StandardOps().Info(op).role != ir::OpRole::kVariable) return;
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      const ast::StringLiteral* literal = StringAt(analysis, binding.arguments[i]);
      if (literal == nullptr || analysis.Text(signature.parameters[i].name.symbol) != kLabel) continue;
      labels.push_back(
          {std::string(analysis.Text(literal->value)), analysis.ast().exprs[binding.arguments[i]].range});
    }
  });
  return labels;
}

// Returns the strings that name a fragment as the body of an operation.
std::vector<Literal> BodyNamesOf(const Analysis& analysis) {
  std::vector<Literal> names;
  ForEachBinding(analysis, [&](const semantics::Binding& binding) {
    if (!binding.callee.document->signature(binding.callee.fragment).runs_bodies) return;
    for (ast::ExprId argument : binding.arguments) {
      if (const ast::StringLiteral* literal = StringAt(analysis, argument))
        names.push_back({std::string(analysis.Text(literal->value)), analysis.ast().exprs[argument].range});
    }
  });
  return names;
}

SourceRange WithoutQuotes(SourceRange range) {
  return {range.file, range.begin + 1, std::max(range.begin + 1, range.end - 1)};
}

// Returns the text of a label between its quotes.
std::string Escaped(std::string_view label) {
  const std::string quoted = ast::QuoteString(label);
  return quoted.substr(1, quoted.size() - 2);
}

// Returns whether the document declares the entity, so that its name may change.
bool IsOwn(const Analysis& analysis, const Entity& entity) {
  if (entity.kind == EntityKind::kOperation) return false;
  return entity.kind != EntityKind::kParameter || entity.callee.document == &analysis.checked();
}

// Returns the declaration around an offset: the range in which names of its body are distinct.
SourceRange DeclarationAround(const ast::Document& document, uint32_t offset) {
  auto covers = [&](SourceRange range) { return range.begin <= offset && offset <= range.end; };
  for (const ast::Fragment& fragment : document.fragments) {
    if (covers(fragment.range)) return fragment.range;
  }
  for (const ast::Graph& graph : document.graphs) {
    if (covers(graph.range)) return graph.range;
  }
  return {document.file, 0, UINT32_MAX};
}

// Returns the reason why an entity cannot have the name; empty if it can.
std::string ConflictOf(const Analysis& analysis, const Occurrence& renamed, std::string_view name) {
  const NameIndex& names = analysis.names();
  const Entity& entity = names.entity(renamed.entity);
  if (entity.kind == EntityKind::kGraph) return {};
  if (entity.kind == EntityKind::kFragment) {
    const Symbol symbol = analysis.context().symbols.Find(name);
    const bool is_taken = symbol.valid() && analysis.checked().Find(symbol).valid();
    return is_taken ? fmt::format("there is already a fragment or operation `{}`", name) : "";
  }
  const SourceRange around = DeclarationAround(analysis.ast(), entity.declaration.begin);
  for (const Occurrence& other : names.occurrences()) {
    if (other.range.begin < around.begin || other.range.end > around.end) continue;
    const Entity& named = names.entity(other.entity);
    const bool is_operation = named.kind == EntityKind::kOperation || named.kind == EntityKind::kFragment ||
                              named.kind == EntityKind::kGraph;
    // The name of an argument belongs to the invoked fragment.
    const bool is_argument = named.kind == EntityKind::kParameter && !other.is_declaration &&
                             (named.declaration.file != around.file ||
                              named.declaration.begin < around.begin || named.declaration.end > around.end);
    if (other.entity != renamed.entity && !is_operation && !is_argument && analysis.Text(named.name) == name)
      return fmt::format("there is already a name `{}` in this body", name);
  }
  // An identifier that nothing here declares: a symbol of an extension, or a number such as `inf`.
  const bool is_used = llvm::any_of(analysis.ast().exprs, [&](const ast::Expr& expr) {
    const auto* identifier = std::get_if<ast::IdentifierExpr>(&expr.node);
    return identifier != nullptr && identifier->name != entity.name && around.begin <= expr.range.begin &&
           expr.range.end <= around.end && analysis.Text(identifier->name) == name;
  });
  return is_used ? fmt::format("there is already a name `{}` in this body", name) : "";
}

void AddQuantizationEdits(const Analysis& analysis, std::string_view old_name, std::string_view name,
                          Renaming& renaming) {
  const semantics::CheckedDocument* quantization = analysis.compilation().quantization().document.get();
  if (quantization == nullptr) return;
  for (const ast::Quantization& line : quantization->ast().quantizations) {
    if (analysis.Text(line.key.symbol) == old_name)
      renaming.quantization_edits.push_back(
          {analysis.RangeOf(WithoutQuotes(line.key.range)), std::string(name)});
  }
}

Renaming RenameLabel(const Analysis& analysis, const std::string& label, std::string_view name) {
  Renaming renaming;
  const std::optional<std::string> file = LabelPath(name);
  if (!file) {
    renaming.error = fmt::format("`{}` does not name a file inside the model", name);
    return renaming;
  }
  const std::vector<Literal> labels = LabelsOf(analysis);
  // R 4.1.3: labels that differ by case alone are equal.
  const bool is_exact = analysis.checked().dialect().any_label;
  const auto is_taken = [&](const Literal& other) {
    const llvm::StringRef wanted(name.data(), name.size()), known(other.value);
    return (is_exact ? known == wanted : known.equals_insensitive(wanted)) && other.value != label;
  };
  if (llvm::any_of(labels, is_taken)) {
    renaming.error = fmt::format("there is already a variable with the label `{}`", name);
    return renaming;
  }
  for (const Literal& literal : labels) {
    if (literal.value == label)
      renaming.edits.push_back({analysis.RangeOf(WithoutQuotes(literal.range)), Escaped(name)});
  }
  renaming.old_file = LabelPath(label).value_or("");
  renaming.new_file = *file;
  return renaming;
}

}  // namespace

std::optional<Renamable> FindRenamable(const Analysis& analysis, uint32_t offset) {
  if (const Occurrence* occurrence = analysis.names().At(offset)) {
    const Entity& entity = analysis.names().entity(occurrence->entity);
    const std::string_view name = analysis.Text(entity.name);
    const SourceRange range = occurrence->range;
    // A quoted name or a corrected spelling is not renamed.
    const bool is_plain = analysis.text().substr(range.begin, range.end - range.begin) == name;
    if (!IsOwn(analysis, entity) || !is_plain || name.empty()) return std::nullopt;
    return Renamable{analysis.RangeOf(range), std::string(name)};
  }
  for (Literal& label : LabelsOf(analysis)) {
    const SourceRange inside = WithoutQuotes(label.range);
    if (inside.begin <= offset && offset <= inside.end)
      return Renamable{analysis.RangeOf(inside), std::move(label.value), true};
  }
  return std::nullopt;
}

Renaming Rename(const Analysis& analysis, uint32_t offset, std::string_view name) {
  const std::optional<Renamable> renamable = FindRenamable(analysis, offset);
  Renaming renaming;
  if (!renamable) {
    renaming.error = "expected a name of the document or the label of a variable";
    return renaming;
  }
  if (renamable->is_label) return RenameLabel(analysis, renamable->name, name);
  const Occurrence& occurrence = *analysis.names().At(offset);
  const Entity& entity = analysis.names().entity(occurrence.entity);
  if (!ast::IsPlainName(name)) {
    renaming.error = fmt::format("`{}` is not a valid name: expected letters, digits and `_`", name);
    return renaming;
  }
  const ast::Dialect& dialect = analysis.checked().dialect();
  if (ast::IsSoftKeyword(name, dialect)) {
    renaming.error = fmt::format("`{}` is a keyword of the {} dialect", name, dialect.name);
    return renaming;
  }
  renaming.error = ConflictOf(analysis, occurrence, name);
  if (!renaming.error.empty()) return renaming;
  for (const Occurrence& other : analysis.names().occurrences()) {
    if (other.entity == occurrence.entity)
      renaming.edits.push_back({analysis.RangeOf(other.range), std::string(name)});
  }
  if (entity.kind == EntityKind::kFragment) {
    for (const Literal& body : BodyNamesOf(analysis)) {
      if (body.value == renamable->name)
        renaming.edits.push_back({analysis.RangeOf(WithoutQuotes(body.range)), std::string(name)});
    }
    std::ranges::stable_sort(renaming.edits, {}, [](const TextEdit& edit) { return edit.range.begin; });
  }
  if (entity.in_graph) AddQuantizationEdits(analysis, renamable->name, name, renaming);
  return renaming;
}

}  // namespace nnefc::language
