#include <optional>
#include <vector>

#include "compiler/semantics/checker.h"
#include "compiler/support/suggest.h"

namespace nnefc {

using namespace semantics;

namespace {

// Positions in the declarations of stdlib/control_flow.nnef.
constexpr size_t kIfInputs = 1, kThenBody = 2, kElseBody = 3;
constexpr size_t kSliced = 0, kMerged = 1, kLoopLists = 3, kLoopBody = 3;

}  // namespace

Callee Checker::FindControlFlow(const ast::InvocationExpr& invocation) {
  const Symbol name = invocation.callee.symbol;
  if (name != if_else_ && name != tensor_iterator_) return {};
  // A document without the extension may have fragments of these names.
  if (kind_ != CheckedKind::kModel || !IsRatified() || out_->by_name_.count(name) != 0) return {};
  if (out_->control_flow_ == nullptr && !told_control_flow_) {
    told_control_flow_ = true;
    DiagnosticBuilder builder = Report(kMissingControlFlowExtension, invocation.callee.range,
                                       "`{}` needs `extension {};`", Text(name), kControlFlowExtension);
    FixExtension(document_, kControlFlowExtension, builder);
  }
  return libraries_.ControlFlow().Find(name);
}

TypeId Checker::CheckControlFlow(ExprId id, const ast::InvocationExpr& invocation, Callee callee, Use use) {
  for (const ast::Argument& argument : invocation.arguments) CheckTensorList(argument.value);
  const Signature& signature = SignatureOf(callee);
  // Outputs are an array, which is no argument; what takes them is not judged.
  const bool is_chained = use == Use::kArgument;
  if (is_chained) CheckChaining(invocation, signature);
  llvm::SmallVector<ExprId, 12> slots(signature.parameters.size());
  bool is_valid = BindArguments(invocation, callee, slots) && CheckMissing(invocation, callee, slots);
  if (invocation.type_argument.has_value()) DeduceGeneric(invocation, signature, slots);
  is_valid &= CheckArgumentTypes(invocation, callee, slots, TypeId());
  if (!is_valid) return error_;
  if (signature.name.symbol == tensor_iterator_) {
    const Signature* body = FindBody(slots[kLoopBody]);
    const llvm::ArrayRef<ExprId> lists = llvm::ArrayRef<ExprId>(slots).take_front(kLoopLists);
    if (body == nullptr || !CheckBodyParameters(invocation, slots[kLoopBody], *body, lists) ||
        !CheckMergedResults(slots[kLoopBody], *body, slots)) {
      return error_;
    }
    Keep(id, {callee, slots, TypeId()});
    return is_chained ? error_ : OutputsType(*body);
  }
  const ExprId names[] = {slots[kThenBody], slots[kElseBody]};
  const Signature* const bodies[] = {FindBody(names[0]), FindBody(names[1])};
  for (size_t i = 0; i < 2; ++i) {
    if (bodies[i] != nullptr)
      is_valid &= CheckBodyParameters(invocation, names[i], *bodies[i], slots[kIfInputs]);
  }
  if (bodies[0] == nullptr || bodies[1] == nullptr || !is_valid || !CheckSameResults(names, bodies)) {
    return error_;
  }
  Keep(id, {callee, slots, TypeId()});
  return is_chained ? error_ : OutputsType(*bodies[0]);
}

// Of tensors of different data types, `[state, counter]`, the array is one of
// `tensor<>`, which no other operation takes.
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
    if (!is_standard) {
      for (const ast::Fragment& fragment : document_.fragments) suggestion.Offer(Text(fragment.name.symbol));
    }
    DiagnosticBuilder builder =
        Report(kBodyFragment, value.range, "the document has no fragment `{}`{}", text,
               is_standard                 ? "; a standard operation is no body"
               : suggestion.best().empty() ? ""
                                           : fmt::format("; did you mean `{}`?", suggestion.best()));
    if (!suggestion.best().empty()) builder.Fix(value.range, fmt::format("'{}'", suggestion.best()));
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

// The tensors of `slots`, arrays of tensors, are the arguments of the body.
bool Checker::CheckBodyParameters(const ast::InvocationExpr& invocation, ExprId name, const Signature& body,
                                  llvm::ArrayRef<ExprId> slots) {
  llvm::SmallVector<size_t, 3> counts;
  const std::optional<std::vector<TypeId>> given = ListedTypes(slots, counts);
  if (!given) return true;
  const std::string_view text = Text(body.name.symbol);
  if (given->size() != body.parameters.size()) {
    std::string lists;
    if (counts.size() == kLoopLists) {
      lists = fmt::format(" ({} sliced, {} merged, {} invariant)", counts[0], counts[1], counts[2]);
    }
    Report(kBodyParameters, expr(name).range,
           "the body `{}` has {} parameters, but `{}` gives it {} tensors{}", text, body.parameters.size(),
           Text(invocation.callee.symbol), given->size(), lists)
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

// The first results are the next values of the merged tensors.
bool Checker::CheckMergedResults(ExprId name, const Signature& body, llvm::ArrayRef<ExprId> slots) {
  llvm::SmallVector<size_t, 2> counts;
  const std::optional<std::vector<TypeId>> given =
      ListedTypes(slots.slice(kSliced, kMerged + 1), counts);  // sliced and merged
  if (!given) return true;
  const std::string_view text = Text(body.name.symbol);
  const size_t merged = counts[kMerged];
  if (body.results.size() < merged) {
    Report(kBodyResults, expr(name).range,
           "the body `{}` has {} results; expected one for each of {} merged tensors", text,
           body.results.size(), merged)
        .Note(body.name.range, "declared here");
    return false;
  }
  for (size_t i = 0; i < merged; ++i) {
    const TypedName& parameter = body.parameters[counts[kSliced] + i];
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
  if (types.empty()) return error_;  // the parser told
  const TypeId outputs = is_uniform ? types_.Array(types.front()) : types_.Tuple(types);
  return types_.WithinBounds(outputs) ? outputs : error_;
}

bool Checker::IsControlFlow(ExprId right) const {
  right = Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&expr(right).node)) {
    if (!IsControlFlow(select->value)) return false;
    right = Inner(select->otherwise);
  }
  const auto* invocation = std::get_if<ast::InvocationExpr>(&expr(right).node);
  if (invocation == nullptr || out_->control_flow_ == nullptr) return false;
  return out_->Find(invocation->callee.symbol).document == out_->control_flow_;
}

}  // namespace nnefc
