#include "compiler/semantics/checks/operators.h"

#include "compiler/semantics/checks/invocations.h"
#include "compiler/semantics/operator_mapping.h"
#include "compiler/semantics/suggestions/literals.h"

namespace nnefc::semantics::checks {
namespace {

// Returns the result type of an operator on values; invalid if it does not accept them.
TypeId ValueOperatorType(CheckContext& check, ast::BinaryOperator op, TypeId left, TypeId right) {
  const bool is_number = left == right && (left == check.integer || left == check.scalar);
  const bool is_array = check.Kind(left) == TypeKind::kArray;
  switch (op) {
    case ast::BinaryOperator::kAdd:
      if (is_number || (left == check.string && right == check.string)) return left;
      return is_array && check.Kind(right) == TypeKind::kArray ? check.CommonType(left, right) : TypeId();
    case ast::BinaryOperator::kMul:
      return is_number || ((is_array || left == check.string) && right == check.integer) ? left : TypeId();
    case ast::BinaryOperator::kSub:
    case ast::BinaryOperator::kDiv:
    case ast::BinaryOperator::kPow:
      return is_number ? left : TypeId();
    case ast::BinaryOperator::kLt:
    case ast::BinaryOperator::kLe:
    case ast::BinaryOperator::kGt:
    case ast::BinaryOperator::kGe:
      return is_number ? check.logical : TypeId();
    case ast::BinaryOperator::kAnd:
    case ast::BinaryOperator::kOr:
      return left == check.logical && right == check.logical ? check.logical : TypeId();
    case ast::BinaryOperator::kEq:
    case ast::BinaryOperator::kNe:
      // Values of tensors in arrays and tuples are not known yet.
      if (check.types.ContainsTensor(left) || check.types.ContainsTensor(right)) return TypeId();
      return check.CommonType(left, right).valid() ? check.logical : TypeId();
    case ast::BinaryOperator::kIn:
      if (check.Kind(right) != TypeKind::kArray || check.types.ContainsTensor(left) ||
          check.types.ContainsTensor(right)) {
        return TypeId();
      }
      return check.CommonType(left, check.types.Item(right)).valid() ? check.logical : TypeId();
  }
  return TypeId();
}

// 3.3.3: operands are checked as arguments of the operation.
TypeId TensorOperatorType(CheckContext& check, const ast::Expr& whole, std::string_view spelling,
                          std::string_view operation, llvm::ArrayRef<ExprId> operands,
                          llvm::ArrayRef<TypeId> types) {
  const Callee callee = check.standard.Find(check.context.symbols.Find(operation));
  NNEFC_CHECK(callee.valid());
  const Signature& signature = check.SignatureOf(callee);
  NNEFC_CHECK(signature.parameters.size() == operands.size() && signature.results.size() == 1);
  TypeId generic;
  if (signature.is_generic) generic = check.types.Element(types[0]);  // `+x`
  for (size_t i = 0; i < operands.size(); ++i) {
    const TypedName& parameter = signature.parameters[i];
    const TypeId expected =
        generic.valid() ? check.types.Substitute(parameter.type, generic) : parameter.type;
    if (check.IsCastable(types[i], expected)) continue;
    DiagnosticBuilder builder = check.Report(kTypeMismatch, check.expr(operands[i]).range,
                                             "the operand of `{}` is of type `{}`; expected `{}`", spelling,
                                             check.Text(types[i]), check.Text(expected));
    suggestions::FixScalars(check, operands[i], expected, builder);
    builder.Note(parameter.name.range, "on tensors the operator is the operation `{}`", operation);
    // One error per operator. The intended meaning of `2 * x` is clear.
    return types[i] == check.integer && !generic.valid() ? ResultType(check, signature, generic)
                                                         : check.error;
  }
  return ResultType(check, signature, generic);
}

}  // namespace

TypeId UnaryType(CheckContext& check, const ast::Expr& whole, const ast::UnaryExpr& unary, TypeId operand) {
  if (check.IsError(operand) || check.Kind(operand) == TypeKind::kAny) return check.error;
  if (check.Kind(operand) == TypeKind::kTensor) {
    return TensorOperatorType(check, whole, ast::Spelling(unary.op), OperationOf(unary.op, check.dialect),
                              unary.operand, operand);
  }
  const bool is_valid = unary.op == ast::UnaryOperator::kNot
                            ? operand == check.logical
                            : operand == check.integer || operand == check.scalar;
  if (is_valid) return operand;
  check.Report(kOperatorTypes, whole.range, "the operator `{}` does not go with `{}`",
               ast::Spelling(unary.op), check.Text(operand));
  return check.error;
}

TypeId BinaryType(CheckContext& check, const ast::Expr& whole, const ast::BinaryExpr& binary, TypeId left,
                  TypeId right) {
  if (check.IsError(left) || check.IsError(right) || check.Kind(left) == TypeKind::kAny ||
      check.Kind(right) == TypeKind::kAny) {
    return check.error;
  }
  const bool has_tensor = check.Kind(left) == TypeKind::kTensor || check.Kind(right) == TypeKind::kTensor;
  if (has_tensor && binary.op != ast::BinaryOperator::kIn) {
    return TensorOperatorType(check, whole, ast::Spelling(binary.op), OperationOf(binary.op),
                              {binary.left, binary.right}, {left, right});
  }
  TypeId type = ValueOperatorType(check, binary.op, left, right);
  const bool is_mixed =
      (left == check.integer && right == check.scalar) || (left == check.scalar && right == check.integer);
  if (!type.valid() && check.dialect.loose_values && is_mixed)
    type = ValueOperatorType(check, binary.op, check.scalar, check.scalar);
  if (type.valid()) return type;
  DiagnosticBuilder builder =
      check.Report(kOperatorTypes, binary.op_range, "the operator `{}` does not go with `{}` and `{}`",
                   ast::Spelling(binary.op), check.Text(left), check.Text(right));
  if (left == check.scalar) suggestions::FixScalars(check, binary.right, left, builder);
  if (right == check.scalar) suggestions::FixScalars(check, binary.left, right, builder);
  return check.error;
}

}  // namespace nnefc::semantics::checks
