// Concatenated outputs of loops whose parts have shapes that only a run knows.

#include <algorithm>

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/core.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

// How a TensorIterator concatenates the parts of its output.
struct Join {
  int axis = 1;  // negative: set after parsing, which refuses it
  int64_t part = 1;
  bool is_reversed = false;
  // Only the run knows how many extents the target has.
  bool has_any_rank = false;
};

// A TensorIterator that broadcasts each column of x to the shape `target`, or reshapes it for any rank.
std::string BroadcastColumns(int64_t columns, const Join& join) {
  const char* const operation = join.has_any_rank
                                    ? R"(opset1.Reshape "wide" (%0, %1) {special_zero = false} : f32[...])"
                                    : R"(opset3.Broadcast "wide" (%0, %1) {mode = "numpy"} : f32[?,?])";
  const char* const extents = join.has_any_rank ? "?" : "2";
  const char* const dims = join.has_any_rank ? "[?]" : "shape[2]";
  const char* const cut = join.has_any_rank ? R"(
  %2 = opset1.Parameter "length" {element_type = i64, shape = shape[1]} : i64[1]
  %3 = opset1.Const "first" : i64[1] = dense<i64[1]: 0>
  %4 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %5 = opset8.Slice "cut" (%1, %3, %2, %4) : i64[?])"
                                            : "";
  const std::string ends = join.is_reversed ? "start -1, end 0" : "start 0, end -1";
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[1,{0}]}} : f32[1,{0}]
  %1 = opset1.Parameter "target" {{element_type = i64, shape = {6}}} : i64[{5}]
{8}
  %{10} = opset1.TensorIterator "ti" (%0, %{9}) : f32[...] bodies {{
    "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1
           output 0 -> 0 slice(axis {1}, {2}, stride {3}, part {4}) graph "body" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[1,1]}} : f32[1,1]
      %1 = opset1.Parameter "target" {{element_type = i64, shape = {6}}} : i64[{5}]
      %2 = {7}
      opset1.Result "r" (%2)
    }}
  }}
  opset1.Result "y" (%{10})
}})",
                     columns, std::max(join.axis, 0), ends, join.is_reversed ? -join.part : join.part,
                     join.part, extents, dims, operation, cut, join.has_any_rank ? 5 : 1,
                     join.has_any_rank ? 6 : 2);
}

// Returns the output for columns of 1, 2, ..., or the error.
kernels::FaultOr<TensorValue> RunColumns(int64_t columns, const Join& join, const Shape& target,
                                         const ExecutableOptions& options = {}) {
  Context context;
  const std::shared_ptr<ir::Graph> graph = ir::ParseGraph(
      context.sources.AddText("graph", BroadcastColumns(columns, join)), TestRegistry(), context);
  if (graph == nullptr) return kernels::KernelFault("no graph: {}", Messages(context.emitter));
  for (const ir::NodeId id : graph->nodes()) {
    if (!graph->node(id).bodies().empty()) graph->body(id, 0).outputs[0].axis = join.axis;
  }
  Emitter emitter;
  const auto executable = Executable::Create(graph, options, emitter);
  if (executable == nullptr) return kernels::KernelFault("{}", Messages(emitter));
  std::vector<float> numbers;
  for (int64_t i = 1; i <= columns; ++i) numbers.push_back(static_cast<float>(i));
  std::vector<int64_t> extents(target.begin(), target.end());
  if (join.has_any_rank) extents.push_back(7);  // the slice leaves it out
  std::vector<TensorValue> inputs = {TensorValue::FromFloats({1, columns}, numbers),
                                     TensorValue::FromInts({static_cast<int64_t>(extents.size())}, extents)};
  if (join.has_any_rank) inputs.push_back(TensorValue::FromInts({1}, {static_cast<int64_t>(target.size())}));
  auto outputs = Session::Create(executable)->Run(inputs);
  if (!outputs) return outputs.error();
  return (*outputs)[0];
}

