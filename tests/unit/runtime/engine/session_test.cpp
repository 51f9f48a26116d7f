#include <sys/wait.h>

#include <cstdlib>
#include <thread>

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/count_threads.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

using kernels::Backend;
using kernels::FaultOr;

namespace {

std::string ErrorOf(const TestGraph& graph, const std::vector<TensorValue>& inputs) {
  const auto executable = Compile(graph.graph, {.backend = Backend::kReference});
  if (executable == nullptr) return "";
  FaultOr<std::vector<TensorValue>> outputs = Session::Create(executable)->Run(inputs);
  return outputs.ok() ? "no error" : outputs.error().message;
}

TEST(SessionTest, WrongInputsAreToldByName) {
  TestGraph g;
  auto x = g.Parameter("data", {1, 3});
  g.Result(g.Op("ReLU", {x}));
  EXPECT_EQ(ErrorOf(g, {}), "0 inputs were given; expected 1");
  EXPECT_EQ(ErrorOf(g, {TensorValue()}), "input `data` was not given");
  EXPECT_EQ(ErrorOf(g, {RandomTensor({3, 1}, 1)}), "input `data` has the shape [3,1]; expected [1,3]");
  EXPECT_EQ(ErrorOf(g, {RandomTensor({1, 3}, 1).ConvertedTo(ElementType::kI64)}),
            "input `data` has elements of type i64; expected f32");
}

TEST(SessionTest, ConstantsAreReadWhereTheyLie) {
  const TensorValue numbers = RandomTensor({101}, 1);
  TestGraph g;
  const std::shared_ptr<const Buffer> part = Buffer::Slice(numbers.buffer(), 4, 400);
  g.Result(g.Op("Add", {g.Parameter("x", {100}), g.Const(TensorValue(ElementType::kF32, {100}, part))}));
  for (Backend backend : kBackends) {
    const auto before = part.use_count();
    const auto executable = Compile(g.graph, {.backend = backend});
    EXPECT_GT(part.use_count(), before);  // the plan has it
    const TensorValue x = RandomTensor({100}, 2);
    FaultOr<std::vector<TensorValue>> outputs = Session::Create(executable)->Run({x});
    ASSERT_TRUE(outputs.ok());
    for (int64_t i = 0; i < 100; ++i)
      EXPECT_EQ((*outputs)[0].ElementAsDouble(i), numbers.elements<float>()[static_cast<size_t>(i) + 1] +
                                                      x.elements<float>()[static_cast<size_t>(i)]);
  }
}

TEST(SessionTest, ConstantsWithoutDataAreTold) {
  TestGraph g;
  ir::AttributeMap attributes;
  attributes.Set("element_type", ElementType::kF32);
  attributes.Set("shape", ir::PartialShape(llvm::ArrayRef<int64_t>({1, 3})));
  const ir::NodeId weights =
      ir::AddNode(*g.graph, "opset1", "Const", {.name = "w", .attributes = attributes});
  g.graph->SetOutputType({weights, 0}, ElementType::kF32, ir::PartialShape(llvm::ArrayRef<int64_t>({1, 3})));
  g.Result(g.Op("Add", {g.Parameter("x", {1, 3}), {weights, 0}}));
  Emitter emitter;
  EXPECT_EQ(Executable::Create(g.graph, {}, emitter), nullptr);
  EXPECT_EQ(Messages(emitter), "the constant `w` has no data\n");
}

// A node of constants that fails: its index is out of range.
ir::OutputPort FailingConstant(TestGraph& g) {
  ir::AttributeMap attributes;
  attributes.Set("batch_dims", 0);
  const ir::OutputPort zero = g.Const(TensorValue::FromInts({}, {0}));
  return g.Op("opset8", "Gather", {g.Weights({4}, 1), g.Ints({1, 7}), zero}, attributes);
}

TEST(SessionTest, ConstantsThatNothingNeedsMayFail) {
  for (Backend backend : kBackends) {
    TestGraph needed;
    auto x = needed.Parameter("x", {2});
    needed.Result(needed.Op("Add", {x, FailingConstant(needed)}));
    Emitter emitter;
    EXPECT_EQ(
        Executable::Create(needed.graph, {.backend = backend, .transform = StandardTransformer()}, emitter),
        nullptr);
    EXPECT_EQ(Messages(emitter), "`n4` (Gather): index 7 is outside an axis of extent 4\n");

    TestGraph dead;
    x = dead.Parameter("x", {2});
    dead.Op("ReLU", {FailingConstant(dead)});
    dead.Result(dead.Op("Abs", {x}));
    const TensorValue data = TensorValue::FromFloats({2}, {-1, 2});
    std::vector<TensorValue> results = RunGraph(dead.graph, {.backend = backend}, {data});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0], TensorValue::FromFloats({2}, {1, 2}));

