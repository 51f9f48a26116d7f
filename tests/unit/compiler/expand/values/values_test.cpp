#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "compiler/expand/values/arithmetic.h"
#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::values {
namespace {

constexpr std::string_view kProbes = R"(
fragment probe_integer( x: tensor<scalar>, value: integer ) -> ( y: tensor<scalar> );
fragment probe_scalar( x: tensor<scalar>, value: scalar ) -> ( y: tensor<scalar> );
fragment probe_logical( x: tensor<scalar>, value: logical ) -> ( y: tensor<scalar> );
fragment probe_string( x: tensor<scalar>, value: string ) -> ( y: tensor<scalar> );
fragment probe_integers( x: tensor<scalar>, value: integer[] ) -> ( y: tensor<scalar> );
fragment probe_pairs( x: tensor<scalar>, value: (integer,integer)[] ) -> ( y: tensor<scalar> );
)";

// Evaluates `expr` in a ratified document; returns a literal, or the diagnostics if there are any.
std::string Evaluate(std::string_view type, std::string_view expr, std::string_view fragments = "") {
  Expansion expansion(
      Ratified(std::string(kProbes) + std::string(fragments),
               "    y = probe_" + std::string(type) + "(x, value = " + std::string(expr) + ");"));
  std::string body = expansion.Body();
  size_t begin = body.find("value = ");
  if (begin == std::string::npos) return body;
  return body.substr(begin + 8, body.rfind(");") - begin - 8);
}

// Evaluates `expr` in a provisional document, by a label.
std::string EvaluateProvisional(std::string_view expr, std::string_view fragments = "") {
  Expansion expansion(Provisional(std::string(fragments) + R"(
fragment probe( x: tensor ) -> ( y: tensor )
{
    v = variable(shape = [1], label = 'v' + string()" +
                                      std::string(expr) + R"())
    y = x + v
})",
                                  "    y = probe(x)"));
  std::string body = expansion.Body();
  size_t begin = body.find("label = 'v");
  if (begin == std::string::npos) return body;
  return body.substr(begin + 10, body.find("')", begin) - begin - 10);
}

// Operands of different types, in either order.
TEST(ValuesTest, OperandsOfOneType) {
  Heap heap(1000);
  const std::vector<std::pair<std::string_view, Value>> values = {
      {"integer", Value::Integer(1)},
      {"scalar", Value::Scalar(1)},
      {"logical", Value::Logical(true)},
      {"string", Value::String(heap, "a")},
      {"array", Value::Array(heap, {Value::Integer(1)})}};
  using Op = ast::BinaryOperator;
  const auto accepts = [](Op op, std::string_view left, std::string_view right) {
    switch (op) {
      case Op::kAdd:
        return left == right && left != "logical";
      case Op::kMul:
        if (right == "integer" && (left == "string" || left == "array")) return true;
        [[fallthrough]];
      case Op::kSub:
      case Op::kDiv:
      case Op::kPow:
      case Op::kLt:
      case Op::kLe:
      case Op::kGt:
      case Op::kGe:
        return left == right && (left == "integer" || left == "scalar");
      case Op::kEq:
      case Op::kNe:
        return left == right;
      case Op::kAnd:
      case Op::kOr:
        return left == "logical" && right == "logical";
      case Op::kIn:
        return left == "integer" && right == "array";
    }
    return false;
  };
  for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kPow, Op::kLt, Op::kLe, Op::kGt, Op::kGe,
                      Op::kEq, Op::kNe, Op::kAnd, Op::kOr, Op::kIn}) {
    for (const auto& [left_type, left] : values) {
      for (const auto& [right_type, right] : values) {
        Fault fault;
        const std::optional<Value> value = EvaluateBinary(op, left, right, heap, fault);
        EXPECT_EQ(value.has_value(), accepts(op, left_type, right_type))
            << left_type << " " << ast::Spelling(op) << " " << right_type;
        EXPECT_EQ(fault.rule == nullptr, value.has_value());
      }
    }
  }
}

