// Convolutions of quantized images against sums of integers: filters of all extents around those of vectors
// and tiles, codes near their zero, far from it and at both ends, and what may follow up to the next
// quantization.

#include "runtime/fast/processor.h"
#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// What a plan has where sums of codes are computed by our own kernels alone.
std::string OwnKernel(const std::string& kernel) {
  return fast::simd::HasSimd() && !fast::HasVnni() ? kernel : "";
}

// With a residual, numbers are added to the results.
void CheckSums(const Convolved& window, int zero, Spread spread, const std::string& kernel,
               bool has_residual = false) {
  SCOPED_TRACE(ToString(window.image) + " by " + ToString(window.Filter()) + ", zero " +
               std::to_string(zero) + ", spread " + std::to_string(static_cast<int>(spread)));
  const Quantization by{.zero = zero};
  const std::vector<int64_t> codes = DrawValues(window.image, zero, spread, 1);
  const std::vector<int64_t> weights = DrawWeights(window.outputs, window.channels() * window.taps(), 2);
  TestGraph g;
  std::vector<TensorValue> inputs = {NumbersOf(window.image, codes, by)};
  ir::OutputPort y =
      window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
  const std::vector<int64_t> sums = window.Sums(Less(codes, zero), weights);
  std::vector<double> expected;
  for (size_t i = 0; i < sums.size(); ++i)
    expected.push_back(static_cast<double>(sums[i]) * by.scale * FilterScale(window.OutputOf(i)));
  if (has_residual) {
    const Shape shape = window.Result();
    const std::vector<int64_t> others = DrawValues(shape, 90, Spread::kAnywhere, 3);
    y = g.Op("Add", {y, g.Parameter("residual", shape)});
    inputs.push_back(NumbersOf(shape, others, {.scale = 0.25F}));
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += 0.25 * static_cast<double>(others[i]);
  }
  g.Result(y);
  ExpectNumbers(g, inputs, expected, kernel);
}

TEST(QuantizedWindowsTest, Channels) {
  for (const int64_t channels : {1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 64, 68}) {
    for (const int64_t outputs : {1, 15, 16, 17, 33}) {
      const Convolved window{
          .image = {1, channels, 5, 6}, .outputs = outputs, .size = {3, 2}, .begin = {1, 0}, .end = {1, 1}};
      CheckSums(window, 131, kSpreads[static_cast<size_t>(channels + outputs) % 4], OwnKernel("int8_"));
    }
  }
}

TEST(QuantizedWindowsTest, Windows) {
  const Convolved windows[] = {
      {.image = {2, 20, 7, 9}, .outputs = 23, .size = {1, 1}, .strides = {2, 1}},
      {.image = {2, 20, 7, 9},
       .outputs = 23,
       .size = {3, 3},
       .strides = {2, 2},
       .begin = {1, 0},
       .end = {0, 1}},
      {.image = {1, 16, 9, 7},
       .outputs = 16,
       .size = {3, 3},
       .dilations = {2, 1},
       .begin = {2, 1},
       .end = {2, 1}},
      {.image = {1, 16, 9, 7},
       .outputs = 17,
       .size = {2, 5},
       .strides = {1, 3},
       .begin = {1, 2},
       .end = {1, 4}},
      {.image = {1, 6, 2, 3}, .outputs = 5, .size = {5, 5}, .begin = {4, 4}, .end = {4, 4}},
      {.image = {2, 17, 11},
       .outputs = 20,
       .size = {3},
       .strides = {2},
       .dilations = {2},
       .begin = {3},
       .end = {2}},
      {.image = {1, 64, 1, 1}, .outputs = 40, .size = {1, 1}},
      {.image = {1, 3, 12, 13},
       .outputs = 32,
       .size = {7, 7},
       .strides = {2, 2},
       .begin = {3, 3},
       .end = {3, 3}},
      // A window entirely in the border, at either end.
      {.image = {1, 16, 2, 2}, .outputs = 16, .size = {2, 2}, .begin = {3, 0}, .end = {0, 3}}};
  for (const Convolved& window : windows) {
    for (const int zero : {0, 1, 128, 255}) {
      for (const Spread spread : kSpreads) CheckSums(window, zero, spread, OwnKernel("int8_"));
    }
  }
}

