// Functions, multiplications and additions after products of quantized numbers, and the quantization of their
// results, against formulas in f64.

#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct Activation {
  const char* name;
  double (*of)(double);
};
const Activation kActivations[] = {
    {"", [](double x) { return x; }},
    {"ReLU", [](double x) { return std::max(x, 0.0); }},
    {"HSwish", [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
    {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"Mish", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
};

// Multiplications and additions in their order: `m` and `a` by a number, `M` and `A` by column.
const char* const kAffineSteps[] = {"", "m", "a", "M", "A", "ma", "am", "MA", "AM", "maM", "MaAm", "AAMM"};

class ProductWithEpilogue {
 public:
  ProductWithEpilogue(int64_t rows, int64_t outputs, int64_t inputs = 12)
      : rows_(rows), outputs_(outputs), inputs_(inputs) {}

  // Of quantized results.
  void Check(const Activation& activation, const std::string& steps, bool has_bias) const {
    const Quantization to{.scale = 0x1p-4F, .zero = 101};
    Built built = Build(activation, steps, has_bias);
    // Codes that another product reads.
    std::vector<float> identity(SizeOf({outputs_, outputs_}), 0.0F);
    for (int64_t i = 0; i < outputs_; ++i) identity[static_cast<size_t>(i * (outputs_ + 1))] = 1;
    built.g.Result(
        built.g.Op("MatMul", {FakeQuantized(built.g, built.y, to),
                              built.g.Const(TensorValue::FromFloats({outputs_, outputs_}, identity))}));
    ExpectCodes(built.g, {built.input}, to, built.numbers, "", 2e-3);
  }

  // Of f32 results, plus another tensor.
  void CheckNumbers(const Activation& activation, const std::string& steps, bool has_bias,
                    bool has_residual) const {
    Built built = Build(activation, steps, has_bias);
    std::vector<TensorValue> inputs = {built.input};
    const Shape result = {rows_, outputs_};
    if (has_residual) {
      inputs.push_back(RandomTensor(result, 6, -4, 4));
      built.y = built.g.Op("Add", {built.y, built.g.Parameter("r", result)});
      for (size_t i = 0; i < built.numbers.size(); ++i)
        built.numbers[i] += inputs[1].ElementAsDouble(static_cast<int64_t>(i));
    }
    built.g.Result(built.y);
    for (const int threads : {1, 2}) {
      const auto made = RunGraph(built.g.graph, {.threads = threads}, inputs);
      for (size_t i = 0; i < built.numbers.size(); ++i)
        ASSERT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), built.numbers[i],
                    2e-6 * (8 + std::abs(built.numbers[i])))
            << i;
    }
  }

 private:
  struct Built {
    TestGraph g;
    TensorValue input;
    ir::OutputPort y;
    std::vector<double> numbers;  // expected
  };
  Built Build(const Activation& activation, const std::string& steps, bool has_bias) const {
    const Quantization from{.zero = 117};
    const std::vector<int64_t> codes = DrawValues({rows_, inputs_}, from.zero, Spread::kAnywhere, 4);
    const std::vector<int64_t> weights = DrawWeights(outputs_, inputs_, 3);
    std::vector<double> numbers = Product(Less(codes, from.zero), weights, from.scale);
    TestGraph g;
    ir::OutputPort y = g.Op(
        "MatMul", {FakeQuantized(g, g.Parameter("x", {rows_, inputs_}), from), g.Const(Matrix(weights))});
    if (has_bias) y = Add(g, y, 'A', numbers);
    if (*activation.name != 0) {
      const std::string name = activation.name;
      y = g.Op(name == "HSwish" || name == "Mish" ? "opset4" : "opset1", name, {y});
      for (double& number : numbers) number = activation.of(number);
    }
    for (const char step : steps) y = Add(g, y, step, numbers);
    return {std::move(g), NumbersOf({rows_, inputs_}, codes, from), y, std::move(numbers)};
  }
  TensorValue Matrix(const std::vector<int64_t>& weights) const {
    std::vector<float> numbers(weights.size());
    for (int64_t o = 0; o < outputs_; ++o) {
      for (int64_t i = 0; i < inputs_; ++i)
        numbers[static_cast<size_t>(i * outputs_ + o)] =
            static_cast<float>(weights[static_cast<size_t>(o * inputs_ + i)]) * FilterScale(o);
    }
    return TensorValue::FromFloats({inputs_, outputs_}, numbers);
  }
  std::vector<double> Product(const std::vector<int64_t>& numbers, const std::vector<int64_t>& weights,
                              float scale) const {
    std::vector<double> results;
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t o = 0; o < outputs_; ++o) {
        int64_t sum = 0;
        for (int64_t i = 0; i < inputs_; ++i)
          sum +=
              numbers[static_cast<size_t>(row * inputs_ + i)] * weights[static_cast<size_t>(o * inputs_ + i)];
        results.push_back(static_cast<double>(sum) * scale * FilterScale(o));
      }
    }
    return results;
  }
  // Adds a step to the graph, and applies it to the numbers.
  ir::OutputPort Add(TestGraph& g, ir::OutputPort y, char step, std::vector<double>& numbers) const {
    const bool is_product = step == 'm' || step == 'M', is_column = step == 'M' || step == 'A';
    const int64_t count = is_column ? outputs_ : 1;
    std::vector<float> operand;
    for (int64_t i = 0; i < count; ++i)
      operand.push_back(is_product ? 0.75F + 0.125F * static_cast<float>(i % 5) * (i % 2 == 0 ? 1 : -1)
                                   : static_cast<float>(i % 7) / 4 - 0.625F);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const double other = double{operand[i % operand.size()]};
      numbers[i] = is_product ? numbers[i] * other : numbers[i] + other;
    }
    const Shape shape = is_column ? Shape{count} : Shape{};
    return g.Op(is_product ? "Multiply" : "Add", {y, g.Const(TensorValue::FromFloats(shape, operand))});
  }

  int64_t rows_, outputs_, inputs_;
};

