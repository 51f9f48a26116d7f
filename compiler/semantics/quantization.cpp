#include "compiler/semantics/quantization.h"

#include "compiler/semantics/checker.h"
#include "llvm/ADT/DenseMap.h"

namespace nnefc::semantics {

std::unique_ptr<CheckedDocument> CheckQuantization(std::unique_ptr<const ast::Document> document,
                                                   const CheckedDocument& model,
                                                   llvm::function_ref<bool(std::string_view)> is_activation,
                                                   const StandardLibrary& library, Context& context) {
  return Checker(std::move(document), CheckedKind::kQuantization, {library, &model, &model.types()}, context)
      .CheckQuantization(is_activation);
}

std::unique_ptr<CheckedDocument> Checker::CheckQuantization(
    llvm::function_ref<bool(std::string_view)> is_activation) {
  CheckDialectRules(document_, dialect_, kind_, context_, deviations_);
  body_ = BodyKind::kQuantization;
  llvm::DenseMap<Symbol, SourceRange> keys;
  for (const ast::Quantization& entry : document_.quantizations) {
    const std::string_view key = Text(entry.key.symbol);
    const auto [first, inserted] = keys.try_emplace(entry.key.symbol, entry.key.range);
    if (!inserted) {
      Report(kQuantizationRepeated, entry.key.range, "`{}` is quantized twice", key)
          .Note(first->second, "first quantized here");
    } else if (!is_activation(key)) {
      Report(kQuantizationKey, entry.key.range, "`{}` is not an activation of the graph", key);
    }
    scope_.Clear();
    CheckQuantizationEntry(entry);
  }
  return Finish();
}

void Checker::CheckQuantizationEntry(const ast::Quantization& entry) {
  if (!entry.invocation.valid()) return;
  const auto* invocation = ast::Find<ast::InvocationExpr>(expr(entry.invocation).node);
  if (invocation == nullptr) return;  // reported by the parser
  Callee callee = out_->Find(invocation->callee.symbol);
  if (!callee.valid()) callee = ResolveUndeclared(*invocation);
  if (callee.valid() && !IsBroken(callee)) {
    CheckQuantizer(entry.invocation, *invocation, callee);
    return;
  }
  for (const ast::Argument& argument : invocation->arguments) CheckExpr(argument.value, Use::kArgument);
}

// Checks an entry's invocation. Its first parameter is the tensor named by the key.
void Checker::CheckQuantizer(ExprId id, const ast::InvocationExpr& invocation, Callee callee) {
  const Signature& signature = SignatureOf(callee);
  const std::string_view name = Text(signature.name.symbol);
  const bool takes_tensor =
      !signature.parameters.empty() && Kind(signature.parameters[0].type) == TypeKind::kTensor;
  if (!takes_tensor || signature.results.size() != 1 ||
      Kind(signature.results[0].type) != TypeKind::kTensor) {
    DiagnosticBuilder builder =
        Report(kQuantizationOperation, invocation.callee.range,
               "`{}` quantizes nothing: it does not make a tensor of the tensor that comes first", name);
    NoteDeclaration(signature.name.range, signature, builder);
    return;
  }
  llvm::SmallVector<ExprId, 8> slots(signature.parameters.size());
  bool is_valid = true;
  for (const ast::Argument& argument : invocation.arguments) {
    CheckExpr(argument.value, Use::kArgument);
    if (!argument.name.has_value()) {
      Report(kQuantizationPositional, expr(argument.value).range,
             "the arguments of a quantization operation are named");
      is_valid = false;
    } else if (argument.name->symbol == signature.parameters[0].name.symbol) {
      Report(kQuantizationTensor, argument.name->range,
             "`{}` is the tensor that the key names and takes no argument", Text(argument.name->symbol));
      is_valid = false;
    } else {
      is_valid &= BindNamed(invocation, argument, callee, 0, slots);
    }
  }
  // A placeholder, so that the tensor does not count as missing.
  slots[0] = id;
  is_valid = is_valid && CheckMissing(invocation, callee, slots);
  for (size_t i = 1; i < slots.size(); ++i) {
    if (!slots[i].valid()) continue;
    const TypedName& parameter = signature.parameters[i];
    const bool is_literal = IsTensorLiteral(slots[i], parameter.type);
    if (is_literal || IsCastable(types_, dialect_, TypeOf(slots[i]), parameter.type)) continue;
    ReportArgument(slots[i], parameter.type, parameter, signature);
    is_valid = false;
  }
  SetType(id, signature.results[0].type);
  if (!is_valid) return;
  slots[0] = ExprId();
  Keep(id, {callee, slots, TypeId()});
}

// Returns true for `min = [[-1.0, -2.0]]` for a tensor: an array of values of its data type, with arrays of
// one length at each level.
bool Checker::IsTensorLiteral(ExprId argument, TypeId expected) {
  if (!dialect_.nested_tensors || Kind(expected) != TypeKind::kTensor) return false;
  TypeId item = TypeOf(argument);
  if (Kind(item) != TypeKind::kArray) return false;
  while (Kind(item) == TypeKind::kArray) item = types_.Item(item);
  if (!IsCastable(types_, dialect_, item, expected)) return false;
  llvm::SmallVector<ExprId, 8> level{argument};
  while (true) {
    const auto* first = std::get_if<ast::ArrayExpr>(&expr(Inner(level[0])).node);
    if (first == nullptr) return true;
    llvm::SmallVector<ExprId, 8> next;
    for (ExprId id : level) {
      const auto* array = std::get_if<ast::ArrayExpr>(&expr(Inner(id)).node);
      if (array == nullptr) return true;  // computed by an expression: checked by its value
      if (array->items.size() != first->items.size()) {
        Report(kQuantizationJagged, expr(id).range, "the array has {} items, the first one of its level {}",
               array->items.size(), first->items.size());
        return true;
      }
      next.append(array->items.begin(), array->items.end());
    }
    if (next.empty()) return true;
    level = std::move(next);
  }
}

}  // namespace nnefc::semantics
