#include <numeric>
#include <optional>
#include <vector>

#include "compiler/semantics/checker.h"
#include "compiler/support/suggest.h"

namespace nnefc::semantics {

TypeId Checker::CheckWithBodies(ExprId id, const ast::InvocationExpr& invocation, Callee callee, Use use) {
  for (const ast::Argument& argument : invocation.arguments) CheckTensorList(argument.value);
  const Signature& signature = SignatureOf(callee);
  // The outputs are an array and cannot be an argument; the enclosing invocation is not checked.
  const bool is_chained = use == Use::kArgument;
  if (is_chained) CheckChaining(invocation, signature);
  llvm::SmallVector<ExprId, 12> slots(signature.parameters.size());
  bool is_valid = BindArguments(invocation, callee, slots) && CheckMissing(invocation, callee, slots);
  if (HasTypeArgument(invocation)) DeduceGeneric(invocation, signature, slots);
  is_valid &= CheckArgumentTypes(invocation, callee, slots, TypeId());
  if (!is_valid) return error_;
  llvm::SmallVector<ExprId, 3> lists;
  for (size_t list : TensorLists(signature)) lists.push_back(slots[list]);
  llvm::SmallVector<ExprId, 2> names;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (signature.parameters[i].type == string_) names.push_back(slots[i]);
  }
  llvm::SmallVector<const Signature*, 2> bodies;
  for (ExprId name : names) bodies.push_back(FindBody(name));
  for (size_t i = 0; i < names.size(); ++i) {
    is_valid &= bodies[i] != nullptr && CheckBodyParameters(names[i], *bodies[i], signature, lists) &&
                CheckMergedResults(names[i], *bodies[i], signature, lists);
  }
  if (!is_valid || (bodies.size() > 1 && !CheckSameResults(names, bodies))) return error_;
  Keep(id, {callee, slots, TypeId()});
  return is_chained ? error_ : OutputsType(*bodies[0]);
}

llvm::SmallVector<size_t, 3> Checker::TensorLists(const Signature& signature) const {
  llvm::SmallVector<size_t, 3> lists;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const TypeId type = signature.parameters[i].type;
    if (Kind(type) == TypeKind::kArray && types_.ContainsTensor(type)) lists.push_back(i);
  }
  return lists;
}

// An array of tensors of different data types, `[state, counter]`, has the item type `tensor<>`; no other
// operation accepts it.
void Checker::CheckTensorList(ExprId argument) {
  const auto* array = std::get_if<ast::ArrayExpr>(&expr(argument).node);
  if (array == nullptr) {
    CheckExpr(argument, Use::kArgument);
    return;
  }
  const TypeId any = types_.Tensor(types_.Primitive(TypeKind::kAny));
  TypeId common = types_.Primitive(TypeKind::kAny);
  bool has_tensor = false;
  for (ExprId item : array->items) {
    const TypeId type = CheckExpr(item, Use::kArgument);
    has_tensor |= Kind(type) == TypeKind::kTensor;
    if (IsError(common)) continue;
    TypeId joined = CommonType(types_, dialect_, common, type);
    const bool fits = IsCastable(types_, dialect_, common, any) && IsCastable(types_, dialect_, type, any);
    if (!joined.valid() && has_tensor && fits) joined = any;
    if (!joined.valid()) {
      Report(kItemTypes, expr(item).range,
             "the item is of type `{}`, those before it in the array of type `{}`", Text(type), Text(common));
    }
    common = joined.valid() ? joined : error_;
  }
  SetType(argument, Bounded(types_.Array(common), expr(argument).range));
}

std::optional<std::vector<TypeId>> Checker::ListedTypes(llvm::ArrayRef<ExprId> slots,
                                                        llvm::SmallVectorImpl<size_t>& counts) const {
  std::vector<TypeId> listed;
  for (ExprId slot : slots) {
    const auto* array = std::get_if<ast::ArrayExpr>(&expr(Inner(slot)).node);
    if (array == nullptr) return std::nullopt;
    listed.reserve(array->items.size());
    for (ExprId item : array->items) listed.push_back(TypeOf(item));
    counts.push_back(array->items.size());
  }
  return listed;
}

