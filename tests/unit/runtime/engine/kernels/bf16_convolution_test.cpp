// Convolution of f32 images with bf16 multiplication. Numbers are small integers, which bf16 represents and
// whose sums are exact, so results equal those of the reference kernels.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

struct Bf16Case {
  int64_t inputs, outputs;
  Shape image;  // spatial extents
  Shape taps;
  int64_t stride = 1, before = 0, after = 0, dilation = 1, images = 1;

  Shape input() const {
    Shape shape = {images, inputs};
    shape.append(image.begin(), image.end());
    return shape;
  }
  Shape filter() const {
    Shape shape = {outputs, inputs};
    shape.append(taps.begin(), taps.end());
    return shape;
  }
  Shape column() const {
    Shape shape = {1, outputs};
    shape.append(image.size(), 1);
    return shape;
  }
  ir::AttributeMap attributes() const {
    using Ints = ir::Attribute::Integers;
    const auto all = [&](int64_t number) { return Ints(image.size(), number); };
    ir::AttributeMap window;
    window.Set("strides", all(stride));
    window.Set("dilations", all(dilation));
    window.Set("pads_begin", all(before));
    window.Set("pads_end", all(after));
    window.Set("auto_pad", "explicit");
    return window;
  }
};

void ExpectExact(const TestGraph& graph, const std::vector<TensorValue>& inputs, double tolerance = 0) {
  ExpectInBf16(graph, inputs, "nnefc:bf16_gemm", tolerance);
}

TEST(Bf16ConvolutionTest, Sizes) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  const std::vector<Bf16Case> cases = {
      {1, 1, {1, 1}, {1, 1}},
      {16, 16, {1, 7}, {1, 1}},
      {15, 17, {2, 4}, {1, 1}},
      {17, 15, {3, 3}, {1, 1}},
      {32, 48, {13, 17}, {1, 1}},
      {33, 49, {5, 5}, {1, 1}, 2},
      {48, 80, {9, 31}, {1, 1}, 1, 1, 0},
      {20, 33, {4, 4}, {1, 1}, 1, 0, 0, 1, 3},
      {3, 16, {11, 12}, {3, 3}, 2, 1, 1},
      {16, 32, {8, 9}, {3, 3}, 1, 1, 1},
      {16, 64, {7, 1}, {5, 1}, 1, 2, 2},
      {31, 20, {12, 10}, {5, 3}, 2, 0, 2, 2},
      {16, 400, {3, 5}, {2, 2}, 1, 4, 4},  // windows that only see the border
      {600, 48, {6, 6}, {1, 1}},
      {64, 150, {6, 5}, {3, 3}, 1, 1, 1, 1, 2},
      {24, 24, {21}, {1}},
      {24, 40, {50}, {3}, 2, 1, 1},
  };
  for (const Bf16Case& each : cases) {
    SCOPED_TRACE(ToString(each.input()) + " by " + ToString(each.filter()));
    TestGraph g;
    const auto y =
        g.Op("Convolution", {g.Parameter("x", each.input()), g.Const(SmallIntegers(each.filter(), 2))},
             each.attributes());
    g.Result(g.Op("Add", {y, g.Const(SmallIntegers(each.column(), 3))}));
    ExpectExact(g, {SmallIntegers(each.input(), 1)});
  }
}

// Results have channels that do not fill a block; a second convolution reads them.
TEST(Bf16ConvolutionTest, PostOperations) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  const Bf16Case first{20, 25, {9, 8}, {3, 3}, 1, 1, 1}, second{25, 18, {9, 8}, {1, 1}};
  Shape result = first.input();
  result[1] = first.outputs;
  for (const Post post : kPosts) {
    for (const Post next : {post, Post::kResidual, Post::kRelu}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(post)) + ", " + std::to_string(static_cast<int>(next)));
      TestGraph g;
      const auto x = g.Parameter("x", first.input());
      const auto z = g.Parameter("z", result);
      auto y = g.Op("Convolution", {x, g.Const(SmallIntegers(first.filter(), 2))}, first.attributes());
      y = Follow(g, Post::kBias, y, first.column(), z, 4);
      y = Follow(g, post, y, first.column(), z, 5);
      y = Follow(g, next, y, first.column(), z, 6);
      g.Result(y);
      ExpectExact(g, {SmallIntegers(first.input(), 1), SmallIntegers(result, 7)}, 1e-5);
    }
  }
  for (const Post post : {Post::kSigmoid, Post::kShift, Post::kClamp}) {
    TestGraph g;
    auto y = g.Op("Convolution", {g.Parameter("x", first.input()), g.Const(SmallIntegers(first.filter(), 2))},
                  first.attributes());
    y = Follow(g, post, y, first.column(), y, 5);
    g.Result(g.Op("Convolution", {y, g.Const(SmallIntegers(second.filter(), 3))}, second.attributes()));
    ExpectExact(g, {SmallIntegers(first.input(), 1)}, 1e-2);
  }
}

// Rows and columns with strides, dilations and borders of their own, for one or several images.
TEST(Bf16ConvolutionTest, WindowsAtRandom) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  Draws draw;
  for (unsigned i = 0; i < 40; ++i) {
    WindowSetting setting{.input = {draw(1, 3), draw(1, 40)}};
    draw.AddAxes(setting, 3, i % 5 == 0 ? 1 : 2);
    SCOPED_TRACE(Describe(setting));
    Shape filter = {draw(1, 50), setting.input[1]}, column(setting.input.size(), 1);
    column[1] = filter[0];
    filter.append(setting.window.begin(), setting.window.end());
    TestGraph g;
    auto y =
        g.Op("Convolution", {g.Parameter("x", setting.input), g.Const(SmallIntegers(filter, 2 * i + 100))},
             WindowOf(setting));
    const Shape result = g.graph->output(y).shape.known_extents();
    const auto residual = g.Parameter("residual", result);
    if (draw(0, 1) == 1) y = g.Op("Add", {y, g.Const(SmallIntegers(column, 3))});
    if (draw(0, 1) == 1) y = g.Op("Add", {y, residual});
    if (draw(0, 1) == 1) y = g.Op("ReLU", {y});
    g.Result(y);
    ExpectExact(g, {SmallIntegers(setting.input, 2 * i + 101), SmallIntegers(result, 4)});
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
