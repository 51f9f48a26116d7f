// Values that a run passes on unchanged, and what it records.

#include "runtime/engine/run/frame.h"

#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

// Assign passes on what it stores.
TEST(FrameTest, AnAssignedValueIsRead) {
  for (const kernels::Backend backend : kBackends) {
    TestGraph g;
    const auto x = g.Parameter("x", {2});
    const auto stored =
        g.Op("opset6", "Assign", {g.Op("Negative", {x})}, With("variable_id", std::string("v")));
    g.Result(g.Op("Abs", {stored}));
    g.Result(stored);
    const auto outputs = RunGraph(g.graph, {.backend = backend}, {TensorValue::FromFloats({2}, {1, -2})});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[0], TensorValue::FromFloats({2}, {1, 2}));
    EXPECT_EQ(outputs[1], TensorValue::FromFloats({2}, {-1, 2}));
  }
}

// Steps are recorded only on request.
TEST(FrameTest, NoProfileByDefault) {
  TestGraph g;
  g.Result(g.Op("Negative", {g.Parameter("x", {2})}));
  const auto executable = Compile(g.graph, {});
  ASSERT_NE(executable, nullptr);
  const std::unique_ptr<Session> session = Session::Create(executable);
  ASSERT_TRUE(session->Run({TensorValue::FromFloats({2}, {1, 2})}).ok());
  EXPECT_TRUE(session->profile().empty());
  session->EnableProfile(true);
  ASSERT_TRUE(session->Run({TensorValue::FromFloats({2}, {1, 2})}).ok());
  EXPECT_EQ(session->profile().size(), 1u);
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