const Signature* Checker::FindBody(ExprId name) {
  const ast::Expr& value = expr(Inner(name));
  const auto* literal = std::get_if<ast::StringLiteral>(&value.node);
  if (literal == nullptr) {
    Report(kBodyLiteral, value.range, "a body is named by a string literal");
    return nullptr;
  }
  const auto found = out_->by_name_.find(literal->value);
  if (found == out_->by_name_.end()) {
    const std::string_view text = Text(literal->value);
    const bool is_standard = out_->Find(literal->value).valid();
    Suggestion suggestion(text);
    if (!is_standard && MayCompare(document_.fragments.size())) {
      for (const ast::Fragment& fragment : document_.fragments) suggestion.Offer(Text(fragment.name.symbol));
    }
    DiagnosticBuilder builder =
        Report(kBodyFragment, value.range, "the document has no fragment `{}`{}", text,
               is_standard                 ? "; a standard operation cannot be a body"
               : suggestion.best().empty() ? ""
                                           : fmt::format("; did you mean `{}`?", suggestion.best()));
    if (suggestion.is_typo())
      builder.Fix(value.range, fmt::format("'{}'", suggestion.best()),
                  suggestion.is_spelling() ? Applicability::kSafe : Applicability::kUnsafe);
    return nullptr;
  }
  const ast::Fragment& fragment = document_.fragments[found->second];
  const Signature& body = out_->signature(found->second);
  if (fragment.has_error || !CheckBodyDeclaration(name, fragment, body)) return nullptr;
  return &body;
}

bool Checker::CheckBodyDeclaration(ExprId name, const ast::Fragment& fragment, const Signature& body) {
  const std::string_view text = Text(body.name.symbol);
  auto refuse = [&](SourceRange place, std::string_view why, std::string_view what) {
    Report(kBodyDeclaration, expr(name).range, "`{}` cannot be a body: {}", text, why)
        .Note(place, "{}", what);
    return false;
  };
  if (body.is_generic) return refuse(fragment.name.range, "it is generic", "declared here");
  if (!body.has_body) return refuse(fragment.name.range, "it has no body of its own", "declared here");
  for (const TypedName& parameter : body.parameters) {
    if (IsError(parameter.type)) return false;
    if (Kind(parameter.type) == TypeKind::kTensor) continue;
    return refuse(parameter.name.range,
                  fmt::format("its parameter `{}` is of type `{}`; parameters of bodies are single tensors",
                              Text(parameter.name.symbol), Text(parameter.type)),
                  "declared here");
  }
  for (const TypedName& result : body.results) {
    if (IsError(result.type)) return false;
    if (Kind(result.type) == TypeKind::kTensor) continue;
    return refuse(result.name.range,
                  fmt::format("its result `{}` is of type `{}`; results of bodies are single tensors",
                              Text(result.name.symbol), Text(result.type)),
                  "declared here");
  }
  return true;
}

bool Checker::CheckBodyParameters(ExprId name, const Signature& body, const Signature& signature,
                                  llvm::ArrayRef<ExprId> slots) {
  llvm::SmallVector<size_t, 3> counts;
  const std::optional<std::vector<TypeId>> given = ListedTypes(slots, counts);
  if (!given) return true;
  const std::string_view text = Text(body.name.symbol);
  if (given->size() != body.parameters.size()) {
    std::string lists;  // " (1 sliced, 2 merged, 0 invariant)"
    const llvm::SmallVector<size_t, 3> parameters = TensorLists(signature);
    for (size_t i = 0; i < counts.size() && counts.size() > 1; ++i) {
      lists += fmt::format("{}{} {}", i == 0 ? " (" : ", ", counts[i],
                           Text(signature.parameters[parameters[i]].name.symbol));
    }
    if (!lists.empty()) lists += ')';
    Report(kBodyParameters, expr(name).range,
           "the body `{}` has {} parameters, but `{}` gives it {} tensors{}", text, body.parameters.size(),
           Text(signature.name.symbol), given->size(), lists)
        .Note(body.name.range, "declared here");
    return false;
  }
  bool is_valid = true;
  for (size_t i = 0; i < given->size(); ++i) {
    const TypedName& parameter = body.parameters[i];
    if (IsCastable(types_, dialect_, (*given)[i], parameter.type)) continue;
    Report(kBodyParameterType, expr(name).range,
           "parameter `{}` of the body `{}` is of type `{}`, but is given `{}`", Text(parameter.name.symbol),
           text, Text(parameter.type), Text((*given)[i]))
        .Note(parameter.name.range, "declared here");
    is_valid = false;
  }
  return is_valid;
}

