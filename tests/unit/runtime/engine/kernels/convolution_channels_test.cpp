// Transposed convolutions with few outputs, and groups of one channel with several outputs, as the
// convolutions that the fast backend makes of them, against the reference kernels.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

struct Transposed {
  Shape input;
  int64_t outputs;
  Shape window;
  int64_t stride;
  int64_t pad, extra;  // on each axis: padding at the begin and the end, and additional results at the end
};

// Expects results like those of the reference kernels. `is_replaced`: a Convolution computes them.
void ExpectUpsampled(const Transposed& setting, bool is_replaced) {
  SCOPED_TRACE(ToString(setting.input) + " to " + std::to_string(setting.outputs) + " in windows " +
               ToString(setting.window) + " stride " + std::to_string(setting.stride) + " pad " +
               std::to_string(setting.pad) + " extra " + std::to_string(setting.extra));
  const size_t axes = setting.window.size();
  const Shape pads(axes, setting.pad);
  TestGraph g;
  Shape filter = {setting.input[1], setting.outputs};
  filter.append(setting.window.begin(), setting.window.end());
  ir::AttributeMap window = WindowOf(
      {.window = setting.window, .strides = Shape(axes, setting.stride), .begin = pads, .end = pads});
  window.Set("output_padding", ir::Attribute::Integers(axes, setting.extra));
  const auto x = g.Parameter("x", setting.input);
  const auto y = g.Op("ConvolutionBackpropData", {x, g.Weights(filter, 1)}, window);
  Shape column(axes + 2, 1);
  column[1] = setting.outputs;
  g.Result(g.Op("ReLU", {g.Op("Add", {y, g.Weights(column, 2)})}));
  const std::vector<TensorValue> images = {RandomTensor(setting.input, 3)};
  const auto executable = Compile(g.graph, {.backend = kernels::Backend::kFast, .threads = 2});
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->DescribePlan().find("DepthToSpace") != std::string::npos, is_replaced);
  const kernels::FaultOr<std::vector<TensorValue>> actual = Session::Create(executable)->Run(images);
  ASSERT_TRUE(actual.ok());
  ExpectNear((*actual)[0], RunGraph(g.graph, {.backend = kernels::Backend::kReference}, images)[0], 2e-5);
}

// Each phase of the results has its own taps and shift.
TEST(SubpixelConvolutionTest, WindowsStridesAndBorders) {
  int64_t replaced = 0;
  for (const int64_t stride : {2, 3, 4}) {
    for (int64_t size = stride + 1; size <= 9; ++size) {
      for (int64_t pad = 0; pad < size; ++pad) {
        for (int64_t extra = 0; extra < stride; ++extra) {
          const int64_t results = 7 * stride + size - 2 * pad + extra;
          if (results % stride != 0) continue;
          // Borders that hide inputs at an end are left to others.
          constexpr int64_t kInputs = 8;
          const int64_t last_shift = (stride - 1 + pad) / stride;
          if (size - 1 < pad || results / stride + last_shift < kInputs) continue;
          ++replaced;
          ExpectUpsampled({{2, 20, kInputs}, 1, {size}, stride, pad, extra}, true);
        }
      }
    }
  }
  EXPECT_GT(replaced, 40);
}

TEST(SubpixelConvolutionTest, ImagesAndVolumes) {
  for (const int64_t outputs : {1, 2, 3, 4}) {
    ExpectUpsampled({{1, 56, 9, 12}, outputs, {9, 9}, 2, 4, 1}, true);
    ExpectUpsampled({{2, 33, 7, 8}, outputs, {4, 4}, 2, 1, 0}, true);
    ExpectUpsampled({{1, 24, 6, 5}, outputs, {6, 3}, 3, 0, 0}, true);
    ExpectUpsampled({{1, 24, 6, 5}, outputs, {7, 3}, 3, 0, 0}, false);  // 22 rows
    ExpectUpsampled({{1, 24, 6, 5}, outputs, {5, 6}, 2, 1, 1}, false);  // an odd number of columns
  }
  ExpectUpsampled({{1, 17, 3, 4, 5}, 1, {4, 4, 4}, 2, 1, 0}, true);
}

void ExpectMultiplied(const WindowSetting& setting, int64_t outputs, const std::string& kernel) {
  SCOPED_TRACE(Describe(setting) + " to " + std::to_string(outputs));
  TestGraph g;
  Shape filter = {setting.input[1], outputs, 1};
  filter.append(setting.window.begin(), setting.window.end());
  Shape column(setting.window.size() + 2, 1);
  column[1] = setting.input[1] * outputs;
  const auto y =
      g.Op("GroupConvolution", {g.Parameter("x", setting.input), g.Weights(filter, 1)}, WindowOf(setting));
  g.Result(g.Op("ReLU", {g.Op("Add", {y, g.Weights(column, 2)})}));
  ExpectAsReference(g, {RandomTensor(setting.input, 3)}, kernel);
}

TEST(RepeatedChannelsTest, GroupsOfOneChannel) {
  for (const int64_t outputs : {2, 3, 5}) {
    for (const int64_t groups : {3, 16, 33}) {
      // Fewer than a block of channels have no such kernel.
      const char* const kernel = groups * outputs < 16 ? "" : "nnefc:depthwise";
      ExpectMultiplied(
          {.input = {2, groups, 19, 23}, .window = {7, 7}, .strides = {2, 2}, .begin = {3, 3}, .end = {3, 3}},
          outputs, kernel);
      ExpectMultiplied({.input = {1, groups, 40}, .window = {3}, .begin = {1}, .end = {1}}, outputs, kernel);
    }
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
