// The number of iterations of loops, by the shapes of their inputs.

#include "runtime/engine/plan/loop_count.h"

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/core.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::plan {
namespace {

std::string CutOf(int64_t axis, int64_t start, int64_t end, int64_t stride, int64_t part) {
  return fmt::format("slice(axis {}, start {}, end {}, stride {}, part {})", axis, start, end, stride, part);
}
const std::string kRows = CutOf(0, 0, -1, 1, 1), kColumns = CutOf(1, 0, -1, 1, 1);

// The slices of the inputs `a` and `b`, and of the output; empty if they are not sliced.
struct Cuts {
  std::string a, b, output;
};

class LoopCountTest : public testing::Test {
 protected:
  static constexpr const char* kBody = R"(graph "body" {
      %0 = opset1.Parameter "a" {element_type = f32, shape = [...]} : f32[...]
      %1 = opset1.Parameter "b" {element_type = f32, shape = [...]} : f32[...]
      %2 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
      %3 = opset1.Add "sum" (%0, %1) : f32[...]
      opset1.Result "r" (%3)
      opset1.Result "again" (%2)
    })";

  static std::string CountOf(const std::string& text, llvm::ArrayRef<Shape> shapes,
                             std::optional<int64_t> trips) {
    Context context;
    const std::shared_ptr<ir::Graph> graph =
        ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
    EXPECT_NE(graph, nullptr) << Messages(context.emitter) << text;
    if (graph == nullptr) return "no graph";
    for (ir::NodeId id : graph->nodes()) {
      if (graph->node(id).bodies().empty()) continue;
      const auto count = CountLoop(graph->node(id), shapes, trips);
      if (!count) return count.error().message;
      return *count ? std::to_string(**count) : "unknown";
    }
    return "no loop";
  }
  // Returns the count of a TensorIterator, "unknown", or the error.
  static std::string Iterator(const Cuts& cuts, const Shape& a, const Shape& b) {
    return CountOf(fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "a" {{element_type = f32, shape = [...]}} : f32[...]
  %1 = opset1.Parameter "b" {{element_type = f32, shape = [...]}} : f32[...]
  %2 = opset1.TensorIterator "ti" (%0, %1) : f32[...] bodies {{
    "body" input 0 -> 0 {} input 1 -> 1 {} output 0 -> 0 {} {}
  }}
  opset1.Result "y" (%2)
}})",
                               cuts.a, cuts.b, cuts.output, kBody),
                   {a, b}, std::nullopt);
  }
  // The same for a Loop.
  static std::string Loop(const Cuts& cuts, const Shape& a, const Shape& b, std::optional<int64_t> trips) {
    return CountOf(fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "trips" {{element_type = i64, shape = shape[]}} : i64[]
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "a" {{element_type = f32, shape = [...]}} : f32[...]
  %3 = opset1.Parameter "b" {{element_type = f32, shape = [...]}} : f32[...]
  %4 = opset5.Loop "loop" (%0, %1, %2, %3) : f32[...] bodies {{
    "body" input 2 -> 0 {} input 3 -> 1 {} output -1 -> 1 output 0 -> 0 {} {}
  }}
  opset1.Result "y" (%4)
}})",
                               cuts.a, cuts.b, cuts.output, kBody),
                   {{}, {}, a, b}, trips);
  }
};

TEST_F(LoopCountTest, SlicedInputs) {
  EXPECT_EQ(Iterator({.a = kRows}, {3, 4}, {5}), "3");
  EXPECT_EQ(Iterator({.a = kColumns}, {3, 4}, {5}), "4");
  EXPECT_EQ(Iterator({.b = kRows}, {3, 4}, {5}), "5");
  EXPECT_EQ(Iterator({.a = kRows, .b = kColumns}, {3, 4}, {2, 3}), "3");
  EXPECT_EQ(Iterator({.a = kRows, .b = kColumns}, {3, 4}, {2, 4}),
            "input 1 gives 4 iterations; another port gives 3");
  EXPECT_EQ(Iterator({.a = CutOf(0, 0, -1, 2, 2)}, {6, 1}, {1}), "3");
  EXPECT_EQ(Iterator({.a = CutOf(0, -1, 0, -1, 1)}, {3, 1}, {1}), "3");
  EXPECT_EQ(Iterator({.a = CutOf(0, -1, 0, -2, 2)}, {6, 1}, {1}), "3");
  EXPECT_EQ(Iterator({.a = CutOf(0, 1, 4, 1, 1)}, {6, 1}, {1}), "3");
  EXPECT_EQ(Iterator({.a = CutOf(0, 0, -1, 2, 2)}, {5, 1}, {1}).find("input 0 cannot be cut: "), 0u);
  // An axis below the rank.
  EXPECT_EQ(Iterator({.a = kColumns}, {3}, {5}), "input 0 is iterated over axis 1; its rank is 1");
  EXPECT_EQ(Iterator({.b = CutOf(2, 0, -1, 1, 1)}, {3}, {5, 6}),
            "input 1 is iterated over axis 2; its rank is 2");
  EXPECT_EQ(Iterator({.b = CutOf(2, 0, -1, 1, 1)}, {3}, {5, 6, 7}), "7");
}

// The range of an output counts if no input is sliced.
TEST_F(LoopCountTest, RangesOfOutputs) {
  EXPECT_EQ(Iterator({}, {3}, {5}), "1");
  EXPECT_EQ(Iterator({.output = kRows}, {3}, {5}), "1");
  EXPECT_EQ(Iterator({.output = CutOf(0, 0, 5, 1, 1)}, {3}, {5}), "5");
  EXPECT_EQ(Iterator({.output = CutOf(0, 6, 0, -2, 2)}, {3}, {5}), "3");
  EXPECT_EQ(Iterator({.output = CutOf(0, 2, 6, 2, 2)}, {3}, {5}), "2");
  EXPECT_EQ(Iterator({.a = kRows, .output = CutOf(0, 0, 5, 1, 1)}, {3}, {5}), "3");
  EXPECT_EQ(Iterator({.output = CutOf(0, 0, 5, 2, 2)}, {3}, {5}).find("output 0 cannot be cut: "), 0u);
  EXPECT_EQ(Loop({.output = CutOf(0, 0, 5, 1, 1)}, {3}, {5}, std::nullopt), "unknown");
}

TEST_F(LoopCountTest, TripCounts) {
  using Trips = std::optional<int64_t>;
  for (const auto& [trips, count] : {std::pair(Trips(), "3"),
                                     {Trips(-1), "3"},
                                     {Trips(0), "0"},
                                     {Trips(2), "2"},
                                     {Trips(3), "3"},
                                     {Trips(4), "3"}})
    EXPECT_EQ(Loop({.a = kRows}, {3}, {5}, trips), count) << trips.value_or(-99);
  for (const auto& [trips, count] :
       {std::pair(Trips(), "unknown"), {Trips(-1), "unknown"}, {Trips(0), "0"}, {Trips(7), "7"}})
    EXPECT_EQ(Loop({}, {3}, {5}, trips), count) << trips.value_or(-99);
  // Inputs that disagree, whatever the trip count is.
  for (const auto& trips : {Trips(), Trips(-1), Trips(0), Trips(2), Trips(9)})
    EXPECT_EQ(Loop({.a = kRows, .b = kRows}, {3}, {5}, trips),
              "input 3 gives 5 iterations; another port gives 3");
}

}  // namespace
}  // namespace nnefc::runtime::engine::plan
