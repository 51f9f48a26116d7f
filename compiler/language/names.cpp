// The index of the names in a document: entities with their occurrences.

#include "compiler/language/names.h"

#include <algorithm>

#include "compiler/syntax/walk.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::language {

NameIndex::NameIndex(const semantics::CheckedDocument& document)
    : document_(document),
      ast_(document.ast()),
      error_(document.types().Primitive(semantics::TypeKind::kError)) {
  DeclareFragments();
  for (size_t i = 0; i < ast_.fragments.size(); ++i) IndexFragment(ast::FragmentId(static_cast<int32_t>(i)));
  for (const ast::Graph& graph : ast_.graphs) IndexGraph(graph);
  std::ranges::stable_sort(occurrences_, {}, [](const Occurrence& each) { return each.range.begin; });
  std::ranges::stable_sort(bodies_, {}, [](const BodyScope& each) { return each.range.begin; });
}

const Occurrence* NameIndex::At(uint32_t offset) const {
  auto after = std::upper_bound(occurrences_.begin(), occurrences_.end(), offset,
                                [](uint32_t at, const Occurrence& o) { return at < o.range.begin; });
  if (after == occurrences_.begin()) return nullptr;
  const Occurrence& found = *std::prev(after);
  return offset <= found.range.end ? &found : nullptr;
}

const BodyScope* NameIndex::BodyAt(uint32_t offset) const {
  auto after = std::upper_bound(bodies_.begin(), bodies_.end(), offset,
                                [](uint32_t at, const BodyScope& body) { return at < body.range.begin; });
  if (after == bodies_.begin()) return nullptr;
  const BodyScope& found = *std::prev(after);
  return offset <= found.range.end ? &found : nullptr;
}

int32_t NameIndex::Add(Entity entity) {
  entities_.push_back(entity);
  return static_cast<int32_t>(entities_.size()) - 1;
}

void NameIndex::Occur(SourceRange range, int32_t entity, bool is_declaration) {
  if (entity >= 0 && range.file == ast_.file) occurrences_.push_back({range, entity, is_declaration});
}

// Entities of the document's fragments come first, in order.
void NameIndex::DeclareFragments() {
  for (size_t i = 0; i < ast_.fragments.size(); ++i) {
    const ast::FragmentId id(static_cast<int32_t>(i));
    const ast::Fragment& fragment = ast_.fragments[id];
    const int32_t entity = Add({.kind = EntityKind::kFragment,
                                .name = fragment.name.symbol,
                                .declaration = fragment.name.range,
                                .callee = {&document_, id}});
    if (fragment.name.symbol.valid()) Occur(fragment.name.range, entity, true);
  }
  parameters_.resize(ast_.fragments.size());
  for (size_t i = 0; i < ast_.fragments.size(); ++i) {
    const ast::FragmentId id(static_cast<int32_t>(i));
    const semantics::Signature& signature = document_.signature(id);
    for (size_t p = 0; p < signature.parameters.size(); ++p) {
      const semantics::TypedName& parameter = signature.parameters[p];
      parameters_[i].push_back(Add({.kind = EntityKind::kParameter,
                                    .name = parameter.name.symbol,
                                    .declaration = parameter.name.range,
                                    .type = parameter.type,
                                    .callee = {&document_, id},
                                    .parameter = static_cast<int32_t>(p)}));
      Occur(parameter.name.range, parameters_[i].back(), true);
    }
  }
}

int32_t NameIndex::EntityOf(semantics::Callee callee) {
  if (!callee.valid()) return -1;
  if (callee.document == &document_) return callee.fragment.index;
  auto [entry, is_new] = operations_.try_emplace({callee.document, callee.fragment.index});
  if (is_new) {
    const ast::Name& name = callee.document->signature(callee.fragment).name;
    entry->second = Add(
        {.kind = EntityKind::kOperation, .name = name.symbol, .declaration = name.range, .callee = callee});
  }
  return entry->second;
}

