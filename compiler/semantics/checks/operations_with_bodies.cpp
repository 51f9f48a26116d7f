#include "compiler/semantics/checks/operations_with_bodies.h"

#include <numeric>
#include <optional>
#include <vector>

#include "compiler/semantics/checks/arguments.h"
#include "compiler/semantics/checks/binding.h"
#include "compiler/semantics/checks/expressions.h"
#include "compiler/semantics/checks/generics.h"
#include "compiler/semantics/checks/invocations.h"
#include "compiler/semantics/suggestions/names.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics::checks {
namespace {

// Returns the indices of the parameters that are arrays of tensors.
llvm::SmallVector<size_t, 3> TensorLists(const CheckContext& check, const Signature& signature) {
  llvm::SmallVector<size_t, 3> lists;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const TypeId type = signature.parameters[i].type;
    if (check.Kind(type) == TypeKind::kArray && check.types.ContainsTensor(type)) lists.push_back(i);
  }
  return lists;
}

// Checks an argument that may be an array of tensors of several data types, `[state, counter]`. Such an array
// has the item type `tensor<>`; no other operation accepts it.
void CheckTensorList(CheckContext& check, ExprId argument) {
  const auto* array = std::get_if<ast::ArrayExpr>(&check.expr(argument).node);
  if (array == nullptr) {
    CheckExpr(check, argument, Use::kArgument);
    return;
  }
  const TypeId any = check.types.Tensor(check.types.Primitive(TypeKind::kAny));
  TypeId common = check.types.Primitive(TypeKind::kAny);
  bool has_tensor = false;
  for (ExprId item : array->items) {
    const TypeId type = CheckExpr(check, item, Use::kArgument);
    has_tensor |= check.Kind(type) == TypeKind::kTensor;
    if (check.IsError(common)) continue;
    TypeId joined = check.CommonType(common, type);
    const bool fits = check.IsCastable(common, any) && check.IsCastable(type, any);
    if (!joined.valid() && has_tensor && fits) joined = any;
    if (!joined.valid()) {
      check.Report(kItemTypes, check.expr(item).range,
                   "the item is of type `{}`, those before it in the array of type `{}`", check.Text(type),
                   check.Text(common));
    }
    common = joined.valid() ? joined : check.error;
  }
  check.SetType(argument, check.Bounded(check.types.Array(common), check.expr(argument).range));
}

// Returns the types of the tensors in the arrays in `slots` and appends the arrays' lengths to `counts`;
// nothing if only expansion knows the lengths.
std::optional<std::vector<TypeId>> ListedTypes(const CheckContext& check, llvm::ArrayRef<ExprId> slots,
                                               llvm::SmallVectorImpl<size_t>& counts) {
  std::vector<TypeId> listed;
  for (ExprId slot : slots) {
    const auto* array = std::get_if<ast::ArrayExpr>(&check.expr(check.Inner(slot)).node);
    if (array == nullptr) return std::nullopt;
    listed.reserve(array->items.size());
    for (ExprId item : array->items) listed.push_back(check.TypeOf(item));
    counts.push_back(array->items.size());
  }
  return listed;
}

bool CheckBodyDeclaration(CheckContext& check, ExprId name, const ast::Fragment& fragment,
                          const Signature& body) {
  const std::string_view text = check.Text(body.name.symbol);
  auto refuse = [&](SourceRange place, std::string_view why, std::string_view what) {
    check.Report(kBodyDeclaration, check.expr(name).range, "`{}` cannot be a body: {}", text, why)
        .Note(place, "{}", what);
    return false;
  };
  if (body.is_generic) return refuse(fragment.name.range, "it is generic", "declared here");
  if (!body.has_body) return refuse(fragment.name.range, "it has no body of its own", "declared here");
  for (const TypedName& parameter : body.parameters) {
    if (check.IsError(parameter.type)) return false;
    if (check.Kind(parameter.type) == TypeKind::kTensor) continue;
    return refuse(parameter.name.range,
                  fmt::format("its parameter `{}` is of type `{}`; parameters of bodies are single tensors",
                              check.Text(parameter.name.symbol), check.Text(parameter.type)),
                  "declared here");
  }
  for (const TypedName& result : body.results) {
    if (check.IsError(result.type)) return false;
    if (check.Kind(result.type) == TypeKind::kTensor) continue;
    return refuse(result.name.range,
                  fmt::format("its result `{}` is of type `{}`; results of bodies are single tensors",
                              check.Text(result.name.symbol), check.Text(result.type)),
                  "declared here");
  }
  return true;
}