// One-dimensional convolutions as images of one column, with and without padding next to it.
TEST(QuantizedWindowsTest, ImagesOfOneColumn) {
  const auto check = [](const Convolved& window) {
    for (const int zero : {0, 77, 255}) CheckSums(window, zero, Spread::kAnywhere, OwnKernel("int8_"));
  };
  check({.image = {2, 64, 37, 1}, .outputs = 48, .size = {5, 1}});
  check({.image = {1, 32, 20, 1}, .outputs = 33, .size = {1, 1}, .strides = {2, 1}});
  check({.image = {1, 68, 31, 1},
         .outputs = 16,
         .size = {3, 1},
         .strides = {2, 3},
         .begin = {2, 0},
         .end = {1, 0}});
  check({.image = {1, 64, 31, 1},
         .outputs = 17,
         .size = {3, 1},
         .dilations = {4, 1},
         .begin = {0, 0},
         .end = {5, 0}});
  check({.image = {1, 64, 1, 1}, .outputs = 16, .size = {3, 1}, .begin = {1, 0}, .end = {1, 0}});
  check(
      {.image = {2, 32, 29, 1}, .outputs = 32, .size = {3, 1}, .begin = {1, 0}, .end = {1, 0}, .groups = 32});
  check({.image = {1, 64, 9, 1}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}});
  check({.image = {1, 64, 9, 1}, .outputs = 16, .size = {3, 1}, .begin = {1, 0}, .end = {1, 1}});
  check({.image = {1, 64, 9, 3}, .outputs = 16, .size = {3, 3}, .begin = {1, 0}, .end = {1, 0}});
  // With operands of all elements and by channel, and a quantized result.
  for (const bool has_residual : {false, true}) {
    CheckSums({.image = {1, 64, 37, 1}, .outputs = 48, .size = {5, 1}, .begin = {2, 0}, .end = {2, 0}}, 100,
              Spread::kAnywhere, OwnKernel("int8_"), has_residual);
  }
  const Convolved window{
      .image = {2, 68, 21, 1}, .outputs = 24, .size = {3, 1}, .begin = {1, 0}, .end = {1, 0}};
  const Quantization by{.zero = 100}, to{.scale = 0x1p-2F, .zero = 90};
  const std::vector<int64_t> codes = DrawValues(window.image, by.zero, Spread::kNearZero, 1);
  const std::vector<int64_t> weights = DrawWeights(24, 68 * 3, 2);
  std::vector<float> biases;
  for (int64_t i = 0; i < 24; ++i) biases.push_back(static_cast<float>(i) - 7);
  TestGraph g;
  ir::OutputPort y =
      window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights));
  y = g.Op("ReLU", {g.Op("Add", {y, g.Const(TensorValue::FromFloats({1, 24, 1, 1}, biases))})});
  g.Result(FakeQuantized(g, y, to));
  const std::vector<int64_t> sums = window.Sums(Less(codes, by.zero), weights);
  std::vector<double> expected;
  for (size_t i = 0; i < sums.size(); ++i) {
    const int64_t output = window.OutputOf(i);
    const double sum = static_cast<double>(sums[i]) * by.scale * FilterScale(output);
    expected.push_back(std::max(sum + double{biases[static_cast<size_t>(output)]}, 0.0));
  }
  ExpectCodes(g, {NumbersOf(window.image, codes, by)}, to, expected);
}

// A sum with numbers that are not quantized is added where the results are computed.
TEST(QuantizedWindowsTest, ResidualsInNumbers) {
  for (const int64_t outputs : {16, 17, 32}) {
    for (const std::vector<int64_t>& size : {std::vector<int64_t>{1, 1}, {3, 3}}) {
      const Convolved window{.image = {1, 64, 5, 6},
                             .outputs = outputs,
                             .size = size,
                             .begin = {size[0] / 2, size[1] / 2},
                             .end = {size[0] / 2, size[1] / 2}};
      CheckSums(window, 100, Spread::kAnywhere, OwnKernel("nnefc:int8_saturating"), true);
    }
  }
}

