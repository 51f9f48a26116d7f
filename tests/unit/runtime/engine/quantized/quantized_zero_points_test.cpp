// Depthwise convolutions of quantized images whose zero points differ by channel, and convolutions of images
// whose zero is between two quantized values, against the formula.

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct ZeroPoints {
  Convolved window;  // with as many groups and outputs as channels
  std::vector<int> zeros = {0, 1, 100, 127, 128, 200, 254, 255};  // of the channels by turns
  bool has_functions = false;
  bool is_quantized = false;

  int64_t channels() const { return window.image[1]; }
  int ZeroOf(int64_t channel) const { return zeros[static_cast<size_t>(channel) % zeros.size()]; }
};

constexpr Quantization kFrom{.scale = 0x1p-5F, .zero = 120};
constexpr Quantization kTo{.scale = 0.25F, .zero = 110};
constexpr char kSubtractStep[] = "Subtract ";

// The subtraction from the quantized images, and the filter.
struct ZeroPointGraph {
  TestGraph g;
  ir::OutputPort codes, moved, sums;
};

ZeroPointGraph GraphOf(const ZeroPoints& given, const std::vector<int64_t>& weights, float more = 0) {
  ZeroPointGraph made;
  std::vector<float> offsets;
  for (int64_t channel = 0; channel < given.channels(); ++channel)
    offsets.push_back(static_cast<float>(kFrom.Number(given.ZeroOf(channel))) + more * kFrom.scale);
  Shape column(given.window.image.size(), 1);
  column[1] = given.channels();
  made.codes = FakeQuantized(made.g, made.g.Parameter("x", given.window.image), kFrom);
  made.moved = made.g.Op("Subtract", {made.codes, made.g.Const(TensorValue::FromFloats(column, offsets))});
  made.sums = given.window.Add(made.g, made.moved, given.window.FilterOf(weights));
  return made;
}

std::vector<double> ExpectedOf(const ZeroPoints& given, const std::vector<int64_t>& codes,
                               const std::vector<int64_t>& weights, double more = 0) {
  const int64_t pixels = *Volume(llvm::ArrayRef<int64_t>(given.window.image).drop_front(2));
  std::vector<int64_t> numbers = codes;
  // In quarters of a code.
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t channel = static_cast<int64_t>(i) / pixels % given.channels();
    numbers[i] = 4 * (numbers[i] - given.ZeroOf(channel)) - std::lround(4 * more);
  }
  const std::vector<int64_t> sums = given.window.Sums(numbers, weights);
  std::vector<double> expected;
  for (size_t i = 0; i < sums.size(); ++i)
    expected.push_back(static_cast<double>(sums[i]) / 4 * kFrom.scale *
                       FilterScale(given.window.OutputOf(i)));
  return expected;
}

void CheckZeroPoints(ZeroPoints given, const std::string& kernel) {
  SCOPED_TRACE(testing::Message() << ToString(given.window.image) << ", windows of "
                                  << given.window.size.front() << " rows, " << given.zeros.front());
  given.window.outputs = given.window.groups = given.channels();
  const std::vector<int64_t> codes = DrawValues(given.window.image, kFrom.zero, Spread::kAnywhere, 3);
  const std::vector<int64_t> weights = DrawWeights(given.channels(), given.window.taps(), 4);
  ZeroPointGraph made = GraphOf(given, weights);
  std::vector<double> expected = ExpectedOf(given, codes, weights);
  ir::OutputPort y = made.sums;
  if (given.has_functions) {
    y = AddBias(made.g, y, given.window, expected);
    y = AddRelu(made.g, y, expected);
  }
  const std::vector<TensorValue> inputs = {NumbersOf(given.window.image, codes, kFrom)};
  if (given.is_quantized) {
    // A reader of quantized images, which leaves each channel as it is.
    const ir::OutputPort quantized = FakeQuantized(made.g, y, kTo);
    const std::vector<float> ones(static_cast<size_t>(given.channels()), 1);
    Convolved copy{.image = given.window.Result(), .outputs = given.channels(), .groups = given.channels()};
    if (copy.image.size() == 3) copy.size = copy.strides = copy.dilations = {1};
    if (copy.image.size() == 3) copy.begin = copy.end = {0};
    made.g.Result(copy.Add(made.g, quantized, TensorValue::FromFloats(copy.Filter(), ones)));
    ExpectCodes(made.g, inputs, kTo, expected, kernel);
  } else {
    made.g.Result(y);
    ExpectNumbers(made.g, inputs, expected, kernel);
  }
}

