#include "compiler/semantics/checker.h"
#include "compiler/support/suggest.h"
#include "compiler/syntax/parse.h"

namespace nnefc::semantics {

void Checker::CheckFragmentBody(ast::FragmentId id) {
  const ast::Fragment& fragment = document_.fragments[id];
  if (!fragment.has_body || IsProperties(fragment)) return;
  fragment_ = id;
  const Signature& signature = out_->signature(id);
  body_ = BodyKind::kFragment;
  body_range_ = fragment.body_range;
  in_generic_ = signature.is_generic;
  has_syntax_error_ = false;
  has_dropped_names_ = fragment.has_error || fragment.body.empty();  // reported by the parser
  scope_.Clear();
  llvm::SmallVector<ast::Name, 4> results;
  auto declare = [this](const TypedName& name, LocalKind kind) {
    if (Local* other = scope_.Find(name.name.symbol)) {  // duplicate, already reported: its type is unknown
      *other = {.kind = LocalKind::kUnknown, .type = error_, .declaration = other->declaration};
      return;
    }
    scope_.Add(name.name.symbol, {.kind = kind,
                                  .assigned = kind == LocalKind::kParameter,
                                  .type = name.type,
                                  .declaration = name.name.range});
  };
  for (const TypedName& parameter : signature.parameters) declare(parameter, LocalKind::kParameter);
  for (const TypedName& result : signature.results) {
    declare(result, LocalKind::kResult);
    results.push_back(result.name);
  }
  const bool is_sound = CheckAssignments(fragment.body);
  const bool is_assigned = !IsClosed(fragment.body_range) || CheckAssigned(results);
  const bool is_broken = !is_assigned || has_syntax_error_ || has_dropped_names_;
  if (is_broken) out_->broken_[static_cast<size_t>(id.index)] = true;
  if (is_broken || !is_sound) out_->unsound_[static_cast<size_t>(id.index)] = true;
}

void Checker::CheckGraphBody(const ast::Graph& graph) {
  CheckNames(graph.parameters, graph.results);
  body_ = BodyKind::kGraph;
  in_generic_ = false;
  has_syntax_error_ = false;
  has_dropped_names_ = graph.has_error || graph.body.empty();  // reported by the parser
  scope_.Clear();
  auto declare = [this](const ast::Name& name, LocalKind kind) {
    if (scope_.Find(name.symbol) != nullptr) return;  // duplicate, already reported
    scope_.Add(name.symbol, {.kind = kind, .type = error_, .declaration = name.range});
  };
  out_->symbols_ = SymbolsOf(document_, context_.symbols);
  for (const ast::Name& symbol : out_->symbols_) {
    scope_.Add(
        symbol.symbol,
        {.kind = LocalKind::kParameter, .assigned = true, .type = integer_, .declaration = symbol.range});
  }
  graph_parameters_ = graph.parameters;
  body_range_ = graph.body_range;
  for (const ast::Name& parameter : graph.parameters) declare(parameter, LocalKind::kGraphParameter);
  for (const ast::Name& result : graph.results) declare(result, LocalKind::kResult);
  CheckAssignments(graph.body);
  if (IsClosed(graph.body_range)) {
    CheckAssigned(graph.parameters);
    CheckAssigned(graph.results);
  }
  scope_.Clear();
}

bool Checker::CheckAssignments(llvm::ArrayRef<ast::Assignment> body) {
  bool is_sound = true;
  for (rest_ = body; !rest_.empty(); rest_ = rest_.drop_front()) {
    if (context_.emitter.exhausted()) {
      has_syntax_error_ = has_dropped_names_ = true;  // Later assignments are not checked.
      return false;
    }
    const ast::Assignment& assignment = rest_.front();
    has_error_ = false;
    externals_.clear();
    if (std::holds_alternative<ast::ErrorExpr>(expr(assignment.left).node)) has_dropped_names_ = true;
    // Check the right side first: `y = relu(y)` uses `y` before it is assigned.
    const TypeId type = CheckExpr(assignment.right);
    Assign(assignment.left, type, assignment.right, true);
    for (ExprId external : externals_) {
      // 3.3.1 of the provisional text requires one direction only.
      if (!dialect_.external_parameters || has_dropped_names_) break;
      ReportExternal(assignment, external);
    }
    if (!has_error_) continue;
    out_->unsound_assignments_.insert(assignment.left.index);
    is_sound = false;
  }
  return is_sound;
}

void Checker::ReportExternal(const ast::Assignment& assignment, ExprId external) {
  const auto* name = std::get_if<ast::IdentifierExpr>(&expr(assignment.left).node);
  const Local* local = name == nullptr ? nullptr : scope_.Find(name->name);
  const bool is_forgotten =
      local != nullptr && local->kind == LocalKind::kLocal && IsExternal(assignment.right);
  DiagnosticBuilder builder =
      Report(kExternalNotParameter, expr(external).range,
             "the result of `external` must be a parameter of the graph and nothing else{}",
             is_forgotten ? fmt::format("; add `{}` to the parameters", Text(name->name)) : "");
  if (!is_forgotten || graph_parameters_.empty()) return;
  const SourceRange last = graph_parameters_.back().range;
  builder.Fix({last.file, last.end, last.end}, fmt::format(", {}", Text(name->name)));
}

const Scope::Entry* Checker::FindMisspelt(Symbol result) {
  if (!MayCompare(scope_.entries().size())) return nullptr;
  Suggestion suggestion(Text(result));
  const auto is_candidate = [](const Scope::Entry& entry) {
    return entry.local.kind == LocalKind::kLocal && entry.local.assigned && entry.local.assignment.valid();
  };
  for (const Scope::Entry& entry : scope_.entries()) {
    if (is_candidate(entry)) suggestion.Offer(Text(entry.name));
  }
  if (!suggestion.is_unique()) return nullptr;
  for (const Scope::Entry& entry : scope_.entries()) {
    if (is_candidate(entry) && Text(entry.name) == suggestion.best()) return &entry;
  }
  return nullptr;
}

// Returns true if the body's text ends with its `}`. If it ends earlier, further assignments are unknown.
bool Checker::IsClosed(SourceRange body) const {
  return !body.valid() || SourceText(body).ends_with('}');
}

bool Checker::CheckAssigned(llvm::ArrayRef<ast::Name> names) {
  if (has_dropped_names_) return true;
  bool is_assigned = true;
  for (const ast::Name& name : names) {
    Local* local = scope_.Find(name.symbol);
    if (local == nullptr || local->assigned || local->declaration != name.range) continue;
    is_assigned = false;
    if (local->kind == LocalKind::kGraphParameter) {
      const std::string_view text = Text(name.symbol);
      Report(kGraphParameter, name.range,
             "parameter `{}` of the graph is not the result of an `external` operation{}", text,
             !ast::IsPlainName(text)
                 ? ""
                 : fmt::format("; write `{} = external{}(shape = [1,3,224,224]){}` with its own shape", text,
                               dialect_.generics ? "<scalar>" : "", dialect_.semicolons ? ";" : ""));
    } else {
      const Scope::Entry* other = FindMisspelt(name.symbol);
      DiagnosticBuilder builder =
          Report(kResultNotAssigned, name.range, "result `{}` is not assigned{}", Text(name.symbol),
                 other == nullptr ? "" : fmt::format("; `{}` is", Text(other->name)));
      if (other == nullptr) continue;
      // A name that is used elsewhere is intended.
      const std::string_view body = SourceText(body_range_);
      const std::string_view text = Text(other->name);
      if (body.find(text) == body.rfind(text) && IsOneSlip(text, Text(name.symbol)))
        builder.Fix(other->local.assignment, std::string(Text(name.symbol)), Applicability::kUnsafe);
      builder.Note(other->local.assignment, "`{}` is assigned here", text);
    }
  }
  return is_assigned;
}

void Checker::Assign(ExprId left, TypeId type, ExprId right, bool is_whole) {
  const ast::Expr& target = expr(left);
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&target.node)) {
    AssignIdentifier(left, identifier->name, type, right, is_whole);
    return;
  }
  if (const auto* array = std::get_if<ast::ArrayExpr>(&target.node)) {
    AssignArray(target, *array, type, right, is_whole);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(target.node)) {
    AssignTuple(target, *tuple, type, right, is_whole);
  } else {
    NNEFC_CHECK(std::holds_alternative<ast::ErrorExpr>(target.node));  // The grammar has no other form.
  }
}

