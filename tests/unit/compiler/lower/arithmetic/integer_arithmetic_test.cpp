// Arithmetic of integers, which the language has only by casts to scalars and back (R 4.2).

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/core.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/lower/lowering_support.h"

namespace nnefc::lower {
namespace {

// Integers that become scalars for one operation and integers again: f32 has no part in it (R 4.2).
TEST(IntegerArithmetic, IsExact) {
  struct Case {
    std::string_view op, attributes;
    int inputs;
    std::string_view last, operands;  // the operation of the result, and those of its inputs
  };
  const Case cases[] = {
      {"add", "", 2, "Add", "Parameter Parameter"},
      {"sub", "", 2, "Subtract", "Parameter Parameter"},
      {"mul", "", 2, "Multiply", "Parameter Parameter"},
      {"min", "", 2, "Minimum", "Parameter Parameter"},
      {"max", "", 2, "Maximum", "Parameter Parameter"},
      {"neg", "", 1, "Negative", "Parameter"},
      {"abs", "", 1, "Abs", "Parameter"},
      {"sqr", "", 1, "Multiply", "Parameter Parameter"},
      {"relu", "", 1, "Maximum", "Parameter Const"},
      {"clamp", "", 3, "Maximum", "Minimum Parameter"},
      {"floor", "", 1, "Convert", "Parameter"},  // of integers to integers, which makes it an operation
      {"ceil", "", 1, "Convert", "Parameter"},
      {"round", "", 1, "Convert", "Parameter"},
      {"sum_reduce", "axes = [1]", 1, "ReduceSum", "Parameter Const"},
      {"max_reduce", "axes = [1]", 1, "ReduceMax", "Parameter Const"},
      {"min_reduce", "axes = [0,1]", 1, "ReduceMin", "Parameter Const"},
      {"sum_reduce", "axes = []", 1, "Convert", "Parameter"},
      {"div", "", 2, "Divide", "Subtract Parameter"},
      {"mean_reduce", "axes = [1]", 1, "Divide", "Subtract Const"},
      {"sum_reduce", "axes = [1], normalize = true", 1, "Divide", "Subtract Const"},
      {"pow", "", 2, "Convert", "Floor"},
      {"sqrt", "", 1, "Convert", "Floor"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(fmt::format("{} {}", each.op, each.attributes));
    NnefGraph g;
    std::vector<ir::OutputPort> scalars;
    for (int i = 0; i < each.inputs; ++i) {
      const std::string name = "x" + std::to_string(i);
      scalars.push_back(g.Op("cast", name + "s", {g.External(name, "i64[2,3]")}, "dtype = \"scalar\""));
    }
    const auto result = g.Op(each.op, "r", scalars, each.attributes);
    g.Result("y", g.Op("cast", "y", {result}, "dtype = \"integer\""));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    const ir::Node& last = g.ResultOf("y");
    EXPECT_EQ(last.type(), each.last);
    std::string operands;
    for (int i = 0; i < last.num_inputs(); ++i)
      operands += (i == 0 ? "" : " ") + std::string(g.Input(last, i).type());
    EXPECT_EQ(operands, each.operands);
  }
}

// Constants are integers if all of them are whole and exact in f64; a quotient by zero stays a scalar.
TEST(IntegerArithmetic, NeedsIntegers) {
  struct Case {
    std::string_view op;
    double constant;
    std::string_view last;
  };
  const Case cases[] = {{"add", 3.0, "Add"},
                        {"add", -9007199254740991.0, "Add"},
                        {"add", 9007199254740992.0, "Convert"},
                        {"add", -9007199254740992.0, "Convert"},
                        {"add", 0.5, "Convert"},
                        {"div", 2.0, "Divide"},
                        {"div", -2.0, "Divide"},
                        {"div", 0.5, "Convert"},
                        {"div", 0.0, "Convert"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(fmt::format("{} {}", each.op, each.constant));
    NnefGraph g;
    const auto x = g.Op("cast", "s", {g.External("x", "i64[2,3]")}, "dtype = \"scalar\"");
    const auto result = g.Op(each.op, "r", {x, g.Literal(each.constant)});
    g.Result("y", g.Op("cast", "y", {result}, "dtype = \"integer\""));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.ResultOf("y").type(), each.last);
  }
}

// Only a cast to integers makes the arithmetic one of integers.
TEST(IntegerArithmetic, CastsToLogicalsAreOfScalars) {
  NnefGraph g;
  const auto x = g.Op("cast", "s", {g.External("x", "i64[2,3]")}, "dtype = \"scalar\"");
  g.Result("y", g.Op("cast", "y", {g.Op("add", "r", {x, g.Literal(3)})}, "dtype = \"logical\""));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  EXPECT_EQ(g.Operations(), "Convert Add Convert");
  EXPECT_EQ(g.ResultOf("y").output().type, ElementType::kBoolean);
}

// The divisor of a mean is the number of its elements.
TEST(IntegerArithmetic, MeansAreDividedByTheirElements) {
  const auto divisor = [](std::string_view shape, std::string_view axes) -> std::vector<int64_t> {
    NnefGraph g;
    const auto x = g.Op("cast", "xs", {g.External("x", shape)}, "dtype = \"scalar\"");
    const auto mean = g.Op("mean_reduce", "m", {x}, fmt::format("axes = {}", axes));
    g.Result("r", g.Op("cast", "r", {mean}, "dtype = \"integer\""));
    EXPECT_NE(g.Lower(), nullptr) << g.FirstMessage();
    const ir::Node& last = g.ResultOf("r");
    if (last.type() != "Divide") return {};
    return g.IntInput(last, 1);
  };
  EXPECT_EQ(divisor("i64[2,3,4]", "[1]"), std::vector<int64_t>{3});
  EXPECT_EQ(divisor("i64[2,3,4]", "[0,2]"), std::vector<int64_t>{8});
  EXPECT_EQ(divisor("i64[2,3,4]", "[0,1,2]"), std::vector<int64_t>{24});
  EXPECT_EQ(divisor("i64[2,1,4]", "[1]"), std::vector<int64_t>{1});
  EXPECT_EQ(divisor("i64[2,?,4]", "[1]"), std::vector<int64_t>{});
  EXPECT_EQ(divisor("i64[?,3,4]", "[1]"), std::vector<int64_t>{3});
}

// floor of a fraction rounds as the cast of the fraction does.
TEST(IntegerArithmetic, FloorOfAFraction) {
  for (const char* variant : {"fraction", "floor", "ceil", "product"}) {
    const std::string is = variant;
    NnefGraph g;
    const auto x = g.Op("cast", "xs", {g.External("x", "i64[2,3]")}, "dtype = \"scalar\"");
    const auto y = g.Op("cast", "ys", {g.External("y", "i64[2,3]")}, "dtype = \"scalar\"");
    auto value = g.Op(is == "product" ? "pow" : "div", "q", {x, y});
    if (is != "fraction") value = g.Op(is == "ceil" ? "ceil" : "floor", "f", {value});
    g.Result("r", g.Op("cast", "r", {value}, "dtype = \"integer\""));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    const bool is_whole = is == "fraction" || is == "floor";
    EXPECT_EQ(g.ResultOf("r").type(), is_whole ? "Divide" : "Convert") << is;
    EXPECT_EQ(g.Operations().find("Floor ") != std::string::npos, !is_whole) << g.Operations();
  }
}

// ceil if negative, else floor: the quotient of integers rounded toward zero is one division. Any other
// choice is computed as written.
TEST(IntegerArithmetic, DividesWhereAQuotientIsRoundedTowardZero) {
  for (const char* variant :
       {"", "le", "gt", "exchanged", "two ceils", "one", "other quotient", "other ceil", "product"}) {
    SCOPED_TRACE(variant);
    const std::string is = variant;
    NnefGraph g;
    const auto x = g.Op("cast", "xs", {g.External("x", "i64[2,3]")}, "dtype = \"scalar\"");
    const auto y = g.Op("cast", "ys", {g.External("y", "i64[2]")}, "dtype = \"scalar\"");
    const auto quotient = g.Op(is == "product" ? "mul" : "div", "q", {x, y});
    const auto other = g.Op("div", "o", {x, x});
    const auto negative = g.Op(is == "le" || is == "gt" ? is : "lt", "n",
                               {is == "other quotient" ? other : quotient, g.Literal(is == "one" ? 1 : 0)});
    auto up = g.Op("ceil", "u", {is == "other ceil" ? other : quotient});
    auto down = g.Op(is == "two ceils" ? "ceil" : "floor", "d", {quotient});
    if (is == "exchanged") std::swap(up, down);
    const auto choice = g.Op("select", "c", {negative, up, down});
    g.Result("r", g.Op("cast", "r", {choice}, "dtype = \"integer\""));
    ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
    EXPECT_EQ(g.ResultOf("r").type(), is.empty() ? "Divide" : "Convert");
    if (!is.empty()) continue;
    EXPECT_FALSE(g.ResultOf("r").attribute("m_pythondiv").AsBool());
    EXPECT_EQ(g.Input(g.ResultOf("r"), 0).type(), "Parameter");
    EXPECT_EQ(g.Input(g.ResultOf("r"), 1).type(), "Unsqueeze");  // [2] is [2,1] here
  }
}

}  // namespace
}  // namespace nnefc::lower
