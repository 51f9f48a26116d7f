// Products of two quantized tensors, as in attention, against sums of integers.

#include <algorithm>
#include <array>
#include <numeric>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// The extents of matrices after batch axes, of which each operand has the last ones, some of extent 1.
struct TensorsByTensors {
  Shape left_batch, right_batch;
  int64_t rows, terms, columns;
  bool transpose_a = false, transpose_b = false;

  static Shape With(Shape batch, int64_t rows, int64_t columns, bool transposed) {
    batch.insert(batch.end(), {transposed ? columns : rows, transposed ? rows : columns});
    return batch;
  }
  Shape Left() const { return With(left_batch, rows, terms, transpose_a); }
  Shape Right() const { return With(right_batch, terms, columns, transpose_b); }
  Shape Batch() const {
    Shape batch(std::max(left_batch.size(), right_batch.size()), 1);
    for (const Shape* own : {&left_batch, &right_batch}) {
      const size_t missing = batch.size() - own->size();
      for (size_t i = 0; i < own->size(); ++i) batch[missing + i] = std::max(batch[missing + i], (*own)[i]);
    }
    return batch;
  }
  // Returns the matrix of an operand for a matrix of the result.
  static int64_t MatrixOf(const Shape& own, const Shape& batch, int64_t index) {
    int64_t matrix = 0, stride = 1;
    for (size_t i = 0; i < batch.size(); ++i) {
      const int64_t at = index % batch[batch.size() - 1 - i];
      index /= batch[batch.size() - 1 - i];
      if (i >= own.size()) continue;
      const int64_t extent = own[own.size() - 1 - i];
      matrix += (extent == 1 ? 0 : at) * stride;
      stride *= extent;
    }
    return matrix;
  }

  // By the formula of a matrix product.
  std::vector<int64_t> Sums(const std::vector<int64_t>& left, const std::vector<int64_t>& right) const {
    const Shape batch = Batch();
    std::vector<int64_t> sums;
    for (int64_t b = 0; b < *Volume(batch); ++b) {
      const int64_t l = MatrixOf(left_batch, batch, b) * rows * terms,
                    r = MatrixOf(right_batch, batch, b) * terms * columns;
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          int64_t sum = 0;
          for (int64_t k = 0; k < terms; ++k)
            sum += left[static_cast<size_t>(l + (transpose_a ? k * rows + i : i * terms + k))] *
                   right[static_cast<size_t>(r + (transpose_b ? j * terms + k : k * columns + j))];
          sums.push_back(sum);
        }
      }
    }
    return sums;
  }
  ir::OutputPort Add(TestGraph& g, ir::OutputPort left, ir::OutputPort right) const {
    ir::AttributeMap attributes;
    attributes.Set("transpose_a", transpose_a);
    attributes.Set("transpose_b", transpose_b);
    return g.Op("MatMul", {left, right}, attributes);
  }
  std::string Name() const {
    return ToString(Left()) + (transpose_a ? "^T" : "") + " by " + ToString(Right()) +
           (transpose_b ? "^T" : "");
  }
};

// A graph marked like by target.MarkQuantizedProducts, which declines small products by their time.
ir::OutputPort Marked(TestGraph& g, ir::OutputPort product, const Quantization& left,
                      const Quantization& right) {
  if (fast::HasVnni())
    ir::ops::MarkQuantizedOperands(*g.graph, product.node,
                                   {.left = {.scale = left.scale, .zero = left.zero},
                                    .right = {.scale = right.scale, .zero = right.zero}});
  return product;
}
std::string TensorKernel() {
  return fast::HasVnni() && fast::simd::HasSimd() ? "nnefc:int8_tensors" : "";
}

std::vector<double> Scaled(const std::vector<int64_t>& sums, double scale) {
  std::vector<double> numbers;
  numbers.reserve(sums.size());
  for (const int64_t sum : sums) numbers.push_back(static_cast<double>(sum) * scale);
  return numbers;
}