// Expansion checks the length of the array on the right.
void Checker::AssignArray(const ast::Expr& left, const ast::ArrayExpr& items, TypeId type, ExprId right,
                          bool is_whole) {
  // Outputs of different data types: `[state, counter] = tensor_iterator(..)`.
  const bool is_listed = Kind(type) == TypeKind::kTuple && is_whole && RunsBodies(right);
  if (is_listed && types_.Items(type).size() != items.items.size()) {
    Report(kAssignmentStructure, left.range, "the left side has {} items, but the right side has {} outputs",
           items.items.size(), types_.Items(type).size());
    type = error_;
  } else if (Kind(type) != TypeKind::kArray && !IsError(type) && !is_listed) {
    DiagnosticBuilder builder = Report(kAssignmentStructure, left.range,
                                       "an array is on the left, but `{}` on the right", Text(type));
    const size_t expected = Kind(type) == TypeKind::kTuple ? types_.Items(type).size() : 1;
    if (items.items.size() == expected) {
      ReplaceBrackets(left.range, expected == 1 ? "" : "(", expected == 1 ? "" : ")", builder);
    }
    type = error_;
  }
  const auto* sources = std::get_if<ast::ArrayExpr>(&expr(Inner(right)).node);
  for (size_t i = 0; i < items.items.size(); ++i) {
    const bool is_known = is_whole && sources != nullptr && i < sources->items.size();
    const TypeId item = IsError(type) ? error_ : is_listed ? types_.Items(type)[i] : types_.Item(type);
    Assign(items.items[i], item, is_known ? sources->items[i] : right, is_known);
  }
}

