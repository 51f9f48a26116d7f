// The least cost of dividing items, against all divisions.

#include "compiler/transform/target/min_cut.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace nnefc::transform::target {
namespace {

struct Problem {
  std::vector<std::pair<double, double>> costs;  // of an item on the first and the second side
  std::vector<std::tuple<int32_t, int32_t, double>>
      separated;  // cost if the one is first and the other second

  double CostOf(const std::vector<bool>& is_first) const {
    double sum = 0;
    for (size_t i = 0; i < costs.size(); ++i) sum += is_first[i] ? costs[i].first : costs[i].second;
    for (const auto& [a, b, cost] : separated) {
      if (is_first[static_cast<size_t>(a)] && !is_first[static_cast<size_t>(b)]) sum += cost;
    }
    return sum;
  }
  std::vector<bool> Solve() const {
    MinCut cut(static_cast<int32_t>(costs.size()));
    for (size_t i = 0; i < costs.size(); ++i)
      cut.AddCosts(static_cast<int32_t>(i), costs[i].first, costs[i].second);
    for (const auto& [a, b, cost] : separated) cut.AddSeparation(a, b, cost);
    return cut.Solve();
  }
};

TEST(MinCutTest, LeastCostOfAllDivisions) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t count) { return static_cast<int32_t>(random() % count); };
    Problem problem;
    const int32_t items = 1 + below(9);
    for (int32_t i = 0; i < items; ++i) problem.costs.emplace_back(below(8), below(8));
    for (int32_t i = below(20); i > 0; --i)
      problem.separated.emplace_back(below(static_cast<uint32_t>(items)), below(static_cast<uint32_t>(items)),
                                     below(6));
    double least = 1e9;
    for (uint32_t division = 0; division < (1U << items); ++division) {
      std::vector<bool> is_first(static_cast<size_t>(items));
      for (int32_t i = 0; i < items; ++i) is_first[static_cast<size_t>(i)] = ((division >> i & 1U) != 0);
      least = std::min(least, problem.CostOf(is_first));
    }
    const std::vector<bool> found = problem.Solve();
    ASSERT_EQ(found.size(), problem.costs.size());
    EXPECT_EQ(problem.CostOf(found), least) << "seed " << seed;
  }
}

TEST(MinCutTest, SidesOfOneItem) {
  EXPECT_EQ((Problem{{{1, 2}}, {}}.Solve()), std::vector<bool>{true});
  EXPECT_EQ((Problem{{{2, 1}}, {}}.Solve()), std::vector<bool>{false});
  EXPECT_EQ((Problem{{{0.25, 0.5}}, {}}.Solve()), std::vector<bool>{true});
  // Equal costs, or none.
  EXPECT_EQ((Problem{{{1, 1}}, {}}.Solve()), std::vector<bool>{false});
  EXPECT_EQ((Problem{{{0, 0}}, {}}.Solve()), std::vector<bool>{false});
  EXPECT_TRUE((Problem{}.Solve()).empty());
}

TEST(MinCutTest, SeparationHasADirection) {
  // Item 0 wants the first side, item 1 the second.
  const std::vector<std::pair<double, double>> costs = {{0, 5}, {5, 0}};
  EXPECT_EQ((Problem{costs, {{1, 0, 100}}}.Solve()), (std::vector<bool>{true, false}));
  EXPECT_EQ((Problem{costs, {{0, 1, 4}}}.Solve()), (std::vector<bool>{true, false}));
  const std::vector<bool> together = Problem{costs, {{0, 1, 6}}}.Solve();
  EXPECT_EQ(together[0], together[1]);
}

}  // namespace
}  // namespace nnefc::transform::target
