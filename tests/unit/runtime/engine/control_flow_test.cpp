#include <utility>

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {

using kernels::Backend;

namespace {

std::shared_ptr<ir::Graph> Parse(const std::string& text) {
  Context context;
  std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  EXPECT_NE(graph, nullptr) << Messages(context.emitter) << text;
  return graph;
}

// Returns the outputs, or the error of planning or running.
kernels::FaultOr<std::vector<TensorValue>> RunMade(const std::shared_ptr<ir::Graph>& graph,
                                                   const std::vector<TensorValue>& inputs,
                                                   ExecutableOptions options = {}) {
  if (graph == nullptr) return kernels::KernelFault("no graph");
  options.transform = StandardTransformer();
  Emitter emitter;
  const std::shared_ptr<const Executable> executable = Executable::Create(graph, options, emitter);
  if (executable == nullptr) return kernels::KernelFault("{}", Messages(emitter));
  return Session::Create(executable)->Run(inputs);
}
kernels::FaultOr<std::vector<TensorValue>> Run(const std::string& text,
                                               const std::vector<TensorValue>& inputs,
                                               const ExecutableOptions& options = {}) {
  return RunMade(Parse(text), inputs, options);
}

std::string MistakeOf(const std::shared_ptr<ir::Graph>& graph, const std::vector<TensorValue>& inputs) {
  const kernels::FaultOr<std::vector<TensorValue>> outputs = RunMade(graph, inputs);
  return outputs.ok() ? "no mistake" : outputs.error().message;
}

std::string Mistake(const std::string& text, const std::vector<TensorValue>& inputs,
                    const ExecutableOptions& options = {}) {
  const kernels::FaultOr<std::vector<TensorValue>> outputs = Run(text, inputs, options);
  return outputs.ok() ? "no mistake" : outputs.error().message;
}

std::vector<TensorValue> Outputs(const std::string& text, const std::vector<TensorValue>& inputs,
                                 const ExecutableOptions& options = {}) {
  kernels::FaultOr<std::vector<TensorValue>> outputs = Run(text, inputs, options);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
  return outputs.ok() ? *outputs : std::vector<TensorValue>(8, TensorValue::Scalar(-1));
}

TensorValue Row(std::vector<float> values) {
  return TensorValue::FromFloats({1, static_cast<int64_t>(values.size())}, values);
}
TensorValue Int(int64_t value) {
  return TensorValue::FromInts({}, {value});
}
TensorValue Bool(bool value) {
  return TensorValue::FromBools({}, {static_cast<uint8_t>(value)});
}

// A network without its weights is refused before it is planned.
TEST(ConstantsTest, AConstantWithoutData) {
  const char text[] = R"(graph "net" {
  %0 = opset1.Parameter "x" {element_type = f32, shape = shape[3]} : f32[3]
  %1 = opset1.Const "c" {element_type = f32, shape = shape[3]} : f32[3]
  %2 = opset1.Add "sum" (%0, %1) {auto_broadcast = "numpy"} : f32[3]
  opset1.Result "y" (%2)
})";
  const std::string mistake = Mistake(text, {TensorValue::FromFloats({3}, {1, 2, 3})});
  EXPECT_NE(mistake.find("the constant `c` has no data"), std::string::npos) << mistake;
}

// ---- If ----
// The bodies gather the element `index` of x, or double x.

const char kIf[] = R"(graph "net" {
  %0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[3]} : f32[3]
  %2 = opset1.Parameter "index" {element_type = i64, shape = shape[2]} : i64[2]
  %3 = opset8.If "if" (%0, %1, %2) : f32[...] bodies {
    "then_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[3]} : f32[3]
      %1 = opset1.Parameter "i" {element_type = i64, shape = shape[2]} : i64[2]
      %2 = opset1.Const "axis" : i64[] = dense<i64[]: 0>
      %3 = opset8.Gather "gather" (%0, %1, %2) {batch_dims = 0} : f32[2]
      opset1.Result "r" (%3)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[3]} : f32[3]
      %1 = opset1.Add "add" (%0, %0) {auto_broadcast = "numpy"} : f32[3]
      opset1.Result "r" (%1)
    }
  }
  %4 = opset1.ReLU "relu" (%3) : f32[...]
  opset1.Result "y" (%4)
})";

