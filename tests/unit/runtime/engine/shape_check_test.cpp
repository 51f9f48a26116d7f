// Axes, orders, sizes and list items that a run computes: values that the compiler would reject cause a fault
// of the run, and no kernel reads them.

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/format.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

using kernels::Backend;

namespace {

const Backend kBackends[] = {Backend::kReference, Backend::kFast};

// A node `y` of the inputs %0 (data) and %1 (a list), both parameters, with a ReLU on either side that allows
// fusion and overwriting.
struct Case {
  std::string operation;  // "opset1.Reverse"
  std::string attributes;
  Shape data;
  Shape list;
  std::string result;  // "f32[2,3]"
};

std::string TextOf(const Case& given) {
  const std::string data = fmt::format("[{}]", fmt::join(given.data, ","));
  const std::string list = fmt::format("[{}]", fmt::join(given.list, ","));
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = shape{0}}} : f32{0}
  %1 = opset1.Parameter "list" {{element_type = i64, shape = shape{1}}} : i64{1}
  %2 = opset1.ReLU "before" (%0) : f32{0}
  %3 = {2} "y" (%2, %1) {3} : {4}
  %4 = opset1.ReLU "after" (%3) : {4}
  opset1.Result "r" (%4)
}}
)",
                     data, list, given.operation, given.attributes, given.result);
}

std::unique_ptr<Session> Open(const Case& given, Backend backend) {
  Context context;
  std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", TextOf(given)), TestRegistry(), context);
  EXPECT_NE(graph, nullptr) << Messages(context.emitter) << TextOf(given);
  if (graph == nullptr) return nullptr;
  const auto executable = Compile(graph, {.backend = backend, .threads = 1});
  return executable == nullptr ? nullptr : Session::Create(executable);
}

std::string MistakeOf(Session& session, const Case& given, std::vector<int64_t> list) {
  const TensorValue values = TensorValue::FromInts(given.list, list);
  kernels::FaultOr<std::vector<TensorValue>> outputs = session.Run({RandomTensor(given.data, 1), values});
  if (outputs.ok()) return "";
  const kernels::Fault& fault = outputs.error();
  EXPECT_TRUE(fault.place.valid()) << fault.message;
  return fmt::format("{} [{}]", fault.message, fault.rule->label);
}

struct Refused {
  Case given;
  std::vector<int64_t> valid, wrong;
  std::string message;
};

const Refused kRefused[] = {
    {{"opset1.ReduceMax", "{keep_dims = true}", {}, {1}, "f32[]"},
     {},
     {0},
     "`y` (ReduceMax): axis 0 of `ReduceMax` is outside a tensor of rank 0 [opset.axis]"},
    {{"opset1.ReduceSum", "{keep_dims = false}", {2, 3}, {2}, "f32[]"},
     {0, -1},
     {0, 7},
     "`y` (ReduceSum): axis 7 of `ReduceSum` is outside a tensor of rank 2 [opset.axis]"},
    {{"opset1.ReduceSum", "{keep_dims = false}", {2, 3}, {2}, "f32[]"},
     {1, 0},
     {1, -1},
     "`y` (ReduceSum): axis 1 of `ReduceSum` is given twice [opset.axis]"},
    {{"opset1.Transpose", "{}", {2, 3}, {2}, "f32[3,2]"},
     {1, 0},
     {0, 0},
     "`y` (Transpose): axis 0 of `Transpose` is given twice [opset.axis]"},
    {{"opset1.Reverse", R"({mode = "index"})", {2, 3}, {2}, "f32[2,3]"},
     {0, 1},
     {0, 2},
     "`y` (Reverse): axis 2 of `Reverse` is outside a tensor of rank 2 [opset.axis]"},
    {{"opset6.MVN",
      R"({normalize_variance = true, eps = 1e-3, eps_mode = "inside_sqrt"})",
      {2, 3},
      {2},
      "f32[2,3]"},
     {0, 1},
     {1, 1},
     "`y` (MVN): axis 1 of `MVN` is given twice [opset.axis]"},
    {{"opset1.LRN", "{alpha = 1e-4, beta = 0.75, bias = 1.0, size = 3}", {2, 3}, {1}, "f32[2,3]"},
     {1},
     {INT64_MAX},
     "`y` (LRN): axis 9223372036854775807 of `LRN` is outside a tensor of rank 2 [opset.axis]"},
    {{"opset1.NormalizeL2", R"({eps = 1e-3, eps_mode = "add"})", {2, 3}, {1}, "f32[2,3]"},
     {1},
     {INT64_MIN},
     "`y` (NormalizeL2): axis -9223372036854775808 of `NormalizeL2` is outside a tensor of rank 2 "
     "[opset.axis]"},
    {{"opset3.CumSum", "{}", {2, 3}, {1}, "f32[2,3]"},
     {-2},
     {2},
     "`y` (CumSum): axis 2 of `CumSum` is outside a tensor of rank 2 [opset.axis]"},
    {{"opset3.Broadcast", R"({mode = "numpy"})", {2, 3}, {0}, "f32[]"}, {}, {}, ""},
};

