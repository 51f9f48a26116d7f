// Faults that only a run finds: limits of memory, and conditions of loops.

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/core.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

// Returns the result of a graph in text form.
kernels::FaultOr<std::vector<TensorValue>> RunText(const std::string& text,
                                                   const std::vector<TensorValue>& inputs,
                                                   const ExecutableOptions& options = {}) {
  Context context;
  const std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  if (graph == nullptr) return kernels::KernelFault("no graph: {}", Messages(context.emitter));
  Emitter emitter;
  const auto executable = Executable::Create(graph, options, emitter);
  if (executable == nullptr) return kernels::FirstFault(emitter, kernels::KernelFault("no executable"));
  return Session::Create(executable)->Run(inputs);
}

// A graph that runs with enough memory reports the limit otherwise.
void ExpectEachLimit(const std::string& text, const std::vector<TensorValue>& inputs) {
  int num_faults = 0;
  for (size_t limit = 4096; limit > 0; limit -= 8) {
    const auto outputs = RunText(text, inputs, {.threads = 1, .limits = {.bytes = limit}});
    ASSERT_TRUE(outputs.ok() || limit < 4096) << outputs.error().message;
    if (outputs.ok()) continue;
    ++num_faults;
    ASSERT_EQ(outputs.error().rule, &kernels::kRuntimeMemory) << outputs.error().message;
  }
  EXPECT_GT(num_faults, 0);
}

// An If that returns x, or x twice.
std::string OnceOrTwice(const char* type) {
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "cond" {{element_type = boolean, shape = shape[]}} : boolean[]
  %1 = opset1.Parameter "x" {{element_type = {0}, shape = shape[64]}} : {0}[64]
  %2 = opset8.If "if" (%0, %1) : {0}[?] bodies {{
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {{
      %0 = opset1.Parameter "x" {{element_type = {0}, shape = shape[64]}} : {0}[64]
      opset1.Result "r" (%0)
    }}
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {{
      %0 = opset1.Parameter "x" {{element_type = {0}, shape = shape[64]}} : {0}[64]
      %1 = opset1.Concat "twice" (%0, %0) {{axis = 0}} : {0}[128]
      opset1.Result "r" (%1)
    }}
  }}
  opset1.Result "y" (%2)
}})",
                     type);
}

TEST(RunFaultsTest, MemoryOfBranches) {
  const std::vector<int64_t> ones(64, 1);
  for (const ElementType type : {ElementType::kF32, ElementType::kI4}) {
    for (const bool condition : {true, false}) {
      SCOPED_TRACE(std::string(Name(type)) + (condition ? ", once" : ", twice"));
      ExpectEachLimit(
          OnceOrTwice(std::string(Name(type)).c_str()),
          {TensorValue::FromBools({}, {condition}), TensorValue::FromInts({64}, ones).ConvertedTo(type)});
    }
  }
}

// The results of a run stay, whichever branches later runs take.
TEST(RunFaultsTest, ResultsOfBranchesStay) {
  const std::string text = OnceOrTwice("f32");
  Context context;
  const std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  ASSERT_NE(graph, nullptr) << Messages(context.emitter);
  const std::unique_ptr<Session> session = Session::Create(Compile(graph, {}));
  std::vector<std::pair<TensorValue, std::vector<float>>> all;
  for (const bool condition : {true, true, false, false, true}) {
    const TensorValue x = RandomTensor({64}, static_cast<unsigned>(all.size()));
    const auto outputs = session->Run({TensorValue::FromBools({}, {condition}), x});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    std::vector<float> expected(x.elements<float>().begin(), x.elements<float>().end());
    if (!condition) expected.insert(expected.end(), expected.begin(), expected.begin() + 64);
    all.emplace_back((*outputs)[0], expected);
  }
  for (const auto& [found, expected] : all)
    EXPECT_EQ(found, TensorValue::FromFloats({std::ssize(expected)}, expected));
}

