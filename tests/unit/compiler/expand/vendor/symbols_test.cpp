// Symbols of externals in arguments: each follows from the extents of the external that states it.

#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::vendor {
namespace {

// The statements of a document with the symbols N, M, K, L in the shapes of its externals.
std::string WithSymbols(std::string_view statements) {
  Expansion expansion(
      "version 1.0;\n"
      "extension tract_registry tract_core;\n"
      "extension tract_symbol N;\nextension tract_symbol M;\nextension tract_symbol K;\nextension "
      "tract_symbol "
      "L;\nextension tract_symbol J;\n"
      "graph g( x, o, q, r, t, u ) -> ( y )\n{\n"
      "    x = tract_core_external(shape = [24], datum_type = 'f32');\n"
      "    o = tract_core_external(shape = [N,3], datum_type = 'f32');\n"
      "    q = tract_core_external(shape = [2,M], datum_type = 'f32');\n"
      "    r = tract_core_external(shape = [K+1,4], datum_type = 'f32');\n"
      "    t = tract_core_external(shape = [2*L,4], datum_type = 'f32');\n"
      "    u = tract_core_external(shape = [N,J-2], datum_type = 'f32');\n" +
      std::string(statements) +
      "\n"
      "}\n");
  return StatementsOf(expansion);
}

// Returns the operand of an expression in `text`, with the names of tensors replaced by what computes them.
std::string Resolved(const std::string& text, std::string name) {
  const std::string head = name + " = ";
  const size_t at = text.starts_with(head) ? 0 : text.find("\n" + head);
  if (at == std::string::npos) return name;
  const size_t begin = text.find(head, at) + head.size();
  const std::string call = text.substr(begin, text.find(";\n", begin) - begin);
  const size_t open = call.find('(') + 1, end = call.find_first_of(",)", open);
  return call.substr(0, open) + Resolved(text, call.substr(open, end - open)) + call.substr(end);
}

TEST(SymbolsTest, EachFollowsFromItsExternal) {
  const auto extent = [](std::string_view symbol) {
    const std::string text =
        WithSymbols(fmt::format("    y = slice(x, axes = [0], begin = [0], end = [{}]);", symbol));
    const size_t begin = text.rfind("stack([") + 7;
    return Resolved(text, text.substr(begin, text.find(']', begin) - begin));
  };
  EXPECT_EQ(extent("N"), "tract_core_extent(o, axis = 0)");
  EXPECT_EQ(extent("M"), "tract_core_extent(q, axis = 1)");
  EXPECT_EQ(extent("K"), "cast<integer>(sub(cast<scalar>(tract_core_extent(r, axis = 0)), 1.0))");
  EXPECT_EQ(extent("L"), "cast<integer>(div(cast<scalar>(tract_core_extent(t, axis = 0)), 2.0))");
  EXPECT_EQ(extent("J"), "cast<integer>(add(cast<scalar>(tract_core_extent(u, axis = 1)), 2.0))");
}

// Expressions of extents, the first one of a document included.
TEST(SymbolsTest, Expressions) {
  const auto extent = [](std::string_view statements) {
    const std::string text =
        FromTract(std::string(statements) + " y = slice(v, axes = [0], begin = [0], end = [k]);");
    const size_t begin = text.rfind("stack([") + 7;
    return Resolved(text, text.substr(begin, text.find(']', begin) - begin));
  };
  const std::string n = "cast<scalar>(tract_core_extent(o, axis = 0))";
  EXPECT_EQ(extent("k = n * 2;"), "cast<integer>(mul(" + n + ", 2.0))");
  EXPECT_EQ(extent("k = n + 3;"), "cast<integer>(add(" + n + ", 3.0))");
  EXPECT_EQ(extent("k = n - 1;"), "cast<integer>(sub(" + n + ", 1.0))");
  EXPECT_EQ(extent("k = n / 2;"), "cast<integer>(div(" + n + ", 2.0))");
  EXPECT_EQ(extent("k = n * 2 + 1;"),
            "cast<integer>(add(cast<scalar>(cast<integer>(mul(" + n + ", 2.0))), 1.0))");
}

// Operators on known tensors are those of tensors.
TEST(SymbolsTest, OperatorsOnExtents) {
  ExpectRows(
      {{"k = s + s; y = tile(x, repeats = k);", "y = tile(x, repeats = [2, 8, 12, 10]);\n"},
       {"k = s * 2; y = tile(x, repeats = k);", "y = tile(x, repeats = [2, 8, 12, 10]);\n"},
       {"k = 2 * s; y = tile(x, repeats = k);", "y = tile(x, repeats = [2, 8, 12, 10]);\n"},
       {"k = s - 1 + s; y = tile(x, repeats = k);", "y = tile(x, repeats = [1, 7, 11, 9]);\n"},
       {"k = s * s / s; y = tile(x, repeats = k);", "y = tile(x, repeats = [1, 4, 6, 5]);\n"},
       {"k = select(s > 4, s, 1); y = tile(x, repeats = k);", "y = tile(x, repeats = [1, 1, 6, 5]);\n"},
       {"k = [9, 2, 3]; y = tile(x, repeats = k[1:] + k[1:]);", "y = tile(x, repeats = [2, 3, 2, 3]);\n"},
       {"k = x * scalar(s[1]); y = tile(k, repeats = s[0:4]);",
        "k = mul(x, 4.0);\ny = tile(k, repeats = [1, 4, 6, 5]);\n"},
       {"k = -(-s); y = tile(x, repeats = k);", "y = tile(x, repeats = [1, 4, 6, 5]);\n"},
       {"y = x * scalar(length_of(x));",
        "the argument of `length_of` is of type `tensor<scalar>`; expected an array or a string "
        "[type.builtin-argument]\n"},
       {"y = x * scalar(true + 1);",
        "the operator `+` does not go with `logical` and `integer` [type.operator]\n"},
       {"y = x * scalar(2 + true);",
        "the operator `+` does not go with `integer` and `logical` [type.operator]\n"},
       {"y = x * (2 + 1.5);", "y = mul(x, 3.5);\n"},
       {"y = x * (1.5 + 2);", "y = mul(x, 3.5);\n"},
       {"y = x * scalar(x);",
        "the argument of `scalar` is of type `tensor<scalar>`; expected a value of a primitive type "
        "[type.builtin-argument]\n"},
       {"y = x * scalar(length_of(shape_of(x)));", "y = mul(x, 4.0);\n"}},
      FromTract);
}

}  // namespace
}  // namespace nnefc::expand::vendor
