// Constants in types that NNEF lacks, bodies without a form, and inputs and results of the target nnefc.

#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/raise/raising_support.h"

namespace nnefc::raise {
namespace {

using Lines = std::vector<std::string>;

std::string First(const Lines& lines) {
  return lines.empty() ? "" : lines.front();
}

// x + c for a constant in a type.
std::string SumOf(const std::string& type, const std::string& items) {
  const std::string element = type.substr(0, type.find('['));
  return fmt::format(
      "%0 = opset1.Parameter \"x\" {{element_type = {0}, shape = shape{1}}} : {2}\n"
      "%1 = opset1.Const \"c\" : {2} = dense<{2}: {3}>\n%2 = opset1.Add \"y\" (%0, %1) : {2}\n"
      "opset1.Result \"y\" (%2)\n",
      element, type.substr(element.size()), type, items);
}

Lines StatementsFor(const std::string& body) {
  const Raising raising(body, {.target = Target::kNnefc});
  return raising.ok() ? raising.Statements() : Lines{"! " + First(raising.Messages())};
}

// A constant is stored in NNEF's type if that has the same numbers.
TEST(RaiseForNnefc, ExactConstants) {
  EXPECT_EQ(StatementsFor(SumOf("f16[2]", "0.5, 0.25")),
            (Lines{"x_external_as_f16 = opset1_Convert(x, destination_type = 'f16');",
                   "c = constant(shape = [2], value = [0.5, 0.25]);",
                   "c_as_f16 = opset1_Convert(c, destination_type = 'f16');",
                   "y_2 = opset1_Add(x_external_as_f16, c_as_f16);",
                   "y = opset1_Convert(y_2, destination_type = 'f32');"}));
  EXPECT_EQ(StatementsFor(SumOf("f64[2]", "0.5, inf")).at(2),
            "c_as_f64 = opset1_Convert(c, destination_type = 'f64');");
  EXPECT_EQ(StatementsFor(SumOf("i32[2]", "7, -7")).at(2),
            "c_as_i32 = opset1_Convert(c, destination_type = 'i32');");
  EXPECT_EQ(StatementsFor(SumOf("i64[2]", "7, -7")).front(),
            "c = constant<integer>(shape = [2], value = [7, -7]);");
  EXPECT_EQ(StatementsFor(SumOf("f32[2]", "7.0, 0.1")).front(),
            "c = constant(shape = [2], value = [7.0, 0.1]);");
}

// Numbers of f64 are sums of up to three scalars, unless they are larger than every scalar.
TEST(RaiseForNnefc, SumsOfScalars) {
  const std::vector<double> values = {0.1,       1.0 / 3, 3.141592653589793, 1e-30,  -0.0, 123456789.12345679,
                                      -1e10 / 3, 7,       1 + 0x1p-52,       0x1p-24};
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const double last : {-0.0, nan, inf, -inf, 1.0}) {
    std::vector<double> all = values;
    all.push_back(last);
    std::string items;
    for (const double value : all) items += fmt::format("{}{}", items.empty() ? "" : ", ", value);
    const Raising raising(SumOf("f64[11]", items), {.target = Target::kNnefc});
    ASSERT_TRUE(raising.ok()) << First(raising.Messages());
    EXPECT_EQ(raising.raised().data.size(), 3u);
    for (size_t i = 0; i < all.size(); ++i) {
      double sum = -0.0;
      for (const auto& [label, part] : raising.raised().data) {
        EXPECT_EQ(part.type(), ElementType::kF32);
        sum += part.ElementAsDouble(static_cast<int64_t>(i));
      }
      EXPECT_TRUE(sum == all[i] || (std::isnan(sum) && std::isnan(all[i]))) << sum << " " << all[i];
      EXPECT_EQ(std::signbit(sum), std::signbit(all[i])) << all[i];
    }
    size_t sums = 0;
    for (const std::string& statement : raising.Statements())
      sums += statement.find("opset1_Add(") != std::string::npos ? 1 : 0;
    EXPECT_EQ(sums, 3u);
  }
  // Two parts suffice for 48 bits.
  const Raising two(SumOf("f64[2]", "1.00000005960464477539, 1.0"), {.target = Target::kNnefc});
  ASSERT_TRUE(two.ok());
  size_t conversions = 0;
  for (const std::string& statement : two.Statements())
    conversions += statement.find("destination_type = 'f64'") != std::string::npos ? 1 : 0;
  EXPECT_EQ(conversions, 3u);  // of the input and both parts