TEST(ValuesTest, LeastInteger) {
  const std::string least = "(-9223372036854775807 - 1)";
  EXPECT_EQ(Evaluate("integer", least + " / 2"), "-4611686018427387904");
  EXPECT_EQ(Evaluate("integer", least + " / -2"), "4611686018427387904");
  EXPECT_EQ(Evaluate("integer", least + " / 1"), "-9223372036854775808");
  EXPECT_NE(Evaluate("integer", least + " / -1").find("[arithmetic.overflow]"), std::string::npos);
  EXPECT_EQ(Evaluate("integer", "-9223372036854775807 / -1"), "9223372036854775807");
}

// The name of an iterator is free after its comprehension, also for tensors.
TEST(ValuesTest, NamesOfIterators) {
  Expansion expansion(Ratified(
      "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n"
      "    a = length_of([for i in [1, 2] yield i]);\n    i = relu(x);\n    b = [for j in [3] yield j];\n"
      "    j = tanh(i);\n    y = j * scalar(a + b[0]);\n}",
      "    y = f(x);"));
  EXPECT_EQ(expansion.Body(),
            "    x = external(shape = [1, 2, 8, 8]);\n    y_i = relu(x);\n    y_j = tanh(y_i);\n"
            "    y = mul(y_j, 5.0);\n")
      << expansion.Diagnostics();
}

// Messages state the first 64 characters of a text.
TEST(ValuesTest, LongTextsInMessages) {
  for (const size_t length : {size_t{63}, size_t{64}, size_t{65}, size_t{400}}) {
    const std::string letters(length, 'a'), nines(length, '9');
    const std::string shown = fmt::format("`'{}'`", letters.substr(0, 64));
    for (const std::string_view cast : {"integer", "scalar"}) {
      const std::string message = Evaluate(cast, fmt::format("{}('{}')", cast, letters));
      EXPECT_NE(message.find(fmt::format("invalid {} literal {} ", cast, shown)), std::string::npos)
          << message;
    }
    const std::string message = Evaluate("integer", fmt::format("integer('{}')", nines));
    EXPECT_NE(message.find(fmt::format("`'{}'` does not fit 64 bits", nines.substr(0, 64))),
              std::string::npos)
        << message;
  }
  const std::string message = Evaluate("scalar", fmt::format("scalar('{}')", std::string(400, '9')));
  EXPECT_NE(message.find(fmt::format(": `'{}'` is not a finite number", std::string(64, '9'))),
            std::string::npos)
      << message;
}

TEST(ValuesTest, IntegerArithmetic) {
  EXPECT_EQ(Evaluate("integer", "1 + 2 * 3"), "7");
  EXPECT_EQ(Evaluate("integer", "-7 / 2"), "-3");
  EXPECT_EQ(Evaluate("integer", "7 / -2"), "-3");
  EXPECT_EQ(Evaluate("integer", "2 ^ 10"), "1024");
  EXPECT_EQ(Evaluate("integer", "-2 ^ 2"), "-4");
  EXPECT_EQ(Evaluate("integer", "(-1) ^ 1000000000000"), "1");
  EXPECT_EQ(Evaluate("integer", "0 ^ 0"), "1");
  // At once for any exponent.
  EXPECT_EQ(Evaluate("integer", "1 ^ 9000000000000000000"), "1");
  EXPECT_EQ(Evaluate("integer", "0 ^ 9000000000000000000"), "0");
  EXPECT_EQ(Evaluate("integer", "(-1) ^ 9000000000000000001"), "-1");
  EXPECT_EQ(Evaluate("integer", "2 ^ 62 + (2 ^ 62 - 1)"), "9223372036854775807");
  EXPECT_NE(Evaluate("integer", "2 ^ 63").find("[arithmetic.overflow]"), std::string::npos);
  EXPECT_EQ(Evaluate("integer", "(-2) ^ 63"), "-9223372036854775808");
  EXPECT_EQ(Evaluate("integer", "-1 + 3"), "2");
  EXPECT_EQ(Evaluate("integer", "9223372036854775807"), "9223372036854775807");
}

