// The call hierarchy of a document: its declarations, and the calls in and of each.

#include <algorithm>

#include "compiler/language/queries.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {
namespace {

// A declaration of the document.
struct Declaration {
  ast::Name name;
  SourceRange range;
  ast::FragmentId fragment;  // invalid for a graph
};

std::vector<Declaration> DeclarationsOf(const ast::Document& document) {
  std::vector<Declaration> declarations;
  for (size_t i = 0; i < document.fragments.size(); ++i) {
    const ast::FragmentId id(static_cast<int32_t>(i));
    declarations.push_back({document.fragments[id].name, document.fragments[id].range, id});
  }
  for (const ast::Graph& graph : document.graphs) declarations.push_back({graph.name, graph.range, {}});
  std::ranges::stable_sort(declarations, {}, [](const Declaration& each) { return each.range.begin; });
  return declarations;
}

const Declaration* DeclarationNamedAt(const std::vector<Declaration>& declarations, const Analysis& analysis,
                                      uint32_t offset) {
  const Occurrence* occurrence = analysis.names().At(offset);
  if (occurrence == nullptr) return nullptr;
  const Entity& entity = analysis.names().entity(occurrence->entity);
  if (entity.kind != EntityKind::kFragment && entity.kind != EntityKind::kGraph) return nullptr;
  const auto found = llvm::find_if(
      declarations, [&](const Declaration& each) { return each.name.range == entity.declaration; });
  return found == declarations.end() ? nullptr : &*found;
}

CallItem ItemOf(const Declaration& declaration, const Analysis& analysis) {
  const bool is_fragment = declaration.fragment.valid();
  return {.name = std::string(analysis.Text(declaration.name.symbol)),
          .detail = is_fragment ? analysis.SignatureText({&analysis.checked(), declaration.fragment})
                                : std::string(),
          .kind = is_fragment ? SymbolKind::kFragment : SymbolKind::kGraph,
          .range = analysis.RangeOf(declaration.range),
          .selection = analysis.RangeOf(declaration.name.range)};
}

// An invocation of a fragment of the document.
struct Call {
  const Declaration* caller;
  const Declaration* callee;
  SourceRange range;  // the name of the operation
};

std::vector<Call> CallsIn(const std::vector<Declaration>& declarations, const Analysis& analysis) {
  std::vector<Call> calls;
  for (const Occurrence& occurrence : analysis.names().occurrences()) {
    const Entity& entity = analysis.names().entity(occurrence.entity);
    if (entity.kind != EntityKind::kFragment || occurrence.is_declaration) continue;
    const Declaration* callee = DeclarationNamedAt(declarations, analysis, entity.declaration.begin);
    const auto after = std::ranges::upper_bound(declarations, occurrence.range.begin, {},
                                                [](const Declaration& each) { return each.range.begin; });
    if (after == declarations.begin() || callee == nullptr) continue;
    calls.push_back({&*std::prev(after), callee, occurrence.range});
  }
  return calls;
}

enum class Direction : uint8_t { kIncoming, kOutgoing };

std::vector<Calls> FindCalls(const Analysis& analysis, uint32_t offset, Direction direction) {
  const std::vector<Declaration> declarations = DeclarationsOf(analysis.ast());
  const Declaration* item = DeclarationNamedAt(declarations, analysis, offset);
  if (item == nullptr) return {};
  std::vector<Calls> found;
  std::vector<const Declaration*> others;
  for (const Call& call : CallsIn(declarations, analysis)) {
    const bool is_incoming = direction == Direction::kIncoming;
    if ((is_incoming ? call.callee : call.caller) != item) continue;
    const Declaration* other = is_incoming ? call.caller : call.callee;
    const auto at = llvm::find(others, other);
    const auto index = static_cast<size_t>(at - others.begin());
    if (at == others.end()) {
      others.push_back(other);
      found.push_back({ItemOf(*other, analysis), {}});
    }
    found[index].ranges.push_back(analysis.RangeOf(call.range));
  }
  return found;
}

}  // namespace

std::optional<CallItem> FindCallItem(const Analysis& analysis, uint32_t offset) {
  const std::vector<Declaration> declarations = DeclarationsOf(analysis.ast());
  const Declaration* item = DeclarationNamedAt(declarations, analysis, offset);
  return item == nullptr ? std::nullopt : std::optional(ItemOf(*item, analysis));
}

std::vector<Calls> IncomingCalls(const Analysis& analysis, uint32_t offset) {
  return FindCalls(analysis, offset, Direction::kIncoming);
}

std::vector<Calls> OutgoingCalls(const Analysis& analysis, uint32_t offset) {
  return FindCalls(analysis, offset, Direction::kOutgoing);
}

}  // namespace nnefc::language
