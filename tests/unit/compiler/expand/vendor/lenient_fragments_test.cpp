// Fragments of documents in lenient mode: tensors of custom operations, and tensors as attributes.

#include <gtest/gtest.h>

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::vendor {
namespace {

// Tensors of an unknown rank receive no axes, and negative axes of theirs stay.
TEST(LenientFragmentsTest, UnknownRanks) {
  const auto strict = [](std::string_view statement) {
    Expansion expansion(
        "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
        "fragment custom( x: tensor<scalar> ) -> ( y: tensor<scalar> );\n"
        "graph g( x, u ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    u = external(shape = [3]);\n"
        "    c = custom(x);\n" +
            std::string(statement) + "\n}\n",
        {}, {}, semantics::Leniency::kLenient);
    return StatementsOf(expansion);
  };
  ExpectRows({{"y = tile(c, repeats = [2,3]);", "c = custom(x);\ny = tile(c, repeats = [2, 3]);\n"},
              {"y = tile(c, repeats = []);", "c = custom(x);\ny = tile(c, repeats = []);\n"},
              {"y = matmul(c, x);", "c = custom(x);\ny = matmul(c, x);\n"},
              {"y = matmul(x, c);", "c = custom(x);\ny = matmul(x, c);\n"},
              {"y = linear(x, c, c);", "c = custom(x);\ny = linear(x, c, c);\n"},
              {"y = concat([c,c], axis = 0);", "c = custom(x);\ny = concat([c, c], axis = 0);\n"},
              {"y = gather(c, [0,1], axis = 0);",
               "c = custom(x);\n"
               "y_constant = constant<integer>(shape = [2], value = [0, 1]);\n"
               "y = gather(c, y_constant);\n"
               "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"},
              {"y = gather(x, [0,1], axis = 1);",
               "c = custom(x);\n"
               "y_constant = constant<integer>(shape = [2], value = [0, 1]);\n"
               "y = gather(x, y_constant, axis = 1);\n"
               "`indices` of `gather` is an array; expected a tensor [lenient.array-for-tensor]\n"}},
             strict);
}

// A tensor with one element is an attribute of a fragment, whatever its rank; one with several is a list.
TEST(LenientFragmentsTest, AttributesOfFragments) {
  const auto strict = [](std::string_view statement) {
    Expansion expansion(
        "version 1.0;\nextension KHR_enable_fragment_definitions;\n"
        "extension KHR_enable_operator_expressions;\n"
        "fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = leaky_relu(x, alpha = "
        "scalar(n)); }\n"
        "fragment g( x: tensor<scalar>, n: integer[] ) -> ( y: tensor<scalar> ) { y = sum_reduce(x, axes = "
        "n); }\n"
        "graph g( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n"
        "    a = constant<integer>(shape = [], value = [1]);\n"
        "    b = constant<integer>(shape = [1], value = [1]);\n"
        "    c = constant<integer>(shape = [1,1], value = [1]);\n"
        "    d = constant<integer>(shape = [2], value = [1, 0]);\n" +
            std::string(statement) + "\n}\n",
        {}, {}, semantics::Leniency::kLenient);
    const std::string text = StatementsOf(expansion);
    const size_t at = text.find("y = ");
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  for (const char* name : {"a", "b", "c"})
    EXPECT_EQ(strict(fmt::format("y = f(x, n = {});", name)), "y = leaky_relu(x, alpha = 1.0);") << name;
  EXPECT_EQ(strict("y = f(x, n = d);").find("y = "), std::string::npos);
  EXPECT_EQ(strict("y = g(x, n = b);"), "y = sum_reduce(x, axes = [1]);");
  EXPECT_EQ(strict("y = g(x, n = d);"), "y = sum_reduce(x, axes = [1, 0]);");
}

}  // namespace
}  // namespace nnefc::expand::vendor
