#include "runtime/engine/run/body_values.h"

#include <utility>

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/core.h"
#include "runtime/engine/plan/plan.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

TEST(BufferPoolTest, AFreeBufferIsUsedAgain) {
  const MemoryBudget memory(1000);
  BufferPool pool(memory);
  std::shared_ptr<Buffer> first = pool.Take(100);
  ASSERT_NE(first, nullptr);
  const std::weak_ptr<Buffer> is_first = first;
  const std::shared_ptr<Buffer> second = pool.Take(100);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  first = nullptr;
  EXPECT_FALSE(is_first.expired());
  std::shared_ptr<Buffer> again = pool.Take(100);
  EXPECT_EQ(again, is_first.lock());
  again = nullptr;
  EXPECT_EQ(memory.left(), 800u);
  // A buffer of another size takes its place.
  const std::shared_ptr<Buffer> larger = pool.Take(700);
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger->size(), 700u);
  EXPECT_TRUE(is_first.expired());
  EXPECT_EQ(memory.left(), 200u);
  // Nothing of a failure remains in the pool.
  EXPECT_EQ(pool.Take(500), nullptr);
  EXPECT_EQ(pool.Take(500), nullptr);
  EXPECT_NE(pool.Take(200), nullptr);
}

// Only a buffer of an output that is the result alone may be passed on.
TEST(WholeOutputTest, ResultsThatFillAnOutput) {
  plan::Plan plan;
  plan.values.resize(2);
  plan.values[0] = {.storage = plan::PlanValue::Storage::kOutput, .bytes = 64, .output = 3, .root = 0};
  plan.values[1] = {.storage = plan::PlanValue::Storage::kArena, .bytes = 64, .output = 5, .root = 1};
  plan.results = {{.value = 0, .root = 0}, {.value = 0, .root = 0, .offset = 4}, {.value = 1, .root = 1}};
  EXPECT_EQ(WholeOutput(plan, 0, 64), 3);
  EXPECT_EQ(WholeOutput(plan, 0, 63), -1);
  EXPECT_EQ(WholeOutput(plan, 0, 65), -1);
  EXPECT_EQ(WholeOutput(plan, 1, 64), -1);
  EXPECT_EQ(WholeOutput(plan, 2, 64), -1);
}

// Returns the outputs of a graph in text form on each backend, which must be equal.
std::vector<TensorValue> ResultsOfText(const std::string& text, const std::vector<TensorValue>& inputs) {
  std::vector<TensorValue> results;
  for (kernels::Backend backend : kBackends) {
    Context context;
    const std::shared_ptr<ir::Graph> graph =
        ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
    EXPECT_NE(graph, nullptr) << Messages(context.emitter) << text;
    if (graph == nullptr) return {};
    Emitter emitter;
    const auto executable = Executable::Create(graph, {.backend = backend}, emitter);
    EXPECT_NE(executable, nullptr) << Messages(emitter);
    if (executable == nullptr) return {};
    const auto outputs = Session::Create(executable)->Run(inputs);
    EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
    if (!outputs.ok()) return {};
    if (backend != kBackends[0]) {
      EXPECT_EQ(*outputs, results);
    }
    results = *outputs;
  }
  return results;
}

// A result of If: the shapes that its branches return, and what the graph declares.
struct Branches {
  std::string then_shape, else_shape, declared;
};

// An If whose branches reshape the first elements of x.
std::string IfOf(const Branches& branches) {
  const auto body = [](const char* role, const std::string& shape) {
    const bool is_scalar = shape.empty();
    const std::string dims = is_scalar ? "i64[0] = dense<i64[0]: >" : "i64[1] = dense<i64[1]: " + shape + ">";
    return fmt::format(R"(
    "{0}_body" input 1 -> 0 output 0 -> 0 graph "{0}" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[{1}]}} : f32[{1}]
      %1 = opset1.Const "dims" : {2}
      %2 = opset1.Reshape "reshape" (%0, %1) {{special_zero = false}} : f32[{3}]
      %3 = opset1.Negative "negative" (%2) : f32[{3}]
      opset1.Result "r" (%3)
    }})",
                       role, is_scalar ? "1" : shape, dims, shape);
  };
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "cond" {{element_type = boolean, shape = shape[]}} : boolean[]
  %1 = opset1.Parameter "x" {{element_type = f32, shape = shape[1]}} : f32[1]
  %2 = opset8.If "if" (%0, %1) : f32[{}] bodies {{{}{}
  }}
  %3 = opset1.Abs "abs" (%2) : f32[{}]
  opset1.Result "y" (%3)
  opset1.Result "z" (%2)
}})",
                     branches.declared, body("then", branches.then_shape), body("else", branches.else_shape),
                     branches.declared);
}