TEST(IfTest, RunsOnlyTheBodyThatIsTaken) {
  const TensorValue x = TensorValue::FromFloats({3}, {1, 2, 3});
  for (Backend backend : kBackends) {
    const ExecutableOptions options{.backend = backend};
    EXPECT_EQ(Outputs(kIf, {Bool(true), x, TensorValue::FromInts({2}, {2, 0})}, options)[0],
              TensorValue::FromFloats({2}, {3, 1}));
    // The index is out of range, but the other branch runs.
    const TensorValue wrong = TensorValue::FromInts({2}, {0, 9});
    EXPECT_EQ(Outputs(kIf, {Bool(false), x, wrong}, options)[0], TensorValue::FromFloats({3}, {2, 4, 6}));
    EXPECT_EQ(Mistake(kIf, {Bool(true), x, wrong}, options),
              "`if` (If): `gather` (Gather): index 9 is outside an axis of extent 3");
  }
}

TEST(IfTest, ShapesOfOutputsFollowTheRun) {
  const auto executable = Compile(Parse(kIf), {});
  ASSERT_NE(executable, nullptr);
  const std::unique_ptr<Session> session = Session::Create(executable);
  const TensorValue x = TensorValue::FromFloats({3}, {1, 2, 3});
  for (bool condition : {true, false, true}) {
    const auto outputs = session->Run({Bool(condition), x, TensorValue::FromInts({2}, {0, 1})});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0].shape(), (condition ? Shape{2} : Shape{3}));
  }
}

std::string ReplaceOnce(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(IfTest, AConstantConditionIsFolded) {
  const std::string parameter =
      R"(%0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[])";
  const std::string constant =
      ReplaceOnce(kIf, parameter, R"(%0 = opset1.Const "cond" : boolean[] = dense<boolean[]: 0>)");
  const auto executable = Compile(Parse(constant), {});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->DescribePlan().find("If"), std::string::npos) << executable->DescribePlan();
  const TensorValue x = TensorValue::FromFloats({3}, {1, 2, 3});
  const auto outputs = Session::Create(executable)->Run({x, TensorValue::FromInts({2}, {9, 9})});
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({3}, {2, 4, 6}));
}

TEST(IfTest, TheOtherBodyOfAConstantConditionMayBeWrong) {
  std::string text = ReplaceOnce(
      kIf, R"(%0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[])",
      R"(%0 = opset1.Const "cond" : boolean[] = dense<boolean[]: 0>)");
  text = ReplaceOnce(text, R"({element_type = i64, shape = shape[2]} : i64[2]
      %2)",
                     R"({element_type = f32, shape = shape[5]} : f32[5]
      %2)");
  const TensorValue x = TensorValue::FromFloats({3}, {1, 2, 3});
  EXPECT_EQ(Outputs(text, {x, TensorValue::FromInts({2}, {9, 9})})[0],
            TensorValue::FromFloats({3}, {2, 4, 6}));
}

TEST(IfTest, ConstantsMayFailInTheBodyThatIsNotTaken) {
  const std::string text =
      ReplaceOnce(kIf, R"(%3 = opset8.Gather "gather" (%0, %1, %2) {batch_dims = 0} : f32[2]
      opset1.Result "r" (%3))",
                  R"(%3 = opset1.Const "data" : f32[3] = dense<f32[3]: 1, 2, 3>
      %4 = opset1.Const "indices" : i64[2] = dense<i64[2]: 0, 9>
      %5 = opset8.Gather "gather" (%3, %4, %2) {batch_dims = 0} : f32[2]
      opset1.Result "r" (%5))");
  const TensorValue x = TensorValue::FromFloats({3}, {1, 2, 3});
  const TensorValue unused = TensorValue::FromInts({2}, {0, 0});
  for (Backend backend : kBackends) {
    const ExecutableOptions options{.backend = backend};
    EXPECT_EQ(Outputs(text, {Bool(false), x, unused}, options)[0], TensorValue::FromFloats({3}, {2, 4, 6}));
    EXPECT_EQ(Mistake(text, {Bool(true), x, unused}, options),
              "`if` (If): `gather` (Gather): index 9 is outside an axis of extent 3");
  }
}