    // The shape of a value needs no value.
    TestGraph shape;
    x = shape.Parameter("x", {2});
    shape.Result(shape.Op("Reshape", {x, shape.Op("ShapeOf", {FailingConstant(shape)})}));
    results = RunGraph(shape.graph, {.backend = backend}, {data});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0], data);

    // Nor does it if the shape function rejects it once constants are known.
    TestGraph axes;
    x = axes.Parameter("x", {2});
    ir::AttributeMap attributes;
    attributes.Set("keep_dims", false);
    const ir::OutputPort three = axes.Op(
        "opset1", "ReduceMin", {axes.Ints({3}), axes.Const(TensorValue::FromInts({0}, {}))}, attributes);
    const ir::OutputPort rolled = axes.Op("opset7", "Roll", {x, axes.Ints({1}), three});
    axes.Result(axes.Op("Reshape", {x, axes.Op("ShapeOf", {rolled})}));
    results = RunGraph(axes.graph, {.backend = backend}, {data});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(results[0], data);
  }
}

TEST(SessionTest, RunTimeFailuresNameTheNode) {
  TestGraph g;
  auto x = g.Parameter("x", {4});
  auto indices = g.Parameter("indices", {2}, ElementType::kI64);
  ir::AttributeMap attributes;
  attributes.Set("batch_dims", 0);
  g.Result(g.Op("opset8", "Gather", {x, indices, g.Const(TensorValue::FromInts({}, {0}))}, attributes));
  EXPECT_EQ(ErrorOf(g, {RandomTensor({4}, 1), TensorValue::FromInts({2}, {1, 7})}),
            "`n3` (Gather): index 7 is outside an axis of extent 4");
}

TEST(SessionTest, ParametersConstantsAndValuesTwiceAsResults) {
  for (Backend backend : kBackends) {
    TestGraph g;
    auto x = g.Parameter("x", {1, 16, 4, 4});
    auto y = g.Op("ReLU", {x});
    auto constant = g.Weights({2, 2}, 1);
    g.Result(x, "x");
    g.Result(y, "y");
    g.Result(y, "again");
    g.Result(constant, "constant");
    const TensorValue input = RandomTensor({1, 16, 4, 4}, 2);
    const std::vector<TensorValue> outputs = RunGraph(g.graph, {.backend = backend}, {input});
    ASSERT_EQ(outputs.size(), 4u);
    EXPECT_EQ(outputs[0], input);
    EXPECT_EQ(outputs[1], outputs[2]);
    EXPECT_EQ(outputs[3], RandomTensor({2, 2}, 1));
  }
}

// Inputs are never written to, even where the plan works in place.
TEST(SessionTest, InputsStayAsTheyAre) {
  for (Backend backend : kBackends) {
    TestGraph g;
    auto x = g.Parameter("x", {2, 3});
    ir::AttributeMap zero;
    zero.Set("special_zero", true);
    auto flat = g.Op("Reshape", {x, g.Ints({-1})}, zero);
    g.Result(g.Op("Sigmoid", {g.Op("ReLU", {flat})}));
    const TensorValue input = RandomTensor({2, 3}, 1);
    RunGraph(g.graph, {.backend = backend}, {input});
    EXPECT_EQ(input, RandomTensor({2, 3}, 1));
  }
}

