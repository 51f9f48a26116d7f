// Quantized images next to steps of f32: quantizations of f32 images, operations of f32 that read quantized
// images, and operations after 8-bit convolutions that oneDNN lacks. Numbers are chosen so that f32
// represents them.

#include <functional>

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

std::string WithSimd(const std::string& kernel) {
  return fast::simd::HasSimd() ? kernel : "";
}

// Sums of products in our own kernels, whose results the plan keeps in blocks.
bool HasWideVnni() {
  return fast::HasVnni() && fast::simd::SimdWidth() == fast::simd::kSimdWidth512;
}

TensorValue Diagonal(int64_t channels, float number) {
  std::vector<float> numbers(static_cast<size_t>(channels * channels));
  for (int64_t i = 0; i < channels; ++i) numbers[static_cast<size_t>(i * (channels + 1))] = number;
  return TensorValue::FromFloats({channels, channels, 1, 1}, numbers);
}

// An f32 convolution by the identity, whose result a quantization reads and another node too.
TEST(QuantizedImagesTest, F32ImagesAreQuantizedInOneStep) {
  for (const int64_t channels : {8, 12, 16, 17, 31, 48}) {
    for (const std::pair<int64_t, int64_t>& extents : {std::pair<int64_t, int64_t>{5, 6}, {1, 1}, {40, 37}}) {
      for (const int zero : {0, 131, 255}) {
        SCOPED_TRACE(std::to_string(channels) + " channels, zero " + std::to_string(zero));
        const Convolved window{.image = {2, channels, extents.first, extents.second},
                               .outputs = 16,
                               .size = {3, 3},
                               .begin = {1, 1},
                               .end = {1, 1}};
        const Quantization by{.zero = zero};
        const std::vector<int64_t> codes = DrawValues(window.image, zero, Spread::kAnywhere, 1);
        const std::vector<int64_t> weights = DrawWeights(16, channels * 9, 2);
        TestGraph g;
        const ir::OutputPort same =
            g.Convolution(g.Parameter("x", window.image), g.Const(Diagonal(channels, 1)), 0);
        g.Result(window.Add(g, FakeQuantized(g, same, by), window.FilterOf(weights)));
        g.Result(g.Op("ReLU", {same}), "other");
        const std::vector<int64_t> sums = window.Sums(Less(codes, zero), weights);
        std::vector<double> expected;
        for (size_t i = 0; i < sums.size(); ++i)
          expected.push_back(static_cast<double>(sums[i]) * by.scale * FilterScale(window.OutputOf(i)));
        const bool is_blocked = channels >= 16 && extents.first > 1;
        ExpectNumbers(g, {NumbersOf(window.image, codes, by)}, expected,
                      is_blocked ? WithSimd("quantize_images") : "");
      }
    }
  }
}

// Images in NHWC, as TensorFlow Lite has them, are quantized without a transpose before.
TEST(QuantizedImagesTest, TransposesBeforeQuantizations) {
  for (const int64_t channels : {3, 16, 20}) {
    for (const int zero : {0, 131}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, zero " + std::to_string(zero));
      const Convolved window{
          .image = {2, channels, 6, 7}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
      const Quantization by{.zero = zero};
      const std::vector<int64_t> codes = DrawValues(window.image, zero, Spread::kAnywhere, 1);
      const std::vector<int64_t> weights = DrawWeights(16, channels * 9, 2);
      const TensorValue image = NumbersOf(window.image, codes, by);
      std::vector<float> pixels(codes.size());
      constexpr int64_t kPixels = 6 * 7;
      for (int64_t i = 0; i < image.volume(); ++i) {
        const int64_t pixel = i % kPixels, channel = i / kPixels % channels, at = i / kPixels / channels;
        pixels[static_cast<size_t>((at * kPixels + pixel) * channels + channel)] =
            static_cast<float>(image.ElementAsDouble(i));
      }
      TestGraph g;
      const ir::OutputPort x =
          g.Op("Transpose", {g.Parameter("x", {2, 6, 7, channels}), g.Ints({0, 3, 1, 2})});
      g.Result(window.Add(g, FakeQuantized(g, x, by), window.FilterOf(weights)));
      const std::vector<int64_t> sums = window.Sums(Less(codes, zero), weights);
      std::vector<double> expected;
      for (size_t i = 0; i < sums.size(); ++i)
        expected.push_back(static_cast<double>(sums[i]) * by.scale * FilterScale(window.OutputOf(i)));
      ExpectNumbers(g, {TensorValue::FromFloats({2, 6, 7, channels}, pixels)}, expected);
      const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1});
      if (fast::simd::HasSimd()) {
        EXPECT_EQ(executable->DescribePlan().find("Transpose"), std::string::npos)
            << executable->DescribePlan();
      }
    }
  }
}