// Returns an If whose bodies contain an If, and so on; the innermost adds x to itself.
std::string NestedIf(int depth) {
  const std::string head = R"(%0 = opset1.Parameter "c" {element_type = boolean, shape = shape[]} : boolean[]
    %1 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
    )";
  std::string inner = head + R"(%2 = opset1.Add "add" (%1, %1) {auto_broadcast = "numpy"} : f32[2]
    opset1.Result "r" (%2))";
  for (int i = 0; i < depth; ++i) {
    std::string outer = head;
    outer += R"(%2 = opset8.If "if" (%0, %1) : f32[2] bodies {
      "then_body" input 0 -> 0 input 1 -> 1 output 0 -> 0 graph "then" { )";
    outer += inner;
    outer += R"( }
      "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
        %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
        opset1.Result "r" (%0)
      } }
    opset1.Result "r" (%2))";
    inner = std::move(outer);
  }
  return "graph \"net\" { " + inner + " }";
}

TEST(IfTest, NestsSixtyFourDeep) {
  const TensorValue x = TensorValue::FromFloats({2}, {1, 2});
  EXPECT_EQ(Outputs(NestedIf(64), {Bool(true), x})[0], TensorValue::FromFloats({2}, {2, 4}));
  EXPECT_EQ(Outputs(NestedIf(64), {Bool(false), x})[0], x);
}

// ---- Loop ----
// Loop: h <- h + x, counted by `trips`, while h < limit; outputs all h, the last h and the number of each
// iteration.

const char kLoop[] = R"(graph "net" {
  %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
  %1 = opset1.Parameter "go" {element_type = boolean, shape = shape[]} : boolean[]
  %2 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2]} : f32[1,2]
  %3 = opset1.Parameter "limit" {element_type = f32, shape = shape[]} : f32[]
  %4 = opset1.Const "zero" : f32[1,2] = dense<f32[1,2]: 0.0, 0.0>
  %5:3 = opset5.Loop "loop" (%0, %1, %4, %2, %3) : f32[...], f32[1,2], i64[...] bodies {
    "body" input 2 -> 0 input 3 -> 1 input 4 -> 2 input -1 -> 3
           output -1 -> 2 output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) output 1 -> 0
           output 2 -> 1 slice(axis 0, start -1, end 0, stride -1, part 1)
           back 0 -> 0 graph "body" {
      %0 = opset1.Parameter "h" {element_type = f32, shape = shape[1,2]} : f32[1,2]
      %1 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2]} : f32[1,2]
      %2 = opset1.Parameter "limit" {element_type = f32, shape = shape[]} : f32[]
      %3 = opset1.Parameter "k" {element_type = i64, shape = shape[1]} : i64[1]
      %4 = opset1.Add "sum" (%0, %1) {auto_broadcast = "numpy"} : f32[1,2]
      %5 = opset1.Const "axes" : i64[2] = dense<i64[2]: 0, 1>
      %6 = opset1.ReduceMax "most" (%4, %5) {keep_dims = false} : f32[]
      %7 = opset1.Less "less" (%6, %2) {auto_broadcast = "numpy"} : boolean[]
      opset1.Result "h" (%4)
      opset1.Result "k" (%3)
      opset1.Result "go" (%7)
    }
  }
  opset1.Result "all" (%5)
  opset1.Result "last" (%5.1)
  opset1.Result "numbers" (%5.2)
})";

std::vector<TensorValue> LoopInputs(int64_t trips, bool go, float limit) {
  return {Int(trips), Bool(go), Row({1, 2}), TensorValue::Scalar(limit)};
}

TEST(LoopTest, EndsByItsCondition) {
  for (Backend backend : kBackends) {
    const auto outputs = Outputs(kLoop, LoopInputs(-1, true, 5), {.backend = backend});
    EXPECT_EQ(outputs[0], TensorValue::FromFloats({3, 2}, {1, 2, 2, 4, 3, 6}));
    EXPECT_EQ(outputs[1], Row({3, 6}));
    EXPECT_EQ(outputs[2], TensorValue::FromInts({3}, {2, 1, 0}));
  }
}

