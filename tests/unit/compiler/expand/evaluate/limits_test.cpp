#include <gtest/gtest.h>

#include <algorithm>

#include "fmt/core.h"
#include "tests/unit/compiler/expand/expansion.h"

namespace nnefc::expand::evaluate {
namespace {

constexpr std::string_view kSum = R"(
fragment sum( items: scalar[] ) -> ( total: scalar )
{
    total = items[0] + sum(items[1:]) if length_of(items) > 0 else 0.0
}
fragment add_all( x: tensor, count: extent ) -> ( y: tensor )
{
    y = x * sum([1.0] * count)
})";

TEST(LimitsTest, DeepRecursionIsOrdinary) {
  Expansion expansion(Provisional(kSum, "    y = add_all(x, count = 9000)"));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  EXPECT_EQ(expansion.Body(), "    x = external(shape = [1, 2, 8, 8]);\n    y = mul(x, 9000.0);\n");
}

// The default limit of brackets within a statement: those of the invocation count, too.
TEST(LimitsTest, NestingByDefault) {
  const auto nested = [](size_t brackets) {
    Expansion expansion(Ratified(
        "fragment probe( x: tensor<scalar>, value: integer ) -> ( y: tensor<scalar> );",
        "    y = probe(x, value = " + std::string(brackets, '(') + "1" + std::string(brackets, ')') + ");"));
    return expansion.Has("syntax.nesting-limit") ? "too deep"
           : expansion.graph != nullptr          ? "fits"
                                                 : expansion.Diagnostics();
  };
  EXPECT_EQ(nested(998), "fits");
  EXPECT_EQ(nested(999), "fits");
  EXPECT_EQ(nested(1000), "too deep");
}

TEST(LimitsTest, RecursionIsLinear) {
  // Returns the smallest number of steps that an expansion takes, to within a thousand.
  auto steps = [](int count) {
    int64_t low = 0, high = 1'000'000;
    while (high - low > 1000) {
      int64_t middle = (low + high) / 2;
      Limits limits;
      limits.steps = middle;
      Expansion expansion(Provisional(kSum, "    y = add_all(x, count = " + std::to_string(count) + ")"), {},
                          limits);
      (expansion.graph != nullptr ? high : low) = middle;
    }
    return high;
  };
  double ratio = static_cast<double>(steps(5000)) / static_cast<double>(steps(2500));
  EXPECT_NEAR(ratio, 2.0, 0.1);
}

TEST(LimitsTest, RecursionOverTensors) {
  Expansion expansion(Ratified(R"(
fragment sum( items: tensor<scalar>[] ) -> ( total: tensor<scalar> )
{
    total = items[0] + sum(items[1:]) if length_of(items) > 1 else items[0];
})",
                               "    y = sum([x] * 5000);"));
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  EXPECT_EQ(expansion.graph->num_nodes(), 1u + 4999u + 1u);
  EXPECT_LT(expansion.Flat().size(), 5000u * 48u);
}

TEST(LimitsTest, EndlessRecursion) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(x); })",
                               "    y = f(x);"));
  ASSERT_TRUE(expansion.Has("limit.recursion")) << expansion.Diagnostics();
  EXPECT_NE(expansion.Diagnostics().find("`f` instantiates itself with equal arguments"), std::string::npos);
  // The first and the last 8 instantiations.
  EXPECT_EQ(expansion.Find("limit.recursion")->notes.size(), 17u);
}

TEST(LimitsTest, EndlessRecursionWithOtherArguments) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = f(x, n = n + 1); })",
                               "    y = f(x, n = 0);"));
  ASSERT_TRUE(expansion.Has("limit.recursion")) << expansion.Diagnostics();
  EXPECT_NE(expansion.Diagnostics().find("--max-recursion"), std::string::npos) << expansion.Diagnostics();
}