// A quantized image, the result of a convolution by a multiple of the identity, that an 8-bit convolution and
// an operation of f32 read.
class QuantizedReadersTest : public ::testing::Test {
 protected:
  using Reader = std::function<ir::OutputPort(TestGraph& g, ir::OutputPort x)>;
  // `expected` returns the result for a channel, row and column of the image.
  void Check(int64_t channels, const Reader& reader,
             const std::function<double(int64_t channel, int64_t row, int64_t column)>& expected,
             int64_t rows = kRows, int64_t columns = kColumns, int64_t more_channels = 0) {
    SCOPED_TRACE(std::to_string(channels) + " channels");
    const Shape shape = {1, channels, kRows, kColumns};
    codes_ = DrawValues(shape, kZero, Spread::kAnywhere, 1);
    const Quantization by{.zero = kZero};
    TestGraph g;
    const ir::OutputPort first =
        g.Op("Convolution",
             {FakeQuantized(g, g.Parameter("x", shape), by), g.Const(Diagonal(channels, 127 * 0x1p-7F))},
             Convolved{.image = shape}.Attributes());
    const ir::OutputPort image = FakeQuantized(g, first, {.scale = Scale(), .zero = kZero});
    g.Result(reader(g, image));
    g.Result(g.Op("Convolution", {image, g.Const(Diagonal(channels, 127 * 0x1p-7F))},
                  Convolved{.image = shape}.Attributes()),
             "other");
    std::vector<double> numbers;
    for (int64_t channel = 0; channel < channels + more_channels; ++channel) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t column = 0; column < columns; ++column)
          numbers.push_back(expected(channel, row, column));
      }
    }
    for (const kernels::Backend backend : kBackends) {
      const TensorValue made = RunGraph(g.graph, {.backend = backend, .threads = NextThreads()},
                                        {NumbersOf(shape, codes_, by)})[0];
      ASSERT_EQ(static_cast<size_t>(made.volume()), numbers.size());
      for (size_t i = 0; i < numbers.size(); ++i)  // 255 of these steps are no f32
        ASSERT_NEAR(made.ElementAsDouble(static_cast<int64_t>(i)), numbers[i], 1e-5) << i;
    }
  }
  double At(int64_t channel, int64_t row, int64_t column) const {
    return double{Scale()} *
           static_cast<double>(codes_[static_cast<size_t>((channel * kRows + row) * kColumns + column)] -
                               kZero);
  }
  static float Scale() { return 0x1p-5F * 127 * 0x1p-7F; }

  static constexpr int64_t kRows = 5, kColumns = 7;
  static constexpr int kZero = 120;
  std::vector<int64_t> codes_;
};

TEST_F(QuantizedReadersTest, OperandsByChannel) {
  for (const int64_t channels : {8, 12, 16, 20, 32}) {
    std::vector<float> slopes;
    for (int64_t i = 0; i < channels; ++i) slopes.push_back(i % 2 == 0 ? 0.25F : -2);
    const TensorValue operand = TensorValue::FromFloats({channels, 1, 1}, slopes);
    const auto slope = [&](int64_t channel) { return double{slopes[static_cast<size_t>(channel)]}; };
    Check(
        channels,
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("PReLU", {x, g.Const(operand.Reshaped({channels}))});
        },
        [&](int64_t channel, int64_t row, int64_t column) {
          const double x = At(channel, row, column);
          return x < 0 ? x * slope(channel) : x;
        });
    Check(
        channels,
        [&](TestGraph& g, ir::OutputPort x) {
          return g.Op("Multiply", {x, g.Const(operand)});
        },
        [&](int64_t channel, int64_t row, int64_t column) {
          return At(channel, row, column) * slope(channel);
        });
  }
}

