// Operators and built-in functions on values that they are not defined for, each with its message.

#include <gtest/gtest.h>

#include <limits>

#include "compiler/expand/values/arithmetic.h"
#include "compiler/expand/values/builtins.h"
#include "compiler/expand/values/sequences.h"
#include "compiler/ir/op_registry.h"
#include "compiler/syntax/dialect.h"

namespace nnefc::expand::values {
namespace {

class WrongOperandsTest : public testing::Test {
 protected:
  Value Array(std::vector<Value> items) { return Value::Array(heap_, std::move(items)); }
  Value Text(std::string text) { return Value::String(heap_, std::move(text)); }
  Value OfShape(ir::PartialShape shape) {
    return Value::Tensor({ir::AddParameter(graph_, "x", ElementType::kF32, std::move(shape)), 0});
  }

  std::string Unary(ast::UnaryOperator op, const Value& operand) {
    Fault fault;
    return EvaluateUnary(op, operand, fault) ? "a value" : fault.message;
  }
  std::string Binary(ast::BinaryOperator op, const Value& left, const Value& right) {
    Fault fault;
    return EvaluateBinary(op, left, right, heap_, fault) ? "a value" : fault.message;
  }
  // Returns the message with its rule.
  std::string Apply(ast::Builtin builtin, const Value& argument) {
    Fault fault;
    if (EvaluateBuiltin(builtin, argument, ast::Dialect::kRatified, graph_, heap_, fault)) return "a value";
    return fault.message + " [" + std::string(fault.rule->label) + "]";
  }

