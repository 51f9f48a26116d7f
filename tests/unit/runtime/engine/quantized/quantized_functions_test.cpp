// Quantizations alone, by each of their formulas, and what joins, adds or looks up codes
// between two.

#include "fmt/core.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

enum class Formula : uint8_t { kFakeQuantize, kMinMax, kZeroPoint };

ir::OutputPort QuantizeBy(TestGraph& g, Formula formula, ir::OutputPort x, const Quantization& by) {
  if (formula == Formula::kFakeQuantize) return FakeQuantized(g, x, by);
  ir::AttributeMap attributes;
  attributes.Set("bits", int64_t{8});
  attributes.Set("signed", false);
  attributes.Set("symmetric", false);
  const auto low = static_cast<float>(by.Number(0)), high = static_cast<float>(by.Number(255));
  if (formula == Formula::kMinMax)
    return g.Op("nnef", "min_max_linear_quantize", {x, Scalar(g, low), Scalar(g, high)}, attributes);
  const ir::OutputPort zero = g.Const(TensorValue::FromInts({}, {by.zero}));
  return g.Op("nnef", "zero_point_linear_quantize", {x, zero, Scalar(g, by.scale)}, attributes);
}

// Halves are rounded to even by FakeQuantize, up by the others.
double Rounded(Formula formula, double x) {
  return formula == Formula::kFakeQuantize ? std::nearbyint(x) : std::floor(x + 0.5);
}

// The identity, by which codes are multiplied so that they stay codes.
ir::OutputPort TakeCodes(TestGraph& g, ir::OutputPort x, int64_t channels) {
  std::vector<float> identity(static_cast<size_t>(channels * channels), 0.0F);
  for (int64_t i = 0; i < channels; ++i) identity[static_cast<size_t>(i * (channels + 1))] = 1;
  return g.Op("MatMul", {x, g.Const(TensorValue::FromFloats({channels, channels}, identity))});
}

// As many rows as make counts of elements around those that kernels handle at a time.
TEST(QuantizeTest, RowsOfAllLengths) {
  for (const Formula formula : {Formula::kFakeQuantize, Formula::kMinMax, Formula::kZeroPoint}) {
    for (const int64_t rows : {1, 15, 16, 17, 63, 64, 65, 129}) {
      for (const int zero : {0, 1, 128, 255}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, zero " + std::to_string(zero) + ", formula " +
                     std::to_string(static_cast<int>(formula)));
        const Quantization by{.zero = zero};
        const Shape shape = {rows, 8};
        TestGraph g;
        g.Result(TakeCodes(g, QuantizeBy(g, formula, g.Parameter("x", shape), by), 8));
        // Three numbers for each code, the first a third below it.
        std::vector<float> numbers;
        std::vector<double> expected;
        for (int64_t i = 0; i < rows * 8; ++i) {
          const double code = static_cast<double>(i * 7 % 900) / 3 - 20;
          numbers.push_back(static_cast<float>((code - zero) * by.scale));
          expected.push_back(by.Number(static_cast<int64_t>(
              std::clamp(Rounded(formula, numbers.back() / by.scale + zero), 0.0, 255.0))));
        }
        ExpectNumbers(g, {TensorValue::FromFloats(shape, numbers)}, expected);
      }
    }
  }
}

// Numbers beyond both ends and of all magnitudes.
TEST(QuantizeTest, SpecialNumbers) {
  const float largest = std::numeric_limits<float>::max(), denormal = 1e-40F;
  for (const Formula formula : {Formula::kFakeQuantize, Formula::kMinMax, Formula::kZeroPoint}) {
    for (const int zero : {0, 100, 255}) {
      SCOPED_TRACE("zero " + std::to_string(zero) + ", formula " + std::to_string(static_cast<int>(formula)));
      const Quantization by{.scale = 0.25F, .zero = zero};
      TestGraph g;
      g.Result(TakeCodes(g, QuantizeBy(g, formula, g.Parameter("x", {2, 8}), by), 8));
      const auto low = static_cast<float>(by.Number(0)), high = static_cast<float>(by.Number(255));
      const std::vector<float> numbers = {kInfinity, -kInfinity, largest, -largest, denormal, -denormal,
                                          0.0F,      -0.0F,      low,     high,     low - 1,  high + 1,
                                          0.3F,      -0.3F,      1e10F,   -1e10F};
      std::vector<double> expected;
      for (const float number : numbers) {
        const double code = std::clamp(double{number} / by.scale + zero, 0.0, 255.0);
        expected.push_back(by.Number(static_cast<int64_t>(Rounded(formula, code))));
      }
      ExpectNumbers(g, {TensorValue::FromFloats({2, 8}, numbers)}, expected);
    }
  }
}

