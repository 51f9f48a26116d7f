// Products of quantized rows with constant matrices against sums of integers.

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct CodedProduct {
  Shape left;  // [..., inputs]
  int64_t outputs = 16;
  bool transposed = false;  // whether the matrix is [outputs, inputs]

  int64_t inputs() const { return left.back(); }
  int64_t rows() const { return *Volume(left) / inputs(); }
  // `weights` are by output, then input.
  TensorValue Matrix(const std::vector<int64_t>& weights) const {
    std::vector<float> numbers(weights.size());
    for (int64_t o = 0; o < outputs; ++o) {
      for (int64_t i = 0; i < inputs(); ++i) {
        const int64_t at = transposed ? o * inputs() + i : i * outputs + o;
        numbers[static_cast<size_t>(at)] =
            static_cast<float>(weights[static_cast<size_t>(o * inputs() + i)]) * FilterScale(o);
      }
    }
    const Shape shape = transposed ? Shape{outputs, inputs()} : Shape{inputs(), outputs};
    return TensorValue::FromFloats(shape, numbers);
  }
  ir::OutputPort Add(TestGraph& g, ir::OutputPort x, const std::vector<int64_t>& weights) const {
    ir::AttributeMap attributes;
    attributes.Set("transpose_a", false);
    attributes.Set("transpose_b", transposed);
    return g.Op("MatMul", {x, g.Const(Matrix(weights))}, attributes);
  }
  std::vector<double> Numbers(const std::vector<int64_t>& numbers, const std::vector<int64_t>& weights,
                              float scale) const {
    std::vector<double> results;
    for (int64_t row = 0; row < rows(); ++row) {
      for (int64_t o = 0; o < outputs; ++o) {
        int64_t sum = 0;
        for (int64_t i = 0; i < inputs(); ++i)
          sum += numbers[static_cast<size_t>(row * inputs() + i)] *
                 weights[static_cast<size_t>(o * inputs() + i)];
        results.push_back(static_cast<double>(sum) * scale * FilterScale(o));
      }
    }
    return results;
  }
};

const CodedProduct kProducts[] = {
    {.left = {1, 4}, .outputs = 1},
    {.left = {1, 64}, .outputs = 33},
    {.left = {3, 5}, .outputs = 17, .transposed = true},
    {.left = {12, 64}, .outputs = 16},
    {.left = {57, 132}, .outputs = 40, .transposed = true},
    {.left = {2, 9, 68}, .outputs = 31},
    {.left = {130, 520}, .outputs = 48},
    {.left = {17, 33}, .outputs = 15, .transposed = true},
};

std::string NameOf(const CodedProduct& product) {
  return ToString(product.left) + " by " + std::to_string(product.outputs) +
         (product.transposed ? " rows" : " columns");
}

TEST(QuantizedProductsTest, Sums) {
  for (const CodedProduct& product : kProducts) {
    const std::vector<int64_t> weights = DrawWeights(product.outputs, product.inputs(), 1);
    for (const int zero : {0, 1, 128, 255}) {
      for (const Spread spread : kSpreads) {
        SCOPED_TRACE(NameOf(product) + ", zero " + std::to_string(zero));
        const Quantization by{.zero = zero};
        const std::vector<int64_t> codes = DrawValues(product.left, zero, spread, 2);
        TestGraph g;
        g.Result(product.Add(g, FakeQuantized(g, g.Parameter("x", product.left), by), weights));
        ExpectNumbers(g, {NumbersOf(product.left, codes, by)},
                      product.Numbers(Less(codes, zero), weights, by.scale),
                      fast::simd::HasSimd() ? "nnefc:quantize" : "");
      }
    }
  }
}

TEST(QuantizedProductsTest, QuantizedResults) {
  for (const CodedProduct& product : kProducts) {
    const std::vector<int64_t> weights = DrawWeights(product.outputs, product.inputs(), 3);
    for (const bool has_bias : {false, true}) {
      for (const bool has_relu : {false, true}) {
        for (const bool has_residual : {false, true}) {
          SCOPED_TRACE(NameOf(product) + (has_bias ? ", bias" : "") + (has_relu ? ", relu" : "") +
                       (has_residual ? ", residual" : ""));
          const Quantization from{.zero = 117}, to{.scale = 0.25F, .zero = has_relu ? 0 : 100};
          const std::vector<int64_t> codes = DrawValues(product.left, from.zero, Spread::kAnywhere, 4);
          std::vector<double> expected = product.Numbers(Less(codes, from.zero), weights, from.scale);
          TestGraph g;
          ir::OutputPort y = product.Add(g, FakeQuantized(g, g.Parameter("x", product.left), from), weights);
          std::vector<TensorValue> inputs = {NumbersOf(product.left, codes, from)};
          if (has_bias) {
            std::vector<float> bias;
            for (int64_t i = 0; i < product.outputs; ++i) bias.push_back(static_cast<float>(i) / 4 - 3);
            for (size_t i = 0; i < expected.size(); ++i) expected[i] += bias[i % bias.size()];
            y = g.Op("Add", {y, g.Const(TensorValue::FromFloats({product.outputs}, bias))});
          }
          if (has_relu) {
            y = g.Op("ReLU", {y});
            for (double& number : expected) number = std::max(number, 0.0);
          }
          y = FakeQuantized(g, y, to);
          double slack = 1e-3;
          if (has_residual) {
            Shape result = product.left;
            result.back() = product.outputs;
            const Quantization of_others{.scale = 0.5F, .zero = 60};
            const std::vector<int64_t> others = DrawValues(result, 60, Spread::kAnywhere, 5);
            y = g.Op("Add", {FakeQuantized(g, g.Parameter("r", result), of_others), y});
            inputs.push_back(NumbersOf(result, others, of_others));
            for (size_t i = 0; i < expected.size(); ++i)
              expected[i] = to.Number(0) + to.scale * to.Code(expected[i]) + of_others.Number(others[i]);
            y = FakeQuantized(g, y, to);
            slack += 0.5;
          }
          g.Result(y);
          ExpectCodes(g, inputs, to, expected, "", slack);
        }
      }
    }
  }
}

