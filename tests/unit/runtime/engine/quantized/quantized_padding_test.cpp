// Channels of zeros after those of quantized images, and sums with such images, against the integers.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

ir::OutputPort ExtendChannels(TestGraph& g, ir::OutputPort x, size_t rank, int64_t added) {
  std::vector<int64_t> begin(rank, 0), end(rank, 0);
  end[1] = added;
  return g.Op("Pad", {x, g.Ints(begin), g.Ints(end)}, With("pad_mode", "constant"));
}

std::vector<double> Extended(const std::vector<int64_t>& codes, const Shape& shape, int64_t added,
                             const Quantization& by) {
  const int64_t pixels = static_cast<int64_t>(codes.size()) / shape[0] / shape[1];
  std::vector<double> numbers;
  for (int64_t image = 0; image < shape[0]; ++image) {
    for (int64_t i = 0; i < shape[1] * pixels; ++i)
      numbers.push_back(by.Number(codes[static_cast<size_t>(image * shape[1] * pixels + i)]));
    numbers.insert(numbers.end(), static_cast<size_t>(added * pixels), 0.0);
  }
  return numbers;
}

// Channels around those that are copied at a time, and images of fewer pixels than need exact copies.
TEST(QuantizedPaddingTest, AddedChannels) {
  for (const int64_t channels : {1, 3, 15, 16, 17, 24, 31, 32, 33}) {
    for (const int64_t added : {1, 4, 15, 16, 17, 33}) {
      for (const Shape& pixels : {Shape{1, 1}, Shape{1, 2}, Shape{5, 7}, Shape{64, 64}}) {
        if (pixels[0] == 64 && channels != 24) continue;
        SCOPED_TRACE(std::to_string(channels) + " and " + std::to_string(added) + " channels");
        const Shape shape = {2, channels, pixels[0], pixels[1]};
        const Quantization by{.zero = static_cast<int>(added * 7)};
        const std::vector<int64_t> codes = DrawValues(shape, by.zero, Spread::kAnywhere, 1);
        TestGraph g;
        ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), channels);
        x = ExtendChannels(g, FakeQuantized(g, x, by), 4, added);
        g.Result(TakeImage(g, x, channels + added));
        ExpectNumbers(g, {NumbersOf(shape, codes, by)}, Extended(codes, shape, added, by),
                      fast::simd::HasSimd() ? "nnefc:int8_pad" : "");
      }
    }
  }
}

// Sums of a quantized convolution and such an image, of which the largest values may be taken first.
TEST(QuantizedPaddingTest, Sums) {
  for (const int64_t channels : {8, 16, 24}) {
    for (const bool is_pooled : {false, true}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, pooled " + std::to_string(is_pooled));
      constexpr int64_t kAdded = 8;
      const Shape shape = {1, channels, 6, 4}, wide = {1, channels + kAdded, 6, 4};
      const Quantization by{.zero = 100}, sum{.scale = 2 * by.scale, .zero = 90};
      const std::vector<int64_t> a = DrawValues(shape, 100, Spread::kAnywhere, 2);
      const std::vector<int64_t> b = DrawValues(wide, 100, Spread::kAnywhere, 3);
      TestGraph g;
      ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("a", shape), by), channels);
      x = FakeQuantized(g, x, by);
      if (is_pooled) {
        ir::AttributeMap attributes = With("kernel", ir::Attribute::Integers{1, 1});
        for (const char* name : {"strides", "dilations"}) attributes.Set(name, ir::Attribute::Integers{1, 1});
        for (const char* name : {"pads_begin", "pads_end"})
          attributes.Set(name, ir::Attribute::Integers{0, 0});
        x = g.Op("opset8", "MaxPool", {x}, attributes, 2);
      }
      x = ExtendChannels(g, x, 4, kAdded);
      const ir::OutputPort y =
          FakeQuantized(g, TakeImage(g, FakeQuantized(g, g.Parameter("b", wide), by), wide[1]), by);
      g.Result(TakeImage(g, FakeQuantized(g, g.Op("ReLU", {g.Op("Add", {y, x})}), sum), wide[1]));
      std::vector<double> expected = Extended(a, shape, kAdded, by);
      for (size_t i = 0; i < expected.size(); ++i) expected[i] = std::max(expected[i] + by.Number(b[i]), 0.0);
      ExpectCodes(g, {NumbersOf(shape, a, by), NumbersOf(wide, b, by)}, sum, expected,
                  fast::simd::HasSimd() ? "Add+ReLU+FakeQuantize" : "");
    }
  }
}

// Borders that are not zeros after the channels are added in f32.
TEST(QuantizedPaddingTest, OtherBorders) {
  struct Border {
    std::vector<int64_t> begin, end;
    const char* mode = "constant";
    float number = 0;
  };
  const Border borders[] = {{{0, 1, 0, 0}, {0, 2, 0, 0}},         {{0, 0, 0, 0}, {0, 2, 0, 1}},
                            {{0, 0, 0, 0}, {1, 2, 0, 0}},         {{0, 0, 1, 0}, {0, 2, 0, 0}},
                            {{0, 0, 0, 0}, {0, 2, 0, 0}, "edge"}, {{0, 0, 0, 0}, {0, 2, 0, 0}, "constant", 1},
                            {{0, 0, 0, 0}, {0, -2, 0, 0}}};
  for (const Border& border : borders) {
    const Shape shape = {1, 16, 5, 3};
    const Quantization by{.zero = 77};
    const std::vector<int64_t> codes = DrawValues(shape, 77, Spread::kAnywhere, 4);
    TestGraph g;
    ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), 16);
    x = g.Op("opset12", "Pad",
             {FakeQuantized(g, x, by), g.Ints(border.begin), g.Ints(border.end), Scalar(g, border.number)},
             With("pad_mode", border.mode));
    g.Result(g.Op("Tanh", {x}));
    const std::vector<TensorValue> inputs = {NumbersOf(shape, codes, by)};
    EXPECT_EQ(Compile(g.graph, {.threads = 1})->DescribePlan().find("int8_pad"), std::string::npos);
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
    ExpectClose(RunGraph(g.graph, {.threads = 1}, inputs)[0], expected[0], 1e-6);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