// Element [row, column] of the output is the number of its iteration, from 1.
TEST(LoopOutputsTest, PartsAlongBothAxes) {
  constexpr int64_t kColumns = 3;
  for (const kernels::Backend backend : kBackends) {
    for (const int axis : {0, 1}) {
      for (const bool is_reversed : {false, true}) {
        for (const int64_t part : {1, 2}) {
          for (const int64_t other : {0, 1, 4}) {
            const Shape target = axis == 0 ? Shape{part, other} : Shape{other, part};
            const auto output = RunColumns(kColumns, {axis, part, is_reversed}, target, {.backend = backend});
            ASSERT_TRUE(output.ok()) << output.error().message;
            const Shape whole = axis == 0 ? Shape{kColumns * part, other} : Shape{other, kColumns * part};
            std::vector<float> expected;
            for (int64_t row = 0; row < whole[0]; ++row) {
              for (int64_t column = 0; column < whole[1]; ++column) {
                const int64_t place = (axis == 0 ? row : column) / part;
                expected.push_back(static_cast<float>(is_reversed ? kColumns - place : place + 1));
              }
            }
            EXPECT_EQ(*output, TensorValue::FromFloats(whole, expected))
                << axis << is_reversed << part << other;
          }
        }
      }
    }
  }
}

TEST(LoopOutputsTest, PartsOfOtherExtents) {
  for (const Shape& target : {Shape{4, 2}, Shape{4, 0}}) {
    const auto output = RunColumns(3, {}, target);
    ASSERT_FALSE(output.ok());
    EXPECT_EQ(
        output.error().message,
        "`ti` (TensorIterator): iteration 0: output 0 concatenates parts of 1 along axis 1; the body gives " +
            ToString(target));
  }
}

// A slice of the condition of a Loop means nothing: it is not concatenated.
TEST(LoopOutputsTest, SliceOfTheCondition) {
  const auto run = [](const char* slice) -> kernels::FaultOr<std::vector<TensorValue>> {
    const std::string text = fmt::format(R"(graph "net" {{
  %0 = opset1.Const "trips" : i64[] = dense<i64[]: 3>
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {{element_type = f32, shape = shape[1]}} : f32[1]
  %3 = opset5.Loop "loop" (%0, %1, %2) : f32[3] bodies {{
    "body" input 2 -> 0 output -1 -> 1 {} output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1)
           back 0 -> 0 graph "body" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[1]}} : f32[1]
      %1 = opset1.Add "twice" (%0, %0) : f32[1]
      %2 = opset1.Const "again" : boolean[1] = dense<boolean[1]: 1>
      opset1.Result "r" (%1)
      opset1.Result "c" (%2)
    }}
  }}
  opset1.Result "y" (%3)
}})",
                                         slice);
    Context context;
    const std::shared_ptr<ir::Graph> graph =
        ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
    if (graph == nullptr) return kernels::KernelFault("no graph: {}", Messages(context.emitter));
    Emitter emitter;
    const auto executable = Executable::Create(graph, {}, emitter);
    if (executable == nullptr) return kernels::KernelFault("{}", Messages(emitter));
    return Session::Create(executable)->Run({TensorValue::FromFloats({1}, {1})});
  };
  for (const char* slice : {"", "slice(axis 0, start 0, end -1, stride 1, part 1)"}) {
    const auto outputs = run(slice);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0], TensorValue::FromFloats({3}, {2, 4, 8})) << slice;
  }
}

// Parts of any rank are checked in the run: an axis that they do not have is a fault.
TEST(LoopOutputsTest, PartsOfAnyRank) {
  const auto row = RunColumns(3, {.axis = 1, .has_any_rank = true}, {1, 1});
  ASSERT_TRUE(row.ok()) << row.error().message;
  EXPECT_EQ(*row, TensorValue::FromFloats({1, 3}, {1, 2, 3}));
  const auto list = RunColumns(3, {.axis = 0, .has_any_rank = true}, {1});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_EQ(*list, TensorValue::FromFloats({3}, {1, 2, 3}));
  // The largest number of elements is that of the words of a list's header: rank 2 and capacity 4.
  for (const int64_t part : {int64_t{1}, int64_t{2}, (int64_t{4} << 32) + 2}) {
    for (const int axis : {-2, -1, 2, 3, 4, 5, 6}) {
      const auto output = RunColumns(3, {.axis = axis, .part = part, .has_any_rank = true}, {1, 1});
      ASSERT_FALSE(output.ok()) << axis << " " << part;
      EXPECT_NE(output.error().message.find(
                    fmt::format("parts of {} along axis {}; the body gives [1,1]", part, axis)),
                std::string::npos)
          << output.error().message;
    }
  }
}