// Tensors are equal arguments if their types and shapes are equal.
TEST(LimitsTest, EndlessRecursionOverTensors) {
  struct Case {
    std::string_view argument;
    bool is_equal;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"x", true},
           {"relu(x)", true},
           {"transpose(x, axes = [0, 1, 2, 3])", true},
           {"pad(x, padding = [(0,0), (0,0), (0,0), (0,1)])", false},
           {"unsqueeze(x, axes = [0])", false},
       }) {
    Limits limits;
    limits.recursion = 5;
    Expansion expansion(Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = f(" +
                                     std::string(each.argument) + "); }",
                                 "    y = f(x);"),
                        {}, limits);
    ASSERT_TRUE(expansion.Has("limit.recursion")) << each.argument << expansion.Diagnostics();
    EXPECT_EQ(
        expansion.Diagnostics().find("`f` instantiates itself with equal arguments") != std::string::npos,
        each.is_equal)
        << expansion.Diagnostics();
  }
}

// Which arguments count as equal: same values, tensors of the same type and known shape, arrays of up to 1000
// such items.
TEST(LimitsTest, EqualArgumentsOfEndlessRecursion) {
  const auto repeats = [](std::string_view type, std::string_view first, std::string_view next) {
    Limits limits;
    limits.recursion = 40;
    Expansion expansion(
        Ratified("fragment f( x: tensor<scalar>, a: " + std::string(type) +
                     " ) -> ( y: tensor<scalar> ) { y = f(x, a = " + std::string(next) + "); }",
                 "    y = f(x, a = " + std::string(first) + ");"),
        {}, limits);
    EXPECT_TRUE(expansion.Has("limit.recursion")) << expansion.Diagnostics();
    return expansion.Diagnostics().find("instantiates itself with equal arguments") != std::string::npos;
  };
  EXPECT_TRUE(repeats("integer[]", "[1, 2]", "[a[0], 2]"));
  EXPECT_FALSE(repeats("integer[]", "[1, 2]", "[a[0] + 1, 2]"));
  EXPECT_FALSE(repeats("integer[]", "[1, 2]", "[1, a[1] + 1]"));
  EXPECT_FALSE(repeats("integer[]", "[1]", "a + [1]"));
  EXPECT_TRUE(repeats("integer[]", "[1] * 1000", "[1] + a[1:]"));
  EXPECT_FALSE(repeats("integer[]", "[1] * 1001", "[1] + a[1:]"));
  EXPECT_TRUE(repeats("(integer,string)", "(1, 'a')", "(1, 'a')"));
  EXPECT_TRUE(repeats("tensor<scalar>", "x", "relu(a)"));
  EXPECT_FALSE(repeats("tensor<scalar>", "x", "unsqueeze(a, axes = [0])"));
  EXPECT_TRUE(repeats("tensor<scalar>[]", "[x]", "[relu(a[0])]"));
  EXPECT_FALSE(repeats("tensor<scalar>[]", "[x]", "[unsqueeze(a[0], axes = [0])]"));
  // A tensor and a literal in turn.
  EXPECT_FALSE(repeats("tensor<scalar>", "x", "x if length_of(shape_of(a)) == 0 else 1.0"));
}

TEST(LimitsTest, TwoCallsPerLevel) {
  Expansion attributes(Provisional(R"(
fragment f( n: extent ) -> ( m: extent ) { m = f(n - 1) + f(n - 1) if n > 0 else 1 }
fragment g1( x: tensor ) -> ( y: tensor ) { y = x * scalar(f(60)) })",
                                   "    y = g1(x)"));
  EXPECT_TRUE(attributes.Has("limit.steps")) << attributes.Diagnostics();
  Limits limits;
  limits.operations = 10000;
  Expansion tensors(Ratified(R"(
fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
{
    y = f(x, n = n - 1) + f(x, n = n - 1) if n > 0 else x;
})",
                             "    y = f(x, n = 60);"),
                    {}, limits);
  EXPECT_TRUE(tensors.Has("limit.operations")) << tensors.Diagnostics();
}