// A session keeps no buffer of an input after a run.
TEST(SessionTest, InputsAreReleased) {
  for (Backend backend : kBackends) {
    TestGraph g;
    g.Result(g.Op("ReLU", {g.Parameter("x", {2, 3})}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const std::unique_ptr<Session> session = Session::Create(executable);
    const TensorValue input = RandomTensor({2, 3}, 1);
    const long before = input.buffer().use_count();
    ASSERT_TRUE(session->Run({input}).ok());
    EXPECT_EQ(input.buffer().use_count(), before);
  }
}

TEST(SessionTest, AShapeOfTheInputPlansAnew) {
  for (Backend backend : kBackends) {
    TestGraph g;
    const ir::Dim any[] = {ir::Dim(), ir::Dim(3), ir::Dim(), ir::Dim()};
    auto x = g.PartialParameter("x", ir::PartialShape(llvm::ArrayRef<ir::Dim>(any)));
    g.Result(g.Op("ReLU", {g.Convolution(x, g.Weights({4, 3, 3, 3}, 1), 1)}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    std::unique_ptr<Session> session = Session::Create(executable);
    std::map<int64_t, std::string> plans;
    for (int64_t extent : {5, 8, 5, 11}) {
      FaultOr<std::vector<TensorValue>> outputs = session->Run({RandomTensor({2, 3, extent, 6}, 2)});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ(ToString((*outputs)[0].shape()), ToString(Shape{2, 4, extent, 6}));
      // The plan of the last run is described.
      const auto& [described, is_new] = plans.try_emplace(extent, executable->DescribePlan());
      EXPECT_EQ(executable->DescribePlan(), described->second);
    }
    EXPECT_NE(plans[5], plans[8]);
    EXPECT_NE(plans[8], plans[11]);
    FaultOr<std::vector<TensorValue>> wrong = session->Run({RandomTensor({2, 4, 5, 6}, 2)});
    EXPECT_FALSE(wrong.ok());
  }
}

// An executable plans once for each shape of its inputs, also for several sessions.
TEST(SessionTest, PlansOfKnownShapes) {
  int prepared = 0;
  const auto standard = StandardTransformer();
  ExecutableOptions options;
  options.transform = [&](auto&&... arguments) {
    ++prepared;
    return standard(std::forward<decltype(arguments)>(arguments)...);
  };
  TestGraph g;
  const ir::Dim any[] = {ir::Dim(), ir::Dim(3)};
  g.Result(g.Op("ReLU", {g.PartialParameter("x", ir::PartialShape(llvm::ArrayRef<ir::Dim>(any)))}));
  Emitter emitter;
  const auto executable = Executable::Create(g.graph, options, emitter);
  ASSERT_NE(executable, nullptr);
  const auto plans = [&](int64_t rows) {
    const int before = prepared;
    EXPECT_TRUE(Session::Create(executable)->Run({RandomTensor({rows, 3}, 1)}).ok());
    return prepared > before;
  };
  EXPECT_TRUE(plans(4));
  EXPECT_FALSE(plans(4));
  EXPECT_TRUE(plans(5));
  EXPECT_FALSE(plans(4));
  EXPECT_FALSE(plans(5));
}

TEST(SessionTest, ShapesThatFollowFromValues) {
  for (Backend backend : kBackends) {
    TestGraph g;
    auto x = g.Parameter("x", {2, 6});
    auto shape = g.Parameter("shape", {2}, ElementType::kI64);
    ir::AttributeMap zero;
    zero.Set("special_zero", true);
    auto y = g.Op("Reshape", {g.Op("ReLU", {x}), shape}, zero);
    y = g.Op("Transpose", {y, g.Ints({1, 0})});
    g.Result(g.Op("Add", {y, g.Const(TensorValue::Scalar(1))}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    std::unique_ptr<Session> session = Session::Create(executable);
    const TensorValue input = RandomTensor({2, 6}, 1, 0, 1);
    FaultOr<std::vector<TensorValue>> outputs = session->Run({input, TensorValue::FromInts({2}, {3, -1})});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    ASSERT_EQ(ToString((*outputs)[0].shape()), "[4,3]");
    EXPECT_FLOAT_EQ((*outputs)[0].elements<float>()[1], input.elements<float>()[4] + 1);
    FaultOr<std::vector<TensorValue>> wrong = session->Run({input, TensorValue::FromInts({2}, {5, -1})});
    EXPECT_FALSE(wrong.ok());
  }
}

TEST(SessionTest, ShapeArithmeticIsFolded) {
  TestGraph g;
  auto x = g.Parameter("x", {2, 3, 4});
  auto shape = g.Op("opset3", "ShapeOf", {x});
  auto extent = g.Op("opset8", "Gather", {shape, g.Ints({2}), g.Const(TensorValue::FromInts({}, {0}))});
  auto target = g.Op("Multiply", {extent, g.Ints({6})});
  ir::AttributeMap zero;
  zero.Set("special_zero", false);
  g.Result(g.Op("Sin", {g.Op("Reshape", {x, target}, zero)}));
  const auto executable = Compile(g.graph, {.backend = Backend::kReference});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->DescribePlan().find("Multiply"), std::string::npos) << executable->DescribePlan();
  FaultOr<std::vector<TensorValue>> outputs = Session::Create(executable)->Run({RandomTensor({2, 3, 4}, 1)});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(ToString((*outputs)[0].shape()), "[24]");
}

// y = previous; state = previous + x. All readers see the old value.
TEST(SessionTest, VariablesKeepTheirValue) {
  for (Backend backend : kBackends) {
    TestGraph g;
    auto x = g.Parameter("x", {2});
    ir::AttributeMap variable;
    variable.Set("variable_id", "v");
    variable.Set("variable_type", ElementType::kF32);
    variable.Set("variable_shape", ir::PartialShape(llvm::ArrayRef<int64_t>({2})));
    auto read = g.Op("opset6", "ReadValue", {g.Const(TensorValue::FromFloats({2}, {10, 20}))}, variable);
    ir::AttributeMap id;
    id.Set("variable_id", "v");
    g.Op("opset6", "Assign", {g.Op("Add", {read, x})}, id);
    g.Result(g.Op("Multiply", {read, g.Const(TensorValue::Scalar(1))}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    std::unique_ptr<Session> session = Session::Create(executable);
    std::unique_ptr<Session> other = Session::Create(executable);
    const TensorValue one = TensorValue::FromFloats({2}, {1, 2});
    const auto run = [&](Session& s) { return (*s.Run({one}))[0]; };
    EXPECT_EQ(run(*session), TensorValue::FromFloats({2}, {10, 20}));
    EXPECT_EQ(run(*session), TensorValue::FromFloats({2}, {11, 22}));
    EXPECT_EQ(run(*other), TensorValue::FromFloats({2}, {10, 20}));
    EXPECT_EQ(run(*session), TensorValue::FromFloats({2}, {12, 24}));
    session->ResetState();
    EXPECT_EQ(run(*session), TensorValue::FromFloats({2}, {10, 20}));
  }
}

ir::OutputPort ReadVariable(TestGraph& g, const std::string& id, std::vector<float> first) {
  const Shape shape{static_cast<int64_t>(first.size())};
  ir::AttributeMap attributes;
  attributes.Set("variable_id", id);
  attributes.Set("variable_type", ElementType::kF32);
  attributes.Set("variable_shape", ir::PartialShape(llvm::ArrayRef<int64_t>(shape)));
  return g.Op("opset6", "ReadValue", {g.Const(TensorValue::FromFloats(shape, first))}, attributes);
}

void AssignVariable(TestGraph& g, const std::string& id, ir::OutputPort value) {
  ir::AttributeMap attributes;
  attributes.Set("variable_id", id);
  g.Op("opset6", "Assign", {value}, attributes);
}

// The state changes at the end of a run. A failed run does not change it, whichever step fails.
TEST(SessionTest, AFailingRunLeavesTheState) {
  for (Backend backend : kBackends) {
    for (bool assigned_first : {true, false}) {
      TestGraph g;
      const auto x = g.Parameter("x", {2});
      const auto index = g.Parameter("index", {1}, ElementType::kI64);
      const auto read = ReadVariable(g, "v", {10, 20});
      if (assigned_first) AssignVariable(g, "v", g.Op("Add", {read, x}));
      ir::AttributeMap batch_dims;
      batch_dims.Set("batch_dims", 0);
      g.Result(g.Op("opset8", "Gather", {x, index, g.Const(TensorValue::FromInts({}, {0}))}, batch_dims));
      if (!assigned_first) AssignVariable(g, "v", g.Op("Add", {read, x}));
      g.Result(g.Op("Multiply", {read, g.Const(TensorValue::Scalar(1))}));
      const auto executable = Compile(g.graph, {.backend = backend});
      ASSERT_NE(executable, nullptr);
      std::unique_ptr<Session> session = Session::Create(executable);
      const auto run = [&](int64_t place) {
        return session->Run({TensorValue::FromFloats({2}, {1, 2}), TensorValue::FromInts({1}, {place})});
      };
      const auto seen = [&] { return (*run(0))[1]; };
      EXPECT_FALSE(run(2).ok());
      EXPECT_EQ(seen(), TensorValue::FromFloats({2}, {10, 20}));
      EXPECT_FALSE(run(-3).ok());
      EXPECT_FALSE(run(2).ok());
      EXPECT_EQ(seen(), TensorValue::FromFloats({2}, {11, 22}));
      EXPECT_EQ(seen(), TensorValue::FromFloats({2}, {12, 24}));
    }
  }
}

// A run that assigns no value leaves the state as it is, even after runs that did.
TEST(SessionTest, BranchesThatAssign) {
  const char text[] = R"(graph "net" {
  %0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
  %2 = opset1.Const "first" : f32[2] = dense<f32[2]: 10.0, 20.0>
  %3 = opset6.ReadValue "read" (%2) {variable_id = "v", variable_type = f32, variable_shape = shape[2]} : f32[2]
  %4 = opset8.If "if" (%0, %1) : f32[2] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
      %1 = opset6.Assign "assign" (%0) {variable_id = "v"} : f32[2]
      opset1.Result "r" (%0)
      sinks (%1)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
      opset1.Result "r" (%0)
    }
  }
  opset1.Result "y" (%4)
  opset1.Result "state" (%3)
})";
  for (Backend backend : kBackends) {
    Context context;
    const std::shared_ptr<ir::Graph> graph =
        ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
    ASSERT_NE(graph, nullptr) << Messages(context.emitter);
    const std::unique_ptr<Session> session = Session::Create(Compile(graph, {.backend = backend}));
    const auto state_before = [&](bool assigns, float x) {
      return (
          *session->Run({TensorValue::FromBools({}, {assigns}), TensorValue::FromFloats({2}, {x, -x})}))[1];
    };
    EXPECT_EQ(state_before(true, 1), TensorValue::FromFloats({2}, {10, 20}));
    EXPECT_EQ(state_before(false, 2), TensorValue::FromFloats({2}, {1, -1}));
    EXPECT_EQ(state_before(true, 3), TensorValue::FromFloats({2}, {1, -1}));
    session->ResetState();
    EXPECT_EQ(state_before(false, 4), TensorValue::FromFloats({2}, {10, 20}));
    EXPECT_EQ(state_before(false, 5), TensorValue::FromFloats({2}, {10, 20}));
  }
}

// Each variable has the other's value from before the run; a stored value may also be a result.
TEST(SessionTest, VariablesSwap) {
  for (Backend backend : kBackends) {
    TestGraph g;
    const auto x = g.Parameter("x", {2});
    const auto a = ReadVariable(g, "a", {1, 2});
    const auto b = ReadVariable(g, "b", {3, 4});
    const auto sum = g.Op("Add", {b, x});
    AssignVariable(g, "a", sum);
    AssignVariable(g, "b", a);
    g.Result(a, "a");
    g.Result(b, "b");
    g.Result(sum, "sum");
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    std::unique_ptr<Session> session = Session::Create(executable);
    std::vector<std::vector<TensorValue>> held;
    held.reserve(4);
    for (int i = 0; i < 4; ++i) held.push_back(*session->Run({TensorValue::FromFloats({2}, {10, 20})}));
    const float expected[4][6] = {
        {1, 2, 3, 4, 13, 24}, {13, 24, 1, 2, 11, 22}, {11, 22, 13, 24, 23, 44}, {23, 44, 11, 22, 21, 42}};
    for (size_t i = 0; i < held.size(); ++i) {
      for (size_t output = 0; output < 3; ++output) {
        const float* values = expected[i] + 2 * output;
        EXPECT_EQ(held[i][output], TensorValue::FromFloats({2}, {values[0], values[1]}))
            << i << " " << output;
      }
    }
  }
}

TestGraph SmallNetwork() {
  TestGraph g;
  auto x = g.Parameter("x", {1, 3, 32, 32});
  auto y = g.Op("ReLU", {g.Convolution(x, g.Weights({16, 3, 3, 3}, 1), 1)});
  auto z = g.Op("Add", {y, g.Convolution(y, g.Weights({16, 16, 3, 3}, 2), 1)});
  ir::AttributeMap axis;
  axis.Set("axis", 1);
  g.Result(g.Op("SoftMax", {z}, axis));
  return g;
}

TEST(SessionTest, ReferenceResultsDoNotDependOnThreads) {
  const TestGraph g = SmallNetwork();
  const TensorValue input = RandomTensor({1, 3, 32, 32}, 3);
  const std::vector<TensorValue> one =
      RunGraph(g.graph, {.backend = Backend::kReference, .threads = 1}, {input});
  for (int threads : {2, 3, 7}) {
    const auto more = RunGraph(g.graph, {.backend = Backend::kReference, .threads = threads}, {input});
    ASSERT_EQ(more.size(), 1u);
    EXPECT_EQ(more[0], one.at(0));
  }
}

TEST(SessionTest, SessionsOfManyThreadsShareAnExecutable) {
  const TestGraph g = SmallNetwork();
  const auto executable = Compile(g.graph, {.backend = Backend::kFast, .threads = 1});
  ASSERT_NE(executable, nullptr);
  std::vector<TensorValue> results(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      std::unique_ptr<Session> session = Session::Create(executable);
      for (int run = 0; run < 5; ++run) {
        FaultOr<std::vector<TensorValue>> outputs =
            session->Run({RandomTensor({1, 3, 32, 32}, static_cast<unsigned>(t))});
        if (outputs.ok()) results[t] = (*outputs)[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < results.size(); ++t) {
    const auto expected = RunGraph(g.graph, {.backend = Backend::kFast, .threads = 1},
                                   {RandomTensor({1, 3, 32, 32}, static_cast<unsigned>(t))});
    ASSERT_TRUE(results[t].valid());
    EXPECT_EQ(results[t], expected.at(0));
  }
}

TEST(SessionTest, ProfileHasEveryStep) {
  const TestGraph g = SmallNetwork();
  for (const bool explains : {false, true}) {
    ExecutableOptions options{.backend = Backend::kFast};
    if (explains) options.explains = true;  // not by default
    const auto executable = Compile(g.graph, options);
    ASSERT_NE(executable, nullptr);
    const PlanCacheUse use = executable->plan_cache_use();
    EXPECT_TRUE(use.found == 0 && use.made == 0 && use.measured == 0);
    std::unique_ptr<Session> session = Session::Create(executable);
    ASSERT_TRUE(session->Run({RandomTensor({1, 3, 32, 32}, 3)}).ok());
    EXPECT_TRUE(session->profile().empty());
    session->EnableProfile(true);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(session->Run({RandomTensor({1, 3, 32, 32}, 3)}).ok());
      ASSERT_FALSE(session->profile().empty());
      const auto step = llvm::find_if(session->profile(),
                                      [](const auto& each) { return each.operation == "Convolution+ReLU"; });
      ASSERT_NE(step, session->profile().end());
      EXPECT_NE(step->rejected.empty(), explains);
      EXPECT_TRUE(step->kernel.starts_with("onednn:") || step->kernel.starts_with("nnefc:")) << step->kernel;
      EXPECT_FALSE(step->shape.empty());
    }
    session->EnableProfile(false);
    EXPECT_TRUE(session->profile().empty());
  }
}

TEST(SessionTest, EmptyTensors) {
  for (Backend backend : kBackends) {
    TestGraph g;
    auto x = g.Parameter("x", {0, 3, 4, 4});
    auto y = g.Op("ReLU", {g.Convolution(x, g.Weights({16, 3, 3, 3}, 1), 1)});
    g.Result(y);
    const auto outputs = RunGraph(g.graph, {.backend = backend}, {RandomTensor({0, 3, 4, 4}, 1)});
    ASSERT_EQ(outputs.size(), 1u);
    EXPECT_EQ(ToString(outputs[0].shape()), "[0,16,4,4]");
  }
}

// The plan reports inputs without a type; inputs of any type belong to them.
TEST(SessionTest, ParametersOfUnknownTypes) {
  for (Backend backend : kBackends) {
    TestGraph g;
    g.Result(g.Op("Abs", {g.PartialParameter("x", ir::PartialShape(), ElementType::kDynamic)}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const auto outputs = Session::Create(executable)->Run({RandomTensor({2, 3}, 1)});
    ASSERT_FALSE(outputs.ok());
    EXPECT_EQ(outputs.error().message, "`x` (Parameter): elements of type dynamic cannot be run");
  }
}

// A result whose shape only a run knows may have no elements, next to others.
TEST(SessionTest, ResultsOfUnknownShapesWithoutElements) {
  for (Backend backend : kBackends) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, 3});
    g.Result(g.Op("opset3", "NonZero", {x}, With("output_type", ElementType::kI64)), "positions");
    g.Result(g.Op("Abs", {x}), "numbers");
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const std::unique_ptr<Session> session = Session::Create(executable);
    for (const bool is_zero : {true, false, true}) {
      const FaultOr<std::vector<TensorValue>> outputs =
          session->Run({TensorValue::FromFloats({1, 3}, {0, 0, is_zero ? 0.0F : -2.0F})});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ((*outputs)[0],
                is_zero ? TensorValue::FromInts({2, 0}, {}) : TensorValue::FromInts({2, 1}, {0, 2}));
      EXPECT_EQ((*outputs)[1], TensorValue::FromFloats({1, 3}, {0, 0, is_zero ? 0.0F : 2.0F}));
    }
  }
}

// Without the transformations of plans, each run infers the shapes of its inputs and reports those that do
// not fit.
TEST(SessionTest, ShapesOfInputsWithoutTransformation) {
  for (Backend backend : kBackends) {
    TestGraph g;
    const ir::PartialShape rows({ir::Dim(), ir::Dim(2)});
    const auto sum = g.Op("Add", {g.PartialParameter("x", rows), g.PartialParameter("y", rows)});
    g.Result(g.Op("Transpose", {sum, g.Ints({1, 0})}));
    Emitter emitter;
    const auto executable = Executable::Create(g.graph, {.backend = backend}, emitter);
    ASSERT_NE(executable, nullptr) << Messages(emitter);
    const std::unique_ptr<Session> session = Session::Create(executable);
    const TensorValue one = TensorValue::FromFloats({1, 2}, {10, 20}),
                      two = TensorValue::FromFloats({2, 2}, {1, 2, 3, 4}),
                      three = TensorValue::FromFloats({3, 2}, {1, 2, 3, 4, 5, 6});
    for (const bool is_repeated : {false, true}) {
      const FaultOr<std::vector<TensorValue>> first = session->Run({two, one}),
                                              second = session->Run({three, three});
      ASSERT_TRUE(first.ok() && second.ok()) << is_repeated;
      EXPECT_EQ((*first)[0], TensorValue::FromFloats({2, 2}, {11, 13, 22, 24}));
      EXPECT_EQ((*second)[0], TensorValue::FromFloats({2, 3}, {2, 6, 10, 4, 8, 12}));
      EXPECT_FALSE(session->Run({two, three}).ok());
    }
  }
}

// Runs a convolution and a softmax large enough for a team.
int ThreadsAfterRun(Backend backend, int threads) {
  const ThreadCounter counter;
  TestGraph g;
  auto x = g.Parameter("x", {1, 32, 32, 32});
  auto y = g.Convolution(x, g.Weights({32, 32, 3, 3}, 1), 1);
  auto z = g.Op("SoftMax", {g.Op("Add", {y, x})}, With("axis", int64_t{1}));
  g.Result(z);
  const auto executable = Compile(g.graph, {.backend = backend, .threads = threads});
  const bool ran = Session::Create(executable)->Run({RandomTensor({1, 32, 32, 32}, 2)}).ok();
  return ran ? counter.Count() : 0;
}

// A child of fork does not count threads that other tests have started.
TEST(SessionDeathTest, ThereAreAsManyThreadsAsWereAskedFor) {
  for (Backend backend : kBackends) {
    for (int threads : {1, 2, 3})
      EXPECT_EXIT(std::_Exit(ThreadsAfterRun(backend, threads)), testing::ExitedWithCode(threads), "");
    // By default there are as many as the process may use.
    const auto are_all = [](int status) {
      return WIFEXITED(status) && (WEXITSTATUS(status) > 1) == (tensor::AvailableThreads() > 1);
    };
    EXPECT_EXIT(std::_Exit(ThreadsAfterRun(backend, 0)), are_all, "");
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