// Halves between two codes, by each formula as it is computed in f32.
TEST(QuantizeTest, Halves) {
  for (const Formula formula : {Formula::kFakeQuantize, Formula::kMinMax, Formula::kZeroPoint}) {
    for (const int zero : {0, 127, 255}) {
      SCOPED_TRACE("zero " + std::to_string(zero) + ", formula " + std::to_string(static_cast<int>(formula)));
      const Quantization by{.scale = 0.25F, .zero = zero};
      const auto low = static_cast<float>(by.Number(0)), high = static_cast<float>(by.Number(255));
      std::vector<float> numbers;
      std::vector<double> expected;
      for (int code = -2; code < 262; ++code) {
        numbers.push_back((static_cast<float>(code - zero) + 0.5F) * by.scale);
        const float x = std::clamp(numbers.back(), low, high);
        const float share =
            formula == Formula::kZeroPoint ? numbers.back() / by.scale : (x - low) / (high - low) * 255;
        const double rounded = Rounded(formula, share) + (formula == Formula::kZeroPoint ? zero : 0);
        expected.push_back(by.Number(static_cast<int64_t>(std::clamp(rounded, 0.0, 255.0))));
      }
      const auto rows = static_cast<int64_t>(numbers.size()) / 8;
      TestGraph g;
      g.Result(TakeCodes(g, QuantizeBy(g, formula, g.Parameter("x", {rows, 8}), by), 8));
      ExpectNumbers(g, {TensorValue::FromFloats({rows, 8}, numbers)}, expected);
    }
  }
}

// A quantization that repeats another one but for one of its limits changes what it reads.
TEST(QuantizeTest, AlmostRepeated) {
  const Shape shape = {64, 16};
  const std::vector<float> limits = {-4, 3.96875F, -4, 3.96875F};
  for (int changed = -1; changed < 8; ++changed) {
    SCOPED_TRACE(changed);
    std::vector<std::vector<float>> of = {limits, limits};
    if (changed >= 0) of[static_cast<size_t>(changed / 4)][static_cast<size_t>(changed % 4)] *= 0.5F;
    TestGraph g;
    ir::OutputPort y = g.Parameter("x", shape);
    for (const std::vector<float>& each : of)
      y = g.Op("FakeQuantize",
               {y, Scalar(g, each[0]), Scalar(g, each[1]), Scalar(g, each[2]), Scalar(g, each[3])},
               With("levels", int64_t{256}));
    g.Result(TakeCodes(g, y, 16));
    const TensorValue x = RandomTensor(shape, 10, -5, 5);
    for (const kernels::Backend backend : kBackends) {
      const auto made = RunGraph(g.graph, {.backend = backend, .threads = 1}, {x});
      for (int64_t i = 0; i < x.volume(); ++i) {
        double number = x.ElementAsDouble(i);
        for (const std::vector<float>& each : of) {
          const double share = (std::clamp<double>(number, each[0], each[1]) - each[0]) / (each[1] - each[0]);
          number = each[2] + std::nearbyint(share * 255) / 255 * (each[3] - each[2]);
        }
        // Halves of a code of the second one may go either way.
        ASSERT_NEAR(made[0].ElementAsDouble(i), number, changed < 0 ? 1e-5 : 1.0 / 31) << i;
      }
    }
  }
}

// NaN has no code: FakeQuantize makes it code 0, NNEF's formulas clamp it to 255.
TEST(QuantizeTest, NanInCodes) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "numbers are not quantized to codes";
  for (const Formula formula : {Formula::kFakeQuantize, Formula::kMinMax, Formula::kZeroPoint}) {
    const Quantization by{.scale = 0.25F, .zero = 100};
    TestGraph g;
    g.Result(TakeCodes(g, QuantizeBy(g, formula, g.Parameter("x", {1, 4}), by), 4));
    const auto made =
        RunGraph(g.graph, {.threads = 1}, {TensorValue::FromFloats({1, 4}, {1, kNan, kNan, 2})});
    EXPECT_EQ(made[0].ElementAsDouble(0), 1);
    for (const int64_t at : {1, 2})
      EXPECT_EQ(made[0].ElementAsDouble(at), by.Number(formula == Formula::kFakeQuantize ? 0 : 255));
    EXPECT_EQ(made[0].ElementAsDouble(3), 2);
  }
}