TEST(LimitsTest, Items) {
  for (std::string_view body :
       {"    a = [0] * 1000000000000\n    y = reshape(x, shape = a)",
        "    a = double([0], n = 50)\n    y = reshape(x, shape = a)",
        "    a = repeat('ab', n = 50)\n    y = variable(shape = [1], label = a)",
        "    a = [[0] * 1000000 for j in [0] * 100]\n    y = reshape(x, shape = a[0])"}) {
    Expansion expansion(Provisional(R"(
fragment double( a: extent[], n: extent ) -> ( b: extent[] ) { b = double(a + a, n = n - 1) if n > 0 else a }
fragment repeat( a: string, n: extent ) -> ( b: string ) { b = repeat(a + a, n = n - 1) if n > 0 else a }
fragment f( x: tensor ) -> ( y: tensor )
{
)" + std::string(body) + "\n}",
                                    "    y = f(x)"));
    EXPECT_TRUE(expansion.Has("limit.items")) << expansion.Diagnostics();
    EXPECT_EQ(expansion.graph, nullptr);
  }
}

// A limit allows exactly its number and not one more.
TEST(LimitsTest, AreReachedAndNotPassed) {
  for (int64_t limit : {2, 3, 7}) {
    for (int64_t asked : {limit - 1, limit, limit + 1}) {
      SCOPED_TRACE(std::to_string(asked) + " of " + std::to_string(limit));
      Limits calls;
      calls.recursion = limit;
      Expansion recursion(Ratified(R"(
fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = f(x, n = n - 1) if n > 1 else relu(x); })",
                                   "    y = f(x, n = " + std::to_string(asked) + ");"),
                          {}, calls);
      EXPECT_EQ(recursion.Has("limit.recursion"), asked > limit) << recursion.Diagnostics();
      EXPECT_EQ(recursion.graph != nullptr, asked <= limit);

      std::string body;
      for (int64_t i = 1; i < asked; ++i) body += "    t" + std::to_string(i) + " = relu(x);\n";
      Limits made;
      made.operations = limit;
      Expansion operations(Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n" + body +
                                        "    y = relu(x);\n}",
                                    "    y = f(x);"),
                           {}, made);
      EXPECT_EQ(operations.Has("limit.operations"), asked > limit) << operations.Diagnostics();
      EXPECT_EQ(operations.graph != nullptr, asked <= limit);
    }
  }
}

// Returns the smallest value of a limit with which a document is expanded; one less is reported.
int64_t LeastOf(int64_t Limits::*limit, std::string_view label, const std::string& text) {
  const auto fits = [&](int64_t bound) {
    Limits limits;
    limits.*limit = bound;
    Expansion expansion(text, {}, limits);
    EXPECT_NE(expansion.graph != nullptr, expansion.Has(label)) << expansion.Diagnostics();
    EXPECT_EQ(expansion.context.emitter.error_count(), expansion.graph != nullptr ? 0u : 1u)
        << expansion.Diagnostics();
    return expansion.graph != nullptr;
  };
  int64_t low = -1, high = 1'000'000;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return high;
}
int64_t LeastItems(const std::string& text) {
  return LeastOf(&Limits::items, "limit.items", text);
}

// A fragment that computes two extents, 8 and 16.
std::string Extents(const std::string& first, const std::string& second) {
  return Provisional(R"(
fragment eight( items: extent[] ) -> ( n: extent )
{
    a = items + items
    b = items * 3
    n = length_of(a + b) / 500
}
fragment deep( n: extent ) -> ( m: extent ) { m = deep(n - 1) if n > 0 else 8 }
fragment pair( n: extent ) -> ( a: extent, b: extent ) { a = n b = 2 * n }
fragment first( n: extent ) -> ( m: extent ) { m, o = pair(n) }
fragment f( x: tensor ) -> ( y: tensor )
{
    a = )" + first +
                         "\n    b = " + second + "\n    y = reshape(x, shape = [a, b])\n}",
                     "    y = f(x)");
}