// A Loop over the columns of x that adds the number of the iteration to the sum of each. Its condition is as
// many elements of `go` as `length` says.
std::string NumberedColumns() {
  return R"(graph "net" {
  %0 = opset1.Parameter "trips" {element_type = i64, shape = shape[]} : i64[]
  %1 = opset1.Parameter "go" {element_type = boolean, shape = shape[2]} : boolean[2]
  %2 = opset1.Parameter "x" {element_type = f32, shape = shape[64,3]} : f32[64,3]
  %3 = opset1.Parameter "length" {element_type = i64, shape = shape[1]} : i64[1]
  %4 = opset1.Const "first" : i64[1] = dense<i64[1]: 0>
  %5 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %6 = opset8.Slice "cut" (%1, %4, %3, %5) : boolean[?]
  %7 = opset5.Loop "loop" (%0, %6, %2) : f32[...] bodies {
    "body" input 2 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input -1 -> 1
           output -1 -> 1 output 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) graph "body" {
      %0 = opset1.Parameter "x" {element_type = f32, shape = shape[64,1]} : f32[64,1]
      %1 = opset1.Parameter "k" {element_type = i64, shape = shape[1]} : i64[1]
      %2 = opset1.Convert "number" (%1) {destination_type = f32} : f32[1]
      %3 = opset1.Const "rows" : i64[1] = dense<i64[1]: 0>
      %4 = opset1.ReduceSum "sum" (%0, %3) {keep_dims = true} : f32[1,1]
      %5 = opset1.Add "numbered" (%4, %2) {auto_broadcast = "numpy"} : f32[1,1]
      %6 = opset1.Const "again" : boolean[] = dense<boolean[]: 1>
      opset1.Result "r" (%5)
      opset1.Result "again" (%6)
    }
  }
  opset1.Result "y" (%7)
})";
}

std::vector<TensorValue> ColumnInputs(int64_t length) {
  return {TensorValue::FromInts({}, {3}), TensorValue::FromBools({2}, {1, 1}), RandomTensor({64, 3}, 1),
          TensorValue::FromInts({1}, {length})};
}

TEST(RunFaultsTest, MemoryOfLoops) {
  const std::vector<TensorValue> inputs = ColumnInputs(1);
  const auto outputs = RunText(NumberedColumns(), inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  std::vector<float> expected = {0, 1, 2};
  for (int64_t i = 0; i < 64 * 3; ++i)
    expected[static_cast<size_t>(i % 3)] += static_cast<float>(inputs[2].ElementAsDouble(i));
  ExpectNear((*outputs)[0], TensorValue::FromFloats({1, 3}, expected), 1e-5);
  ExpectEachLimit(NumberedColumns(), inputs);
}

// A fault has the position of the innermost node, here in the branch of an If.
TEST(RunFaultsTest, PlacesOfFaults) {
  const std::string text = R"(graph "net" {
  %0 = opset1.Parameter "cond" {element_type = boolean, shape = shape[]} : boolean[]
  %1 = opset1.Parameter "x" {element_type = i32, shape = shape[2,1,1]} : i32[2,1,1]
  %2 = opset8.If "if" (%0, %1) : i32[2,1,1] bodies {
    "then_body" input 1 -> 0 output 0 -> 0 graph "then" {
      %0 = opset1.Parameter "x" {element_type = i32, shape = shape[2,1,1]} : i32[2,1,1]
      %1 = opset1.Const "length" : i32[1] = dense<i32[1]: 2>
      %2 = opset1.Const "end" : i32[] = dense<i32[]: 9>
      %3 = opset1.GatherTree "tree" (%0, %0, %1, %2) : i32[2,1,1]
      opset1.Result "r" (%3)
    }
    "else_body" input 1 -> 0 output 0 -> 0 graph "else" {
      %0 = opset1.Parameter "x" {element_type = i32, shape = shape[2,1,1]} : i32[2,1,1]
      opset1.Result "r" (%0)
    }
  }
  opset1.Result "y" (%2)
})";
  const auto run = [&](bool condition) {
    return RunText(text, {TensorValue::FromBools({}, {condition}),
                          TensorValue::FromInts({2, 1, 1}, {5, 5}).ConvertedTo(ElementType::kI32)});
  };
  EXPECT_TRUE(run(false).ok());
  const auto outputs = run(true);
  ASSERT_FALSE(outputs.ok());
  const SourceRange place = outputs.error().place;
  ASSERT_TRUE(place.valid());
  EXPECT_EQ(text.substr(place.begin, place.end - place.begin).find("%3 = opset1.GatherTree"), 0)
      << outputs.error().message << " at " << place.begin << " to " << place.end;
}