TEST(LoopTest, NumbersOfIterationsOfEitherType) {
  std::string text = kLoop;
  for (const auto& [from, to] : {std::pair{"\"k\" {element_type = i64", "\"k\" {element_type = i32"},
                                 {"shape[1]} : i64[1]", "shape[1]} : i32[1]"},
                                 {"f32[1,2], i64[...] bodies", "f32[1,2], i32[...] bodies"}})
    text = ReplaceOnce(text, from, to);
  for (Backend backend : kBackends) {
    const auto outputs = Outputs(text, LoopInputs(-1, true, 5), {.backend = backend});
    EXPECT_EQ(outputs[2], TensorValue::FromInts({3}, {2, 1, 0}).ConvertedTo(ElementType::kI32));
  }
}

// A line of a plan ends with the type, and the shape if it is known before the run.
TEST(LoopTest, PlansDescribeResults) {
  const auto executable = Compile(Parse(kLoop), {.backend = Backend::kReference});
  ASSERT_NE(executable, nullptr);
  const std::string plan = executable->DescribePlan();
  for (const char* result : {"f32[1,2]\n", "boolean[]\n", "f32[...]\n"})
    EXPECT_NE(plan.find(result), std::string::npos) << result << plan;
}

// A body that reads its state through views in other orders: h[i, j] <- h[i, j + 1] + x[i, j], with columns
// in a ring. The result of an iteration must not overwrite its input.
TEST(LoopTest, ABodyReadsViewsOfItsState) {
  const char text[] = R"(graph "net" {
  %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {element_type = f32, shape = shape[2,4]} : f32[2,4]
  %3 = opset1.Const "zero" : f32[2,4] = dense<f32[2,4]: 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0>
  %4 = opset5.Loop "loop" (%0, %1, %3, %2) : f32[2,4] bodies {
    "body" input 2 -> 0 input 3 -> 1 output -1 -> 1 output 0 -> 0 back 0 -> 0 graph "body" {
      %0 = opset1.Parameter "h" {element_type = f32, shape = shape[2,4]} : f32[2,4]
      %1 = opset1.Parameter "x" {element_type = f32, shape = shape[2,4]} : f32[2,4]
      %2 = opset1.Const "order" : i64[2] = dense<i64[2]: 1, 0>
      %3 = opset1.Transpose "moved" (%0, %2) : f32[4,2]
      %4 = opset1.Const "axis" : i64[] = dense<i64[]: 0>
      %5 = opset1.Const "lengths" : i64[2] = dense<i64[2]: 1, 3>
      %6:2 = opset1.VariadicSplit "parts" (%3, %4, %5) : f32[1,2], f32[3,2]
      %7 = opset1.Concat "ring" (%6.1, %6.0) {axis = 0} : f32[4,2]
      %8 = opset1.Transpose "back" (%7, %2) : f32[2,4]
      %9 = opset1.Add "sum" (%8, %1) {auto_broadcast = "numpy"} : f32[2,4]
      %10 = opset1.Const "again" : boolean[] = dense<boolean[]: 1>
      opset1.Result "h" (%9)
      opset1.Result "go" (%10)
    }
  }
  opset1.Result "last" (%4)
})";
  const std::vector<float> x = {0.5F, -1, 2, 0.25F, 1, 3, -2, 4};
  std::vector<float> h = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int trip = 0; trip < 5; ++trip) {
    const std::vector<float> before = h;
    for (size_t i = 0; i < 8; ++i) h[i] = before[i / 4 * 4 + (i + 1) % 4] + x[i];
  }
  for (const Backend backend : kBackends) {
    const auto outputs = Outputs(text, {Int(5), TensorValue::FromFloats({2, 4}, x)}, {.backend = backend});
    ASSERT_EQ(outputs.size(), 1U);
    for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(outputs[0].ElementAsDouble(i), h[static_cast<size_t>(i)]) << i;
  }
}

TEST(LoopTest, EndsByItsTripCount) {
  const auto outputs = Outputs(kLoop, LoopInputs(2, true, 1000));
  EXPECT_EQ(outputs[0], TensorValue::FromFloats({2, 2}, {1, 2, 2, 4}));
  EXPECT_EQ(outputs[1], Row({2, 4}));
}

TEST(LoopTest, WithoutIterationsAStateIsWhatItWas) {
  for (const auto& inputs : {LoopInputs(0, true, 9), LoopInputs(5, false, 9)}) {
    const auto outputs = Outputs(kLoop, inputs);
    EXPECT_EQ(ToString(outputs[0].shape()), "[0,2]");
    EXPECT_EQ(outputs[1], Row({0, 0}));
    EXPECT_EQ(ToString(outputs[2].shape()), "[0]");
  }
}

