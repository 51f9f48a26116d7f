// Convolutions and matrix products of i32 against sums of integers that wrap around: numbers that are codes
// less a zero, that fit 16 bits, and that fit neither.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

enum class Range : uint8_t { kCodes, kHalves, kWideData, kWideWeights };
constexpr Range kRanges[] = {Range::kCodes, Range::kHalves, Range::kWideData, Range::kWideWeights};

// Evenly from -largest - 1 to largest, both of which are among them.
std::vector<int64_t> DrawIntegers(size_t count, int64_t largest, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = static_cast<int64_t>(random() % static_cast<uint64_t>(2 * largest + 2)) - largest - 1;
    if (i % 19 == 3) numbers[i] = -largest - 1;
    if (i % 23 == 5) numbers[i] = largest;
  }
  return numbers;
}

int64_t LargestNumber(Range range, bool of_weights) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  switch (range) {
    case Range::kCodes:
      return of_weights ? 127 : 255;
    case Range::kHalves:
      return 32767;
    case Range::kWideData:
      return of_weights ? 100 : kLargest;
    case Range::kWideWeights:
      return of_weights ? kLargest : 100;
  }
  return 0;
}

TensorValue Integers(const Shape& shape, const std::vector<int64_t>& numbers) {
  return TensorValue::FromInts(shape, numbers).ConvertedTo(ElementType::kI32);
}

int32_t Wrapped(int64_t sum) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum)));
}

void ExpectIntegers(const TestGraph& g, const TensorValue& input, const std::vector<int64_t>& sums,
                    bool is_own_kernel) {
  for (const kernels::Backend backend : kBackends) {
    for (const int threads : {1, 2}) {
      const auto executable = Compile(g.graph, {.backend = backend, .threads = threads});
      ASSERT_NE(executable, nullptr);
      const bool is_own = executable->DescribePlan().find("nnefc:integers") != std::string::npos;
      EXPECT_EQ(is_own, is_own_kernel && backend != kernels::Backend::kReference && fast::simd::HasSimd())
          << executable->DescribePlan();
      const kernels::FaultOr<std::vector<TensorValue>> outputs = Session::Create(executable)->Run({input});
      ASSERT_TRUE(outputs.ok());
      for (size_t i = 0; i < sums.size(); ++i)
        ASSERT_EQ(outputs->front().ElementAsInt(static_cast<int64_t>(i)), Wrapped(sums[i])) << i;
    }
  }
}

struct IntegerProduct {
  Shape left;
  int64_t outputs;
  bool transposed = false;
};

void CheckProduct(const IntegerProduct& product, const std::vector<int64_t>& numbers,
                  const std::vector<int64_t>& weights, bool is_own_kernel = true) {
  const int64_t inputs = product.left.back(), rows = *Volume(product.left) / inputs;
  // Weights are by input, then output.
  std::vector<int64_t> matrix = weights;
  for (int64_t i = 0; product.transposed && i < inputs; ++i) {
    for (int64_t o = 0; o < product.outputs; ++o)
      matrix[static_cast<size_t>(o * inputs + i)] = weights[static_cast<size_t>(i * product.outputs + o)];
  }
  const Shape shape = product.transposed ? Shape{product.outputs, inputs} : Shape{inputs, product.outputs};
  TestGraph g;
  g.Result(g.Op("MatMul",
                {g.Parameter("x", product.left, ElementType::kI32), g.Const(Integers(shape, matrix))},
                With("transpose_b", product.transposed)));
  std::vector<int64_t> sums;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t o = 0; o < product.outputs; ++o) {
      uint64_t sum = 0;
      for (int64_t i = 0; i < inputs; ++i)
        sum += static_cast<uint64_t>(numbers[static_cast<size_t>(row * inputs + i)]) *
               static_cast<uint64_t>(weights[static_cast<size_t>(i * product.outputs + o)]);
      sums.push_back(static_cast<int64_t>(sum));
    }
  }
  ExpectIntegers(g, Integers(product.left, numbers), sums, is_own_kernel);
}

