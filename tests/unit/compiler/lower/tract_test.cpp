// Numbers of tract's operations that a document may give out of range, and the names of states.

#include <algorithm>
#include <set>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/lower/lowering_support.h"

namespace nnefc::lower {
namespace {

// Two leaves of the classes 0 and 1 below one comparison of feature 0.
struct Trees {
  std::string trees = "0";
  std::string comparison = "0, 1, 2, 0, 5";
  std::string leaf = "1, 2, 0, 0, 0";  // the second one
  std::string leaves = "0, 0, 1, 0";
  std::string classes = "2";
};

// Returns the message of the lowering; "" if there is none.
std::string MessageOf(const Trees& of) {
  NnefGraph g;
  const auto integers = [&](const std::string& name, const std::string& items) {
    const auto count = std::count(items.begin(), items.end(), ',') + 1;
    return g.Op("constant", name, {},
                fmt::format("shape = [{}], value = [{}], dtype = \"integer\"", count, items));
  };
  const ir::OutputPort x = g.External("x", "f32[3,1]");
  const std::string nodes = of.comparison + ", 0, 1, 0, 0, 0, " + of.leaf;
  g.Result("y", g.Op("tract_onnx_trees", "y",
                     {x, integers("t", of.trees), integers("n", nodes), integers("l", of.leaves)},
                     "max_used_feature = 0, n_classes = " + of.classes + ", aggregate_fn = \"SUM\""));
  return g.Lower() == nullptr ? g.FirstMessage() : "";
}

TEST(LoweringOfTrees, NodesAndFeatures) {
  EXPECT_EQ(MessageOf({}), "");
  for (const auto& [children, words] : {std::pair("0, -1, 2", "feature 0 and leads to the nodes -1 and 2"),
                                        std::pair("0, 3, 2", "feature 0 and leads to the nodes 3 and 2"),
                                        std::pair("0, 1, -1", "feature 0 and leads to the nodes 1 and -1"),
                                        std::pair("0, 1, 3", "feature 0 and leads to the nodes 1 and 3"),
                                        std::pair("1, 1, 2", "feature 1 and leads to the nodes 1 and 2"),
                                        std::pair("-1, 1, 2", "feature -1 and leads to the nodes 1 and 2")}) {
    EXPECT_EQ(MessageOf({.comparison = fmt::format("{}, 0, 5", children)}),
              fmt::format("node 0 compares {} of 3", words));
  }
  EXPECT_EQ(MessageOf({.comparison = "0, 1, 0, 0, 5"}), "the nodes of a tree lead back to themselves");
  EXPECT_EQ(MessageOf({.comparison = "0, 1, 2, 0, 7"}), "node 0 has the comparison 7; expected at most 6");
  for (const auto& [trees, node] : {std::pair("3", 3), std::pair("-1", -1), std::pair("0, -1", -1),
                                    std::pair("-1, 2", -1), std::pair("0, 3", 3)})
    EXPECT_EQ(MessageOf({.trees = trees}), fmt::format("a tree begins at node {} of 3", node)) << trees;
  for (const char* trees : {"2", "0, 0, 1"}) EXPECT_EQ(MessageOf({.trees = trees}), "") << trees;
}

TEST(LoweringOfTrees, RowsAndClassesOfLeaves) {
  for (const char* rows : {"0, 2", "1, 1", "2, 2", "0, 0"})
    EXPECT_EQ(MessageOf({.leaf = fmt::format("{}, 0, 0, 0", rows)}), "") << rows;
  for (const auto& [rows, words] :
       {std::pair("1, 3", "1 to 3"), std::pair("2, 1", "2 to 1"), std::pair("-1, 1", "-1 to 1"),
        std::pair("-1, -1", "-1 to -1"), std::pair("0, 4611686018427387904", "0 to 4611686018427387904"),
        std::pair("0, 9223372036854775807", "0 to 9223372036854775807")}) {
    EXPECT_EQ(MessageOf({.leaf = fmt::format("{}, 0, 0, 0", rows)}),
              fmt::format("a leaf has the rows {} of 2", words));
  }
  EXPECT_EQ(MessageOf({.leaves = "0, 0, 2, 0"}), "row 1 of `leaves` names the class 2 of 2");
  EXPECT_EQ(MessageOf({.leaves = "0, 0, -1, 0"}), "row 1 of `leaves` names the class -1 of 2");
  for (const char* classes : {"89478486", "1099511627776"}) {  // 3 * 89478485 are fewer than 2^28
    EXPECT_EQ(MessageOf({.classes = classes}),
              fmt::format("3 nodes have votes for {} classes; expected at most 268435456 in all", classes));
  }
}

// More than 2^28 weights are refused before they are computed.
TEST(LoweringOfResampling, ManyWeights) {
  const auto message_of = [](const char* operation, const char* type, const char* attributes) {
    NnefGraph g;
    g.Result("y", g.Op(operation, "y", {g.External("x", type)}, attributes));
    return g.Lower() == nullptr ? g.FirstMessage() : "";
  };
  const char* const cubic =
      "coord_transformer = \"half_pixel\", interpolator = \"cubic\", nearest_mode = \"floor\", "
      "cubic_coeff_a = -0.75, exclude_outside = false, antialias = false, extrapolation_value = 0.0, roi = "
      "[], ";
  const auto resample = [&](const char* type, const char* scales) {
    return message_of("tract_onnx_resample", type, fmt::format("{}scales = [{}]", cubic, scales).c_str());
  };
  EXPECT_EQ(resample("f32[1,16384]", "1.0, 1.0001"),
            "`tract_onnx_resample` weighs 16385 by 16384 elements along axis 1; expected at most 268435456 "
            "weights");
  EXPECT_EQ(resample("f32[16385,1]", "0.99999, 1.0"),
            "`tract_onnx_resample` weighs 16384 by 16385 elements along axis 0; expected at most 268435456 "
            "weights");
  EXPECT_EQ(resample("f32[1,64]", "1.0, 1.0001"), "");
}

// A state of many elements is not materialized.
TEST(LoweringOfStates, ZerosOfLargeTensors) {
  for (const auto& [type, operations] : {std::pair("f32[1048576]", "ReadValue Add Assign"),
                                         std::pair("f32[1048577]", "Broadcast ReadValue Add Assign"),
                                         std::pair("f32[1099511627776]", "Broadcast ReadValue Add Assign")}) {
    NnefGraph g;
    g.Result("y", g.Op("tract_pulse_total", "y", {g.External("x", type)}));
    ASSERT_NE(g.Lower(), nullptr) << type;
    EXPECT_EQ(g.Operations(), operations) << type;
  }
}

// A tensor may have the name of a variable's label, and so may a value that is kept; their states have
// different ones.
TEST(LoweringOfStates, NamesThatAreLabels) {
  NnefGraph g;
  const ir::OutputPort x = g.External("x", "f32[3]");
  for (const auto& [name, label] : {std::pair("u", "h"), std::pair("t", "h:state"), std::pair("s", "k")})
    g.Result(name, g.Op("update", name, {g.Variable(fmt::format("{}_before", name), {3}, label), x}));
  g.Result("h", g.Op("tract_pulse_total", "h", {x}));
  g.Result("other", g.Op("tract_pulse_total", "other", {x}));
  g.Result("resumed", g.Op("tract_pulse_resume", "resumed", {x}, "name = \"k\""));
  g.Result("kept", g.Op("tract_pulse_keep", "kept", {x}, "name = \"k\""));
  ASSERT_NE(g.Lower(), nullptr) << g.FirstMessage();
  const auto state_of = [&](std::string_view result) {
    return g.ResultOf(result).attribute("variable_id").AsString();
  };
  EXPECT_EQ(state_of("h"), "h:state:state");
  EXPECT_EQ(state_of("other"), "other");
  EXPECT_EQ(state_of("resumed"), "k:state");
  std::multiset<std::string> stored;
  for (ir::NodeId sink : g.lowered().sinks())
    stored.insert(g.lowered().node(sink).attribute("variable_id").AsString());
  EXPECT_EQ(stored, (std::multiset<std::string>{"h", "h:state", "h:state:state", "k", "k:state", "other"}));
}

}  // namespace
}  // namespace nnefc::lower
