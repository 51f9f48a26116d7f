// Interpolate and Pad of blocked images that a convolution writes, and of rows, against the reference
// kernels, whose sums are in f64.

#include "runtime/fast/simd/dispatch.h"
#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kResampling[] = "nnefc:resampling";

// Adds readers that must not use the padding after the last channel.
ir::OutputPort Seen(TestGraph& g, ir::OutputPort y, int64_t channels, size_t axes) {
  Shape filter = {4, channels};
  filter.append(axes, 1);
  return g.Op("Convolution", {g.Op("Sigmoid", {y}), g.Weights(filter, 1)},
              WindowOf({.window = Shape(axes, 1)}));
}

struct Resize {
  Shape input;
  std::vector<int64_t> to;  // for the spatial axes
  std::string mode, coordinates, nearest = "round_prefer_floor";
  bool antialias = false;
};

// Adds an Interpolate of the spatial axes.
ir::OutputPort AddResize(TestGraph& g, ir::OutputPort x, const Resize& of) {
  ir::AttributeMap attributes;
  attributes.Set("mode", of.mode);
  attributes.Set("shape_calculation_mode", "sizes");
  attributes.Set("coordinate_transformation_mode", of.coordinates);
  attributes.Set("nearest_mode", of.nearest);
  attributes.Set("antialias", of.antialias);
  std::vector<int64_t> spatial;
  for (size_t axis = 2; axis < of.input.size(); ++axis) spatial.push_back(static_cast<int64_t>(axis));
  return g.Op("opset11", "Interpolate", {x, g.Ints(of.to), g.Ints(spatial)}, attributes);
}

void ExpectResized(const Resize& of, const std::string& kernel = kResampling) {
  SCOPED_TRACE(ToString(of.input) + " " + of.mode + " " + of.coordinates + " " + of.nearest);
  const size_t axes = of.to.size();
  TestGraph g;
  const auto x = InBlocks(g, g.Parameter("x", of.input), of.input[1], axes);
  const auto y = AddResize(g, x, of);
  g.Result(y);
  g.Result(Seen(g, y, of.input[1], axes), "next");
  ExpectAsReference(g, {RandomTensor(of.input, 1)}, kernel, 1e-6);
}

