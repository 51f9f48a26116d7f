// Pooling of quantized images in windows, and reductions of all pixels, against the integers.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

// The largest codes of windows, some of which are partly in the border.
TEST(QuantizedPoolingTest, LargestOfWindows) {
  struct Pooled {
    std::vector<int64_t> kernel, strides, begin, end, dilations = {1, 1};
  };
  const Pooled pools[] = {{{2, 2}, {2, 2}, {0, 0}, {0, 0}},         {{3, 3}, {1, 1}, {1, 1}, {1, 1}},
                          {{3, 2}, {2, 1}, {2, 0}, {1, 1}},         {{1, 1}, {2, 3}, {0, 0}, {0, 0}},
                          {{6, 7}, {1, 1}, {0, 0}, {0, 0}},         {{2, 2}, {1, 1}, {1, 0}, {0, 1}, {2, 1}},
                          {{2, 2}, {1, 1}, {0, 1}, {1, 0}, {1, 3}}, {{3, 3}, {1, 2}, {1, 2}, {2, 1}, {2, 3}}};
  for (const int64_t channels : {1, 3, 15, 16, 17, 31, 32, 33, 47, 48, 50}) {
    for (const Pooled& pool : pools) {
      SCOPED_TRACE(std::to_string(channels) + " channels, kernel " + std::to_string(pool.kernel[0]) + "x" +
                   std::to_string(pool.kernel[1]));
      const Shape shape = {2, channels, 6, 7};
      const Quantization by{.zero = 77};
      const std::vector<int64_t> codes = DrawValues(shape, 77, Spread::kAnywhere, 1);
      ir::AttributeMap attributes;
      attributes.Set("kernel", ir::Attribute::Integers(pool.kernel.begin(), pool.kernel.end()));
      attributes.Set("strides", ir::Attribute::Integers(pool.strides.begin(), pool.strides.end()));
      attributes.Set("pads_begin", ir::Attribute::Integers(pool.begin.begin(), pool.begin.end()));
      attributes.Set("pads_end", ir::Attribute::Integers(pool.end.begin(), pool.end.end()));
      attributes.Set("dilations", ir::Attribute::Integers(pool.dilations.begin(), pool.dilations.end()));
      TestGraph g;
      // Of an image in codes whose channels are in the innermost dimension.
      ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), channels);
      x = g.Op("opset8", "MaxPool", {FakeQuantized(g, x, by)}, attributes, 2);
      g.Result(TakeImage(g, x, channels));
      const int64_t rows =
          (5 + pool.begin[0] + pool.end[0] - (pool.kernel[0] - 1) * pool.dilations[0]) / pool.strides[0] + 1;
      const int64_t columns =
          (6 + pool.begin[1] + pool.end[1] - (pool.kernel[1] - 1) * pool.dilations[1]) / pool.strides[1] + 1;
      std::vector<double> expected;
      for (int64_t plane = 0; plane < 2 * channels; ++plane) {
        for (int64_t i = 0; i < rows * columns; ++i) {
          int64_t best = -1;
          for (int64_t tap = 0; tap < pool.kernel[0] * pool.kernel[1]; ++tap) {
            const int64_t row =
                i / columns * pool.strides[0] - pool.begin[0] + tap / pool.kernel[1] * pool.dilations[0];
            const int64_t column =
                i % columns * pool.strides[1] - pool.begin[1] + tap % pool.kernel[1] * pool.dilations[1];
            if (row < 0 || row >= 6 || column < 0 || column >= 7) continue;
            best = std::max(best, codes[static_cast<size_t>((plane * 6 + row) * 7 + column)]);
          }
          expected.push_back(by.Number(best));
        }
      }
      const bool has_codes = fast::simd::HasSimd() && pool.dilations == std::vector<int64_t>{1, 1};
      ExpectNumbers(g, {NumbersOf(shape, codes, by)}, expected, has_codes ? "nnefc:int8_max_pool" : "");
    }
  }
}