class QuantizedTensorsTest : public testing::Test {
 protected:
  // Of FakeQuantize results, or of values that a Transpose or so has moved as f32.
  static void ExpectSums(const TensorsByTensors& tensors, int left_zero, int right_zero, Spread spread) {
    SCOPED_TRACE(tensors.Name() + ", zeros " + std::to_string(left_zero) + " and " +
                 std::to_string(right_zero));
    const Quantization left{.scale = 0x1p-5F, .zero = left_zero}, right{.scale = 0x1p-3F, .zero = right_zero};
    const std::vector<int64_t> a = DrawValues(tensors.Left(), left_zero, spread, 11),
                               b = DrawValues(tensors.Right(), right_zero, spread, 12);
    TestGraph g;
    const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", tensors.Left()), left),
                         y = FakeQuantized(g, g.Parameter("y", tensors.Right()), right);
    g.Result(Marked(g, tensors.Add(g, x, y), left, right));
    ExpectNumbers(g, {NumbersOf(tensors.Left(), a, left), NumbersOf(tensors.Right(), b, right)},
                  Scaled(tensors.Sums(Less(a, left_zero), Less(b, right_zero)), 0x1p-8), TensorKernel());
  }
};

TEST_F(QuantizedTensorsTest, ZeroPoints) {
  for (const int64_t terms : {4, 5}) {
    for (const bool is_transposed : {false, true}) {
      const TensorsByTensors tensors{.left_batch = {2},
                                     .right_batch = {2},
                                     .rows = 5,
                                     .terms = terms,
                                     .columns = 17,
                                     .transpose_b = is_transposed};
      for (const int left : {0, 1, 128, 255}) {
        for (const int right : {0, 1, 127, 128, 129, 255}) {
          for (const Spread spread : {Spread::kAnywhere, Spread::kEnds})
            ExpectSums(tensors, left, right, spread);
        }
      }
    }
  }
}

TEST_F(QuantizedTensorsTest, SizesAndTransposes) {
  for (const int64_t terms : {1, 3, 4, 5, 63, 64, 65}) {
    for (const auto& [rows, columns] : std::array<std::pair<int64_t, int64_t>, 6>{
             {{1, 1}, {1, 16}, {14, 15}, {57, 33}, {56, 32}, {15, 529}}}) {
      for (const bool a : {false, true}) {
        for (const bool b : {false, true}) {
          ExpectSums({.rows = rows, .terms = terms, .columns = columns, .transpose_a = a, .transpose_b = b},
                     117, 3, Spread::kAnywhere);
        }
      }
    }
  }
}

TEST_F(QuantizedTensorsTest, Batches) {
  const std::pair<Shape, Shape> batches[] = {
      {{3}, {3}},    {{1}, {3}},       {{3}, {1}},       {{}, {3}},        {{3}, {}},       {{2, 3}, {}},
      {{2, 1}, {3}}, {{2, 3}, {2, 3}}, {{2, 1}, {1, 3}}, {{1, 3}, {2, 1}}, {{2, 3}, {1, 1}}};
  for (const auto& [left, right] : batches) {
    for (const bool is_transposed : {false, true}) {
      ExpectSums({.left_batch = left,
                  .right_batch = right,
                  .rows = 9,
                  .terms = 7,
                  .columns = 18,
                  .transpose_a = is_transposed,
                  .transpose_b = is_transposed},
                 200, 50, Spread::kAnywhere);
    }
  }
}