int32_t NameIndex::ParameterOf(semantics::Callee callee, Symbol name) {
  if (!callee.valid()) return -1;
  const semantics::Signature& signature = callee.document->signature(callee.fragment);
  const auto found = llvm::find_if(signature.parameters,
                                   [&](const semantics::TypedName& p) { return p.name.symbol == name; });
  if (found == signature.parameters.end()) return -1;
  const auto index = static_cast<int32_t>(found - signature.parameters.begin());
  if (callee.document == &document_)
    return parameters_[static_cast<size_t>(callee.fragment.index)][static_cast<size_t>(index)];
  auto [entry, is_new] = operation_parameters_.try_emplace({{callee.document, callee.fragment.index}, index});
  if (is_new) {
    entry->second = Add({.kind = EntityKind::kParameter,
                         .name = name,
                         .declaration = found->name.range,
                         .type = found->type,
                         .callee = callee,
                         .parameter = index});
  }
  return entry->second;
}

void NameIndex::IndexFragment(ast::FragmentId id) {
  const ast::Fragment& fragment = ast_.fragments[id];
  const semantics::Signature& signature = document_.signature(id);
  scope_.clear();
  BodyScope scope{fragment.has_body ? fragment.body_range : SourceRange(), {}};
  for (int32_t parameter : parameters_[static_cast<size_t>(id.index)]) {
    scope_.try_emplace(entity(parameter).name, parameter);
    scope.names.emplace_back(parameter, 0);
  }
  for (const semantics::TypedName& result : signature.results) {
    const int32_t entity = Add({.kind = EntityKind::kResult,
                                .name = result.name.symbol,
                                .declaration = result.name.range,
                                .type = result.type});
    Occur(result.name.range, entity, true);
    scope_.try_emplace(result.name.symbol, entity);
  }
  for (const semantics::TypedName& parameter : signature.parameters) {
    if (parameter.default_value.valid()) IndexExpr(parameter.default_value);
  }
  if (!fragment.has_body) return;
  bodies_.push_back(std::move(scope));
  IndexBody(fragment.body, fragment.body_range, false);
}

void NameIndex::IndexGraph(const ast::Graph& graph) {
  scope_.clear();
  if (graph.name.symbol.valid()) {
    Occur(graph.name.range,
          Add({.kind = EntityKind::kGraph, .name = graph.name.symbol, .declaration = graph.name.range}),
          true);
  }
  auto declare = [&](const ast::Name& name, EntityKind kind) {
    const int32_t entity =
        Add({.kind = kind, .name = name.symbol, .declaration = name.range, .type = error_, .in_graph = true});
    Occur(name.range, entity, true);
    scope_.try_emplace(name.symbol, entity);
  };
  for (const ast::Name& name : graph.parameters) declare(name, EntityKind::kInput);
  for (const ast::Name& name : graph.results) declare(name, EntityKind::kResult);
  bodies_.push_back({graph.body_range, {}});
  IndexBody(graph.body, graph.body_range, true);
}

void NameIndex::IndexBody(llvm::ArrayRef<ast::Assignment> body, SourceRange range, bool in_graph) {
  BodyScope& scope = bodies_.back();
  if (!scope.range.valid() && !body.empty()) scope.range = Cover(body.front().range, body.back().range);
  // Declare all names first, so that a name used too early is known.
  for (const ast::Assignment& assignment : body) {
    if (!assignment.left.valid()) continue;
    const bool has_right = assignment.right.valid();
    Declare(assignment.left, has_right ? TypeOf(assignment.right) : error_, assignment.right, -1, in_graph,
            scope);
    // A name has its value after its statement.
    for (auto& [name, offset] : llvm::reverse(scope.names)) {
      if (offset != UINT32_MAX) break;
      offset = assignment.range.end;
    }
  }
  for (const ast::Assignment& assignment : body) {
    if (assignment.right.valid()) IndexExpr(assignment.right);
  }
}

