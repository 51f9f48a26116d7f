#include "compiler/expand/build/symbolic_extents.h"

#include "gtest/gtest.h"

namespace nnefc::expand::build {
namespace {

using ast::BinaryOperator;

class SymbolicExtentsTest : public testing::Test {
 protected:
  std::optional<Value> Make(BinaryOperator op, const Value& left, const Value& right) {
    return extents_.Make(op, left, right, heap_, fault_);
  }

  // Returns 1 added to an extent `count` times; nothing if one of the additions makes no extent.
  std::optional<Value> Sum(Value extent, int count) {
    for (int i = 0; i < count; ++i) {
      const std::optional<Value> sum = Make(BinaryOperator::kAdd, extent, Value::Integer(1));
      if (!sum) return std::nullopt;
      extent = *sum;
    }
    return extent;
  }

  SymbolicExtents extents_;
  Heap heap_{1000};
  Fault fault_;
  const Value symbol_ = Value::UnknownExtent(1);
};

TEST_F(SymbolicExtentsTest, HaveAtMost256Operators) {
  const std::optional<Value> last = Sum(symbol_, 256);
  ASSERT_TRUE(last);
  EXPECT_FALSE(Make(BinaryOperator::kAdd, *last, Value::Integer(1)));
  EXPECT_EQ(fault_.rule, nullptr);
  ASSERT_TRUE(extents_.Bind(*last, 300));
  EXPECT_EQ(extents_.Find(symbol_), 44);
  EXPECT_EQ(extents_.Find(*last), 300);
}

TEST_F(SymbolicExtentsTest, CountTheOperatorsOfBothOperands) {
  const std::optional<Value> half = Sum(symbol_, 127), rest = Sum(symbol_, 128), more = Sum(symbol_, 129);
  ASSERT_TRUE(half && rest && more);
  EXPECT_TRUE(Make(BinaryOperator::kMul, *half, *rest));
  EXPECT_FALSE(Make(BinaryOperator::kMul, *half, *more));
}

TEST_F(SymbolicExtentsTest, NeutralOperandsLeaveAnExtent) {
  const Value zero = Value::Integer(0), one = Value::Integer(1);
  for (const auto& [op, number] :
       {std::pair(BinaryOperator::kAdd, zero), std::pair(BinaryOperator::kSub, zero),
        std::pair(BinaryOperator::kMul, one), std::pair(BinaryOperator::kDiv, one)}) {
    EXPECT_EQ(Make(op, symbol_, number)->symbol(), symbol_.symbol());
  }
  EXPECT_EQ(Make(BinaryOperator::kAdd, zero, symbol_)->symbol(), symbol_.symbol());
  EXPECT_EQ(Make(BinaryOperator::kMul, one, symbol_)->symbol(), symbol_.symbol());
  EXPECT_NE(Make(BinaryOperator::kSub, zero, symbol_)->symbol(), symbol_.symbol());
  EXPECT_NE(Make(BinaryOperator::kDiv, one, symbol_)->symbol(), symbol_.symbol());
  EXPECT_NE(Make(BinaryOperator::kMul, symbol_, Value::Integer(2))->symbol(), symbol_.symbol());
}

TEST_F(SymbolicExtentsTest, EqualExtentsCancel) {
  const Value other = Value::UnknownExtent(2);
  const std::optional<Value> difference = Make(BinaryOperator::kSub, symbol_, symbol_);
  const std::optional<Value> quotient = Make(BinaryOperator::kDiv, symbol_, symbol_);
  ASSERT_TRUE(difference && quotient);
  EXPECT_EQ(difference->integer(), 0);
  EXPECT_EQ(quotient->integer(), 1);
  EXPECT_EQ(quotient->symbol(), 0U);
  EXPECT_EQ(Make(BinaryOperator::kDiv, symbol_, other)->kind(), ValueKind::kUnknownExtent);
}

TEST_F(SymbolicExtentsTest, ExtentsOfTensorsAreNotTried) {
  const SymbolicExtents::Unknown along{{ir::NodeId(3), 0}, 1};
  const Value extent = extents_.ExtentAlong(along);
  EXPECT_EQ(extents_.ExtentAlong(along).symbol(), extent.symbol());
  EXPECT_NE(extents_.ExtentAlong({{ir::NodeId(3), 0}, 0}).symbol(), extent.symbol());
  ASSERT_NE(extents_.UnknownOf(extent), nullptr);
  EXPECT_EQ(*extents_.UnknownOf(extent), along);
  EXPECT_EQ(extents_.UnknownOf(symbol_), nullptr);
  const auto tried = [](uint32_t) { return int64_t{10}; };
  EXPECT_EQ(extents_.Find(symbol_, tried), 10);
  EXPECT_EQ(extents_.Find(extent, tried), std::nullopt);
}

}  // namespace
}  // namespace nnefc::expand::build