TEST(ValuesTest, IntegerMistakes) {
  EXPECT_NE(Evaluate("integer", "9223372036854775807 + 1").find("[arithmetic.overflow]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "-9223372036854775807 - 2").find("[arithmetic.overflow]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "(-9223372036854775807 - 1) / -1").find("[arithmetic.overflow]"),
            std::string::npos);
  EXPECT_NE(Evaluate("integer", "3 ^ 1000000000000").find("[arithmetic.overflow]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "1 / 0").find("[arithmetic.division-by-zero]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "2 ^ -1").find("[arithmetic.negative-exponent]"), std::string::npos);
}

TEST(ValuesTest, ScalarArithmetic) {
  EXPECT_EQ(Evaluate("scalar", "2.0 * -1.0 + 3.0"), "1.0");
  EXPECT_EQ(Evaluate("scalar", "2.0 ^ -2.0"), "0.25");
  EXPECT_EQ(Evaluate("scalar", "0.1 + 0.2"), "0.30000000000000004");
  EXPECT_NE(Evaluate("scalar", "1.0 / 0.0").find("[arithmetic.division-by-zero]"), std::string::npos);
  EXPECT_NE(Evaluate("scalar", "10.0 ^ 400.0").find("[arithmetic.not-finite]"), std::string::npos);
  EXPECT_NE(Evaluate("scalar", "(-1.0) ^ 0.5").find("[arithmetic.not-finite]"), std::string::npos);
}

TEST(ValuesTest, ComparisonsAndLogic) {
  EXPECT_EQ(Evaluate("logical", "1 < 2 && !(2.0 >= 3.0)"), "true");
  EXPECT_EQ(Evaluate("logical", "!true && false"), "false");
  EXPECT_EQ(Evaluate("logical", "true == false"), "false");
  EXPECT_EQ(Evaluate("logical", "'a' + 'b' == 'ab'"), "true");
  EXPECT_EQ(Evaluate("logical", "[1,2] + [3] == [1,2,3]"), "true");
  EXPECT_EQ(Evaluate("logical", "[(1,'a'), (2,'b')] != [(1,'a'), (2,'c')]"), "true");
  EXPECT_EQ(Evaluate("logical", "3 in [1,2,3]"), "true");
  EXPECT_EQ(Evaluate("logical", "(1,2) in [(2,1), (1,2)]"), "true");
  EXPECT_EQ(Evaluate("logical", "[1] in [[2], [1,1]]"), "false");
  // A prefix differs from the whole, on either side.
  EXPECT_EQ(Evaluate("logical", "[1,2] == [1,2,3] || [1,2,3] == [1,2] || 'ab' == 'abc' || 'abc' == 'ab'"),
            "false");
  EXPECT_EQ(Evaluate("logical", "[1,2] != [1,2,3] && [1,2,3] != [1,2] && [] != [1] && [1] != []"), "true");
  EXPECT_EQ(Evaluate("logical", "[1,2] in [[1], [1,2,3]]"), "false");
}