// The step of a product in 8 bits rounds its results to fewer levels, too, given wide vectors with VNNI.
TEST(QuantizedProductsTest, RoundedToFewLevels) {
  const CodedProduct product{.left = {64, 64}, .outputs = 64};
  const Quantization by{.zero = 128};
  const std::vector<int64_t> codes = DrawValues(product.left, by.zero, Spread::kAnywhere, 10);
  const std::vector<int64_t> weights = DrawWeights(product.outputs, product.inputs(), 11);
  TestGraph g;
  const ir::OutputPort y = product.Add(g, FakeQuantized(g, g.Parameter("x", product.left), by), weights);
  const ir::OutputPort low = Scalar(g, -16), high = Scalar(g, 15);
  g.Result(g.Op("FakeQuantize", {y, low, high, low, high}, With("levels", int64_t{32})));
  std::vector<double> expected = product.Numbers(Less(codes, by.zero), weights, by.scale);
  for (double& number : expected) number = std::nearbyint(std::clamp(number, -16.0, 15.0));
  const bool is_fused = fast::HasVnni() && fast::simd::SimdWidth() == fast::simd::kSimdWidth512;
  ExpectNumbers(g, {NumbersOf(product.left, codes, by)}, expected, is_fused ? "MatMul+FakeQuantize" : "");
}

// Sums beyond 32 bits: 255 * 127 * 70,000.
TEST(QuantizedProductsTest, LongSums) {
  const CodedProduct product{.left = {1, 70000}, .outputs = 2};
  const std::vector<int64_t> weights(140000, 127), codes(70000, 255);
  TestGraph g;
  const Quantization by{.scale = 1};
  g.Result(product.Add(g, FakeQuantized(g, g.Parameter("x", product.left), by), weights));
  const auto made = RunGraph(g.graph, {.threads = 2}, {NumbersOf(product.left, codes, by)});
  for (int64_t o = 0; o < 2; ++o)
    EXPECT_NEAR(made[0].ElementAsDouble(o), 255.0 * 127 * 70000 * FilterScale(o), 1e3);
}

// A left factor that is transposed, or has one axis, or is the constant one.
TEST(QuantizedProductsTest, ConstantVectors) {
  for (const int64_t count : {12, 4095, 4096, 5000}) {
    const Shape shape = {3, count};
    const Quantization by{.zero = 128};
    const std::vector<int64_t> codes = DrawValues(shape, 128, Spread::kAnywhere, 8);
    const std::vector<int64_t> weights = DrawWeights(1, count, 9);
    std::vector<float> numbers;
    numbers.reserve(weights.size());
    for (const int64_t weight : weights) numbers.push_back(static_cast<float>(weight) * 0x1p-10F);
    TestGraph g;
    g.Result(g.Op("MatMul", {FakeQuantized(g, g.Parameter("x", shape), by),
                             g.Const(TensorValue::FromFloats({count}, numbers))}));
    std::vector<float> expected;
    for (size_t row = 0; row < 3; ++row) {
      int64_t sum = 0;
      for (size_t i = 0; i < weights.size(); ++i) sum += (codes[row * weights.size() + i] - 128) * weights[i];
      expected.push_back(static_cast<float>(sum) * by.scale * 0x1p-10F);
    }
    for (const kernels::Backend backend : kBackends) {
      const auto made = RunGraph(g.graph, {.backend = backend, .threads = 2}, {NumbersOf(shape, codes, by)});
      ASSERT_EQ(made.size(), 1U);
      ExpectNear(made[0], TensorValue::FromFloats({3}, expected), 1e-4);
    }
  }
}

TEST(QuantizedProductsTest, FactorsOnOtherSides) {
  const TensorValue x = RandomTensor({12, 12}, 6, -4, 4);
  const CodedProduct square{.left = {12, 12}, .outputs = 12};
  const TensorValue matrix = square.Matrix(DrawWeights(12, 12, 7));
  for (const bool transposed : {false, true}) {
    for (const bool is_right : {false, true}) {
      TestGraph g;
      const ir::OutputPort quantized = FakeQuantized(g, g.Parameter("x", {12, 12}), {.zero = 128});
      ir::AttributeMap attributes;
      attributes.Set("transpose_a", transposed);
      const ir::OutputPort constant = g.Const(matrix);
      g.Result(is_right ? g.Op("MatMul", {constant, quantized}, attributes)
                        : g.Op("MatMul", {quantized, constant}, attributes));
      const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {x});
      ExpectNear(RunGraph(g.graph, {.threads = 2}, {x})[0], expected[0], 1e-6);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