// Recursion is bounded by the nesting limit of the syntax.
void NameIndex::Declare(ast::ExprId left, semantics::TypeId type, ast::ExprId value, int32_t item,
                        bool in_graph, BodyScope& scope) {
  const semantics::TypeTable& types = document_.types();
  const ast::Expr& target = ast_.exprs[left];
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&target.node)) {
    auto [entry, is_new] = scope_.try_emplace(identifier->name, -1);
    if (is_new) {
      entry->second = Add({.kind = EntityKind::kLocal,
                           .name = identifier->name,
                           .declaration = target.range,
                           .type = type,
                           .in_graph = in_graph});
    }
    Entity& assigned = entities_[static_cast<size_t>(entry->second)];
    if (!assigned.value.valid() && assigned.kind != EntityKind::kParameter) {
      if (types.Kind(assigned.type) == semantics::TypeKind::kError) assigned.type = type;
      assigned.value = value;
      assigned.item = item;
      scope.names.emplace_back(entry->second, UINT32_MAX);
    }
    Occur(target.range, entry->second, is_new);
    return;
  }
  llvm::ArrayRef<ast::ExprId> items;
  if (const auto* array = std::get_if<ast::ArrayExpr>(&target.node)) items = array->items;
  if (const auto* tuple = ast::Find<ast::TupleExpr>(target.node)) items = tuple->items;
  for (size_t i = 0; i < items.size(); ++i) {
    semantics::TypeId of_item = error_;
    if (types.Kind(type) == semantics::TypeKind::kArray) {
      of_item = types.Item(type);
    } else if (types.Kind(type) == semantics::TypeKind::kTuple && i < types.Items(type).size()) {
      of_item = types.Items(type)[i];
    }
    // Values destructured at two levels are not tracked.
    Declare(items[i], of_item, item < 0 ? value : ast::ExprId(), static_cast<int32_t>(i), in_graph, scope);
  }
}

// Iterative traversal. Iterators are in scope in the condition and body of their loop.
void NameIndex::IndexExpr(ast::ExprId root) {
  enum class Step : uint8_t { kVisit, kEnter, kLeave };
  llvm::SmallVector<std::pair<Step, ast::ExprId>, 32> pending{{Step::kVisit, root}};
  while (!pending.empty()) {
    const auto [step, id] = pending.pop_back_val();
    const ast::Expr& expr = ast_.exprs[id];
    const auto* loop = ast::Find<ast::ComprehensionExpr>(expr.node);
    if (step == Step::kEnter) {
      EnterLoop(*loop);
    } else if (step == Step::kLeave) {
      LeaveLoop(*loop);
    } else if (loop != nullptr) {
      pending.emplace_back(Step::kLeave, id);
      if (loop->body.valid()) pending.emplace_back(Step::kVisit, loop->body);
      if (loop->condition.valid()) pending.emplace_back(Step::kVisit, loop->condition);
      pending.emplace_back(Step::kEnter, id);
      for (const ast::Iterator& iterator : loop->iterators) {
        if (iterator.iterable.valid()) pending.emplace_back(Step::kVisit, iterator.iterable);
      }
    } else {
      if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&expr.node)) {
        const auto inner = llvm::find_if(llvm::reverse(iterators_),
                                         [&](const auto& entry) { return entry.first == identifier->name; });
        const auto outer = scope_.find(identifier->name);
        if (inner != iterators_.rend()) {
          Occur(expr.range, inner->second);
        } else if (outer != scope_.end()) {
          Occur(expr.range, outer->second);
        }
      } else if (const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node)) {
        IndexInvocation(*invocation);
      }
      ast::ForEachChild(expr, [&](ast::ExprId child) { pending.emplace_back(Step::kVisit, child); });
    }
  }
}

void NameIndex::IndexInvocation(const ast::InvocationExpr& invocation) {
  if (!invocation.callee.symbol.valid()) return;
  const semantics::Callee callee = document_.Find(invocation.callee.symbol);
  Occur(invocation.callee.range, EntityOf(callee));
  for (const ast::Argument& argument : invocation.arguments) {
    if (argument.name) Occur(argument.name->range, ParameterOf(callee, argument.name->symbol));
  }
}

void NameIndex::EnterLoop(const ast::ComprehensionExpr& loop) {
  const semantics::TypeTable& types = document_.types();
  for (const ast::Iterator& iterator : loop.iterators) {
    const semantics::TypeId type = iterator.iterable.valid() ? TypeOf(iterator.iterable) : error_;
    const int32_t entity =
        Add({.kind = EntityKind::kIterator,
             .name = iterator.name.symbol,
             .declaration = iterator.name.range,
             .type = types.Kind(type) == semantics::TypeKind::kArray ? types.Item(type) : error_});
    Occur(iterator.name.range, entity, true);
    iterators_.emplace_back(iterator.name.symbol, entity);
  }
}

void NameIndex::LeaveLoop(const ast::ComprehensionExpr& loop) {
  iterators_.resize(iterators_.size() - loop.iterators.size());
}

semantics::TypeId NameIndex::TypeOf(ast::ExprId expr) const {
  const semantics::TypeId type = document_.type(expr);
  return type.valid() ? type : error_;
}

}  // namespace nnefc::language
