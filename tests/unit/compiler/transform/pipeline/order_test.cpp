#include "compiler/transform/pipeline/order.h"

#include "gtest/gtest.h"

namespace nnefc::transform {
namespace {

// Names in order, or the cycle with `!` in front. Edges are "AB": A is earlier.
std::string Order(const std::vector<std::string>& names, const std::vector<std::string>& edges) {
  std::vector<std::pair<size_t, size_t>> pairs;
  const auto index = [&](char name) {
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] == std::string(1, name)) return i;
    }
    return names.size();
  };
  pairs.reserve(edges.size());
  for (const std::string& edge : edges) pairs.emplace_back(index(edge[0]), index(edge[1]));
  const auto order = DeterminedOrder(names, pairs);
  std::string text;
  if (const auto* cycle = std::get_if<Cycle>(&order)) {
    for (size_t member : cycle->members) text += names[member];
    return "!" + text;
  }
  for (size_t member : std::get<std::vector<size_t>>(order)) text += names[member];
  return text;
}

TEST(OrderTest, SiblingsComeOutInDescendingOrder) {
  EXPECT_EQ(Order({"S", "A", "B", "C", "F"}, {"SA", "SB", "SC", "AF", "BF", "CF"}), "SCBAF");
}

TEST(OrderTest, LaterRootsComeFirst) {
  EXPECT_EQ(Order({"A", "B", "C"}, {}), "CBA");
  EXPECT_EQ(Order({"A", "B", "C"}, {"AB"}), "CAB");
  EXPECT_EQ(Order({"A", "B", "C"}, {"CA"}), "CAB");
}

TEST(OrderTest, NumberingDoesNotCount) {
  EXPECT_EQ(Order({"F", "C", "A", "S", "B"}, {"CF", "BF", "AF", "SC", "SB", "SA"}), "SCBAF");
}

TEST(OrderTest, ParallelEdgesAreOne) {
  EXPECT_EQ(Order({"A", "B"}, {"AB", "AB"}), "AB");
  // More than a sort by insertion handles.
  EXPECT_EQ(Order({"A", "B"}, std::vector<std::string>(100, "AB")), "AB");
}

TEST(OrderTest, CyclesAreFound) {
  EXPECT_EQ(Order({"A", "B", "C"}, {"AB", "BC", "CA"}), "!ABC");
  EXPECT_EQ(Order({"A"}, {"AA"}), "!A");
  EXPECT_EQ(Order({"A", "B", "C", "D"}, {"AB", "BC", "CB", "CD"}), "!BC");
}

TEST(OrderTest, LongChainsDoNotNestOnTheStack) {
  std::vector<std::string> names;
  std::vector<std::pair<size_t, size_t>> edges;
  for (size_t i = 0; i < 200'000; ++i) {
    names.push_back("t" + std::to_string(i));
    if (i > 0) edges.emplace_back(i - 1, i);
  }
  const auto order = DeterminedOrder(names, edges);
  EXPECT_EQ(std::get<std::vector<size_t>>(order).front(), 0u);
  EXPECT_EQ(std::get<std::vector<size_t>>(order).back(), names.size() - 1);
}

}  // namespace
}  // namespace nnefc::transform