TEST(IntegerProductsTest, Matrices) {
  const IntegerProduct products[] = {
      {{1, 5}, 3}, {{7, 33}, 16, true}, {{2, 50, 24}, 40}, {{3, 1, 70}, 17, true}, {{130, 72}, 70},
      {{1, 1}, 1}, {{15, 2}, 15, true}, {{14, 64}, 31},    {{29, 16}, 33, true}};
  for (const IntegerProduct& product : products) {
    for (const Range range : kRanges) {
      SCOPED_TRACE(ToString(product.left) + " by " + std::to_string(product.outputs) + ", range " +
                   std::to_string(static_cast<int>(range)));
      const auto weights = static_cast<size_t>(product.left.back() * product.outputs);
      CheckProduct(product, DrawIntegers(SizeOf(product.left), LargestNumber(range, false), 1),
                   DrawIntegers(weights, LargestNumber(range, true), 2), range != Range::kWideWeights);
    }
  }
}

// Codes less a zero, of which a part is anywhere, and pairs of the largest weights of both signs.
TEST(IntegerProductsTest, MatricesOfCodes) {
  const IntegerProduct products[] = {{{12, 64}, 5}, {{2, 33, 132}, 48}, {{40, 260}, 33, true}};
  for (const IntegerProduct& product : products) {
    for (const int zero : {0, 14, 128, 255}) {
      for (const Spread spread : kSpreads) {
        SCOPED_TRACE(ToString(product.left) + ", zero " + std::to_string(zero));
        std::vector<int64_t> weights =
            DrawIntegers(static_cast<size_t>(product.left.back() * product.outputs), 127, 3);
        for (size_t i = 1; i < weights.size(); i += 3) weights[i] = i % 2 == 0 ? 127 : -128;
        CheckProduct(product, Less(DrawValues(product.left, zero, spread, 4), zero), weights);
      }
    }
  }
}

// Weights with a zero point of their own, which fit bytes after its subtraction, and weights of one more
// value.
TEST(IntegerProductsTest, WeightsWithZeroPoint) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  const IntegerProduct products[] = {{{12, 64}, 5}, {{2, 33, 132}, 48}, {{20, 260}, 33, true}, {{3, 7}, 20}};
  for (const IntegerProduct& product : products) {
    for (const auto& [least, most] : {std::pair{-128, 127},
                                      {-129, 126},
                                      {-127, 128},
                                      {-255, 0},
                                      {0, 255},
                                      {-1, 254},
                                      {-129, 127},
                                      {-128, 128},
                                      {0, 256},
                                      {1, 255},
                                      {-300, -50}}) {
      SCOPED_TRACE(ToString(product.left) + ", weights from " + std::to_string(least) + " to " +
                   std::to_string(most));
      std::mt19937 random(7);
      std::vector<int64_t> weights(static_cast<size_t>(product.left.back() * product.outputs));
      for (size_t i = 0; i < weights.size(); ++i) {
        weights[i] = least + static_cast<int64_t>(random() % static_cast<unsigned>(most - least + 1));
        if (i % 5 < 2) weights[i] = i % 5 == 0 ? least : most;
      }
      CheckProduct(product, Less(DrawValues(product.left, 100, Spread::kAnywhere, 4), 100), weights);
      CheckProduct(product, DrawIntegers(SizeOf(product.left), 32767, 1), weights);
      CheckProduct(product, DrawIntegers(SizeOf(product.left), kLargest, 1), weights);
    }
  }
}

// The limits of a row that is codes: numbers that differ by 255 and by 256, at either end of 16 and 32 bits.
TEST(IntegerProductsTest, RowsBeyondCodes) {
  const IntegerProduct product{{24, 64}, 32};
  const std::vector<int64_t> weights = DrawIntegers(64 * 32, 127, 5);
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  const int64_t least_numbers[] = {-128, 0, -255, 32767 - 255, -32768, kLargest - 255, -kLargest - 1};
  for (const int64_t least : least_numbers) {
    for (const int64_t difference : {254, 255, 256}) {
      if (least + difference > kLargest) continue;
      SCOPED_TRACE(std::to_string(least) + " and " + std::to_string(difference) + " more");
      std::vector<int64_t> numbers(24 * 64, least);
      for (size_t i = 0; i < numbers.size(); ++i)
        numbers[i] += static_cast<int64_t>(i * 31) % (difference + 1);
      // Zeros belong to each range.
      numbers[5] = least + difference;
      numbers[70] = least;
      CheckProduct(product, numbers, weights);
    }
  }
}

