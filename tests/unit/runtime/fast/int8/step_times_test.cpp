// Estimates of step times: which kind of product a node is, by the times of equal numbers of products.

#include "runtime/fast/int8/step_times.h"

#include "runtime/fast/processor.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::fast::int8 {
namespace {

class StepTimesTest : public testing::Test {
 protected:
  // Of a convolution of 8 by 8 pixels, with groups if the filter has one axis more.
  static double Convolution(const Shape& filter, int64_t stride = 1, int64_t dilation = 1,
                            bool is_quantized = false) {
    TestGraph g;
    const bool is_grouped = filter.size() == 5;
    const int64_t channels = is_grouped ? filter[0] * filter[2] : filter[1];
    const auto pad_of = [&](int64_t extent) { return dilation * (extent - 1) / 2; };
    const int64_t rows = pad_of(filter[filter.size() - 2]), columns = pad_of(filter.back());
    ir::AttributeMap attributes;
    attributes.Set("strides", ir::Attribute::Integers{stride, stride});
    attributes.Set("dilations", ir::Attribute::Integers{dilation, dilation});
    attributes.Set("pads_begin", ir::Attribute::Integers{rows, columns});
    attributes.Set("pads_end", ir::Attribute::Integers{rows, columns});
    attributes.Set("auto_pad", "explicit");
    const Shape data = {1, channels, 8 * stride, 8 * stride};
    const ir::OutputPort result = g.Op(is_grouped ? "GroupConvolution" : "Convolution",
                                       {g.Parameter("x", data), g.Weights(filter, 1)}, attributes);
    const Shape shape = *g.graph->output(result).shape.extents();
    EXPECT_EQ(shape[2], 8);
    return StepTimesOfProcessor()->product(g.graph->node(result.node), data, filter, shape, is_quantized) /
           static_cast<double>(*Volume(shape));
  }
  // Of all results of a transposed convolution of 8 by 8 pixels.
  static double Transposed(const Shape& filter, int64_t stride = 1, bool is_quantized = false) {
    TestGraph g;
    ir::AttributeMap attributes;
    attributes.Set("strides", ir::Attribute::Integers{stride, stride});
    attributes.Set("dilations", ir::Attribute::Integers{1, 1});
    attributes.Set("pads_begin", ir::Attribute::Integers{0, 0});
    attributes.Set("pads_end", ir::Attribute::Integers{0, 0});
    const Shape data = {2, filter[0], 8, 8};
    const ir::OutputPort result =
        g.Op("ConvolutionBackpropData", {g.Parameter("x", data), g.Weights(filter, 1)}, attributes);
    return StepTimesOfProcessor()->product(g.graph->node(result.node), data, filter,
                                           *g.graph->output(result).shape.extents(), is_quantized);
  }
  static double MatMul(int64_t inputs, bool is_quantized) {
    TestGraph g;
    const Shape data = {4, inputs}, matrix = {inputs, 32}, result = {4, 32};
    const ir::OutputPort port = g.Op("MatMul", {g.Parameter("x", data), g.Weights(matrix, 1)});
    return StepTimesOfProcessor()->product(g.graph->node(port.node), data, matrix, result, is_quantized) /
           128;
  }
};

TEST_F(StepTimesTest, GrowsByTheProducts) {
  for (const bool is_quantized : {false, true}) {
    const double one = MatMul(64, is_quantized), two = MatMul(128, is_quantized),
                 three = MatMul(192, is_quantized);
    EXPECT_GT(two, one);
    EXPECT_NEAR(three - two, two - one, 1e-9);
    // A convolution of single pixels is a matrix product.
    EXPECT_NEAR(Convolution({32, 64, 1, 1}, 1, 1, is_quantized), one, 1e-9);
    EXPECT_NEAR(Convolution({32, 64, 1, 1}, 2, 1, is_quantized), one, 1e-9);
  }
  EXPECT_LT(MatMul(512, true), MatMul(512, false));
}

// Winograd's algorithm needs 3x3 windows without strides and dilations, and a block of channels and of
// outputs.
TEST_F(StepTimesTest, WinogradTakesLessTime) {
  const double winograd = Convolution({64, 64, 3, 3});
  EXPECT_LT(winograd, Convolution({64, 64, 3, 3}, 2));
  EXPECT_LT(winograd, Convolution({64, 64, 3, 3}, 1, 2));
  EXPECT_LT(winograd, Convolution({64, 64, 5, 5}));
  EXPECT_EQ(Convolution({64, 64, 3, 1}), Convolution({64, 64, 3, 1}, 2));
  EXPECT_EQ(Convolution({64, 64, 1, 3}), Convolution({64, 64, 1, 3}, 2));
  EXPECT_LT(Convolution({16, 16, 3, 3}), Convolution({16, 16, 3, 3}, 2));
  EXPECT_EQ(Convolution({16, 15, 3, 3}), Convolution({16, 15, 3, 3}, 2));
  EXPECT_EQ(Convolution({15, 16, 3, 3}), Convolution({15, 16, 3, 3}, 2));
}

TEST_F(StepTimesTest, FewOutputsTakeMoreTimeEach) {
  EXPECT_GT(Convolution({15, 32, 1, 1}), Convolution({16, 32, 1, 1}));
  EXPECT_GT(Convolution({15, 32, 5, 5}), Convolution({16, 32, 5, 5}));
}

// One channel in and out per group is depthwise: in 8 bits it takes less time with VNNI, and longer without.
TEST_F(StepTimesTest, DepthwiseConvolutions) {
  const double in_int8 = Convolution({32, 1, 1, 5, 5}, 1, 1, true), in_f32 = Convolution({32, 1, 1, 5, 5});
  EXPECT_EQ(in_int8 < in_f32, HasVnni());
  EXPECT_LT(Convolution({16, 2, 1, 5, 5}, 1, 1, true), Convolution({16, 2, 1, 5, 5}));
  EXPECT_LT(Convolution({16, 1, 2, 5, 5}, 1, 1, true), Convolution({16, 1, 2, 5, 5}));
}

// Each element of the data is multiplied by each tap, in whatever number of results. Those take time as well.
TEST_F(StepTimesTest, TransposedConvolutions) {
  for (const bool is_quantized : {false, true}) {
    // Filters of one size, of 10 by 10 and 18 by 18 results.
    EXPECT_LT(Transposed({64, 32, 3, 3}, 1, is_quantized), Transposed({64, 32, 3, 3}, 2, is_quantized));
    const double one = Transposed({64, 32, 3, 3}, 2, is_quantized),
                 two = Transposed({128, 32, 3, 3}, 2, is_quantized),
                 three = Transposed({192, 32, 3, 3}, 2, is_quantized);
    EXPECT_GT(two, one);
    EXPECT_NEAR(three - two, two - one, 1e-6 * one);
    EXPECT_NEAR(Transposed({64, 64, 3, 3}, 2, is_quantized), 2 * one, 1e-6 * one);
    EXPECT_GT(Transposed({64, 15, 3, 3}, 2, is_quantized) / 15,
              Transposed({64, 16, 3, 3}, 2, is_quantized) / 16);
  }
  EXPECT_LT(Transposed({512, 32, 3, 3}, 2, true), Transposed({512, 32, 3, 3}, 2, false));
}

// Pixels whose number does not fit into 64 bits count as none.
TEST_F(StepTimesTest, ImagesOfTooManyPixels) {
  TestGraph g;
  const Shape data = {1, 16, 4, 4}, filter = {16, 16, 3, 3};
  ir::AttributeMap attributes;
  for (const char* name : {"strides", "dilations"}) attributes.Set(name, ir::Attribute::Integers{1, 1});
  for (const char* name : {"pads_begin", "pads_end"}) attributes.Set(name, ir::Attribute::Integers{0, 0});
  const ir::OutputPort port =
      g.Op("ConvolutionBackpropData", {g.Parameter("x", data), g.Weights(filter, 1)}, attributes);
  const Shape result = *g.graph->output(port).shape.extents();
  const auto time = [&](const Shape& images) {
    return StepTimesOfProcessor()->product(g.graph->node(port.node), images, filter, result, false);
  };
  constexpr int64_t kMany = int64_t{1} << 40;
  EXPECT_EQ(time({1, 16, kMany, kMany}), time({1, 16, 0, 4}));
  EXPECT_LT(time({1, 16, 0, 4}), time(data));
  EXPECT_LT(time(data), time({1, 16, 4, 5}));
}

// Groups of one tap have the speed of groups with windows.
TEST_F(StepTimesTest, GroupsOfOneTap) {
  for (const bool is_quantized : {false, true})
    EXPECT_DOUBLE_EQ(Convolution({2, 16, 36, 1, 1}, 1, 1, is_quantized),
                     Convolution({2, 16, 4, 3, 3}, 1, 1, is_quantized));
}

// Matmuls of two tensors take less time in 8 bits if the result has many products per element of the
// operands, with VNNI alone.
TEST_F(StepTimesTest, ProductsOfTensors) {
  const auto time_of = StepTimesOfProcessor()->tensor_product;
  ASSERT_EQ(time_of != nullptr, HasVnni());
  if (time_of == nullptr) return;
  const auto time = [&](int64_t rows, int64_t terms, int64_t columns, bool is_transposed, bool is_quantized) {
    TestGraph g;
    const Shape left = is_transposed ? Shape{2, terms, rows} : Shape{2, rows, terms},
                right = {2, terms, columns}, result = {2, rows, columns};
    const ir::OutputPort port =
        g.Op("MatMul", {g.Parameter("x", left), g.Parameter("y", right)}, With("transpose_a", is_transposed));
    return time_of(g.graph->node(port.node), left, right, result, is_quantized);
  };
  for (const bool is_transposed : {false, true}) {
    EXPECT_LT(time(512, 128, 512, is_transposed, true), time(512, 128, 512, is_transposed, false));
    EXPECT_GT(time(4, 16, 4, is_transposed, true), time(4, 16, 4, is_transposed, false));
    EXPECT_GT(time(1, 512, 512, is_transposed, true), time(1, 512, 512, is_transposed, false));
    for (const bool is_quantized : {false, true})
      EXPECT_EQ(time(64, 128, 32, is_transposed, is_quantized), time(64, 128, 32, false, is_quantized));
  }
}

// Only oneDNN's kernels for VNNI add an image to their results.
TEST_F(StepTimesTest, AddedImages) {
  EXPECT_EQ(StepTimesOfProcessor()->add_image.has_value(), HasVnni());
}

}  // namespace
}  // namespace nnefc::runtime::fast::int8
