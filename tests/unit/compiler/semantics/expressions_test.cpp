#include "checking.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Returns the type of `z = TEXT;` in a fragment's body, as text.
std::string TypeOf(std::string_view text) {
  Checked checked(RatifiedBody(fmt::format("z = {}; y = x;", text)));
  EXPECT_EQ(checked.Diagnostics(), "") << text << "\n" << checked.Rendered();
  return checked.document().types().Text(checked.document().type(checked.Find(text)),
                                         ast::Dialect::kRatified);
}

TEST(Types, OfExpressions) {
  const std::pair<const char*, const char*> cases[] = {
      {"1 + n", "integer"},
      {"1.0 + s", "scalar"},
      {"-1", "integer"},
      {"!b", "logical"},
      {"+s", "scalar"},
      {"2 ^ n - 1", "integer"},
      {"n < 1", "logical"},
      {"t + 'a' * 2", "string"},
      {"t == 'a'", "logical"},
      {"ns == []", "logical"},
      {"[1] + ns * 2", "integer[]"},
      {"[] + []", "[]"},
      {"[[], [1]]", "integer[][]"},
      {"[([], [1]), ([1], [])]", "(integer[],integer[])[]"},
      {"[x, 1.0]", "tensor<scalar>[]"},
      {"(x, l)", "(tensor<scalar>,tensor<logical>)"},
      {"n in ns", "logical"},
      {"(1, 2.0) in [ts]", "logical"},
      {"n in []", "logical"},
      {"x + 1.0", "tensor<scalar>"},
      {"1.0 < x", "tensor<logical>"},
      {"l && true", "tensor<logical>"},
      {"-x ^ 2.0", "tensor<scalar>"},
      {"+l", "tensor<logical>"},
      {"ns[0]", "integer"},
      {"ns[1:]", "integer[]"},
      {"ns[:n]", "integer[]"},
      {"t[0]", "string"},
      {"t[0:1]", "string"},
      {"ts[1]", "scalar"},
      {"[ts, ts][0][0]", "integer"},
      {"x if b else 0.0", "tensor<scalar>"},
      {"[] if b else ns", "integer[]"},
      {"1 if b else 2 if n > 0 else 3", "integer"},
      {"[for i in ns yield x]", "tensor<scalar>[]"},
      {"[for i in xs, j in ns if j > 0 yield (j, 1.0)]", "(integer,scalar)[]"},
      {"[for i in ns yield [for j in ns yield i + j]]", "integer[][]"},
      {"shape_of(x)", "integer[]"},
      {"shape_of(1.0)", "integer[]"},
      {"length_of(t)", "integer"},
      {"range_of(xs)", "integer[]"},
      {"integer(s)", "integer"},
      {"scalar(t)", "scalar"},
      {"logical(n)", "logical"},
      {"string(b)", "string"},
      {"moments(x, axes = ns)", "(tensor<scalar>,tensor<scalar>)"},
      {"copy_n(x, times = n)", "tensor<scalar>[]"},
      {"argmax_pool(x, size = ns)", "tensor<integer>"},
  };
  for (const auto& [text, type] : cases) EXPECT_EQ(TypeOf(text), type) << text;
}

// A type's text has at most 200 characters; a longer one is cut.
TEST(Types, HaveTextsOfBoundedLength) {
  const auto text_of = [](int integers, bool has_scalar) {
    std::string items = has_scalar ? "s" : "n";
    std::string types = has_scalar ? "scalar" : "integer";
    for (int i = has_scalar ? 0 : 1; i < integers; ++i) {
      items += ", n";
      types += ",integer";
    }
    return std::pair(TypeOf(fmt::format("({})", items)), fmt::format("({})", types));
  };
  const auto [shortest, all_of_shortest] = text_of(24, true);
  ASSERT_EQ(all_of_shortest.size(), 200);
  EXPECT_EQ(shortest, all_of_shortest);
  const auto [longer, all_of_longer] = text_of(25, false);
  ASSERT_EQ(all_of_longer.size(), 201);
  EXPECT_EQ(longer, all_of_longer.substr(0, 200) + "...");
}

TEST(Operators, OnValues) {
  ExpectDiagnostics({
      {RatifiedBody("z = n + s; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = n == s; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = n < s; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = t < t; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = t - t; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = b + b; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = n && b; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = ns + n; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = ns + [1.0]; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = ns * 2.0; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = 2 * ns; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = !n; y = x;"), "type.operator 3:5"},
      {RatifiedBody("z = -t; y = x;"), "type.operator 3:5"},
      {RatifiedBody("z = s in ns; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = n in n; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = x in xs; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = xs == xs; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = xs == [1.0]; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = [1.0] == xs; y = x;"), "type.operator 3:11"},
      {RatifiedBody("z = xs != []; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = [] != xs; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = x in [1.0]; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = 1.0 in xs; y = x;"), "type.operator 3:9"},
      {RatifiedBody("z = x in []; y = x;"), "type.operator 3:7"},
      {RatifiedBody("z = xs in [[1.0]]; y = x;"), "type.operator 3:8"},
      {RatifiedBody("z = [1.0] in [xs]; y = x;"), "type.operator 3:11"},
  });
}