// Some rows as codes, some beyond them and beyond 16 bits, which threads share.
TEST(IntegerProductsTest, RowsOfAllKinds) {
  const IntegerProduct product{{210, 128}, 70};
  std::vector<int64_t> numbers = DrawIntegers(210 * 128, 100, 6);
  numbers[80 * 128 + 3] = 20000;
  for (size_t i = 150 * 128; i < 160 * 128; ++i) numbers[i] *= 10000;
  CheckProduct(product, numbers, DrawIntegers(128 * 70, 127, 7));
}

TEST(IntegerProductsTest, Convolutions) {
  const Convolved windows[] = {
      {.image = {1, 3, 9, 8}, .outputs = 5, .size = {3, 2}, .begin = {1, 0}, .end = {1, 1}},
      {.image = {2, 17, 8, 9},
       .outputs = 33,
       .size = {3, 3},
       .strides = {2, 1},
       .dilations = {1, 2},
       .begin = {0, 2},
       .end = {1, 2}},
      {.image = {1, 24, 6, 10}, .outputs = 20},
      {.image = {1, 1, 1, 1}, .outputs = 1},
      {.image = {2, 6, 7, 7}, .outputs = 16, .strides = {2, 3}, .begin = {0, 1}},
      {.image = {1, 4, 40},
       .outputs = 18,
       .size = {5},
       .strides = {2},
       .dilations = {3},
       .begin = {6},
       .end = {7}},
      {.image = {1, 2, 3, 4}, .outputs = 4, .size = {5, 5}, .begin = {4, 4}, .end = {4, 4}}};
  for (const Convolved& window : windows) {
    for (const Range range : kRanges) {
      SCOPED_TRACE(ToString(window.image) + ", range " + std::to_string(static_cast<int>(range)));
      const std::vector<int64_t> numbers = DrawIntegers(SizeOf(window.image), LargestNumber(range, false), 8);
      const std::vector<int64_t> weights =
          DrawIntegers(SizeOf(window.Filter()), LargestNumber(range, true), 9);
      TestGraph g;
      g.Result(window.Add(g, g.Parameter("x", window.image, ElementType::kI32),
                          Integers(window.Filter(), weights)));
      // Products of 31 bits each, of which there are at most 153: the loops' sums of 64 bits wrap around as
      // those of 32 bits do.
      ExpectIntegers(g, Integers(window.image, numbers), window.Sums(numbers, weights),
                     range != Range::kWideWeights);
    }
  }
}

// Images whose numbers differ by up to 255, weights that fit bytes and those that do after the subtraction of
// a zero point, and one more value of both.
TEST(IntegerProductsTest, ConvolutionsOfCodes) {
  const Convolved windows[] = {
      {.image = {1, 4, 9, 8}, .outputs = 5, .size = {3, 2}, .begin = {1, 0}, .end = {1, 1}},
      {.image = {2, 20, 8, 9},
       .outputs = 33,
       .size = {3, 3},
       .strides = {2, 1},
       .dilations = {1, 2},
       .begin = {0, 2},
       .end = {1, 2}},
      {.image = {3, 24, 6, 11}, .outputs = 16},
      {.image = {1, 8, 1, 1}, .outputs = 17},
      {.image = {2, 12, 7, 7}, .outputs = 16, .strides = {2, 3}, .begin = {0, 1}},
      {.image = {1, 4, 40},
       .outputs = 18,
       .size = {5},
       .strides = {2},
       .dilations = {3},
       .begin = {6},
       .end = {7}},
      {.image = {1, 8, 3, 4}, .outputs = 4, .size = {5, 5}, .begin = {4, 4}, .end = {4, 4}},
      {.image = {1, 64, 7, 9}, .outputs = 40, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}}};
  const auto drawn = [](size_t count, int64_t least, int64_t most, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<int64_t> numbers(count);
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = least + static_cast<int64_t>(random() % static_cast<unsigned>(most - least + 1));
      if (i % 7 < 2) numbers[i] = i % 7 == 0 ? least : most;
    }
    return numbers;
  };
  const std::pair<int64_t, int64_t> data[] = {{0, 255},    {-255, 0}, {-100, 155},
                                              {-100, 156}, {3, 200},  {-32768, 9}};
  const std::pair<int64_t, int64_t> ranges[] = {{-128, 127}, {-131, 124}, {-1, 254}, {-129, 127}, {0, 256}};
  for (const Convolved& window : windows) {
    for (const auto& [least, most] : data) {
      for (const auto& [low, high] : ranges) {
        SCOPED_TRACE(ToString(window.image) + " from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", weights from " + std::to_string(low) + " to " +
                     std::to_string(high));
        const std::vector<int64_t> numbers = drawn(SizeOf(window.image), least, most, 8);
        const std::vector<int64_t> weights = drawn(SizeOf(window.Filter()), low, high, 9);
        TestGraph g;
        g.Result(window.Add(g, g.Parameter("x", window.image, ElementType::kI32),
                            Integers(window.Filter(), weights)));
        ExpectIntegers(g, Integers(window.image, numbers), window.Sums(numbers, weights), true);
        if (HasFailure()) return;
      }
    }
  }
}