TEST(QuantizedZeroPointsTest, ChannelsAndWindows) {
  const std::string kernel = fast::simd::HasSimd() ? "Subtract+GroupConvolution" : "";
  for (const bool has_functions : {false, true}) {
    for (const bool is_quantized : {false, true}) {
      const auto check = [&](Convolved window,
                             std::vector<int> zeros = {0, 1, 100, 127, 128, 200, 254, 255}) {
        CheckZeroPoints({.window = std::move(window),
                         .zeros = std::move(zeros),
                         .has_functions = has_functions,
                         .is_quantized = is_quantized},
                        kernel);
      };
      for (const int64_t channels : {8, 15, 16, 17, 31, 32, 33, 48})
        check({.image = {2, channels, 6, 7}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}});
      // Windows of single pixels, all of them or not, with a border or without.
      for (const int64_t channels : {15, 16, 17, 40}) {
        for (const int64_t stride : {1, 2})
          check({.image = {2, channels, 9, 21}, .size = {1, 1}, .strides = {1, stride}});
        check({.image = {1, channels, 4, 5}, .size = {1, 1}, .begin = {0, 1}, .end = {1, 0}});
      }
      for (const int64_t stride : {1, 2, 3})
        check({.image = {2, 24, 9, 11},
               .size = {3, 4},
               .strides = {3, stride},
               .begin = {2, 0},
               .end = {0, 3}});
      check({.image = {1, 17, 9, 11}, .size = {2, 3}, .dilations = {3, 2}, .begin = {0, 4}, .end = {3, 1}});
      check({.image = {1, 16, 3, 2}, .size = {5, 5}, .begin = {4, 4}, .end = {4, 4}});
      check({.image = {1, 16, 5, 5}, .size = {1, 1}});
      check({.image = {2, 19, 30}, .size = {5}, .strides = {2}, .dilations = {1}, .begin = {2}, .end = {1}});
      // The ends of the codes, and the zero of the quantization itself.
      for (const int zero : {0, 119, 120, 255})
        check({.image = {1, 20, 6, 7}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}}, {zero});
    }
  }
}