// A window that is in the border alone, at either end, has no largest code: negative infinity.
TEST(QuantizedPoolingTest, WindowsInTheBorder) {
  for (const int64_t channels : {3, 16, 32}) {
    for (const bool is_begin : {true, false}) {
      SCOPED_TRACE(std::to_string(channels) + (is_begin ? " channels, before" : " channels, after"));
      const Shape shape = {1, channels, 1, 4};
      const Quantization by{.zero = 50};
      const std::vector<int64_t> codes = DrawValues(shape, 50, Spread::kAnywhere, 11);
      ir::AttributeMap attributes;
      attributes.Set("kernel", ir::Attribute::Integers{1, 2});
      attributes.Set("strides", ir::Attribute::Integers{1, 1});
      attributes.Set("pads_begin", ir::Attribute::Integers{0, is_begin ? 2 : 0});
      attributes.Set("pads_end", ir::Attribute::Integers{0, is_begin ? 0 : 2});
      TestGraph g;
      const ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), channels);
      g.Result(g.Op("MaxPool", {FakeQuantized(g, x, by)}, attributes));
      std::vector<double> expected;
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t i = is_begin ? -2 : 0; i < (is_begin ? 3 : 5); ++i) {
          double best = -std::numeric_limits<double>::infinity();
          for (const int64_t at : {i, i + 1}) {
            if (at >= 0 && at < 4) best = std::max(best, by.Number(codes[static_cast<size_t>(c * 4 + at)]));
          }
          expected.push_back(best);
        }
      }
      ExpectNumbers(g, {NumbersOf(shape, codes, by)}, expected);
    }
  }
}

// The positions of the largest codes, which a node reads, are those of the largest numbers.
TEST(QuantizedPoolingTest, PositionsOfTheLargest) {
  const Shape shape = {1, 16, 4, 4};
  const Quantization by{.zero = 50};
  const std::vector<int64_t> codes = DrawValues(shape, 50, Spread::kAnywhere, 12);
  ir::AttributeMap attributes;
  attributes.Set("kernel", ir::Attribute::Integers{2, 2});
  attributes.Set("strides", ir::Attribute::Integers{2, 2});
  attributes.Set("dilations", ir::Attribute::Integers{1, 1});
  attributes.Set("pads_begin", ir::Attribute::Integers{0, 0});
  attributes.Set("pads_end", ir::Attribute::Integers{0, 0});
  attributes.Set("index_element_type", ElementType::kI64);
  attributes.Set("axis", int64_t{2});
  TestGraph g;
  const ir::OutputPort pool =
      g.Op("opset8", "MaxPool", {FakeQuantized(g, g.Parameter("x", shape), by)}, attributes, 2);
  g.Result({pool.node, 1});
  g.Result(TakeImage(g, pool, 16), "values");
  std::vector<double> places, numbers;
  for (size_t c = 0; c < 16; ++c) {
    for (size_t window = 0; window < 4; ++window) {
      size_t best = window / 2 * 8 + window % 2 * 2;
      const size_t first = best;
      for (const size_t tap : {size_t{1}, size_t{4}, size_t{5}}) {
        if (codes[c * 16 + first + tap] > codes[c * 16 + best]) best = first + tap;
      }
      places.push_back(static_cast<double>(best));
      numbers.push_back(by.Number(codes[c * 16 + best]));
    }
  }
  for (const kernels::Backend backend : kBackends) {
    const auto made = RunGraph(g.graph, {.backend = backend, .threads = 1}, {NumbersOf(shape, codes, by)});
    ASSERT_EQ(made.size(), 2U);
    for (size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(made[0].ElementAsDouble(static_cast<int64_t>(i)), places[i]) << i;
      EXPECT_EQ(made[1].ElementAsDouble(static_cast<int64_t>(i)), numbers[i]) << i;
    }
  }
}