// Sums at the ends of 32 bits: all codes are 0 or 255.
TEST_F(QuantizedTensorsTest, LargestSums) {
  const int64_t terms = ir::ops::kMaxQuantizedTerms;
  for (const int64_t a : {0, 255}) {
    for (const int64_t b : {0, 255}) {
      for (const int left_zero : {0, 255}) {
        for (const int right_zero : {0, 255}) {
          const TensorsByTensors tensors{.rows = 1, .terms = terms, .columns = 1};
          const Quantization left{.scale = 1, .zero = left_zero}, right{.scale = 1, .zero = right_zero};
          const std::vector<int64_t> row(static_cast<size_t>(terms), a),
              column(static_cast<size_t>(terms), b);
          TestGraph g;
          const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", tensors.Left()), left),
                               y = FakeQuantized(g, g.Parameter("y", tensors.Right()), right);
          g.Result(Marked(g, tensors.Add(g, x, y), left, right));
          const auto made =
              RunGraph(g.graph, {.threads = 2},
                       {NumbersOf(tensors.Left(), row, left), NumbersOf(tensors.Right(), column, right)});
          const double expected = static_cast<double>(terms) * static_cast<double>(a - left_zero) *
                                  static_cast<double>(b - right_zero);
          EXPECT_NEAR(made[0].ElementAsDouble(0), expected,
                      std::abs(expected) * (fast::HasVnni() ? 1e-6 : 1e-4));
        }
      }
    }
  }
}

// Operations after the product, with a result that is rounded or stays f32.
// The kernel has an index for each matrix of the result. Of more, the plan stays small.
TEST_F(QuantizedTensorsTest, ManyMatrices) {
  const Quantization by{.zero = 3};
  const auto plan = [&](int64_t left, int64_t right) {
    const TensorsByTensors tensors{
        .left_batch = {left, 1}, .right_batch = {1, right}, .rows = 1, .terms = 4, .columns = 1};
    TestGraph g;
    const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", tensors.Left()), by),
                         y = FakeQuantized(g, g.Parameter("y", tensors.Right()), by);
    g.Result(Marked(g, tensors.Add(g, x, y), by, by));
    const auto executable = Compile(g.graph, {.threads = 1});
    return executable == nullptr ? "" : executable->DescribePlan();
  };
  if (!TensorKernel().empty()) {
    EXPECT_NE(plan(1024, 1024).find(TensorKernel()), std::string::npos);
  }
  const std::string more = plan(1024, 1025);
  EXPECT_FALSE(more.empty());
  EXPECT_EQ(more.find("int8_tensors"), std::string::npos) << more;
}

TEST_F(QuantizedTensorsTest, QuantizedResults) {
  const Quantization left{.zero = 117}, right{.zero = 90}, to{.scale = 0.5F, .zero = 100};
  for (const int64_t columns : {16, 33}) {
    const TensorsByTensors tensors{
        .left_batch = {2}, .right_batch = {2}, .rows = 15, .terms = 20, .columns = columns};
    const std::vector<int64_t> a = DrawValues(tensors.Left(), 117, Spread::kAnywhere, 21),
                               b = DrawValues(tensors.Right(), 90, Spread::kAnywhere, 22);
    for (const bool has_bias : {false, true}) {
      for (const bool has_relu : {false, true}) {
        SCOPED_TRACE(tensors.Name() + (has_bias ? ", bias" : "") + (has_relu ? ", relu" : ""));
        std::vector<double> expected = Scaled(tensors.Sums(Less(a, 117), Less(b, 90)), 0x1p-10);
        TestGraph g;
        const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", tensors.Left()), left),
                             y = FakeQuantized(g, g.Parameter("y", tensors.Right()), right);
        ir::OutputPort z = Marked(g, tensors.Add(g, x, y), left, right);
        if (has_bias) {
          std::vector<float> bias;
          for (int64_t i = 0; i < columns; ++i) bias.push_back(static_cast<float>(i) / 4 - 3);
          for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % bias.size()];
          z = g.Op("Add", {z, g.Const(TensorValue::FromFloats({columns}, bias))});
        }
        if (has_relu) {
          z = g.Op("ReLU", {z});
          for (double& number : expected) number = std::max(number, 0.0);
        }
        g.Result(FakeQuantized(g, z, to));
        ExpectCodes(g, {NumbersOf(tensors.Left(), a, left), NumbersOf(tensors.Right(), b, right)}, to,
                    expected, TensorKernel());
      }
    }
  }
}