TEST(BlockedResamplingTest, ImagesOfOtherSizes) {
  for (const char* mode : {"nearest", "linear", "linear_onnx", "cubic"}) {
    for (const char* coordinates :
         {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn"}) {
      ExpectResized({{2, 32, 7, 9}, {14, 18}, mode, coordinates});
      ExpectResized({{1, 16, 9, 30}, {5, 100}, mode, coordinates});
      ExpectResized({{1, 29, 12, 5}, {12, 1}, mode, coordinates});
    }
  }
  for (const char* nearest : {"floor", "ceil", "round_prefer_ceil", "simple"})
    ExpectResized({{1, 48, 10, 11}, {23, 7}, "nearest", "half_pixel", nearest});
  ExpectResized({{1, 32, 20, 30}, {7, 11}, "linear", "half_pixel", "floor", true});
}

TEST(BlockedResamplingTest, RowsAndVolumes) {
  for (const char* mode : {"nearest", "linear"}) {
    ExpectResized({{2, 32, 40}, {77}, mode, "half_pixel"});
    ExpectResized({{1, 32, 4, 5, 6}, {8, 10, 12}, mode, "asymmetric"});
    ExpectResized({{1, 16, 6, 5, 7}, {3, 5, 9}, mode, "half_pixel"});
  }
}

// One axis alone has positions between pixels.
TEST(BlockedResamplingTest, SingleAxes) {
  for (const char* mode : {"linear", "linear_onnx", "cubic"}) {
    ExpectResized({{2, 16, 5, 6}, {9, 6}, mode, "half_pixel"});
    ExpectResized({{2, 16, 5, 6}, {5, 11}, mode, "half_pixel"});
    ExpectResized({{2, 16, 5, 6}, {3, 12}, mode, "asymmetric"});
  }
  for (const std::vector<int64_t>& to : {std::vector<int64_t>{7, 5, 6}, {4, 8, 6}, {4, 5, 11}, {8, 10, 6}})
    ExpectResized({{2, 16, 4, 5, 6}, to, "linear", "half_pixel"});
}

// Row-major images: with few channels in groups of columns, otherwise in blocks if they become larger.
void ExpectRowsResized(const Resize& of, const std::string& kernel) {
  SCOPED_TRACE(ToString(of.input) + " " + of.mode + " " + of.coordinates);
  TestGraph g;
  g.Result(AddResize(g, g.Parameter("x", of.input), of));
  ExpectAsReference(g, {RandomTensor(of.input, 1)}, kernel, 1e-6);
}

TEST(RowResamplingTest, GroupsOfColumns) {
  for (const char* mode : {"linear", "linear_onnx", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"}) {
      for (const int64_t columns : {16, 17, 31, 33, 100})
        ExpectRowsResized({{2, 3, 7, 15}, {9, columns}, mode, coordinates}, "nnefc:rows");
    }
  }
  ExpectRowsResized({{2, 3, 40}, {90}, "linear", "half_pixel"}, "nnefc:rows");
  ExpectRowsResized({{1, 5, 4, 5, 16}, {8, 5, 40}, "linear", "half_pixel"}, "nnefc:rows");
  // Columns alone, and rows whose columns stay.
  ExpectRowsResized({{1, 2, 5, 20}, {5, 50}, "linear_onnx", "half_pixel"}, "nnefc:rows");
  ExpectRowsResized({{1, 2, 5, 20}, {9, 20}, "linear_onnx", "half_pixel"}, "nnefc:rows");
}

TEST(RowResamplingTest, ColumnsTooFarApart) {
  if (!fast::simd::HasSimd()) GTEST_SKIP() << "there are no groups without vectors";
  // 16 or 8 results are sums of elements within two vectors of as many.
  const int64_t lanes = fast::simd::SimdWidth();
  ExpectRowsResized({{1, 1, 4, 60}, {4, 40}, "linear_onnx", "asymmetric"}, "nnefc:rows");
  ExpectRowsResized({{1, 1, 4, 300}, {4, 100}, "linear_onnx", "asymmetric"}, "reference");
  ExpectRowsResized({{1, 1, 4, 30}, {4, lanes - 1}, "linear_onnx", "half_pixel"}, "reference");
  ExpectRowsResized({{1, 1, 4, 12}, {4, lanes}, "linear_onnx", "half_pixel"}, "nnefc:rows");
}

TEST(RowResamplingTest, EnlargedImagesAreBlocks) {
  for (const char* mode : {"linear", "linear_onnx", "cubic"}) {
    ExpectRowsResized({{2, 16, 7, 9}, {14, 18}, mode, "half_pixel"}, kResampling);
    ExpectRowsResized({{1, 28, 7, 9}, {7, 18}, mode, "half_pixel"}, kResampling);
  }
  ExpectRowsResized({{1, 16, 3, 4, 5}, {6, 8, 10}, "linear", "half_pixel"}, kResampling);
  ExpectRowsResized({{1, 11, 7, 18}, {14, 36}, "linear_onnx", "half_pixel"}, "nnefc:rows");
}

// NaN and infinities: a tap of weight 0 counts.
TEST(RowResamplingTest, SpecialNumbersInGroups) {
  std::vector<float> numbers;
  numbers.reserve(200);
  for (int i = 0; i < 200; ++i) numbers.push_back(i % 11 == 0 ? kNan : i % 7 == 0 ? kInfinity : 1.5F);
  for (const char* coordinates : {"asymmetric", "half_pixel"}) {
    TestGraph g;
    ir::AttributeMap attributes;
    attributes.Set("mode", "linear_onnx");
    attributes.Set("shape_calculation_mode", "sizes");
    attributes.Set("coordinate_transformation_mode", coordinates);
    const auto x = g.Parameter("x", {1, 2, 5, 20});
    g.Result(g.Op("opset11", "Interpolate", {x, g.Ints({10, 40}), g.Ints({2, 3})}, attributes));
    const std::vector<TensorValue> images = {TensorValue::FromFloats({1, 2, 5, 20}, numbers)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, images);
    ExpectNear(RunGraph(g.graph, {.backend = kernels::Backend::kFast}, images)[0], expected[0], 1e-6);
  }
}

// Blocks that would be mostly padding.
TEST(BlockedResamplingTest, FewChannelsStayRows) {
  ExpectResized({{1, 21, 10, 10}, {20, 20}, "nearest", "half_pixel"}, "reference");
}

// A position of weight 0 counts, as in the formula; a copy keeps NaN and infinities.
TEST(BlockedResamplingTest, SpecialNumbers) {
  const Shape shape = {1, 16, 4, 5};
  std::vector<float> numbers;
  numbers.reserve(320);
  for (int i = 0; i < 320; ++i) numbers.push_back(i % 11 == 0 ? kNan : i % 7 == 0 ? kInfinity : 1.5F);
  for (const char* mode : {"nearest", "linear_onnx"}) {
    TestGraph g;
    ir::AttributeMap attributes;
    attributes.Set("mode", mode);
    attributes.Set("shape_calculation_mode", "sizes");
    attributes.Set("coordinate_transformation_mode", "asymmetric");
    const auto x = InBlocks(g, g.Parameter("x", shape), 16, 2);
    g.Result(g.Op("opset11", "Interpolate", {x, g.Ints({8, 10}), g.Ints({2, 3})}, attributes));
    const std::vector<TensorValue> images = {TensorValue::FromFloats(shape, numbers)};
    const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, images);
    ExpectNear(RunGraph(g.graph, {.backend = kernels::Backend::kFast}, images)[0], expected[0], 1e-6);
  }
}