// Returns the fragment that a literal names, with a declaration valid for a body; otherwise reports an
// error and returns null.
const Signature* FindBody(CheckContext& check, ExprId name) {
  const ast::Expr& value = check.expr(check.Inner(name));
  const auto* literal = std::get_if<ast::StringLiteral>(&value.node);
  if (literal == nullptr) {
    check.Report(kBodyLiteral, value.range, "a body is named by a string literal");
    return nullptr;
  }
  const auto found = check.tables.by_name.find(literal->value);
  if (found == check.tables.by_name.end()) {
    const std::string_view text = check.Text(literal->value);
    const bool is_standard = check.out->Find(literal->value).valid();
    const suggestions::Proposal proposal =
        is_standard ? suggestions::Proposal{.hint = "; a standard operation cannot be a body"}
                    : suggestions::ForUnknownBody(check, value.range, text);
    DiagnosticBuilder builder =
        check.Report(kBodyFragment, value.range, "the document has no fragment `{}`{}", text, proposal.hint);
    proposal.AddFixes(builder);
    return nullptr;
  }
  const ast::Fragment& fragment = check.document.fragments[found->second];
  const Signature& body = check.out->signature(found->second);
  if (fragment.has_error || !CheckBodyDeclaration(check, name, fragment, body)) return nullptr;
  return &body;
}

// Checks that the tensors in `slots`, the arguments that are arrays of tensors, match the body's parameters.
bool CheckBodyParameters(CheckContext& check, ExprId name, const Signature& body, const Signature& signature,
                         llvm::ArrayRef<ExprId> slots) {
  llvm::SmallVector<size_t, 3> counts;
  const std::optional<std::vector<TypeId>> given = ListedTypes(check, slots, counts);
  if (!given) return true;
  const std::string_view text = check.Text(body.name.symbol);
  if (given->size() != body.parameters.size()) {
    std::string lists;  // " (1 sliced, 2 merged, 0 invariant)"
    const llvm::SmallVector<size_t, 3> parameters = TensorLists(check, signature);
    for (size_t i = 0; i < counts.size() && counts.size() > 1; ++i) {
      lists += fmt::format("{}{} {}", i == 0 ? " (" : ", ", counts[i],
                           check.Text(signature.parameters[parameters[i]].name.symbol));
    }
    if (!lists.empty()) lists += ')';
    check
        .Report(kBodyParameters, check.expr(name).range,
                "the body `{}` has {} parameters, but `{}` gives it {} tensors{}", text,
                body.parameters.size(), check.Text(signature.name.symbol), given->size(), lists)
        .Note(body.name.range, "declared here");
    return false;
  }
  bool is_valid = true;
  for (size_t i = 0; i < given->size(); ++i) {
    const TypedName& parameter = body.parameters[i];
    if (check.IsCastable((*given)[i], parameter.type)) continue;
    check
        .Report(kBodyParameterType, check.expr(name).range,
                "parameter `{}` of the body `{}` is of type `{}`, but is given `{}`",
                check.Text(parameter.name.symbol), text, check.Text(parameter.type), check.Text((*given)[i]))
        .Note(parameter.name.range, "declared here");
    is_valid = false;
  }
  return is_valid;
}

// Checks that both branches have results of the same types.
bool CheckSameResults(CheckContext& check, llvm::ArrayRef<ExprId> names,
                      llvm::ArrayRef<const Signature*> bodies) {
  const Signature& taken = *bodies[0];
  const Signature& other = *bodies[1];
  if (taken.results.size() != other.results.size()) {
    check
        .Report(kBodyResults, check.expr(names[1]).range, "the body `{}` has {} results, but `{}` has {}",
                check.Text(other.name.symbol), other.results.size(), check.Text(taken.name.symbol),
                taken.results.size())
        .Note(taken.name.range, "declared here")
        .Note(other.name.range, "declared here");
    return false;
  }
  for (size_t i = 0; i < taken.results.size(); ++i) {
    if (taken.results[i].type == other.results[i].type) continue;
    check
        .Report(kBodyResultType, check.expr(names[1]).range,
                "result `{}` of the body `{}` is of type `{}`, but result `{}` of `{}` is of type `{}`",
                check.Text(other.results[i].name.symbol), check.Text(other.name.symbol),
                check.Text(other.results[i].type), check.Text(taken.results[i].name.symbol),
                check.Text(taken.name.symbol), check.Text(taken.results[i].type))
        .Note(taken.results[i].name.range, "declared here");
    return false;
  }
  return true;
}