// if.scalar: a scalar becomes a list of one element if the other branch returns a list.
TEST(BranchResultsTest, AScalarNextToAListIsAList) {
  for (const Branches& branches :
       {Branches{"", "1", "1"}, Branches{"1", "", "1"}, Branches{"", "", ""}, Branches{"1", "1", "1"}}) {
    const Shape shape = branches.declared.empty() ? Shape{} : Shape{1};
    for (bool condition : {true, false}) {
      const auto outputs = ResultsOfText(
          IfOf(branches), {TensorValue::FromBools({}, {condition}), TensorValue::FromFloats({1}, {3})});
      ASSERT_EQ(outputs.size(), 2u);
      EXPECT_EQ(outputs[0], TensorValue::FromFloats(shape, {3})) << branches.then_shape << condition;
      EXPECT_EQ(outputs[1], TensorValue::FromFloats(shape, {-3})) << branches.then_shape << condition;
    }
  }
}

// If both branches have no common rank, each result has that of its branch. The rank of the second one is
// that of the list `dims`.
TEST(BranchResultsTest, AScalarNextToAnyRank) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = f32, shape = shape[1]} : f32[1]
  %2 = opset1.Parameter "dims" {element_type = i64, shape = [?]} : i64[?]
  %3 = opset8.If "if" (%0, %1, %2) : f32[...] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[1]} : f32[1]
      %1 = opset1.Const "dims" : i64[0] = dense<i64[0]: >
      %2 = opset1.Reshape "reshape" (%0, %1) {special_zero = false} : f32[]
      opset1.Result "r" (%2)
    }
    "else_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[1]} : f32[1]
      %1 = opset1.Parameter "dims" {element_type = i64, shape = [?]} : i64[?]
      %2 = opset1.Reshape "reshape" (%0, %1) {special_zero = false} : f32[...]
      opset1.Result "r" (%2)
    }
  }
  opset1.Result "y" (%3)
})";
  for (const bool condition : {true, false}) {
    for (const Shape& dims : {Shape{}, Shape{1}, Shape{1, 1}}) {
      const auto outputs =
          ResultsOfText(text, {TensorValue::FromBools({}, {condition}), TensorValue::FromFloats({1}, {3}),
                               TensorValue::FromInts({static_cast<int64_t>(dims.size())}, dims)});
      ASSERT_EQ(outputs.size(), 1u);
      EXPECT_EQ(outputs[0], TensorValue::FromFloats(condition && dims.size() != 1 ? Shape{} : dims, {3}))
          << condition << ToString(dims);
    }
  }
}

// Without transformations the selected branch of a constant condition stays in its If.
TEST(BranchResultsTest, AConstantConditionWithoutTransformations) {
  for (const bool condition : {true, false}) {
    std::string text = IfOf({"1", "1", "1"});
    const std::string parameter = "opset1.Parameter \"cond\" {element_type = boolean, shape = shape[]}";
    const size_t at = text.find(parameter);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, parameter.size(), "opset1.Const \"cond\"");
    text.replace(text.find(": boolean[]"), 11,
                 fmt::format(": boolean[] = dense<boolean[]: {}>", condition ? 1 : 0));
    const auto outputs = ResultsOfText(text, {TensorValue::FromFloats({1}, {3})});
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[1], TensorValue::FromFloats({1}, {-3}));
  }
}