// From the codes of one range to those of another: all 256 of them, and repeated ones.
TEST(QuantizeTest, CodesOfCodes) {
  const Quantization first{.zero = 100};
  const Quantization seconds[] = {
      {.scale = 0x1p-4F, .zero = 90}, {.scale = 0x1p-6F, .zero = 3}, {.scale = 0x1p-5F, .zero = 255}, first};
  for (const Quantization& second : seconds) {
    for (const int64_t rows : {1, 31, 32, 33, 130}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, zero " + std::to_string(second.zero));
      const Shape shape = {rows, 16};
      std::vector<int64_t> codes(SizeOf(shape));
      for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int64_t>(i * 37 % 256);
      TestGraph g;
      g.Result(TakeCodes(g, FakeQuantized(g, FakeQuantized(g, g.Parameter("x", shape), first), second), 16));
      std::vector<double> expected;
      expected.reserve(codes.size());
      for (const int64_t code : codes)
        expected.push_back(
            second.Number(static_cast<int64_t>(std::nearbyint(second.Code(first.Number(code))))));
      // Halves of codes of the second range lie between two numbers of f32.
      if (second.scale == 0x1p-4F) {
        ExpectCodes(g, {NumbersOf(shape, codes, first)}, second, expected);
      } else {
        ExpectNumbers(g, {NumbersOf(shape, codes, first)}, expected);
      }
    }
  }
}

// Channels of two images one after the other, quantized by the same or by other limits, read by one node or
// two.
TEST(CodesOfImagesTest, JoinedChannels) {
  for (const int64_t left : {1, 16, 17}) {
    for (const int64_t right : {3, 16, 32}) {
      for (const bool are_same : {true, false}) {
        for (const bool is_quantized_again : {true, false}) {
          for (const int64_t images : {1, 2}) {
            SCOPED_TRACE(std::to_string(left) + " and " + std::to_string(right) + " channels, same " +
                         std::to_string(are_same) + ", again " + std::to_string(is_quantized_again));
            const Quantization first{.zero = 100};
            const Quantization second{.scale = are_same ? first.scale : 0x1p-6F, .zero = 100};
            const Shape shapes[] = {{images, left, 4, 5}, {images, right, 4, 5}};
            const std::vector<int64_t> codes[] = {DrawValues(shapes[0], 100, Spread::kAnywhere, 3),
                                                  DrawValues(shapes[1], 100, Spread::kAnywhere, 4)};
            TestGraph g;
            const ir::OutputPort a = FakeQuantized(
                g, TakeImage(g, FakeQuantized(g, g.Parameter("a", shapes[0]), first), left), first);
            const ir::OutputPort b = FakeQuantized(
                g, TakeImage(g, FakeQuantized(g, g.Parameter("b", shapes[1]), second), right), second);
            ir::OutputPort joined = g.Op("Concat", {a, b}, With("axis", int64_t{1}));
            if (is_quantized_again) joined = FakeQuantized(g, joined, {.scale = 0x1p-6F, .zero = 90});
            g.Result(TakeImage(g, joined, left + right));
            std::vector<double> expected;
            for (int64_t image = 0; image < images; ++image) {
              for (int64_t i = 0; i < (left + right) * 20; ++i) {
                const bool is_left = i < left * 20;
                const int64_t at = is_left ? image * left * 20 + i : image * right * 20 + i - left * 20;
                const int64_t code = codes[is_left ? 0 : 1][static_cast<size_t>(at)];
                double number = (is_left ? first : second).Number(code);
                // From -90 to 165 steps of 1/64.
                if (is_quantized_again) number = std::clamp(number, -90.0 / 64, 165.0 / 64);
                expected.push_back(number);
              }
            }
            // Values of equal quantization are joined as they are.
            const bool joins_codes = are_same && fast::simd::HasSimd();
            ExpectNumbers(g, {NumbersOf(shapes[0], codes[0], first), NumbersOf(shapes[1], codes[1], second)},
                          expected, joins_codes ? "nnefc:int8_concat" : "");
          }
        }
      }
    }
  }
}