bool Checker::CheckSameResults(llvm::ArrayRef<ExprId> names, llvm::ArrayRef<const Signature*> bodies) {
  const Signature& taken = *bodies[0];
  const Signature& other = *bodies[1];
  if (taken.results.size() != other.results.size()) {
    Report(kBodyResults, expr(names[1]).range, "the body `{}` has {} results, but `{}` has {}",
           Text(other.name.symbol), other.results.size(), Text(taken.name.symbol), taken.results.size())
        .Note(taken.name.range, "declared here")
        .Note(other.name.range, "declared here");
    return false;
  }
  for (size_t i = 0; i < taken.results.size(); ++i) {
    if (taken.results[i].type == other.results[i].type) continue;
    Report(kBodyResultType, expr(names[1]).range,
           "result `{}` of the body `{}` is of type `{}`, but result `{}` of `{}` is of type `{}`",
           Text(other.results[i].name.symbol), Text(other.name.symbol), Text(other.results[i].type),
           Text(taken.results[i].name.symbol), Text(taken.name.symbol), Text(taken.results[i].type))
        .Note(taken.results[i].name.range, "declared here");
    return false;
  }
  return true;
}

// Checks that the first results match the tensors in the list `merged`, if there is one: they are the next
// values.
bool Checker::CheckMergedResults(ExprId name, const Signature& body, const Signature& signature,
                                 llvm::ArrayRef<ExprId> lists) {
  const llvm::SmallVector<size_t, 3> parameters = TensorLists(signature);
  const size_t list = static_cast<size_t>(
      llvm::find_if(
          parameters,
          [&](size_t parameter) { return Text(signature.parameters[parameter].name.symbol) == "merged"; }) -
      parameters.begin());
  if (list == parameters.size()) return true;
  llvm::SmallVector<size_t, 3> counts;
  const std::optional<std::vector<TypeId>> given = ListedTypes(lists.take_front(list + 1), counts);
  if (!given) return true;
  const std::string_view text = Text(body.name.symbol);
  const size_t merged = counts[list];
  const size_t before = std::accumulate(counts.begin(), counts.begin() + list, size_t{0});
  if (body.results.size() < merged) {
    Report(kBodyResults, expr(name).range,
           "the body `{}` has {} results; expected one for each of {} merged tensors", text,
           body.results.size(), merged)
        .Note(body.name.range, "declared here");
    return false;
  }
  for (size_t i = 0; i < merged; ++i) {
    const TypedName& parameter = body.parameters[before + i];
    const TypedName& result = body.results[i];
    if (IsCastable(types_, dialect_, result.type, parameter.type)) continue;
    Report(kBodyResultType, expr(name).range,
           "result `{}` of the body `{}` is of type `{}`, but is the next value of `{}` of type `{}`",
           Text(result.name.symbol), text, Text(result.type), Text(parameter.name.symbol),
           Text(parameter.type))
        .Note(result.name.range, "declared here");
    return false;
  }
  return true;
}

TypeId Checker::OutputsType(const Signature& body) {
  llvm::SmallVector<TypeId, 4> types;
  bool is_uniform = true;
  for (const TypedName& result : body.results) {
    types.push_back(result.type);
    is_uniform &= result.type == types.front();
  }
  if (types.empty()) return error_;  // reported by the parser
  const TypeId outputs = is_uniform ? types_.Array(types.front()) : types_.Tuple(types);
  return types_.WithinBounds(outputs) ? outputs : error_;
}

bool Checker::RunsBodies(ExprId right) const {
  right = Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&expr(right).node)) {
    if (!RunsBodies(select->value)) return false;
    right = Inner(select->otherwise);
  }
  const auto* invocation = ast::Find<ast::InvocationExpr>(expr(right).node);
  if (invocation == nullptr) return false;
  const Callee callee = out_->Find(invocation->callee.symbol);
  return callee.valid() && SignatureOf(callee).runs_bodies;
}

}  // namespace nnefc::semantics
