// The types of operators and builtin functions, for every pair of a pool of operands.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "checking.h"
#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

struct Operand {
  const char* text;
  const char* type;
};

// The declarations of the names in the operands.
constexpr std::string_view kParameters =
    "x: tensor<scalar>, l: tensor<logical>, m: tensor<integer>, xs: tensor<scalar>[], "
    "xl: (tensor<scalar>,tensor<logical>), n: integer, s: scalar, b: logical, t: string, ns: integer[], "
    "nss: integer[][], ss: scalar[], ts: (integer,scalar)";
constexpr Operand kValues[] = {{"n", "integer"},   {"s", "scalar"},     {"b", "logical"},
                               {"t", "string"},    {"ns", "integer[]"}, {"nss", "integer[][]"},
                               {"ss", "scalar[]"}, {"[]", "[]"},        {"ts", "(integer,scalar)"}};
constexpr Operand kTensors[] = {{"x", "tensor<scalar>"}, {"l", "tensor<logical>"}, {"m", "tensor<integer>"}};

// Returns the type of an expression, or the label and the column of the only error in it.
std::string TypeIn(std::string_view text, Leniency leniency = Leniency::kAuto) {
  const Checked checked(
      Ratified(
          fmt::format("fragment f( {} ) -> ( y: tensor<scalar> ) {{\nz = {}; y = x;\n}}", kParameters, text)),
      {.leniency = leniency});
  std::string errors = checked.Diagnostics();
  // Lenient mode warns of deviations.
  if (!errors.empty() && !errors.ends_with(" warning")) return errors;
  return checked.document().types().Text(checked.document().type(checked.Find(text)),
                                         ast::Dialect::kRatified);
}

bool IsNumber(std::string_view type) {
  return type == "integer" || type == "scalar";
}
bool IsArray(std::string_view type) {
  return type.ends_with("[]");
}

// Returns the type that two types of values are castable to (R 3.3.2); empty if there is none.
std::string Common(std::string_view a, std::string_view b) {
  if (a == b || (a == "[]" && IsArray(b))) return std::string(b);
  return b == "[]" && IsArray(a) ? std::string(a) : "";
}

// Returns the type of an operator on two values (R 3.2.3, 3.3.3); empty if it does not accept them.
std::string OnValues(std::string_view op, std::string_view a, std::string_view b) {
  const bool numbers = IsNumber(a) && a == b;
  if (op == "+") {
    if (numbers || (a == "string" && b == "string")) return std::string(a);
    return IsArray(a) && IsArray(b) ? Common(a, b) : "";
  }
  if (op == "*" && (IsArray(a) || a == "string") && b == "integer") return std::string(a);
  if (op == "*" || op == "-" || op == "/" || op == "^") return numbers ? std::string(a) : "";
  if (op == "<" || op == "<=" || op == ">" || op == ">=") return numbers ? "logical" : "";
  if (op == "&&" || op == "||") return a == "logical" && b == "logical" ? "logical" : "";
  if (op == "==" || op == "!=") return Common(a, b).empty() ? "" : "logical";
  // `in`: the items of an empty array have no type.
  if (!IsArray(b)) return "";
  const std::string_view item = b.substr(0, b.size() - 2);
  return item.empty() || !Common(a, item).empty() ? "logical" : "";
}

