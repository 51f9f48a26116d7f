// target.MultiplyBeforeGathers: products of parts of a tensor with one matrix, and near misses.

#include "tests/unit/compiler/transform/target/target_support.h"

namespace nnefc::transform::target {
namespace {

class PartProductsTest : public TargetTest {
 protected:
  // A product of a part of `one` with the matrix `left`.
  struct Part {
    std::string index, axis = "0", matrix = "left", attributes = "", source = "one";
    std::string index_type = "i64[]";
  };
  // Returns the graph of such products and their sum, for tensors `one` and `two` of the shape.
  std::string Multiplied(llvm::ArrayRef<Part> parts, const std::string& shape = "[2,1,3]",
                         const std::string& matrix = "[3,2]") {
    std::vector<std::string> text = {TargetInput("one", "f32", shape), TargetInput("two", "f32", shape),
                                     TargetInput("left", "f32", matrix), TargetInput("right", "f32", matrix),
                                     TargetInput("unknown", "i64", "[]")};
    std::string sum;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      const std::string at = std::to_string(i);
      const bool is_known = part.index != "unknown";
      if (is_known) text.push_back(TargetConstant("index" + at, part.index_type, part.index));
      text.push_back(TargetConstant("axis" + at, "i64[]", part.axis));
      const std::string index = is_known ? "index" + at : "unknown";
      text.push_back(
          TargetStep("g" + at, "opset8.Gather", fmt::format("%{}, %{}, %axis{}", part.source, index, at)));
      text.push_back(
          TargetStep("m" + at, "opset1.MatMul", fmt::format("%g{}, %{}", at, part.matrix), part.attributes));
      if (i == 0) {
        sum = "m0";
        continue;
      }
      text.push_back(TargetStep("s" + at, "opset1.Add", fmt::format("%{}, %m{}", sum, at)));
      sum = "s" + at;
    }
    text.push_back(TargetResult(sum));
    return After("MultiplyBeforeGathers", text);
  }
  static bool IsShared(const std::string& described) {
    return described.find("Gather[") > described.find("MatMul[");
  }
};

TEST_F(PartProductsTest, PartsOfOneProduct) {
  const std::string sum = " Add[1,2](Gather Gather)";
  EXPECT_EQ(
      Multiplied({{.index = "0"}, {.index = "1"}}),
      "MatMul[2,1,2](Parameter Parameter) Gather[1,2](MatMul Const Const) Gather[1,2](MatMul Const Const)" +
          sum);
  // Negative indices and axes, the same part twice, a transposed matrix.
  EXPECT_TRUE(IsShared(Multiplied({{.index = "-1", .axis = "-3"}, {.index = "0", .axis = "0"}})));
  EXPECT_TRUE(IsShared(Multiplied({{.index = "1"}, {.index = "1"}})));
  EXPECT_EQ(
      Multiplied({{.index = "0", .attributes = "transpose_b = true"},
                  {.index = "1", .attributes = "transpose_b = true"}},
                 "[2,1,3]", "[2,3]"),
      "MatMul[2,1,2](Parameter Parametert) Gather[1,2](MatMul Const Const) Gather[1,2](MatMul Const Const)" +
          sum);
  // Indices of one dimension, the second axis, vectors.
  EXPECT_TRUE(
      IsShared(Multiplied({{.index = "0", .index_type = "i64[1]"}, {.index = "1", .index_type = "i64[1]"}})));
  EXPECT_TRUE(IsShared(Multiplied({{.index = "0", .axis = "1"}, {.index = "1", .axis = "1"}}, "[4,2,3]")));
  EXPECT_TRUE(IsShared(Multiplied({{.index = "0"}, {.index = "1"}}, "[2,3]")));
}

TEST_F(PartProductsTest, NearMisses) {
  const auto is_shared = [&](llvm::ArrayRef<Part> parts, const std::string& shape = "[2,1,3]",
                             const std::string& matrix = "[3,3]") {
    return IsShared(Multiplied(parts, shape, matrix));
  };
  EXPECT_TRUE(is_shared({{.index = "0"}, {.index = "1"}}));
  EXPECT_FALSE(is_shared({{.index = "0"}}));
  EXPECT_FALSE(is_shared({{.index = "0"}, {.index = "1", .matrix = "right"}}));
  EXPECT_FALSE(is_shared({{.index = "0"}, {.index = "1", .source = "two"}}));
  EXPECT_FALSE(is_shared({{.index = "0"}, {.index = "unknown"}}));
  EXPECT_FALSE(is_shared({{.index = "0"}, {.index = "1", .attributes = "transpose_b = true"}}));
  EXPECT_FALSE(
      is_shared({{.index = "0, 1", .index_type = "i64[2]"}, {.index = "1, 0", .index_type = "i64[2]"}}));
  // Another axis for one of them, the last axis for both.
  EXPECT_FALSE(is_shared({{.index = "0"}, {.index = "0", .axis = "1"}}, "[3,3,3]"));
  EXPECT_FALSE(is_shared({{.index = "0", .axis = "2"}, {.index = "1", .axis = "2"}}, "[3,3,3]"));
  // The left operand transposed, matrices of a batch.
  EXPECT_FALSE(is_shared({{.index = "0", .attributes = "transpose_a = true"},
                          {.index = "1", .attributes = "transpose_a = true"}},
                         "[2,3,3]"));
  EXPECT_FALSE(is_shared({{.index = "0"}, {.index = "1"}}, "[2,1,3]", "[1,3,3]"));
}

// At least three quarters of the rows of the whole product are used.
TEST_F(PartProductsTest, PartsOfManyRows) {
  for (const int64_t extent : {3, 4, 5}) {
    const std::string shape = fmt::format("[{},1,3]", extent);
    EXPECT_EQ(IsShared(Multiplied({{.index = "0"}, {.index = "1"}, {.index = "2"}}, shape)), extent <= 4)
        << extent;
  }
}

}  // namespace
}  // namespace nnefc::transform::target
