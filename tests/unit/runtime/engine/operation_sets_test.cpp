// Operations of a plug-in's set with the names of OpenVINO's: neither backend may confuse them.

#include <map>
#include <set>
#include <stdexcept>

#include "llvm/ADT/STLExtras.h"
#include "runtime/engine/evaluate.h"
#include "runtime/fast/register.h"
#include "runtime/kernels/registry.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

using kernels::KernelRegistry;

namespace {

constexpr double kTolerance = 2e-5;
constexpr std::string_view kSet = "acme";

std::set<std::string> NamesOfOpenVino() {
  std::set<std::string> names;
  for (size_t i = 0; i < TestRegistry().size(); ++i) {
    const ir::OpInfo& info = TestRegistry().Info(ir::OpId(static_cast<int32_t>(i)));
    if (info.set != ir::kNnefSet && info.infer != nullptr) names.insert(info.name);
  }
  return names;
}

// 2 * x + 1 of each element.
kernels::FaultOr<Success> TwiceAndOne(const kernels::ReferenceRun& run) {
  const auto* x = run.input(0).data<float>();
  auto* y = run.output().mutable_data<float>();
  for (int64_t i = 0; i < run.output().volume(); ++i) y[i] = 2 * x[i] + 1;
  return Success();
}

void AddKernels(KernelRegistry& kernels) {
  for (const std::string& name : NamesOfOpenVino()) kernels.AddReference({kSet}, name, TwiceAndOne);
}

class OperationSetsTest : public ::testing::Test {
 protected:
  OperationSetsTest() {
    for (const std::string& name : NamesOfOpenVino()) {
      registry_.Add({.set = std::string(kSet),
                     .name = name,
                     .inputs = {{.name = "data"}},
                     .outputs = {"output"},
                     .infer = [](ir::InferContext& context) {
                       context.SetOutput(0, context.input(0).type, context.input(0).shape);
                     }});
    }
  }

  // x -> `made` -> Convolution between convolutions, and between a quantization and a convolution.
  template <typename Make>
  TestGraph Between(Make made) {
    TestGraph g;
    g.graph = std::make_shared<ir::Graph>(&registry_);
    const auto x = g.Parameter("x", {1, 16, 6, 6});
    const auto image = g.Op("ReLU", {g.Convolution(x, g.Weights({16, 16, 3, 3}, 1), 1)});
    g.Result(g.Convolution(made(g, image), g.Weights({16, 16, 1, 1}, 2), 0), "between convolutions");
    const auto end = [&](float value) {
      return g.Const(
          TensorValue::Make<float>(ElementType::kF32, {}, [&](std::span<float> v) { v[0] = value; }));
    };
    const auto quantized = g.Op("FakeQuantize", {x, end(-1), end(1), end(-1), end(1)}, With("levels", 256));
    g.Result(g.Convolution(made(g, quantized), g.Weights({16, 16, 1, 1}, 3), 0), "of quantized values");
    g.Result(made(g, g.Op("Concat", {made(g, x), x}, With("axis", 1))), "around a concatenation");
    return g;
  }

  ir::OpRegistry registry_{&TestRegistry()};
};

TEST_F(OperationSetsTest, NamesOfOpenVinoInAnotherSet) {
  const std::vector<TensorValue> inputs = {RandomTensor({1, 16, 6, 6}, 4)};
  const TestGraph formula = Between([](TestGraph& g, ir::OutputPort x) {
    const auto number = [&](float value) {
      return g.Const(TensorValue::Make<float>(ElementType::kF32, {1, 1, 1, 1},
                                              [&](std::span<float> v) { v[0] = value; }));
    };
    return g.Op("Add", {g.Op("Multiply", {x, number(2)}), number(1)});
  });
  const std::vector<TensorValue> expected =
      RunGraph(formula.graph, {.backend = kernels::Backend::kReference, .fuse = false}, inputs);
  ASSERT_EQ(expected.size(), 3U);
  for (const std::string& name : NamesOfOpenVino()) {
    SCOPED_TRACE(name);
    const TestGraph g =
        Between([&](TestGraph& graph, ir::OutputPort x) { return graph.Op(kSet, name, {x}); });
    for (const kernels::Backend backend : kBackends) {
      const std::vector<TensorValue> actual =
          RunGraph(g.graph, {.backend = backend, .threads = 1, .add_kernels = AddKernels}, inputs);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) ExpectClose(actual[i], expected[i], kTolerance);
    }
  }
}