// 3x3 filters that are applied in fewer multiplications where codes have no VNNI.
TEST(QuantizedWindowsTest, WinogradTiles) {
  for (const int64_t rows : {4, 9, 16, 17, 18}) {
    for (const int64_t columns : {8, 13, 16}) {
      const Convolved window{.image = {1, 32, rows, columns},
                             .outputs = 40,
                             .size = {3, 3},
                             .begin = {1, rows % 2},
                             .end = {1, columns % 2}};
      const std::string kernel = OwnKernel(rows >= 16 ? "nnefc:int8_winograd" : "int8_");
      CheckSums(window, 100, Spread::kAnywhere, kernel);
      CheckSums(window, 0, Spread::kEnds, kernel);
    }
  }
}

// The largest sums: all codes at one end, all weights of one sign.
TEST(QuantizedWindowsTest, LargestSums) {
  for (const int64_t channels : {32, 224, 384}) {
    for (const int64_t weight : {127, -127}) {
      const Convolved window{
          .image = {1, channels, 6, 6}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
      const Quantization by{.scale = 1};
      const std::vector<int64_t> codes(SizeOf(window.image), 255);
      const std::vector<int64_t> weights(static_cast<size_t>(16 * channels * 9), weight);
      TestGraph g;
      g.Result(window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), by), window.FilterOf(weights)));
      const std::vector<int64_t> sums = window.Sums(codes, weights);
      const auto made = RunGraph(g.graph, {.threads = 1}, {NumbersOf(window.image, codes, by)});
      for (size_t i = 0; i < sums.size(); ++i) {
        const double expected = static_cast<double>(sums[i]) * FilterScale(window.OutputOf(i));
        // Without vectors numbers are multiplied, whose sums are beyond 2^24.
        const double tolerance = fast::simd::HasSimd() ? 1e-5 : 5e-5;
        ASSERT_NEAR(made[0].ElementAsDouble(static_cast<int64_t>(i)), expected,
                    tolerance * std::abs(expected));
      }
    }
  }
}

TEST(QuantizedWindowsTest, Depthwise) {
  for (const int64_t channels : {2, 15, 16, 17, 33, 64}) {
    for (const int64_t multiplier : {1, 2}) {
      Convolved window{.image = {2, channels, 6, 7},
                       .outputs = channels * multiplier,
                       .size = {3, 3},
                       .begin = {1, 1},
                       .end = {1, 1},
                       .groups = channels};
      const std::string kernel = multiplier == 1 ? OwnKernel("nnefc:int8_depthwise") : "";
      CheckSums(window, 128, Spread::kAnywhere, kernel);
      window.strides = {2, 2};
      window.size = {2, 4};
      CheckSums(window, 0, Spread::kEnds, kernel);
    }
  }
}

// Square windows, which move along rows of the image.
TEST(QuantizedWindowsTest, DepthwiseRows) {
  const bool is_measured = fast::HasVnni() && fast::simd::SimdWidth() == fast::simd::kSimdWidth512;
  for (const int64_t size : {1, 3, 5}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t channels : {8, 16, 40}) {
        const Convolved window{.image = {2, channels, 9, 11},
                               .outputs = channels,
                               .size = {size, size},
                               .strides = {stride, stride},
                               .begin = {size / 2, 0},
                               .end = {0, size / 2},
                               .groups = channels};
        for (const int zero : {0, 131, 255})
          CheckSums(window, zero, Spread::kAnywhere, is_measured ? "nnefc:mixed_depthwise" : "");
      }
    }
  }
}