// Scalars are concatenated to a list.
TEST(LoopOutputsTest, ScalarParts) {
  for (const bool is_reversed : {false, true}) {
    const auto output = RunColumns(3, {.axis = 0, .is_reversed = is_reversed, .has_any_rank = true}, {});
    ASSERT_TRUE(output.ok()) << output.error().message;
    EXPECT_EQ(*output, is_reversed ? TensorValue::FromFloats({3}, {3, 2, 1})
                                   : TensorValue::FromFloats({3}, {1, 2, 3}));
  }
  const auto output = RunColumns(3, {.axis = 1, .has_any_rank = true}, {});
  ASSERT_FALSE(output.ok());
  EXPECT_NE(output.error().message.find("along axis 1; the body gives []"), std::string::npos)
      << output.error().message;
}

// A Loop whose body broadcasts x to the shape `target`, or reshapes it to its first extents.
std::string RepeatedBroadcast(bool has_any_rank) {
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "trips" {{element_type = i64, shape = shape[]}} : i64[]
  %1 = opset1.Const "go" : boolean[] = dense<boolean[]: 1>
  %2 = opset1.Parameter "x" {{element_type = f32, shape = shape[1]}} : f32[1]
  %3 = opset1.Parameter "target" {{element_type = i64, shape = shape[2]}} : i64[2]
  %4 = opset1.Parameter "length" {{element_type = i64, shape = shape[1]}} : i64[1]
  %5 = opset1.Const "first" : i64[1] = dense<i64[1]: 0>
  %6 = opset1.Const "step" : i64[1] = dense<i64[1]: 1>
  %7 = opset8.Slice "cut" (%3, %5, %4, %6) : i64[?]
  %8 = opset5.Loop "loop" (%0, %1, %2, %{0}) : f32[...] bodies {{
    "body" input 2 -> 0 input 3 -> 1 output -1 -> 1
           output 0 -> 0 slice(axis 0, start 0, end -1, stride 1, part 1) graph "body" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[1]}} : f32[1]
      %1 = opset1.Parameter "target" {{element_type = i64, shape = {1}}} : i64{1}
      %2 = {2}
      %3 = opset1.Const "again" : boolean[] = dense<boolean[]: 1>
      opset1.Result "r" (%2)
      opset1.Result "again" (%3)
    }}
  }}
  opset1.Result "y" (%8)
}})",
                     has_any_rank ? 7 : 3, has_any_rank ? "[?]" : "[2]",
                     has_any_rank ? R"(opset1.Reshape "wide" (%0, %1) {special_zero = false} : f32[...])"
                                  : R"(opset3.Broadcast "wide" (%0, %1) {mode = "numpy"} : f32[?,?])");
}

// Without iterations, the extents that only the body knows are 0, and so is the only one of an unknown rank.
TEST(LoopOutputsTest, ShapesWithoutIterations) {
  for (const bool has_any_rank : {false, true}) {
    for (const int64_t trips : {0, 3}) {
      Context context;
      const std::shared_ptr<ir::Graph> graph = ir::ParseGraph(
          context.sources.AddText("graph", RepeatedBroadcast(has_any_rank)), TestRegistry(), context);
      ASSERT_NE(graph, nullptr) << Messages(context.emitter);
      const auto outputs =
          RunGraph(graph, {},
                   {TensorValue::FromInts({}, {trips}), TensorValue::FromFloats({1}, {4}),
                    TensorValue::FromInts({2}, {1, has_any_rank ? 1 : 2}), TensorValue::FromInts({1}, {1})});
      ASSERT_EQ(outputs.size(), 1u);
      const char* const none = has_any_rank ? "[0]" : "[0,0]";
      const char* const all = has_any_rank ? "[3]" : "[3,2]";
      EXPECT_EQ(ToString(outputs[0].shape()), trips == 0 ? none : all) << has_any_rank;
    }
  }
}

