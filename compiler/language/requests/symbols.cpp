// The outline of a document: its declarations with the names declared in them.

#include <algorithm>

#include "compiler/language/analysis.h"

namespace nnefc::language {

std::vector<DocumentSymbol> FindSymbols(const Analysis& analysis) {
  const ast::Document& document = analysis.checked().ast();
  const NameIndex& names = analysis.names();
  std::vector<DocumentSymbol> symbols;
  auto open = [&](const ast::Name& name, SourceRange range, SymbolKind kind, std::string detail) {
    const SourceRange selection =
        name.symbol.valid() ? name.range : SourceRange{range.file, range.begin, range.begin};
    symbols.push_back({.name = std::string(analysis.Text(name.symbol)),
                       .kind = kind,
                       .detail = std::move(detail),
                       .range = analysis.RangeOf(range),
                       .selection = analysis.RangeOf(selection),
                       .children = {}});
  };
  for (size_t i = 0; i < document.fragments.size(); ++i) {
    const ast::FragmentId id(static_cast<int32_t>(i));
    const ast::Fragment& fragment = document.fragments[id];
    open(fragment.name, fragment.range, SymbolKind::kFragment,
         analysis.SignatureText({&analysis.checked(), id}));
  }
  for (const ast::Graph& graph : document.graphs) open(graph.name, graph.range, SymbolKind::kGraph, "");
  std::ranges::stable_sort(symbols, {}, [](const DocumentSymbol& symbol) { return symbol.range.begin; });
  // Attach declared names to the enclosing declaration; both lists are in order.
  size_t around = 0;
  for (const Occurrence& occurrence : names.occurrences()) {
    if (!occurrence.is_declaration) continue;
    const Entity& entity = names.entity(occurrence.entity);
    const SymbolKind kind = analysis.KindOf(entity);
    if (kind == SymbolKind::kGraph || kind == SymbolKind::kFragment || kind == SymbolKind::kIterator)
      continue;
    while (around < symbols.size() && symbols[around].range.end < occurrence.range.end) ++around;
    if (around == symbols.size() || occurrence.range.begin < symbols[around].range.begin) continue;
    const TextRange range = analysis.RangeOf(occurrence.range);
    symbols[around].children.push_back({.name = std::string(analysis.Text(entity.name)),
                                        .kind = kind,
                                        .detail = analysis.TypeText(entity.type),
                                        .range = range,
                                        .selection = range,
                                        .children = {}});
  }
  return symbols;
}

}  // namespace nnefc::language