void Checker::AssignTuple(const ast::Expr& left, const ast::TupleExpr& items, TypeId type, ExprId right,
                          bool is_whole) {
  const bool is_array = is_whole && RunsBodies(right);
  if (dialect_.loose_values && Kind(type) == TypeKind::kArray) {
    for (ExprId item : items.items) Assign(item, types_.Item(type), right, false);
    return;
  }
  if (!IsError(type) && (Kind(type) != TypeKind::kTuple || is_array)) {
    DiagnosticBuilder builder =
        Report(kAssignmentStructure, left.range, "a tuple is on the left, but {} on the right",
               is_array ? "an array" : fmt::format("`{}`", Text(type)));
    const bool unpacks_array = is_array || Kind(type) == TypeKind::kArray;
    if (unpacks_array && items.parenthesized) ReplaceBrackets(left.range, "[", "]", builder);
    if (unpacks_array && !items.parenthesized) {
      builder.Fix({left.range.file, left.range.begin, left.range.begin}, "[");
      builder.Fix({left.range.file, left.range.end, left.range.end}, "]");
    }
    type = error_;
  } else if (!IsError(type) && types_.Items(type).size() != items.items.size()) {
    Report(kAssignmentStructure, left.range, "the left side has {} items, but the right side `{}` has {}",
           items.items.size(), Text(type), types_.Items(type).size());
    type = error_;
  }
  const auto* sources = ast::Find<ast::TupleExpr>(expr(Inner(right)).node);
  for (size_t i = 0; i < items.items.size(); ++i) {
    const bool is_known = is_whole && sources != nullptr && i < sources->items.size();
    Assign(items.items[i], IsError(type) ? error_ : types_.Items(type)[i],
           is_known ? sources->items[i] : right, is_known);
  }
}

void Checker::AssignIdentifier(ExprId left, Symbol name, TypeId type, ExprId right, bool is_whole) {
  const SourceRange range = expr(left).range;
  Local* local = scope_.Find(name);
  const bool is_external = is_whole && body_ == BodyKind::kGraph && !externals_.empty() && IsExternal(right);
  const Origin origin = is_whole ? OriginOf(right) : Origin::kUndecided;
  if (body_ == BodyKind::kGraph && Kind(type) != TypeKind::kTensor && !IsError(type) &&
      !dialect_.values_in_graph) {
    ReportNotTensor(range, name, type, Kind(type) == TypeKind::kArray || RunsBodies(right));
    type = error_;
  }
  if (local == nullptr) {
    CheckArrayLength(range, name, type, right, is_whole);
    scope_.Add(name, {.kind = LocalKind::kLocal,
                      .origin = origin,
                      .assigned = true,
                      .type = type,
                      .declaration = range,
                      .assignment = range});
    return;
  }
  if (!CheckAssignable(range, name, *local)) {
    // Do not report it again as an external without a parameter.
    if (is_external) ForgetExternals(right);
    return;
  }
  if (local->kind == LocalKind::kGraphParameter) {
    if (is_external) {
      ForgetExternals(right);
    } else if (!IsError(type)) {
      Report(kGraphParameter, range, "parameter `{}` of the graph must be the result of `external`",
             Text(name))
          .Note(local->declaration, "declared here");
      externals_.clear();  // `x = relu(external(..))` is one error.
    }
  }
  if (local->kind == LocalKind::kResult && body_ == BodyKind::kFragment) {
    CheckResultType(local->declaration, name, local->type, type, right);
    type = local->type;
  }
  if (local->kind == LocalKind::kUnknown) CheckArrayLength(range, name, type, right, is_whole);
  local->assigned = true;
  local->assignment = range;
  local->origin = origin;
  local->type = type;
  if (local->kind == LocalKind::kUnknown) local->kind = LocalKind::kLocal;
}