TEST(JudgedValuesTest, WrongValuesAreFaultsOfTheRun) {
  for (Backend backend : kBackends) {
    for (const Refused& refused : kRefused) {
      SCOPED_TRACE(TextOf(refused.given));
      const auto session = Open(refused.given, backend);
      ASSERT_NE(session, nullptr);
      const bool has_valid = static_cast<int64_t>(refused.valid.size()) == Volume(refused.given.list);
      if (has_valid && !refused.message.empty()) {
        EXPECT_EQ(MistakeOf(*session, refused.given, refused.valid), "");
      }
      const std::string told = MistakeOf(*session, refused.given, refused.wrong);
      if (!refused.message.empty()) {
        EXPECT_EQ(told, refused.message);
      } else {
        EXPECT_NE(told, "");
      }
      // A fault leaves the session usable.
      if (has_valid && !refused.message.empty()) {
        EXPECT_EQ(MistakeOf(*session, refused.given, refused.valid), "");
      }
    }
  }
}

TEST(JudgedValuesTest, ValuesMayChangeFromRunToRun) {
  const Case given{"opset1.Reverse", R"({mode = "index"})", {2, 2}, {1}, "f32[2,2]"};
  const TensorValue x = TensorValue::FromFloats({2, 2}, {1, 2, 3, 4});
  const auto axis = [](int64_t at) { return TensorValue::FromInts({1}, {at}); };
  for (Backend backend : kBackends) {
    const auto session = Open(given, backend);
    ASSERT_NE(session, nullptr);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ((*session->Run({x, axis(0)}))[0], TensorValue::FromFloats({2, 2}, {3, 4, 1, 2}));
      EXPECT_EQ((*session->Run({x, axis(0)}))[0], TensorValue::FromFloats({2, 2}, {3, 4, 1, 2}));
      EXPECT_EQ((*session->Run({x, axis(-1)}))[0], TensorValue::FromFloats({2, 2}, {2, 1, 4, 3}));
      EXPECT_FALSE(session->Run({x, axis(5)}).ok());
    }
  }
}

TEST(JudgedValuesTest, ListsThatAreTooLongAreRefused) {
  const Case given{"opset1.Reverse", R"({mode = "index"})", {2}, {9000}, "f32[2]"};
  const auto session = Open(given, Backend::kReference);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(MistakeOf(*session, given, std::vector<int64_t>(9000, 100)),
            "`y` (Reverse): `reversed_axes` of `Reverse` has 9000 items; expected at most 8192 "
            "[opset.constant-input]");
}

// Nodes with constant lists have no additional step.
TEST(JudgedValuesTest, ConstantValuesCostNothing) {
  for (bool constant : {true, false}) {
    TestGraph g;
    auto x = g.Parameter("x", {2, 3});
    auto axes = constant ? g.Ints({1}) : g.Parameter("axes", {1}, ElementType::kI64);
    ir::AttributeMap attributes;
    attributes.Set("mode", "index");
    g.Result(g.Op("Reverse", {x, axes}, attributes));
    const std::string plan = Compile(g.graph, {.backend = Backend::kReference})->DescribePlan();
    EXPECT_NE(plan.find(constant ? "1 steps" : "2 steps"), std::string::npos) << plan;
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