// Each comparison of a lesser, an equal and a greater number.
TEST(ValuesTest, ComparisonsOfNumbers) {
  struct Comparison {
    const char* op;
    std::array<const char*, 3> results;
  };
  const Comparison comparisons[] = {
      {"<", {"true", "false", "false"}},  {"<=", {"true", "true", "false"}},
      {">", {"false", "false", "true"}},  {">=", {"false", "true", "true"}},
      {"==", {"false", "true", "false"}}, {"!=", {"true", "false", "true"}},
  };
  // Beyond 2^53, integers are not compared as scalars.
  const std::array<const char*, 4> numbers[] = {
      {"1", "2", "2", "1"},
      {"-2", "-1", "-1", "-2"},
      {"9007199254740992", "9007199254740993", "9007199254740993", "9007199254740992"},
      {"1.5", "1.75", "1.75", "1.5"},
      {"-0.5", "0.0", "0.0", "-0.5"}};
  for (const auto& [op, results] : comparisons) {
    for (const auto& [low, high, other_high, other_low] : numbers) {
      const std::pair<const char*, const char*> operands[] = {
          {low, high}, {high, other_high}, {other_high, other_low}};
      for (size_t i = 0; i < results.size(); ++i) {
        const std::string text = fmt::format("{} {} {}", operands[i].first, op, operands[i].second);
        EXPECT_EQ(Evaluate("logical", text), results[i]) << text;
      }
    }
  }
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      EXPECT_EQ(Evaluate("logical", fmt::format("{} && {}", a, b)), a && b ? "true" : "false");
      EXPECT_EQ(Evaluate("logical", fmt::format("{} || {}", a, b)), a || b ? "true" : "false");
      EXPECT_EQ(Evaluate("logical", fmt::format("{} == {}", a, b)), a == b ? "true" : "false");
    }
  }
}

