// Concatenations of quantized images with functions of their channels, against the integers.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct Joined {
  std::vector<int64_t> channels;
  bool has_factors = true, has_offsets = true, has_relu = true;
  Shape pixels = {5, 7};
};

// Joins images with quantizations of their own.
void ExpectJoined(const Joined& of) {
  SCOPED_TRACE(std::to_string(of.channels[0]) + " channels first, factors " + std::to_string(of.has_factors) +
               ", offsets " + std::to_string(of.has_offsets) + ", ReLU " + std::to_string(of.has_relu));
  constexpr int64_t kImages = 2;
  const int64_t pixels = of.pixels[0] * of.pixels[1];
  int64_t all = 0;
  TestGraph g;
  std::vector<ir::OutputPort> parts;
  std::vector<TensorValue> inputs;
  std::vector<std::vector<double>> numbers(kImages);
  for (size_t i = 0; i < of.channels.size(); ++i) {
    const int64_t channels = of.channels[i];
    const Shape shape = {kImages, channels, of.pixels[0], of.pixels[1]};
    const Quantization by{.scale = static_cast<float>(i + 1) * 0x1p-6F,
                          .zero = 40 + 50 * static_cast<int>(i)};
    const std::vector<int64_t> codes =
        DrawValues(shape, by.zero, Spread::kAnywhere, static_cast<unsigned>(i));
    const std::string name = "x" + std::to_string(i);
    parts.push_back(
        FakeQuantized(g, TakeImage(g, FakeQuantized(g, g.Parameter(name, shape), by), channels), by));
    inputs.push_back(NumbersOf(shape, codes, by));
    for (size_t k = 0; k < codes.size(); ++k)
      numbers[k / static_cast<size_t>(channels * pixels)].push_back(by.Number(codes[k]));
    all += channels;
  }
  std::vector<float> factors, offsets;
  for (int64_t i = 0; i < all; ++i) {
    factors.push_back(static_cast<float>(i % 7 - 3) * 0.375F);
    offsets.push_back(static_cast<float>(i % 5 - 2) * 0.25F);
  }
  ir::OutputPort y = g.Op("Concat", parts, With("axis", int64_t{1}));
  const Shape of_channels = {1, all, 1, 1};
  if (of.has_factors) y = g.Op("Multiply", {y, g.Const(TensorValue::FromFloats(of_channels, factors))});
  if (of.has_offsets) y = g.Op("Add", {g.Const(TensorValue::FromFloats(of_channels, offsets)), y});
  if (of.has_relu) y = g.Op("ReLU", {y});
  const Quantization result{.scale = 0x1p-6F, .zero = 70};
  g.Result(TakeImage(g, FakeQuantized(g, y, result), all));
  std::vector<double> expected;
  for (const std::vector<double>& image : numbers) {
    for (size_t i = 0; i < image.size(); ++i) {
      const size_t channel = i / static_cast<size_t>(pixels);
      double number = image[i];
      if (of.has_factors) number *= factors[channel];
      if (of.has_offsets) number += offsets[channel];
      expected.push_back(of.has_relu ? std::max(number, 0.0) : number);
    }
  }
  ExpectCodes(g, inputs, result, expected, fast::simd::HasSimd() ? "nnefc:int8_linear_concat" : "");
}

// Channels around those that are quantized at a time, and pixels beyond those of a task.
TEST(QuantizedConcatTest, Channels) {
  for (const std::vector<int64_t>& channels :
       {std::vector<int64_t>{1, 1}, {3, 17}, {16, 32}, {64, 32, 32}, {5, 511}, {512, 8}, {513, 7}})
    ExpectJoined({.channels = channels});
  ExpectJoined({.channels = {6, 10}, .pixels = {1, 1}});
  ExpectJoined({.channels = {6, 10}, .pixels = {16, 8}});  // 256 pixels in two images
  ExpectJoined({.channels = {6, 10}, .pixels = {17, 8}});
  ExpectJoined({.channels = {600, 9}, .pixels = {17, 8}});
}

TEST(QuantizedConcatTest, Functions) {
  for (const bool has_factors : {false, true}) {
    for (const bool has_offsets : {false, true}) {
      for (const bool has_relu : {false, true}) {
        if (!has_factors && !has_offsets && !has_relu) continue;
        ExpectJoined({.channels = {24, 9, 16},
                      .has_factors = has_factors,
                      .has_offsets = has_offsets,
                      .has_relu = has_relu});
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