// The result is an operand of the next product, as u8.
TEST_F(QuantizedTensorsTest, ProductsInARow) {
  const Quantization from{.zero = 128}, between{.scale = 0.25F, .zero = 120};
  for (const int64_t columns : {16, 21}) {
    const TensorsByTensors first{
        .left_batch = {2}, .right_batch = {2}, .rows = 17, .terms = 8, .columns = columns};
    const TensorsByTensors second{
        .left_batch = {2}, .right_batch = {2}, .rows = 17, .terms = columns, .columns = 9};
    std::vector<int64_t> a = DrawValues(first.Left(), 128, Spread::kAnywhere, 31),
                         b = DrawValues(first.Right(), 128, Spread::kAnywhere, 32);
    const std::vector<int64_t> c = DrawValues(second.Right(), 128, Spread::kAnywhere, 33);
    // Only the first term is odd, so that no sum is halfway between two codes, which are 256 apart.
    const auto each = static_cast<size_t>(first.terms), of_right = static_cast<size_t>(first.terms * columns);
    for (size_t i = 0; i < a.size(); ++i) a[i] = a[i] / 2 * 2 + (i % each == 0 ? 1 : 0);
    for (size_t i = 0; i < b.size(); ++i) {
      if (i % of_right < static_cast<size_t>(columns)) b[i] = b[i] / 2 * 2 + 1;
    }
    TestGraph g;
    const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", first.Left()), from),
                         y = FakeQuantized(g, g.Parameter("y", first.Right()), from),
                         z = FakeQuantized(g, g.Parameter("z", second.Right()), from);
    const ir::OutputPort inner = FakeQuantized(g, Marked(g, first.Add(g, x, y), from, from), between);
    g.Result(Marked(g, second.Add(g, inner, z), between, from));
    std::vector<int64_t> codes;
    for (const double number : Scaled(first.Sums(Less(a, 128), Less(b, 128)), 0x1p-10))
      codes.push_back(static_cast<int64_t>(std::nearbyint(between.Code(number))));
    ExpectNumbers(g,
                  {NumbersOf(first.Left(), a, from), NumbersOf(first.Right(), b, from),
                   NumbersOf(second.Right(), c, from)},
                  Scaled(second.Sums(Less(codes, 120), Less(c, 128)), 0x1p-7), TensorKernel());
  }
}

// Attention with operands that are transposed and split after their quantization. The sizes are those of a
// network, so that the products are chosen by their times.
TEST_F(QuantizedTensorsTest, OperandsMovedAsFloats) {
  const Quantization by{.zero = 99};
  const Shape shape = {1, 160, 2, 64};  // tokens, heads, terms
  const std::vector<int64_t> a = DrawValues(shape, 99, Spread::kAnywhere, 41),
                             b = DrawValues(shape, 99, Spread::kAnywhere, 42);
  TestGraph g;
  const ir::OutputPort order = g.Ints({0, 2, 1, 3});
  const ir::OutputPort x = g.Op("Transpose", {FakeQuantized(g, g.Parameter("x", shape), by), order});
  const ir::OutputPort y = g.Op("Transpose", {FakeQuantized(g, g.Parameter("y", shape), by), order});
  const TensorsByTensors tensors{.left_batch = {1, 2},
                                 .right_batch = {1, 2},
                                 .rows = 160,
                                 .terms = 64,
                                 .columns = 160,
                                 .transpose_b = true};
  g.Result(tensors.Add(g, x, y));
  const auto moved = [&](const std::vector<int64_t>& codes) {
    std::vector<int64_t> result;
    for (size_t head = 0; head < 2; ++head) {
      for (size_t token = 0; token < 160; ++token) {
        for (size_t i = 0; i < 64; ++i) result.push_back(codes[(token * 2 + head) * 64 + i]);
      }
    }
    return result;
  };
  ExpectNumbers(g, {NumbersOf(shape, a, by), NumbersOf(shape, b, by)},
                Scaled(tensors.Sums(Less(moved(a), 99), Less(moved(b), 99)), 0x1p-10), TensorKernel());
}

}  // namespace
}  // namespace nnefc::runtime::engine
