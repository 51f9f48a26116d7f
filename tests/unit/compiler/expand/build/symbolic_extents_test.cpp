#include "compiler/expand/build/symbolic_extents.h"

#include <limits>

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

// An extent of a tensor binds the symbol in an expression: the only solution, or the least one of a quotient.
TEST(SymbolicExtents, AreSolvedForTheSymbol) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  struct Case {
    BinaryOperator op;
    bool is_right;  // the symbol is the right operand
    int64_t other, actual;
    std::optional<int64_t> symbol;
  };
  const auto add = BinaryOperator::kAdd, sub = BinaryOperator::kSub, mul = BinaryOperator::kMul,
             div = BinaryOperator::kDiv;
  const Case cases[] = {
      {add, false, 3, 7, 4},
      {add, true, 3, 7, 4},
      {add, false, 3, 3, 0},
      {add, false, 3, 2, std::nullopt},
      {sub, false, 3, 4, 7},
      {sub, false, 1, kMax - 1, kMax},
      {sub, false, 1, kMax, std::nullopt},
      {sub, true, 10, 3, 7},
      {sub, true, 10, 10, 0},
      {sub, true, 10, 11, std::nullopt},
      {mul, false, 2, 8, 4},
      {mul, true, 2, 8, 4},
      {mul, true, 2, 0, 0},
      {mul, true, 2, 7, std::nullopt},
      {mul, true, 0, 7, std::nullopt},
      {div, false, 2, 3, 6},
      {div, false, 4, kMax / 4, kMax - 3},
      {div, false, 4, kMax / 4 + 1, std::nullopt},
      {div, true, 100, 3, std::nullopt},
  };
  for (const auto& [op, is_right, other, actual, symbol] : cases) {
    SymbolicExtents extents;
    Heap heap(1000);
    Fault fault;
    const Value unknown = Value::UnknownExtent(1), number = Value::Integer(other);
    const std::optional<Value> extent =
        extents.Make(op, is_right ? number : unknown, is_right ? unknown : number, heap, fault);
    const std::string text =
        fmt::format("{} {} {} {}", ast::Spelling(op), is_right ? "right" : "left", other, actual);
    ASSERT_TRUE(extent) << text;
    EXPECT_EQ(extents.Bind(*extent, actual), symbol.has_value()) << text;
    EXPECT_EQ(extents.Find(unknown), symbol) << text;
    if (!symbol) continue;
    // Once bound, the expression has this value only.
    EXPECT_EQ(extents.Find(*extent), actual) << text;
    EXPECT_TRUE(extents.Bind(*extent, actual)) << text;
    EXPECT_FALSE(extents.Bind(*extent, actual + 1)) << text;
  }
}

// Only one unknown symbol can be found.
TEST_F(SymbolicExtentsTest, TwoSymbolsAreNotSolved) {
  const Value other = Value::UnknownExtent(2);
  const std::optional<Value> sum = Make(BinaryOperator::kAdd, symbol_, other);
  ASSERT_TRUE(sum);
  EXPECT_TRUE(extents_.Bind(*sum, 7));
  EXPECT_EQ(extents_.Find(symbol_), std::nullopt);
  EXPECT_TRUE(extents_.Bind(other, 5));
  EXPECT_FALSE(extents_.Bind(other, 6));
  EXPECT_TRUE(extents_.Bind(*sum, 7));
  EXPECT_EQ(extents_.Find(symbol_), 2);
}

// An expression of extents whose values are known has its value too, and none where the arithmetic fails.
TEST_F(SymbolicExtentsTest, ExpressionsOfKnownExtents) {
  const Value known = Value::KnownExtent(1, 12), other = Value::KnownExtent(2, 5);
  const auto value = [&](BinaryOperator op, const Value& left, const Value& right) -> std::string {
    fault_ = {};
    const std::optional<Value> result = Make(op, left, right);
    if (!result) return fault_.rule == nullptr ? "none" : std::string(fault_.rule->label);
    EXPECT_EQ(result->kind(), ValueKind::kInteger);
    EXPECT_TRUE(IsSymbolic(*result));
    EXPECT_NE(result->symbol(), left.symbol());
    return std::to_string(result->integer());
  };
  EXPECT_EQ(value(BinaryOperator::kAdd, known, Value::Integer(5)), "17");
  EXPECT_EQ(value(BinaryOperator::kSub, Value::Integer(20), known), "8");
  EXPECT_EQ(value(BinaryOperator::kMul, known, other), "60");
  EXPECT_EQ(value(BinaryOperator::kDiv, known, other), "2");
  EXPECT_EQ(value(BinaryOperator::kDiv, known, Value::Integer(0)), "arithmetic.division-by-zero");
  EXPECT_EQ(value(BinaryOperator::kMul, known, Value::Integer(std::numeric_limits<int64_t>::max())),
            "arithmetic.overflow");
  EXPECT_EQ(value(BinaryOperator::kPow, known, other), "none");
}

TEST_F(SymbolicExtentsTest, ExtentsWithoutSymbolBindNothing) {
  EXPECT_TRUE(extents_.Bind(Value::UnknownExtent(), 3));
  EXPECT_TRUE(extents_.Bind(Value::UnknownExtent(), 4));
  EXPECT_TRUE(extents_.Bind(Value::Integer(3), 3));
  EXPECT_FALSE(extents_.Bind(Value::Integer(3), 4));
}

TEST_F(SymbolicExtentsTest, TextsHaveParenthesesAroundOperands) {
  const auto name = [](uint32_t symbol) { return symbol == 1 ? std::string("S") : std::string("T"); };
  const Value two = Value::Integer(2);
  const Value twice = *Make(BinaryOperator::kMul, two, symbol_);
  EXPECT_EQ(extents_.TextOf(twice, name), "2*S");
  EXPECT_EQ(extents_.TextOf(*Make(BinaryOperator::kSub, twice, Value::UnknownExtent(2)), name), "(2*S)-T");
  EXPECT_EQ(extents_.TextOf(*Make(BinaryOperator::kDiv, two, twice), name), "2/(2*S)");
  EXPECT_EQ(extents_.TextOf(two, name), "2");
  EXPECT_EQ(extents_.TextOf(symbol_, name), "S");
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
