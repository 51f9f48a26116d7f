#include "compiler/semantics/checker.h"
#include "compiler/semantics/operator_mapping.h"

namespace nnefc::semantics {

TypeId Checker::UnaryType(const ast::Expr& whole, const ast::UnaryExpr& unary, TypeId operand) {
  if (IsError(operand) || Kind(operand) == TypeKind::kAny) return error_;
  if (Kind(operand) == TypeKind::kTensor) {
    return TensorOperatorType(whole, ast::Spelling(unary.op), OperationOf(unary.op, dialect_), unary.operand,
                              operand);
  }
  const bool is_valid =
      unary.op == ast::UnaryOperator::kNot ? operand == logical_ : operand == integer_ || operand == scalar_;
  if (is_valid) return operand;
  Report(kOperatorTypes, whole.range, "the operator `{}` does not go with `{}`", ast::Spelling(unary.op),
         Text(operand));
  return error_;
}

TypeId Checker::BinaryType(const ast::Expr& whole, const ast::BinaryExpr& binary, TypeId left, TypeId right) {
  if (IsError(left) || IsError(right) || Kind(left) == TypeKind::kAny || Kind(right) == TypeKind::kAny) {
    return error_;
  }
  const bool has_tensor = Kind(left) == TypeKind::kTensor || Kind(right) == TypeKind::kTensor;
  if (has_tensor && binary.op != ast::BinaryOperator::kIn) {
    return TensorOperatorType(whole, ast::Spelling(binary.op), OperationOf(binary.op),
                              {binary.left, binary.right}, {left, right});
  }
  TypeId type = ValueOperatorType(binary.op, left, right);
  const bool is_mixed = (left == integer_ && right == scalar_) || (left == scalar_ && right == integer_);
  if (!type.valid() && dialect_.loose_values && is_mixed)
    type = ValueOperatorType(binary.op, scalar_, scalar_);
  if (type.valid()) return type;
  DiagnosticBuilder builder =
      Report(kOperatorTypes, binary.op_range, "the operator `{}` does not go with `{}` and `{}`",
             ast::Spelling(binary.op), Text(left), Text(right));
  if (left == scalar_) FixScalars(binary.right, left, builder);
  if (right == scalar_) FixScalars(binary.left, right, builder);
  return error_;
}

TypeId Checker::ValueOperatorType(ast::BinaryOperator op, TypeId left, TypeId right) {
  const bool is_number = left == right && (left == integer_ || left == scalar_);
  const bool is_array = Kind(left) == TypeKind::kArray;
  switch (op) {
    case ast::BinaryOperator::kAdd:
      if (is_number || (left == string_ && right == string_)) return left;
      return is_array && Kind(right) == TypeKind::kArray ? CommonType(types_, dialect_, left, right)
                                                         : TypeId();
    case ast::BinaryOperator::kMul:
      return is_number || ((is_array || left == string_) && right == integer_) ? left : TypeId();
    case ast::BinaryOperator::kSub:
    case ast::BinaryOperator::kDiv:
    case ast::BinaryOperator::kPow:
      return is_number ? left : TypeId();
    case ast::BinaryOperator::kLt:
    case ast::BinaryOperator::kLe:
    case ast::BinaryOperator::kGt:
    case ast::BinaryOperator::kGe:
      return is_number ? logical_ : TypeId();
    case ast::BinaryOperator::kAnd:
    case ast::BinaryOperator::kOr:
      return left == logical_ && right == logical_ ? logical_ : TypeId();
    case ast::BinaryOperator::kEq:
    case ast::BinaryOperator::kNe:
      // Values of tensors in arrays and tuples are not known yet.
      if (types_.ContainsTensor(left) || types_.ContainsTensor(right)) return TypeId();
      return CommonType(types_, dialect_, left, right).valid() ? logical_ : TypeId();
    case ast::BinaryOperator::kIn:
      if (Kind(right) != TypeKind::kArray || types_.ContainsTensor(left) || types_.ContainsTensor(right)) {
        return TypeId();
      }
      return CommonType(types_, dialect_, left, types_.Item(right)).valid() ? logical_ : TypeId();
  }
  return TypeId();
}

// 3.3.3: operands are checked as arguments of the operation.
TypeId Checker::TensorOperatorType(const ast::Expr& whole, std::string_view spelling,
                                   std::string_view operation, llvm::ArrayRef<ExprId> operands,
                                   llvm::ArrayRef<TypeId> types) {
  const Callee callee = standard().Find(context_.symbols.Find(operation));
  NNEFC_CHECK(callee.valid());
  const Signature& signature = SignatureOf(callee);
  NNEFC_CHECK(signature.parameters.size() == operands.size() && signature.results.size() == 1);
  TypeId generic;
  if (signature.is_generic) generic = types_.Element(types[0]);  // `+x`
  for (size_t i = 0; i < operands.size(); ++i) {
    const TypedName& parameter = signature.parameters[i];
    const TypeId expected = generic.valid() ? types_.Substitute(parameter.type, generic) : parameter.type;
    if (IsCastable(types_, dialect_, types[i], expected)) continue;
    DiagnosticBuilder builder =
        Report(kTypeMismatch, expr(operands[i]).range, "the operand of `{}` is of type `{}`; expected `{}`",
               spelling, Text(types[i]), Text(expected));
    FixScalars(operands[i], expected, builder);
    builder.Note(parameter.name.range, "on tensors the operator is the operation `{}`", operation);
    // One error per operator. The intended meaning of `2 * x` is clear.
    return types[i] == integer_ && !generic.valid() ? ResultType(signature, generic) : error_;
  }
  return ResultType(signature, generic);
}

}  // namespace nnefc::semantics