// Sums of two tensors in codes, with and without a ReLU, on the way to codes again.
TEST(CodesOfImagesTest, Sums) {
  for (const int64_t columns : {1, 2, 16, 63, 64, 65, 130}) {
    for (const bool has_relu : {false, true}) {
      for (const int zero : {0, 80}) {
        SCOPED_TRACE(std::to_string(columns) + " columns, relu " + std::to_string(has_relu) + ", zero " +
                     std::to_string(zero));
        const Shape shape = {8, columns};
        const Quantization a{.zero = 100}, b{.scale = 0x1p-4F, .zero = 140},
            to{.scale = 0x1p-5F, .zero = zero};
        const std::vector<int64_t> left = DrawValues(shape, 100, Spread::kAnywhere, 5);
        const std::vector<int64_t> right = DrawValues(shape, 140, Spread::kAnywhere, 6);
        TestGraph g;
        ir::OutputPort y = g.Op("Add", {FakeQuantized(g, g.Parameter("a", shape), a),
                                        FakeQuantized(g, g.Parameter("b", shape), b)});
        if (has_relu) y = g.Op("ReLU", {y});
        g.Result(TakeCodes(g, FakeQuantized(g, y, to), columns));
        std::vector<double> expected;
        for (size_t i = 0; i < left.size(); ++i) {
          double sum = a.Number(left[i]) + b.Number(right[i]);
          if (has_relu) sum = std::max(sum, 0.0);
          expected.push_back(to.Number(static_cast<int64_t>(std::nearbyint(to.Code(sum)))));
        }
        ExpectNumbers(g, {NumbersOf(shape, left, a), NumbersOf(shape, right, b)}, expected);
      }
    }
  }
}

// A sum that another function than a ReLU follows, which is computed between both quantizations: of a
// convolution and another tensor, which could be accumulated onto each other otherwise.
TEST(CodesOfImagesTest, FunctionsOfSums) {
  const Shape shape = {1, 16, 6, 6};
  const Quantization a{.zero = 100}, b{.scale = 0x1p-4F, .zero = 140}, to{.scale = 0x1p-4F, .zero = 128};
  const std::vector<int64_t> left = DrawValues(shape, 100, Spread::kAnywhere, 5);
  const std::vector<int64_t> right = DrawValues(shape, 140, Spread::kAnywhere, 6);
  for (const std::string function : {"", "ReLU", "Abs", "Negative", "Sign"}) {
    SCOPED_TRACE(function);
    TestGraph g;
    const ir::OutputPort image =
        FakeQuantized(g, TakeImage(g, FakeQuantized(g, g.Parameter("a", shape), a), 16), a);
    ir::OutputPort y = g.Op("Add", {image, FakeQuantized(g, g.Parameter("b", shape), b)});
    if (!function.empty()) y = g.Op(function, {y});
    g.Result(TakeImage(g, FakeQuantized(g, y, to), 16));
    std::vector<double> expected;
    for (size_t i = 0; i < left.size(); ++i) {
      double x = a.Number(left[i]) + b.Number(right[i]);
      if (function == "ReLU") x = std::max(x, 0.0);
      if (function == "Abs") x = std::abs(x);
      if (function == "Negative") x = -x;
      if (function == "Sign") x = x > 0 ? 1 : x < 0 ? -1 : 0;
      expected.push_back(to.Number(static_cast<int64_t>(std::nearbyint(to.Code(x)))));
    }
    ExpectNumbers(g, {NumbersOf(shape, left, a), NumbersOf(shape, right, b)}, expected);
  }
}

// A function of quantized numbers, and its limits of error.
struct Function {
  const char* name;
  ir::OutputPort (*add)(TestGraph& g, ir::OutputPort x);
  double (*of)(double);
};