// Zeros below 0, above 255, and between two codes are subtracted in f32.
TEST(QuantizedZeroPointsTest, ZerosThatAreNoCodes) {
  for (const auto& [zeros, more] :
       {std::pair<std::vector<int>, float>{{5, -1}, 0}, {{5, 256}, 0}, {{5, 9}, 0.25F}, {{5, 9}, 0.5F}}) {
    SCOPED_TRACE(testing::Message() << zeros[1] << " and " << more);
    ZeroPoints given{.window = {.image = {1, 20, 6, 7}, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
                     .zeros = zeros};
    given.window.outputs = given.window.groups = given.channels();
    const std::vector<int64_t> codes = DrawValues(given.window.image, kFrom.zero, Spread::kAnywhere, 3);
    const std::vector<int64_t> weights = DrawWeights(20, 9, 4);
    ZeroPointGraph made = GraphOf(given, weights, more);
    made.g.Result(made.sums);
    ExpectNumbers(made.g, {NumbersOf(given.window.image, codes, kFrom)},
                  ExpectedOf(given, codes, weights, more), kSubtractStep);
  }
}

constexpr Quantization kQuarter{.scale = 0x1p-7F, .zero = 0};

// Of images whose zero is `quarters` of a code below code 2: numbers are `4 * code - 8 + quarters` quarters.
void CheckZeroBetweenCodes(const Convolved& window, int quarters, bool is_quantized) {
  SCOPED_TRACE(testing::Message() << ToString(window.Filter()) << ", " << quarters << " quarters");
  const std::vector<int64_t> weights = DrawWeights(window.outputs, window.channels() * window.taps(), 2);
  std::vector<int64_t> numbers = DrawValues(window.image, 100, Spread::kAnywhere, 1);
  for (int64_t& number : numbers) number = 4 * number - 8 + quarters;
  TestGraph g;
  const ir::OutputPort low = Scalar(g, static_cast<float>(kQuarter.Number(quarters - 8))),
                       high = Scalar(g, static_cast<float>(kQuarter.Number(4 * 255 + quarters - 8)));
  const ir::OutputPort rounded = g.Op("FakeQuantize", {g.Parameter("x", window.image), low, high, low, high},
                                      With("levels", int64_t{256}));
  ir::OutputPort y = window.Add(g, rounded, window.FilterOf(weights));
  std::vector<double> expected;
  for (const int64_t sum : window.Sums(numbers, weights))
    expected.push_back(static_cast<double>(sum) * kQuarter.scale *
                       FilterScale(window.OutputOf(expected.size())));
  y = AddBias(g, y, window, expected);
  const std::vector<TensorValue> inputs = {NumbersOf(window.image, numbers, kQuarter)};
  if (is_quantized) {
    const Quantization to{.scale = 4, .zero = 120};
    g.Result(TakeImage(g, FakeQuantized(g, y, to), window.outputs));
    return ExpectCodes(g, inputs, to, expected, "int8");
  }
  g.Result(y);
  ExpectNumbers(g, inputs, expected, "int8");
}

// Convolutions see zeros in the border, which no code represents.
TEST(QuantizedZeroPointsTest, ZerosBetweenTwoCodesInTheBorder) {
  if (!fast::HasVnni()) GTEST_SKIP() << "these convolutions are computed in f32";
  const Convolved windows[] = {
      {.image = {1, 64, 9, 7}, .outputs = 48, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
      {.image = {1, 64, 9, 7}, .outputs = 20, .size = {3, 3}, .begin = {2, 0}, .end = {0, 1}},
      {.image = {1, 64, 9, 7},
       .outputs = 32,
       .size = {3, 3},
       .strides = {2, 2},
       .begin = {1, 1},
       .end = {1, 1}}};
  for (const Convolved& window : windows) {
    for (const int quarters : {1, 2, 3}) {
      for (const bool is_quantized : {false, true}) CheckZeroBetweenCodes(window, quarters, is_quantized);
    }
  }
}

// The images before and after the subtraction have other readers, each in turn and both.
TEST(QuantizedZeroPointsTest, SecondReaders) {
  const ZeroPoints given{.window = {.image = {2, 20, 6, 7},
                                    .outputs = 20,
                                    .size = {3, 3},
                                    .begin = {1, 1},
                                    .end = {1, 1},
                                    .groups = 20}};
  const std::vector<int64_t> codes = DrawValues(given.window.image, kFrom.zero, Spread::kAnywhere, 3);
  const std::vector<int64_t> weights = DrawWeights(20, 9, 4);
  const std::vector<double> expected = ExpectedOf(given, codes, weights);
  for (const bool reads_codes : {false, true}) {
    for (const bool reads_moved : {false, true}) {
      ZeroPointGraph made = GraphOf(given, weights);
      made.g.Result(made.sums);
      if (reads_codes) made.g.Result(made.g.Op("Negative", {made.codes}), "codes");
      if (reads_moved) made.g.Result(made.g.Op("Negative", {made.moved}), "moved");
      const std::vector<TensorValue> inputs = {NumbersOf(given.window.image, codes, kFrom)};
      ExpectNumbers(made.g, inputs, expected);
      const std::vector<TensorValue> outputs = RunGraph(made.g.graph, {.threads = 2}, inputs);
      for (size_t i = 0; i < codes.size(); ++i) {
        const int64_t channel = static_cast<int64_t>(i) / 42 % 20, at = static_cast<int64_t>(i);
        if (reads_codes) {
          ASSERT_EQ(outputs[1].ElementAsDouble(at), -kFrom.Number(codes[i])) << i;
        }
        if (reads_moved) {
          ASSERT_EQ(outputs[reads_codes ? 2 : 1].ElementAsDouble(at),
                    kFrom.Number(given.ZeroOf(channel)) - kFrom.Number(codes[i]))
              << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