// Windows whose rows are multiplied in groups of four taps: extents around those of groups and of parts of a
// row, positions in the border, and images of one row or one column.
TEST(QuantizedWindowsTest, DepthwiseWindows) {
  const auto check = [](Convolved window, int zero) {
    for (const int64_t channels : {8, 16, 40}) {
      window.image[1] = window.outputs = window.groups = channels;
      // Square windows move along rows.
      const bool is_square = window.size.size() == 2 && window.size[0] == window.size[1];
      CheckSums(window, zero, Spread::kAnywhere,
                fast::HasVnni() && !is_square ? "nnefc:int8_depthwise_vnni" : "");
    }
  };
  for (int64_t size = 2; size <= 9; ++size) {
    for (const int64_t stride : {1, 2}) {
      check({.image = {1, 0, 9, 11},
             .size = {3, size},
             .strides = {stride, stride},
             .begin = {1, size / 2},
             .end = {1, size / 2}},
            131);
      check({.image = {2, 0, 12, 26}, .size = {size, 3}, .strides = {1, stride}, .end = {size - 1, 1}}, 255);
    }
  }
  check({.image = {1, 0, 7, 8}, .size = {3, 3}, .dilations = {2, 1}, .begin = {2, 1}, .end = {2, 1}}, 9);
  check({.image = {1, 0, 3, 2}, .size = {5, 5}, .begin = {4, 4}, .end = {4, 4}}, 100);
  check({.image = {1, 0, 4, 4}, .size = {2, 2}, .begin = {3, 3}, .end = {2, 3}}, 1);
  check({.image = {1, 0, 4, 700}, .size = {3, 5}, .strides = {2, 1}, .begin = {1, 2}, .end = {1, 2}}, 128);
  check({.image = {1, 0, 2, 501}, .size = {1, 3}, .strides = {1, 2}, .begin = {0, 1}}, 128);
  check({.image = {1, 0, 9, 20}, .size = {1, 3}, .strides = {2, 1}}, 128);
  check({.image = {1, 0, 11, 20}, .size = {2, 4}, .strides = {3, 1}, .begin = {1, 1}}, 128);
  check({.image = {2, 0, 37, 1}, .size = {5, 1}, .strides = {2, 1}, .begin = {2, 0}, .end = {2, 0}}, 0);
  check({.image = {1, 0, 33}, .size = {4}, .strides = {1}, .dilations = {1}, .begin = {1}, .end = {2}}, 77);
}

TEST(QuantizedWindowsTest, Groups) {
  struct Widths {
    int64_t channels, outputs, groups;
  };
  for (const auto& [channels, outputs, groups] :
       {Widths{8, 8, 5},   Widths{16, 16, 3}, Widths{4, 8, 7},   Widths{32, 32, 2}, Widths{12, 48, 3},
        Widths{24, 16, 2}, Widths{3, 5, 2},   Widths{16, 16, 1}, Widths{24, 24, 4}, Widths{24, 24, 3},
        Widths{40, 8, 3},  Widths{20, 24, 5}, Widths{56, 56, 2}, Widths{24, 12, 4}, Widths{12, 24, 1},
        Widths{2, 2, 32},  Widths{2, 2, 9},   Widths{3, 2, 8},   Widths{2, 6, 11},  Widths{3, 4, 5}}) {
    for (const int64_t stride : {1, 2}) {
      const Convolved window{.image = {1, channels * groups, 9, 10},
                             .outputs = outputs * groups,
                             .size = {3, 3},
                             .strides = {stride, stride},
                             .begin = {1, 1},
                             .end = {1, 1},
                             .groups = groups};
      for (const Spread spread : kSpreads) CheckSums(window, 131, spread, "");
    }
  }
}

// What follows a convolution up to the quantization of its result.
enum class Follows : uint8_t {
  kNothing,
  kBias,
  kScalarBias,
  kRelu,
  kBiasRelu,
  kClamp,
  kResidual,
  kResidualRelu
};