constexpr std::string_view kOperators[] = {
    "+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "in"};

TEST(OperatorTypes, OfValues) {
  for (const std::string_view op : kOperators) {
    for (const Operand& a : kValues) {
      for (const Operand& b : kValues) {
        const std::string type = OnValues(op, a.type, b.type);
        EXPECT_EQ(
            TypeIn(fmt::format("{} {} {}", a.text, op, b.text)),
            type.empty() ? fmt::format("type.operator 3:{}", 6 + std::string_view(a.text).size()) : type)
            << a.text << op << b.text;
      }
    }
  }
}

// Operands of operations: a tensor of the operation's data type, or a value that is castable to it.
TEST(OperatorTypes, OfTensors) {
  for (const std::string_view op : kOperators) {
    if (op == "in") continue;
    const bool is_logical = op == "&&" || op == "||";
    const std::string_view element = is_logical ? "logical" : "scalar";
    const bool compares = op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
    const auto fits = [&](std::string_view type) {
      return type == element || type == fmt::format("tensor<{}>", element);
    };
    const auto check = [&](const Operand& a, const Operand& b) {
      const size_t right = 5 + std::string_view(a.text).size() + op.size() + 2;
      const std::string expected = !fits(a.type)            ? "type.mismatch 3:5"
                                   : !fits(b.type)          ? fmt::format("type.mismatch 3:{}", right)
                                   : is_logical || compares ? "tensor<logical>"
                                                            : "tensor<scalar>";
      EXPECT_EQ(TypeIn(fmt::format("{} {} {}", a.text, op, b.text)), expected) << a.text << op << b.text;
    };
    for (const Operand& tensor : kTensors) {
      for (const Operand& other : kTensors) check(tensor, other);
      for (const Operand& value : kValues) {
        check(tensor, value);
        check(value, tensor);
      }
    }
  }
  // No array contains tensors.
  for (const Operand& tensor : kTensors) {
    EXPECT_EQ(TypeIn(fmt::format("{} in ns", tensor.text)), "type.operator 3:7");
    EXPECT_EQ(TypeIn(fmt::format("{} in xs", tensor.text)), "type.operator 3:7");
    EXPECT_EQ(TypeIn(fmt::format("n in {}", tensor.text)), "type.operator 3:7");
  }
}

TEST(OperatorTypes, OfOneOperand) {
  for (const Operand& each : kValues) {
    const std::string_view type = each.type;
    for (const std::string_view op : {"+", "-", "!"}) {
      const bool fits = op == "!" ? type == "logical" : IsNumber(type);
      EXPECT_EQ(TypeIn(fmt::format("{}{}", op, each.text)), fits ? type : "type.operator 3:5") << op << type;
    }
  }
  for (const Operand& each : kTensors) {
    const std::string_view type = each.type;
    EXPECT_EQ(TypeIn(fmt::format("+{}", each.text)), type);
    EXPECT_EQ(TypeIn(fmt::format("-{}", each.text)), type == "tensor<scalar>" ? type : "type.mismatch 3:6");
    EXPECT_EQ(TypeIn(fmt::format("!{}", each.text)), type == "tensor<logical>" ? type : "type.mismatch 3:6");
  }
  for (const char* other : {"xs", "xl"}) {
    for (const char* op : {"+", "-", "!"})
      EXPECT_EQ(TypeIn(fmt::format("{}{}", op, other)), "type.operator 3:5");
  }
}

// Literals and scalars of provisional documents are tensors, too (P 3.3.3): but neither integers nor strings.
TEST(OperatorTypes, OfProvisionalTensors) {
  for (const std::string_view op : {"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"}) {
    for (const std::string_view value : {"l", "s", "b", "n", "t", "ns", "ts"}) {
      const bool fits = value == "l" || value == "s" || value == "b";
      EXPECT_EQ(Checked(ProvisionalBody(fmt::format("z = x {} {} y = x", op, value))).Diagnostics(),
                fits ? "" : fmt::format("type.mismatch 3:{}", 8 + op.size()))
          << op << value;
      EXPECT_EQ(Checked(ProvisionalBody(fmt::format("z = {} {} x y = x", value, op))).Diagnostics(),
                fits ? "" : "type.mismatch 3:5")
          << op << value;
    }
  }
}

// Lenient mode computes with an integer and a scalar as with two scalars; it casts no other operands.
TEST(OperatorTypes, OfLenientNumbers) {
  for (const std::string_view op : kOperators) {
    const auto check = [&](std::string_view a, std::string_view b, const std::string& type) {
      EXPECT_EQ(TypeIn(fmt::format("{} {} {}", a, op, b), Leniency::kLenient),
                type.empty() ? fmt::format("type.operator 3:{}", 6 + a.size()) : type)
          << a << op << b;
    };
    check("n", "s", OnValues(op, "scalar", "scalar"));
    check("s", "n", OnValues(op, "scalar", "scalar"));
    if (op == "==" || op == "!=" || op == "in") continue;  // of values with a common type
    for (const Operand& a : kValues) {
      for (const Operand& b : kValues) {
        const bool is_mixed = IsNumber(a.type) && IsNumber(b.type) && std::string_view(a.type) != b.type;
        const bool is_joined = op == "+" && IsArray(a.type) && IsArray(b.type);
        if (!is_mixed && !is_joined) check(a.text, b.text, OnValues(op, a.type, b.type));
      }
    }
  }
}

// In lenient mode an item of a tensor is a number known at compile time, and a range of it is a tensor.
TEST(OperatorTypes, OfLenientSubscripts) {
  EXPECT_EQ(TypeIn("x[0]", Leniency::kLenient), "integer");
  EXPECT_EQ(TypeIn("x[0:1]", Leniency::kLenient), "tensor<scalar>");
  EXPECT_EQ(TypeIn("l[1:]", Leniency::kLenient), "tensor<logical>");
  EXPECT_EQ(TypeIn("x[0]"), "type.subscript-base 3:5");
}

TEST(OperatorTypes, OfBuiltins) {
  struct Builtin {
    const char* name;
    const char* type;
  };
  constexpr Builtin kBuiltins[] = {
      {"shape_of", "integer[]"}, {"length_of", "integer"}, {"range_of", "integer[]"}, {"integer", "integer"},
      {"scalar", "scalar"},      {"logical", "logical"},   {"string", "string"}};
  std::vector<Operand> operands(std::begin(kValues), std::end(kValues));
  operands.insert(operands.end(), std::begin(kTensors), std::end(kTensors));
  operands.insert(operands.end(), {{"xs", "tensor<scalar>[]"}, {"xl", "(tensor<scalar>,tensor<logical>)"}});
  for (const Builtin& builtin : kBuiltins) {
    const std::string_view name = builtin.name;
    for (const Operand& operand : operands) {
      const std::string_view type = operand.type;
      const bool is_tensor = type.starts_with("tensor<") && type.ends_with(">");
      const bool has_tensor = type.find("tensor<") != std::string_view::npos;
      const bool is_primitive = IsNumber(type) || type == "logical" || type == "string";
      const bool fits = name == "shape_of"      ? is_tensor || !has_tensor
                        : name.ends_with("_of") ? IsArray(type) || type == "string"
                                                : is_primitive;
      EXPECT_EQ(TypeIn(fmt::format("{}({})", name, operand.text)),
                fits ? builtin.type : fmt::format("type.builtin-argument 3:{}", 6 + name.size()))
          << name << type;
    }
  }
}

// A value of the type `?` is of a primitive type.
TEST(OperatorTypes, OfGenericValues) {
  const auto check = [](std::string_view text) {
    return Checked(
               Ratified(fmt::format(
                   "fragment f<?>( x: tensor<?>, v: ? ) -> ( y: tensor<?> ) {{\nz = {}; y = x;\n}}", text)))
        .Diagnostics();
  };
  for (const char* name : {"integer", "scalar", "logical", "string", "shape_of"})
    EXPECT_EQ(check(fmt::format("{}(v)", name)), "");
  EXPECT_EQ(check("length_of(v)"), "type.builtin-argument 3:15");
  EXPECT_EQ(check("v + v"), "type.operator 3:7");
  EXPECT_EQ(check("-v"), "type.operator 3:5");
  EXPECT_EQ(check("v == v"), "");
}

// A wrong operand is one error: an integer stands for the scalar that was meant, other results are unknown.
TEST(OperatorTypes, AfterAnError) {
  EXPECT_EQ(TypeIn("(x + l) && l"), "type.mismatch 3:10");
  EXPECT_EQ(TypeIn("(l + x) && l"), "type.mismatch 3:6");
  EXPECT_EQ(TypeIn("(x + 1) && l"), "type.mismatch 3:5\ntype.mismatch 3:10");
  EXPECT_EQ(TypeIn("(x + 1) * x"), "type.mismatch 3:10");
  EXPECT_EQ(TypeIn("(x < 1) && l"), "type.mismatch 3:10");
  EXPECT_EQ(TypeIn("!x && x"), "type.mismatch 3:6");
  EXPECT_EQ(TypeIn("(n + s) && l"), "type.operator 3:8");
  EXPECT_EQ(TypeIn("!n + t"), "type.operator 3:5");
  EXPECT_EQ(TypeIn("nope + t"), "identifier.undefined 3:5");
  EXPECT_EQ(TypeIn("t - nope"), "identifier.undefined 3:9");
  EXPECT_EQ(TypeIn("!nope"), "identifier.undefined 3:6");
  // An item of the empty array is of any type.
  EXPECT_EQ(TypeIn("[][0] - t"), "unknown");
  EXPECT_EQ(TypeIn("t - [][0]"), "unknown");
  EXPECT_EQ(TypeIn("-[][0]"), "unknown");
  for (const auto& [name, type] : {std::pair("shape_of", "integer[]"),
                                   {"length_of", "integer"},
                                   {"range_of", "integer[]"},
                                   {"integer", "integer"},
                                   {"scalar", "scalar"},
                                   {"logical", "logical"},
                                   {"string", "string"}}) {
    EXPECT_EQ(TypeIn(fmt::format("{}([][0])", name)), type) << name;
    EXPECT_EQ(TypeIn(fmt::format("{}(nope)", name)),
              fmt::format("identifier.undefined 3:{}", 6 + std::string_view(name).size()));
  }
  EXPECT_EQ(TypeIn("length_of(n) + 1"), "type.builtin-argument 3:15");
}

}  // namespace
}  // namespace nnefc::semantics