// The state is [1] at first and [3] later: its shape depends on the trip count.
TEST(LoopTest, ShapesOfStatesFollowTheRun) {
  const char text[] = R"(graph "net" {
    %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
    %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
    %2 = opset1.Parameter "h" {element_type = f32, shape = shape[1]} : f32[1]
    %3 = opset5.Loop "loop" (%0, %1, %2) : f32[...] bodies {
      "body" input 2 -> 0 output 0 -> 0 output -1 -> 1 back 0 -> 0 graph "body" {
        %0 = opset1.Parameter "h" {element_type = f32, shape = [?]} : f32[?]
        %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
        %2 = opset1.Const "x" : f32[3] = dense<f32[3]: 1.0, 2.0, 3.0>
        %3 = opset1.Add "sum" (%0, %2) {auto_broadcast = "numpy"} : f32[3]
        opset1.Result "h" (%3)
        opset1.Result "go" (%1)
      }
    }
    opset1.Result "last" (%3)
  })";
  const TensorValue h = TensorValue::FromFloats({1}, {5});
  EXPECT_EQ(Outputs(text, {Int(0), h})[0], h);
  EXPECT_EQ(Outputs(text, {Int(1), h})[0], TensorValue::FromFloats({3}, {6, 7, 8}));
  EXPECT_EQ(Outputs(text, {Int(2), h})[0], TensorValue::FromFloats({3}, {7, 9, 11}));
}

// States that are exchanged give the body other shapes in each iteration, and the first ones again later.
TEST(LoopTest, ShapesOfStatesComeBack) {
  const char text[] = R"(graph "net" {
    %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
    %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
    %2 = opset1.Parameter "a" {element_type = f32, shape = shape[1]} : f32[1]
    %3 = opset1.Parameter "b" {element_type = f32, shape = shape[2]} : f32[2]
    %4 = opset1.Parameter "c" {element_type = f32, shape = shape[3]} : f32[3]
    %5:3 = opset5.Loop "loop" (%0, %1, %2, %3, %4) : f32[...], f32[...], f32[...] bodies {
      "body" input 2 -> 0 input 3 -> 1 input 4 -> 2 output 0 -> 0 output 1 -> 1 output 2 -> 2 output -1 -> 3 back 0 -> 0 back 1 -> 1 back 2 -> 2 graph "body" {
        %0 = opset1.Parameter "a" {element_type = f32, shape = [?]} : f32[?]
        %1 = opset1.Parameter "b" {element_type = f32, shape = [?]} : f32[?]
        %2 = opset1.Parameter "c" {element_type = f32, shape = [?]} : f32[?]
        %3 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
        %4 = opset1.Const "one" : f32[1] = dense<f32[1]: 1.0>
        %5 = opset1.Add "sum" (%0, %4) {auto_broadcast = "numpy"} : f32[?]
        opset1.Result "a" (%1)
        opset1.Result "b" (%2)
        opset1.Result "c" (%5)
        opset1.Result "go" (%3)
      }
    }
    opset1.Result "first" (%5)
    opset1.Result "second" (%5.1)
    opset1.Result "third" (%5.2)
  })";
  const std::vector<TensorValue> states = {TensorValue::FromFloats({1}, {5}),
                                           TensorValue::FromFloats({2}, {6, 7}),
                                           TensorValue::FromFloats({3}, {8, 9, 10})};
  for (int64_t trips = 0; trips <= 7; ++trips) {
    const std::vector<TensorValue> outputs = Outputs(text, {Int(trips), states[0], states[1], states[2]});
    ASSERT_EQ(outputs.size(), 3U);
    for (int64_t i = 0; i < 3; ++i) {
      // Each third iteration adds 1 to a state, the first of all to the first one.
      const int64_t state = (i + trips) % 3, added = (trips + 2 - state) / 3;
      std::vector<float> numbers;
      for (int64_t k = 0; k <= state; ++k)
        numbers.push_back(static_cast<float>(states[static_cast<size_t>(state)].ElementAsDouble(k)) +
                          static_cast<float>(added));
      EXPECT_EQ(outputs[static_cast<size_t>(i)], TensorValue::FromFloats({state + 1}, numbers))
          << "output " << i << " after " << trips;
    }
  }
}