// The last operations of the step of the convolution or, after a sum, of the last step.
std::string FusedSteps(const Convolved& window, Follows follows) {
  switch (follows) {
    case Follows::kNothing:
      return "Convolution+FakeQuantize ";
    case Follows::kBias:
    case Follows::kScalarBias:
      return "Convolution+Add+FakeQuantize ";
    case Follows::kRelu:
      return "Convolution+ReLU+FakeQuantize ";
    case Follows::kBiasRelu:
      return "Convolution+Add+ReLU+FakeQuantize ";
    case Follows::kClamp:
      return "Convolution+Clamp";  // the FakeQuantize may be part of the step
    case Follows::kResidual:
      return "Add+FakeQuantize ";
    case Follows::kResidualRelu:
      return "Add+ReLU+FakeQuantize ";
  }
  return "";
}

void CheckCodes(const Convolved& window, const Quantization& from, const Quantization& to, Follows follows) {
  SCOPED_TRACE(ToString(window.image) + " by " + ToString(window.Filter()) + ", zeros " +
               std::to_string(from.zero) + " and " + std::to_string(to.zero) + ", follows " +
               std::to_string(static_cast<int>(follows)));
  const std::vector<int64_t> codes = DrawValues(window.image, from.zero, Spread::kAnywhere, 3);
  const std::vector<int64_t> weights = DrawWeights(window.outputs, window.channels() * window.taps(), 4);
  const Shape result = window.Result();
  TestGraph g;
  ir::OutputPort y =
      window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), from), window.FilterOf(weights));
  std::vector<TensorValue> inputs = {NumbersOf(window.image, codes, from)};
  const std::vector<int64_t> sums = window.Sums(Less(codes, from.zero), weights);
  std::vector<double> expected;
  for (size_t i = 0; i < sums.size(); ++i)
    expected.push_back(static_cast<double>(sums[i]) * from.scale * FilterScale(window.OutputOf(i)));
  if (follows == Follows::kBias || follows == Follows::kBiasRelu) y = AddBias(g, y, window, expected);
  if (follows == Follows::kScalarBias) {
    y = g.Op("Add", {y, Scalar(g, -1.75F)});
    for (double& number : expected) number -= 1.75;
  }
  if (follows == Follows::kRelu || follows == Follows::kBiasRelu) y = AddRelu(g, y, expected);
  if (follows == Follows::kClamp) y = AddClamp(g, y, expected);
  y = FakeQuantized(g, y, to);
  double slack = 1e-3;
  if (follows == Follows::kResidual || follows == Follows::kResidualRelu) {
    const std::vector<int64_t> others = DrawValues(result, 60, Spread::kAnywhere, 5);
    const Quantization of_others{.scale = to.scale * 2, .zero = 60};
    y = g.Op("Add", {y, FakeQuantized(g, g.Parameter("r", result), of_others)});
    inputs.push_back(NumbersOf(result, others, of_others));
    if (follows == Follows::kResidualRelu) y = g.Op("ReLU", {y});
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = to.Number(0) + to.scale * to.Code(expected[i]) + of_others.Number(others[i]);
      if (follows == Follows::kResidualRelu) expected[i] = std::max(expected[i], 0.0);
    }
    slack += 0.5;  // of the code before the sum
    y = FakeQuantized(g, y, to);
  }
  g.Result(y);
  ExpectCodes(g, inputs, to, expected, fast::simd::HasSimd() ? FusedSteps(window, follows) : "", slack);
}

