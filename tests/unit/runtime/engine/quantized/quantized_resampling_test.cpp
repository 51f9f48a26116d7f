// Copies of pixels of quantized images, against the integers.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/quantized/quantized_graph.h"

namespace nnefc::runtime::engine {
namespace {

ir::AttributeMap NearestOf(const std::string& coordinates, const std::string& nearest) {
  ir::AttributeMap attributes = With("mode", std::string("nearest"));
  attributes.Set("shape_calculation_mode", std::string("sizes"));
  attributes.Set("coordinate_transformation_mode", coordinates);
  attributes.Set("nearest_mode", nearest);
  return attributes;
}

// Asymmetric coordinates, rounded down.
int64_t PositionOf(int64_t at, int64_t from, int64_t to) {
  return std::min(from - 1, at * from / to);
}

// Channels around those that are copied at a time, and rows that are shorter than such copies.
TEST(QuantizedResamplingTest, NearestPixels) {
  for (const int64_t channels : {1, 3, 8, 15, 16, 17, 31, 32, 33}) {
    for (const auto& [from, to] : std::initializer_list<std::pair<Shape, Shape>>{{{1, 1}, {1, 3}},
                                                                                 {{1, 2}, {2, 4}},
                                                                                 {{5, 7}, {10, 14}},
                                                                                 {{5, 24}, {9, 53}},
                                                                                 {{6, 40}, {3, 20}},
                                                                                 {{4, 30}, {4, 31}},
                                                                                 {{4, 30}, {9, 30}}}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, " + ToString(from) + " to " + ToString(to));
      const Shape shape = {2, channels, from[0], from[1]};
      const Quantization by{.zero = 119};
      const std::vector<int64_t> codes = DrawValues(shape, 119, Spread::kAnywhere, 1);
      TestGraph g;
      ir::OutputPort x = TakeImage(g, FakeQuantized(g, g.Parameter("x", shape), by), channels);
      x = g.Op("opset11", "Interpolate", {FakeQuantized(g, x, by), g.Ints({to[0], to[1]}), g.Ints({2, 3})},
               NearestOf("asymmetric", "floor"));
      g.Result(TakeImage(g, x, channels));
      std::vector<double> expected;
      for (int64_t plane = 0; plane < 2 * channels; ++plane) {
        for (int64_t row = 0; row < to[0]; ++row) {
          for (int64_t column = 0; column < to[1]; ++column) {
            const int64_t line = plane * from[0] + PositionOf(row, from[0], to[0]);
            expected.push_back(
                by.Number(codes[static_cast<size_t>(line * from[1] + PositionOf(column, from[1], to[1]))]));
          }
        }
      }
      ExpectNumbers(g, {NumbersOf(shape, codes, by)}, expected,
                    fast::simd::HasSimd() ? "nnefc:int8_nearest" : "");
    }
  }
}

// Every mode of coordinates, both later versions, sequences and volumes, against the reference kernel.
TEST(QuantizedResamplingTest, ModesAndRanks) {
  for (const Shape& shape : {Shape{1, 16, 9}, Shape{1, 16, 5, 9}, Shape{2, 16, 3, 5, 4}}) {
    for (const char* coordinates :
         {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn"}) {
      for (const char* nearest : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil", "simple"}) {
        for (const bool is_opset4 : {false, true}) {
          SCOPED_TRACE(ToString(shape) + " " + coordinates + " " + nearest);
          const Quantization by{.zero = 60};
          const std::vector<int64_t> codes = DrawValues(shape, 60, Spread::kAnywhere, 2);
          std::vector<int64_t> axes, sizes;
          for (size_t axis = 2; axis < shape.size(); ++axis) {
            axes.push_back(static_cast<int64_t>(axis));
            sizes.push_back(2 * shape[axis] + 1 - static_cast<int64_t>(axis) % 2 * 4);
          }
          TestGraph g;
          Shape window = {16, 16};
          window.append(axes.size(), 1);
          const auto take = [&](ir::OutputPort x) {
            std::vector<float> identity(256, 0.0F);
            for (size_t i = 0; i < 16; ++i) identity[i * 17] = 1;
            ir::AttributeMap attributes;
            const std::vector<int64_t> ones(axes.size(), 1), zeros(axes.size(), 0);
            for (const char* name : {"strides", "dilations"})
              attributes.Set(name, ir::Attribute::Integers(ones.begin(), ones.end()));
            for (const char* name : {"pads_begin", "pads_end"})
              attributes.Set(name, ir::Attribute::Integers(zeros.begin(), zeros.end()));
            return g.Op("Convolution", {x, g.Const(TensorValue::FromFloats(window, identity))}, attributes);
          };
          const ir::OutputPort x = FakeQuantized(g, take(FakeQuantized(g, g.Parameter("x", shape), by)), by);
          const std::vector<float> scales(axes.size(), 1);
          const ir::OutputPort y =
              is_opset4 ? g.Op("opset4", "Interpolate",
                               {x, g.Ints(sizes),
                                g.Const(TensorValue::FromFloats({static_cast<int64_t>(axes.size())}, scales)),
                                g.Ints(axes)},
                               NearestOf(coordinates, nearest))
                        : g.Op("opset11", "Interpolate", {x, g.Ints(sizes), g.Ints(axes)},
                               NearestOf(coordinates, nearest));
          g.Result(take(y));
          const std::vector<TensorValue> inputs = {NumbersOf(shape, codes, by)};
          const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
          const auto executable = Compile(g.graph, {.threads = 1});
          if (fast::simd::HasSimd()) {
            EXPECT_NE(executable->DescribePlan().find("int8_nearest"), std::string::npos)
                << executable->DescribePlan();
          }
          ExpectClose(RunGraph(g.graph, {.threads = 1}, inputs)[0], expected[0], 0);
        }
      }
    }
  }
}

// A sum of a quantized convolution and repeated pixels is part of the convolution.
TEST(QuantizedResamplingTest, Sums) {
  const Shape small = {1, 16, 4, 5}, large = {1, 16, 8, 10};
  const Quantization by{.zero = 100}, sum{.scale = 2 * by.scale, .zero = 90};
  const std::vector<int64_t> a = DrawValues(small, 100, Spread::kAnywhere, 3);
  const std::vector<int64_t> b = DrawValues(large, 100, Spread::kAnywhere, 4);
  TestGraph g;
  ir::OutputPort x = FakeQuantized(g, TakeImage(g, FakeQuantized(g, g.Parameter("a", small), by), 16), by);
  x = g.Op("opset11", "Interpolate", {x, g.Ints({8, 10}), g.Ints({2, 3})}, NearestOf("asymmetric", "floor"));
  const ir::OutputPort y =
      FakeQuantized(g, TakeImage(g, FakeQuantized(g, g.Parameter("b", large), by), 16), by);
  g.Result(TakeImage(g, FakeQuantized(g, g.Op("Add", {x, y}), sum), 16));
  std::vector<double> expected;
  for (size_t i = 0; i < b.size(); ++i) {
    const size_t plane = i / 80, row = i % 80 / 10, column = i % 10;
    expected.push_back(by.Number(a[plane * 20 + row / 2 * 5 + column / 2]) + by.Number(b[i]));
  }
  ExpectCodes(g, {NumbersOf(small, a, by), NumbersOf(large, b, by)}, sum, expected,
              fast::simd::HasSimd() ? "FakeQuantize+Add+FakeQuantize" : "");
}

}  // namespace
}  // namespace nnefc::runtime::engine