// The items of a value are free once it is gone: several in a row need no more than one.
TEST(LimitsTest, ItemsComeBack) {
  for (const std::string eight :
       {"length_of([0] * 800) / 100", "length_of('ab' * 400) / 100",
        "length_of([i for i in [0] * 800]) / 100", "length_of([i for i in [0] * 800 if i == 0]) / 100",
        "length_of([[i] * 2 for i in [0] * 800]) / 100", "length_of([0] * 800 + [0] * 800) / 200",
        "length_of(([0] * 800)[100:300]) / 25", "eight([0] * 800)", "deep(500)", "first(8)",
        "8 * length_of([length_of([j for j in [i] * 90]) for i in [0, 1, 2]]) / 3"}) {
    const int64_t once = LeastItems(Extents(eight, "16"));
    EXPECT_GE(once, 4) << eight;
    // Except the slots of the unrolled iterators.
    const int64_t most = once + (eight.find(" for ") != std::string::npos ? 4 : 0);
    for (const std::string& again : {"2 * " + eight, fmt::format("{0} + 4 * ({0}) / 4", eight)}) {
      const int64_t twice = LeastItems(Extents(eight, again));
      EXPECT_GE(twice, once) << eight;
      EXPECT_LE(twice, most) << eight;
    }
  }
}

// The same for bodies, each instantiated separately.
TEST(LimitsTest, ItemsOfBodiesComeBack) {
  const auto least = [](const std::string& body) {
    return LeastItems(
        "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
        "extension NNEFC_control_flow;\n"
        "fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n"
        "    y = x * scalar(length_of([0] * 800));\n}\n"
        "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
        "graph g( c, x ) -> ( y )\n{\n    c = external<logical>(shape = [1]);\n"
        "    x = external(shape = [2]);\n" +
        body + "}\n");
  };
  const int64_t once =
      least("    [y] = if_else(c, [x], then_body = 'a', else_body = 'b');\n    z = relu(y);\n");
  EXPECT_EQ(least("    [z] = if_else(c, [x], then_body = 'a', else_body = 'b');\n"
                  "    [y] = if_else(c, [z], then_body = 'b', else_body = 'a');\n"),
            once);
  EXPECT_EQ(least("    [z] = if_else(c, [x], then_body = 'a', else_body = 'a');\n    y = relu(z);\n"), once);
}

// The comprehensions of a failed statement release their items: the next one has room.
TEST(LimitsTest, ItemsOfAStatementThatFailsComeBack) {
  Limits limits;
  limits.items = 3000;
  const std::string fails = "length_of([8 / (800 - i) for i in range_of([0] * 801)])";
  Expansion expansion(Provisional("fragment f( x: tensor ) -> ( y: tensor )\n{\n    a = " + fails +
                                      "\n    b = " + fails + "\n    c = " + fails + "\n    y = idn(x)\n}",
                                  "    y = f(x)"),
                      {}, limits);
  EXPECT_FALSE(expansion.Has("limit.items")) << expansion.Diagnostics();
  EXPECT_EQ(expansion.context.emitter.error_count(), 3u) << expansion.Diagnostics();
}

// Steps and operations are counted, not stored: twice the work takes exactly twice as many.
TEST(LimitsTest, StepsAreCountedExactly) {
  const auto steps = [](int count) {
    return LeastOf(
        &Limits::steps, "limit.steps",
        Provisional("fragment f( x: tensor ) -> ( y: tensor )\n{\n    a = length_of([i * 2 for i in [1] * " +
                        std::to_string(count) + "])\n    y = idn(x)\n}",
                    "    y = f(x)"));
  };
  const int64_t ten = steps(10), twenty = steps(20), thirty = steps(30);
  EXPECT_GE(ten, 10);
  EXPECT_EQ(thirty - twenty, twenty - ten);
}

// Items are the values of arrays and the bytes of strings: one more of them needs one more.
TEST(LimitsTest, ItemsAreCountedExactly) {
  for (const std::string& unit : {std::string("[0]"), std::string("'a'")}) {
    const auto least = [&](int count) {
      const std::string repeated = unit + " * " + std::to_string(count);
      return LeastItems(Provisional(
          "fragment f( x: tensor ) -> ( y: tensor )\n{\n    a = " + repeated + "\n    y = idn(x)\n}",
          "    y = f(x)"));
    };
    const int64_t thousand = least(1000);
    EXPECT_GE(thousand, 1000) << unit;
    EXPECT_LE(thousand, 1010) << unit;
    EXPECT_EQ(least(1001), thousand + 1) << unit;
    EXPECT_EQ(least(2000), thousand + 1000) << unit;
  }
}

