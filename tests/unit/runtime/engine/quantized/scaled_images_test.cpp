// f32 images multiplied by numbers of their channels and quantized, in one step, against the formula.

#include <algorithm>
#include <cmath>

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct ScaledImage {
  Shape shape;
  int zero = 77;
  bool is_second = false;      // the image is the second operand
  bool has_one_scale = false;  // of all channels
  bool has_relu = false;       // between the product and the quantization
  bool is_in_rows = false;     // the image is row-major
  std::string kernel = "nnefc:int8_scaled_images";
};

void ExpectScaledImages(const ScaledImage& of) {
  SCOPED_TRACE(ToString(of.shape) + (of.is_second ? " second" : " first"));
  const Quantization to{.scale = 0x1p-3F, .zero = of.zero};
  const int64_t channels = of.shape[1], pixels = of.shape[2] * of.shape[3];
  std::vector<float> numbers, scales;
  for (int64_t i = 0; i < *Volume(of.shape); ++i)
    numbers.push_back(static_cast<float>((i * 37) % 257 - 128) * 0.21F);
  for (int64_t channel = 0; channel < (of.has_one_scale ? 1 : channels); ++channel)
    scales.push_back(0.25F * static_cast<float>(channel % 7 - 3) + 0.1F);
  TestGraph g;
  // A depthwise convolution by ones leaves the numbers as they are, in blocks of channels. Its second reader
  // prevents the product in its step.
  Convolved copy{.image = of.shape, .outputs = channels, .groups = channels};
  const ir::OutputPort given = g.Parameter("x", of.shape);
  const TensorValue ones =
      TensorValue::FromFloats(copy.Filter(), std::vector<float>(static_cast<size_t>(channels), 1));
  const ir::OutputPort x = of.is_in_rows ? given : copy.Add(g, given, ones);
  const ir::OutputPort by =
      g.Const(TensorValue::FromFloats({1, static_cast<int64_t>(scales.size()), 1, 1}, scales));
  ir::OutputPort product = of.is_second ? g.Op("Multiply", {by, x}) : g.Op("Multiply", {x, by});
  if (of.has_relu) product = g.Op("ReLU", {product});
  g.Result(TakeImage(g, FakeQuantized(g, product, to), channels));
  g.Result(x, "x");
  std::vector<double> expected;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t channel = of.has_one_scale ? 0 : i / static_cast<size_t>(pixels) % scales.size();
    const double scaled = double{numbers[i]} * double{scales[channel]};
    expected.push_back(of.has_relu ? std::max(scaled, 0.0) : scaled);
  }
  ExpectCodes(g, {TensorValue::FromFloats(of.shape, numbers)}, to, expected,
              fast::simd::HasSimd() ? of.kernel : "");
}

TEST(ScaledImagesTest, ChannelsAndPixels) {
  for (const int64_t channels : {8, 12, 15, 16, 17, 31, 32, 33, 48}) {
    for (const bool is_second : {false, true})
      ExpectScaledImages({.shape = {2, channels, 5, 7}, .is_second = is_second});
  }
  // Parts of 256 pixels.
  for (const int64_t pixels : {255, 256, 257, 600}) ExpectScaledImages({.shape = {1, 20, 1, pixels}});
}

TEST(ScaledImagesTest, ZeroPoints) {
  for (const int zero : {0, 1, 128, 254, 255}) ExpectScaledImages({.shape = {1, 24, 4, 4}, .zero = zero});
}

TEST(ScaledImagesTest, OneScaleIsInAnotherStep) {
  ExpectScaledImages({.shape = {1, 24, 4, 4}, .has_one_scale = true, .kernel = ""});
}

TEST(ScaledImagesTest, AFunctionBeforeTheQuantization) {
  for (const bool is_second : {false, true})
    ExpectScaledImages({.shape = {2, 24, 4, 4}, .is_second = is_second, .has_relu = true, .kernel = ""});
}

TEST(ScaledImagesTest, RowMajorImages) {
  for (const bool is_second : {false, true})
    ExpectScaledImages({.shape = {2, 24, 4, 4}, .is_second = is_second, .is_in_rows = true, .kernel = ""});
}

// `min_max_linear_quantize` rounds numbers halfway between two codes up, unlike FakeQuantize.
TEST(ScaledImagesTest, NumbersBetweenTwoCodes) {
  const Shape shape = {1, 32, 4, 4};
  const Quantization to{.scale = 0x1p-3F, .zero = 77};
  for (const bool is_min_max : {false, true}) {
    TestGraph g;
    Convolved copy{.image = shape, .outputs = 32, .groups = 32};
    const ir::OutputPort x = copy.Add(g, g.Parameter("x", shape),
                                      TensorValue::FromFloats(copy.Filter(), std::vector<float>(32, 1)));
    const ir::OutputPort product =
        g.Op("Multiply", {x, g.Const(TensorValue::FromFloats({1, 32, 1, 1}, std::vector<float>(32, 0.5F)))});
    ir::AttributeMap bits = With("bits", int64_t{8});
    for (const char* name : {"signed", "symmetric"}) bits.Set(name, false);
    const ir::OutputPort quantized = is_min_max ? g.Op(ir::kNnefSet, "min_max_linear_quantize",
                                                       {product, Scalar(g, static_cast<float>(to.Number(0))),
                                                        Scalar(g, static_cast<float>(to.Number(255)))},
                                                       bits)
                                                : FakeQuantized(g, product, to);
    g.Result(TakeImage(g, quantized, 32));
    g.Result(x, "x");
    std::vector<float> numbers;
    std::vector<double> expected;
    for (int64_t i = 0; i < *Volume(shape); ++i) {
      const int64_t code = i % 254;
      numbers.push_back(static_cast<float>(2 * to.Number(code)) + to.scale);
      expected.push_back(to.Number(is_min_max || code % 2 != 0 ? code + 1 : code));
    }
    ExpectNumbers(g, {TensorValue::FromFloats(shape, numbers)}, expected);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
