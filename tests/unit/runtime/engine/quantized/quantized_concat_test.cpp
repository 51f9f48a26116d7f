// Concatenations of quantized images with functions of their channels, against the integers.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// The producers of the parts: convolutions in 8 bits, parameters quantized in rows, MaxPool, or a Split.
enum class Source : uint8_t { kConvolution, kRows, kMinMax, kPooled, kSplit };

struct Joined {
  std::vector<int64_t> channels;
  bool has_factors = true, has_offsets = true, has_relu = true;
  Shape pixels = {5, 7};
  Source source = Source::kConvolution;
  bool is_scalar = false;  // one factor and one offset
  const char* kernel = "nnefc:int8_linear_concat";
};

ir::OutputPort MinMaxQuantized(TestGraph& g, ir::OutputPort x, const Quantization& by) {
  ir::AttributeMap attributes = With("bits", int64_t{8});
  attributes.Set("signed", false);
  attributes.Set("symmetric", false);
  return g.Op("nnef", "min_max_linear_quantize",
              {x, Scalar(g, static_cast<float>(by.Number(0))), Scalar(g, static_cast<float>(by.Number(255)))},
              attributes);
}

ir::OutputPort Pooled(TestGraph& g, ir::OutputPort x) {
  ir::AttributeMap attributes = With("kernel", ir::Attribute::Integers{1, 1});
  for (const char* name : {"strides", "dilations"}) attributes.Set(name, ir::Attribute::Integers{1, 1});
  for (const char* name : {"pads_begin", "pads_end"}) attributes.Set(name, ir::Attribute::Integers{0, 0});
  return g.Op("opset8", "MaxPool", {x}, attributes, 2);
}

// Quantizes a parameter of `channels` channels to a part of a Concat.
ir::OutputPort PartOf(TestGraph& g, Source source, ir::OutputPort x, int64_t channels,
                      const Quantization& by) {
  switch (source) {
    case Source::kRows:
      return FakeQuantized(g, x, by);
    case Source::kMinMax:
      return MinMaxQuantized(g, x, by);
    case Source::kPooled:
      return Pooled(g, MinMaxQuantized(g, Pooled(g, x), by));
    case Source::kSplit: {
      const ir::OutputPort all =
          MinMaxQuantized(g, Pooled(g, g.Op("Concat", {x, x}, With("axis", int64_t{1}))), by);
      const ir::OutputPort parts = g.Op("opset1", "Split", {all, g.Const(TensorValue::FromInts({}, {1}))},
                                        With("num_splits", int64_t{2}), 2);
      return {parts.node, 1};
    }
    case Source::kConvolution:
      break;
  }
  return FakeQuantized(g, TakeImage(g, FakeQuantized(g, x, by), channels), by);
}

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
    parts.push_back(PartOf(g, of.source, g.Parameter(name, shape), channels, by));
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
  const Shape of_channels = of.is_scalar ? Shape{} : Shape{1, all, 1, 1};
  if (of.is_scalar) {
    factors.assign(1, 0.75F);
    offsets.assign(1, -0.5F);
  }
  if (of.has_factors) y = g.Op("Multiply", {y, g.Const(TensorValue::FromFloats(of_channels, factors))});
  if (of.has_offsets) y = g.Op("Add", {g.Const(TensorValue::FromFloats(of_channels, offsets)), y});
  if (of.has_relu) y = g.Op("ReLU", {y});
  const Quantization result{.scale = 0x1p-6F, .zero = 70};
  g.Result(TakeImage(g, FakeQuantized(g, y, result), all));
  std::vector<double> expected;
  for (const std::vector<double>& image : numbers) {
    for (size_t i = 0; i < image.size(); ++i) {
      const size_t channel = of.is_scalar ? 0 : i / static_cast<size_t>(pixels);
      double number = image[i];
      if (of.has_factors) number *= factors[channel];
      if (of.has_offsets) number += offsets[channel];
      expected.push_back(of.has_relu ? std::max(number, 0.0) : number);
    }
  }
  ExpectCodes(g, inputs, result, expected, fast::simd::HasSimd() ? of.kernel : "");
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

TEST(QuantizedConcatTest, Sources) {
  for (const Source source : {Source::kRows, Source::kMinMax, Source::kPooled, Source::kSplit}) {
    for (const bool is_scalar : {false, true}) {
      for (const std::vector<int64_t>& channels : {std::vector<int64_t>{16, 16}, {3, 7}}) {
        SCOPED_TRACE("source " + std::to_string(static_cast<int>(source)));
        ExpectJoined({.channels = channels, .source = source, .is_scalar = is_scalar, .kernel = ""});
      }
    }
  }
}

// A part of the channels of a quantized image.
TEST(QuantizedConcatTest, PartsOfImages) {
  const Shape shape = {1, 32, 4, 5}, half = {1, 16, 4, 5};
  const Quantization by{.zero = 90};
  const std::vector<int64_t> codes = DrawValues(shape, 90, Spread::kAnywhere, 5);
  TestGraph g;
  const ir::OutputPort x = MinMaxQuantized(g, Pooled(g, g.Parameter("x", shape)), by);
  const ir::OutputPort parts = g.Op("opset1", "Split", {x, g.Const(TensorValue::FromInts({}, {1}))},
                                    With("num_splits", int64_t{2}), 2);
  g.Result(g.Op("Add", {parts, {parts.node, 1}}));
  std::vector<double> expected;
  for (size_t i = 0; i < 320; ++i) expected.push_back(by.Number(codes[i]) + by.Number(codes[320 + i]));
  ExpectNumbers(g, {NumbersOf(shape, codes, by)}, expected);
}

}  // namespace
}  // namespace nnefc::runtime::engine