TEST(Operators, OnTensors) {
  ExpectDiagnostics({
      {RatifiedBody("y = x + 1;"), "type.mismatch 3:9"},
      {RatifiedBody("y = 1 + x;"), "type.mismatch 3:5"},
      {RatifiedBody("y = x + l;"), "type.mismatch 3:9"},
      {RatifiedBody("z = !x; y = x;"), "type.mismatch 3:6"},
      {RatifiedBody("z = x && l; y = x;"), "type.mismatch 3:5"},
      {RatifiedBody("z = x + xs; y = x;"), "type.mismatch 3:9"},
      {RatifiedBody("z = l == l; y = x;"), "type.mismatch 3:5"},
      {ProvisionalBody("y = x + 1"), "type.mismatch 3:9"},
      {ProvisionalBody("y = select(x < 1.0 && !l, x, -x ^ 2.0)"), ""},
  });
}

TEST(Select, ConditionAndBranches) {
  ExpectDiagnostics({
      {RatifiedBody("z = n if n else n; y = x;"), "type.condition 3:10"},
      {RatifiedBody("y = x if l else x;"), "type.condition 3:10"},
      {RatifiedBody("z = 1 if b else 2.0; y = x;"), "type.branches 3:17"},
      {RatifiedBody("z = 1 if b else nope; y = x;"), "identifier.undefined 3:17"},
      {RatifiedBody("z = ns[5] if b else ns[7]; y = x;"), ""},
  });
}

TEST(Arrays, Items) {
  ExpectDiagnostics({
      {RatifiedBody("z = [1, 2.0]; y = x;"), "type.array-items 3:9"},
      {RatifiedBody("z = [1, 'a', true]; y = x;"), "type.array-items 3:9"},
      {RatifiedBody("z = ['a', t]; y = x;"), ""},
  });
}

TEST(Comprehensions, Iterators) {
  ExpectDiagnostics({
      {RatifiedBody("z = [for i in n yield i]; y = x;"), "type.iterable 3:15"},
      {RatifiedBody("z = [for i in t yield i]; y = x;"), "type.iterable 3:15"},
      {RatifiedBody("z = [for n in ns yield n]; y = x;"), "identifier.shadowed 3:10"},
      {RatifiedBody("z = [for y in ns yield 1]; y = x;"), "identifier.shadowed 3:10"},
      {RatifiedBody("z = [for i in ns, i in ns yield i]; y = x;"), "identifier.shadowed 3:19"},
      {RatifiedBody("z = [for i in ns yield [for i in ns yield i]]; y = x;"), "identifier.shadowed 3:29"},
      {RatifiedBody("z = [for i in ns yield i]; w = [for i in ns yield i]; y = x;"), ""},
      {RatifiedBody("z = [for i in ns yield i]; w = i; y = x;"), "identifier.undefined 3:32"},
      {RatifiedBody("z = [for i in ns, j in [i] yield j]; y = x;"), "identifier.undefined 3:25"},
      {RatifiedBody("z = [for i in ns if i yield i]; y = x;"), "type.condition 3:21"},
      {RatifiedBody("z = [for i in [] yield i + 1]; y = x;"), ""},
      {ProvisionalBody("z = [n for n in ns] y = x"), "identifier.shadowed 3:12"},
  });
}

TEST(Subscripts, BaseAndIndex) {
  ExpectDiagnostics({
      {RatifiedBody("z = n[0]; y = x;"), "type.subscript-base 3:5"},
      {RatifiedBody("z = x[0]; y = x;"), "type.subscript-base 3:5"},
      {RatifiedBody("z = ns[1.0]; y = x;"), "type.subscript-index 3:8"},
      {RatifiedBody("z = ns[:s]; y = x;"), "type.subscript-index 3:9"},
      {RatifiedBody("z = ts[2]; y = x;"), "type.tuple-index 3:8"},
      {RatifiedBody("z = ts[n]; y = x;"), "type.tuple-index 3:8"},
      {RatifiedBody("z = ts[-1]; y = x;"), "type.tuple-index 3:8"},
      {RatifiedBody("z = ts[0:1]; y = x;"), "type.tuple-index 3:8"},
      {RatifiedBody("z = ts[:]; y = x;"), "type.tuple-index 3:5"},
  });
}

TEST(Builtins, Arguments) {
  ExpectDiagnostics({
      {RatifiedBody("z = length_of(n); y = x;"), "type.builtin-argument 3:15"},
      {RatifiedBody("z = range_of(x); y = x;"), "type.builtin-argument 3:14"},
      {RatifiedBody("z = shape_of(xs); y = x;"), "type.builtin-argument 3:14"},
      {RatifiedBody("z = scalar(x); y = x;"), "type.builtin-argument 3:12"},
      {RatifiedBody("z = string(ns); y = x;"), "type.builtin-argument 3:12"},
      {RatifiedBody("z = integer(ts); y = x;"), "type.builtin-argument 3:13"},
  });
}

// Chains within the limits of the syntax must not consume stack: 900 of each.
TEST(Depth, ChainsAndBrackets) {
  auto repeat = [](std::string_view text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += text;
    return result;
  };
  ExpectDiagnostics({
      {RatifiedBody("z = n" + repeat(" + n", 900) + "; y = x;"), ""},
      {RatifiedBody("z = " + repeat("!", 900) + "b; y = x;"), ""},
      {RatifiedBody("z = " + repeat("n if b else ", 900) + "n; y = x;"), ""},
      {RatifiedBody("z = " + repeat("(", 900) + "n" + repeat(")", 900) + "; y = x;"), ""},
      {RatifiedBody("y = " + repeat("relu(", 900) + "x" + repeat(")", 900) + ";"), ""},
      {RatifiedBody("z = t" + repeat("[0:]", 900) + "; y = x;"), ""},
  });
}

}  // namespace
}  // namespace nnefc::semantics