// Tests that a document is expanded with the limit `least` and one more, and refused with one less.
void ExpectLeast(int64_t Limits::*limit, std::string_view label, int64_t least, const std::string& text) {
  for (const int64_t bound : {least - 1, least, least + 1}) {
    SCOPED_TRACE(std::string(label) + " " + std::to_string(bound) + ": " + text);
    Limits limits;
    limits.*limit = bound;
    Expansion expansion(text, {}, limits);
    EXPECT_EQ(expansion.graph != nullptr, bound >= least) << expansion.Diagnostics();
    EXPECT_EQ(expansion.Has(label), bound < least);
    EXPECT_EQ(expansion.context.emitter.error_count(), bound < least ? 1u : 0u);
  }
}

// A call takes 8 steps. Each instruction of the statements before the last one takes a step, and so does each
// item that they copy or compare, and each 16 bytes of a string. A statement has one instruction for itself
// and one for its assignment; an expression has one for each operand, operator and call. The return of a call
// is an instruction. The names of each fragment and the array items and string bytes alive at a time are
// items, plus 4 for each array or string. The new array does not count its own 4.
TEST(LimitsTest, StepsAndItemsByHand) {
  struct Case {
    const char* body;
    int64_t steps, items;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"", 8, 2},
           {"a = 1;", 8 + 3, 3},
           {"a = 1 + 2;", 8 + 5, 3},
           {"a = 1; b = 2;", 8 + 3 + 3, 4},
           {"a = [1, 2, 3];", 8 + 3, 3},  // a constant
           {"a = [x, x];", 8 + 5, 3 + 2},
           {"a = [1] + [2];", 8 + 5 + 2, 3 + 2},
           {"a = [0] * 10;", 8 + 5 + 10, 3 + 10},
           {"a = [0] * 10; b = a;", 8 + 15 + 3, 4 + 10},
           {"a = [0] * 10; b = a[2:5];", 8 + 15 + 6, 4 + 10},
           {"a = [0] * 10; b = a + a;", 8 + 15 + 5 + 20, 4 + 10 + 4 + 20},
           {"a = [0] * 10 == [0] * 10;", 8 + 9 + 10 + 10 + 11, 3 + 10 + 4 + 10},
           {"a = length_of([0] * 10) + length_of([0] * 10);", 8 + 11 + 10 + 10, 3 + 10},
           {"a = [[0] * 3, [0] * 4];", 8 + 9 + 3 + 4, 3 + (3 + 4) + (4 + 4) + 2},
           {"a = 'a' * 31;", 8 + 5 + 1, 3 + 31},
           {"a = 'a' * 32;", 8 + 5 + 2, 3 + 32},
           {"a = 'a' * 31 + 'b';", 8 + 7 + 1 + 2, 3 + 31 + 4 + 32},
           {"a = range_of([0, 0, 0]);", 8 + 4 + 3, 3 + 3},
           {"a = shape_of(x);", 8 + 4, 3},
           // A loop begins and ends, and its iterator is a name. For each item: the next one, the iterator,
           // the yielded expression, its addition and a jump; at the end, the missing next one.
           {"a = [for i in [1, 2, 3] yield i];", 8 + 5 + 3 * 5 + 1, 4 + 3},
           {"t = g(x);", 8 + 4 + 8 + 5, 3 + 2},
           {"t = g(x); u = g(x);", 8 + 2 * (4 + 8 + 5), 4 + 2},
       }) {
    const std::string text =
        Ratified(std::string("fragment g( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
                             "fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n") +
                     each.body + "\n    y = relu(x);\n}",
                 "    y = f(x);");
    ExpectLeast(&Limits::steps, "limit.steps", each.steps, text);
    ExpectLeast(&Limits::items, "limit.items", each.items, text);
  }
}