// A graph with the first node `first`, an i64[2] %4 and a value %8 of `type`, whose rank only a run knows;
// the result is that of `last`, the node %10.
std::string OfUnknownRank(const std::string& type, const std::string& first, const std::string& last) {
  return fmt::format(R"(graph "net" {{
  {1}
  %1 = opset1.Parameter "x" {{element_type = {0}, shape = shape[1]}} : {0}[1]
  %2 = opset1.Parameter "target" {{element_type = i64, shape = shape[1]}} : i64[1]
  %3 = opset1.Parameter "length" {{element_type = i64, shape = shape[1]}} : i64[1]
  %4 = opset1.Parameter "k" {{element_type = i64, shape = shape[2]}} : i64[2]
  %5 = opset1.Const "first" : i64[1] = dense<i64[1]: 0>
  %6 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %7 = opset8.Slice "cut" (%2, %5, %3, %6) : i64[?]
  %8 = opset1.Reshape "any" (%1, %7) {{special_zero = false}} : {0}[...]
  %9 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  {2}
  opset1.Result "y" (%10)
}})",
                     type, first, last);
}
// A body whose result has the common type of its parameters; it is known if the rank of the first one is.
std::string PromotingBody(const std::string& type, const std::string& more) {
  return fmt::format(R"(
      %0 = opset1.Parameter "x" {{element_type = {0}, shape = [...]}} : {0}[...]
      %1 = opset1.Parameter "k" {{element_type = i64, shape = shape[2]}} : i64[2]
      %2:2 = opset14.ConvertPromoteTypes "promote" (%0, %1) {{promote_unsafe = true, pytorch_scalar_promotion = true}} : dynamic[...], dynamic[2]
      %3 = opset1.Const "again" : boolean[] = dense<boolean[]: 1>
      opset1.Result "r" (%2.1)
      {1}
    }})",
                     type, more);
}
// Runs such a graph with the first input `first` and the numbers 5 and -6 as %4.
kernels::FaultOr<std::vector<TensorValue>> RunOfUnknownRank(const std::string& text, const std::string& type,
                                                            const TensorValue& first) {
  Context context;
  const std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  EXPECT_NE(graph, nullptr) << Messages(context.emitter) << text;
  if (graph == nullptr) return kernels::KernelFault("no graph");
  const TensorValue x = TensorValue::FromInts({1}, {3}).ConvertedTo(*ParseElementType(type));
  const TensorValue one = TensorValue::FromInts({1}, {1});
  return Session::Create(Compile(graph, {}))->Run({first, x, one, one, TensorValue::FromInts({2}, {5, -6})});
}

// The type of a branch's result may depend on a rank that only a run knows: it must be that of the other
// branch.
TEST(BranchResultsTest, TypesThatARunFindsOut) {
  for (const std::string type : {"i32", "f32"}) {
    const std::string text = OfUnknownRank(
        type, R"(%0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[])",
        R"(%10 = opset8.If "if" (%0, %8, %4) : i64[2] bodies {
    "then_body" input 1 -> 0 input 2 -> 1 output 0 -> 0 graph "then" {)" +
            PromotingBody(type, "") + R"(
    "else_body" input 2 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "k" {element_type = i64, shape = shape[2]} : i64[2]
      opset1.Result "r" (%0)
    }
  })");
    for (const bool condition : {true, false}) {
      const auto outputs = RunOfUnknownRank(text, type, TensorValue::FromBools({}, {condition}));
      ASSERT_EQ(outputs.ok(), !condition || type == "i32") << type << condition;
      if (outputs.ok()) {
        EXPECT_EQ((*outputs)[0], TensorValue::FromInts({2}, {5, -6})) << type << condition;
      } else {
        EXPECT_EQ(outputs.error().message, "`if` (If): its body gives f32[2]; expected i64[2]");
      }
    }
  }
}

