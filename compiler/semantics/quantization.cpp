// The checker of quantization files.

#include "compiler/semantics/quantization.h"

#include <utility>

#include "compiler/semantics/check_context.h"
#include "compiler/semantics/checks/arguments.h"
#include "compiler/semantics/checks/binding.h"
#include "compiler/semantics/checks/expressions.h"
#include "compiler/semantics/checks/invocations.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::semantics {
namespace {

// Returns true for `min = [[-1.0, -2.0]]` for a tensor: an array of values of its data type, with arrays of
// one length at each level.
bool IsTensorLiteral(CheckContext& check, ExprId argument, TypeId expected) {
  if (!check.dialect.nested_tensors || check.Kind(expected) != TypeKind::kTensor) return false;
  TypeId item = check.TypeOf(argument);
  if (check.Kind(item) != TypeKind::kArray) return false;
  while (check.Kind(item) == TypeKind::kArray) item = check.types.Item(item);
  if (!check.IsCastable(item, expected)) return false;
  llvm::SmallVector<ExprId, 8> level{argument};
  while (true) {
    const auto* first = std::get_if<ast::ArrayExpr>(&check.expr(check.Inner(level[0])).node);
    if (first == nullptr) return true;
    llvm::SmallVector<ExprId, 8> next;
    for (ExprId id : level) {
      const auto* array = std::get_if<ast::ArrayExpr>(&check.expr(check.Inner(id)).node);
      if (array == nullptr) return true;  // computed by an expression: checked by its value
      if (array->items.size() != first->items.size()) {
        check.Report(kQuantizationJagged, check.expr(id).range,
                     "the array has {} items, the first one of its level {}", array->items.size(),
                     first->items.size());
        return true;
      }
      next.append(array->items.begin(), array->items.end());
    }
    if (next.empty()) return true;
    level = std::move(next);
  }
}

// Checks an entry's invocation. Its first parameter is the tensor named by the key.
void CheckQuantizer(CheckContext& check, ExprId id, const ast::InvocationExpr& invocation, Callee callee) {
  const Signature& signature = check.SignatureOf(callee);
  const std::string_view name = check.Text(signature.name.symbol);
  const bool takes_tensor =
      !signature.parameters.empty() && check.Kind(signature.parameters[0].type) == TypeKind::kTensor;
  if (!takes_tensor || signature.results.size() != 1 ||
      check.Kind(signature.results[0].type) != TypeKind::kTensor) {
    DiagnosticBuilder builder = check.Report(
        kQuantizationOperation, invocation.callee.range,
        "`{}` quantizes nothing: it does not make a tensor of the tensor that comes first", name);
    NoteDeclaration(check, signature.name.range, signature, builder);
    return;
  }
  llvm::SmallVector<ExprId, 8> slots(signature.parameters.size());
  bool is_valid = true;
  for (const ast::Argument& argument : invocation.arguments) {
    checks::CheckExpr(check, argument.value, checks::Use::kArgument);
    if (!argument.name.has_value()) {
      check.Report(kQuantizationPositional, check.expr(argument.value).range,
                   "the arguments of a quantization operation are named");
      is_valid = false;
    } else if (argument.name->symbol == signature.parameters[0].name.symbol) {
      check.Report(kQuantizationTensor, argument.name->range,
                   "`{}` is the tensor that the key names and takes no argument",
                   check.Text(argument.name->symbol));
      is_valid = false;
    } else {
      is_valid &= checks::BindNamed(check, invocation, argument, callee, 0, slots);
    }
  }
  // A placeholder, so that the tensor does not count as missing.
  slots[0] = id;
  is_valid = is_valid && checks::CheckMissing(check, invocation, callee, slots);
  for (size_t i = 1; i < slots.size(); ++i) {
    if (!slots[i].valid()) continue;
    const TypedName& parameter = signature.parameters[i];
    const bool is_literal = IsTensorLiteral(check, slots[i], parameter.type);
    if (is_literal || check.IsCastable(check.TypeOf(slots[i]), parameter.type)) continue;
    checks::ReportArgument(check, slots[i], parameter.type, parameter, signature);
    is_valid = false;
  }
  check.SetType(id, signature.results[0].type);
  if (!is_valid) return;
  slots[0] = ExprId();
  checks::RecordBinding(check, id, {callee, slots, TypeId()});
}

void CheckQuantizationEntry(CheckContext& check, const ast::Quantization& entry) {
  if (!entry.invocation.valid()) return;
  const auto* invocation = ast::Find<ast::InvocationExpr>(check.expr(entry.invocation).node);
  if (invocation == nullptr) return;  // reported by the parser
  Callee callee = check.out->Find(invocation->callee.symbol);
  if (!callee.valid()) callee = checks::ResolveUndeclared(check, *invocation);
  if (callee.valid() && !IsBroken(callee)) {
    CheckQuantizer(check, entry.invocation, *invocation, callee);
    return;
  }
  for (const ast::Argument& argument : invocation->arguments)
    checks::CheckExpr(check, argument.value, checks::Use::kArgument);
}

}  // namespace

std::unique_ptr<CheckedDocument> CheckQuantization(std::unique_ptr<const ast::Document> document,
                                                   const CheckedDocument& model,
                                                   llvm::function_ref<bool(std::string_view)> is_activation,
                                                   const StandardLibrary& library, Context& context) {
  CheckContext check(std::move(document), CheckedKind::kQuantization, {library, &model, &model.types()},
                     context);
  CheckDialectRules(check.document, check.dialect, check.kind, check.context, check.deviations);
  check.body.kind = BodyKind::kQuantization;
  llvm::DenseMap<Symbol, SourceRange> keys;
  for (const ast::Quantization& entry : check.document.quantizations) {
    const std::string_view key = check.Text(entry.key.symbol);
    const auto [first, inserted] = keys.try_emplace(entry.key.symbol, entry.key.range);
    if (!inserted) {
      check.Report(kQuantizationRepeated, entry.key.range, "`{}` is quantized twice", key)
          .Note(first->second, "first quantized here");
    } else if (!is_activation(key)) {
      check.Report(kQuantizationKey, entry.key.range, "`{}` is not an activation of the graph", key);
    }
    check.body.scope.Clear();
    CheckQuantizationEntry(check, entry);
  }
  return check.Finish();
}

}  // namespace nnefc::semantics