// Constants of other operations are computed by the added kernels, and left without them.
TEST_F(OperationSetsTest, EvaluationOfAddedKernels) {
  TestGraph g;
  g.graph = std::make_shared<ir::Graph>(&registry_);
  const ir::Node& node = g.graph->node(g.Op(kSet, "Split", {g.Parameter("x", {2})}).node);
  const std::vector<TensorValue> inputs = {TensorValue::FromFloats({2}, {3, -4})};
  const auto evaluated = ReferenceEvaluator(AddKernels)(node, node.outputs(), inputs);
  ASSERT_TRUE(evaluated.has_value());
  EXPECT_EQ(evaluated->front(), TensorValue::FromFloats({2}, {7, -7}));
  EXPECT_FALSE(ReferenceEvaluator()(node, node.outputs(), inputs).has_value());
}

// Kernels of plug-ins may throw, and may be for operations without other kernels.
TEST_F(OperationSetsTest, ForeignKernels) {
  const auto message = [](const std::function<void(KernelRegistry&)>& add) {
    KernelRegistry kernels;
    kernels::RegisterReferenceKernels(kernels);
    const kernels::FaultOr<Success> added = kernels.AddForeign(add);
    return added ? "" : added.error().message;
  };
  EXPECT_EQ(message(AddKernels), "");
  EXPECT_EQ(message([](KernelRegistry&) { throw std::runtime_error("no"); }), "no");
  EXPECT_NE(message([](KernelRegistry&) { throw 7; }), "");
  EXPECT_EQ(message([](KernelRegistry& kernels) { kernels.AddReference({"opset1"}, "Add", TwiceAndOne); }),
            "`opset1.Add` has a kernel already");

  TestGraph g;
  g.graph = std::make_shared<ir::Graph>(&registry_);
  g.Result(g.Op(kSet, "Split", {g.Parameter("x", {2})}));
  Emitter emitter;
  const auto fail = [](KernelRegistry&) { throw std::runtime_error("no kernels"); };
  EXPECT_EQ(Executable::Create(g.graph, {.add_kernels = fail}, emitter), nullptr);
  EXPECT_EQ(Messages(emitter), "no kernels\n");
  const auto add = [](KernelRegistry& kernels) {
    kernels.Add(kernels::Backend::kReference, {kSet}, "Split",
                [](const kernels::KernelRequest&) -> std::optional<kernels::PreparedKernel> {
                  throw std::runtime_error("no parts");
                });
  };
  for (const kernels::Backend backend : kBackends) {
    const auto executable = Compile(g.graph, {.backend = backend, .add_kernels = add});
    ASSERT_NE(executable, nullptr);
    const auto result = Session::Create(executable)->Run({RandomTensor({2}, 1)});
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("the kernel of `acme.Split` failed: no parts"), std::string::npos)
        << result.error().message;
  }
}

// A factory may decline the shapes that a run finds out.
TEST_F(OperationSetsTest, FactoriesThatDecline) {
  TestGraph g;
  g.graph = std::make_shared<ir::Graph>(&registry_);
  const auto positions =
      g.Op("opset3", "NonZero", {g.Parameter("x", {2})}, With("output_type", ElementType::kI64));
  g.Result(g.Op(kSet, "Split", {positions}));
  const auto add = [](KernelRegistry& kernels) {
    kernels.Add(kernels::Backend::kReference, {kSet}, "Split",
                [](const kernels::KernelRequest&) { return std::optional<kernels::PreparedKernel>(); });
  };
  const auto executable = Compile(g.graph, {.add_kernels = add});
  ASSERT_NE(executable, nullptr);
  const auto result = Session::Create(executable)->Run({RandomTensor({2}, 1)});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("there is no kernel for it"), std::string::npos)
      << result.error().message;
}

// Later sets repeat operations, with attributes that the kernels read. The inputs of BatchNormInference have
// another order in opset1.
TEST(FastTablesTest, LaterSetsHaveTheImplementationsOfEarlierOnes) {
  KernelRegistry kernels;
  fast::RegisterFastKernels(kernels, {});
  const auto has_fast = [&](const std::string& set, const std::string& name) {
    return kernels.Find(kernels::Backend::kFast, set, name) != nullptr;
  };
  std::map<std::string, std::set<std::string>> sets_of;
  for (size_t i = 0; i < TestRegistry().size(); ++i) {
    const ir::OpInfo& info = TestRegistry().Info(ir::OpId(static_cast<int32_t>(i)));
    if (info.set != ir::kNnefSet) sets_of[info.name].insert(info.set);
  }
  EXPECT_EQ(sets_of["MaxPool"], (std::set<std::string>{"opset1", "opset14", "opset8"}));
  for (const auto& [name, sets] : sets_of) {
    if (name == "BatchNormInference" ||
        !llvm::any_of(sets, [&](const std::string& set) { return has_fast(set, name); }))
      continue;
    for (const std::string& set : sets) EXPECT_TRUE(has_fast(set, name)) << set << "." << name;
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
