// Values of literals of a document.

#include "compiler/expand/literal_value.h"

#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand {
namespace {

// The items of literals are those of the document, whose size is limited: they do not count towards the limit
// of items.
TEST(LiteralValueTest, AreNotCharged) {
  Expansion expansion(Ratified(
      "fragment f( x: tensor<scalar>, a: string = 'text', b: integer[] = [1, -2], c: (integer,string) = "
      "(1, 'a'), d: string[] = ['a', 'b'] ) -> ( y: tensor<scalar> );",
      "    y = f(x);"));
  const ast::Document& document = expansion.checked->ast();
  const auto& parameters = document.fragments.begin()->parameters;
  ASSERT_EQ(parameters.size(), 5u);
  for (size_t i = 1; i < 5; ++i) {
    Heap heap(1000);
    const std::optional<Value> value =
        LiteralValue(document, parameters[i].default_value, expansion.context.symbols, heap);
    ASSERT_TRUE(value);
    EXPECT_GT(value->length(), 0) << i;
    EXPECT_EQ(heap.live(), 0) << i;
  }
}

}  // namespace
}  // namespace nnefc::expand