// What follows sums that become numbers: a scale that the run finds, a bias, another tensor, a ReLU.
TEST(IntegerProductsTest, NumbersOfSums) {
  for (const Shape& left : {Shape{1, 20, 48}, Shape{7, 33}, Shape{2, 50, 24}}) {
    for (const int64_t outputs : {1, 16, 45}) {
      for (const Range range : {Range::kCodes, Range::kWideData, Range::kWideWeights}) {
        for (const bool adds_first : {false, true}) {
          SCOPED_TRACE(ToString(left) + " by " + std::to_string(outputs));
          const int64_t inputs = left.back(), rows = *Volume(left) / inputs;
          const std::vector<int64_t> numbers = DrawIntegers(SizeOf(left), LargestNumber(range, false), 10);
          const std::vector<int64_t> weights =
              DrawIntegers(static_cast<size_t>(inputs * outputs), LargestNumber(range, true), 11);
          Shape result = left;
          result.back() = outputs;
          const TensorValue others = RandomTensor(result, 12), bias = RandomTensor({outputs}, 13);
          const float scale = 0.003F;
          TestGraph g;
          const ir::OutputPort sums = g.Op("Convert",
                                           {g.Op("MatMul", {g.Parameter("x", left, ElementType::kI32),
                                                            g.Const(Integers({inputs, outputs}, weights))})},
                                           With("destination_type", ElementType::kF32));
          const ir::OutputPort s = g.Parameter("s", {}), r = g.Parameter("r", result);
          ir::OutputPort y = adds_first ? g.Op("Multiply", {s, g.Op("Add", {r, sums})})
                                        : g.Op("Add", {g.Op("Multiply", {sums, s}), g.Const(bias)});
          if (!adds_first) y = g.Op("ReLU", {g.Op("Add", {y, r})});
          g.Result(y);
          std::vector<double> expected;
          double largest = 1;
          for (int64_t i = 0; i < rows * outputs; ++i) {
            uint64_t sum = 0;
            for (int64_t c = 0; c < inputs; ++c)
              sum += static_cast<uint64_t>(numbers[static_cast<size_t>(i / outputs * inputs + c)]) *
                     static_cast<uint64_t>(weights[static_cast<size_t>(c * outputs + i % outputs)]);
            const double number = Wrapped(static_cast<int64_t>(sum)), other = others.ElementAsDouble(i);
            expected.push_back(
                adds_first ? (number + other) * scale
                           : std::max(number * scale + bias.ElementAsDouble(i % outputs) + other, 0.0));
            largest = std::max(largest, std::abs(expected.back()));
          }
          for (const kernels::Backend backend : kBackends) {
            const auto made =
                RunGraph(g.graph, {.backend = backend, .threads = 2},
                         {Integers(left, numbers), TensorValue::FromFloats({}, {scale}), others});
            for (size_t i = 0; i < expected.size(); ++i)
              ASSERT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), expected[i], 1e-6 * largest) << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