// The expression that exceeds the limit is reported: work within it is counted before the next one.
TEST(LimitsTest, StepsAreReportedWhereTheyAreExceeded) {
  constexpr std::string_view kItems = "[0] * 100";
  struct Case {
    std::string_view expression;  // of an integer
    std::string_view reported;    // its part that exceeds 100 steps
  };
  for (const Case& each : std::initializer_list<Case>{
           {"length_of([0] * 100)", kItems},
           {"length_of([0] * 30 + [0] * 30 + [0] * 30)", "[0] * 30 + [0] * 30"},
           {"length_of(range_of([0] * 60))", "range_of([0] * 60)"},
           {"length_of(range_of(range_of(range_of([0] * 25))))", "range_of(range_of(range_of([0] * 25)))"},
           {"length_of('a' * 2000)", "'a' * 2000"},
           {"length_of([for i in [0] * 20 yield i])", "[for i in [0] * 20 yield i]"},
           {"integer([0] * 40 == [0] * 40)", "[0] * 40 == [0] * 40"},
           {"integer(1 in [0] * 60)", "1 in [0] * 60"},
       }) {
    const std::string line = fmt::format("    y = x * scalar({});", each.expression);
    Limits limits;
    limits.steps = 100;
    Expansion expansion(
        Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n" + line + "\n}",
                 "    y = f(x);"),
        {}, limits);
    const Diagnostic* found = expansion.Find("limit.steps");
    ASSERT_NE(found, nullptr) << each.expression;
    EXPECT_EQ(expansion.context.sources.Text(found->range.file)
                  .substr(found->range.begin, found->range.end - found->range.begin),
              each.reported);
  }
}

// Outputs beyond the 64th count as operations, in a fragment in addition to the operation itself. A body
// counts as 32 operations in addition to its parameters and its own operations.
TEST(LimitsTest, OperationsByHand) {
  for (const int64_t outputs : {63, 64, 65, 66}) {
    const int64_t beyond = std::max<int64_t>(0, outputs - 64);
    ExpectLeast(
        &Limits::operations, "limit.operations", 1 + beyond,
        Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    c = copy_n(x, times = " +
                     std::to_string(outputs) + ");\n    y = c[0];\n}",
                 "    y = f(x);"));
  }
  const std::string bodies =
      "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
      "extension NNEFC_control_flow;\n"
      "fragment a( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
      "fragment b( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { z = relu(x); y = relu(z); }\n"
      "graph g( c, x ) -> ( y )\n{\n    c = external<logical>(shape = [1]);\n    x = external(shape = "
      "[2]);\n";
  constexpr int64_t kBoth = (32 + 1 + 1) + (32 + 1 + 2);
  ExpectLeast(&Limits::operations, "limit.operations", kBoth,
              bodies + "    [y] = if_else(c, [x], then_body = 'a', else_body = 'b');\n}\n");
  ExpectLeast(&Limits::operations, "limit.operations", 2 * kBoth,
              bodies +
                  "    [z] = if_else(c, [x], then_body = 'a', else_body = 'b');\n"
                  "    [y] = if_else(c, [z], then_body = 'a', else_body = 'b');\n}\n");
}

// Bodies of bodies: the 64th of them is made, the 65th is reported.
TEST(LimitsTest, DeepestBodies) {
  for (const int count : {62, 63, 64, 65, 66}) {
    std::string text =
        "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n"
        "extension NNEFC_control_flow;\n";
    for (int i = 1; i < count; ++i) {
      const std::string next = std::to_string(i + 1);
      text += "fragment f" + std::to_string(i) + "( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n" +
              "    [y] = if_else(x > 0.0, [x], then_body = 'f" + next + "', else_body = 'last');\n}\n";
    }
    text += "fragment f" + std::to_string(count) +
            "( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
            "fragment last( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
            "graph g( x ) -> ( y )\n{\n    x = external(shape = [1]);\n"
            "    [y] = if_else(x > 0.0, [x], then_body = 'f1', else_body = 'last');\n}\n";
    Expansion expansion(text);
    EXPECT_EQ(expansion.graph != nullptr, count <= 64) << count << ": " << expansion.Diagnostics();
    EXPECT_EQ(expansion.Has("limit.body-nesting"), count > 64) << count << ": " << expansion.Diagnostics();
  }
}

TEST(LimitsTest, OutputsCountAsOperations) {
  Expansion expansion(Ratified(R"(
fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { c = copy_n(x, times = 1000000000); y = c[0]; })",
                               "    y = f(x);"));
  EXPECT_TRUE(expansion.Has("limit.operations")) << expansion.Diagnostics();
}

