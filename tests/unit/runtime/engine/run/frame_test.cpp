// Values that a run passes on unchanged, and what it records.

#include "runtime/engine/run/frame.h"

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/core.h"
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

// The time of a body is part of that of its If.
TEST(FrameTest, BodiesAreNotRecorded) {
  const std::string body = R"( output 0 -> 0 graph "part" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
      %1 = opset1.Negative "negative" (%0) : f32[2]
      opset1.Result "r" (%1)
    })";
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[2]} : f32[2]
  %2 = opset8.If "if" (%0, %1) : f32[2] bodies {
    "then_body" input 1 -> 0)" +
                           body + "\n    \"else_body\" input 1 -> 0" + body + R"(
  }
  %3 = opset1.Abs "abs" (%2) : f32[2]
  opset1.Result "y" (%3)
})";
  Context context;
  const std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  ASSERT_NE(graph, nullptr) << Messages(context.emitter);
  const auto executable = Compile(graph, {});
  ASSERT_NE(executable, nullptr);
  const std::unique_ptr<Session> session = Session::Create(executable);
  for (const bool has_profile : {false, true, false}) {
    session->EnableProfile(has_profile);
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(session->Run({TensorValue::FromBools({}, {1}), TensorValue::FromFloats({2}, {1, 2})}).ok());
      std::vector<std::string> names;
      for (const StepProfile& step : session->profile()) {
        names.push_back(step.name);
        EXPECT_GE(step.milliseconds, 0) << step.name;
        EXPECT_LT(step.milliseconds, 60'000) << step.name;
      }
      EXPECT_EQ(names, has_profile ? std::vector<std::string>({"if", "abs"}) : std::vector<std::string>());
    }
  }
}

// Reads a variable of the shape [2], and assigns the first `length` numbers of x to it.
TEST(FrameTest, VariablesOfOtherShapes) {
  for (const kernels::Backend backend : kBackends) {
    for (const int64_t length : {1, 2, 3}) {
      TestGraph g;
      const auto x = g.Parameter("x", {3});
      const auto end = g.Parameter("length", {1}, ElementType::kI64);
      ir::AttributeMap variable = With("variable_id", "v");
      variable.Set("variable_type", ElementType::kF32);
      variable.Set("variable_shape", ir::PartialShape(llvm::ArrayRef<int64_t>({2})));
      const auto read =
          g.Op("opset6", "ReadValue", {g.Const(TensorValue::FromFloats({2}, {10, 20}))}, variable);
      const auto part = g.Op("opset8", "Slice", {x, g.Ints({0}), end, g.Ints({1})});
      g.Op("opset6", "Assign", {part}, With("variable_id", "v"));
      g.Result(g.Op("Negative", {read}));
      const auto executable = Compile(g.graph, {.backend = backend});
      ASSERT_NE(executable, nullptr);
      const std::unique_ptr<Session> session = Session::Create(executable);
      const std::vector<TensorValue> inputs = {TensorValue::FromFloats({3}, {1, 2, 3}),
                                               TensorValue::FromInts({1}, {length})};
      const auto first = session->Run(inputs), second = session->Run(inputs);
      ASSERT_TRUE(first.ok()) << first.error().message;
      EXPECT_EQ((*first)[0], TensorValue::FromFloats({2}, {-10, -20}));
      ASSERT_EQ(second.ok(), length == 2);
      if (length == 2) {
        EXPECT_EQ((*second)[0], TensorValue::FromFloats({2}, {-1, -2}));
      } else {
        EXPECT_NE(second.error().message.find(fmt::format("its value is f32[{}]; expected f32[2]", length)),
                  std::string::npos)
            << second.error().message;
      }
    }
  }
}

// Without an initial value, a variable is zero.
TEST(FrameTest, VariablesWithoutInitialValue) {
  for (const kernels::Backend backend : kBackends) {
    TestGraph g;
    ir::AttributeMap variable = With("variable_id", "v");
    variable.Set("variable_type", ElementType::kF32);
    variable.Set("variable_shape", ir::PartialShape(llvm::ArrayRef<int64_t>({2})));
    const auto read = g.Op("opset6", "ReadValue", {}, variable);
    g.Op("opset6", "Assign", {g.Op("Add", {read, g.Parameter("x", {2})})}, With("variable_id", "v"));
    g.Result(g.Op("Negative", {read}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const std::unique_ptr<Session> session = Session::Create(executable);
    for (const std::vector<float>& expected : std::vector<std::vector<float>>{{0, 0}, {-1, -2}, {-2, -4}}) {
      const auto outputs = session->Run({TensorValue::FromFloats({2}, {1, 2})});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      for (size_t i = 0; i < 2; ++i)
        EXPECT_EQ((*outputs)[0].ElementAsDouble(static_cast<int64_t>(i)), expected[i]);
    }
    session->ResetState();
    const auto outputs = session->Run({TensorValue::FromFloats({2}, {1, 2})});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0].ElementAsDouble(1), 0);
  }
}