TEST(LoopTest, AnEndlessLoopIsStopped) {
  EXPECT_EQ(Mistake(kLoop, LoopInputs(-1, true, std::numeric_limits<float>::infinity()),
                    {.limits = {.iterations = 100}}),
            "`loop` (Loop): the loops of this run made 100 iterations; `--max-iterations` raises the limit");
}

// The limit applies to all loops of one run together; the next run has the full limit again.
TEST(LoopTest, IterationsUpToTheLimit) {
  const float endless = std::numeric_limits<float>::infinity();
  for (int64_t trips : {4, 5, 6}) {
    const std::string mistake =
        Mistake(kLoop, LoopInputs(trips, true, endless), {.limits = {.iterations = 5}});
    EXPECT_EQ(mistake == "no mistake", trips <= 5) << trips << ": " << mistake;
  }
  Emitter emitter;
  const auto executable = Executable::Create(Parse(kLoop), {.limits = {.iterations = 5}}, emitter);
  ASSERT_NE(executable, nullptr) << Messages(emitter);
  std::unique_ptr<Session> session = Session::Create(executable);
  for (int run = 0; run < 3; ++run) EXPECT_TRUE(session->Run(LoopInputs(5, true, endless)).ok()) << run;
  EXPECT_FALSE(session->Run(LoopInputs(6, true, endless)).ok());
  EXPECT_TRUE(session->Run(LoopInputs(5, true, endless)).ok());
}

TEST(LoopTest, OutputsAreBoundedByMemory) {
  EXPECT_EQ(Mistake(kLoop, LoopInputs(1000000, true, std::numeric_limits<float>::infinity()),
                    {.backend = Backend::kReference, .limits = {.bytes = 1 << 14}}),
            "`loop` (Loop): iteration 1017: its outputs take more memory than is allowed; `--max-memory` "
            "raises the limit");
}

// The bytes of all steps with unknown shapes count: 400 and 800 here.
TEST(DynamicStepTest, ResultsAreBoundedByMemory) {
  const std::string text = R"(graph "g" {
    %0 = opset1.Parameter "x" {element_type = f32, shape = [1]} : f32[1]
    %1 = opset1.Parameter "target" {element_type = i64, shape = [1]} : i64[1]
    %2 = opset3.Broadcast "wide" (%0, %1) {mode = "numpy"} : f32[?]
    %3 = opset1.Concat "twice" (%2, %2) {axis = 0} : f32[?]
    opset1.Result "y" (%3)
  })";
  const std::vector<TensorValue> inputs = {TensorValue::FromFloats({1}, {3}),
                                           TensorValue::FromInts({1}, {100})};
  const auto limited = [&](size_t bytes) {
    return Mistake(text, inputs, {.backend = Backend::kReference, .limits = {.bytes = bytes}});
  };
  EXPECT_EQ(limited(1 << 14), "no mistake");
  EXPECT_EQ(limited(1200), "no mistake");
  EXPECT_EQ(limited(1199),
            "`twice` (Concat): a result of shape [200] takes more memory than is allowed; `--max-memory` "
            "raises the limit");
  EXPECT_EQ(limited(399),
            "`wide` (Broadcast): a result of shape [100] takes more memory than is allowed; `--max-memory` "
            "raises the limit");
  const std::vector<TensorValue> huge = {inputs[0], TensorValue::FromInts({1}, {int64_t{1} << 61})};
  EXPECT_NE(Mistake(text, huge).find("takes more memory than is allowed"), std::string::npos)
      << Mistake(text, huge);
}

TEST(LoopTest, TripCountOfSeveralElementsIsTold) {
  const std::string text = ReplaceOnce(kLoop, R"("trips" {element_type = i64, shape = shape[]} : i64[])",
                                       R"("trips" {element_type = i64, shape = shape[2]} : i64[2])");
  std::vector<TensorValue> inputs = LoopInputs(1, true, 9);
  inputs[0] = TensorValue::FromInts({2}, {1, 2});
  EXPECT_NE(Mistake(text, inputs).find("trip count"), std::string::npos) << Mistake(text, inputs);
}

// ---- TensorIterator ----
// Running sums of x along `axis`; `cut` and `join` are the slices.