TEST(LimitsTest, GraphBodyIsFree) {
  Limits limits;
  limits.operations = 0;
  limits.steps = 0;
  std::string body;
  for (int i = 0; i < 1000; ++i) {
    body += "    t" + std::to_string(i) + " = relu(" + (i == 0 ? "x" : "t" + std::to_string(i - 1)) + ");\n";
  }
  Expansion expansion(Ratified("", body + "    y = copy(t999);"), {}, limits);
  EXPECT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
}

// A chain of `count` operations after `x`; the last is `y`.
std::string Chain(int count) {
  std::string body;
  for (int i = 0; i + 1 < count; ++i) {
    const std::string before = i == 0 ? "x" : "t" + std::to_string(i - 1);
    body += "    t" + std::to_string(i) + " = relu(" + before + ");\n";
  }
  return body + "    y = relu(t" + std::to_string(count - 2) + ");";
}

// Text without evaluation takes no steps, whatever its length.
TEST(LimitsTest, LongBodies) {
  Limits limits;
  limits.steps = 0;
  const std::string body = Chain(5000);
  Expansion expansion(Ratified("", body), {}, limits);
  ASSERT_NE(expansion.graph, nullptr) << expansion.Diagnostics();
  EXPECT_EQ(expansion.Body(), "    x = external(shape = [1, 2, 8, 8]);\n" + body + "\n");
}

TEST(LimitsTest, MistakesInLongBodies) {
  const std::string chain = Chain(5000);
  const std::string wrong = "    a = reshape(t4000, shape = [7]);\n    b = relu(a);\n";
  const size_t middle = chain.find("    t4500 =");
  Expansion expansion(Ratified("", chain.substr(0, middle) + wrong + chain.substr(middle)));
  EXPECT_EQ(expansion.graph, nullptr);
  ASSERT_EQ(expansion.context.emitter.error_count(), 1u) << expansion.Diagnostics();
  EXPECT_EQ(expansion.Diagnostics().find("test.nnef:4507:"), 0u) << expansion.Diagnostics();
  // In addition to `a` and `b`, everything is present.
  EXPECT_EQ(expansion.expanded.graph->results().size(), 1u);
}

// The evaluation ends at the limit of errors, here 100: there is no warning about what follows.
TEST(LimitsTest, NothingFollowsTheLastError) {
  const auto warns = [](size_t mistakes) {
    std::string body;
    for (size_t i = 0; i < mistakes; ++i) body += fmt::format("    t{} = reshape(x, shape = [7]);\n", i);
    Expansion expansion(
        Ratified("", body + "    a = variable(shape = [8], label = 'a');\n    y = prelu(x, a);"));
    EXPECT_EQ(expansion.context.emitter.error_count(), mistakes);
    return expansion.Has("operand.enlarges-result");
  };
  EXPECT_TRUE(warns(99));
  EXPECT_FALSE(warns(100));
}

// Items of an unfinished comprehension are live; those of an array of which an empty part is left are not.
TEST(LimitsTest, ItemsOfComprehensionsAndParts) {
  const auto fits = [](std::string_view statements, int64_t items) {
    Limits limits;
    limits.items = items;
    Expansion expansion(Ratified("fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> )\n{\n    " +
                                     std::string(statements) + "\n}",
                                 "    y = f(x);"),
                        {}, limits);
    EXPECT_EQ(expansion.Has("limit.items"), expansion.graph == nullptr) << expansion.Diagnostics();
    return expansion.graph != nullptr;
  };
  const std::string_view doubled = "a = [1.0] * 1000; b = [for i in a yield i * 2.0]; y = x * b[0];";
  EXPECT_FALSE(fits(doubled, 1500));
  EXPECT_TRUE(fits(doubled, 3500));
  const std::string_view parts =
      "p = [for i in range_of([0] * 50) yield ([1.0] * 1000)[1000:]]; y = x * scalar(length_of(p));";
  EXPECT_TRUE(fits(parts, 5000));
  EXPECT_FALSE(fits(
      "p = [for i in range_of([0] * 50) yield ([1.0] * 1000)[999:]]; y = x * scalar(length_of(p));", 5000));
}

}  // namespace
}  // namespace nnefc::expand::evaluate
