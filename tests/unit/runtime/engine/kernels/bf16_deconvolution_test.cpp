// Transposed convolution with bf16 multiplication. Numbers are small integers, which bf16 represents and
// whose sums are exact, so results equal those of the reference kernels.

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

struct TransposedCase {
  Shape data, filter;
  ir::Attribute::Integers strides = {2, 2}, begin = {0, 0}, end = {0, 0}, dilations = {1, 1}, added = {0, 0};

  Shape column() const { return {1, filter[1], 1, 1}; }
  ir::OutputPort Add(TestGraph& g, ir::OutputPort x) const {
    ir::AttributeMap attributes;
    attributes.Set("strides", strides);
    attributes.Set("dilations", dilations);
    attributes.Set("pads_begin", begin);
    attributes.Set("pads_end", end);
    attributes.Set("output_padding", added);
    attributes.Set("auto_pad", "explicit");
    return g.Op("ConvolutionBackpropData", {x, g.Const(SmallIntegers(filter, 2))}, attributes);
  }
};

void ExpectEqualToReference(const TestGraph& graph, const std::vector<TensorValue>& inputs,
                            double tolerance = 0) {
  ExpectInBf16(graph, inputs, "nnefc:bf16_transposed", tolerance);
}

TEST(Bf16DeconvolutionTest, Sizes) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  const std::vector<TransposedCase> cases = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}},
      {{1, 16, 5, 7}, {16, 16, 2, 2}},
      {{1, 15, 5, 8}, {15, 17, 4, 4}, {2, 2}, {1, 1}, {1, 1}},
      {{2, 17, 4, 9}, {17, 48, 3, 3}, {2, 2}, {1, 1}, {0, 0}},
      {{1, 33, 3, 17}, {33, 49, 4, 3}, {2, 1}, {1, 0}, {2, 1}},
      {{1, 64, 6, 6}, {64, 65, 2, 2}, {3, 3}, {0, 0}, {0, 0}},  // pixels without a tap
      {{1, 20, 6, 5}, {20, 30, 3, 2}, {1, 1}, {2, 0}, {0, 1}, {2, 3}},
      {{1, 20, 6, 5}, {20, 30, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 24, 1, 40}, {24, 100, 1, 4}, {1, 2}, {0, 1}, {0, 1}},
      {{1, 24, 2, 2}, {24, 16, 7, 7}, {1, 1}, {3, 3}, {3, 3}},  // taps that only see the border
  };
  for (const TransposedCase& each : cases) {
    SCOPED_TRACE(ToString(each.data) + " by " + ToString(each.filter));
    for (const bool has_bias : {false, true}) {
      TestGraph g;
      auto y = each.Add(g, g.Parameter("x", each.data));
      if (has_bias) y = g.Op("Add", {y, g.Const(SmallIntegers(each.column(), 3))});
      g.Result(y);
      ExpectEqualToReference(g, {SmallIntegers(each.data, 1)});
    }
  }
}

// Results have channels that do not fill a block.
TEST(Bf16DeconvolutionTest, PostOperations) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  const TransposedCase form{{1, 20, 4, 5}, {20, 25, 4, 4}, {2, 2}, {1, 1}, {1, 1}};
  for (const Post post : kPosts) {
    if (post == Post::kResidual) continue;
    SCOPED_TRACE(static_cast<int>(post));
    for (const Post next : {post, Post::kRelu, Post::kClamp}) {
      TestGraph g;
      auto y = form.Add(g, g.Parameter("x", form.data));
      y = Follow(g, Post::kBias, y, form.column(), y, 4);
      y = Follow(g, post, y, form.column(), y, 5);
      g.Result(Follow(g, next, y, form.column(), y, 6));
      ExpectEqualToReference(g, {SmallIntegers(form.data, 1)}, 1e-5);
    }
  }
}

// Rows and columns with strides, dilations and borders of their own, for one or several images.
TEST(Bf16DeconvolutionTest, WindowsAtRandom) {
  if (!fast::HasBf16()) GTEST_SKIP() << "the processor has no bf16 instructions";
  Draws draw;
  for (unsigned i = 0; i < 40; ++i) {
    TransposedCase each{.data = {draw(1, 3), draw(1, 40)}, .filter = {0, draw(1, 50)}};
    each.filter[0] = each.data[1];
    for (size_t axis = 0; axis < 2; ++axis) {
      each.data.push_back(draw(1, 20));
      each.filter.push_back(draw(1, 4));
      each.strides[axis] = draw(1, 3);
      each.dilations[axis] = draw(1, 3);
      each.added[axis] = draw(0, each.strides[axis] - 1);
      const int64_t whole = (each.data.back() - 1) * each.strides[axis] +
                            (each.filter.back() - 1) * each.dilations[axis] + 1 + each.added[axis];
      each.begin[axis] = draw(0, std::min<int64_t>(3, whole - 1));
      each.end[axis] = draw(0, std::min<int64_t>(3, whole - 1 - each.begin[axis]));
    }
    SCOPED_TRACE(ToString(each.data) + " by " + ToString(each.filter));
    TestGraph g;
    auto y = each.Add(g, g.Parameter("x", each.data));
    if (draw(0, 1) == 1) y = g.Op("Add", {y, g.Const(SmallIntegers(each.column(), 3))});
    if (draw(0, 1) == 1) y = g.Op("ReLU", {y});
    g.Result(y);
    ExpectEqualToReference(g, {SmallIntegers(each.data, i)});
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