// A Loop may end by its condition before the limit of iterations, whatever its constant trip count.
TEST(RunFaultsTest, TripCountsBeyondTheLimit) {
  const char text[] = R"(graph "net" {
  %0 = opset1.Const "trips" : i64[] = dense<i64[]: 1000>
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {element_type = f32, shape = shape[1]} : f32[1]
  %3 = opset5.Loop "loop" (%0, %1, %2) : f32[1] bodies {
    "body" input 2 -> 0 output -1 -> 1 output 0 -> 0 back 0 -> 0 graph "body" {
      %0 = opset1.Parameter "h" {element_type = f32, shape = shape[1]} : f32[1]
      %1 = opset1.Add "twice" (%0, %0) {auto_broadcast = "numpy"} : f32[1]
      %2 = opset1.Const "end" : f32[1] = dense<f32[1]: 8.0>
      %3 = opset1.Less "less" (%1, %2) {auto_broadcast = "numpy"} : boolean[1]
      opset1.Result "h" (%1)
      opset1.Result "again" (%3)
    }
  }
  opset1.Result "y" (%3)
})";
  for (const int64_t limit : {3, 10, 2}) {
    const auto outputs =
        RunText(text, {TensorValue::FromFloats({1}, {1})}, {.limits = {.iterations = limit}});
    ASSERT_EQ(outputs.ok(), limit > 2) << limit;
    if (outputs.ok()) {
      EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({1}, {8}));
    } else {
      EXPECT_EQ(outputs.error().rule, &kernels::kRuntimeIterations) << outputs.error().message;
    }
  }
}

// The condition before the first iteration is one element, even if only the run knows how many there are.
TEST(RunFaultsTest, ConditionsOfOtherLengths) {
  for (const int64_t length : {0, 2}) {
    const auto outputs = RunText(NumberedColumns(), ColumnInputs(length));
    ASSERT_FALSE(outputs.ok()) << length;
    EXPECT_NE(outputs.error().message.find(
                  fmt::format("its condition is boolean[{}]; expected one element of type boolean", length)),
              std::string::npos)
        << outputs.error().message;
  }
}

// A Loop with the conditions `go` before the first iteration and `again` after each.
std::string LoopWithConditions(const std::string& go, const std::string& again) {
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Const "trips" : i64[] = dense<i64[]: 2>
  %1 = opset1.Parameter "go" {{element_type = {0}, shape = shape[1]}} : {0}[1]
  %2 = opset1.Parameter "again" {{element_type = {1}, shape = shape[1]}} : {1}[1]
  %3 = opset1.Parameter "x" {{element_type = f32, shape = shape[1]}} : f32[1]
  %4 = opset5.Loop "loop" (%0, %1, %3, %2) : f32[1] bodies {{
    "body" input 2 -> 0 input 3 -> 1 output -1 -> 1 output 0 -> 0 back 0 -> 0 graph "body" {{
      %0 = opset1.Parameter "h" {{element_type = f32, shape = shape[1]}} : f32[1]
      %1 = opset1.Parameter "again" {{element_type = {1}, shape = shape[1]}} : {1}[1]
      %2 = opset1.Add "twice" (%0, %0) {{auto_broadcast = "numpy"}} : f32[1]
      opset1.Result "h" (%2)
      opset1.Result "again" (%1)
    }}
  }}
  opset1.Result "y" (%4)
}})",
                     go, again);
}

// Both conditions of a Loop are booleans.
TEST(RunFaultsTest, ConditionsOfOtherTypes) {
  const std::string boolean = "boolean";
  for (const std::string& type : {boolean, std::string("u8"), std::string("i32")}) {
    for (const bool is_first : {true, false}) {
      const auto number = [&](bool is_other) {
        return TensorValue::FromInts({1}, {1}).ConvertedTo(*ParseElementType(is_other ? type : boolean));
      };
      const auto outputs = RunText(LoopWithConditions(is_first ? type : boolean, is_first ? boolean : type),
                                   {number(is_first), number(!is_first), TensorValue::FromFloats({1}, {3})});
      ASSERT_EQ(outputs.ok(), type == boolean) << type << is_first;
      if (outputs.ok()) {
        EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({1}, {12}));
        continue;
      }
      EXPECT_EQ(outputs.error().message,
                fmt::format("`loop` (Loop): {}its condition is {}[1]; expected one element of type boolean",
                            is_first ? "" : "iteration 0: ", type));
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