// Means and maxima of whole images, of a number of channels around those that are reduced at a time.
TEST(QuantizedPoolingTest, Reductions) {
  for (const int64_t channels : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
    for (const bool is_mean : {false, true}) {
      for (const bool keeps_extents : {false, true}) {
        SCOPED_TRACE(std::to_string(channels) + " channels, mean " + std::to_string(is_mean));
        const Shape shape = {2, channels, 4, 8};
        const Quantization by{.zero = 131};
        const std::vector<int64_t> codes = DrawValues(shape, 131, Spread::kAnywhere, 2);
        TestGraph g;
        const ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), channels);
        g.Result(g.Op(is_mean ? "ReduceMean" : "ReduceMax", {FakeQuantized(g, x, by), g.Ints({2, 3})},
                      With("keep_dims", keeps_extents)));
        std::vector<double> expected;
        for (size_t i = 0; i < codes.size(); i += 32) {
          int64_t sum = 0, largest = codes[i];
          for (size_t pixel = 0; pixel < 32; ++pixel) {
            sum += codes[i + pixel] - by.zero;
            largest = std::max(largest, codes[i + pixel]);
          }
          expected.push_back(is_mean ? static_cast<double>(sum) * by.scale / 32 : by.Number(largest));
        }
        ExpectNumbers(g, {NumbersOf(shape, codes, by)}, expected);
      }
    }
  }
}

// Reductions of quantized images stay in 8 bits for all spatial axes, and only for these.
TEST(QuantizedPoolingTest, ReducedAxes) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "numbers are not quantized to codes";
  const Quantization by{.zero = 100};
  for (const char* operation : {"ReduceMean", "ReduceMax"}) {
    for (const std::vector<int64_t>& axes : {std::vector<int64_t>{2, 3}, {-1, -2}, {2}, {3}, {1, 2, 3}}) {
      const Shape shape = {1, 16, 8, 8};
      TestGraph g;
      const ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), 16);
      g.Result(g.Op(operation, {FakeQuantized(g, x, by), g.Ints(axes)}, With("keep_dims", false)));
      const auto executable = Compile(g.graph, {.threads = 1});
      ASSERT_NE(executable, nullptr);
      const std::string plan = executable->DescribePlan();
      const bool is_of_pixels = axes.size() == 2;
      EXPECT_EQ(plan.find("int8_average_pool") != std::string::npos,
                is_of_pixels && std::string(operation) == "ReduceMean")
          << plan;
      EXPECT_EQ(plan.find("int8_global_max_pool") != std::string::npos,
                is_of_pixels && std::string(operation) == "ReduceMax")
          << plan;
    }
  }
}

// Other operations read the data without quantization: the maxima are quantized after the pool, with the
// ranges of their channels. All numbers are those of the formula.
TEST(QuantizedPoolingTest, QuantizationBeforeAPoolOfReadData) {
  for (const int64_t channels : {2, 8, 17}) {
    TestGraph g;
    const Shape shape = {2, channels, 9, 12};
    const auto limits = [&](float first, float step) {
      std::vector<float> numbers;
      for (int64_t c = 0; c < channels; ++c) numbers.push_back(first + step * static_cast<float>(c));
      return g.Const(TensorValue::FromFloats({1, channels, 1, 1}, numbers));
    };
    const auto x = g.Parameter("x", shape), low = limits(-0.9F, 0.01F), high = limits(0.2F, 0.03F);
    ir::AttributeMap levels, window;
    levels.Set("levels", int64_t{256});
    window.Set("kernel", ir::Attribute::Integers{3, 2});
    window.Set("strides", ir::Attribute::Integers{2, 2});
    window.Set("pads_begin", ir::Attribute::Integers{1, 0});
    window.Set("pads_end", ir::Attribute::Integers{1, 1});
    const auto quantized = g.Op("FakeQuantize", {x, low, high, low, high}, levels);
    g.Result(g.Op("MaxPool", {quantized}, window));
    g.Result(g.Op("ReLU", {x}), "second");
    const std::vector<TensorValue> inputs = {RandomTensor(shape, 1)};
    ExpectClose(RunGraph(g.graph, {.backend = kernels::Backend::kFast}, inputs)[0],
                RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs)[0], 1e-6);
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