TEST_F(QuantizedReadersTest, ResizedAndPadded) {
  for (const int64_t channels : {8, 12, 16, 20, 32}) {
    Check(
        channels,
        [](TestGraph& g, ir::OutputPort x) {
          return g.Op("opset12", "Pad", {x, g.Ints({0, 0, 1, 0}), g.Ints({0, 0, 0, 2}), Scalar(g, 0.5F)},
                      With("pad_mode", std::string("constant")));
        },
        [&](int64_t channel, int64_t row, int64_t column) {
          return row == 0 || column >= kColumns ? 0.5 : At(channel, row - 1, column);
        },
        kRows + 1, kColumns + 2);
    Check(
        channels,
        [](TestGraph& g, ir::OutputPort x) {
          ir::AttributeMap attributes;
          attributes.Set("mode", std::string("nearest"));
          attributes.Set("shape_calculation_mode", std::string("sizes"));
          attributes.Set("coordinate_transformation_mode", std::string("asymmetric"));
          attributes.Set("nearest_mode", std::string("floor"));
          return g.Op("opset4", "Interpolate",
                      {x, g.Ints({2 * kRows, 2 * kColumns}), g.Const(TensorValue::FromFloats({2}, {2, 2})),
                       g.Ints({2, 3})},
                      attributes);
        },
        [&](int64_t channel, int64_t row, int64_t column) { return At(channel, row / 2, column / 2); },
        2 * kRows, 2 * kColumns);
  }
}

// Slopes by channel after sums, which oneDNN lacks: few and many products, channels that are no multiple
// of 4.
TEST(QuantizedImagesTest, SlopesByChannelAfterSums) {
  for (const int64_t channels : {3, 4, 8, 30, 64}) {
    for (const int64_t outputs : {5, 16, 24}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, " + std::to_string(outputs) + " outputs");
      const Convolved window{.image = {1, channels, 9, 8},
                             .outputs = outputs,
                             .size = {3, 3},
                             .strides = {2, 1},
                             .begin = {1, 0},
                             .end = {0, 1}};
      const Quantization by{.zero = 100}, after{.scale = 0x1p-3F, .zero = 90};
      const std::vector<int64_t> codes = DrawValues(window.image, by.zero, Spread::kNearZero, 1);
      const std::vector<int64_t> weights = DrawWeights(outputs, channels * 9, 2);
      std::vector<float> slopes, biases;
      for (int64_t i = 0; i < outputs; ++i) {
        slopes.push_back(i % 3 == 0 ? 0.5F : i % 3 == 1 ? -0.25F : 2);
        biases.push_back(static_cast<float>(i) - 4);
      }
      TestGraph g;
      ir::OutputPort y =
          window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
      y = g.Op("Add", {y, g.Const(TensorValue::FromFloats({1, outputs, 1, 1}, biases))});
      y = g.Op("PReLU", {y, g.Const(TensorValue::FromFloats({outputs}, slopes))});
      g.Result(FakeQuantized(g, y, after));
      const std::vector<int64_t> sums = window.Sums(Less(codes, by.zero), weights);
      std::vector<double> expected;
      for (size_t i = 0; i < sums.size(); ++i) {
        const auto output = static_cast<size_t>(window.OutputOf(i));
        const double x = static_cast<double>(sums[i]) * by.scale * FilterScale(static_cast<int64_t>(output)) +
                         double{biases[output]};
        expected.push_back(x < 0 ? x * double{slopes[output]} : x);
      }
      ExpectCodes(g, {NumbersOf(window.image, codes, by)}, after, expected, WithSimd("nnefc:int8_"));
    }
  }
}

// Channels that a Pad adds, at either end, with pixels and alone; 0 or another number.
TEST_F(QuantizedReadersTest, MoreChannels) {
  for (const int64_t channels : {8, 12, 16, 28}) {
    for (const int64_t more : {1, 4, 8, 20}) {
      for (const bool at_begin : {false, true}) {
        for (const float border : {0.0F, 0.5F}) {
          for (const int64_t row : {0, 1}) {
            SCOPED_TRACE(std::to_string(more) + " more, border " + std::to_string(border));
            Check(
                channels,
                [&](TestGraph& g, ir::OutputPort x) {
                  return g.Op("opset12", "Pad",
                              {x, g.Ints({0, at_begin ? more : 0, row, 0}),
                               g.Ints({0, at_begin ? 0 : more, 0, 0}), Scalar(g, border)},
                              With("pad_mode", std::string("constant")));
                },
                [&](int64_t channel, int64_t y, int64_t x) {
                  const int64_t from = channel - (at_begin ? more : 0);
                  return from < 0 || from >= channels || y < row ? double{border} : At(from, y - row, x);
                },
                kRows + row, kColumns, more);
          }
        }
      }
    }
  }
}

