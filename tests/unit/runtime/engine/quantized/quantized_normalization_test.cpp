// MVN over the pixels of quantized images, against sums of the integers.

#include <cmath>

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

struct Normalized {
  Shape shape;
  int zero = 77;
  bool divides = true;
  double epsilon = 1e-5;
  const char* mode = "inside_sqrt";
};

void ExpectNormalized(const Normalized& of, const std::vector<int64_t>& codes) {
  SCOPED_TRACE(ToString(of.shape) + " " + of.mode);
  const Quantization by{.zero = of.zero};
  ir::AttributeMap attributes;
  attributes.Set("normalize_variance", of.divides);
  attributes.Set("eps", of.epsilon);
  attributes.Set("eps_mode", of.mode);
  TestGraph g;
  const ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", of.shape), by), of.shape[1]);
  g.Result(g.Op("opset6", "MVN", {FakeQuantized(g, x, by), g.Ints({2, 3})}, attributes));
  const int64_t planes = of.shape[0] * of.shape[1], pixels = *Volume(of.shape) / planes;
  std::vector<double> expected;
  double largest = 0;
  for (int64_t plane = 0; plane < planes; ++plane) {
    const auto at = [&](int64_t pixel) {
      return by.Number(codes[static_cast<size_t>(plane * pixels + pixel)]);
    };
    double mean = 0, variance = 0;
    for (int64_t pixel = 0; pixel < pixels; ++pixel) mean += at(pixel) / static_cast<double>(pixels);
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      variance += (at(pixel) - mean) * (at(pixel) - mean) / static_cast<double>(pixels);
    const bool is_inside = std::string_view(of.mode) == "inside_sqrt";
    const double deviation = is_inside ? std::sqrt(variance + of.epsilon) : std::sqrt(variance) + of.epsilon;
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      expected.push_back((at(pixel) - mean) / (of.divides ? deviation : 1));
  }
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  ExpectNumbers(g, {NumbersOf(of.shape, codes, by)}, expected, fast::simd::HasSimd() ? "nnefc:int8_mvn" : "",
                2e-6 * largest);
}

TEST(QuantizedNormalizationTest, PixelsOfEachChannel) {
  for (const int64_t channels : {1, 7, 8, 15, 16, 17, 24, 32, 33}) {
    for (const Shape& shape : {Shape{2, channels, 6, 7}, Shape{1, channels, 1, 2}, Shape{1, channels, 1, 9}})
      ExpectNormalized({.shape = shape}, DrawValues(shape, 77, Spread::kAnywhere, 1));
  }
}

TEST(QuantizedNormalizationTest, Settings) {
  const Shape shape = {1, 17, 5, 5};
  const std::vector<int64_t> codes = DrawValues(shape, 77, Spread::kAnywhere, 3);
  for (const char* mode : {"inside_sqrt", "outside_sqrt"}) {
    for (const double epsilon : {1e-9, 0.1}) {
      ExpectNormalized({.shape = shape, .epsilon = epsilon, .mode = mode}, codes);
      ExpectNormalized({.shape = shape, .divides = false, .epsilon = epsilon, .mode = mode}, codes);
    }
  }
  for (const int zero : {0, 255}) ExpectNormalized({.shape = shape, .zero = zero}, codes);
}

// Images of several parts of 2,048 pixels, and of sums that do not fit into 32 bits.
TEST(QuantizedNormalizationTest, LargeImages) {
  for (const int64_t pixels : {2047, 2048, 2049, 4096, 70000}) {
    const Shape shape = {1, 17, 1, pixels};
    std::vector<int64_t> codes = DrawValues(shape, 77, Spread::kAnywhere, 4);
    // A channel of the largest value but for one pixel, and one of a single value.
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      codes[static_cast<size_t>(pixel)] = pixel == 5 ? 254 : 255;
      codes[static_cast<size_t>(pixels + pixel)] = 200;
    }
    ExpectNormalized({.shape = shape}, codes);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
