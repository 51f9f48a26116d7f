// Graphs that cannot be planned, and what transformations and backends decide about a plan.

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "tests/unit/runtime/engine/plan/planned_graph.h"

namespace nnefc::runtime::engine::plan {

using kernels::Backend;
using kernels::KernelRegistry;
using kernels::KernelRequest;

namespace {

// A kernel for Exp and Negative whose result only other kernels of the backend can read.
void AddTiles(KernelRegistry& kernels) {
  const auto tiles = [](const KernelRequest& request) {
    kernels::PreparedKernel prepared = PreparedFor(request);
    prepared.outputs[0] = LayoutNamed("tiles", 4096);
    return std::optional(prepared);
  };
  for (const char* operation : {"Exp", "Negative"}) kernels.Add(Backend::kFast, {"opset1"}, operation, tiles);
}

// A reader of y, which is stored in tiles, and the message about it.
struct TileReader {
  std::string name;
  ElementType type;
  std::function<void(TestGraph&, ir::OutputPort y)> add;
  std::string message;
};

// Values in a layout of a backend cannot be read elsewhere if the backend has no reorders, or none for it.
TEST(PlanFaultsTest, LayoutsWithoutReorders) {
  const std::vector<TileReader> readers = {
      {"a result", ElementType::kF32, [](TestGraph& g, auto y) { g.Result(y); }, "it cannot be laid out"},
      {"a view", ElementType::kF32, [](TestGraph& g, auto y) { g.Result(Reshaped(g, y, {4})); },
       "its input cannot be laid out"},
      {"a variable", ElementType::kF32,
       [](TestGraph& g, auto y) {
         ir::AttributeMap variable;
         variable.Set("variable_id", "v");
         g.Op("opset6", "Assign", {y}, variable);
       },
       "its inputs cannot be laid out"},
      {"an operation of unknown shape", ElementType::kF32,
       [](TestGraph& g, auto y) {
         g.Result(g.Op("opset3", "NonZero", {y}, With("output_type", ElementType::kI64)));
       },
       "its inputs cannot be laid out"},
      {"an order that only a run knows", ElementType::kI64,
       [](TestGraph& g, auto y) {
         g.Result(g.Op("Transpose", {g.Parameter("z", {1, 2, 3, 4}), y}));
       },
       "its inputs cannot be laid out"},
      {"shifts that only a run knows", ElementType::kI64,
       [](TestGraph& g, auto y) {
         const auto z = g.Parameter("z", {1, 2, 3, 4});
         g.Result(g.Op("opset7", "Roll", {z, g.Ints({1, 2, 3, 4}), y}));
       },
       "its inputs cannot be laid out"},
      {"a kernel", ElementType::kF32, [](TestGraph& g, auto y) { g.Result(g.Op("Tanh", {y})); },
       "its inputs cannot be laid out for its kernel"}};
  const auto no_reorder = [](KernelRegistry& kernels) {
    AddTiles(kernels);
    kernels.SetHooks(Backend::kFast, {.make_reorder = [](ElementType, llvm::ArrayRef<int64_t>,
                                                         const tensor::Layout&, const tensor::Layout&) {
                       return std::shared_ptr<const kernels::Kernel>();
                     }});
  };
  const auto reorders = [](KernelRegistry& kernels) {
    AddTiles(kernels);
    kernels.SetHooks(Backend::kFast, {.make_reorder = ReorderAnything});
  };
  for (const TileReader& reader : readers) {
    SCOPED_TRACE(reader.name);
    TestGraph g;
    const bool is_float = reader.type == ElementType::kF32;
    reader.add(g, g.Op(is_float ? "Exp" : "Negative", {g.Parameter("x", {4}, reader.type)}));
    for (const PlannedGraph::AddKernels& add : {PlannedGraph::AddKernels(AddTiles), {no_reorder}}) {
      const std::string fault = PlannedGraph::FaultOf(g, add);
      EXPECT_NE(fault.find(reader.message + "\n"), std::string::npos) << fault;
    }
    EXPECT_EQ(PlannedGraph::FaultOf(g, reorders), "");
  }
}

TEST(PlanFaultsTest, OperationsWithoutKernels) {
  ir::OpRegistry registry(&TestRegistry());
  registry.Add(ForeignOp("Fold"));
  // Only a run knows the type of the result.
  registry.Add(ForeignOp("Guess", false));
  for (const std::string name : {"Fold", "Guess"}) {
    for (const bool is_known : {true, false}) {
      TestGraph g;
      g.graph = std::make_shared<ir::Graph>(&registry);
      const auto x = g.Parameter("x", {4});
      const auto indices = g.Op("opset3", "NonZero", {x}, With("output_type", ElementType::kI64));
      g.Result(g.Op("acme", name, {is_known ? x : indices}));
      const std::string fault = PlannedGraph::FaultOf(g, [](KernelRegistry&) {});
      EXPECT_NE(fault.find("there is no kernel for `acme." + name + "`"), std::string::npos) << fault;
    }
  }
}

// Each operation of a chain that no kernel runs as one needs a kernel.
TEST(PlanFaultsTest, ChainsWithoutKernels) {
  ir::OpRegistry registry(&TestRegistry());
  registry.Add(ForeignOp("Fold"));
  for (const bool is_last : {true, false}) {
    TestGraph g;
    g.graph = std::make_shared<ir::Graph>(&registry);
    const auto x = g.Parameter("x", {4});
    const auto first = is_last ? g.Op("Exp", {x}) : g.Op("acme", "Fold", {x});
    g.Result(is_last ? g.Op("acme", "Fold", {first}) : g.Op("Exp", {first}));
    const std::string fault = PlannedGraph::FaultOf(g, [](KernelRegistry& kernels) {
      kernels.SetHooks(Backend::kFast, {.find_fusions = [](const ir::Graph& graph) {
                         const ir::NodeId last = graph.node(graph.results()[0]).input(0).node;
                         return std::vector<kernels::FusionGroup>{
                             {.main = graph.node(last).input(0).node, .posts = {last}}};
                       }});
    });
    EXPECT_NE(fault.find("there is no kernel for `acme.Fold`"), std::string::npos) << fault;
  }
}

// A graph is not planned if a transformation fails, whether it evaluates constants or not.
TEST(PlanFaultsTest, FailingTransformations) {
  TestGraph g;
  g.Result(g.Op("Exp", {g.Parameter("x", {4})}));
  for (const std::string_view failing : {"target.EvaluateConstants", "target.Wanted", ""}) {
    const GraphTransformer transform = [&](const std::vector<std::string>& names, const ir::PlanFunctions&,
                                           ir::Graph&, Emitter& emitter) {
      if (names.front() != failing) return true;
      emitter.Emit(kernels::kRunFailed, {}, "it failed");
      return false;
    };
    const auto add = [](KernelRegistry& kernels) {
      kernels.SetHooks(Backend::kFast, {.request_transformations = [](kernels::Precision, bool) {
                         return std::vector<std::string>{"target.Wanted"};
                       }});
    };
    const std::string fault = PlannedGraph::FaultOf(g, add, transform);
    EXPECT_EQ(fault, failing.empty() ? "" : "no plan: it failed\n") << failing;
  }
}

// An If with a constant condition is planned as it is if the transformation that selects its branch is
// disabled.
TEST(TransformationTest, SelectedBranchesMayStay) {
  const char text[] = R"(graph "net" {
  %0 = opset1.Const "cond" : boolean[] = dense<boolean[]: 1>
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[4]} : f32[4]
  %2 = opset8.If "if" (%0, %1) : f32[4] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[4]} : f32[4]
      %1 = opset1.Exp "exp" (%0) : f32[4]
      opset1.Result "r" (%1)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[4]} : f32[4]
      %1 = opset1.Tanh "tanh" (%0) : f32[4]
      opset1.Result "r" (%1)
    }
  }
  opset1.Result "y" (%2)
})";
  Context context;
  TestGraph g;
  g.graph = ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  ASSERT_NE(g.graph, nullptr) << Messages(context.emitter);
  EXPECT_EQ(PlannedGraph(g).Steps(), "Exp");
  const auto nothing = [](KernelRegistry&) {};
  const auto disabled = [](const std::vector<std::string>&, const ir::PlanFunctions&, ir::Graph&, Emitter&) {
    return true;
  };
  EXPECT_EQ(PlannedGraph::FaultOf(g, nothing, disabled), "");
}