struct DepthwiseFunction {
  const char* name;  // of an operation; empty for none
  double (*of)(double);
};
const DepthwiseFunction kDepthwiseFunctions[] = {
    {"", [](double x) { return x; }},
    {"ReLU", [](double x) { return std::max(x, 0.0); }},
    {"Clamp", [](double x) { return std::clamp(x, -1.5, 2.25); }},
    {"Abs", [](double x) { return std::abs(x); }},
    {"Minimum", [](double x) { return std::min(x, 0.75); }},
    {"Maximum", [](double x) { return std::max(x, 0.75); }}};

// Functions of depthwise sums, whole and partial blocks of channels: with f32 results, and quantized for a
// reader with 8-bit values.
TEST(QuantizedImagesTest, FunctionsOfDepthwiseSums) {
  for (const int64_t channels : {8, 12, 16, 17, 20, 24, 32, 40}) {
    const Convolved window{.image = {1, channels, 7, 7},
                           .outputs = channels,
                           .size = {3, 3},
                           .begin = {1, 1},
                           .end = {1, 1},
                           .groups = channels};
    const Convolved reader{.image = window.image, .outputs = 4};
    const Quantization by{.zero = 100}, to{.scale = 0x1p-4F, .zero = 100};
    const std::vector<int64_t> codes = DrawValues(window.image, by.zero, Spread::kAnywhere, 1);
    const std::vector<int64_t> weights = DrawWeights(channels, 9, 2), others = DrawWeights(4, channels, 3);
    const std::vector<int64_t> sums = window.Sums(Less(codes, by.zero), weights);
    for (const DepthwiseFunction& function : kDepthwiseFunctions) {
      SCOPED_TRACE(std::to_string(channels) + " channels, " + function.name);
      const auto add = [&](TestGraph& g) {
        const ir::OutputPort y =
            window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
        const std::string name = function.name;
        if (name.empty()) return y;
        if (name == "Minimum" || name == "Maximum") return g.Op(name, {y, Scalar(g, 0.75F)});
        ir::AttributeMap limits;
        limits.Set("min", -1.5);
        limits.Set("max", 2.25);
        return g.Op(name, {y}, name == "Clamp" ? limits : ir::AttributeMap());
      };
      std::vector<double> expected;
      std::vector<int64_t> quantized;
      for (size_t i = 0; i < sums.size(); ++i) {
        expected.push_back(
            function.of(static_cast<double>(sums[i]) * by.scale * FilterScale(window.OutputOf(i))));
        quantized.push_back(static_cast<int64_t>(std::nearbyint(to.Code(expected.back()))));
      }
      TestGraph g;
      g.Result(add(g));
      ExpectNumbers(g, {NumbersOf(window.image, codes, by)}, expected);

      TestGraph next;
      next.Result(reader.Add(next, FakeQuantized(next, add(next), to), reader.FilterOf(others)));
      const std::vector<int64_t> results = reader.Sums(Less(quantized, to.zero), others);
      std::vector<double> read;
      for (size_t i = 0; i < results.size(); ++i)
        read.push_back(static_cast<double>(results[i]) * to.scale * FilterScale(reader.OutputOf(i)));
      ExpectNumbers(next, {NumbersOf(window.image, codes, by)}, read);
    }
  }
}