const Function kFunctions[] = {
    {"tanh", [](TestGraph& g, ir::OutputPort x) { return g.Op("Tanh", {g.Op("ReLU", {x})}); },
     [](double x) { return std::tanh(std::max(x, 0.0)); }},
    {"gelu by erf",
     [](TestGraph& g, ir::OutputPort x) {
       const ir::OutputPort erf = g.Op("Erf", {g.Op("Multiply", {x, Scalar(g, 0.70710677F)})});
       return g.Op("Multiply", {g.Op("Multiply", {x, g.Op("Add", {erf, Scalar(g, 1.0F)})}), Scalar(g, 0.5F)});
     },
     [](double x) { return x * (1 + std::erf(x * std::sqrt(0.5))) / 2; }},
    {"1 less exp",
     [](TestGraph& g, ir::OutputPort x) {
       return g.Op("Subtract", {Scalar(g, 1.0F), g.Op("Exp", {x})});
     },
     [](double x) { return 1 - std::exp(x); }},
    {"swish",
     [](TestGraph& g, ir::OutputPort x) {
       return g.Op("Multiply", {x, g.Op("Sigmoid", {x})});
     },
     [](double x) { return x / (1 + std::exp(-x)); }},
    {"abs, sqrt", [](TestGraph& g, ir::OutputPort x) { return g.Op("Sqrt", {g.Op("Abs", {x})}); },
     [](double x) { return std::sqrt(std::abs(x)); }},
    {"log of negative numbers",
     [](TestGraph& g, ir::OutputPort x) { return g.Op("Log", {g.Op("Negative", {x})}); },
     [](double x) { return std::log(-x); }},
};

// As numbers: 256 results that are looked up where elements are 1,024 or more.
TEST(TablesOfCodesTest, FunctionsAsNumbers) {
  for (const Function& function : kFunctions) {
    for (const int64_t rows : {63, 64, 65}) {
      SCOPED_TRACE(function.name + (" of " + std::to_string(rows)) + " rows");
      const Shape shape = {rows, 16};
      const Quantization by{.zero = 128};
      const std::vector<int64_t> codes = DrawValues(shape, 128, Spread::kAnywhere, 7);
      TestGraph g;
      g.Result(function.add(g, FakeQuantized(g, g.Parameter("x", shape), by)));
      if (fast::simd::HasSimd()) {
        const std::string plan = Compile(g.graph, {.threads = 1})->DescribePlan();
        EXPECT_EQ(plan.find("nnefc:int8_table") != std::string::npos, rows >= 64) << plan;
      }
      for (const kernels::Backend backend : kBackends) {
        for (const int threads : {1, 2}) {
          const auto made =
              RunGraph(g.graph, {.backend = backend, .threads = threads}, {NumbersOf(shape, codes, by)});
          for (size_t i = 0; i < codes.size(); ++i) {
            const double expected = function.of(by.Number(codes[i]));
            const double found = made[0].ElementAsDouble(static_cast<int64_t>(i));
            if (std::isfinite(expected)) {
              ASSERT_NEAR(found, expected, 2e-6 * (1 + std::abs(expected))) << i;
            } else {
              ASSERT_EQ(std::isnan(found), std::isnan(expected)) << i;
            }
          }
        }
      }
    }
  }
}

// As codes, which a product takes; quantized once or twice, with moves of elements between.
TEST(TablesOfCodesTest, FunctionsAsCodes) {
  for (const Function& function : kFunctions) {
    if (!std::isfinite(function.of(4))) continue;
    for (const bool is_repeated : {false, true}) {
      for (const bool has_second_reader : {false, true}) {
        SCOPED_TRACE(function.name + std::string(is_repeated ? ", repeated" : ""));
        const Shape shape = {4, 16, 32};
        const Quantization by{.zero = 128}, to{.scale = 0x1p-5F, .zero = 60};
        const std::vector<int64_t> codes = DrawValues(shape, 128, Spread::kAnywhere, 8);
        TestGraph g;
        ir::OutputPort x = FakeQuantized(g, g.Parameter("x", shape), by);
        const ir::OutputPort first = x;
        if (is_repeated) {
          x = g.Op("Reshape", {x, g.Ints({64, 32})}, With("special_zero", false));
          x = g.Op("Reshape", {FakeQuantized(g, x, by), g.Ints({4, 16, 32})}, With("special_zero", false));
          x = FakeQuantized(g, x, by);
        }
        ir::OutputPort y = FakeQuantized(g, function.add(g, x), to);
        if (is_repeated) {
          y = g.Op("Transpose", {y, g.Ints({1, 0, 2})});
          y = g.Op("Transpose", {FakeQuantized(g, y, to), g.Ints({1, 0, 2})});
          y = FakeQuantized(g, y, to);
        }
        g.Result(TakeCodes(g, y, 32));
        if (has_second_reader) g.Result(first, "first");
        std::vector<double> expected;
        expected.reserve(codes.size());
        for (const int64_t code : codes) expected.push_back(function.of(by.Number(code)));
        ExpectCodes(g, {NumbersOf(shape, codes, by)}, to, expected, "", 2e-3);
      }
    }
  }
}