// Checks that the first results match the tensors in the list `merged`, if there is one: they are the next
// values.
bool CheckMergedResults(CheckContext& check, ExprId name, const Signature& body, const Signature& signature,
                        llvm::ArrayRef<ExprId> lists) {
  const llvm::SmallVector<size_t, 3> parameters = TensorLists(check, signature);
  const size_t list = static_cast<size_t>(
      llvm::find_if(parameters,
                    [&](size_t parameter) {
                      return check.Text(signature.parameters[parameter].name.symbol) == "merged";
                    }) -
      parameters.begin());
  if (list == parameters.size()) return true;
  llvm::SmallVector<size_t, 3> counts;
  const std::optional<std::vector<TypeId>> given = ListedTypes(check, lists.take_front(list + 1), counts);
  if (!given) return true;
  const std::string_view text = check.Text(body.name.symbol);
  const size_t merged = counts[list];
  const size_t before = std::accumulate(counts.begin(), counts.begin() + list, size_t{0});
  if (body.results.size() < merged) {
    check
        .Report(kBodyResults, check.expr(name).range,
                "the body `{}` has {} results; expected one for each of {} merged tensors", text,
                body.results.size(), merged)
        .Note(body.name.range, "declared here");
    return false;
  }
  for (size_t i = 0; i < merged; ++i) {
    const TypedName& parameter = body.parameters[before + i];
    const TypedName& result = body.results[i];
    if (check.IsCastable(result.type, parameter.type)) continue;
    check
        .Report(kBodyResultType, check.expr(name).range,
                "result `{}` of the body `{}` is of type `{}`, but is the next value of `{}` of type `{}`",
                check.Text(result.name.symbol), text, check.Text(result.type),
                check.Text(parameter.name.symbol), check.Text(parameter.type))
        .Note(result.name.range, "declared here");
    return false;
  }
  return true;
}

// Returns an array type for the results, or a tuple type if their data types differ.
TypeId OutputsType(CheckContext& check, const Signature& body) {
  llvm::SmallVector<TypeId, 4> types;
  bool is_uniform = true;
  for (const TypedName& result : body.results) {
    types.push_back(result.type);
    is_uniform &= result.type == types.front();
  }
  if (types.empty()) return check.error;  // reported by the parser
  const TypeId outputs = is_uniform ? check.types.Array(types.front()) : check.types.Tuple(types);
  return check.types.WithinBounds(outputs) ? outputs : check.error;
}

}  // namespace

TypeId CheckWithBodies(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Callee callee,
                       Use use) {
  for (const ast::Argument& argument : invocation.arguments) CheckTensorList(check, argument.value);
  const Signature& signature = check.SignatureOf(callee);
  // The outputs are an array and cannot be an argument; the enclosing invocation is not checked.
  const bool is_chained = use == Use::kArgument;
  if (is_chained) CheckChaining(check, invocation, signature);
  llvm::SmallVector<ExprId, 12> slots(signature.parameters.size());
  bool is_valid =
      BindArguments(check, invocation, callee, slots) && CheckMissing(check, invocation, callee, slots);
  if (HasTypeArgument(invocation)) DeduceGeneric(check, invocation, signature, slots);
  is_valid &= CheckArgumentTypes(check, invocation, callee, slots, TypeId());
  if (!is_valid) return check.error;
  llvm::SmallVector<ExprId, 3> lists;
  for (size_t list : TensorLists(check, signature)) lists.push_back(slots[list]);
  llvm::SmallVector<ExprId, 2> names;
  for (size_t i = 0; i < slots.size(); ++i) {
    if (signature.parameters[i].type == check.string) names.push_back(slots[i]);
  }
  llvm::SmallVector<const Signature*, 2> bodies;
  for (ExprId name : names) bodies.push_back(FindBody(check, name));
  for (size_t i = 0; i < names.size(); ++i) {
    is_valid &= bodies[i] != nullptr && CheckBodyParameters(check, names[i], *bodies[i], signature, lists) &&
                CheckMergedResults(check, names[i], *bodies[i], signature, lists);
  }
  if (!is_valid || (bodies.size() > 1 && !CheckSameResults(check, names, bodies))) return check.error;
  RecordBinding(check, id, {callee, slots, TypeId()});
  return is_chained ? check.error : OutputsType(check, *bodies[0]);
}

bool RunsBodies(const CheckContext& check, ExprId right) {
  right = check.Inner(right);
  while (const auto* select = std::get_if<ast::SelectExpr>(&check.expr(right).node)) {
    if (!RunsBodies(check, select->value)) return false;
    right = check.Inner(select->otherwise);
  }
  const auto* invocation = ast::Find<ast::InvocationExpr>(check.expr(right).node);
  if (invocation == nullptr) return false;
  const Callee callee = check.out->Find(invocation->callee.symbol);
  return callee.valid() && check.SignatureOf(callee).runs_bodies;
}

}  // namespace nnefc::semantics::checks