// The largest and the least result of each operator, and the next one beyond.
TEST(ValuesTest, LimitsOfArithmetic) {
  const std::string_view integers[][2] = {
      {"9223372036854775806 + 1", "9223372036854775807"},
      {"9223372036854775807 + 1", "[arithmetic.overflow]"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
      {"-9223372036854775807 - 1 - 1", "[arithmetic.overflow]"},
      {"0 - 9223372036854775807", "-9223372036854775807"},
      {"3037000499 * 3037000499", "9223372030926249001"},
      {"3037000500 * 3037000500", "[arithmetic.overflow]"},
      {"4611686018427387904 * -2", "-9223372036854775808"},
      {"4611686018427387904 * 2", "[arithmetic.overflow]"},
      {"-(-9223372036854775807)", "9223372036854775807"},
      {"-(-9223372036854775807 - 1)", "[arithmetic.overflow]"},
      {"(-9223372036854775807 - 1) / 1", "-9223372036854775808"},
      {"+(-3)", "-3"},
      {"7 - 10", "-3"},
  };
  for (const auto& [text, expected] : integers)
    EXPECT_NE(Evaluate("integer", text).find(expected), std::string::npos) << text;
  const std::string_view scalars[][2] = {
      {"7.0 - 10.0", "-3.0"},
      {"7.0 / 2.0", "3.5"},
      {"-(1.5)", "-1.5"},
      {"+(-1.5)", "-1.5"},
      {"1.7e308 + 0.05e308", "1.75e+308"},
      {"1.7e308 + 0.2e308", "[arithmetic.not-finite]"},
      {"-1.7e308 - 0.2e308", "[arithmetic.not-finite]"},
      {"1e200 * 1e108", "1e+308"},
      {"1e200 * 1e109", "[arithmetic.not-finite]"},
      {"1e300 / 1e-9", "[arithmetic.not-finite]"},
      {"1.0 / -0.0", "[arithmetic.division-by-zero]"},
      {"2.0 ^ 1023.0", "8.98846567431158e+307"},
      {"2.0 ^ 1024.0", "[arithmetic.not-finite]"},
  };
  for (const auto& [text, expected] : scalars)
    EXPECT_NE(Evaluate("scalar", text).find(expected), std::string::npos) << text;
}

TEST(ValuesTest, Sequences) {
  EXPECT_EQ(Evaluate("integers", "[1,2] + [3] * 2"), "[1, 2, 3, 3]");
  EXPECT_EQ(Evaluate("pairs", "[(0,0), (1,1)] * 2"), "[(0, 0), (1, 1), (0, 0), (1, 1)]");
  EXPECT_EQ(Evaluate("integer", "[1,2,3][1]"), "2");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][1:]"), "[2, 3]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][:2]"), "[1, 2]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][2:1]"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][1:][1:]"), "[3]");
  EXPECT_EQ(Evaluate("string", "'abc'[1]"), "'b'");
  EXPECT_EQ(Evaluate("string", "'ab' * 2 + 'c'[0:]"), "'ababc'");
  EXPECT_EQ(Evaluate("integer", "((1,2), 3)[0][1]"), "2");
  // Nothing repeated is nothing, at once.
  EXPECT_EQ(Evaluate("string", "'' * 9000000000000000000"), "''");
  EXPECT_EQ(Evaluate("integers", "[1][1:] * 9000000000000000000"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1] * 0"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1, 2] * 1"), "[1, 2]");
  EXPECT_NE(Evaluate("integer", "[1,2,3][3]").find("[subscript.out-of-range]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "[1,2,3][-1]").find("[subscript.out-of-range]"), std::string::npos);
  // Both bounds of a range, each from 0 to the length.
  for (const char* range :
       {"[1:4]", "[4:4]", "[4:]", "[:4]", "[0:4]", "[-1:2]", "[-1:]", "[:-1]", "[0:-1]", "[5:2]"}) {
    for (const char* base : {"length_of([1,2,3]", "length_of('abc'"}) {
      const std::string text = base + std::string(range) + ")";
      EXPECT_NE(Evaluate("integer", text).find("[subscript.out-of-range]"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(Evaluate("integers", "[1,2,3][0:3]"), "[1, 2, 3]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][3:3]"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][3:]"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][:0]"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][3:0]"), "[]");
  EXPECT_EQ(Evaluate("integers", "[1,2,3][0:1]"), "[1]");
  EXPECT_EQ(Evaluate("string", "'abc'[3:] + 'abc'[:0] + 'abc'[2:3]"), "'c'");
  EXPECT_EQ(Evaluate("string", "'abc'[0] + 'abc'[2]"), "'ac'");
  EXPECT_NE(Evaluate("string", "'abc'[3]").find("[subscript.out-of-range]"), std::string::npos);
  EXPECT_NE(Evaluate("string", "'abc'[-1]").find("[subscript.out-of-range]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "[][0] + 1").find("[subscript.out-of-range]"), std::string::npos);
  EXPECT_NE(Evaluate("integers", "[1] * -1").find("[array.negative-repeat]"), std::string::npos);
  EXPECT_EQ(Evaluate("integers", "[1] * 0"), "[]");
}

TEST(ValuesTest, Comprehensions) {
  EXPECT_EQ(Evaluate("integers", "[for i in [1,2,3] yield i * i]"), "[1, 4, 9]");
  EXPECT_EQ(Evaluate("integers", "[for i in [1,2,3], j in [4,5,6] if i != 2 yield i + j]"), "[5, 9]");
  EXPECT_EQ(Evaluate("integers", "[for i in [1,2] yield [for j in [10,20] yield i * j][1]]"), "[20, 40]");
  EXPECT_EQ(Evaluate("integers", "[for i in range_of('abc') yield i]"), "[0, 1, 2]");
  // Each of the other arrays needs as many items as the first one.
  for (const char* arrays :
       {"i in [1,2], j in [1]", "i in [1,2], j in [1,2,3]", "i in [], j in [1]", "i in [1], j in []",
        "i in [1,2], j in [1,2], k in [1]", "i in [1,2], j in [1,2], k in [1,2,3]",
        "i in [1,2], j in [1], k in [1,2]", "i in [1,2], j in [1,2,3], k in [1,2]"}) {
    const std::string text = "[for " + std::string(arrays) + " yield 1]";
    EXPECT_NE(Evaluate("integers", text).find("[comprehension.unequal-lengths]"), std::string::npos) << text;
  }
  EXPECT_EQ(Evaluate("integers", "[for i in [1,2], j in [3,4], k in [5,6] yield i * j + k]"), "[8, 14]");
  EXPECT_EQ(Evaluate("integers", "[for i in [], j in [] yield 1]"), "[]");
  EXPECT_EQ(EvaluateProvisional("length_of([i * 2 for i in [1,2,3] if i > 1])"), "2");
  EXPECT_EQ(EvaluateProvisional("[i * 2 for i in [1,2,3] if i > 1][1]"), "6");
}

// Tuples are comparable by the items that both have, and equal if they have all of them.
TEST(ValuesTest, TuplesOfOtherLengths) {
  Heap heap(1000);
  const Value one = Value::Tuple(heap, {Value::Integer(1)});
  const Value two = Value::Tuple(heap, {Value::Integer(1), Value::Integer(2)});
  const Value mixed = Value::Tuple(heap, {Value::Integer(1), Value::Scalar(2)});
  for (const auto& [left, right, comparable, equal] : {std::tuple(&one, &one, true, true),
                                                       {&one, &two, true, false},
                                                       {&two, &one, true, false},
                                                       {&two, &mixed, false, false},
                                                       {&one, &mixed, true, false}}) {
    EXPECT_EQ(Comparable(*left, *right), comparable);
    EXPECT_EQ(Equal(*left, *right, heap), equal);
  }
}

// Whether an unknown extent is equal is not known, except for the same symbol, and except where other items
// differ anyway.
TEST(ValuesTest, UnknownExtentsInSequences) {
  Heap heap(1000);
  const Value s = Value::UnknownExtent(1), t = Value::UnknownExtent(2), open = Value::UnknownExtent();
  const auto array = [&](std::vector<Value> items) { return Value::Array(heap, std::move(items)); };
  const Value three = Value::Integer(3), four = Value::Integer(4);
  const std::optional<bool> unknown = std::nullopt, yes = true, no = false;
  for (const auto& [left, right, equal] : std::vector<std::tuple<Value, Value, std::optional<bool>>>{
           {array({s, three}), array({four, three}), unknown},
           {array({three, s}), array({three, four}), unknown},
           {array({three, four}), array({three, s}), unknown},
           {array({s, three}), array({four, four}), no},
           {array({three, s}), array({four, s}), no},
           {array({s}), array({four, three}), no},
           {array({s, three}), array({s, three}), yes},
           {array({s}), array({t}), unknown},
           {array({open}), array({open}), unknown},
           {array({array({s})}), array({array({four})}), unknown},
           {array({array({s}), array({three})}), array({array({four}), array({four})}), no}}) {
    EXPECT_TRUE(Comparable(left, right));
    EXPECT_EQ(Equal(left, right, heap), equal);
    Fault fault;
    for (const auto op : {ast::BinaryOperator::kEq, ast::BinaryOperator::kNe}) {
      const std::optional<Value> value = values::EvaluateBinary(op, left, right, heap, fault);
      ASSERT_TRUE(value.has_value());
      EXPECT_EQ(value->kind(), equal ? ValueKind::kLogical : ValueKind::kUnknownExtent);
      if (equal) {
        EXPECT_EQ(value->logical(), *equal == (op == ast::BinaryOperator::kEq));
      }
    }
  }
  EXPECT_FALSE(Comparable(array({s}), array({Value::Scalar(4)})));
  EXPECT_FALSE(Comparable(array({Value::Logical(true)}), array({s})));
  // Membership is known if an item is equal, or all items differ.
  for (const auto& [item, items, contained] : std::vector<std::tuple<Value, Value, std::optional<bool>>>{
           {four, array({three, s}), unknown},
           {four, array({s, three}), unknown},
           {four, array({s, four}), yes},
           {four, array({four, s}), yes},
           {four, array({three, three}), no},
           {s, array({three, s}), yes},
           {array({four}), array({array({three}), array({s})}), unknown},
           {array({four}), array({array({three, s}), array({s, s})}), no}}) {
    Fault fault;
    const std::optional<Value> value =
        values::EvaluateBinary(ast::BinaryOperator::kIn, item, items, heap, fault);
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(value->kind(), contained ? ValueKind::kLogical : ValueKind::kUnknownExtent);
    if (contained) {
      EXPECT_EQ(value->logical(), *contained);
    }
  }
}

// Values of different kinds differ, also where their bits are equal; tensors are equal if they are the same
// output.
TEST(ValuesTest, EqualValues) {
  Heap heap(1000);
  const std::vector<Value> values = {Value::Integer(0),
                                     Value::Integer(1),
                                     Value::Scalar(0),
                                     Value::Logical(false),
                                     Value::Logical(true),
                                     Value::String(heap, ""),
                                     Value::String(heap, "a"),
                                     Value::Tensor({ir::NodeId(0), 0}),
                                     Value::Tensor({ir::NodeId(0), 1}),
                                     Value::Tensor({ir::NodeId(1), 0}),
                                     Value::Array(heap, {Value::Integer(0)}),
                                     Value::Array(heap, {Value::Scalar(0)}),
                                     Value::Array(heap, {}),
                                     Value::Tuple(heap, {Value::Integer(0)})};
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(Equal(values[i], values[k], heap), i == k) << i << ", " << k;
  }
}

TEST(ValuesTest, LazySelect) {
  EXPECT_EQ(Evaluate("integer", "1 if true else 1 / 0"), "1");
  EXPECT_EQ(Evaluate("integer", "[1][7] if false else 2 if false else 3"), "3");
}

TEST(ValuesTest, BuiltIns) {
  EXPECT_EQ(Evaluate("integer", "length_of([1,2]) + length_of('abc')"), "5");
  EXPECT_EQ(Evaluate("integers", "range_of([7,7,7])"), "[0, 1, 2]");
  EXPECT_EQ(Evaluate("integers", "shape_of(x)"), "[1, 2, 8, 8]");
  EXPECT_EQ(Evaluate("integer", "integer(-1.5)"), "-2");
  EXPECT_EQ(Evaluate("integer", "integer('-12') + integer(true)"), "-11");
  EXPECT_EQ(Evaluate("scalar", "scalar(3) + scalar('0.5') + scalar(true)"), "4.5");
  EXPECT_EQ(Evaluate("logical", "logical('') || logical(0) || logical(0.5)"), "true");
  EXPECT_EQ(Evaluate("string", "string(0.5) + string(true) + string(-3) + string(1.0)"), "'0.5true-31.0'");
  EXPECT_NE(Evaluate("integer", "integer(1e300)").find("[cast.out-of-range]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "integer('12x')").find("[cast.not-a-literal]"), std::string::npos);
  EXPECT_NE(Evaluate("integer", "integer('1.5')").find("[cast.not-a-literal]"), std::string::npos);
  EXPECT_NE(Evaluate("scalar", "scalar('1e999')").find("[cast.out-of-range]"), std::string::npos);
  for (const char* text :
       {" 1", "", "1e", "1e+", "1ex", "1e1.5", "ex", "e1", "1.", ".5", ".", "1..2", "--1", "+1"}) {
    EXPECT_NE(Evaluate("scalar", fmt::format("scalar('{}')", text)).find("[cast.not-a-literal]"),
              std::string::npos)
        << text;
  }
  EXPECT_EQ(Evaluate("scalar", "scalar('1e2') + scalar('1.5E+1') + scalar('5e-1') + scalar('-0.25')"),
            "115.25");
}

TEST(ValuesTest, ProvisionalBuiltIns) {
  EXPECT_EQ(EvaluateProvisional("extent(-1.5)"), "-2");
  EXPECT_EQ(EvaluateProvisional("shape_of(x)[1]"), "2");
  EXPECT_EQ(EvaluateProvisional("length_of(shape_of(1.0))"), "2");
  EXPECT_EQ(EvaluateProvisional("7 / 2"), "3");
}

TEST(ValuesTest, ProvisionalAttributeResults) {
  EXPECT_EQ(EvaluateProvisional("product([2.0, 1.5, 3.0])", R"(
fragment product( factors: scalar[] ) -> ( p: scalar )
{
    p = 1.0 if factors == [] else product(factors[1:]) * factors[0]
})"),
            "9.0");
  EXPECT_EQ(EvaluateProvisional("total([(1,2), (3,4)])", R"(
fragment halves( pair: (extent,extent) ) -> ( a: extent, b: extent )
{
    a, b = pair
}
fragment total( pairs: (extent,extent)[] ) -> ( sum: extent )
{
    a, b = halves(pairs[0])
    [c, d] = [a, b]
    sum = c * d + (total(pairs[1:]) if length_of(pairs) > 1 else 0)
})"),
            "14");
}

TEST(ValuesTest, UnpackingNeedsEqualLengths) {
  for (const char* items : {"[]", "[128]", "[8, 16]", "[1, 2, 3]"}) {
    Expansion expansion(Provisional(R"(
fragment f( x: tensor, s: extent[] ) -> ( y: tensor )
{
    [a, b] = s
    y = reshape(x, shape = [a, b])
})",
                                    "    y = f(x, s = " + std::string(items) + ")"));
    const bool is_pair = std::string_view(items) == "[8, 16]";
    EXPECT_EQ(expansion.Has("assignment.length-mismatch"), !is_pair) << expansion.Diagnostics();
    EXPECT_EQ(expansion.graph != nullptr, is_pair);
  }
}

// A diagnostic is at the operand that is wrong.
TEST(ValuesTest, PlacesOfWrongBounds) {
  const auto place = [](std::string_view expr) {
    Expansion expansion(Ratified(kProbes, "    y = probe_integers(x, value = " + std::string(expr) + ");"));
    const Diagnostic* diagnostic = expansion.Find("subscript.out-of-range");
    if (diagnostic == nullptr) return expansion.Diagnostics();
    return std::string(expansion.context.sources.Text(diagnostic->range.file)
                           .substr(diagnostic->range.begin, diagnostic->range.end - diagnostic->range.begin));
  };
  EXPECT_EQ(place("[1,2,3][4:3]"), "4");
  EXPECT_EQ(place("[1,2,3][3:5]"), "5");
  EXPECT_EQ(place("[1,2,3][4:]"), "4");
  EXPECT_EQ(place("[1,2,3][:6]"), "6");
}

// Operators on literals within arrays and tuples are evaluated like others.
TEST(ValuesTest, OperatorsWithinLiterals) {
  constexpr std::string_view kFlags = R"(
fragment probe_flags( x: tensor<scalar>, value: (logical,integer) ) -> ( y: tensor<scalar> );
fragment probe_lists( x: tensor<scalar>, value: logical[] ) -> ( y: tensor<scalar> );
fragment probe_nested( x: tensor<scalar>, value: (logical,integer)[] ) -> ( y: tensor<scalar> );
)";
  EXPECT_EQ(Evaluate("flags", "(!true, -1)", kFlags), "(false, -1)");
  EXPECT_EQ(Evaluate("flags", "(true, +1)", kFlags), "(true, 1)");
  EXPECT_EQ(Evaluate("lists", "[!false, !true]", kFlags), "[true, false]");
  EXPECT_EQ(Evaluate("nested", "[(true, 1), (!true, 2)]", kFlags), "[(true, 1), (false, 2)]");
}

TEST(ValuesTest, StringsArePrintedWithEscapes) {
  EXPECT_EQ(Evaluate("string", R"('a\\b')"), R"('a\\b')");
  EXPECT_EQ(Evaluate("string", R"('it\'s')"), R"('it\'s')");
  EXPECT_EQ(Evaluate("string", R"("it's")"), R"('it\'s')");
  EXPECT_EQ(Evaluate("string", R"('say "so"')"), R"('say "so"')");
  EXPECT_EQ(Evaluate("string", R"('\\\'')"), R"('\\\'')");
}

}  // namespace
}  // namespace nnefc::expand::values
