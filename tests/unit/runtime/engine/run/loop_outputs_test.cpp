// Concatenated outputs of loops whose parts have shapes that only a run knows.

#include "compiler/ir/text/text.h"
#include "compiler/support/context.h"
#include "fmt/core.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine::run {
namespace {

// How a TensorIterator concatenates the parts of its output.
struct Join {
  int axis = 1;
  int64_t part = 1;
  bool is_reversed = false;
};

// A TensorIterator that broadcasts each column of x to the shape `target`.
std::string BroadcastColumns(int64_t columns, const Join& join) {
  const std::string ends = join.is_reversed ? "start -1, end 0" : "start 0, end -1";
  return fmt::format(R"(graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[1,{0}]}} : f32[1,{0}]
  %1 = opset1.Parameter "target" {{element_type = i64, shape = shape[2]}} : i64[2]
  %2 = opset1.TensorIterator "ti" (%0, %1) : f32[...] bodies {{
    "body" input 0 -> 0 slice(axis 1, start 0, end -1, stride 1, part 1) input 1 -> 1
           output 0 -> 0 slice(axis {1}, {2}, stride {3}, part {4}) graph "body" {{
      %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[1,1]}} : f32[1,1]
      %1 = opset1.Parameter "target" {{element_type = i64, shape = shape[2]}} : i64[2]
      %2 = opset3.Broadcast "wide" (%0, %1) {{mode = "numpy"}} : f32[?,?]
      opset1.Result "r" (%2)
    }}
  }}
  opset1.Result "y" (%2)
}})",
                     columns, join.axis, ends, join.is_reversed ? -join.part : join.part, join.part);
}

// Returns the output for columns of 1, 2, ..., or the error.
kernels::FaultOr<TensorValue> RunColumns(int64_t columns, const Join& join, const Shape& target,
                                         const ExecutableOptions& options = {}) {
  Context context;
  const std::shared_ptr<ir::Graph> graph = ir::ParseGraph(
      context.sources.AddText("graph", BroadcastColumns(columns, join)), TestRegistry(), context);
  if (graph == nullptr) return kernels::KernelFault("no graph: {}", Messages(context.emitter));
  Emitter emitter;
  const auto executable = Executable::Create(graph, options, emitter);
  if (executable == nullptr) return kernels::KernelFault("{}", Messages(emitter));
  std::vector<float> numbers;
  for (int64_t i = 1; i <= columns; ++i) numbers.push_back(static_cast<float>(i));
  auto outputs = Session::Create(executable)
                     ->Run({TensorValue::FromFloats({1, columns}, numbers),
                            TensorValue::FromInts({2}, {target[0], target[1]})});
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

}  // namespace
}  // namespace nnefc::runtime::engine::run