struct Border {
  Shape input;
  std::vector<int64_t> begin, end;  // for all axes
  std::string mode;
  float number = 0;
};

void ExpectPadded(const Border& of, const std::string& kernel = kResampling) {
  SCOPED_TRACE(ToString(of.input) + " " + of.mode);
  const size_t axes = of.input.size() - 2;
  TestGraph g;
  const auto x = InBlocks(g, g.Parameter("x", of.input), of.input[1], axes);
  std::vector<ir::OutputPort> inputs = {x, g.Ints(of.begin), g.Ints(of.end)};
  if (of.mode == "constant") inputs.push_back(g.Const(TensorValue::FromFloats({}, {of.number})));
  const auto y = g.Op("opset12", "Pad", inputs, With("pad_mode", of.mode));
  g.Result(y);
  g.Result(Seen(g, y, g.graph->output(y).shape.known_extents()[1], axes), "next");
  ExpectAsReference(g, {RandomTensor(of.input, 2)}, kernel, 1e-6);
}

TEST(BlockedResamplingTest, BordersOfEveryKind) {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric"}) {
    ExpectPadded({{2, 32, 6, 7}, {0, 0, 1, 2}, {0, 0, 3, 0}, mode});
    ExpectPadded({{1, 30, 6, 7}, {0, 0, 5, 4}, {0, 0, 0, 6}, mode, 2.5F});
    ExpectPadded({{1, 16, 40}, {0, 0, 3}, {0, 0, 9}, mode, kInfinity});
    ExpectPadded({{1, 16, 4, 5, 6}, {0, 0, 2, 1, 0}, {0, 0, 1, 0, 3}, mode, -1});
    // Negative padding.
    ExpectPadded({{1, 32, 9, 8}, {0, 0, -2, 1}, {0, 0, 1, -3}, mode, 1});
  }
}

TEST(BlockedResamplingTest, BordersOfChannelsAndImagesAreRows) {
  for (const char* mode : {"constant", "edge"}) {
    ExpectPadded({{2, 32, 6, 7}, {1, 0, 1, 0}, {0, 0, 1, 0}, mode}, "nnefc:rows");
    ExpectPadded({{2, 32, 6, 7}, {0, 1, 1, 0}, {0, 3, 1, 0}, mode}, "nnefc:rows");
  }
}

// Row-major tensors: extents of the pixel around those that are computed at a time, and numbers of axes.
void ExpectResizedRows(const Shape& input, const std::vector<int64_t>& axes, const std::vector<int64_t>& to,
                       const std::string& mode, const std::string& kernel = "nnefc:rows") {
  SCOPED_TRACE(ToString(input) + " " + mode);
  TestGraph g;
  ir::AttributeMap attributes;
  attributes.Set("mode", mode);
  attributes.Set("shape_calculation_mode", "sizes");
  attributes.Set("coordinate_transformation_mode", "half_pixel");
  g.Result(g.Op("opset11", "Interpolate", {g.Parameter("x", input), g.Ints(to), g.Ints(axes)}, attributes));
  ExpectAsReference(g, {RandomTensor(input, 1)}, kernel, 1e-6);
}