// A function of sums and linear functions after it, by numbers and by channel in each order, up to the
// quantization: one step.
TEST(QuantizedImagesTest, LinearFunctionsAfterAFunctionOfSums) {
  const char* const lists[] = {"ma", "am", "MA", "AM", "maMA", "AMam", "aAmM", "MmM"};
  for (const int64_t channels : {16, 20}) {
    for (const int64_t groups : {int64_t{1}, channels}) {
      const Convolved window{.image = {1, channels, 7, 9},
                             .outputs = channels,
                             .size = {3, 3},
                             .begin = {1, 1},
                             .end = {1, 1},
                             .groups = groups};
      const Quantization by{.scale = groups == 1 ? 0x1p-8F : 0x1p-5F, .zero = 100}, to{.zero = 90};
      const std::vector<int64_t> codes = DrawValues(window.image, by.zero, Spread::kNearZero, 1);
      const std::vector<int64_t> weights = DrawWeights(channels, window.channels() * 9, 2);
      const std::vector<int64_t> sums = window.Sums(Less(codes, by.zero), weights);
      for (const std::string list : lists) {
        SCOPED_TRACE(std::to_string(channels) + " channels in " + std::to_string(groups) + " groups, " +
                     list);
        TestGraph g;
        std::vector<double> expected;
        for (size_t i = 0; i < sums.size(); ++i)
          expected.push_back(static_cast<double>(sums[i]) * by.scale * FilterScale(window.OutputOf(i)));
        ir::OutputPort y =
            window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
        y = g.Op("opset4", "HSwish", {AddBias(g, y, window, expected)}, {});
        for (double& x : expected) x *= std::clamp(x + 3, 0.0, 6.0) / 6;
        for (const char step : list) {
          const bool is_by_channel = step == 'M' || step == 'A', multiplies = step == 'M' || step == 'm';
          std::vector<float> operand;
          for (int64_t i = 0; i < (is_by_channel ? channels : 1); ++i)
            operand.push_back(static_cast<float>(i % 5 + 3) / 4);
          const auto count = static_cast<int64_t>(operand.size());
          const ir::OutputPort other = g.Const(TensorValue::FromFloats({1, count, 1, 1}, operand));
          y = g.Op(multiplies ? "Multiply" : "Add", {y, other});
          for (size_t i = 0; i < expected.size(); ++i) {
            const double number = operand[static_cast<size_t>(is_by_channel ? window.OutputOf(i) : 0)];
            expected[i] = multiplies ? expected[i] * number : expected[i] + number;
          }
        }
        g.Result(FakeQuantized(g, y, to));
        ExpectCodes(g, {NumbersOf(window.image, codes, by)}, to, expected, WithSimd("nnefc:int8_"));
      }
    }
  }
}

// Sums of two quantized images and slopes by channel or one slope, in a step of 8 bits; the channels of an
// image are innermost.
TEST(QuantizedImagesTest, SlopesAfterSumsOfImages) {
  for (const int64_t channels : {1, 3, 8, 16, 17, 48, 600}) {
    for (const bool is_by_channel : {false, true}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, slopes by channel " +
                   std::to_string(is_by_channel));
      const Shape shape = {2, channels, 3, 5};
      const Quantization a{.zero = 100}, b{.scale = 0x1p-4F, .zero = 140}, to{.scale = 0x1p-5F, .zero = 128};
      const std::vector<int64_t> left = DrawValues(shape, a.zero, Spread::kAnywhere, 5),
                                 right = DrawValues(shape, b.zero, Spread::kAnywhere, 6);
      std::vector<float> slopes;
      for (int64_t i = 0; i < (is_by_channel ? channels : 1); ++i)
        slopes.push_back(i % 3 == 0 ? 0.25F : i % 3 == 1 ? -0.5F : 1.5F);
      TestGraph g;
      const ir::OutputPort image = FakeQuantized(
          g,
          g.Op("Convolution", {FakeQuantized(g, g.Parameter("a", shape), a), g.Const(Diagonal(channels, 1))},
               Convolved{.image = shape}.Attributes()),
          a);
      const ir::OutputPort sum = g.Op("Add", {image, FakeQuantized(g, g.Parameter("b", shape), b)});
      const Shape extents = {static_cast<int64_t>(slopes.size())};
      g.Result(FakeQuantized(g, g.Op("PReLU", {sum, g.Const(TensorValue::FromFloats(extents, slopes))}), to));
      std::vector<double> expected;
      for (size_t i = 0; i < left.size(); ++i) {
        const double x = a.Number(left[i]) + b.Number(right[i]);
        const size_t channel = i / 15 % static_cast<size_t>(channels);
        expected.push_back(x < 0 ? x * double{slopes[is_by_channel ? channel : 0]} : x);
      }
      ExpectCodes(g, {NumbersOf(shape, left, a), NumbersOf(shape, right, b)}, to, expected,
                  WithSimd("nnefc:int8_sum"));
    }
  }
}