// So may that of a state, which keeps its type between two iterations.
TEST(LoopStatesTest, TypesThatARunFindsOut) {
  for (const std::string type : {"i32", "f32"}) {
    const std::string text =
        OfUnknownRank(type, R"(%0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[])",
                      R"(%10 = opset5.Loop "loop" (%0, %9, %8, %4) : dynamic[2] bodies {
    "body" input 2 -> 0 input 3 -> 1 output -1 -> 1 output 0 -> 0 back 0 -> 1 graph "body" {)" +
                          PromotingBody(type, "opset1.Result \"again\" (%3)") + "\n  }");
    for (const int64_t trips : {1, 2}) {
      const auto outputs = RunOfUnknownRank(text, type, TensorValue::FromInts({}, {trips}));
      ASSERT_EQ(outputs.ok(), trips == 1 || type == "i32") << type << trips;
      if (outputs.ok()) {
        EXPECT_EQ((*outputs)[0], TensorValue::FromInts({2}, {5, -6})
                                     .ConvertedTo(type == "f32" ? ElementType::kF32 : ElementType::kI64));
      } else {
        EXPECT_EQ(outputs.error().message,
                  "`loop` (Loop): iteration 1: a back edge brings elements of type f32; expected i64");
      }
    }
  }
}

// A Loop of three iterations whose states are concatenated along `axis` as the output `port`; the other
// output is the last state. The state is x at first, and grows by x.
std::string LoopOf(int port, int axis, bool reversed) {
  const std::string part = axis == 0 ? "[1,2]" : "[2,1]", whole = axis == 0 ? "[3,2]" : "[2,3]";
  const std::string parts = fmt::format("output {} -> 0 slice(axis {}, start {}, end {}, stride {}, part 1)",
                                        port, axis, reversed ? -1 : 0, reversed ? 0 : -1, reversed ? -1 : 1);
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Const "trips" : i64[] = dense<i64[]: 3>
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {{element_type = f32, shape = shape{4}}} : f32{4}
  %3:2 = opset5.Loop "loop" (%0, %1, %2, %2) : f32{0}, f32{1} bodies {{
    "body" input 2 -> 0 input 3 -> 1 output -1 -> 1 {2} output {3} -> 2 back 0 -> 0 graph "body" {{
      %0 = opset1.Parameter "h" {{element_type = f32, shape = shape{4}}} : f32{4}
      %1 = opset1.Parameter "x" {{element_type = f32, shape = shape{4}}} : f32{4}
      %2 = opset1.Add "sum" (%0, %1) {{auto_broadcast = "numpy"}} : f32{4}
      %3 = opset1.Const "again" : boolean[] = dense<boolean[]: 1>
      opset1.Result "h" (%2)
      opset1.Result "again" (%3)
      opset1.Result "last" (%2)
    }}
  }}
  opset1.Result "first" (%3)
  opset1.Result "second" (%3.1)
}})",
                     port == 0 ? whole : part, port == 0 ? part : whole, parts, 1 - port, part);
}

// The number of iterations is known before the run, and so are the shapes of both outputs.
TEST(ConcatenatedResultsTest, PartsOfLoopsWithKnownCounts) {
  for (int port : {0, 1}) {
    for (int axis : {0, 1}) {
      for (bool reversed : {false, true}) {
        const Shape part = axis == 0 ? Shape{1, 2} : Shape{2, 1};
        const auto outputs =
            ResultsOfText(LoopOf(port, axis, reversed), {TensorValue::FromFloats(part, {1, 2})});
        ASSERT_EQ(outputs.size(), 2u);
        std::vector<float> whole;
        for (int row = 0; row < (axis == 0 ? 3 : 2); ++row) {
          for (int column = 0; column < (axis == 0 ? 2 : 3); ++column) {
            const int position = axis == 0 ? row : column, element = axis == 0 ? column : row;
            const int iteration = reversed ? 2 - position : position;
            whole.push_back(static_cast<float>((element + 1) * (iteration + 2)));
          }
        }
        const auto index = static_cast<size_t>(port);
        EXPECT_EQ(outputs[index], TensorValue::FromFloats(axis == 0 ? Shape{3, 2} : Shape{2, 3}, whole))
            << port << axis << reversed;
        EXPECT_EQ(outputs[1 - index], TensorValue::FromFloats(part, {4, 8})) << port << axis << reversed;
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
