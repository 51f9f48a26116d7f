// Quantized images times scales of their channels, against the formula.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// A convolution that leaves each channel as it is, and keeps images quantized.
ir::OutputPort CopyChannels(TestGraph& g, ir::OutputPort x, int64_t channels) {
  std::vector<float> identity(static_cast<size_t>(channels * channels), 0.0F);
  for (int64_t i = 0; i < channels; ++i) identity[static_cast<size_t>(i * (channels + 1))] = 1;
  return g.Convolution(x, g.Const(TensorValue::FromFloats({channels, channels, 1, 1}, identity)), 0);
}

TEST(QuantizedScalesTest, ScalesOfChannels) {
  for (const int64_t images : {1, 2}) {
    for (const int64_t channels : {1, 3, 15, 16, 17, 24, 511, 512, 513}) {
      for (const bool is_first : {false, true}) {
        SCOPED_TRACE(std::to_string(images) + " images of " + std::to_string(channels) + " channels");
        const Shape shape = {images, channels, 3, 5};
        const Quantization from{.zero = 117}, to{.scale = 0x1p-4F, .zero = 30};
        const std::vector<int64_t> codes = DrawValues(shape, from.zero, Spread::kAnywhere, 3);
        std::vector<float> scales;
        for (int64_t i = 0; i < channels; ++i) scales.push_back(static_cast<float>(i * 5 % 9 - 3) / 4);
        TestGraph g;
        const ir::OutputPort image = FakeQuantized(
            g, CopyChannels(g, FakeQuantized(g, g.Parameter("x", shape), from), channels), from);
        const ir::OutputPort factor = g.Parameter("s", {1, channels, 1, 1});
        const ir::OutputPort y = g.Op("Multiply", {is_first ? factor : image, is_first ? image : factor});
        g.Result(CopyChannels(g, FakeQuantized(g, y, to), channels));
        std::vector<double> expected;
        for (size_t i = 0; i < codes.size(); ++i)
          expected.push_back(from.Number(codes[i]) * double{scales[i / 15 % scales.size()]});
        for (double& number : expected)
          number = to.Number(static_cast<int64_t>(std::nearbyint(to.Code(number))));
        const std::string kernel = channels > 3 && fast::simd::HasSimd() ? "nnefc:int8_scale" : "";
        ExpectNumbers(g,
                      {NumbersOf(shape, codes, from), TensorValue::FromFloats({1, channels, 1, 1}, scales)},
                      expected, kernel);
      }
    }
  }
}

// Constant scales, with or without a sum by channel: one step with AVX-512 and VNNI.
TEST(QuantizedScalesTest, ConstantScales) {
  for (const int64_t channels : {3, 15, 16, 17, 33, 64}) {
    for (const Shape& shape : {Shape{2, channels, 5, 7}, {1, channels, 20}}) {
      for (const bool has_sum : {false, true}) {
        SCOPED_TRACE(ToString(shape) + (has_sum ? " with a sum" : ""));
        const Quantization from{.zero = 117}, to{.scale = 0x1p-4F, .zero = 30};
        const std::vector<int64_t> codes = DrawValues(shape, from.zero, Spread::kAnywhere, 3);
        std::vector<float> scales, addends;
        for (int64_t i = 0; i < channels; ++i) {
          scales.push_back(static_cast<float>(i * 5 % 9 - 3) / 4);
          addends.push_back(static_cast<float>(i * 7 % 11 - 4) / 8);
        }
        Shape by_channel(shape.size(), 1);
        by_channel[1] = channels;
        TestGraph g;
        const auto numbers = [&](const std::vector<float>& items) {
          return g.Const(TensorValue::FromFloats(by_channel, items));
        };
        ir::OutputPort y =
            g.Op("Multiply", {FakeQuantized(g, g.Parameter("x", shape), from), numbers(scales)});
        if (has_sum) y = g.Op("Add", {y, numbers(addends)});
        g.Result(FakeQuantized(g, y, to));
        std::vector<double> expected;
        const size_t plane = codes.size() / static_cast<size_t>(shape[0] * channels);
        for (size_t i = 0; i < codes.size(); ++i) {
          const size_t channel = i / plane % scales.size();
          const double number =
              from.Number(codes[i]) * double{scales[channel]} + (has_sum ? double{addends[channel]} : 0);
          expected.push_back(to.Number(static_cast<int64_t>(std::nearbyint(to.Code(number)))));
        }
        ExpectNumbers(g, {NumbersOf(shape, codes, from)}, expected);
      }
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