TEST(QuantizedEpiloguesTest, StepsAfterFunctions) {
  for (const Activation& activation : kActivations) {
    for (const char* steps : kAffineSteps) {
      for (const bool has_bias : {false, true}) {
        SCOPED_TRACE(activation.name + std::string(has_bias ? " of bias, " : ", ") + steps);
        ProductWithEpilogue(29, 33).Check(activation, steps, has_bias);
      }
    }
  }
}

// Rows and columns around those of tiles.
TEST(QuantizedEpiloguesTest, RowsAndColumns) {
  for (const int64_t rows : {1, 6, 13, 14, 15, 57}) {
    for (const int64_t outputs : {1, 15, 16, 17, 31, 32, 48, 80}) {
      for (const char* steps : {"", "maM"}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(outputs) + " columns, " + steps);
        ProductWithEpilogue(rows, outputs).Check(kActivations[2], steps, true);
      }
    }
  }
}

// An infinite factor after a function makes the limits of the quantization.
TEST(QuantizedEpiloguesTest, InfiniteFactors) {
  for (const bool has_bias : {false, true}) {
    for (const int64_t outputs : {5, 16, 32}) {
      TestGraph g;
      const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", {3, 8}), {.zero = 117});
      std::vector<float> weights(static_cast<size_t>(8 * outputs));
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7 + 1);
      ir::OutputPort y = g.Op("MatMul", {x, g.Const(TensorValue::FromFloats({8, outputs}, weights))});
      if (has_bias) {
        const std::vector<float> bias(static_cast<size_t>(outputs), 0.25F);
        y = g.Op("Add", {y, g.Const(TensorValue::FromFloats({outputs}, bias))});
      }
      y = g.Op("opset4", "HSwish", {y}, {});
      std::vector<float> factors(static_cast<size_t>(outputs), 2);
      factors[1] = std::numeric_limits<float>::infinity();
      y = g.Op("Multiply", {y, g.Const(TensorValue::FromFloats({outputs}, factors))});
      g.Result(FakeQuantized(g, y, {.scale = 0.25F, .zero = 90}));
      const std::vector<TensorValue> inputs = {RandomTensor({3, 8}, 3, 0.5F, 2)};
      const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
      ExpectNear(RunGraph(g.graph, {.threads = 1}, inputs)[0], expected[0], 0.26);
      EXPECT_EQ(expected[0].ElementAsDouble(1), 0.25 * (255 - 90));
    }
  }
}

// Inputs around groups of four, which are not padded.
TEST(QuantizedEpiloguesTest, Inputs) {
  for (int64_t inputs = 1; inputs <= 18; ++inputs) {
    for (const int64_t rows : {1, 13, 71}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(inputs));
      const ProductWithEpilogue product(rows, 33, inputs);
      for (const Activation& activation : kActivations) product.Check(activation, "", true);
      product.CheckNumbers(kActivations[0], "", true, false);
    }
  }
}

TEST(QuantizedEpiloguesTest, Numbers) {
  for (const int64_t rows : {1, 15, 56, 57, 71}) {
    for (const int64_t outputs : {16, 17, 48}) {
      for (const Activation& activation : kActivations) {
        for (const char* steps : {"", "A", "Ma"}) {
          for (const bool has_residual : {false, true}) {
            SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(outputs) + " columns, " +
                         activation.name + steps + (has_residual ? ", residual" : ""));
            ProductWithEpilogue(rows, outputs).CheckNumbers(activation, steps, true, has_residual);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