// FakeQuantize by channel with f32 results after sums of few products, as in a depthwise convolution, in the
// same step; not after many.
TEST(QuantizedImagesTest, RoundedByChannelAfterSums) {
  for (const int64_t channels : {1, 4, 28, 32}) {
    const int64_t groups = channels == 1 ? 24 : 1;
    const Convolved window{.image = {1, channels * groups, 6, 5},
                           .outputs = 24,
                           .size = {3, 3},
                           .begin = {1, 1},
                           .end = {1, 1},
                           .groups = groups};
    SCOPED_TRACE(std::to_string(channels) + " channels");
    const Quantization by{.zero = 100};
    const std::vector<int64_t> codes = DrawValues(window.image, by.zero, Spread::kNearZero, 1);
    const std::vector<int64_t> weights = DrawWeights(24, channels * 9, 2);
    std::vector<float> lows, highs;
    for (int64_t i = 0; i < 24; ++i) {
      lows.push_back(std::ldexp(-8.0F, static_cast<int>(i % 4)));
      highs.push_back(std::ldexp(7.9375F, static_cast<int>(i % 4)));
    }
    TestGraph g;
    const ir::OutputPort y =
        window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
    const ir::OutputPort low = g.Const(TensorValue::FromFloats({1, 24, 1, 1}, lows)),
                         high = g.Const(TensorValue::FromFloats({1, 24, 1, 1}, highs));
    g.Result(g.Op("FakeQuantize", {y, low, high, low, high}, With("levels", int64_t{256})));
    const std::vector<int64_t> sums = window.Sums(Less(codes, by.zero), weights);
    std::vector<double> expected;
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto output = static_cast<size_t>(window.OutputOf(i));
      const double x = static_cast<double>(sums[i]) * by.scale * FilterScale(static_cast<int64_t>(output));
      const double unit = std::ldexp(0.0625, static_cast<int>(output % 4));
      expected.push_back(std::nearbyint(std::clamp(x, double{lows[output]}, double{highs[output]}) / unit) *
                         unit);
    }
    const bool is_fused = groups == 1 ? HasWideVnni() && channels * 9 <= 256 : fast::HasVnni();
    ExpectNumbers(g, {NumbersOf(window.image, codes, by)}, expected,
                  is_fused ? "Convolution+FakeQuantize" : "");
    const auto executable = Compile(g.graph, {.threads = 1});
    ASSERT_NE(executable, nullptr);
    EXPECT_EQ(executable->DescribePlan().find("Convolution+FakeQuantize") != std::string::npos, is_fused)
        << executable->DescribePlan();
  }
}

// Of few pixels, whose weights take most of the time, 512-bit vectors multiply faster than oneDNN.
TEST(QuantizedImagesTest, FewPixelsOfManyChannels) {
  if (!fast::HasVnni()) GTEST_SKIP() << "oneDNN has no kernel without VNNI";
  const Convolved window{
      .image = {1, 128, 4, 4}, .outputs = 32, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  const Quantization by{.zero = 128}, to{.scale = 0x1p-2F, .zero = 128};
  const std::vector<int64_t> codes = DrawValues(window.image, by.zero, Spread::kNearZero, 5);
  const std::vector<int64_t> weights = DrawWeights(window.outputs, window.channels() * window.taps(), 6);
  TestGraph g;
  const ir::OutputPort y =
      window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
  g.Result(TakeImage(g, FakeQuantized(g, y, to), window.outputs));
  std::vector<double> expected;
  const std::vector<int64_t> sums = window.Sums(Less(codes, by.zero), weights);
  for (size_t i = 0; i < sums.size(); ++i)
    expected.push_back(static_cast<double>(sums[i]) * double{by.scale} *
                       double{FilterScale(window.OutputOf(i))});
  ExpectCodes(g, {NumbersOf(window.image, codes, by)}, to, expected);
  const std::string plan = Compile(g.graph, {.threads = 1})->DescribePlan();
  EXPECT_EQ(plan.find("nnefc:int8_conv_vnni") != std::string::npos, HasWideVnni()) << plan;
}

}  // namespace
}  // namespace nnefc::runtime::engine