// Whatever the limit of memory is, the loop runs or reports it.
TEST(LoopOutputsTest, EachLimitOfMemory) {
  int num_faults = 0;
  for (size_t limit = 1; limit < 4096; limit += 16) {
    for (const bool has_any_rank : {false, true}) {
      for (const Shape& target : {Shape{has_any_rank ? 1 : 20, 1}, Shape{1, 1}}) {
        const auto output =
            RunColumns(3, {.has_any_rank = has_any_rank}, target, {.threads = 1, .limits = {.bytes = limit}});
        if (output.ok()) continue;
        ++num_faults;
        EXPECT_EQ(output.error().rule, &kernels::kRuntimeMemory) << output.error().message;
      }
    }
  }
  EXPECT_GT(num_faults, 8);
}

// Returns the least memory limit with which the loop runs.
size_t LeastLimit(int64_t columns, int64_t rows) {
  size_t low = 0, high = size_t{1} << 24;
  while (low + 1 < high) {
    const size_t middle = (low + high) / 2;
    const auto output = RunColumns(columns, {}, {rows, 1}, {.threads = 1, .limits = {.bytes = middle}});
    (output.ok() ? high : low) = middle;
  }
  return high;
}

// At a time, a run needs the whole output and one part: 16 bytes for each row of three columns and their
// part.
TEST(LoopOutputsTest, MemoryOfTheWhole) {
  const size_t hundred = LeastLimit(3, 100);
  EXPECT_EQ(LeastLimit(3, 200) - hundred, 1600u);
  EXPECT_EQ(LeastLimit(3, 1000) - hundred, 14400u);
  const auto output = RunColumns(3, {}, {1000, 1}, {.threads = 1, .limits = {.bytes = hundred}});
  ASSERT_FALSE(output.ok());
  EXPECT_NE(output.error().message.find("takes more memory than is allowed"), std::string::npos)
      << output.error().message;
}

// Returns the least memory limit with which a loop sums the columns of x, which are not contiguous.
size_t LeastLimitOfSums(int64_t rows) {
  const std::string text = fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[{0},4]}} : f32[{0},4]
  %1 = opset1.TensorIterator "ti" (%0) : f32[1,4] bodies {{
    "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1)
           output 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) graph "body" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[{0},1]}} : f32[{0},1]
      %1 = opset1.Const "axis" : i64[1] = dense<i64[1]: 0>
      %2 = opset1.ReduceSum "sum" (%0, %1) {{keep_dims = true}} : f32[1,1]
      opset1.Result "r" (%2)
    }}
  }}
  opset1.Result "y" (%1)
}})",
                                       rows);
  Context context;
  const std::shared_ptr<ir::Graph> graph =
      ir::ParseGraph(context.sources.AddText("graph", text), TestRegistry(), context);
  EXPECT_NE(graph, nullptr) << Messages(context.emitter);
  std::vector<float> numbers;
  for (int64_t i = 0; i < 4 * rows; ++i) numbers.push_back(static_cast<float>(i % 4));
  const auto row_count = static_cast<float>(rows);
  const TensorValue sums = TensorValue::FromFloats({1, 4}, {0, row_count, 2 * row_count, 3 * row_count});
  size_t low = 0, high = size_t{1} << 24;
  while (graph != nullptr && low + 1 < high) {
    const size_t middle = (low + high) / 2;
    Emitter emitter;
    const auto executable = Executable::Create(graph, {.threads = 1, .limits = {.bytes = middle}}, emitter);
    const auto outputs =
        executable == nullptr
            ? kernels::FaultOr<std::vector<TensorValue>>(kernels::KernelFault("{}", Messages(emitter)))
            : Session::Create(executable)->Run({TensorValue::FromFloats({rows, 4}, numbers)});
    if (outputs.ok()) {
      EXPECT_EQ((*outputs)[0], sums);
    }
    (outputs.ok() ? high : low) = middle;
  }
  return high;
}

// At a time, a run needs one slice: 4 bytes for each row.
TEST(LoopOutputsTest, MemoryOfSlices) {
  const size_t thousand = LeastLimitOfSums(1000);
  EXPECT_EQ(LeastLimitOfSums(2000) - thousand, 4000u);
  EXPECT_EQ(LeastLimitOfSums(5000) - thousand, 16000u);
}

}  // namespace
}  // namespace nnefc::runtime::engine::run