  Heap heap_{1'000'000};
  ir::OpRegistry registry_{&ir::StandardOps()};
  ir::Graph graph_{&registry_};
};

TEST_F(WrongOperandsTest, UnaryOperators) {
  using Operator = ast::UnaryOperator;
  const Value pair = Value::Tuple(heap_, {Value::Integer(1), Value::Integer(2)});
  for (const Operator sign : {Operator::kPlus, Operator::kMinus}) {
    const std::string of = sign == Operator::kPlus ? "the operand of `+` is " : "the operand of `-` is ";
    EXPECT_EQ(Unary(sign, Value::Integer(2)), "a value");
    EXPECT_EQ(Unary(sign, Value::Scalar(2)), "a value");
    EXPECT_EQ(Unary(sign, Value::Logical(true)), of + "a logical");
    EXPECT_EQ(Unary(sign, Text("2")), of + "a string");
    EXPECT_EQ(Unary(sign, Array({Value::Integer(2)})), of + "an array");
    EXPECT_EQ(Unary(sign, pair), of + "a tuple");
    EXPECT_EQ(Unary(sign, Value::UnknownExtent()), of + "an unspecified extent");
  }
  EXPECT_EQ(Unary(Operator::kNot, Value::Logical(true)), "a value");
  EXPECT_EQ(Unary(Operator::kNot, Value::Integer(0)), "the operand of `!` is a whole number");
  EXPECT_EQ(Unary(Operator::kNot, Value::Scalar(0)), "the operand of `!` is a scalar");
}

TEST_F(WrongOperandsTest, BinaryOperators) {
  using Operator = ast::BinaryOperator;
  const Value one = Value::Integer(1), half = Value::Scalar(0.5), yes = Value::Logical(true);
  for (const Operator op : {Operator::kAnd, Operator::kOr}) {
    EXPECT_EQ(Binary(op, yes, yes), "a value");
    for (const auto& [left, right] :
         {std::pair(one, yes), {yes, one}, {one, one}, {yes, half}, {yes, Text("true")}})
      EXPECT_NE(Binary(op, left, right), "a value") << KindText(left) << ", " << KindText(right);
  }
  EXPECT_EQ(Binary(Operator::kAnd, yes, one), "operands of `&&` are a logical and a whole number");
  EXPECT_EQ(Binary(Operator::kOr, half, yes), "operands of `||` are a scalar and a logical");
  for (const Operator op : {Operator::kSub, Operator::kDiv, Operator::kPow, Operator::kLt, Operator::kLe,
                            Operator::kGt, Operator::kGe}) {
    EXPECT_EQ(Binary(op, one, one), "a value");
    EXPECT_EQ(Binary(op, half, half), "a value");
    for (const auto& [left, right] : {std::pair(one, half), {half, one}, {yes, yes}, {Text("a"), Text("b")}})
      EXPECT_NE(Binary(op, left, right), "a value") << ast::Spelling(op);
  }
  EXPECT_EQ(Binary(Operator::kMul, Text("ab"), half), "operands of `*` are a string and a scalar");
  EXPECT_EQ(Binary(Operator::kAdd, Text("ab"), Array({})), "operands of `+` are a string and an array");
  EXPECT_EQ(Binary(Operator::kEq, one, half), "operands of `==` are a whole number and a scalar");
  EXPECT_EQ(Binary(Operator::kNe, Array({one}), Array({half})), "operands of `!=` are an array and an array");
}

// Arrays and strings have items and ranges, at whole numbers.
TEST_F(WrongOperandsTest, Subscripts) {
  const Value one = Value::Integer(1), half = Value::Scalar(0.5), list = Array({one, one});
  const auto item = [&](const Value& base, const Value& index) {
    Fault fault;
    return Subscript(base, index, heap_, fault) ? "a value" : fault.message;
  };
  const auto range = [](const Value& base, const Value* begin, const Value* end) {
    Fault fault;
    return SubscriptRange(base, begin, end, fault) ? "a value" : fault.message;
  };
  for (const Value& base : {list, Text("ab")}) {
    EXPECT_EQ(item(base, one), "a value");
    EXPECT_EQ(range(base, &one, nullptr), "a value");
    EXPECT_EQ(range(base, nullptr, &one), "a value");
    EXPECT_EQ(range(base, nullptr, nullptr), "a value");
  }
  EXPECT_EQ(item(list, half), "an array cannot be subscripted by a scalar");
  EXPECT_EQ(range(list, &half, nullptr), "an array cannot be subscripted by a range of a scalar");
  EXPECT_EQ(range(list, &one, &half), "an array cannot be subscripted by a range of a scalar");
  for (const Value& base : {one, half, OfShape(ir::PartialShape{2}), Value::Tuple(heap_, {one, one})}) {
    const std::string of = std::string(KindText(base)) + " cannot be subscripted by a ";
    EXPECT_EQ(item(base, one), of + "whole number");
    EXPECT_EQ(range(base, &one, &one), of + "range of a whole number");
    EXPECT_EQ(range(base, nullptr, &one), of + "range of integers");
    EXPECT_EQ(range(base, nullptr, nullptr), of + "range of integers");
  }
}

TEST_F(WrongOperandsTest, Casts) {
  using ast::Builtin;
  const Value list = Array({Value::Integer(1)}), open = Value::UnknownExtent();
  const Value tensor = OfShape(ir::PartialShape{2});
  for (const auto& [builtin, name] : {std::pair(Builtin::kInteger, "integer"),
                                      {Builtin::kScalar, "scalar"},
                                      {Builtin::kLogical, "logical"},
                                      {Builtin::kString, "string"}}) {
    const std::string of = "the argument of `" + std::string(name) + "` is ";
    EXPECT_EQ(Apply(builtin, Value::Integer(1)), "a value") << name;
    EXPECT_EQ(Apply(builtin, list), of + "an array [value.type]");
    EXPECT_EQ(Apply(builtin, tensor), of + "a tensor [value.type]");
    EXPECT_EQ(Apply(builtin, Value::Integer(1).AsTensor()), of + "a tensor [value.type]");
    EXPECT_EQ(Apply(builtin, open),
              of + "left open by an external; give it with `--input-shape` [shape-of.unspecified-extent]");
  }
}

// Numbers of lenient documents that no literal has.
TEST_F(WrongOperandsTest, NumbersThatAreNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Value one = Value::Scalar(1);
  EXPECT_EQ(Binary(ast::BinaryOperator::kAdd, Value::Scalar(infinity), one),
            "`inf + 1.0` is not a finite number");
  EXPECT_EQ(Binary(ast::BinaryOperator::kMul, one, Value::Scalar(-infinity)),
            "`1.0 * -inf` is not a finite number");
  EXPECT_EQ(Binary(ast::BinaryOperator::kSub, Value::Scalar(std::numeric_limits<double>::quiet_NaN()), one),
            "`nan - 1.0` is not a finite number");
  EXPECT_EQ(Apply(ast::Builtin::kInteger, Value::Scalar(infinity)),
            "`inf` does not fit 64 bits [cast.out-of-range]");
}

TEST_F(WrongOperandsTest, LengthsAndShapes) {
  using ast::Builtin;
  const Value one = Value::Integer(1);
  for (const auto& [builtin, name] :
       {std::pair(Builtin::kLengthOf, "length_of"), {Builtin::kRangeOf, "range_of"}}) {
    const std::string of = "the argument of `" + std::string(name) + "` is ";
    EXPECT_EQ(Apply(builtin, Array({})), "a value");
    EXPECT_EQ(Apply(builtin, Text("")), "a value");
    EXPECT_EQ(Apply(builtin, one), of + "a whole number [value.type]");
    EXPECT_EQ(Apply(builtin, Value::Tuple(heap_, {one})), of + "a tuple [value.type]");
    EXPECT_EQ(Apply(builtin, OfShape(ir::PartialShape{2})), of + "a tensor [value.type]");
  }
  EXPECT_EQ(Apply(Builtin::kShapeOf, one), "a value");
  EXPECT_EQ(Apply(Builtin::kShapeOf, OfShape(ir::PartialShape{2, 3})), "a value");
  EXPECT_EQ(Apply(Builtin::kShapeOf, OfShape(ir::PartialShape())),
            "the rank of this tensor is not known during compilation [shape-of.unspecified-extent]");
  EXPECT_EQ(Apply(Builtin::kShapeOf, Array({one})), "the argument of `shape_of` is an array [value.type]");
}

// An array with the elements of a tensor has a shape if its rows have equal lengths.
TEST_F(WrongOperandsTest, ShapesOfElements) {
  const Value one = Value::Integer(1);
  const auto shape_of = [&](Value elements) {
    Fault fault;
    const auto shape = EvaluateBuiltin(ast::Builtin::kShapeOf, elements.WithFoldedTensor(true),
                                       ast::Dialect::kRatified, graph_, heap_, fault);
    if (!shape) return fault.message;
    std::string text;
    for (const Value& extent : shape->items()) text += std::to_string(extent.integer()) + ",";
    return text;
  };
  EXPECT_EQ(shape_of(Array({one, one, one})), "3,");
  EXPECT_EQ(shape_of(Array({one})), "1,");
  EXPECT_EQ(shape_of(Array({Array({one, one})})), "1,2,");
  EXPECT_EQ(shape_of(Array({Array({Array({one})}), Array({Array({one})})})), "2,1,1,");
  EXPECT_EQ(shape_of(Array({Array({one, one}), Array({one, one}), Array({one, one})})), "3,2,");
  EXPECT_EQ(shape_of(Array({Array({one, one}), Array({one})})), "the argument of `shape_of` is an array");
  EXPECT_EQ(shape_of(Array({Array({one}), one})), "the argument of `shape_of` is an array");
  EXPECT_EQ(shape_of(Array({})), "the argument of `shape_of` is an array");
}

}  // namespace
}  // namespace nnefc::expand::values