TEST(RowResamplingTest, SizesOfPixels) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const int64_t pixel : {4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 23, 24, 33}) {
      ExpectResizedRows({2, 5, 6, pixel}, {1, 2}, {9, 13}, mode);
      ExpectResizedRows({2, 5, 6, pixel}, {1, 2}, {3, 4}, mode);
    }
    const bool is_copy = mode == std::string_view("nearest");
    ExpectResizedRows({2, 5, 6, 3}, {1, 2}, {9, 13}, mode, is_copy ? "nnefc:rows" : "reference");
    ExpectResizedRows({3, 5, 2, 3}, {1}, {11}, mode);  // pixels of two axes
    ExpectResizedRows({2, 3, 4, 5, 8}, {1, 2, 3}, {5, 3, 9}, mode);
    ExpectResizedRows({2, 3, 4, 5, 8}, {1, 3}, {5, 9}, mode);  // an axis between them stays
    ExpectResizedRows({6, 8}, {0}, {13}, mode);
  }
}

void ExpectPaddedRows(const Border& of, const std::string& kernel = "nnefc:rows") {
  SCOPED_TRACE(ToString(of.input) + " " + of.mode);
  TestGraph g;
  std::vector<ir::OutputPort> inputs = {g.Parameter("x", of.input), g.Ints(of.begin), g.Ints(of.end)};
  if (of.mode == "constant") inputs.push_back(g.Const(TensorValue::FromFloats({}, {of.number})));
  g.Result(g.Op("opset12", "Pad", inputs, With("pad_mode", of.mode)));
  ExpectAsReference(g, {RandomTensor(of.input, 2)}, kernel, 0);
}

TEST(RowResamplingTest, BordersOfEveryKind) {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric"}) {
    ExpectPaddedRows({{3, 40}, {0, 7}, {0, 9}, mode, -2});
    ExpectPaddedRows({{3, 40}, {0, 0}, {0, 1}, mode, 1e30F});
    ExpectPaddedRows({{3, 40}, {0, 1}, {0, 0}, mode});
    ExpectPaddedRows({{3, 40}, {2, 0}, {1, 0}, mode, 5});
    ExpectPaddedRows({{3, 40}, {2, 3}, {1, 2}, mode, 5});
    ExpectPaddedRows({{2, 5, 6, 9}, {0, 1, 2, 0}, {0, 3, 0, 0}, mode, 5});
    ExpectPaddedRows({{3, 5, 6, 20}, {0, 1, 2, 3}, {0, 3, 1, 2}, mode, 5});
    ExpectPaddedRows({{3, 5, 6, 20}, {1, 1, 2, 3}, {1, 3, 1, 2}, mode, 5}, "reference");  // four axes
    ExpectPaddedRows({{3, 40}, {0, -3}, {0, 5}, mode, 1});
    ExpectPaddedRows({{3, 40}, {-1, 2}, {2, -6}, mode, 1});
  }
}

// As many copies as are worth their calls: 3 of 12 floats, but not of 11.
TEST(RowResamplingTest, FewFloatsAtATime) {
  ExpectPaddedRows({{5, 10}, {0, 1}, {0, 1}, "constant", 3});
  ExpectPaddedRows({{5, 9}, {0, 1}, {0, 1}, "constant", 3}, "reference");
}

// Copies keep NaN and infinities.
TEST(RowResamplingTest, SpecialNumbers) {
  TestGraph g;
  const auto x = g.Parameter("x", {2, 20});
  g.Result(g.Op("opset12", "Pad", {x, g.Ints({0, 3}), g.Ints({0, 4})}, With("pad_mode", "reflect")));
  std::vector<float> numbers(40, 1.0F);
  numbers[1] = kNan;
  numbers[17] = kInfinity;
  numbers[22] = -kInfinity;
  const std::vector<TensorValue> inputs = {TensorValue::FromFloats({2, 20}, numbers)};
  const auto expected = RunGraph(g.graph, {.backend = kernels::Backend::kReference}, inputs);
  ExpectNear(RunGraph(g.graph, {.backend = kernels::Backend::kFast}, inputs)[0], expected[0], 0);
}

}  // namespace
}  // namespace nnefc::runtime::engine