TEST(QuantizedWindowsTest, QuantizedResults) {
  const Convolved windows[] = {
      {.image = {1, 1, 9, 11}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
      {.image = {1, 1, 9, 33},
       .outputs = 32,
       .size = {3, 3},
       .strides = {2, 2},
       .begin = {1, 1},
       .end = {1, 1}},
      {.image = {2, 3, 9, 8},
       .outputs = 17,
       .size = {3, 3},
       .strides = {2, 2},
       .begin = {1, 1},
       .end = {1, 1}},
      {.image = {1, 33, 5, 6}, .outputs = 40, .size = {1, 1}},
      {.image = {1, 32, 8, 9}, .outputs = 33, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
      {.image = {1, 17, 9}, .outputs = 16, .size = {3}, .begin = {1}, .end = {1}},
      {.image = {1, 20, 7, 7}, .outputs = 20, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}, .groups = 20},
      {.image = {1, 32, 7, 9}, .outputs = 32, .size = {3, 3}, .dilations = {1, 2}, .groups = 32},
      {.image = {1, 32, 7, 11}, .outputs = 32, .size = {3, 3}, .strides = {1, 3}, .groups = 32},
      {.image = {2, 16, 6, 30}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}, .groups = 16},
      {.image = {1, 40, 9, 11},
       .outputs = 40,
       .size = {5, 5},
       .strides = {2, 2},
       .begin = {2, 2},
       .end = {2, 2},
       .groups = 40},
      {.image = {1, 32, 7, 7}, .outputs = 32, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}, .groups = 4},
      {.image = {1, 128, 5, 4}, .outputs = 33, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}},
      {.image = {1, 516, 5, 3}, .outputs = 48, .size = {1, 1}}};
  for (Convolved window : windows) {
    if (window.axes() == 1) window.strides = window.dilations = {1};
    for (const Follows follows :
         {Follows::kNothing, Follows::kBias, Follows::kScalarBias, Follows::kRelu, Follows::kBiasRelu,
          Follows::kClamp, Follows::kResidual, Follows::kResidualRelu}) {
      CheckCodes(window, {.zero = 0}, {.scale = 0.25F, .zero = 90}, follows);
      CheckCodes(window, {.zero = 131}, {.scale = 0.125F, .zero = 0}, follows);
      CheckCodes(window, {.zero = 255}, {.scale = 0x1p-4F, .zero = 255}, follows);
    }
  }
}

// Images with few channels, of which the pixels of a filter row are joined: groups of four values end in the
// next pixel, in the next row, or after the image.
TEST(QuantizedWindowsTest, JoinedPixels) {
  for (const int64_t channels : {1, 2, 3}) {
    for (const int64_t width : {2, 3, 4, 5, 8}) {
      for (const int64_t outputs : {16, 17, 48}) {
        for (const bool is_padded : {false, true}) {
          const Convolved window{.image = {2, channels, 6, 9},
                                 .outputs = outputs,
                                 .size = {3, width},
                                 .strides = {1 + width % 2, is_padded ? 2 : 1},
                                 .begin = {is_padded, 0},
                                 .end = {0, is_padded ? width - 1 : 0}};
          CheckSums(window, 131, Spread::kAnywhere, OwnKernel("int8_conv"));
          CheckCodes(window, {.zero = 0}, {.scale = 0.25F, .zero = 90}, Follows::kBiasRelu);
          CheckCodes(window, {.zero = 255}, {.scale = 0.125F, .zero = 0}, Follows::kClamp);
          CheckCodes(window, {.zero = 77}, {.scale = 0.125F, .zero = 9}, Follows::kResidual);
        }
      }
    }
  }
  // Windows that move by whole pixels, dilated windows, and windows of one column.
  const Convolved windows[] = {{.image = {1, 3, 8, 8}, .outputs = 32, .size = {4, 4}, .strides = {4, 4}},
                               {.image = {1, 1, 9, 64}, .outputs = 16, .size = {1, 32}, .strides = {1, 16}},
                               {.image = {1, 3, 7, 8}, .outputs = 16, .size = {3, 3}, .dilations = {1, 2}},
                               {.image = {1, 1, 7, 8}, .outputs = 16, .size = {3, 1}}};
  for (const Convolved& window : windows) CheckSums(window, 50, Spread::kAnywhere, "");
}