// A run that fails leaves a variable without a value: the next one has its own initial value.
TEST(FrameTest, InitialValuesOfFailingRuns) {
  for (const kernels::Backend backend : kBackends) {
    TestGraph g;
    const auto x = g.Parameter("x", {2}), index = g.Parameter("index", {1}, ElementType::kI64);
    ir::AttributeMap variable = With("variable_id", "v");
    variable.Set("variable_type", ElementType::kF32);
    variable.Set("variable_shape", ir::PartialShape(llvm::ArrayRef<int64_t>({2})));
    const auto read = g.Op("opset6", "ReadValue", {g.Op("Negative", {x})}, variable);
    const auto again = g.Op("opset6", "ReadValue", {x}, variable);
    const auto zero = g.Const(TensorValue::FromInts({}, {0}));
    g.Result(g.Op("opset8", "Gather", {g.Op("Abs", {read}), index, zero}, With("batch_dims", int64_t{0})));
    g.Result(g.Op("Multiply", {read, g.Const(TensorValue::Scalar(1))}));
    g.Result(g.Op("Multiply", {again, g.Const(TensorValue::Scalar(1))}));
    const auto executable = Compile(g.graph, {.backend = backend});
    ASSERT_NE(executable, nullptr);
    const std::unique_ptr<Session> session = Session::Create(executable);
    const auto run = [&](float number, int64_t place) {
      return session->Run({TensorValue::FromFloats({2}, {number, 0.5}), TensorValue::FromInts({1}, {place})});
    };
    EXPECT_FALSE(run(1, 2).ok());
    // Readers of one run see the same value, and so do those of the next one.
    for (const float number : {3, 5}) {
      const auto outputs = run(number, 1);
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      for (const size_t output : {1, 2})
        EXPECT_EQ((*outputs)[output], TensorValue::FromFloats({2}, {-3, -0.5})) << number << " " << output;
    }
    EXPECT_FALSE(run(7, 2).ok());
    EXPECT_EQ((*run(9, 0))[1], TensorValue::FromFloats({2}, {-3, -0.5}));
    session->ResetState();
    EXPECT_EQ((*run(9, 0))[1], TensorValue::FromFloats({2}, {-9, -0.5}));
  }
}

// A session releases the memory of its plan before it takes that of another one.
TEST(FrameTest, MemoryOfOnePlan) {
  TestGraph g;
  const ir::Dim any[] = {ir::Dim(), ir::Dim()};
  const auto x = g.PartialParameter("x", ir::PartialShape(llvm::ArrayRef<ir::Dim>(any)));
  const auto tanh = g.Op("Tanh", {x}), exp = g.Op("Exp", {x});
  g.Result(g.Op("Divide", {g.Op("Add", {tanh, exp}), g.Op("Subtract", {tanh, exp})}));
  const auto run = [&](size_t limit, const std::vector<Shape>& shapes) {
    const auto executable =
        Compile(g.graph, {.backend = kernels::Backend::kReference, .threads = 1, .limits = {.bytes = limit}});
    const std::unique_ptr<Session> session = Session::Create(executable);
    bool is_ok = true;
    for (const Shape& shape : shapes) is_ok &= session->Run({RandomTensor(shape, 1)}).ok();
    return is_ok;
  };
  size_t limit = 0;
  while (limit < 100'000 && !run(limit + 64, {{12, 40}})) limit += 64;
  limit += 64;
  ASSERT_GT(limit, 64U);
  EXPECT_FALSE(run(limit - 64, {{12, 40}}));
  EXPECT_TRUE(run(limit, {{40, 12}, {12, 40}, {40, 12}}));
}

// A result that is a part of another one, or of a concatenation, has memory of its own size.
TEST(FrameTest, PartsOfResults) {
  for (const kernels::Backend backend : kBackends) {
    TestGraph g;
    const auto x = g.Parameter("x", {4});
    const auto whole = g.Op("Negative", {x}), other = g.Op("Abs", {x});
    const auto part = [&](int64_t first, int64_t end) {
      return g.Op("opset8", "Slice", {whole, g.Ints({first}), g.Ints({end}), g.Ints({1})});
    };
    const auto in_row = [&](ir::OutputPort y) {
      return g.Op("Reshape", {y, g.Ints({1, -1})}, With("special_zero", false));
    };
    g.Result(whole);
    g.Result(part(0, 2));
    g.Result(part(2, 4));
    g.Result(in_row(part(0, 2)));
    g.Result(in_row(part(2, 4)));
    g.Result(in_row(whole));
    g.Result(g.Op("Concat", {whole, other}, With("axis", int64_t{0})));
    g.Result(other);
    const auto outputs =
        RunGraph(g.graph, {.backend = backend}, {TensorValue::FromFloats({4}, {1, -2, 3, -4})});
    ASSERT_EQ(outputs.size(), 8u);
    EXPECT_EQ(outputs[0], TensorValue::FromFloats({4}, {-1, 2, -3, 4}));
    EXPECT_EQ(outputs[1], TensorValue::FromFloats({2}, {-1, 2}));
    EXPECT_EQ(outputs[2], TensorValue::FromFloats({2}, {-3, 4}));
    EXPECT_EQ(outputs[3], outputs[1].Reshaped({1, 2}));
    EXPECT_EQ(outputs[4], outputs[2].Reshaped({1, 2}));
    EXPECT_EQ(outputs[5], outputs[0].Reshaped({1, 4}));
    EXPECT_EQ(outputs[6], TensorValue::FromFloats({8}, {-1, 2, -3, 4, 1, 2, 3, 4}));
    EXPECT_EQ(outputs[7], TensorValue::FromFloats({4}, {1, 2, 3, 4}));
    for (const TensorValue& output : outputs) EXPECT_EQ(output.buffer()->size(), output.byte_size());
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