  const auto message = [](const std::string& type, const std::string& items) {
    const std::string text = StatementsFor(SumOf(type, items)).front();
    const size_t at = text.find("its input");
    return at == std::string::npos ? text : text.substr(at);
  };
  EXPECT_EQ(message("f64[2]", "1.0, 1e300"),
            "its input 1 is a constant of the type f64, and not all of its elements are sums of scalars");
}

// Constants of more elements are stored in half precision if they were, and have all their digits.
TEST(RaiseForNnefc, StoredHalves) {
  for (const auto& [type, stored] : {std::pair("f16", ElementType::kF16), {"bf16", ElementType::kF32}}) {
    const Raising raising(SumOf(fmt::format("{}[9]", type), "1, 2, 3, 4, 5, 6, 7, 8, 0.5"),
                          {.target = Target::kNnefc});
    ASSERT_TRUE(raising.ok());
    ASSERT_EQ(raising.raised().data.size(), 1u);
    EXPECT_EQ(Name(raising.raised().data.at("c").type()), Name(stored)) << type;
    EXPECT_EQ(raising.raised().data.at("c").ElementAsDouble(8), 0.5);
  }
}

TEST(RaiseForNnefc, ConstantsWithoutElements) {
  EXPECT_EQ(StatementsFor("%0 = opset1.Const \"c\" : u64[0] = dense<u64[0]: >\n"
                          "%1 = opset1.Const \"d\" : f32[0,2] = dense<f32[0,2]: >\n"
                          "%2 = opset1.Const \"e\" : f32[1] = dense<f32[1]: 2.0>\n"
                          "opset1.Result \"x\" (%0)\nopset1.Result \"y\" (%1)\nopset1.Result \"z\" (%2)\n"),
            (Lines{"x_Const = opset1_Const(element_type = 'u64', shape = '[0]');",
                   "x = opset1_Convert(x_Const, destination_type = 'i64');",
                   "y = opset1_Const(element_type = 'f32', shape = '[0,2]');",
                   "e = constant(shape = [1], value = [2.0]);", "z = copy(e);"}));
}

// A result that is a constant has its exact value, and NNEF's type.
TEST(RaiseForNnefc, ConstantsAsResults) {
  const auto statements = [](std::string_view type, std::string_view items) {
    return StatementsFor(fmt::format(
        "%0 = opset1.Const \"c\" : {0}[2] = dense<{0}[2]: {1}>\nopset1.Result \"y\" (%0)\n", type, items));
  };
  EXPECT_EQ(statements("f32", "0.5, 2"),
            (Lines{"c = constant(shape = [2], value = [0.5, 2.0]);", "y = copy(c);"}));
  EXPECT_EQ(statements("f64", "0.5, 2"), (Lines{"c = constant(shape = [2], value = [0.5, 2.0]);",
                                                "c_as_f64 = opset1_Convert(c, destination_type = 'f64');",
                                                "y = opset1_Convert(c_as_f64, destination_type = 'f32');"}));
  EXPECT_EQ(statements("u64", "5, 2"), (Lines{"c = constant<integer>(shape = [2], value = [5, 2]);",
                                              "c_as_u64 = opset1_Convert(c, destination_type = 'u64');",
                                              "y = opset1_Convert(c_as_u64, destination_type = 'i64');"}));
}

// Equal logicals are written once, however numerous.
TEST(RaiseForNnefc, RepeatedLogicals) {
  const auto statement = [](const std::string& items) {
    return StatementsFor(
               "%0 = opset1.Parameter \"x\" {element_type = boolean, shape = shape[9]} : boolean[9]\n"
               "%1 = opset1.Const \"c\" : boolean[9] = dense<boolean[9]: " +
               items + ">\n%2 = opset1.LogicalAnd \"y\" (%0, %1) : boolean[9]\nopset1.Result \"y\" (%2)\n")
        .front();
  };
  EXPECT_EQ(statement("1, 1, 1, 1, 1, 1, 1, 1, 1"), "c = constant<logical>(shape = [9], value = [true]);");
  EXPECT_EQ(statement("0, 0, 0, 0, 0, 0, 0, 0, 0"), "c = constant<logical>(shape = [9], value = [false]);");
  EXPECT_EQ(statement("1, 1, 1, 1, 1, 1, 1, 1, 0"), "c = variable<logical>(shape = [9], label = 'c');");
}

// The source knows a shape that follows from values in a type that the document converts.
TEST(RaiseForNnefc, ShapesDeterminedByValues) {
  EXPECT_EQ(StatementsFor("%0 = opset1.Parameter \"x\" {element_type = f16, shape = shape[6]} : f16[6]\n"
                          "%1 = opset1.Const \"s\" : i32[2] = dense<i32[2]: 2, 3>\n"
                          "%2 = opset1.Reshape \"r\" (%0, %1) : f16[2,3]\n"
                          "%3 = opset1.Convert \"c\" (%2) {destination_type = f32} : f32[2,3]\n"
                          "%4 = opset1.Const \"t\" : i64[3] = dense<i64[3]: 2, 1, 3>\n"
                          "%5 = opset1.Reshape \"y\" (%3, %4) : f32[2,1,3]\nopset1.Result \"y\" (%5)\n")
                .back(),
            "y = reshape(c, shape = [0, 1, 3]);");
  // The scales are data of a variable, which inference does not know.
  EXPECT_EQ(
      StatementsFor("%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[1,1,1,1,1,1,1,2,2]} : "
                    "f32[1,1,1,1,1,1,1,2,2]\n"
                    "%1 = opset1.Const \"s\" : f32[9] = dense<f32[9]: 1, 1, 1, 1, 1, 1, 1, 2, 2>\n"
                    "%2 = opset1.Const \"a\" : i64[9] = dense<i64[9]: 0, 1, 2, 3, 4, 5, 6, 7, 8>\n"
                    "%3 = opset11.Interpolate \"i\" (%0, %1, %2) {mode = \"cubic\", shape_calculation_mode = "
                    "\"scales\", coordinate_transformation_mode = \"half_pixel\"} : f32[1,1,1,1,1,1,1,4,4]\n"
                    "%4 = opset1.Const \"t\" : i64[1] = dense<i64[1]: 16>\n"
                    "%5 = opset1.Reshape \"y\" (%3, %4) : f32[16]\nopset1.Result \"y\" (%5)\n")
          .back(),
      "y = reshape(i, shape = [-1]);");
}

// A constant in NNEF's type is shared by operations of both kinds; each converted tensor is one result.
TEST(RaiseForNnefc, ConstantsOfBothKindsOfOperations) {
  EXPECT_EQ(StatementsFor("%0 = opset1.Parameter \"x\" {element_type = i32, shape = shape[2]} : i32[2]\n"
                          "%1 = opset1.Const \"c\" : i32[2] = dense<i32[2]: 3, 4>\n"
                          "%2 = opset1.Add \"a\" (%0, %1) : i32[2]\n"
                          "%3 = opset1.Less \"l\" (%0, %1) : boolean[2]\n"
                          "opset1.Result \"y\" (%2)\nopset1.Result \"z\" (%3)\n"),
            (Lines{"x_external_as_i32 = opset1_Convert(x, destination_type = 'i32');",
                   "c = constant<integer>(shape = [2], value = [3, 4]);",
                   "c_as_i32 = opset1_Convert(c, destination_type = 'i32');",
                   "a = opset1_Add(x_external_as_i32, c_as_i32);", "l_scalars_0 = cast<scalar>(x);",
                   "l_scalars_1 = cast<scalar>(c);", "z = lt(l_scalars_0, l_scalars_1);",
                   "y = opset1_Convert(a, destination_type = 'i64');"}));
  EXPECT_EQ(
      StatementsFor(SumOf("f64[2]", "0.1, 1.0")),
      (Lines{"x_external_as_f64 = opset1_Convert(x, destination_type = 'f64');",
             "c = constant(shape = [2], value = [0.1, 1.0]);",
             "c_as_f64 = opset1_Convert(c, destination_type = 'f64');",
             "c_2 = constant(shape = [2], value = [-1.4901161e-09, -0.0]);",
             "c_as_f64_2 = opset1_Convert(c_2, destination_type = 'f64');",
             "y_Add = opset1_Add(c_as_f64, c_as_f64_2);",
             "c_3 = constant(shape = [2], value = [2.7755576e-17, -0.0]);",
             "c_as_f64_3 = opset1_Convert(c_3, destination_type = 'f64');",
             "y_Add_2 = opset1_Add(y_Add, c_as_f64_3);", "y_2 = opset1_Add(x_external_as_f64, y_Add_2);",
             "y = opset1_Convert(y_2, destination_type = 'f32');"}));
}

// Inputs have the name of their layer; extents may be open, but not the rank.
TEST(RaiseForNnefc, Inputs) {
  const auto external = [](const std::string& type, const std::string& names) {
    const size_t bracket = type.find('[');
    const Raising raising(
        fmt::format("%0 = opset1.Parameter \"x\" {{element_type = {}, shape = shape{}}} : {}{}\n"
                    "opset1.Result \"y\" (%0)\n",
                    type.substr(0, bracket), type.substr(bracket), type, names),
        {.target = Target::kNnefc});
    return raising.ok() ? raising.Externals().front() : First(raising.Messages());
  };
  EXPECT_EQ(external("f32[2,3]", ""), "x = external(shape = [2, 3]);");
  EXPECT_EQ(external("f32[2,3]", " as [\"tensor\"]"), "x = external(shape = [2, 3]);");
  EXPECT_EQ(external("f16[2,?]", ""), "x = external(shape = [2, 0]);");
  EXPECT_EQ(external("i8[?]", ""), "x = external<integer>(shape = [0]);");
  EXPECT_EQ(external("boolean[]", ""), "x = external<logical>(shape = []);");
  EXPECT_NE(external("u64[2]", "").find("its type is u64"), std::string::npos);
  EXPECT_NE(external("string[2]", "").find("its type is string"), std::string::npos);
  EXPECT_NE(external("f32[...]", "").find("NNEF needs every extent"), std::string::npos);
}

// The names of the source and the identifiers that replace them.
TEST(RaiseForNnefc, NamesOfTensors) {
  const Raising raising(
      "%0 = opset1.Parameter \"x:0\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "%1 = opset1.ReLU \"layer\" (%0) : f32[2] as [\"a/b\"]\n%2 = opset1.Exp \"dead\" (%0) : f32[2]\n"
      "%3 = opset1.Abs \"last\" (%1) : f32[2]\nopset1.Result \"the result\" (%3)\n",
      {.target = Target::kNnefc});
  ASSERT_TRUE(raising.ok());
  using Names = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(raising.raised().names, (Names{{"x:0", "x_0"}, {"a/b", "a_b"}, {"the result", "the_result"}}));
}

// All results without a form are reported.
TEST(RaiseForNnefc, ResultsWithoutAForm) {
  const Raising raising(
      "%0 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "%1 = opset1.Const \"c\" : f16[2] = dense<f16[2]: 1, 2>\n"
      "%2 = opset1.Const \"d\" : f32[0] = dense<f32[0]: >\n"
      "opset1.Result \"a\" (%1)\nopset1.Result \"b\" (%2)\nopset1.Result \"c\" (%0)\n",
      RaiseOptions{});
  EXPECT_FALSE(raising.ok());
  Lines reasons;
  for (const std::string& message : raising.Messages())
    reasons.push_back(message.substr(0, message.find("; `--target")));
  EXPECT_EQ(reasons,
            (Lines{"`Result`, the layer `a`, has no form in the ratified dialect: its constant `value` has "
                   "the type f16",
                   "`Result`, the layer `b`, has no form in the ratified dialect: its constant `value` has "
                   "no elements"}));
}

// A constant without a form in a body is that of the If or of the loop.
TEST(RaiseForNnefc, BodiesWithoutAForm) {
  const std::string wide =
      "    %0 = opset1.Parameter \"p\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "    %1 = opset1.Const \"k\" : f64[2] = dense<f64[2]: 1, 1e300>\n"
      "    %2 = opset1.Convert \"c\" (%0) {destination_type = f64} : f64[2]\n"
      "    %4 = opset1.Add \"a\" (%2, %1) : f64[2]\n"
      "    %3 = opset1.Convert \"d\" (%4) {destination_type = f32} : f32[2]\n    opset1.Result \"r\" (%3)\n";
  const std::string plain =
      "    %0 = opset1.Parameter \"p\" {element_type = f32, shape = shape[2]} : f32[2]\n"
      "    %3 = opset1.ReLU \"a\" (%0) : f32[2]\n    opset1.Result \"r\" (%3)\n";
  const std::string open =
      "%0 = opset1.Parameter \"c\" {element_type = boolean, shape = shape[]} : boolean[]\n"
      "%1 = opset1.Parameter \"x\" {element_type = f32, shape = shape[2]} : f32[2]\n";
  for (const auto& [first, second] : {std::pair(wide, plain), {plain, wide}, {wide, wide}}) {
    const Raising branch(fmt::format("{}%2 = opset8.If \"if\" (%0, %1) : f32[2] bodies {{\n"
                                     "  \"then_body\" input 1 -> 0 output 0 -> 0 graph \"t\" {{\n{}  }}\n"
                                     "  \"else_body\" input 1 -> 0 output 0 -> 0 graph \"e\" {{\n{}  }}\n}}\n"
                                     "opset1.Result \"y\" (%2)\n",
                                     open, first, second),
                         {.target = Target::kNnefc});
    EXPECT_FALSE(branch.ok());
    ASSERT_EQ(branch.Messages().size(), 1u);
    EXPECT_NE(branch.Messages().front().find("not all of its elements are sums of scalars"),
              std::string::npos);
  }
  const Raising loop(
      open +
          "%2 = opset1.TensorIterator \"loop\" (%1) : f32[2] bodies {\n  \"body\" input 0 -> 0 "
          "output 0 -> 0 graph \"b\" {\n" +
          wide + "  }\n}\nopset1.Result \"y\" (%2)\n",
      {.target = Target::kNnefc});
  EXPECT_FALSE(loop.ok());
  ASSERT_EQ(loop.Messages().size(), 1u);
}

// Loops in standard operations: the message names the flag if that unrolls them.
TEST(RaiseForNnefc, LoopsOfTheStandard) {
  const auto reason = [](const std::string& extent, bool unrolls) {
    const Raising raising(
        fmt::format("%0 = opset1.Parameter \"x\" {{element_type = f32, shape = shape[{0}]}} : f32[{0}]\n"
                    "%1 = opset1.TensorIterator \"loop\" (%0) : f32[{0}] bodies {{\n"
                    "  \"body\" input 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) output 0 -> 0 "
                    "slice(axis 0, start 0, end -1, stride 1, part 1) graph \"b\" {{\n"
                    "    %0 = opset1.Parameter \"p\" {{element_type = f32, shape = shape[1]}} : f32[1]\n"
                    "    %1 = opset1.ReLU \"r\" (%0) : f32[1]\n    %2 = opset1.Exp \"e\" (%1) : f32[1]\n"
                    "    opset1.Result \"y\" (%2)\n  }}\n}}\nopset1.Result \"y\" (%1)\n",
                    extent),
        {.unrolls = unrolls});
    const std::string message = First(raising.Messages());
    const size_t at = message.find("dialect: ") + 9;
    return message.substr(at, message.find("; `--target") - at);
  };
  EXPECT_EQ(reason("32768", false),
            "NNEF has no loops; `--unroll` writes its 32768 iterations as standard operations");
  const std::string large =
      "NNEF has no loops, and `--unroll` writes those without state whose iterations are at most 65536 "
      "operations in all";
  EXPECT_EQ(reason("32769", false), large);
  EXPECT_EQ(reason("32768", true), large);
}

}  // namespace
}  // namespace nnefc::raise