// A Gather by quantized numbers that the graph has: indices of i8 count from the end where they are negative.
TEST(TablesOfCodesTest, GatherOfTheGraph) {
  for (const ElementType type : {ElementType::kI8, ElementType::kU8, ElementType::kI32, ElementType::kI64}) {
    for (const int64_t rows : {1, 15, 16, 17, 64}) {
      SCOPED_TRACE(std::string(Name(type)) + ", rows " + std::to_string(rows));
      const Shape shape = {rows, 32};
      const Quantization by{.scale = 1};
      const std::vector<int64_t> codes = DrawValues(shape, 128, Spread::kAnywhere, 9);
      std::vector<float> table;
      table.reserve(256);
      for (int i = 0; i < 256; ++i) table.push_back(static_cast<float>(i * i) / 8 - 100);
      TestGraph g;
      const ir::OutputPort indices =
          g.Op("Convert", {FakeQuantized(g, g.Parameter("x", shape), by)}, With("destination_type", type));
      const ir::OutputPort axis = g.Const(TensorValue::FromInts({}, {0}));
      g.Result(g.Op("opset8", "Gather", {g.Const(TensorValue::FromFloats({256}, table)), indices, axis}));
      if (type == ElementType::kI8) {
        const auto expected =
            RunGraph(g.graph, {.backend = kernels::Backend::kReference}, {NumbersOf(shape, codes, by)});
        ExpectNear(RunGraph(g.graph, {.threads = 2}, {NumbersOf(shape, codes, by)})[0], expected[0], 0);
        continue;
      }
      std::vector<double> expected;
      expected.reserve(codes.size());
      for (const int64_t code : codes) expected.push_back(table[static_cast<size_t>(code)]);
      ExpectNumbers(g, {NumbersOf(shape, codes, by)}, expected);
    }
  }
}

// The indices of a Gather are the numbers of the quantized values, rounded towards zero, whether these are in
// memory or the numbers are.
TEST(TablesOfCodesTest, GatherByOtherQuantizations) {
  constexpr int64_t kEntries = 256;
  const Shape shape = {64, 32};
  std::vector<float> table;
  for (int64_t i = 0; i < kEntries; ++i) table.push_back(static_cast<float>(i * i) / 8 - 100);
  for (const Quantization& by :
       std::vector<Quantization>{{.scale = 1}, {.scale = 0.5F}, {.scale = 1, .zero = 100}, {0.25F, 40}}) {
    const std::vector<int64_t> codes = DrawValues(shape, 128, Spread::kAnywhere, 10);
    const TensorValue numbers = NumbersOf(shape, codes, by);
    for (const char* way : {"", "round"}) {
      SCOPED_TRACE(fmt::format("scale {}, zero {}, {}", by.scale, by.zero, way));
      TestGraph g;
      const ir::OutputPort indices = g.Op("Convert", {FakeQuantized(g, g.Parameter("x", shape), by)},
                                          With("destination_type", ElementType::kI32));
      const ir::OutputPort axis = g.Const(TensorValue::FromInts({}, {0}));
      g.Result(
          g.Op("opset8", "Gather", {g.Const(TensorValue::FromFloats({kEntries}, table)), indices, axis}));
      const TensorValue made = RunGraph(g.graph, {.threads = 2, .way = way}, {numbers})[0];
      for (size_t i = 0; i < codes.size(); ++i) {
        const auto index = static_cast<int64_t>(by.Number(codes[i]));
        ASSERT_EQ(made.ElementAsDouble(static_cast<int64_t>(i)),
                  table[static_cast<size_t>(index < 0 ? index + kEntries : index)])
            << codes[i];
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