std::string Sums(const std::string& x, const std::string& h, const std::string& cut,
                 const std::string& join) {
  const auto parameter = [](const std::string& name, const std::string& shape) {
    return "opset1.Parameter \"" + name + "\" {element_type = f32, shape = shape" + shape + "} : f32" +
           shape + "\n";
  };
  return "graph \"net\" {\n%0 = " + parameter("x", x) + "%1 = " + parameter("h", h) +
         "%2:2 = opset1.TensorIterator \"ti\" (%0, %1) : f32[...], f32[...] bodies {\n\"body\" input 0 -> "
         "0 " +
         cut + " input 1 -> 1 output 0 -> 0 " + join +
         " output 1 -> 0 back 0 -> 1 graph \"body\" {\n%0 = " + parameter("x", "[...]") +
         "%1 = " + parameter("h", "[...]") +
         "%2 = opset1.Add \"add\" (%0, %1) {auto_broadcast = \"numpy\"} : f32[...]\n"
         "opset1.Result \"r\" (%2) } }\nopset1.Result \"all\" (%2)\nopset1.Result \"last\" (%2.1)\n}";
}
std::string Slice(int axis, int64_t start, int64_t end, int64_t stride, int64_t part) {
  return fmt::format("slice(axis {}, start {}, end {}, stride {}, part {})", axis, start, end, stride, part);
}

TEST(TensorIteratorTest, TheBodyIsPlannedWithTheGraph) {
  const std::string forward = Slice(1, 0, -1, 1, 1);
  const auto executable = Compile(Parse(Sums("[2,3]", "[2,1]", forward, forward)), {});
  ASSERT_NE(executable, nullptr);
  const std::string plan = executable->DescribePlan();
  EXPECT_NE(plan.find("body:"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("run time"), std::string::npos) << plan;
}

TEST(TensorIteratorTest, LengthsThatARunFindsOut) {
  const std::string forward = Slice(1, 0, -1, 1, 1);
  const auto executable = Compile(Parse(Sums("[1,?]", "[1,1]", forward, forward)), {});
  ASSERT_NE(executable, nullptr);
  const std::unique_ptr<Session> session = Session::Create(executable);
  for (int64_t length : {3, 1, 7, 3}) {
    const auto outputs = session->Run({TensorValue::Filled(ElementType::kF32, {1, length}, 1), Row({0})});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0].shape(), (Shape{1, length}));
    EXPECT_EQ((*outputs)[1], Row({static_cast<float>(length)}));
  }
  EXPECT_FALSE(session->Run({TensorValue::Filled(ElementType::kF32, {1, 0}, 1), Row({0})}).ok());
}

// The text form and the reader reject most of these; a program may still build such a graph.
TEST(TensorIteratorTest, HostileSlicesAreMistakes) {
  struct Cut {
    int64_t axis, start, end, stride, part;
  };
  const std::string good = Slice(1, 0, -1, 1, 1);
  const int64_t huge = std::numeric_limits<int64_t>::max();
  const auto set = [](auto& mapping, const Cut& cut) {
    mapping.axis = cut.axis;
    mapping.start = cut.start;
    mapping.end = cut.end;
    mapping.stride = cut.stride;
    mapping.part_size = cut.part;
  };
  for (const Cut& cut : {Cut{1, 0, -1, 1, 0}, Cut{1, 0, -1, 0, 0}, Cut{1, 0, -1, 1, -1}, Cut{1, 0, -1, 3, 3},
                         Cut{1, 0, huge, 1, 1}, Cut{1, -huge, -1, 1, 1}, Cut{1, 0, -1, -huge - 1, 1},
                         Cut{1, 0, -1, huge, huge}, Cut{2, 0, -1, 1, 1}, Cut{-1, 0, -1, 1, 1}}) {
    for (const std::string x : {"[1,4]", "[1,?]"}) {
      for (bool input : {true, false}) {
        const std::shared_ptr<ir::Graph> graph = Parse(Sums(x, "[1,1]", good, good));
        ASSERT_NE(graph, nullptr);
        for (ir::NodeId id : graph->nodes()) {
          if (graph->node(id).bodies().empty()) continue;
          ir::Body& body = graph->body(id, 0);
          if (input) set(body.inputs[0], cut);
          if (!input) set(body.outputs[0], cut);
        }
        EXPECT_NE(MistakeOf(graph, {Row({1, 2, 3, 4}), Row({0})}), "no mistake")
            << x << " " << input
            << Slice(static_cast<int>(cut.axis), cut.start, cut.end, cut.stride, cut.part);
      }
    }
  }
}

