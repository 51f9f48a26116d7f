// Documents for sample extents, joined into one with symbols.

#include "compiler/driver/stages/symbolic_document.h"

#include "fmt/format.h"
#include "gtest/gtest.h"

namespace nnefc::driver {
namespace {

constexpr char kHead[] = "version 1.0;\nextension tract_registry tract_core;\n";

// Returns the samples of a document of one symbol.
std::vector<SampledDocument> SamplesOf(std::string (*text)(int64_t)) {
  std::vector<SampledDocument> samples;
  for (int64_t extent : {67, 127, 1031, 139})
    samples.push_back({.extents = {{"N", extent}}, .text = kHead + text(extent)});
  return samples;
}

std::string Joined(std::string (*text)(int64_t)) {
  const auto joined = JoinSamples(SamplesOf(text));
  if (!joined) return "none";
  const std::string begin = "extension tract_symbol N;";
  EXPECT_NE(joined->find(begin), std::string::npos) << *joined;
  return joined->substr(joined->find(begin) + begin.size() + 2);
}

TEST(SymbolicDocument, WritesSumsOfMultiples) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}, 3]", n); }), "[N, 3]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", 2 * n + 1); }), "[2*N+1]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n - 1); }), "[N-1]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", 2000 - n); }), "[-N+2000]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", 7 * n); }), "[7*N]");
}

TEST(SymbolicDocument, LeavesNamesStringsAndScalars) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("x_67 = f('67', 6.7, 1e-67, {});", n); }),
            "x_67 = f('67', 6.7, 1e-67, N);");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f(1e+67, {})", n); }), "f(1e+67, N)");
}

// The exponent of a scalar is no extent, whatever its sign.
TEST(SymbolicDocument, ExponentsAreNoExtents) {
  for (const char* sign : {"", "+", "-"}) {
    const auto joined =
        JoinSamples({{.extents = {{"N", 67}}, .text = kHead + fmt::format("f(1e{}67)", sign)},
                     {.extents = {{"N", 127}}, .text = kHead + fmt::format("f(1e{}127)", sign)},
                     {.extents = {{"N", 31}}, .text = kHead + fmt::format("f(1e{}31)", sign)},
                     {.extents = {{"N", 139}}, .text = kHead + fmt::format("f(1e{}139)", sign)}});
    EXPECT_FALSE(joined) << sign << *joined;
  }
}

// Spellings of one number are this number.
TEST(SymbolicDocument, NumbersHaveSeveralSpellings) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n > 1000 ? "00" : "0"); }), "[0]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n > 1000 ? "03" : "3"); }), "[3]");
}

// A number ends before any sign that does not follow its `e`, and before any other letter.
TEST(SymbolicDocument, NumbersEndBeforeOperators) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[3-{}, 3+{}]", n, n); }), "[3-N, 3+N]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[a-{}, e-{}]", n, n); }), "[a-N, e-N]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[1e*{}]", n); }), "[1e*N]");
}

// The text of a sum is no operand: its sign would be that of the first term.
TEST(SymbolicDocument, SumsAreNoOperands) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[-{}, {}]", n, n + 1); }), "[-N, N+1]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[-1, {}, -1]", n + 1); }), "[-1, N+1, -1]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[-{}]", n + 3); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[-{}]", 2000 - n); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[3 - {}]", n + 3); }), "none");
  for (const char sign : {'+', '-', '*', '/', '^'}) {
    for (const char* format : {"[{}{}2]", "[{} {} 2]"}) {
      const auto join = [&](int64_t factor, int64_t constant) {
        std::vector<SampledDocument> samples;
        for (int64_t extent : {67, 127, 1031, 139}) {
          const std::string text = fmt::format(fmt::runtime(format), factor * extent + constant, sign);
          samples.push_back({.extents = {{"N", extent}}, .text = kHead + text});
        }
        return JoinSamples(samples).has_value();
      };
      EXPECT_TRUE(join(1, 0)) << sign;
      EXPECT_FALSE(join(2, 0)) << sign;
      EXPECT_FALSE(join(1, 1)) << sign;
    }
  }
}

TEST(SymbolicDocument, IgnoresLineBreaks) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{},{}3]", n, n > 1000 ? "\n    " : " "); }),
            "[N, 3]");
}

// A string is one part, with its blanks and other quotes, up to its quote.
TEST(SymbolicDocument, ReadsStrings) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('a  b', {})", n); }), "f('a  b', N)");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f(\"a  b\", {})", n); }), "f(\"a  b\", N)");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('a\"  b', {})", n); }), "f('a\"  b', N)");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f(\"a'  b\", {})", n); }), "f(\"a'  b\", N)");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('a\\'  b', {})", n); }), "f('a\\'  b', N)");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('', {}, '')", n); }), "f('', N, '')");
  // An escaped character may be the last one before the quote.
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('a\\'', {}, 'b')", n); }), "f('a\\'', N, 'b')");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('\\\\', {}, 'b')", n); }), "f('\\\\', N, 'b')");
  // A string without an end is the rest of the text.
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}] 'a  67", n); }), "[N] 'a  67");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('{}', {})", n, n); }), "none");
  // Blanks after a string are not a part of it.
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("f('a'{}{})", n > 1000 ? "\n  " : " ", n); }),
            "f('a' N)");
}

TEST(SymbolicDocument, DeclinesOtherDependences) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n / 2); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n * n); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n < 1000 ? n : 1000); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("{}.5", n); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("x_{} = 1;", n); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return std::string(n == 139 ? "a, b" : "a"); }), "none");
}

TEST(SymbolicDocument, FitsIntegersUpToABound) {
  // The largest sample is 1031, and 2^40 the largest integer.
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n + (int64_t{1} << 40) - 1031); }),
            "[N+1099511626745]");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n + (int64_t{1} << 40) - 1030); }), "none");
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("[{}]", n == 67 ? INT64_MAX : n); }), "none");
}

TEST(SymbolicDocument, DeclinesTensorsWithTheNameOfASymbol) {
  EXPECT_EQ(Joined([](int64_t n) { return fmt::format("N = f({});", n); }), "none");
}

TEST(SymbolicDocument, ComparesSamplesOfSeveralSymbols) {
  const auto join = [](int64_t (*value)(int64_t, int64_t)) {
    std::vector<SampledDocument> samples;
    for (const auto& [m, n] :
         {std::pair<int64_t, int64_t>{67, 71}, {127, 71}, {1031, 71}, {67, 127}, {67, 1031}, {139, 147}})
      samples.push_back({.extents = {{"M", m}, {"N", n}}, .text = fmt::format("{}[{}]", kHead, value(m, n))});
    const auto joined = JoinSamples(samples);
    return joined ? joined->substr(joined->rfind('[')) : "none";
  };
  EXPECT_EQ(join([](int64_t m, int64_t n) { return m + 2 * n; }), "[M+2*N]");
  EXPECT_EQ(join([](int64_t m, int64_t n) { return m * n; }), "none");
}

// The symbols are declared after the registry, which the documents must have.
TEST(SymbolicDocument, NeedsTheRegistry) {
  std::vector<SampledDocument> samples = SamplesOf([](int64_t n) { return fmt::format("[{}]", n); });
  EXPECT_TRUE(JoinSamples(samples));
  for (SampledDocument& sample : samples) sample.text.erase(0, sizeof(kHead) - 1);
  EXPECT_FALSE(JoinSamples(samples));
}

}  // namespace
}  // namespace nnefc::driver
