#include "compiler/expand/build/assertions.h"

#include <gtest/gtest.h>

#include <string>

namespace nnefc::expand::build {
namespace {

Truth Of(std::string_view condition) {
  return Evaluate(condition, [](std::string_view name) -> std::optional<int64_t> {
    if (name == "S") return 5;
    if (name == "B") return 2;
    return std::nullopt;
  });
}

TEST(Assertions, CompareSumsAndProducts) {
  for (std::string_view condition : {"S >= 1",
                                     "S==5",
                                     "S != B",
                                     "2*S+1 == 11",
                                     "S - B - 1 == 2",
                                     "S / B == 2",
                                     "-S < -B",
                                     "(S + 1) * B <= 12",
                                     "1 < B < S",
                                     "S > 2 * B",
                                     "9223372036854775807 / B == 4611686018427387903",
                                     "4611686018427387904 / 2 * B == 4611686018427387904",
                                     "S * 0 == 0",
                                     "0 * S == 0",
                                     "S * -1 == -5",
                                     "-1 * S == -5",
                                     "S * 1 == 5",
                                     "0 / S == 0",
                                     "-1 * -S == S",
                                     "S / 1 == 5",
                                     "S / B * B == 4"}) {
    EXPECT_EQ(Of(condition), Truth::kHolds) << condition;
  }
  for (std::string_view condition :
       {"S < 1", "S == 6", "S != 5", "S - (B - 1) == 2", "1 < S < B", "1 > B <= S", "S * 0 == 5", "0 * S > 0",
        "S * -1 == 5", "0 / S == 5", "S / 1 == 1"})
    EXPECT_EQ(Of(condition), Truth::kFails) << condition;
}

// Each comparison with a smaller, an equal and a larger number.
TEST(Assertions, CompareLessEqualAndGreater) {
  struct Comparison {
    std::string_view name;
    bool less, equal, greater;
  };
  for (const Comparison& each : {Comparison{"<", true, false, false},
                                 {"<=", true, true, false},
                                 {">", false, false, true},
                                 {">=", false, true, true},
                                 {"==", false, true, false},
                                 {"!=", true, false, true}}) {
    const auto of = [&](std::string_view right) {
      return Of(std::string("S ") + std::string(each.name) + " " + std::string(right));
    };
    EXPECT_EQ(of("6"), each.less ? Truth::kHolds : Truth::kFails) << each.name;
    EXPECT_EQ(of("5"), each.equal ? Truth::kHolds : Truth::kFails) << each.name;
    EXPECT_EQ(of("4"), each.greater ? Truth::kHolds : Truth::kFails) << each.name;
  }
}

TEST(Assertions, StayOpenWhereAValueIsMissing) {
  for (std::string_view condition :
       {"T >= 1", "S + T == 2", "T + S == 2", "T - S == 2", "T * S > 0", "S * T > 0", "T * 2 * S > 0",
        "T / 2 > 0", "2 / T > 0", "T < 1 < S", "1 < T", "-T < 0", "(T) > 0", "S / (B - 2) == 1",
        "9223372036854775807 + S > 0", "9223372036854775808 > S", "-9223372036854775807 - S < 0",
        "4611686018427387904 * S > 0"}) {
    EXPECT_EQ(Of(condition), Truth::kOpen) << condition;
  }
}

TEST(Assertions, AreUnreadWhereTheyAreNoComparison) {
  for (std::string_view condition : {"", "S", "S + 1", "S >", ">= S", "S >= 1 && B >= 1", "S = 1", "(S >= 1",
                                     "2S > 1", "max(S, 1) > 0", "S >= 1 B", "S ** 2 > 1"}) {
    EXPECT_EQ(Of(condition), Truth::kUnread) << condition;
  }
  const std::string deep(100'000, '(');
  EXPECT_EQ(Of(deep + "S" + std::string(100'000, ')') + " > 0"), Truth::kUnread);
  EXPECT_EQ(Of(std::string(100'000, '-') + "S > 0"), Truth::kUnread);
}

}  // namespace
}  // namespace nnefc::expand::build