// Nothing is sliced: the output determines the trip count.
TEST(TensorIteratorTest, HugeCountsAreMistakes) {
  const auto text = [](int64_t count) { return Sums("[1,1]", "[1,1]", "", Slice(0, 0, count, 1, 1)); };
  EXPECT_EQ(Outputs(text(3), {Row({1}), Row({0})})[0], TensorValue::FromFloats({3, 1}, {1, 2, 3}));
  EXPECT_EQ(Mistake(text(int64_t{1} << 31), {Row({1}), Row({0})}),
            "`ti` (TensorIterator): it makes 2147483648 iterations; at most 10000000 are allowed "
            "(`--max-iterations`)\n");
  EXPECT_EQ(Mistake(text(1000000), {Row({1}), Row({0})}, {.limits = {.bytes = 100000}}),
            "the values of the graph take 4000004 bytes; at most 100000 are allowed (`--max-memory`)\n");
  EXPECT_NE(Mistake(text(int64_t{1} << 62), {Row({1}), Row({0})}), "no mistake");
}

TEST(TensorIteratorTest, PartsWithoutElements) {
  const std::string forward = Slice(1, 0, -1, 1, 1);
  const auto outputs = Outputs(Sums("[1,4]", "[?,1]", forward, forward),
                               {Row({1, 2, 3, 4}), TensorValue::Filled(ElementType::kF32, {0, 1}, 0)});
  EXPECT_EQ(ToString(outputs[0].shape()) + ToString(outputs[1].shape()), "[0,4][0,1]");
}

// The state broadcasts against x and is [2,1] at first: parts with different shapes cannot be concatenated.
TEST(TensorIteratorTest, PartsOfOtherShapesAreMistakes) {
  const std::string text = ReplaceOnce(Sums("[1,4]", "[1,?]", Slice(1, 0, -1, 1, 1), Slice(0, 0, -1, 1, 1)),
                                       R"(%2 = opset1.Add "add" (%0, %1) {auto_broadcast = "numpy"})",
                                       R"(%2 = opset1.Concat "add" (%0, %1) {axis = 1})");
  EXPECT_EQ(Mistake(text, {Row({1, 2, 3, 4}), Row({0})}),
            "`ti` (TensorIterator): iteration 1: output 0 is f32[1,3]; it was f32[1,2] before");
}

// A growing state is planned again for each shape.
TEST(TensorIteratorTest, StatesThatGrow) {
  std::string text = ReplaceOnce(Sums("[1,12]", "[1,1]", Slice(1, 0, -1, 1, 1), ""),
                                 R"(%2 = opset1.Add "add" (%0, %1) {auto_broadcast = "numpy"})",
                                 R"(%2 = opset1.Concat "add" (%1, %0) {axis = 1})");
  std::vector<float> values;
  for (int i = 1; i <= 12; ++i) values.push_back(static_cast<float>(i));
  const auto outputs = Outputs(text, {Row(values), Row({0})});
  values.insert(values.begin(), 0);
  EXPECT_EQ(outputs[0], Row(values));
}

TEST(TensorIteratorTest, SessionsShareThePlanOfABody) {
  const std::string forward = Slice(0, 0, -1, 1, 1);
  const auto executable = Compile(Parse(Sums("[5,3]", "[1,3]", forward, forward)), {});
  ASSERT_NE(executable, nullptr);
  const std::unique_ptr<Session> a = Session::Create(executable), b = Session::Create(executable);
  const TensorValue zero = TensorValue::Filled(ElementType::kF32, {1, 3}, 0);
  const auto one = a->Run({TensorValue::Filled(ElementType::kF32, {5, 3}, 1), zero});
  const auto two = b->Run({TensorValue::Filled(ElementType::kF32, {5, 3}, 2), zero});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ((*one)[1], TensorValue::Filled(ElementType::kF32, {1, 3}, 5));
  EXPECT_EQ((*two)[1], TensorValue::Filled(ElementType::kF32, {1, 3}, 10));
  EXPECT_EQ((*one)[0].elements<float>()[3], 2);  // not overwritten by the other
}

}  // namespace
}  // namespace nnefc::runtime::engine