// The kernel of few outputs multiplies whole vectors of a filter row, which reach beyond it.
TEST(QuantizedWindowsTest, FewOutputs) {
  const std::string kernel = fast::HasVnni() ? "nnefc:int8_few_outputs" : "";
  for (const int64_t outputs : {1, 2, 3, 4, 5, 7, 8, 9}) {
    for (const int64_t channels : {16, 21, 64, 100}) {
      const std::string expected = outputs <= 5 && channels == 64 ? kernel : "";
      const Convolved window{
          .image = {2, channels, 7, 9}, .outputs = outputs, .size = {3, 3}, .begin = {1, 0}, .end = {1, 2}};
      CheckSums(window, 0, Spread::kEnds, expected);
      CheckSums(window, 131, Spread::kAnywhere, expected);
      CheckSums(window, 255, Spread::kAnywhere, expected);
      CheckSums(window, 131, Spread::kAnywhere, "", true);
    }
  }
  // Windows in the image, strides, dilations, pixels, one axis, and results of more pixels than one block.
  const Convolved windows[] = {
      {.image = {1, 48, 9, 9}, .outputs = 1, .size = {3, 3}},
      {.image = {1, 48, 9, 10}, .outputs = 2, .size = {3, 2}, .strides = {2, 2}},
      {.image = {1, 32, 9, 10}, .outputs = 3, .size = {2, 3}, .dilations = {2, 3}, .begin = {1, 3}},
      {.image = {1, 96, 21, 27}, .outputs = 1, .size = {1, 1}},
      {.image = {1, 64, 15, 17}, .outputs = 1, .size = {1, 1}},
      {.image = {1, 64, 16, 16}, .outputs = 1, .size = {1, 1}},
      {.image = {1, 64, 257, 1}, .outputs = 1, .size = {1, 1}},
      {.image = {2, 33, 40},
       .outputs = 2,
       .size = {5},
       .strides = {1},
       .dilations = {1},
       .begin = {2},
       .end = {2}},
      {.image = {1, 32, 24, 23}, .outputs = 3, .size = {9, 9}, .begin = {4, 4}, .end = {4, 4}}};
  for (const Convolved& window : windows) CheckSums(window, 77, Spread::kAnywhere, kernel);
}

// A bias and functions after few outputs.
TEST(QuantizedWindowsTest, FunctionsOfFewOutputs) {
  const Convolved window{
      .image = {2, 32, 11, 13}, .outputs = 3, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  const std::vector<int64_t> codes = DrawValues(window.image, 120, Spread::kAnywhere, 6);
  const Quantization from{.zero = 120};
  for (const std::string function : {"Sigmoid", "Tanh", "ReLU", "Add"}) {
    TestGraph g;
    ir::OutputPort y = window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), from),
                                  window.FilterOf(DrawWeights(3, 32 * 9, 7)));
    y = g.Op("Add", {y, g.Const(TensorValue::FromFloats({1, 3, 1, 1}, {-0.5F, 1, 40}))});
    y = function == "Add"
            ? g.Op("Add", {y, g.Const(TensorValue::FromFloats({1, 1, 11, 13}, std::vector<float>(143, 2)))})
            : g.Op(function, {y});
    g.Result(y);
    const std::vector<TensorValue> inputs = {NumbersOf(window.image, codes, from)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
    for (const int threads : {1, 2})
      ExpectNear(RunGraph(g.graph, {.threads = threads}, inputs)[0], expected[0], 1e-5);
  }
}

// Depthwise windows that the kernel with VNNI does not support are computed in 8 bits with a FakeQuantize
// too.
TEST(QuantizedWindowsTest, RoundedDepthwiseResults) {
  const Convolved windows[] = {
      {.image = {1, 32, 7, 9}, .outputs = 32, .size = {3, 3}, .groups = 32},
      {.image = {1, 32, 7, 9}, .outputs = 32, .size = {3, 3}, .dilations = {1, 2}, .groups = 32},
      {.image = {1, 32, 7, 11}, .outputs = 32, .size = {3, 3}, .strides = {1, 3}, .groups = 32}};
  for (const Convolved& window : windows) {
    TestGraph g;
    const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", window.image), {.zero = 100});
    const ir::OutputPort y = window.Add(g, x, window.FilterOf(DrawWeights(32, window.taps(), 4)));
    std::vector<float> low, high;
    for (int64_t i = 0; i < 32; ++i) {
      low.push_back(static_cast<float>(-20 - i));
      high.push_back(static_cast<float>(30 + i));
    }
    const ir::OutputPort first = g.Const(TensorValue::FromFloats({1, 32, 1, 1}, low)),
                         last = g.Const(TensorValue::FromFloats({1, 32, 1, 1}, high));
    ir::AttributeMap levels;
    levels.Set("levels", int64_t{256});
    g.Result(g.Op("FakeQuantize", {y, first, last, first, last}, levels));
    const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 1});
    ASSERT_NE(executable, nullptr);
    if (fast::simd::HasSimd()) {
      EXPECT_NE(executable->DescribePlan().find("depthwise"), std::string::npos)
          << executable->DescribePlan();
    }
  }
}