constexpr ir::StepTimes kTimes;

// Transformations get the times that a backend knows.
TEST(TransformationTest, TimesOfABackend) {
  TestGraph g;
  g.Result(g.Op("Exp", {g.Parameter("x", {4})}));
  for (const bool has_times : {true, false}) {
    int count = 0;
    const GraphTransformer transform = [&](const std::vector<std::string>& names,
                                           const ir::PlanFunctions& functions, ir::Graph&, Emitter&) {
      if (names.front() == "target.Wanted") {
        ++count;
        EXPECT_EQ(functions.times, has_times ? &kTimes : nullptr);
      }
      return true;
    };
    const auto add = [&](KernelRegistry& kernels) {
      KernelRegistry::BackendHooks hooks{.request_transformations = [](kernels::Precision, bool) {
        return std::vector<std::string>{"target.Wanted"};
      }};
      if (has_times) hooks.times = [] { return &kTimes; };
      kernels.SetHooks(Backend::kFast, hooks);
    };
    EXPECT_EQ(PlannedGraph::FaultOf(g, add, transform), "");
    EXPECT_EQ(count, 1);
  }
}

// A kernel that declines operands with strides gets copies of them.
TEST(StridedOperandsTest, AKernelMayDeclineThem) {
  TestGraph g;
  g.Result(g.Op("Tanh", {Sliced(g, g.Op("Exp", {g.Parameter("x", {4, 16})}), 1, 2, 10)}));
  for (const bool declines : {true, false}) {
    const PlannedGraph planned(g, [&](KernelRegistry& kernels) {
      kernels.Add(Backend::kFast, {"opset1"}, "Tanh",
                  [=](const KernelRequest& request) -> std::optional<kernels::PreparedKernel> {
                    if (declines && request.inputs[0].layout != nullptr) return std::nullopt;
                    kernels::PreparedKernel prepared = PreparedFor(request);
                    prepared.inputs[0] = request.inputs[0].layout;
                    return prepared;
                  });
      kernels.AcceptStrides(Backend::kFast, {"opset1"}, "Tanh", 1);
    });
    EXPECT_EQ(planned.StepOf("Tanh").kernel->implementation(), "planned");
    EXPECT_EQ(planned.Steps(), declines ? "Exp reorder Tanh" : "Exp Tanh");
  }
}

// Without fusion each value is stored on its own, with dense elements.
TEST(StridedOperandsTest, WithoutFusionThereAreNone) {
  TestGraph g;
  const auto y = g.Op("Exp", {g.Parameter("x", {4, 16})});
  g.Result(Concatenated(g, {Sliced(g, y, 1, 2, 10), g.Parameter("z", {4, 8})}, 0));
  EXPECT_EQ(PlannedGraph(g).Steps(), "Exp Concat");
  EXPECT_EQ(PlannedGraph(g, false).Steps(), "Exp Slice Concat");
}

}  // namespace
}  // namespace nnefc::runtime::engine::plan