// 3.3.2 of the ratified text: a single name may denote an array of tensors only if an array expression
// computes it, directly or in the body of a compound. Results of fragments are checked where the fragment is
// invoked.
void Checker::CheckArrayLength(SourceRange range, Symbol name, TypeId type, ExprId right, bool is_whole) {
  if (!dialect_.counted_arrays || dialect_.loose_values || kind_ != CheckedKind::kModel || !is_whole) return;
  if (Kind(type) != TypeKind::kArray || !types_.ContainsTensor(type)) return;
  const Symbol primitive = PrimitiveBehind(right);
  if (!primitive.valid()) return;
  Report(kPrimitiveArray, range,
         "`{}` covers an array that `{}` makes, a primitive, so that its length is unknown; unpack it with "
         "`[.., ..] =`",
         Text(name), Text(primitive));
}

Symbol Checker::PrimitiveBehind(ExprId right) const {
  constexpr int kMaxLinks = 100;  // Expansion reports infinite recursion.
  const CheckedDocument* document = out_.get();
  for (int link = 0; link < kMaxLinks; ++link) {
    const auto& exprs = document->ast().exprs;
    while (const auto* paren = std::get_if<ast::ParenExpr>(&exprs[right].node)) right = paren->inner;
    const auto* invocation = ast::Find<ast::InvocationExpr>(exprs[right].node);
    if (invocation == nullptr) return {};
    const Callee callee = document->Find(invocation->callee.symbol);
    if (!callee.valid() || SignatureOf(callee).results.size() != 1) return {};
    if (SignatureOf(callee).runs_bodies) return {};  // The bodies determine the length.
    if (!SignatureOf(callee).has_body) return invocation->callee.symbol;
    const Symbol result = SignatureOf(callee).results[0].name.symbol;
    document = callee.document;
    const auto& body = document->ast().fragments[callee.fragment].body;
    const auto assignment = llvm::find_if(body, [&](const ast::Assignment& candidate) {
      const auto* left = std::get_if<ast::IdentifierExpr>(&document->ast().exprs[candidate.left].node);
      return left != nullptr && left->name == result;
    });
    if (assignment == body.end()) return {};
    right = assignment->right;
  }
  return {};
}

bool Checker::CheckAssignable(SourceRange range, Symbol name, const Local& local) {
  if (local.kind == LocalKind::kUnknown) return true;
  if (local.kind == LocalKind::kParameter) {
    Report(kParameterAssigned, range, "parameter `{}` cannot be assigned", Text(name))
        .Note(local.declaration, "declared here");
    return false;
  }
  if (!local.assigned) return true;
  if (dialect_.reassignment && local.kind != LocalKind::kGraphParameter) {
    Deviate(kLenientReassigned, range, "`{}` is assigned twice; the later value counts from here on",
            Text(name));
    return true;
  }
  Report(kReassigned, range, "`{}` is assigned twice", Text(name))
      .Note(local.assignment, "first assigned here");
  return false;
}

void Checker::CheckResultType(SourceRange declaration, Symbol name, TypeId declared, TypeId type,
                              ExprId right) {
  if (IsCastable(types_, dialect_, type, declared)) return;
  DiagnosticBuilder builder =
      Report(kTypeMismatch, expr(right).range, "result `{}` is of type `{}`; got `{}`", Text(name),
             Text(declared), Text(type));
  if (TypeOf(right) == type) FixScalars(right, declared, builder);
  builder.Note(declaration, "declared here");
}

void Checker::ReportNotTensor(SourceRange range, Symbol name, TypeId type, bool is_array) {
  const bool can_unpack = types_.ContainsTensor(type);
  Report(kGraphIdentifierType, range, "`{}` is of type `{}`; names in the body of a graph are tensors{}",
         Text(name), Text(type),
         !can_unpack ? "; `constant` and `variable` make one"
         : is_array  ? ", unpack the array with `[.., ..] =`"
                     : ", unpack the tuple with `(.., ..) =`");
}

}  // namespace nnefc::semantics