// A bias of another number for each pixel, a second reader, a sum with what is quantized by another zero.
TEST(QuantizedWindowsTest, SecondReaders) {
  const Convolved window{
      .image = {1, 16, 6, 5}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  const Quantization from{.zero = 120}, to{.scale = 0.25F, .zero = 110};
  const std::vector<int64_t> codes = DrawValues(window.image, 120, Spread::kAnywhere, 6);
  const std::vector<int64_t> weights = DrawWeights(16, 16 * 9, 7);
  const std::vector<int64_t> sums = window.Sums(Less(codes, 120), weights);
  TestGraph g;
  const ir::OutputPort y =
      window.Add(g, FakeQuantized(g, g.Parameter("x", window.image), from), window.FilterOf(weights));
  const ir::OutputPort quantized = FakeQuantized(g, g.Op("ReLU", {y}), to);
  g.Result(y, "sums");
  g.Result(window.Add(g, quantized, window.FilterOf(weights)), "next");
  g.Result(quantized, "codes");
  for (const int threads : {1, 2}) {
    const auto made = RunGraph(g.graph, {.threads = threads}, {NumbersOf(window.image, codes, from)});
    ASSERT_EQ(made.size(), 3U);
    std::vector<int64_t> next;
    for (size_t i = 0; i < sums.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const double number = static_cast<double>(sums[i]) * from.scale * FilterScale(window.OutputOf(i));
      ASSERT_EQ(made[0].ElementAsDouble(at), number) << i;
      const double code = made[2].ElementAsDouble(at) / to.scale + to.zero;
      ASSERT_NEAR(code, to.Code(std::max(number, 0.0)), 0.501) << i;
      next.push_back(static_cast<int64_t>(std::rint(code)) - to.zero);
    }
    const std::vector<int64_t> again = window.Sums(next, weights);
    for (size_t i = 0; i < again.size(); ++i) {
      const double number = static_cast<double>(again[i]) * to.scale * FilterScale(window.OutputOf(i));
      ASSERT_EQ(made[1].ElementAsDouble(static_cast<int64_t>(i)), number) << i;
    }
  }
}

// Filters whose numbers are multiples of no scale, or not constant, are multiplied as numbers.
TEST(QuantizedWindowsTest, FiltersOfNumbers) {
  const Convolved window{
      .image = {1, 16, 6, 5}, .outputs = 16, .size = {3, 3}, .begin = {1, 1}, .end = {1, 1}};
  for (const bool is_constant : {true, false}) {
    const TensorValue filter = RandomTensor(window.Filter(), 8);
    TestGraph g;
    const ir::OutputPort x = FakeQuantized(g, g.Parameter("x", window.image), {.zero = 128});
    const ir::OutputPort factor = is_constant ? g.Const(filter) : g.Parameter("filter", window.Filter());
    g.Result(g.Op("Convolution", {x, factor}, window.Attributes()));
    std::vector<TensorValue> inputs = {RandomTensor(window.image, 9)};
    if (!is_constant) inputs.push_back(filter);
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
    ExpectNear(RunGraph(g.graph, {.threads = 2}, inputs)[0], expected[0], 1e-5);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
